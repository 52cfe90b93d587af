"""An upper bound of rho*: prices of sizes, linear between points of a grid.

Why it is right. Let f >= 0 be a price of each size such that no configuration of real sizes is worth more than 1. Then
rho* E f(R) <= L: whatever a schedule does, the jobs on a server are worth at most 1 at any time. Let f be linear
between points that are multiples of 1/G. In a configuration of greatest worth two sizes off the points can be moved
against each other, and one of both directions loses nothing, until one is at a point; so at most one size is off the
points, and it is at a point or fills the server, which makes it a multiple of 1/G. So an integer knapsack over
multiples of 1/G decides whether f is a price. f(x) = x gives Lemma 2; step functions give the lower-rounded virtual
queues of Theorem 1.

The best prices for given points are dual to a configuration linear program in which each job is spread, in mean, to
the neighbouring points. Its bound is never worse than rounding down to the same points.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theory.exact.knapsack import fill_table
from theory.exact.programs import LinearProgram
from theory.numbers import total
from theory.partition.laws import Law

BITS = 40
"""Float prices are rounded to this many bits before the integer knapsack."""


@dataclass(frozen=True)
class Prices:
    """Prices of sizes, at least 0, linear between points, worth at most 1 on every server.

    The points increase, in units of 1/grid; the law's support lies between the first and the last. Prices hold at the
    points, and between two points where the law has sizes there.
    """

    grid: int
    points: tuple[int, ...]
    values: tuple[Fraction, ...]

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.points, float), np.array([float(v) for v in self.values])

    def at(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the prices of sizes in floats, shape as given."""
        return np.interp(sizes * self.grid, *self._floats)

    def bound(self, law: Law) -> Fraction:
        """Return the upper bound 1 / E f(R) of rho* on one server."""
        weights = law.hats([Fraction(point, self.grid) for point in self.points])
        return 1 / total(w * v for w, v in zip(weights, self.values, strict=True))


def lemma_2(law: Law) -> Prices:
    """Return the prices f(x) = x of Lemma 2: rho* is at most L over the mean size.

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> law = uniform("1/100", "19/100")
    >>> lemma_2(law).bound(law)
    Fraction(10, 1)
    """
    del law
    return Prices(1, (0, 1), (Fraction(0), Fraction(1)))


def occupied(law: Law, grid: int, points: Sequence[int]) -> list[bool]:
    """Return for each two neighbouring points whether sizes strictly between them occur, shape (n - 1,)."""
    places = [Fraction(point, grid) for point in points]
    sizes = [size for size, _ in law.atoms]
    return [
        bisect_right(sizes, a) < bisect_left(sizes, b)
        or any(max(a, piece.lower) < min(b, piece.upper) for piece in law.pieces)
        for a, b in pairwise(places)
    ]


def greatest_worth(grid: int, points: Sequence[int], values: Sequence[int], within: Sequence[bool]) -> Fraction:
    """Return the greatest worth of a configuration of sizes at the points and where `within` says so, exactly.

    Points increase, 0 only with value 0; values are at least 0, together below 2^62 on any server. `within` tells of
    each two neighbouring points whether there are sizes between them.
    """
    real = [(p, v) for p, v in zip(points, values, strict=True) if p > 0]
    sizes, prices = np.array([p for p, _ in real], np.int64), np.array([v for _, v in real], np.int64)
    table, _ = fill_table(np.array([grid]), sizes[:, None], prices)
    best = Fraction(int(table[grid]))
    for ((a, low), (b, high)), is_within in zip(pairwise(zip(points, values, strict=True)), within, strict=True):
        inside = np.arange(a + 1, min(b, grid + 1), dtype=np.int64)
        # one size g off the points, beside the best at the points in what it leaves
        if is_within and inside.size:  # floats find the greatest, rationals decide
            rest = table[grid - inside]
            worth = rest.astype(float) + low + (high - low) * ((inside - a) / (b - a))
            for i in np.flatnonzero(worth >= worth.max() * (1 - 1e-9)):
                g = int(inside[i])
                best = max(best, int(rest[i]) + low + Fraction((high - low) * (g - a), b - a))
    return best


