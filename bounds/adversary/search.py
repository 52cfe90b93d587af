"""The worst instance: workload, rewards, or both, from many starts; attained ratio and infimum are separate.

The worst rewards for a given greedy run are a linear program over rewards, solved by its dual with exact separation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bounds.adversary.budget import INTERRUPTED, Budget, OutOfTimeError
from bounds.adversary.workload import PathProgram, worst_workload
from theory.errors import ArgumentError
from theory.exact.knapsack import max_weight, weight
from theory.exact.programs import LinearProgram, Number
from theory.greedy.assignment import GreedyAssignment, Step, global_greedy
from theory.greedy.optimal import optimal_assignment, solve
from theory.instance import Additive, Configuration, Instance
from theory.numbers import to_integers, total

TOLERANCE = Fraction(1, 10**6)  # how far above the infimum an attained ratio may be
STARTS = 12  # starts of the search by default

_ROUNDS = 30
_NEARBY = Fraction(1, 64)


@dataclass(frozen=True)
class WorstInstance:
    """The worst instance found.

    Attributes
    ----------
    instance : Instance
        Types in the order they were given.
    ratio : Fraction
        U^(g) / U* of the instance, exact and attained.
    infimum : Fraction
        What is approached as rewards go to their ties; at most `TOLERANCE` below the ratio, equal where only the
        workload varies.
    exact : bool
        Whether no instance of the kind searched is worse (decided for workloads only).
    starts : int
        Starts completed.
    complete : bool
        Whether the search ended by itself.
    """

    instance: Instance
    ratio: Fraction
    infimum: Fraction
    exact: bool
    starts: int
    complete: bool


def worst_instance(
    instance: Instance, vary: str, *, seed: int = 0, starts: int = STARTS, budget: Budget | None = None
) -> WorstInstance:
    """Search for the instance on which greedy attains the least share of the optimum.

    Parameters
    ----------
    instance : Instance
        Demands and pools stay.
    vary : {"workload", "rewards", "all"}
        What the adversary chooses; the rest is the instance's own.
    seed : int
        Of the random starts.
    starts : int
        Number of starts where rewards vary, at least 1; the first is the instance's own rewards.
    budget : Budget, optional
        On its end, or on Ctrl-C, the best so far is returned with ``complete=False``.

    Notes
    -----
    The workload alone is decided exactly (`worst_workload`). Where rewards vary, exact linear programs over workload
    and rewards take turns; each can only lower the ratio, but the end point is a local one. Rewards are moved off
    ties, and starts are drawn for the types in an order of their own, so the answer does not depend on the file's.

    Examples
    --------
    >>> from theory.instance import additive
    >>> worst = worst_instance(additive([12], [[5], [7]], rewards=[2, 3]), "all", starts=2)
    >>> worst.infimum, worst.ratio - worst.infimum <= TOLERANCE
    (Fraction(3, 4), True)
    """
    Instance.expected(instance)
    if vary not in ("workload", "rewards", "all"):
        raise ArgumentError("vary", f"expected workload, rewards or all, got {vary!r}")
    budget = budget or Budget()
    if vary == "workload":
        worst = worst_workload(instance, budget)
        return WorstInstance(
            instance.with_workload(worst.workload), worst.ratio, worst.ratio, worst.complete, 1, worst.complete
        )
    order = _canonical(instance)
    own = instance.reordered(order)
    best: tuple[Fraction, Instance, Fraction] | None = None
    done, complete = 0, True
    try:
        for draws in _starts(own, seed, starts):
            worst_so_far = "" if best is None else f", worst ratio {float(best[0]):.6f}"
            budget.stage = f"start {done + 1} of {starts}{worst_so_far}: "
            local_worst = None
            for rewards in draws:  # rewards for which greedy is optimal give no direction: draw again, wilder
                start = own.with_rewards(rewards)
                local_worst = _both(start, budget) if vary == "all" else _rewards_only(start, budget)
                if local_worst is not None and local_worst[0] < 1:
                    break
            done += 1
            if local_worst is not None and (best is None or local_worst[0] < best[0]):
                best = local_worst
    except (OutOfTimeError, KeyboardInterrupt):
        INTERRUPTED.clear()
        complete = False
    if best is None:
        ratio = solve(instance).ratio
        return WorstInstance(instance, ratio, ratio, False, done, complete)
    infimum, reordered, ratio = best
    # the inverse permutation: types in the order of the file again
    back = sorted(range(len(order)), key=lambda i: order[i])
    return WorstInstance(reordered.reordered(back), ratio, infimum, False, done, complete)


def _canonical(instance: Instance) -> list[int]:
    """Order the types by what they need, not by where they stand in the file."""

    def key(j: int) -> tuple[object, ...]:
        needs = tuple(
            pool.space.demands[j] if isinstance(pool.space, Additive) else tuple(k[j] for k in pool.space.generators)
            for pool in instance.pools
        )
        return (needs, instance.names[j])

    return sorted(range(len(instance.types)), key=key)


def _starts(instance: Instance, seed: int, starts: int) -> Iterator[Iterator[list[Fraction]]]:
    """Yield draws of rewards for every start: own, equal, the share of a server that a type takes, and in between."""
    generator = np.random.default_rng(seed)
    width = len(instance.types)
    share = np.array([1 / max(pool.space.most(j) for pool in instance.pools) for j in range(width)])
    own = np.array([float(u) for u in instance.rewards])
    bases = (own, np.ones(width), share, np.sqrt(share))

    def draws(start: int) -> Iterator[list[Fraction]]:
        for attempt in range(4):
            spread = (0.02, 0.1, 0.3, 1.0)[min(3, start // len(bases) % 4 + attempt)]
            yield _snapped(bases[start % len(bases)] * np.exp(spread * generator.standard_normal(width)))

    for start in range(starts):
        yield draws(start)


def _snapped(rewards: Sequence[float] | np.ndarray) -> list[Fraction]:
    """Scale to the largest reward 1 and round to a grid of 2^-30, so that numbers stay short; never to 0."""
    values = [float(value) for value in rewards]
    top = max(values)
    return [Fraction(max(1, round(value / top * 2**30)), 2**30) for value in values]


def _both(instance: Instance, budget: Budget) -> tuple[Fraction, Instance, Fraction] | None:
    """Descend in workload and rewards from the instance's rewards until nothing gets worse."""
    best: tuple[Fraction, Instance, Fraction] | None = None
    current = instance
    for _ in range(_ROUNDS):
        worst = worst_workload(current, budget)
        if not worst.complete:
            raise OutOfTimeError
        if worst.ratio == 1:
            break
        infimum, target, workload, served = _polished(current.with_workload(worst.workload), budget)
        attained = _attained(current, target, workload, served, infimum)
        if attained is not None and (best is None or infimum < best[0]):
            improved = best is None or infimum < best[0] - TOLERANCE / 1000
            best = (infimum, *attained)
            if not improved:
                break
        else:
            break
        current = instance.with_rewards(
            _snapped([float(u) for u in off_ties(served, target, current.rewards, _NEARBY)])
        )
    return best


