"""PS-DSF: Algorithm I in floats, and its limit made exact; for the largest clusters, shares within a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.sharing.allocation import Allocation, feasible_decimals
from theory.sharing.checks import is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.model import Cluster, Matrix
from theory.sharing.reduction import Reduced, reduce
from theory.sharing.structure import HELD, Settled, exact_tasks, settle
from theory.sharing.turns import Turns
from theory.sharing.violation import ps_dsf_violation

ROUNDS = 2**14
"""Most rounds of Algorithm I, where no other number is asked for."""

EXACT_PAIRS = 400_000
"""Up to this many pairs of user and server class, after merging, the allocation is made and verified in rationals."""

TOLERANCE = 1e-3
"""Violation of Theorem 1 at which rounds stop beyond that, where no other tolerance is asked for."""

STILL = 1e-12
"""Largest relative change of a user's tasks in a round that moves nothing."""

EARLY_LOOKS = (8, 16, 32, 64)
"""Rounds after which the tasks are looked at first, where rounds move little; and wherever a round moves nothing."""

LITTLE = 1e-5
"""Largest relative change of a user's tasks in a round for an early look: few clusters of many users come so near."""

FIRST_LATE_LOOK = 128
"""Then they are looked at after this number of rounds, and again whenever the rounds have grown by a quarter."""

SAME_LIMIT = 1e-6
"""Largest relative change of a user's tasks, from the rounds to an exact allocation that is taken early."""

NEAR = 1e-9
"""Distance from Theorem 1 in floats (`Turns.distance`) from which an exact allocation is tried."""

WAYS = (1.0, 0.75, 0.5, 0.25, 0.125, 0.0625, 0.03125)
"""Part of its way that a server goes; the next one once the rounds with the part before do not come nearer to a limit.

No part is small enough for all clusters (the claim ``packproof/algorithm-1-part-of-the-way``).
"""

Say = Callable[[str], None]


def ps_dsf(cluster: Cluster, *, rounds: int = ROUNDS) -> Allocation:
    """Return the PS-DSF allocation under resource division that Algorithm I approaches, exactly.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    rounds : int
        Most rounds of Algorithm I.

    Returns
    -------
    Allocation
        ``exact`` where Theorem 1 was verified in rationals; else feasible exactly, with the ``violation`` of the
        conditions that was reached: beyond `EXACT_PAIRS`, and where the rounds found no exact allocation. ``damped``
        where the rounds as printed found no limit.

    Notes
    -----
    Algorithm I need not end: often it halves the distance to its limit for ever. So it runs in floats, and from time to
    time the equations of the present structure (who has tasks where, which resources are saturated) are solved. Where
    the solution passes Theorem 1 in floats, it is made exact and verified by the independent checker. Rarely the rounds
    cycle and have no limit; once they do not come nearer, every server goes three quarters of its way only, then one
    half, one quarter, and so on (`WAYS`). An allocation exists (`docs/explanation/fairness.md`); that this finds it is
    not proved.

    PS-DSF allocations under resource division are not unique, and the one that is reached depends on the order of the
    servers. So equal users and servers are merged and the rest is put in an order that does not depend on the file
    (`theory.sharing.reduction.reduce`): permuting, scaling or splitting changes nothing. A round costs O(N K) to look
    at the users, each look at the tasks O(B^3) for B saturated resources. Source: PS-DSF paper, Algorithm I.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in ps_dsf(figure1).totals]
    ['3', '3', '6']
    """
    Cluster.expected(cluster)
    return _shares(cluster, "resource", rounds)


def ps_dsf_tdm(cluster: Cluster) -> Allocation:
    """Return the PS-DSF allocation under time division, exactly; beyond `EXACT_PAIRS`, within `TOLERANCE`.

    Totals are unique. Each turn of a server maximises sum_n phi_n log x_n over its own time, so the rounds are a
    coordinate ascent on the convex program of Eisenberg and Gale, whose optimality conditions are those of Theorem 2.

    Raises
    ------
    InputError
        Where `ROUNDS` rounds do not find the exact allocation.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> wireless = cluster([[1], [1]], [[1], [1]], eligible=[[True, True], [False, True]])
    >>> [str(x) for x in ps_dsf_tdm(wireless).totals]
    ['1', '1']
    """
    Cluster.expected(cluster)
    return _shares(cluster, "time", ROUNDS, must_end=True)


def ps_dsf_tdm_rounds(cluster: Cluster, *, rounds: int = ROUNDS) -> Allocation:
    """Return what the given number of rounds finds under time division: not exact where they do not suffice.

    Algorithm I with the single resource *time*: the simplified algorithm of the PS-DSF paper.
    """
    return _shares(cluster, "time", rounds)


