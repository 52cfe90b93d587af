"""What a rule must keep, asserted on one example: of assignment rules, rules for items, sharing rules and policies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from bounds.adversary import assignment
from bounds.adversary.assignment import AssignmentRule, kept_on
from bounds.adversary.division import measure_named, shared_on
from bounds.adversary.engine import Judged
from bounds.adversary.items import Items, judge_items
from bounds.testing.directed import Met, failing_instance, worst_met
from bounds.testing.failures import accuse, excuse, failure, shown_as_tables
from bounds.testing.queueing import AnyQueue
from bounds.testing.stability import growth_of_work
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy as policy_by_name
from theory.errors import InputError
from theory.greedy.optimal import optimal_assignment
from theory.instance import Configuration, Instance
from theory.numbers import rational, text
from theory.sharing.model import Cluster

Heuristic = AssignmentRule
"""A stranger's rule: from an instance to (pool, configuration, share of all servers)."""

shown_as_tables()


def assert_keeps(
    rule: Callable[..., Any] | Policy | str,
    share: Fraction | int | str,
    case: Instance | Items | Cluster | AnyQueue,
    *,
    measure: str = "fair",
    target: bool = False,
    directed: bool = True,
    folder: str | Path | None = None,
    alarm: float = 1e-6,
    jobs: int = 20_000,
    seed: int = 0,
) -> None:
    """Require that a rule keeps a share of the optimum on an example; that a policy carries a share of the region.

    Parameters
    ----------
    rule : callable, Policy or str
        On an `Instance` a rule of ``attack --kind assignment``, on `Items` one of ``--kind items``, on a `Cluster` one
        of ``--kind sharing``; on a `Queue` or a `SlottedQueue` a policy, its name, or ``FILE.py:NAME``.
    share : Fraction, int or str
        In [0, 1]; of a policy below 1. Floats are refused, since they are not what they seem.
    case : Instance, Items, Cluster, Queue or SlottedQueue
        As drawn by the strategies of this room.
    measure : str
        Of sharing rules: ``fair``, ``equal-part``, ``utilisation`` or ``envy``.
    target : bool
        Whether to tell hypothesis how bad the example is, so that its search goes there: only within a test.
    directed : bool
        Whether the search of ``packproof attack`` goes on beside hypothesis, a few instances for each example, of the
        kind and size of the examples (`bounds.testing.directed`). The instance that it finds fails the test, too.
        Leave it out where the rule need not keep the share on all of these, as where a strategy is filtered. Policies
        have no such search here: ``packproof attack --kind online`` is one.
    folder : str or Path, optional
        Where the example is written that fails, as ``NAME.toml``; hypothesis' own folder unless given. Hypothesis runs
        the smallest one last, so that this is the file that stays. The worst example of the test
        is beside it, as ``NAME-worst.toml``, where that is another one.
    alarm : float
        Probability at most with which a policy is called unstable that is not (`bounds.testing.stability`).
    jobs : int
        Jobs that come in each of the simulated runs, about.
    seed : int
        Of the simulation.

    Raises
    ------
    AssertionError
        The rule keeps less: its first line says what, a small table shows the example, a line names the file; then
        the same of the worst example that hypothesis has drawn in this test, where that is another one. Where the
        search has found an instance, that one is shown, whatever the example.
    InputError
        One line: a rule that fails or gives what is no answer, a share that is none.

    Examples
    --------
    >>> from theory.sharing import cluster, tsf
    >>> assert_keeps(lambda given: tsf(given).tasks, "1/2", cluster([[9, 18]], [[1, 4], [3, 1]]))
    """
    __tracebackhide__ = True  # pytest then shows the test, not this function
    name = _name(rule)
    least = _share(share)
    if isinstance(case, AnyQueue):
        _assert_stable(rule, name, least, case, folder, target=target, alarm=alarm, jobs=jobs, seed=seed)
        return
    if not callable(rule):
        raise InputError(name, f"expected a function, got {rule!r:.60}")
    judged = _judged(rule, name, case, measure)
    value = Fraction(judged.value)
    if target:
        _aim(-float(value), f"{name} keeps little")
    met = Met(value, case, judged.evidence or {})
    worst = worst_met(rule, measure, met)
    said = ""
    if value < least:
        doubt = "" if judged.exact else ", or less"
        what = f"{name} keeps {text(value)} ({float(value):.4g}){doubt}; expected at least {text(least)}"
        said = failure(what, name, case, met.evidence, folder)
        accuse(case)
        if worst.value < value:
            what = f"the worst example of this test: {name} keeps {text(worst.value)} ({float(worst.value):.4g})"
            said += "\n\n" + failure(what, f"{name}-worst", worst.case, worst.evidence, folder)
    elif directed:
        caller = sys._getframe(1).f_code
        failing = failing_instance(rule, name, measure, least, case, caller)
        if failing is not None:
            what = (
                f"{name} keeps {text(failing.value)} ({float(failing.value):.4g}); expected at least {text(least)}; "
                "found by the search beside the examples"
            )
            excuse(case)
            said = failure(what, name, failing.case, failing.evidence, folder)
    if said:
        raise AssertionError(said)  # in one place: hypothesis tells failures apart by where they are raised


