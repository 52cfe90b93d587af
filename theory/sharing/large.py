"""PS-DSF for large clusters: rounds by water-filling, a float test of Theorem 1, one exact finish."""

from __future__ import annotations

from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.model import Cluster, Matrix
from theory.sharing.numeric import numeric_ps_dsf, stored
from theory.sharing.reduction import Reduced, reduce
from theory.sharing.structure import BITS, Settled, exact_tasks, settle
from theory.sharing.turns import Turns

FIRST = 128
"""Rounds after which the tasks are looked at for the first time; then whenever the rounds are half as many again."""

DAMPED = 0.75
"""Part of its way that a server goes once the rounds do not come nearer to a limit."""

CLOSE = 1e-9
"""Distance from Theorem 1 in floats (`Turns.distance`) from which an exact finish is tried."""

TOLERANCE = 1e-3
"""Violation of Theorem 1 at which rounds stop where no exact allocation is made, and no other is asked for."""

EXACT_PAIRS = 400_000
"""Up to this many pairs of user and server class (after merging) the allocation is made and verified in rationals."""


def large_ps_dsf(
    cluster: Cluster,
    division: str,
    *,
    rounds: int = 2**16,
    exact: bool | None = None,
    tolerance: float = TOLERANCE,
) -> Allocation:
    """Return a PS-DSF allocation of a large cluster.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    division : {"resource", "time"}
    rounds : int
        Most rounds of Algorithm I.
    exact : bool, optional
        Whether to make it exact; up to `EXACT_PAIRS` where left out.
    tolerance : float
        Where it is not to be made exact: the violation at which the rounds stop
        (`theory.sharing.numeric.numeric_ps_dsf`).

    Returns
    -------
    Allocation
        ``exact`` where Theorem 1 (Theorem 2 under time division) was verified in rationals; else feasible exactly,
        with the ``violation`` of the conditions that was reached.

    Notes
    -----
    Proportional users and servers are merged and ordered (`theory.sharing.reduction.reduce`), and the servers have
    their turns in that order, starting from no tasks at all. Each turn is the inner loop of Algorithm I
    (`theory.sharing.filling`). Whenever the rounds are half as many again, the tasks that solve the equations of the
    present structure are found in floats (`settle`); if they pass Theorem 1 in floats, the system is solved exactly and
    verified by the independent checker. Where PS-DSF allocations are not unique, the order of turns, and the rounding
    of the tasks that the equations leave free, choose one. That the rounds have a limit is proved for time division
    only; they are damped where their changes stop shrinking. A round costs O(N K) for the look at the users; the tries
    O(B^3) for B saturated resources.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in large_ps_dsf(figure1, "resource").totals]
    ['3', '3', '6']
    """
    reduced = reduce(cluster)
    if exact is None:
        exact = reduced.eligible.size <= EXACT_PAIRS
    if not exact:
        return numeric_ps_dsf(cluster, division, tolerance, rounds=rounds)
    turns = Turns(reduced, division)
    mechanism = "ps-dsf" if division == "resource" else "ps-dsf-tdm"
    done, damped, changes = 0, False, [float("inf")] * 2
    best, reached = turns.tasks, float("inf")
    while done < rounds:
        step = min(max(FIRST, done // 2), rounds - done)
        change = turns.run(step, DAMPED if damped else 1.0)
        done += step
        settled = settle(turns)
        distance = float("inf") if settled is None else turns.distance(settled.tasks)
        if settled is not None and distance <= CLOSE:
            tasks = _verified(cluster, reduced, turns, settled)
            if tasks is not None:
                return Allocation(mechanism, cluster, tasks, division, rounds=done, damped=damped)
            best, reached = settled.tasks, distance
        damped = damped or change > 0.9 * changes[0] > 0
        changes = [changes[1], change]
    if turns.distance(turns.tasks) < reached:
        best = turns.tasks
    return stored(cluster, reduced, best, division, done, damped=damped)


def _verified(cluster: Cluster, reduced: Reduced, turns: Turns, settled: Settled) -> Matrix | None:
    """Return exact tasks of the cluster that the independent checker accepts, or None."""
    verify = is_ps_dsf if turns.division == "resource" else is_ps_dsf_tdm
    for bits in BITS:
        exact = exact_tasks(turns, settled, bits)
        if exact is not None and min(exact.values()) >= 0:
            tasks = reduced.expand(exact)
            if verify(cluster, tasks):
                return tasks
    return None
