"""One level for many users: the linear program of a stage of max-min fairness, by an interior-point method.

The program, for users who rise (to one height t) and others who keep a height h:

    maximise t  where  sum_i x_in = t (rising), = h_n (others);  sum_n a_inr x_in <= 1 for every resource r of server i;
    x >= 0,

with a_inr the share of the resource that one unit of the user takes. Its dual has prices p >= 0 of resources and worths
w of users: minimise sum p - sum over others of h_n w_n, where the worths of those who rise sum to 1 and no unit is
worth more than it costs anywhere, w_n <= sum_r a_inr p_ir. So prices alone prove a bound: the worth of a user is the
least cost of its unit. The pairs (i, n) that a program lacks are those with a cost below the worth; they join while the
method goes on, with few tasks taken from the other pairs of their users, so that the program stays feasible.

What a stage has settled is taken out of later ones: pairs that would cost their users more than they are worth are
closed, and a resource with a price is full, an equation whose price may have any sign (`theory.sharing.level_proofs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from theory.sharing.newton import Newton, Point, Vector
from theory.sharing.pairs import Pairs, cheapest, likely_pairs

MORE = 4
"""Pairs of a user that join at once."""

JOIN = 0.1
"""Pairs join where what users would save by them is more than this part of all products of the method."""

JOINED = 0.05
"""Part of a user's tasks, at most, that new pairs begin with; of what is free of a resource it is half at most."""

STEP = 0.995
"""Part of the way to the border that is gone."""

LIFT = 1e-2
"""Part of an even split that pairs have at least when a stage begins, and of a resource that is free."""

PRECISION = 1e-13
"""Gap, as a part of the height, at which the method ends."""

PRODUCTS = 1e-20
"""Sum of all products, as a part of the height, down to which it goes on: what is 0 in the end is then seen to be."""

LATE, ROUGH = 6, 1e-6
"""Steps without a smaller fault after which it ends, too, once the fault is so small."""

MOST = 100
"""Most steps."""


@dataclass(frozen=True)
class Stage:
    """The users of one level raised as far as they go.

    Attributes
    ----------
    point : Point
    prices : float64[K R]
        At least 0 but on rows that are full.
    worth : float64[N]
        The least cost of one unit of each user over open pairs. About 1 in sum over those who rise.
    gap : float
        What the prices lack of proving the height, as a part of it: at least 0.
    off : float
        The most by which an equation fails, as a part of the height of its user, or of the whole of its resource.
    """

    point: Point
    prices: Vector
    worth: Vector
    gap: float
    off: float

    @property
    def fault(self) -> float:
        """What the stage lacks of being solved, in all."""
        return self.gap + self.off