def _polished(
    instance: Instance, budget: Budget
) -> tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Keep the greedy run and let rewards and workload take turns; return value, rewards, workload and served jobs."""
    run = run_of(instance, global_greedy(instance))
    served = optimal_assignment(instance).served
    workload = instance.workload
    value: Fraction | None = None
    while True:
        budget.spend("polishing")
        _, rewards = worst_rewards(instance, run, served)
        program = PathProgram(instance, rewards)
        steps = [_step(instance, ks) for ks in run.configurations]
        for step in steps:
            program.push(step)
        for j in range(len(rewards)):
            # the run is kept: types that it never had stay away, those that it exhausted are exhausted again
            if j not in run.types_left[0]:
                program.forbid(j)
            elif j not in run.types_left[-1]:
                program.exhaust(j)
        vertex = program.solve()
        workload, served = program.workload(vertex), program.served(vertex)
        run = Run(run.configurations, program.fractions(vertex, steps), run.types_left)
        if value is not None and -vertex.objective >= value - TOLERANCE / 10**4:
            return min(value, -vertex.objective), rewards, workload, served
        value = -vertex.objective


def _step(instance: Instance, configurations: Sequence[tuple[int, ...]]) -> Step:
    slots = tuple(
        total(pool.share * k[j] for pool, k in zip(instance.pools, configurations, strict=True))
        for j in range(len(instance.types))
    )
    return Step(tuple(configurations), slots, weight(slots, instance.rewards))


def _rewards_only(instance: Instance, budget: Budget) -> tuple[Fraction, Instance, Fraction] | None:
    """Descend in rewards at the instance's workload."""
    if not any(instance.workload):
        return None
    run = run_of(instance, global_greedy(instance))
    served = optimal_assignment(instance).served
    value: Fraction | None = None
    while True:
        budget.spend("rewards")
        greedy, rewards = worst_rewards(instance, run, served)
        best = optimal_assignment(instance.with_rewards(rewards))
        ratio = greedy / best.reward
        if value is not None and ratio >= value - TOLERANCE / 10**4:
            break
        value, target, served = ratio, rewards, best.served
    attained = _attained(instance, target, instance.workload, served, value)
    return None if attained is None else (value, *attained)


