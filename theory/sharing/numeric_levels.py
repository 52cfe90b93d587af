"""C-DRFH, CDRF and TSF of large clusters in floats: feasible exactly, max-min fair up to a tolerance.

All users rise at one level until prices show that some of them cannot rise further; those keep their level, and the
others go on. Each stage is one linear program, solved by HiGHS. The program over all pairs of user and
server would be too large, but few pairs have tasks in the end: it holds likely ones at first, and its prices say which
others are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import highspy
import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.sharing.allocation import Allocation, Stage, feasible_decimals
from theory.sharing.levels import LevelRule, level_units, max_min_violation, rule_of
from theory.sharing.model import Cluster, Matrix
from theory.sharing.reduction import Reduced, reduce

LEAST_TOLERANCE = 1e-6
"""Least tolerance: linear programs are solved to 1e-10 of all resources, and a user has a small part of those."""

MOST_PAIRS = 1_000_000
"""Most pairs of user and server class, the largest number that was measured to the end: 7 s of CPU at 900,000 pairs."""

LEAST_GAP = 1e-13
"""A gap that sums of floats cannot be expected to go below."""

Say = Callable[[str], None]


def refuse_too_many_pairs(cluster: Cluster, mechanism: str, most: int) -> None:
    """Refuse a cluster of more pairs of user and server class than a mechanism divides, by an InputError."""
    pairs = len(cluster.users) * len(cluster.servers)
    if pairs > most:
        raise InputError(
            f"shares by {mechanism}: expected at most {most:,} pairs of user and server class, got {pairs:,}: merge"
            f" similar users or classes, or take --mechanism ps-dsf"
        )


def numeric_max_min(
    cluster: Cluster, mechanism: str | LevelRule, tolerance: float, *, say: Say | None = None
) -> Allocation:
    """Return an allocation that is max-min fair in one number a user, up to a tolerance.

    Parameters
    ----------
    cluster : Cluster
        Every user fits some server.
    mechanism : {"c-drfh", "cdrf", "tsf"} or LevelRule
    tolerance : float
        Of `theory.sharing.levels.max_min_violation`, at least `LEAST_TOLERANCE`. On some clusters of hundreds of
        stages it is not reached.
    say : callable, optional
        Takes a line of progress, after every stage.

    Returns
    -------
    Allocation
        Not ``exact``, but feasible exactly: its tasks are the shortest decimals of floats. Its ``stages`` hold prices
        only, and its ``violation`` was computed from the tasks and these prices alone; it is above the tolerance where
        the linear programs were not solved precisely enough.

    Raises
    ------
    InputError
        More than `MOST_PAIRS` pairs of user and server class, or a program that HiGHS does not solve.

    Notes
    -----
    Users stop where the bound of the prices over all pairs leaves them a quarter of the tolerance at most. Proportional
    users and servers are merged first. About 8 (R + 20) N K bytes.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> shares = numeric_max_min(figure1, "c-drfh", 1e-6)
    >>> [round(float(x), 6) for x in shares.totals], shares.violation.value <= 1e-6
    ([2.608696, 3.130435, 6.26087], True)
    """
    rule = rule_of(mechanism)
    refuse_too_many_pairs(cluster, rule.name, MOST_PAIRS)
    reduced = reduce(cluster)
    unit = np.ones(len(reduced.weights))
    for (m, factor), user_unit in zip(reduced.user, level_units(cluster, rule).tolist(), strict=True):
        unit[m] = user_unit / float(factor)
    # Levels are measured so that no user needs more than the whole of a server for one unit of it.
    unit /= len(unit)
    needs = reduced.shares * unit[None, :, None]
    scale = 1 / needs.max()
    needs *= scale
    tasks, prices = _raised(needs, np.ascontiguousarray(reduced.eligible.T), tolerance, rule.name, say)
    return _stored(cluster, reduced, tasks * (unit * scale), prices, rule)


def _raised(
    needs: NDArray[np.float64], may: NDArray[np.bool_], tolerance: float, mechanism: str, say: Say | None
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return the tasks of the last stage in units of each user, float64[K, N], and the prices of every stage."""
    program = StageProgram(needs, may)
    prices: list[NDArray[np.float64]] = []
    while True:
        stage = program.solve()
        if stage is None:
            raise InputError(f"the linear programs of {mechanism} could not be solved in floats: leave --tolerance out")
        prices.append(stage.prices)
        worth, gap = stage.costs * stage.height, max(stage.gap, LEAST_GAP)
        # A user to whom the gap leaves a quarter of the tolerance at most stops; if there is none, the dearest stop.
        stops = program.rising & (worth * tolerance >= 4 * gap)
        if not stops.any():
            stops = program.rising & (worth >= worth[program.rising].max() / 2)
        program.stop(np.flatnonzero(stops), stage.height)
        rising = int(program.rising.sum())
        if say is not None:
            say(f"{len(prices)} stages, {int(program.pairs.sum()):,} pairs looked at: {rising:,} users can still rise")
        if not rising:
            return stage.tasks, prices