class Raising:
    """Users who rise together as far as feasible, while others keep their heights.

    Parameters
    ----------
    needs : float64[K, N, R]
        Share of each resource that one unit of a user takes; 0 where it may not use the server.
    may : bool[K, N]
        Everybody may use some server.

    Attributes
    ----------
    open : bool[K, N]
        Pairs that may hold tasks.
    full : bool[K R]
        Resources that are used up whatever happens.
    implied : bool[K R]
        One of the rows that each stage fills, of those that users connect: the sum of all rows at the prices of the
        stage is the sum of the heights of its users at their worths, so one follows from the others.
    pairs : Pairs
        In the program so far.
    rising : bool[N]
    heights : float64[N]
        Of those who do not rise; 0 for the others.
    """

    def __init__(self, needs: Vector, may: NDArray[np.bool_]) -> None:
        servers, users, width = needs.shape
        self._needs = needs
        self.open = may.copy()
        self.full = np.zeros(servers * width, np.bool_)
        self.rising = np.ones(users, np.bool_)
        self.implied = np.zeros(servers * width, np.bool_)
        self.heights = np.zeros(users)
        self._listed = likely_pairs(needs, may)
        self.pairs = Pairs(needs, *np.nonzero(self._listed))
        even = 1 / np.diff(self.pairs.start)[self.pairs.user]
        height = 0.5 / self.pairs.loads(even).max()
        price = np.ones(len(self.full))
        cost = self.pairs.costs(price)
        worth = np.minimum.reduceat(cost, self.pairs.start[:-1]) / 2
        scale = worth.sum()
        self._point = Point(
            height * even,
            (cost - worth[self.pairs.user]) / scale,
            1 - height * self.pairs.loads(even),
            price / scale,
            height,
            worth / scale,
        )

    def stop(self, users: NDArray[np.bool_], stage: Stage, closed: NDArray[np.bool_], full: NDArray[np.bool_]) -> None:
        """Let some users keep their height from now on; close pairs, bool[K, N], and let rows be full, bool[K R]."""
        self.rising &= ~users
        self.heights[users] = stage.point.height
        self.open &= ~closed
        self._listed &= ~closed
        self.full |= full
        kept = ~closed[self.pairs.server, self.pairs.user]
        self.pairs = Pairs(self._needs, self.pairs.server[kept], self.pairs.user[kept])
        for rows in self.pairs.connected(full, self.full):
            self.implied[rows[stage.prices[rows].argmax()]] = True
        even = (stage.point.height / np.diff(self.pairs.start))[self.pairs.user]
        tasks = np.maximum(stage.point.tasks[kept], LIFT * even)
        free = np.where(self.full, stage.point.free, np.maximum(stage.point.free, LIFT))
        self._point = self._centred(tasks, free, stage.point.height)

    def _centred(self, tasks: Vector, free: Vector, height: float) -> Point:
        """Return a point with the given tasks whose products are all alike."""
        product = height / (len(tasks) + int((~self.full).sum()))
        price = np.where(self.full, 0.0, product / free)
        return Point(tasks, product / tasks, free, price, height, self.rising / max(int(self.rising.sum()), 1))

    def solve(self, say: Callable[[str], None] | None = None) -> Stage | None:
        """Raise those who rise as far as feasible over all open pairs; None where no step could be made.

        Notes
        -----
        Predictor and corrector of Mehrotra (SIAM J. Optimization 2, 1992); primal and dual steps differ. What the
        equations lack counts as a part of the fault, so the stage of least fault is the best whatever happens later.
        Each step takes O(K N R) for the costs of all pairs, and the work of `theory.sharing.newton.Newton`.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a point that is not finite ends it
            return self._solved(say)

    def _solved(self, say: Callable[[str], None] | None) -> Stage | None:
        point, best, late = self._point, None, 0
        for step in range(MOST):
            try:
                point, product = self._moved(point)
            except ArithmeticError:
                break
            cost, place = cheapest(self._needs, self.open, point.price.reshape(len(self.open), -1), MORE)
            stage = self._judged(point, cost[:, 0])
            if not np.isfinite(stage.fault):
                break
            late += 1
            if best is None or stage.fault < max(best[0].fault, PRECISION):  # a later point has smaller products
                best, late = (stage, self.pairs, self._listed.copy()), 0
            if say is not None:
                say(f"step {step + 1}, {len(point.tasks):,} pairs: within {stage.gap:.0e} of the height")
            precise = stage.fault <= PRECISION and product * len(point.tasks) <= PRODUCTS * point.height
            if precise or (late >= LATE and best[0].fault < ROUGH):
                break
            saved = float(np.maximum(point.worth - cost[:, 0], 0.0) @ (self.heights + self.rising * point.height))
            if saved > JOIN * product * (len(point.tasks) + len(point.free)):
                point = self._joined(point, cost, place, product)
        if best is None:
            return None
        self.pairs, self._listed = best[1:]
        return best[0]

    def _moved(self, point: Point) -> tuple[Point, float]:
        """Return the point after one step, and the mean product there."""
        rows = ~self.full
        newton = Newton(self.pairs, point, self.full, self.rising.astype(np.float64), self.heights, self.implied)
        count = len(point.tasks) + int(rows.sum())

        def mean(one: Point) -> float:
            return float(one.tasks @ one.excess + one.free[rows] @ one.price[rows]) / count

        def limits(step: Point) -> tuple[float, float]:
            return (
                min(_limit(point.tasks, step.tasks), _limit(point.free[rows], step.free[rows])),
                min(_limit(point.excess, step.excess), _limit(point.price[rows], step.price[rows])),
            )

        now = mean(point)
        first = newton.direction(-point.tasks * point.excess, -point.free * point.price)
        primal, dual = limits(first)
        centre = min(1.0, max(mean(point.moved(first, min(1.0, primal), min(1.0, dual))) / now, 0.0) ** 3) * now
        step = newton.direction(
            centre - point.tasks * point.excess - first.tasks * first.excess,
            centre - point.free * point.price - first.free * first.price,
        )
        primal, dual = limits(step)
        made = point.moved(step, min(1.0, STEP * primal), min(1.0, STEP * dual))
        return made, mean(made)

    def _judged(self, point: Point, least: Vector) -> Stage:
        """Return a point as a stage, with its gap."""
        worth = np.where(self.rising, np.maximum(least, 0.0), least)
        scale = float(worth[self.rising].sum())
        if not scale > 0:
            return Stage(point, point.price, worth, np.inf, np.inf)
        goal = self.heights + self.rising * point.height
        users = np.abs(self.pairs.by_user(point.tasks) - goal)
        rows = np.abs(1 - self.pairs.loads(point.tasks) - point.free)
        lack = float(np.abs(worth) @ users + np.abs(point.price) @ rows)
        gap = abs(float(point.price.sum() - worth @ goal)) + lack
        off = max(float((users / goal).max()), float(rows.max()))
        return Stage(point, point.price, worth, gap / (scale * point.height), off)

    def _joined(self, point: Point, cost: Vector, place: NDArray[np.int64], product: float) -> Point:
        """Return the point with the pairs that users miss, so small that nothing becomes infeasible."""
        user, rank = np.nonzero((place >= 0) & (cost < point.worth[:, None]))
        server = place[user, rank]
        fresh = ~self._listed[server, user]
        user, server, cost = user[fresh], server[fresh], cost[user, rank][fresh]
        if not len(user):
            return point
        old = self.pairs
        held = old.by_user(point.tasks)
        tasks = (JOINED * held / np.maximum(np.bincount(user, minlength=len(held)), 1))[user]
        new = Pairs(self._needs, server, user)
        user, server, cost, tasks = user[new.order], server[new.order], cost[new.order], tasks[new.order]
        load = new.loads(tasks).reshape(len(self.open), -1)
        spare = np.where(self.full, 0.0, point.free).reshape(load.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(load > 0, 0.5 * spare / load, 1.0).min(axis=1)
        tasks *= np.clip(part[server], 1e-12, 1.0)
        excess = np.maximum(point.worth[user] - cost, product / tasks)
        tasks = np.minimum(tasks, product / excess)
        kept = point.tasks * (1 - np.bincount(user, tasks, len(held)) / held)[old.user]
        free = point.free - new.loads(tasks) - old.loads(kept) + old.loads(point.tasks)
        free = np.where(self.full | (free <= 0), point.free, free)
        self._listed = self._listed.copy()
        self._listed[server, user] = True
        self.pairs = Pairs(self._needs, np.concatenate([old.server, server]), np.concatenate([old.user, user]))
        order = self.pairs.order
        return replace(
            point,
            tasks=np.concatenate([kept, tasks])[order],
            excess=np.concatenate([point.excess, excess])[order],
            free=free,
        )


def _limit(values: Vector, step: Vector) -> float:
    """Return how many steps positive values can go before one of them is 0."""
    falls = step < 0
    return float((values[falls] / -step[falls]).min()) if falls.any() else np.inf
