"""C-DRFH, CDRF and TSF of very large clusters in floats: feasible exactly, max-min fair up to a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.model import Cluster, Matrix
from theory.sharing.numeric import feasible_decimals
from theory.sharing.pairs import Raising
from theory.sharing.raising import level_units, max_min_violation
from theory.sharing.reduction import Reduced, reduce

LEAST_TOLERANCE = 1e-6
"""Least tolerance: linear programs are solved to 1e-10 of all there is, and a user has a small part of that."""

MOST_PAIRS = 1_000_000
"""Most pairs of user and server class, the largest number that was measured."""

LEAST_GAP = 1e-13
"""A gap that sums of floats cannot be expected to go below."""

Say = Callable[[str], None]


def numeric_max_min(cluster: Cluster, mechanism: str, tolerance: float, *, say: Say | None = None) -> Allocation:
    """Return an allocation that is max-min fair in one number a user, up to a tolerance.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    mechanism : {"c-drfh", "cdrf", "tsf"}
    tolerance : float
        Of `theory.sharing.raising.max_min_violation`; from `LEAST_TOLERANCE` on it was reached wherever tried.
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
        More than `MOST_PAIRS` pairs of user and server class, or programs that the solver does not solve.

    Notes
    -----
    As `theory.sharing.maxmin.max_min_tasks`: all users rise at one level until prices show that some cannot rise
    further; those keep their level while the others go on. Each program is solved over few pairs
    (`theory.sharing.pairs`), and its prices are those of a bound over all pairs. Users stop where the bound leaves them
    a quarter of the tolerance at most. Proportional users and servers are merged first. About 8 (R + 6) N K bytes.

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
    reduced = reduce(cluster)
    unit = np.ones(len(reduced.weights))
    for (m, factor), own in zip(reduced.user, level_units(cluster, mechanism).tolist(), strict=True):
        unit[m] = own / float(factor)
    may = np.ascontiguousarray(reduced.eligible.T)
    needs = reduced.shares.copy()
    needs *= (unit / len(unit))[None, :, None]
    scale = 1 / needs.max()  # levels are measured so that nobody needs more than the whole of a server for one unit
    needs *= scale
    made = _stages(Raising(needs, may), tolerance, say)
    if made is None:
        raise InputError(f"the linear programs of {mechanism} could not be solved in floats: leave --tolerance out")
    tasks, prices = made
    return _stored(cluster, reduced, tasks * (unit / len(unit) * scale), prices, mechanism)


def _stages(
    program: Raising, tolerance: float, say: Say | None
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]] | None:
    """Return the tasks of the last stage in units of each user, float64[K, N], and the prices of all stages."""
    prices: list[NDArray[np.float64]] = []
    while True:
        stage = program.solve()
        if stage is None:
            return None
        worth = stage.costs * stage.height
        stops = program.rising & (worth * tolerance >= 4 * max(stage.gap, LEAST_GAP))
        if not stops.any():
            stops = program.rising & (worth >= worth[program.rising].max() / 2)
        prices.append(stage.prices)
        program.stop(np.flatnonzero(stops), stage.height)
        if say is not None:
            rising, pairs = int(program.rising.sum()), int(program.pairs.sum())
            say(f"{len(prices)} stages, {pairs:,} pairs looked at: {rising:,} users can still rise")
        if not program.rising.any():
            return stage.tasks, prices


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