def _stored(
    cluster: Cluster, reduced: Reduced, tasks: NDArray[np.float64], prices: list[NDArray[np.float64]], rule: LevelRule
) -> Allocation:
    """Return tasks of the reduced cluster as an allocation that is feasible exactly, with prices and violation."""
    decimals = feasible_decimals(cluster, reduced.expand_floats(tasks), "resource")
    place = np.array([i for i, _ in reduced.server])
    part = np.array([float(part) for _, part in reduced.server])
    expanded = [stage_prices[place] * part[:, None] for stage_prices in prices]
    stages = tuple(Stage(_fractions(stage_prices), ()) for stage_prices in expanded)
    allocation = Allocation(rule.name, cluster, decimals, exact=False, stages=stages)
    return replace(allocation, violation=max_min_violation(cluster, decimals, rule, expanded))


def _fractions(prices: NDArray[np.float64]) -> Matrix:
    return tuple(tuple(Fraction(float(price)) for price in row) for row in prices)


# ---- the linear program of a stage ---------------------------------------------------------------------------------

MORE = 4
"""Pairs of a user that join at once."""

NEAR = 0.01
"""A pair joins if its cost is above the least cost of the user's present pairs by at most this part of it."""

LARGE = 500
"""Rows beyond which an interior-point method solves the first program: in 0.2 to 0.8 of the time at 1,400 rows, and in
0.6 of it at 4,200, since a simplex method without a basis begins far from the optimum."""

PRECISION = 1e-10
"""Tolerances of the simplex method, and of what missing pairs might save, as a part of all prices."""

AGAIN = (PRECISION, 1e-9, 1e-8)
"""Tolerances of the same program where the solver reports no optimum, each time without the last basis."""

SLACK = 3e-10
"""Part of their height that users may lose who keep it, or rounding would make the next program infeasible."""


@dataclass(frozen=True)
class RaisedUsers:
    """The users of one stage raised as far as they go."""

    height: float
    tasks: NDArray[np.float64]  # [K, N]: in units of each user, up to the tolerance of the program
    prices: NDArray[np.float64]  # [K, R]: sum 1
    costs: NDArray[np.float64]  # [N]: of one unit, at the cheapest server of each user
    gap: float  # what the prices lack of proving the heights: 1 less the worth of all heights, at least 0


