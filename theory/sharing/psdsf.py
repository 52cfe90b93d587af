"""PS-DSF under resource division: Algorithm I, its limit made exact."""

from __future__ import annotations

from fractions import Fraction

from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.finish import exact_tasks
from theory.sharing.model import Cluster, Matrix
from theory.sharing.occupation import Merged, Occupation, merge, occupation
from theory.sharing.rounds import State, start

PLAIN = 64
"""Rounds of Algorithm I after which a change that does not shrink is taken for a cycle."""

DAMPED = 0.75
"""Part of its way that a server goes once a cycle was seen."""

CLOSE = 1e-6
"""Largest relative change of a user's tasks from the float limit to the exact allocation."""


def ps_dsf(cluster: Cluster, *, rounds: int = 16384) -> Allocation:
    """Return the PS-DSF allocation that Algorithm I approaches, exactly.

    Parameters
    ----------
    cluster : Cluster
    rounds : int
        Most rounds of Algorithm I.

    Returns
    -------
    Allocation
        ``exact`` where Theorem 1 was verified in rationals; else the last round, scaled down to be feasible.
        ``damped`` where the rounds as printed found no limit.

    Notes
    -----
    Algorithm I need not end: often it halves the distance to its limit for ever. So it runs in floats, and its limit
    is found by solving for the allocation with the same structure (`exact_tasks`) and verified by `is_ps_dsf`. Rarely
    it cycles and has no limit: where a round's change has not shrunk by a tenth while the rounds doubled, every server
    goes three quarters of its way only from then on (`DAMPED`), which has ended all cycles seen; on large clusters that
    is the usual case. Neither convergence nor the existence of a PS-DSF allocation is proved in general.

    PS-DSF allocations under resource division are not unique, and the one that is reached depends on the order of the
    servers. So proportional users and servers are merged and the rest is put in an order that does not depend on the
    file or on units (`merge`): permuting, scaling or splitting changes nothing. A round costs O(N^2 K R) at worst.
    Source: PS-DSF paper, Algorithm I.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in ps_dsf(figure1).totals]
    ['3', '3', '6']
    """
    return _limit(cluster, merge(occupation(cluster)), "ps-dsf", "resource", rounds)


def ps_dsf_tdm_rounds(cluster: Cluster, *, rounds: int = 16384) -> Allocation:
    """Return the PS-DSF allocation under time division by the simplified algorithm, exactly.

    Algorithm I with the single resource *time* (`Occupation.in_time`); totals are unique here.
    """
    return _limit(cluster, merge(occupation(cluster).in_time()), "ps-dsf-tdm", "time", rounds)


def finished(
    cluster: Cluster, merged: Merged, state: State, division: str, tolerances: tuple[float, ...] = (1e-7, 1e-9, 1e-5)
) -> Matrix | None:
    """Return the exact allocation that a float state is close to, verified by the independent checker, or None."""
    verify = is_ps_dsf if division == "resource" else is_ps_dsf_tdm
    for tolerance in tolerances:
        exact = exact_tasks(merged.occupation, state, tolerance)
        if exact is None:
            continue
        moved = max(abs(float(total(row)) / x - 1) if x else 1.0 for row, x in zip(exact, state.totals, strict=True))
        if moved > CLOSE:
            continue
        tasks = merged.expand(exact)
        if verify(cluster, tasks):
            return tasks
    return None


def _limit(cluster: Cluster, merged: Merged, mechanism: str, division: str, rounds: int) -> Allocation:
    state = start(merged.occupation, exact=False)
    attempt, done = 8, 0
    damped, change = False, float("inf")
    while done < rounds:
        before = state.totals
        moved = state.round(DAMPED if damped else 1)
        done += 1
        if moved and done < attempt:
            continue
        attempt *= 2
        last, change = change, float((abs(state.totals - before) / state.totals).max())
        tasks = finished(cluster, merged, state, division)
        if tasks is not None:
            return Allocation(mechanism, cluster, tasks, division, rounds=done, damped=damped)
        if not moved:
            break
        damped = damped or (done >= PLAIN and change > 0.9 * last)
    tasks = feasible(cluster, merged.expand(rounded(state)), division)
    return Allocation(mechanism, cluster, tasks, division, exact=False, rounds=done, damped=damped)


def rounded(state: State) -> Matrix:
    """Return the tasks of a float state as rationals with short denominators."""
    return tuple(tuple(Fraction(float(x)).limit_denominator(10**12) for x in row) for row in state.tasks)


def feasible(cluster: Cluster, tasks: Matrix, division: str) -> Matrix:
    """Scale tasks down, class by class, by the least that makes them feasible."""
    if is_feasible_allocation(cluster, tasks, division=division):
        return tasks
    draft = Allocation("", cluster, tasks)
    factors = []
    for i in range(len(cluster.servers)):
        if division == "time":
            load = total(row[i] / gamma[i] for row, gamma in zip(tasks, cluster.monopoly, strict=True) if row[i])
        else:
            load = max(draft.utilisation(i, r) for r in range(len(cluster.resources)))
        factors.append(min(Fraction(1), 1 / load) if load else Fraction(1))
    return tuple(tuple(x * f for x, f in zip(row, factors, strict=True)) for row in tasks)


__all__ = ["Occupation", "feasible", "finished", "ps_dsf", "ps_dsf_tdm_rounds", "rounded"]