def _shares(cluster: Cluster, division: str, rounds: int, *, must_end: bool = False) -> Allocation:
    """Return exact shares up to `EXACT_PAIRS` pairs, numeric ones beyond."""
    reduced = reduce(cluster)
    if reduced.eligible.size > EXACT_PAIRS:
        return _approach(cluster, reduced, division, TOLERANCE, rounds, None)
    allocation = _limit(cluster, reduced, division, rounds)
    if must_end and allocation.violation is not None:
        raise InputError(
            allocation.mechanism,
            f"{rounds:,} rounds found no exact allocation: allow a violation with --tolerance"
            f" {max(2 * allocation.violation.value, 1e-12):.0e}",
        )
    return allocation


def _limit(cluster: Cluster, reduced: Reduced, division: str, rounds: int) -> Allocation:
    """Return the exact allocation that the rounds approach, or the nearest tasks that were found.

    The rounds begin, as Algorithm I does, with weighted DRF on each server alone.
    """
    turns = Turns(reduced, division)
    turns.serve_alone()
    done, way, since = 0, 0, 0  # the rounds before `since` had another part of the way
    changes: list[tuple[int, float]] = []  # at the planned looks: the rounds after `since`, the change in the last one
    nearest, reached = turns.tasks, float("inf")
    while done < rounds:
        step = 1 if done < FIRST_LATE_LOOK else min(max(FIRST_LATE_LOOK, (done - since) // 4), rounds - done)
        change = turns.run(step, WAYS[way])
        done += step
        is_early, is_planned = done < FIRST_LATE_LOOK, done >= FIRST_LATE_LOOK or done in EARLY_LOOKS
        # Where a round moves nothing, only other thresholds can lead to another structure.
        thresholds = HELD if change <= STILL else HELD[:1] if is_planned and not (is_early and change > LITTLE) else ()
        for least in thresholds:
            settled = settle(turns, least)
            # An early solution counts only if the rounds end there, too: there may be other PS-DSF allocations.
            if settled is None or (is_early and turns.change_from(settled.tasks.sum(axis=0)) > SAME_LIMIT):
                continue
            distance = turns.distance(settled.tasks)
            tasks = _verified(cluster, reduced, turns, settled) if distance <= NEAR else None
            if tasks is not None:
                return Allocation(_mechanism(division), cluster, tasks, division, rounds=done, damped=way > 0)
            if distance < reached:
                nearest, reached = settled.tasks, distance
        if is_planned:
            changes.append((done - since, change))
            if way + 1 < len(WAYS) and done >= EARLY_LOOKS[-1] and _is_stuck(changes):
                way, since, changes = way + 1, done, []
    if turns.distance(turns.tasks) < reached:
        nearest = turns.tasks
    return _stored(cluster, reduced, nearest, division, done, damped=way > 0)


def _is_stuck(changes: list[tuple[int, float]]) -> bool:
    """Whether the least change in a round has not shrunk by a tenth while the rounds doubled."""
    half = changes[-1][0] / 2
    before = min((change for done, change in changes if done <= half), default=float("inf"))
    return min(change for done, change in changes if done > half) > 0.9 * before > 0


def _mechanism(division: str) -> str:
    return "ps-dsf" if division == "resource" else "ps-dsf-tdm"


def _verified(cluster: Cluster, reduced: Reduced, turns: Turns, settled: Settled) -> Matrix | None:
    """Return exact tasks of the cluster that the independent checker accepts, or None."""
    is_certified = is_ps_dsf if turns.division == "resource" else is_ps_dsf_tdm
    for exact in exact_tasks(turns, settled):
        if min(exact.values()) >= 0:
            tasks = reduced.expand(exact)
            if is_certified(cluster, tasks):
                return tasks
    return None


# ---- numeric shares ------------------------------------------------------------------------------------------------

NUMERIC_ROUNDS = 2**15
"""Most rounds for numeric shares."""

PARTS = (1.5, 1.0, 0.75)
"""Part of its way that a server goes; the next one where that stops coming nearer.

Going past the goal (over-relaxation) took less than half of the rounds to the same distance on random clusters.
"""

WHOLE_ROUNDS = 2
"""Rounds of the whole way before the tasks are looked at: they bring loads back to 1."""

FIRST_LOOK = 64
"""Rounds after which the tasks are looked at for the first time; then whenever the rounds are an eighth more."""

SETTLE = 1.25
"""Factor by which the rounds grow until the equations of the structure are solved again."""

LEAST_VIOLATION = 1e-12
"""Least tolerance: sums of floats over the largest clusters are right to about as much."""

STORED = 1e-13
"""What storing tasks as decimals may add to the distance, with room to spare."""


@dataclass
class _Nearest:
    """The nearest tasks so far; when the present part was judged last, and when equations were solved last."""

    tasks: NDArray[np.float64]
    distance: float = float("inf")
    judged: tuple[int, float] = field(default=(0, float("inf")))
    part: int = 0
    settled: int = 0

    def note(self, tasks: NDArray[np.float64], distance: float) -> None:
        """Copy tasks if they are nearer."""
        if distance < self.distance:
            np.copyto(self.tasks, tasks)
            self.distance = distance

    def choose_part(self, done: int) -> None:
        """Go to the next part where twice the rounds brought the tasks nearer by less than a tenth."""
        then, distance = self.judged
        if done >= 2 * then:
            if then and self.distance > 0.9 * distance:
                self.part = (self.part + 1) % len(PARTS)
            self.judged = (done, self.distance)


def numeric_ps_dsf(
    cluster: Cluster, division: str, tolerance: float, *, rounds: int = NUMERIC_ROUNDS, say: Say | None = None
) -> Allocation:
    """Return an allocation that is PS-DSF up to a tolerance.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    division : {"resource", "time"}
    tolerance : float
        Of `theory.sharing.violation.ps_dsf_violation`, at which the rounds stop.
    rounds : int
        Most rounds of Algorithm I.
    say : callable, optional
        Takes a line of progress, at every look at the tasks.

    Returns
    -------
    Allocation
        Not ``exact``, but feasible exactly: its tasks are the shortest decimals of floats. Its ``violation`` was
        computed from these tasks alone, and is above the tolerance where the rounds did not come near enough, or were
        interrupted by Ctrl-C (``interrupted``).

    Notes
    -----
    Each turn is the inner loop of Algorithm I (`theory.sharing.filling`), and the servers go half as far again. From
    time to time the equations of the present structure are solved (`theory.sharing.structure.settle`), which ends the
    rounds at once where the structure is right. That the rounds have a limit is proved for time division only, and
    without over-relaxation. A round costs O(N K) at worst. Memory is about 8 (R + 4) N K bytes of floats, beside the
    cluster.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> shares = numeric_ps_dsf(figure1, "resource", 1e-9)
    >>> [round(float(x), 6) for x in shares.totals], shares.violation.value <= 1e-9
    ([3.0, 3.0, 6.0], True)
    """
    return _approach(cluster, reduce(cluster), division, tolerance, rounds, say)


def _approach(
    cluster: Cluster, reduced: Reduced, division: str, tolerance: float, rounds: int, say: Say | None
) -> Allocation:
    turns = Turns(reduced, division)
    nearest = _Nearest(np.zeros_like(turns.tasks))
    goal = max(tolerance - STORED, tolerance / 2)
    done, interrupted = 0, False
    try:
        while done < rounds:
            done += _run_and_look(turns, nearest, done, rounds, goal)
            if say is not None:
                say(f"{done:,} rounds: within {nearest.distance:.1e} of the conditions, {tolerance:.1e} wanted")
            if nearest.distance <= goal:
                allocation = _stored(cluster, reduced, nearest.tasks, division, done)
                if allocation.violation is not None and allocation.violation.value <= tolerance:
                    return allocation
    except KeyboardInterrupt:
        if nearest.distance == float("inf"):
            raise
        interrupted = True
    return _stored(cluster, reduced, nearest.tasks, division, done, interrupted=interrupted)


def _run_and_look(turns: Turns, nearest: _Nearest, done: int, rounds: int, goal: float) -> int:
    """Run some rounds, look at the tasks and at those that solve their equations; return the number of rounds."""
    step = min(max(FIRST_LOOK, done // 8), rounds - done)
    turns.run(max(step - WHOLE_ROUNDS, 1), PARTS[nearest.part])
    turns.run(WHOLE_ROUNDS)
    nearest.note(turns.tasks, turns.distance(turns.tasks))
    if nearest.distance > goal and done + step >= nearest.settled * SETTLE:
        nearest.settled = done + step
        settled = settle(turns)
        if settled is not None:
            nearest.note(settled.tasks, turns.distance(settled.tasks))
    nearest.choose_part(done + step)
    return step


def _stored(
    cluster: Cluster,
    reduced: Reduced,
    tasks: NDArray[np.float64],
    division: str,
    rounds: int,
    *,
    damped: bool = False,
    interrupted: bool = False,
) -> Allocation:
    """Return reduced tasks, float64[K, N], as an allocation that is feasible exactly, with its violation."""
    decimals = feasible_decimals(cluster, reduced.expand_floats(tasks), division)
    return Allocation(
        _mechanism(division),
        cluster,
        decimals,
        division,
        exact=False,
        rounds=rounds,
        damped=damped,
        interrupted=interrupted,
        violation=ps_dsf_violation(cluster, decimals, division),
    )
