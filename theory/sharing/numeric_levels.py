"""C-DRFH, CDRF and TSF of very large clusters in floats: feasible exactly, max-min fair up to a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.sharing import simplex
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.interior import Raising
from theory.sharing.level_proofs import Proofs
from theory.sharing.model import Cluster, Matrix
from theory.sharing.numeric import feasible_decimals
from theory.sharing.raising import level_units, max_min_violation
from theory.sharing.reduction import Reduced, reduce

LEAST_TOLERANCE = 1e-6
"""Least tolerance: linear programs are solved to 1e-10 of all there is, and a user has a small part of that."""

FEW_PAIRS, SOME_PAIRS, MOST_PAIRS = 100_000, 1_000_000, 10_000_000
"""Pairs of user and server class below which the simplex method comes first; up to which it is tried; at most."""

MOST_ROWS = 4_000
"""Most resources of server classes for the interior-point method, the largest number that was measured."""

DUST = 1e-9
"""Tasks of at most so many tolerances, as a part of the last height, are left out: an interior point has them in every
pair of its program, and each would be computed in rationals."""

LEAST_GAP = 1e-13
"""A gap that sums of floats cannot be expected to go below."""

Say = Callable[[str], None]
Made = tuple[NDArray[np.float64], list[NDArray[np.float64]]]
"""Tasks of the last stage in units of each user, float64[K, N], and the prices of all stages, float64[K, R]."""


def numeric_max_min(cluster: Cluster, mechanism: str, tolerance: float, *, say: Say | None = None) -> Allocation:
    """Return an allocation that is max-min fair in one number a user, up to a tolerance.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    mechanism : {"c-drfh", "cdrf", "tsf"}
    tolerance : float
        Of `theory.sharing.raising.max_min_violation`, at least `LEAST_TOLERANCE`. On some clusters of hundreds of
        stages it is not reached.
    say : callable, optional
        Takes a line of progress, after every linear program.

    Returns
    -------
    Allocation
        Not ``exact``, but feasible exactly: its tasks are the shortest decimals of floats. Its ``stages`` hold prices
        only, and its ``violation`` was computed from the tasks and these prices alone; it is above the tolerance where
        the linear programs were not solved precisely enough.

    Raises
    ------
    InputError
        More than `MOST_PAIRS` pairs of user and server class, more than `MOST_ROWS` resources of server classes where
        there are more than `SOME_PAIRS` pairs, or programs that neither method solves.

    Notes
    -----
    As `theory.sharing.maxmin.max_min_tasks`: all users rise at one level until prices show that some cannot rise
    further; those keep their level while the others go on. Each program is solved over few pairs, and its prices are
    those of a bound over all pairs. Below `FEW_PAIRS` pairs the simplex method solves it (`theory.sharing.simplex`),
    and where that gives up an interior-point method of packproof (`theory.sharing.interior`), which comes first beyond.
    Users stop where the bound leaves them a quarter of the tolerance at most. Proportional users and servers are merged
    first. About 8 (R + 20) N K + 8 (K R)^2 bytes.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> found = numeric_max_min(figure1, "c-drfh", 1e-6)
    >>> [round(float(x), 6) for x in found.totals], found.violation.value <= 1e-6
    ([2.608696, 3.130435, 6.26087], True)
    """
    pairs = len(cluster.users) * len(cluster.servers)
    if pairs > MOST_PAIRS:
        raise InputError(
            f"numeric shares by {mechanism}: expected at most {MOST_PAIRS:,} pairs of user and server class, got"
            f" {pairs:,}: merge similar users or classes, or take --mechanism ps-dsf"
        )
    rows = len(cluster.servers) * len(cluster.resources)
    if pairs > SOME_PAIRS and rows > MOST_ROWS:
        raise InputError(
            f"numeric shares by {mechanism}: expected at most {MOST_ROWS:,} resources of server classes beyond"
            f" {SOME_PAIRS:,} pairs of user and class, got {rows:,}: merge similar classes, or take --mechanism ps-dsf"
        )
    reduced = reduce(cluster)
    unit = np.ones(len(reduced.weights))
    for (m, factor), own in zip(reduced.user, level_units(cluster, mechanism).tolist(), strict=True):
        unit[m] = own / float(factor)
    may = np.ascontiguousarray(reduced.eligible.T)
    needs = reduced.shares.copy()
    needs *= (unit / len(unit))[None, :, None]
    scale = 1 / needs.max()  # levels are measured so that nobody needs more than the whole of a server for one unit
    needs *= scale
    found = None
    for solve in _methods(pairs, rows):
        made = solve(needs, may, tolerance, say)
        if made is not None:
            tasks, prices = made
            found = _stored(cluster, reduced, tasks * (unit / len(unit) * scale), prices, mechanism)
            assert found.violation is not None
            if found.violation.value <= tolerance:
                return found
    if found is None:
        raise InputError(f"the linear programs of {mechanism} could not be solved in floats: leave --tolerance out")
    return found


def _methods(pairs: int, rows: int) -> list[Callable[..., Made | None]]:
    """Return the methods to be tried, in order, for so many pairs and resources of server classes."""
    interior = [_by_interior] if rows <= MOST_ROWS else []
    if pairs < FEW_PAIRS:
        return [_by_simplex, *interior]
    return [*interior, _by_simplex] if pairs <= SOME_PAIRS else list(interior)


def _by_interior(needs: NDArray[np.float64], may: NDArray[np.bool_], tolerance: float, say: Say | None) -> Made | None:
    """Return tasks and prices by the interior-point method; None where a stage is not solved precisely.

    What a stage leaves no choice about, pairs that would cost too much and resources that are used up, is settled
    (`theory.sharing.level_proofs`): else later stages had no interior.
    """
    program, proofs = Raising(needs, may), Proofs(needs, may)
    while True:
        stage = program.solve(say)
        if stage is None or stage.fault > tolerance / 4:
            return None
        gap = max(proofs.add(stage), LEAST_GAP)
        stops = _stopping(program.rising, stage.worth, gap, tolerance)
        server, user = program.pairs.server, program.pairs.user
        program.stop(stops, stage, *proofs.settled(stage, program.pairs, 4 * gap / tolerance))
        _report(say, len(proofs.prices), len(user), program.rising)
        if not program.rising.any():
            tasks = np.zeros(may.shape)
            held = stage.point.tasks
            tasks[server, user] = np.where(held > DUST * tolerance * stage.point.height, held, 0.0)
            return tasks, [one.reshape(len(may), -1) for one in proofs.prices]


def _by_simplex(needs: NDArray[np.float64], may: NDArray[np.bool_], tolerance: float, say: Say | None) -> Made | None:
    """Return tasks and prices by the simplex method; None where it reports no optimum."""
    program = simplex.Raising(needs, may)
    prices: list[NDArray[np.float64]] = []
    while True:
        stage = program.solve()
        if stage is None:
            return None
        stops = _stopping(program.rising, stage.costs * stage.height, max(stage.gap, LEAST_GAP), tolerance)
        prices.append(stage.prices)
        program.stop(np.flatnonzero(stops), stage.height)
        _report(say, len(prices), int(program.pairs.sum()), program.rising)
        if not program.rising.any():
            return stage.tasks, prices


def _stopping(rising: NDArray[np.bool_], worth: NDArray[np.float64], gap: float, tolerance: float) -> NDArray[np.bool_]:
    """Return who stops: users to whom the gap leaves a quarter of the tolerance at most, or the dearest."""
    stops = rising & (worth * tolerance >= 4 * gap)
    return stops if stops.any() else rising & (worth >= worth[rising].max() / 2)


def _report(say: Say | None, stages: int, pairs: int, rising: NDArray[np.bool_]) -> None:
    if say is not None:
        say(f"{stages} stages, {pairs:,} pairs looked at: {int(rising.sum()):,} users can still rise")


def _stored(
    cluster: Cluster, reduced: Reduced, tasks: NDArray[np.float64], prices: list[NDArray[np.float64]], mechanism: str
) -> Allocation:
    """Return tasks of the reduced cluster as an allocation that is feasible exactly, with prices and violation."""
    found = {(n, i): Fraction(float(tasks[i, n])) for i, n in np.argwhere(tasks > 0).tolist()}
    decimals = feasible_decimals(cluster, reduced.expand(found), "resource")
    place = np.array([i for i, _ in reduced.server])
    part = np.array([float(part) for _, part in reduced.server])
    own = [one[place] * part[:, None] for one in prices]
    stages = tuple(Stage(_fractions(one), ()) for one in own)
    made = Allocation(mechanism, cluster, decimals, exact=False, stages=stages)
    return replace(made, violation=max_min_violation(cluster, decimals, mechanism, own))


def _fractions(prices: NDArray[np.float64]) -> Matrix:
    return tuple(tuple(Fraction(float(price)) for price in row) for row in prices)