def _judged(rule: Callable[..., Any], name: str, case: object, measure: str) -> Judged:
    if isinstance(case, Instance):
        return kept_on(rule, case, name)
    if isinstance(case, Items):
        return judge_items(rule, name)(case)
    if isinstance(case, Cluster):
        return shared_on(rule, case, measure_named(measure), name)
    raise InputError(name, f"expected an Instance, Items, a Cluster or a queue to judge it on, got {case!r:.60}")


def _assert_stable(
    rule: Any, name: str, share: Fraction, case: AnyQueue, folder: Any, *, target: bool, **how: Any
) -> None:
    """Require that a policy carries a share of the region; `how` goes to `growth_of_work`."""
    if not 0 < share < 1:
        raise InputError(name, f"expected a share of the region above 0 and below 1, got {text(share)}")
    if not isinstance(rule, str | Policy):
        raise InputError(name, f"expected a policy, its name, or FILE.py:NAME, got {rule!r:.60}")
    policy = policy_by_name(rule) if isinstance(rule, str) else rule
    growth = growth_of_work(policy, case, share, **how)
    if target:
        _aim(growth.rate.mean, f"the work that waits grows under {name}")
    if growth.unstable:
        what = (
            f"{name} does not carry {text(share)} of the region: the work that waits grows by {growth.rate.mean:.3g} "
            f"servers [{growth.rate.low:.3g}, {growth.rate.high:.3g}]"
        )
        raise AssertionError(failure(what, name, case, {"share": share}, folder))


def _name(rule: object) -> str:
    return str(getattr(rule, "__name__", None) or getattr(rule, "name", None) or rule)


def _share(share: object) -> Fraction:
    if isinstance(share, bool) or not isinstance(share, Fraction | int | str):
        raise InputError("share", f"expected an exact number (a Fraction, or text like '1/2'), got {share!r:.40}")
    try:
        exact = Fraction(rational(share))
    except ValueError as error:
        raise InputError("share", f"expected an exact number, got {share!r:.40} ({error})") from error
    if not 0 <= exact <= 1:
        raise InputError("share", f"expected a number from 0 to 1, got {text(exact)}")
    return exact


def _aim(badness: float, label: str) -> None:
    from hypothesis import target

    target(badness, label=label)


def reward_of(instance: Instance, given: Sequence[tuple[int, Configuration, Fraction]]) -> Fraction:
    """Return the reward of an assignment: slots that jobs can fill, at most the workload of each type.

    Raises
    ------
    AssertionError
        If a configuration is not feasible, a share is negative, or a pool is overfilled: the words say which.
    """
    try:
        return assignment.reward_of(instance, given)
    except InputError as error:
        raise AssertionError(str(error)) from error


def check_heuristic(instance: Instance, heuristic: Heuristic, guarantee: Fraction = Fraction(0)) -> Fraction:
    """Require that a heuristic is feasible, keeps a guarantee, and is never above the optimum; return its ratio.

    Raises
    ------
    AssertionError
        With the numbers.
    """
    reward, best = reward_of(instance, heuristic(instance)), optimal_assignment(instance).reward
    assert reward <= best, f"reward {reward} is above the optimum {best}"
    assert reward >= guarantee * best, f"reward {reward} is below {guarantee} of the optimum {best}"
    return reward / best if best else Fraction(1)
