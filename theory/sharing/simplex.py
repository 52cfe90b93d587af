"""One level for many users: the linear program of a stage of max-min fairness, by the simplex method.

It holds the pairs of user and server that are likely to matter; what is missing is found by its prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from theory.sharing.pairs import likely_pairs, unit_costs

MORE = 4
"""Pairs of a user that join at once."""

NEAR = 0.01
"""A pair joins where its cost is at most so much above the least cost of the user's pairs that are there."""

SMALL = 500
"""Up to so many rows the simplex method starts without a basis."""

FIRST_ORDER: dict[str, str | float] = {"solver": "pdlp", "pdlp_optimality_tolerance": 1e-7}
"""PDLP, a primal-dual hybrid gradient method with restarts; it only says where the simplex method begins."""

USED = 1e-5
"""Tasks in units of their user, and parts of the highest price, that count as more than none there."""

PRECISION = 1e-10
"""Tolerances of the simplex method, and of what missing pairs might save, as a part of all prices."""

AGAIN = (PRECISION, 1e-9, 1e-8)
"""Tolerances of the same program where the solver reports no optimum, each time without the last basis."""

SLACK = 3e-10
"""Part of their height that users may lose who keep it, or rounding would make the next program infeasible."""


@dataclass(frozen=True)
class Stage:
    """The users of one level raised as far as they go.

    Attributes
    ----------
    height : float
    tasks : float64[K, N]
        In units of each user; up to the tolerance of the program.
    prices : float64[K, R]
        Sum 1.
    costs : float64[N]
        Of one unit, at the cheapest server of each user.
    gap : float
        What the prices lack of proving the heights: 1 less the worth of all heights, at least 0.
    """

    height: float
    tasks: NDArray[np.float64]
    prices: NDArray[np.float64]
    costs: NDArray[np.float64]
    gap: float


class Raising:
    """Users who rise together as far as feasible, while others keep their heights; one model that stays warm.

    Parameters
    ----------
    needs : float64[K, N, R]
        Share of each resource that one unit of a user takes; 0 where it may not use the server.
    may : bool[K, N]
        Everybody may use some server.

    Attributes
    ----------
    pairs : bool[K, N]
        In the program so far.
    rising : bool[N]
    heights : float64[N]
        Of those who do not rise.
    """

    def __init__(self, needs: NDArray[np.float64], may: NDArray[np.bool_]) -> None:
        self._needs, self._may = needs, may
        servers, users, width = needs.shape
        self.pairs = np.zeros_like(may)
        self.rising = np.ones(users, np.bool_)
        self.heights = np.zeros(users)
        self._server, self._user = np.empty(0, np.int64), np.empty(0, np.int64)
        unlimited = highspy.kHighsInf
        self._highs = highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", "off")
        for kind in ("primal", "dual"):
            highs.setOptionValue(f"{kind}_feasibility_tolerance", PRECISION)
        lower = np.concatenate([np.zeros(users), np.full(servers * width, -unlimited)])
        upper = np.concatenate([np.zeros(users), np.ones(servers * width)])
        count = users + servers * width
        highs.addRows(count, lower, upper, 0, np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
        highs.addCol(-1.0, 0.0, unlimited, users, np.arange(users, dtype=np.int32), -np.ones(users))
        self._add(likely_pairs(needs, may))
        self._begin()

    def stop(self, users: NDArray[np.int64], height: float) -> None:
        """Let some users keep a height from now on, but for `SLACK`."""
        height *= 1 - SLACK
        self.rising[users] = False
        self.heights[users] = height
        for n in users.tolist():
            self._highs.changeCoeff(n, 0, 0.0)
        fixed = np.full(len(users), height)
        self._highs.changeRowsBounds(len(users), users.astype(np.int32), fixed, fixed)

    def solve(self) -> Stage | None:
        """Raise those who rise as far as feasible over all pairs; None where the solver reports no optimum.

        Notes
        -----
        Rounds of the program over the pairs so far; its prices say which pairs are missing. It ends because a pair
        joins once.
        """
        servers, users, width = self._needs.shape
        while True:
            if not any(self._is_optimal(again) for again in range(len(AGAIN) + 1)):
                return None
            solution = self._highs.getSolution()
            found = np.maximum(np.array(solution.col_value), 0.0)
            prices = np.maximum(-np.array(solution.row_dual)[users:].reshape(servers, width), 0.0)
            prices /= prices.sum()
            cost = unit_costs(self._needs, prices)
            cost[~self._may] = np.inf
            least = cost.min(axis=0)
            other = np.where(self.pairs, np.inf, cost)
            known = np.where(self.pairs, cost, np.inf).min(axis=0)
            height = float(found[0])
            worth = np.where(self.rising, height, self.heights)
            if not (other.min(axis=0) < known).any() or float((known - least) @ worth) <= PRECISION:
                tasks = np.zeros((servers, users))
                tasks[self._server, self._user] = found[1:]
                return Stage(height, tasks, prices, least, abs(1 - float(least @ worth)))
            few = min(MORE, servers)
            places = np.argpartition(other, few - 1, axis=0)[:few]
            good = np.take_along_axis(other, places, axis=0) <= np.maximum(known * (1 + NEAR), least)
            fresh = np.zeros_like(self.pairs)
            fresh[places[good], np.nonzero(good)[1]] = True
            self._add(fresh & self._may & ~self.pairs)

    def _is_optimal(self, again: int) -> bool:
        """Run the solver, the first time from the last basis; return whether it reports an optimum."""
        if again:  # the last basis may be nearly singular for changed coefficients
            self._highs.clearSolver()
        for kind in ("primal", "dual"):
            self._highs.setOptionValue(f"{kind}_feasibility_tolerance", (PRECISION, *AGAIN)[again])
        self._highs.run()
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

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

    def _begin(self) -> None:
        """Give the simplex method a basis to start from: what a first-order method uses, and the rest by HiGHS."""
        servers, users, width = self._needs.shape
        if users + servers * width <= SMALL:
            return
        for name, value in FIRST_ORDER.items():
            self._highs.setOptionValue(name, value)
        self._highs.run()
        self._highs.setOptionValue("solver", "simplex")
        solution = self._highs.getSolution()
        prices = -np.array(solution.row_dual)[users:]
        status = highspy.HighsBasisStatus
        basis = highspy.HighsBasis()
        basis.col_status = [status.kBasic if x > USED else status.kLower for x in solution.col_value]
        priced = (prices > USED * max(prices.max(), 0.0)).tolist()
        basis.row_status = [status.kLower] * users + [
            status.kUpper if is_priced else status.kBasic for is_priced in priced
        ]
        basis.valid = basis.alien = True  # alien: HiGHS completes it, or takes out what is too much
        self._highs.setBasis(basis)
