"""Newton's directions of the program of a stage: one dense matrix, a row for each resource of each server."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from theory.jit import kernel
from theory.sharing.pairs import Pairs

Vector = NDArray[np.float64]

RIDGE, RIDGES = 1e-13, 4
"""Part by which the diagonal grows before it is factored; a hundred times as much where that fails, so often."""

LEAST = 1e-17
"""Part of what the users of a full row add to the diagonal before elimination that it grows by: a price that the
equations leave free stays near its value."""

HUGE = 1e8
"""Times the largest entry of the diagonal is added on implied rows, so that their prices stay."""

REFINED = 2
"""How often a direction is corrected by what it leaves of the primal equations."""


@dataclass(frozen=True)
class Point:
    """An iterate of the program of `theory.sharing.interior`.

    Attributes
    ----------
    tasks, excess : float64[P]
        Of each pair: units, and what the pair costs above `worth`; both positive.
    free, price : float64[K R]
        Of each resource of each server: the part that is left, and the price; both positive but on rows that are full.
    height : float
    worth : float64[N]
        Of one unit of each user.
    """

    tasks: Vector
    excess: Vector
    free: Vector
    price: Vector
    height: float
    worth: Vector

    def moved(self, step: Point, primal: float, dual: float) -> Point:
        """Return the point a part of a direction further."""
        return Point(
            self.tasks + primal * step.tasks,
            self.excess + dual * step.excess,
            self.free + primal * step.free,
            self.price + dual * step.price,
            self.height + primal * step.height,
            self.worth + dual * step.worth,
        )


class Newton:
    """The equations of Newton's method at a point, factored.

    Parameters
    ----------
    pairs : Pairs
    point : Point
    full : bool[K R]
        Rows without free part: it keeps its value, and the price may have any sign.
    rising : float64[N]
        1 for users who rise, 0 for those who keep their height.
    heights : float64[N]
        Of those who keep them; 0 for the others.
    implied : bool[K R]
        Full rows that the other equations imply; their prices stay.

    Raises
    ------
    ArithmeticError
        The matrix is not positive definite in floats.

    Notes
    -----
    With d = tasks / excess, E the matrix from pairs to users and A that from pairs to rows, elimination of the pairs
    and then of the users leaves, for the change of prices, the matrix A d A' + free / price - U (E d E')^-1 U' with
    U = A d E'. The part of each user is summed as -d_k d_l / sum(d) off the diagonal and d_k (sum of the others) /
    sum(d) on it, without a difference, because d of pairs in use grows without bound. O((K R)^3 / 3 + P^2 R^2 / N).
    """

    def __init__(
        self,
        pairs: Pairs,
        point: Point,
        full: NDArray[np.bool_],
        rising: Vector,
        heights: Vector,
        implied: NDArray[np.bool_],
    ) -> None:
        self._implied = np.flatnonzero(implied)
        self._pairs, self._point, self._full, self._rising = pairs, point, full, rising
        self._ratio = point.tasks / point.excess
        self._all = pairs.by_user(self._ratio)
        self._factor = self._factored()
        self._pull = rising / self._all
        self._lift = self._solved(self._to_rows(self._pull))
        self._bend = float(self._pull @ rising + self._to_rows(self._pull) @ self._lift)
        tasks = point.tasks
        self._short = heights - pairs.by_user(tasks) + rising * point.height
        self._over = 1 - pairs.loads(tasks) - point.free
        self._off = point.excess - (pairs.costs(point.price) - point.worth[pairs.user])
        self._whole = 1 - float(rising @ point.worth)

    def _factored(self) -> Vector:
        """Return the Cholesky factor of the matrix, float64[K R, K R]."""
        point, size = self._point, len(self._full)
        whole = np.where(self._full, self._pairs.loads_of_squares(self._ratio), 0.0)
        for again in range(RIDGES):
            matrix = np.zeros((size, size))
            _assemble(matrix, self._pairs.start, self._pairs.server, self._ratio, self._pairs.shares)
            diagonal = np.arange(size)
            matrix[diagonal, diagonal] += np.where(self._full, 0.0, point.free / np.where(self._full, 1.0, point.price))
            matrix[diagonal, diagonal] *= 1 + RIDGE * 100**again
            matrix[diagonal, diagonal] += LEAST * 100**again * whole
            matrix[self._implied, self._implied] += HUGE * matrix[diagonal, diagonal].max()
            factor, status = dpotrf(matrix.T, lower=0, overwrite_a=1, clean=0)
            if status == 0:
                return np.asarray(factor, np.float64)
        raise ArithmeticError("the matrix of a stage is not positive definite in floats")

    def direction(self, products: Vector, others: Vector) -> Point:
        """Return the direction in which linearised products of pairs and of rows become what is left of them.

        Parameters
        ----------
        products : float64[P]
            What is to be added to tasks times excess.
        others : float64[K R]
            What is to be added to free times price.
        """
        pairs, point, rising = self._pairs, self._point, self._rising
        price = np.where(self._full, 1.0, point.price)
        others = np.where(self._full, 0.0, others)
        free = np.where(self._full, 0.0, point.free)
        given = self._ratio * self._off + products / point.excess
        up, worth, height = self._primal(
            self._short - pairs.by_user(given), pairs.loads(given) + others / price - self._over, self._whole
        )
        again = 0
        while True:
            excess = pairs.costs(up) - worth[pairs.user] - self._off
            tasks = (products - point.tasks * excess) / point.excess
            left = (others - free * up) / price
            if again == REFINED:
                return Point(tasks, excess, left, up, height, worth)
            more = self._primal(
                self._short - (pairs.by_user(tasks) - rising * height),
                pairs.loads(tasks) + left - self._over,
                self._whole - float(rising @ worth),
            )
            up, worth, height = up + more[0], worth + more[1], height + more[2]
            again += 1

    def _primal(self, users: Vector, rows: Vector, whole: float) -> tuple[Vector, Vector, float]:
        """Return the changes of price, worth and height for the residuals of their equations."""
        own = users / self._all
        plain = self._solved(rows + self._to_rows(own))
        height = (whole - float(self._rising @ own) - float(self._to_rows(self._pull) @ plain)) / self._bend
        price = plain + self._lift * height
        worth = (
            users + self._pairs.by_user(self._ratio * self._pairs.costs(price)) + self._rising * height
        ) / self._all
        return price, worth, height

    def _to_rows(self, values: Vector) -> Vector:
        return self._pairs.loads(self._ratio * values[self._pairs.user])

    def _solved(self, right: Vector) -> Vector:
        return np.asarray(dpotrs(self._factor, right, lower=0)[0], np.float64)


@kernel
def _assemble(
    matrix: Vector, start: NDArray[np.int64], server: NDArray[np.int64], ratio: Vector, shares: Vector
) -> None:
    """Add what the pairs give to the lower triangle of the matrix."""
    width = shares.shape[1]
    for n in range(len(start) - 1):
        begin, end = start[n], start[n + 1]
        whole = 0.0
        for k in range(begin, end):
            whole += ratio[k]
        for k in range(begin, end):
            rest = 0.0
            for other in range(begin, end):
                if other != k:
                    rest += ratio[other]
            weight = ratio[k] * (rest / whole)
            row = server[k] * width
            for r in range(width):
                for q in range(r + 1):
                    matrix[row + r, row + q] += weight * shares[k, r] * shares[k, q]
            for other in range(begin, k):
                weight = -ratio[k] * (ratio[other] / whole)
                column = server[other] * width
                for r in range(width):
                    for q in range(width):
                        matrix[row + r, column + q] += weight * shares[k, r] * shares[other, q]