def _attained(
    instance: Instance,
    target: Sequence[Fraction],
    workload: Sequence[Fraction],
    served: Sequence[Fraction],
    infimum: Fraction,
) -> tuple[Instance, Fraction] | None:
    """Step off the ties as little as it takes to come within the tolerance of the infimum."""
    for digits in range(4, 13):
        # a smaller step is nearer to the infimum, and needs longer numbers
        mixed = off_ties(served, target, instance.rewards, Fraction(1, 10**digits))
        scale = 10 ** (digits + 3)
        top = max(mixed)
        rounded = [Fraction(max(1, round(u / top * scale)), scale) for u in mixed]
        candidate = instance.with_workload(workload).with_rewards(rounded)
        ratio = solve(candidate).ratio
        if infimum <= ratio <= infimum + TOLERANCE:
            return candidate, ratio
    return None


# ---- the worst rewards of a greedy run -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A greedy run as rewards see it: its stages of positive length, with their configurations by pool.

    `types_left` are the types whose workload is not exhausted when the stage begins: each configuration is greatest
    among theirs.
    """

    configurations: tuple[tuple[Configuration, ...], ...]
    fractions: tuple[Fraction, ...]
    types_left: tuple[frozenset[int], ...]


def run_of(instance: Instance, greedy: GreedyAssignment) -> Run:
    """Return the run of a greedy assignment."""
    remaining = list(instance.workload)
    types_left = []
    for stage in greedy.stages:
        types_left.append(frozenset(j for j, amount in enumerate(remaining) if amount))
        for j in range(len(remaining)):
            slots = total(pool.share * k[j] for pool, k in zip(instance.pools, stage.configurations, strict=True))
            remaining[j] -= stage.fraction * slots
    stages = greedy.stages
    return Run(tuple(s.configurations for s in stages), tuple(s.fraction for s in stages), tuple(types_left))


def worst_rewards(instance: Instance, run: Run, served: Sequence[Fraction]) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Return the rewards, shape (J,), that make a greedy run worst against an assignment that serves given jobs.

    The first value is greedy's reward there: the infimum of the ratio over rewards that keep the run. It is the minimum
    while the assignment earns 1 and every greedy configuration stays greatest (ties allowed, and MaxReward may break
    them the other way) among the configurations of the types left at its stage. Solved by its dual, whose columns are
    configurations found by `max_weight` on demand, so that every constraint is decided exactly. Source: packproof,
    "worst rewards".
    """
    width = len(served)
    shares = [pool.share for pool in instance.pools]
    earned = [
        total(
            fraction * share * k[j]
            for ks, fraction in zip(run.configurations, run.fractions, strict=True)
            for share, k in zip(shares, ks, strict=True)
            if k[j]
        )
        for j in range(width)
    ]
    # dual: a row for each type; the free column is the multiplier of the condition that the assignment earns 1
    program = LinearProgram([(None, amount) for amount in earned])
    program.add_columns([1], [dict(enumerate(served))], lower=[None])
    while True:
        vertex = program.solve()
        u = vertex.dual
        integers, _ = to_integers(u)
        columns: list[dict[int, Number]] = []
        for ks, left in zip(run.configurations, run.types_left, strict=True):
            for pool, k in zip(instance.pools, ks, strict=True):
                best = max_weight(pool.space, integers, left)
                # separation: greedy would prefer `best` at these rewards, so its constraint is violated
                if weight(best, u) > weight(k, u):
                    columns.append({j: k[j] - best[j] for j in range(width)})
        if not columns:
            return vertex.objective, u
        program.add_columns([0] * len(columns), columns)


def off_ties(
    served: Sequence[Fraction], target: Sequence[Fraction], strict: Sequence[Fraction], step: Fraction
) -> tuple[Fraction, ...]:
    """Go from rewards on ties a little towards rewards off ties: ``(1 - step) target + step strict``.

    Both are first scaled so that the served jobs, shape (J,), earn 1. A configuration that is greatest at both, and
    alone so at `strict`, is alone greatest in between; the ratio along the run cannot rise.
    """
    a, b = weight(served, target), weight(served, strict)
    return tuple((1 - step) * u / a + step * v / b for u, v in zip(target, strict, strict=True))