class StageProgram:
    """The linear program of a stage: users rise together as far as feasible, while others keep their heights.

    Over some pairs of user n and server i, with a_inr the share of resource r that one unit of the user takes::

        maximise t  where  sum_i x_in = t (users who rise), = h_n (the others),  sum_n a_inr x_in <= 1,  x >= 0.

    The multipliers of the loads are prices. In the dual, no unit of a user is worth more than it costs at any server,
    so prices prove a bound over all pairs: the worth of a unit is its least cost. One model of HiGHS serves all stages.

    The needs a_inr are float64[K, N, R], 0 where the user may not use the server; every user may use some server.
    """

    def __init__(self, needs: NDArray[np.float64], may: NDArray[np.bool_]) -> None:
        self._needs, self._may = needs, may
        servers, users, width = needs.shape
        self.pairs = np.zeros_like(may)  # in the program so far
        self.rising = np.ones(users, np.bool_)
        self.heights = np.zeros(users)  # h_n of the users who do not rise
        self._server, self._user = np.empty(0, np.int64), np.empty(0, np.int64)
        unlimited = highspy.kHighsInf
        self._highs = highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", "off")
        self._set_tolerance(PRECISION)
        # rows: sum_i x_in - t = 0 for each user, then the load of each resource of each server; column 0 is t
        lower = np.concatenate([np.zeros(users), np.full(servers * width, -unlimited)])
        upper = np.concatenate([np.zeros(users), np.ones(servers * width)])
        count = users + servers * width
        highs.addRows(count, lower, upper, 0, np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
        highs.addCol(-1.0, 0.0, unlimited, users, np.arange(users, dtype=np.int32), -np.ones(users))
        self._add(likely_pairs(needs, may))
        self._choose_first_basis()

    def stop(self, users: NDArray[np.int64], height: float) -> None:
        """Let some users keep a height from now on, but for `SLACK`."""
        height *= 1 - SLACK
        self.rising[users] = False
        self.heights[users] = height
        for n in users.tolist():
            self._highs.changeCoeff(n, 0, 0.0)  # t leaves the row, whose sum is h_n now
        fixed = np.full(len(users), height)
        self._highs.changeRowsBounds(len(users), users.astype(np.int32), fixed, fixed)

    def solve(self) -> RaisedUsers | None:
        """Raise those who rise as far as feasible over all pairs; None where the solver reports no optimum.

        Rounds of the program over the pairs so far; its prices say which pairs are missing. It ends because a pair
        joins once.
        """
        servers, users, width = self._needs.shape
        while True:
            if not self._run():
                return None
            solution = self._highs.getSolution()
            values = np.maximum(np.array(solution.col_value), 0.0)
            prices = np.maximum(-np.array(solution.row_dual)[users:].reshape(servers, width), 0.0)
            prices /= prices.sum()
            cost = unit_costs(self._needs, prices)
            cost[~self._may] = np.inf
            least = cost.min(axis=0)
            least_present = np.where(self.pairs, cost, np.inf).min(axis=0)
            missing = np.where(self.pairs, np.inf, cost)
            height = float(values[0])
            units = np.where(self.rising, height, self.heights)
            # what users would save by missing pairs is what the prices lack of a proof over all pairs
            saved = float((least_present - least) @ units)
            if not (missing.min(axis=0) < least_present).any() or saved <= PRECISION:
                tasks = np.zeros((servers, users))
                tasks[self._server, self._user] = values[1:]
                return RaisedUsers(height, tasks, prices, least, abs(1 - float(least @ units)))
            few = min(MORE, servers)
            places = np.argpartition(missing, few - 1, axis=0)[:few]
            joins = np.take_along_axis(missing, places, axis=0) <= np.maximum(least_present * (1 + NEAR), least)
            fresh = np.zeros_like(self.pairs)
            fresh[places[joins], np.nonzero(joins)[1]] = True
            self._add(fresh & self._may & ~self.pairs)

    def _run(self) -> bool:
        """Run the solver, first from the last basis; return whether it reports an optimum at last."""
        for again, tolerance in enumerate((PRECISION, *AGAIN)):
            if again:  # the last basis may be nearly singular for changed coefficients
                self._highs.clearSolver()
            self._set_tolerance(tolerance)
            if self._is_optimal():
                return True
        return False

    def _is_optimal(self) -> bool:
        self._highs.run()
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def _set_tolerance(self, tolerance: float) -> None:
        for kind in ("primal", "dual"):
            self._highs.setOptionValue(f"{kind}_feasibility_tolerance", tolerance)

    def _add(self, fresh: NDArray[np.bool_]) -> None:
        """Add pairs to the program."""
        users, width = self._needs.shape[1:]
        server, user = np.nonzero(fresh)
        self.pairs |= fresh
        self._server = np.concatenate([self._server, server])
        self._user = np.concatenate([self._user, user])
        rows = np.column_stack([user, users + server[:, None] * width + np.arange(width)])
        values = np.column_stack([np.ones(len(user)), self._needs[server, user]])
        present = values > 0
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))[:-1]]).astype(np.int32)
        zero, unlimited = np.zeros(len(user)), np.full(len(user), highspy.kHighsInf)
        entries = rows[present].astype(np.int32), values[present]
        self._highs.addCols(len(user), zero, zero, unlimited, len(entries[1]), starts, *entries)

    def _choose_first_basis(self) -> None:
        """Solve a large first program by an interior-point method: the simplex method goes on from its basis."""
        servers, users, width = self._needs.shape
        if users + servers * width > LARGE:
            self._highs.setOptionValue("solver", "ipm")
            self._highs.run()
            self._highs.setOptionValue("solver", "simplex")


SOFT, HARD, STEPS = 0.3, 0.08, 60
"""How evenly users split their tasks over servers of different cost, at first and in the end, and the steps between."""

LIKELY = 8
"""Pairs of each user in the first program, and of each server, times the number of users to a server."""


def likely_pairs(needs: NDArray[np.float64], may: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return pairs of server and user, bool[K, N], in which an optimal solution is likely to have its tasks.

    Users split their tasks softly over cheap servers while prices follow loads. With the cheapest pairs at equal prices
    instead, TSF on 1,000 users and 100 classes took twenty times as long. O(K N R) for each of `STEPS` steps.
    """
    # In every step a user splits one unit over its servers in proportion to cost^(-1 / soft), and each price is
    # multiplied by a power of the load of its resource that is smaller the harder the split.
    servers, users, _ = needs.shape
    prices = (needs > 0).any(axis=1) * 1.0
    split = np.zeros((servers, users))
    for step in range(STEPS):
        soft = SOFT * (HARD / SOFT) ** (step / (STEPS - 1))
        cost = unit_costs(needs, prices / prices.sum())
        cost[~may] = np.inf
        least = np.maximum(cost.min(axis=0), 1e-300)
        split = (least / np.maximum(cost, least)) ** (1 / soft)
        split /= split.sum(axis=0)
        load = np.matmul(split[:, None, :], needs)[:, 0]
        prices = np.maximum(prices * (load / load.max()) ** soft, 1e-12 * prices.max() * (prices > 0))
    pairs = np.zeros_like(may)
    few = min(LIKELY, servers)
    pairs[np.argpartition(-split, few - 1, axis=0)[:few], np.arange(users)] = True
    few = min(LIKELY * -(-users // servers), users)
    pairs[np.arange(servers)[:, None], np.argpartition(-split, few - 1, axis=1)[:, :few]] = True
    return pairs & may


def unit_costs(needs: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what one unit of each user costs at each server, float64[K, N], at prices float64[K, R]."""
    return np.asarray(np.matmul(needs, prices[:, :, None])[:, :, 0], np.float64)