def spread_prices(law: Law, grid: int, points: Sequence[int], tolerance: float = 1e-4, rounds: int = 4000) -> Prices:
    """Return good prices that are linear between increasing points of a grid, exact and worth at most 1.

    The support lies between the first point and the last. Column generation stops within a relative tolerance of the
    best prices for these points, or after so many columns; `greatest_worth` decides what the prices are worth.

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> law = uniform("1/10", "9/10")
    >>> round(float(spread_prices(law, 10, range(1, 10)).bound(law)), 9)
    2.0
    """
    points = list(points)
    weights = law.hats([Fraction(point, grid) for point in points])
    rows = [i for i, w in enumerate(weights) if w and points[i] > 0]
    place = {i: row for row, i in enumerate(rows)}
    n = len(rows)
    # max rho with rho w_i <= slots at point i, of one server; each point alone fills it at first
    program = LinearProgram([(None, 0)] * n + [(None, 1)])
    program.add_columns([1], [{row: weights[i] for row, i in enumerate(rows)}])
    program.add_columns([0] * n, [{n: 1, row: -(grid // points[i])} for row, i in enumerate(rows)])
    sizes = np.array([points[i] for i in rows], np.int64)
    within = occupied(law, grid, points)
    every = np.concatenate(
        [
            sizes,
            *(np.arange(a + 1, min(b, grid + 1)) for (a, b), yes in zip(pairwise(points), within, strict=True) if yes),
        ]
    )
    best, best_prices = np.inf, np.zeros(len(points))
    for _ in range(rounds):
        value, _, dual = program.solve_float()
        prices = np.zeros(len(points))
        prices[rows] = np.maximum(dual[:n], 0.0)
        # scaled to E f(R) = 1, so that the greatest worth of a configuration bounds rho*
        prices /= float(np.dot(prices[rows], [float(weights[i]) for i in rows]))
        table, last = fill_table(np.array([grid]), sizes[:, None], prices[rows])
        off = np.interp(every, points, prices)
        worth = table[grid - every] + off
        at = int(np.argmax(worth))
        best_value = max(float(worth[at]), float(table[grid]))
        if best_value < best:
            best, best_prices = best_value, prices
        if best <= value * (1 + tolerance):
            break
        column: dict[int, Fraction | int] = {n: 1}
        level = grid
        if worth[at] > table[grid]:  # one size off the points is spread to its neighbours
            g = int(every[at])
            level = grid - g
            i = max(0, min(len(points) - 2, bisect_right(points, g) - 1))
            share = Fraction(g - points[i], points[i + 1] - points[i])
            for k, part in ((i, 1 - share), (i + 1, share)):
                if part and k in place:
                    column[place[k]] = column.get(place[k], 0) - part
        while last[level] >= 0:
            row = int(last[level])
            column[row] = column.get(row, 0) - 1
            level -= int(sizes[row])
        program.add_columns([0], [column])
    return certified(grid, points, best_prices, within)


def certified(grid: int, points: Sequence[int], prices: NDArray[np.float64], within: Sequence[bool]) -> Prices:
    """Round float prices and scale them so that the greatest worth is exactly 1."""
    scale = 2**BITS / max(float(prices.max()), 1e-300)
    integers = [round(max(0.0, float(price)) * scale) for price in prices]
    worth = greatest_worth(grid, points, integers, within)
    # no configuration is worth more than 1 at prices over the greatest worth
    return Prices(grid, tuple(points), tuple(value / worth for value in integers))


def without_spare_points(law: Law, prices: Prices) -> Prices:
    """Leave out points that neither size nor price depends on, so that no number can be altered unnoticed.

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> half = Fraction(1, 2)
    >>> without_spare_points(uniform("2/5", "1/2"), Prices(20, (8, 9, 10), (half, half, half))).points
    (8, 10)
    """
    points, values = list(prices.points), list(prices.values)
    atoms = {size * prices.grid for size, _ in law.atoms}
    while True:
        within = [False, *occupied(law, prices.grid, points), False]
        for i, (left, right) in enumerate(pairwise(within)):
            level = left and right and values[i - 1] == values[i] == values[i + 1]
            if level or not (left or right or points[i] in atoms):
                del points[i], values[i]
                break
        else:
            return Prices(prices.grid, tuple(points), tuple(values))
