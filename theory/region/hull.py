"""The outer boundary of a convex hull in the positive orthant, grown point by point in integers.

The region of a server is P = conv(K) for a down-closed K: it holds the origin and a point on every axis, so its facets
through the origin are the coordinate hyperplanes and nothing else, and every ray of the orthant leaves P through the
*outer boundary*, the facets ``a x = b`` with b > 0. That boundary is kept as simplices, each with J linearly
independent points, whose cones tile the orthant. A point beyond some of them replaces those by the simplices that join
it to their rim; a simplex in whose hyperplane it lies stays (the placing triangulation), so no simplex is ever flat,
and facets with more than J corners need no merging: they are the simplices with the same hyperplane.

Kernels run compiled on int64 and, where numbers outgrow it, as plain Python on arrays of integers of any length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel

DONE, MORE_ROOM, TOO_LONG = 0, 1, 2
"""How a kernel ended: finished; arrays are full (nothing was changed); a number would leave int64."""

LONGEST = float(2**62)
"""Bound on every number that a compiled kernel computes."""


class Hull(NamedTuple):
    """The arrays of a hull that grows, int64 or of integers of any length where it says int."""

    points: NDArray[np.int64]  # int[n, J]
    crossed: NDArray[np.int64]  # int[n, J + 1]: the hyperplane beyond which each point was
    number: NDArray[np.int64]  # int64[1]: number of points so far
    reach: NDArray[np.int64]  # int[J]: greatest coordinates of any point
    longest: float  # largest number allowed, 0 for no limit
    corners: NDArray[np.int64]  # int64[m, J]: rows of the points of each simplex
    neighbours: NDArray[np.int64]  # int64[m, J]: simplex across from each corner; -1 - j if the ridge is in x_j = 0
    planes: NDArray[np.int64]  # int[m, J + 1]: normal and offset of each simplex
    status: NDArray[np.int64]  # int64[m]: 0 free, 1 to be examined, 2 of a facet; negative while seen from a point
    link: NDArray[np.int64]  # int64[m, J]: what `_raise` leaves for `_join`
    used: NDArray[np.int64]  # int64[1]: rows of the simplex arrays ever used


@kernel
def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


@kernel
def _excess(plane: NDArray[np.int64], point: NDArray[np.int64]) -> int:
    """Return a x - b: positive beyond the hyperplane."""
    width = point.size
    value: int = -plane[width]
    for j in range(width):
        value += plane[j] * point[j]
    return value


@kernel
def _span(
    inner: NDArray[np.int64],
    within: int,
    outer: NDArray[np.int64],
    beyond: int,
    reach: NDArray[np.int64],
    longest: float,
    plane: NDArray[np.int64],
) -> bool:
    """Write the hyperplane through what two hyperplanes share and a point `beyond` the inner, `within` the outer one.

    It is the combination of the two on which the point's excesses cancel, in lowest terms. False if a number of more
    than `longest` would appear (0: no limit); `reach` bounds every coordinate of every point.
    """
    # within * inner + beyond * outer vanishes on the point, since its excesses are `beyond` and -`within`
    divisor = 0
    total = 0.0
    for j in range(plane.size):
        if longest > 0.0:
            size = abs(float(within)) * abs(float(inner[j])) + abs(float(beyond)) * abs(float(outer[j]))
            if size > longest:
                return False
        plane[j] = within * inner[j] + beyond * outer[j]
        divisor = _gcd(divisor, abs(plane[j]))
    for j in range(plane.size):
        plane[j] //= divisor
        if longest > 0.0:
            total += abs(float(plane[j])) * (float(reach[j]) if j < reach.size else 1.0)
    return not (longest > 0.0 and total > longest)


@kernel
def insert(hull: Hull, new: int) -> int:
    """Take the point of row `new`, which lies beyond some hyperplane, into the hull.

    `DONE`, `MORE_ROOM` or `TOO_LONG`: nothing has changed unless `DONE`. O(m J + v J^2) for v visible simplices.
    """
    status, point = hull.status, hull.points[new]
    width = point.size
    rim = 0
    free = len(status) - hull.used[0]
    visible = np.empty(hull.used[0], np.int64)
    seen = 0
    # simplices in whose hyperplane the point lies are not visible: the placing triangulation keeps them
    for s in range(hull.used[0]):
        if status[s] == 0:
            free += 1
        elif _excess(hull.planes[s], point) > 0:
            visible[seen] = s
            seen += 1
            status[s] = -status[s]
    # the rim: ridges of visible simplices to ones that stay, or in a wall x_j = 0 in which the point does not lie
    for v in range(seen):
        for i in range(width):
            n = hull.neighbours[visible[v], i]
            if (n >= 0 and status[n] > 0) or (n < 0 and point[-1 - n] > 0):
                rim += 1
    outcome = DONE if rim <= free else MORE_ROOM
    new_rows = np.empty(rim, np.int64)
    if outcome == DONE:
        outcome = _raise(hull, new, visible[:seen], new_rows)
    for v in range(seen):
        status[visible[v]] = 0 if outcome == DONE else -status[visible[v]]
    if outcome != DONE:
        return outcome
    for m in range(rim):
        status[new_rows[m]] = 1
    return outcome


@kernel
def _raise(hull: Hull, new: int, visible: NDArray[np.int64], made: NDArray[np.int64]) -> int:
    """Make the simplices that join the point to the rim of the visible ones, then join them to each other."""
    point, planes, neighbours, link = hull.points[new], hull.planes, hull.neighbours, hull.link
    width = point.size
    wall = np.zeros(width + 1, planes.dtype)
    count, slot, top = 0, 0, hull.used[0]
    for v in range(len(visible)):
        s = visible[v]
        beyond = _excess(planes[s], point)
        for i in range(width):
            n = neighbours[s, i]
            if n >= 0 and hull.status[n] <= 0:
                continue
            if n < 0 and point[-1 - n] == 0:
                continue
            while slot < hull.used[0] and hull.status[slot] != 0:
                slot += 1
            if slot < hull.used[0]:
                fresh = slot
                slot += 1
            else:
                fresh = top
                top += 1
            if n < 0:  # the wall is the hyperplane -x_j = 0
                wall[:] = 0
                wall[-1 - n] = -1
                good = _span(planes[s], point[-1 - n], wall, beyond, hull.reach, hull.longest, planes[fresh])
            else:
                within = -_excess(planes[n], point)
                good = _span(planes[s], within, planes[n], beyond, hull.reach, hull.longest, planes[fresh])
            if not good:
                return TOO_LONG
            for k in range(width):
                hull.corners[fresh, k] = hull.corners[s, k]
            hull.corners[fresh, i] = new
            neighbours[fresh, i] = n
            link[s, i] = fresh
            link[fresh, 0] = s
            link[fresh, 1 % width] = i
            made[count] = fresh
            count += 1
    hull.used[0] = top
    _join(hull, point, made[:count])
    return DONE


@kernel
def _join(hull: Hull, point: NDArray[np.int64], made: NDArray[np.int64]) -> None:
    """Make the new simplices neighbours of those at the rim and of each other; this cannot fail."""
    width, neighbours, link = point.size, hull.neighbours, hull.link
    for m in range(len(made)):
        fresh = made[m]
        s, i = (link[fresh, 0], link[fresh, 1]) if width > 1 else (link[fresh, 0], 0)
        n = neighbours[fresh, i]
        if n >= 0:  # the simplex that stays pointed to the visible one
            for k in range(width):
                if neighbours[n, k] == s:
                    neighbours[n, k] = fresh
        for k in range(width):
            if k != i:
                neighbours[fresh, k] = _around(hull, point, s, i, k)


@kernel
def _around(hull: Hull, point: NDArray[np.int64], s: int, i: int, k: int) -> int:
    """Turn about the face of simplex `s` without corners `i` and `k`, through visible simplices, to the rim again."""
    stay, out = hull.corners[s, i], k
    while True:
        n = hull.neighbours[s, out]
        if n < 0:
            return int(n) if point[-1 - n] == 0 else int(hull.link[s, out])
        if hull.status[n] >= 0:
            return int(hull.link[s, out])
        # go on in n: keep the corner opposite to the ridge just crossed, and turn about the same face
        turn, apex = 0, 0
        for q in range(point.size):
            if hull.corners[n, q] == stay:
                turn = q
            if hull.neighbours[n, q] == s:
                apex = hull.corners[n, q]
        s, out, stay = n, turn, apex


@kernel
def farthest(
    tops: NDArray[np.int64], starts: NDArray[np.int64], plane: NDArray[np.int64], point: NDArray[np.int64]
) -> None:
    """Write the point of the region farthest along a normal, the first in decreasing lexicographic order.

    `tops`, int[n, J], are the maximal configurations of pool after pool, each times its pool's whole number of servers;
    a pool's rows begin at `starts`, int64[P + 1]. The point, the sum over pools, is a vertex, because it is the optimum
    of a generic small change of prices.
    """
    width = point.size
    point[:] = 0
    # coordinates whose price is negative stay at 0: everything below a configuration is feasible
    for p in range(starts.size - 1):
        best = starts[p]
        highest = -1
        for row in range(starts[p], starts[p + 1]):
            value = 0
            for j in range(width):
                if plane[j] > 0:
                    value += plane[j] * tops[row, j]
            if value < highest:
                continue
            better = value > highest
            if not better:
                for j in range(width):
                    if plane[j] >= 0 and tops[row, j] != tops[best, j]:
                        better = tops[row, j] > tops[best, j]
                        break
            if better:
                best, highest = row, value
        for j in range(width):
            if plane[j] >= 0:
                point[j] += tops[best, j]


@kernel
def grow(tops: NDArray[np.int64], starts: NDArray[np.int64], hull: Hull) -> int:
    """Examine simplices until all are of facets: no configuration lies beyond any of their hyperplanes."""
    changed = True
    while changed:
        changed = False
        for s in range(hull.used[0]):
            if hull.status[s] != 1:
                continue
            new = hull.number[0]
            if new == len(hull.points):
                return MORE_ROOM
            farthest(tops, starts, hull.planes[s], hull.points[new])
            if _excess(hull.planes[s], hull.points[new]) <= 0:
                hull.status[s] = 2
                continue
            outcome = insert(hull, new)
            if outcome != DONE:
                return outcome
            hull.crossed[new] = hull.planes[s]
            hull.number[0] += 1
            changed = True
    return DONE
