"""The facets and vertices of a capacity region, exact, with the evidence that none is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import plain
from theory.errors import TooLargeError
from theory.exact.knapsack import maximal
from theory.exact.programs import solve_dense
from theory.instance import Configuration, Instance
from theory.numbers import many
from theory.region import hull
from theory.region.membership import Support
from theory.shown import Shown

LIMIT = 200_000
"""Most simplices of an outer boundary by default."""

ADVICE = "ask for the intensity of a workload, a slice or fewer types, or allow more (limit, or --facets N)"
"""What to do where facets are too many."""

ENUMERATED = 100_000
"""Most maximal configurations of a pool that are listed; beyond, each hyperplane is priced by a knapsack."""


@dataclass(frozen=True)
class Facet:
    """A facet ``normal . x <= offset``; the entries of the normal are coprime integers."""

    normal: tuple[int, ...]
    offset: Fraction

    def value(self, workload: Sequence[Fraction]) -> Fraction:
        """Return normal . workload."""
        return sum((a * x for a, x in zip(self.normal, workload, strict=True) if a), Fraction(0))


@dataclass(frozen=True, repr=False)
class Region(Shown):
    """All facets and vertices of the capacity region of an average server.

    Attributes
    ----------
    outer : tuple of Facet
        Those not through the origin, in increasing order of the normal; their normals are at least 0.
    configurations : tuple, length V, of tuple of Configuration, length P
        The configuration of every pool that makes each vertex but the origin, one way only.
    vertices : tuple of tuple of Fraction, shape (V, J)
        The vertices but the origin: sums of share times configuration, in decreasing lexicographic order.
    simplices : tuple of tuple of int, shape (S, J)
        A triangulation of the outer facets, corners as increasing places in `vertices`: the evidence of completeness.
    """

    outer: tuple[Facet, ...]
    configurations: tuple[tuple[Configuration, ...], ...]
    vertices: tuple[tuple[Fraction, ...], ...]
    simplices: tuple[tuple[int, ...], ...]

    @property
    def facets(self) -> tuple[Facet, ...]:
        """All facets: first ``-x_j <= 0`` for every type, then the outer ones."""
        width = len(self.vertices[0])
        walls = (Facet(tuple(-1 if i == j else 0 for i in range(width)), Fraction(0)) for j in range(width))
        return (*walls, *self.outer)

    def intensity(self, workload: Sequence[Fraction]) -> Fraction:
        """Return the traffic intensity of a workload of at least 0: the greatest normal . workload / offset."""
        return max(facet.value(workload) / facet.offset for facet in self.outer)

    def holds(self, workload: Sequence[Fraction]) -> bool:
        """Return whether a point is in the region, its boundary included."""
        return all(facet.value(workload) <= facet.offset for facet in self.facets)


def region_facets(instance: Instance, *, limit: int = LIMIT, report: Callable[[str], None] | None = None) -> Region:
    """Compute all facets and vertices of ``sum over pools of share x conv K``.

    Parameters
    ----------
    instance : Instance
        Its pools are used; neither rewards nor workload. J types, any number of pools.
    limit : int
        Most simplices.
    report : callable, optional
        Told now and then how far it is.

    Raises
    ------
    TooLargeError
        If the outer boundary takes more than `limit` simplices. The work ends there: no estimate beforehand was right
        to less than a factor of 10,000.

    Notes
    -----
    From the simplex of the single-type configurations the hull grows by the configuration farthest beyond one of its
    hyperplanes, a vertex of the region each time, until the knapsack finds none beyond any; so every facet is proved
    over all configurations, whether they are listed or not, and a Minkowski sum of pools needs no sums of vertices.
    What comes out is proved complete again by `theory.region.facets`. Time: O(V S J) for V vertices and S simplices,
    and a knapsack a hyperplane; S may grow like V^(J/2). Some 30,000 simplices are made in a second from listed
    configurations, some 1,000 where each hyperplane is priced by a knapsack.
    Source: the region (2) of the non-preemptive scheduling paper; the empty configuration is meant to belong to it.

    Examples
    --------
    >>> from theory.instance import additive
    >>> region = region_facets(additive([6], [[4], [1]]))
    >>> region.outer
    (Facet(normal=(1, 0), offset=Fraction(1, 1)), Facet(normal=(4, 1), offset=Fraction(6, 1)))
    >>> region.configurations
    (((1, 2),), ((1, 0),), ((0, 6),))
    """
    Instance.expected(instance)
    support, width = Support(instance), len(instance.types)
    listed = _listed(support, width)
    for dtype in (np.int64, object):
        growing = _Growing(support, width, limit, dtype, report)
        if growing.by_pricing() if listed is None else growing.by_list(listed[0].astype(dtype), listed[1]):
            break
    return growing.region()


def _listed(support: Support, width: int) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """List the maximal configurations of all pools, each times its servers, and where each pool's begin."""
    try:
        rows = [maximal(space, limit=ENUMERATED * width) for space in support.spaces]
    except TooLargeError:
        return None
    starts = np.cumsum([0, *map(len, rows)])
    long = max(support.multiplicity) * max(int(row.max()) for row in rows) >= hull.LONGEST
    dtype = object if long else np.int64
    return np.concatenate([row.astype(dtype) * m for m, row in zip(support.multiplicity, rows, strict=True)]), starts


class _Growing:
    """The arrays of a hull that grows; they double where a kernel finds them full."""

    def __init__(
        self, support: Support, width: int, limit: int, dtype: Any, report: Callable[[str], None] | None
    ) -> None:
        self._support, self._limit, self._width, self._report = support, limit, width, report
        self._exact = dtype is object
        self._grow = plain(hull.grow) if self._exact else hull.grow
        self._insert = plain(hull.insert) if self._exact else hull.insert
        # the first simplex: the farthest point of each axis, on the hyperplane sum_j x_j / reach_j = 1
        axes = [tuple(space.most(j) for j in range(width)) for space in support.spaces]
        reach = support.point(axes)
        common = lcm(*reach)
        first = [*(common // top for top in reach), common]
        self._fits = self._exact or common * (width + 1) < hull.LONGEST
        rows = 64
        table = self._hull = hull.Hull(
            points=np.zeros((rows, width), dtype),
            crossed=np.zeros((rows, width + 1), dtype),
            number=np.array([width]),
            reach=np.array(reach if self._fits else [0] * width, dtype),
            longest=0.0 if self._exact else hull.LONGEST,
            corners=np.zeros((rows, width), np.int64),
            neighbours=np.zeros((rows, width), np.int64),
            planes=np.zeros((rows, width + 1), dtype),
            status=np.zeros(rows, np.int64),
            link=np.zeros((rows, width), np.int64),
            used=np.array([1]),
        )
        if self._fits:
            table.points[:width] = np.diag(table.reach)
            table.crossed[:width, :width] = 2 * np.eye(width, dtype=np.int64) - 1  # prices that single one type out
            table.corners[0], table.neighbours[0] = range(width), range(-1, -1 - width, -1)
            table.planes[0], table.status[0] = first, 1

    def by_list(self, tops: NDArray[Any], starts: NDArray[np.int64]) -> bool:
        """Grow over listed configurations; False if a number would be too long."""
        if not self._fits or tops.dtype != self._hull.points.dtype:
            return False
        return self._until_done(lambda: self._grow(tops, starts, self._hull))

    def by_pricing(self) -> bool:
        """Grow by a knapsack for every hyperplane; False if a number would be too long."""
        if not self._fits:
            return False
        seen_normals: set[tuple[int, ...]] = set()

        def step() -> int:
            table = self._hull
            while len(waiting := np.flatnonzero(table.status[: table.used[0]] == 1)):
                for s in waiting.tolist():
                    plane = tuple(map(int, table.planes[s]))
                    if table.status[s] != 1:
                        continue
                    if plane not in seen_normals:
                        # a configuration of greater value lies beyond the hyperplane; else it is of a facet
                        value, best = self._support(plane[:-1])
                        if value > plane[-1]:
                            new = int(table.number[0])
                            if new == len(table.points):
                                return hull.MORE_ROOM
                            table.points[new], table.crossed[new] = self._support.point(best), plane
                            outcome = self._insert(table, new)
                            if outcome != hull.DONE:
                                return int(outcome)
                            table.number[0] += 1
                            continue
                        seen_normals.add(plane)
                    table.status[s] = 2
            return hull.DONE

        return self._until_done(step)

    def _until_done(self, run: Callable[[], int]) -> bool:
        while (outcome := run()) == hull.MORE_ROOM:
            table = self._hull
            if len(table.status) >= 2 * self._limit:  # dead rows and live ones
                self._refuse()
            if self._report is not None:
                self._report(f"facets: {table.number[0]:,} vertices, {table.used[0]:,} simplices so far")
            grown = ("points", "crossed", "corners", "neighbours", "planes", "status", "link")
            larger: dict[str, Any] = {name: _doubled(getattr(table, name)) for name in grown}
            self._hull = table._replace(**larger)
        return outcome == hull.DONE

    def _refuse(self) -> None:
        raise TooLargeError(
            f"the facets of {many(self._width, 'type')} need more than {self._limit:,} simplices, "
            f"with {self._hull.number[0]:,} vertices so far: {ADVICE}"
        )

    def region(self) -> Region:
        """Put the answer into order, and prove it."""
        hull = self._hull
        alive = np.flatnonzero(hull.status[: hull.used[0]] == 2)
        if len(alive) > self._limit:
            self._refuse()
        points = [tuple(map(int, row)) for row in hull.points[: hull.number[0]]]
        corners, planes = hull.corners[alive], hull.planes[alive]
        on = np.unique(corners)  # a point taken in may turn out to be no vertex of the final hull: then none uses it
        order = sorted(on.tolist(), key=lambda i: points[i], reverse=True)
        place = np.zeros(len(points), np.int64)
        place[order] = range(len(order))
        simplices = np.sort(place[corners], axis=1)
        sequence = np.lexsort(simplices.T[::-1])
        simplices, planes = simplices[sequence], planes[sequence]
        servers = self._support.servers
        normals = sorted(set(map(tuple, planes.tolist())))
        coordinates = hull.points[order]
        assert is_outer_boundary(coordinates, simplices, planes), "the hull is not closed"
        sources: list[tuple[Configuration, ...]] = [(points[i],) for i in order]
        if len(self._support.spaces) > 1:
            sources = [self._support(hull.crossed[i, : self._width].tolist())[1] for i in order]
            assert [self._support.point(k) for k in sources] == [points[i] for i in order], "a vertex is made two ways"
        return Region(
            tuple(_facet(plane, servers) for plane in normals),
            tuple(sources),
            tuple(tuple(Fraction(x, servers) for x in points[i]) for i in order),
            tuple(map(tuple, simplices.tolist())),
        )


def _facet(plane: Sequence[int], servers: int) -> Facet:
    divisor = gcd(*plane[:-1])
    return Facet(tuple(a // divisor for a in plane[:-1]), Fraction(plane[-1], divisor * servers))


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)])


PRIME = 2**31 - 1
"""Determinants are first computed modulo this prime: what is not 0 there is not 0."""


def is_outer_boundary(points: NDArray[Any], simplices: NDArray[np.int64], planes: NDArray[Any]) -> bool:
    """Decide whether simplices prove that their hyperplanes are all the outer facets; O(S J^3) vectorised operations.

    Points of P are int[V, J], of any length of integers, and simplices int64[S, J] rows of corners, increasing in each;
    `planes`, int[S, J + 1], has the hyperplane of each simplex in lowest terms, which the caller has proved valid for
    P.

    >>> points = np.array([[1, 0], [1, 2], [0, 6]])
    >>> planes = np.array([[1, 0, 1], [4, 1, 6]])
    >>> is_outer_boundary(points, np.array([[0, 1], [1, 2]]), planes)
    True
    >>> is_outer_boundary(points, np.array([[1, 2]]), planes[1:])
    False
    """
    # Simplices of independent corners whose ridges meet in pairs, or in a wall, cover every ray of the orthant equally
    # often; where one ray is covered once, their cones tile the orthant, so no facet is missing.
    width = points.shape[1]
    corners = points[simplices]
    on = (corners * planes[:, None, :width]).sum(axis=2) == planes[:, width:]
    if not len(simplices) or not on.all() or not (planes[:, width] > 0).all():
        return False
    return _independent(corners) and _ridges_meet(points, simplices) and _covered_once(points, simplices, planes)


def _independent(corners: NDArray[Any]) -> bool:
    """Decide whether the corners of each simplex are linearly independent."""
    # a determinant that is not 0 modulo the prime is not 0; the few others are decided in rationals
    flat = np.flatnonzero(_determinant_is_zero(np.asarray(corners % PRIME, np.int64)))
    width = corners.shape[1]
    return all(solve_dense(corners[s].tolist(), [0] * width) is not None for s in flat.tolist())


def _determinant_is_zero(matrices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Eliminate all matrices at once modulo the prime, shape (n, J, J)."""
    rows = matrices.copy()
    every = np.arange(len(rows))
    zero = np.zeros(len(rows), np.bool_)
    for step in range(rows.shape[1]):
        pivot = step + (rows[:, step:, step] != 0).argmax(axis=1)
        head = rows[every, pivot].copy()
        rows[every, pivot] = rows[:, step]
        rows[:, step] = head
        zero |= head[:, step] == 0
        below = rows[:, step + 1 :]
        below[:] = (
            below * head[:, None, step : step + 1] % PRIME - below[:, :, step : step + 1] * head[:, None] % PRIME
        ) % PRIME
    return zero


def _ridges_meet(points: NDArray[Any], simplices: NDArray[np.int64]) -> bool:
    """Decide whether every ridge is in two simplices, or in one coordinate hyperplane."""
    width = simplices.shape[1]
    if width == 1:
        return True  # the ridge is empty: it lies in every coordinate hyperplane
    ridges = np.concatenate([np.delete(simplices, i, axis=1) for i in range(width)])
    zero = np.asarray(points == 0, np.bool_)
    inner = ridges[~zero[ridges].all(axis=1).any(axis=1)]
    key = np.zeros(len(inner), np.int64)
    if len(points) ** (width - 1) < 2**62:  # corners increase, so the ridge is a number to that base
        for column in inner.T:
            key = key * len(points) + column
        _, counts = np.unique(key, return_counts=True)
    else:
        _, counts = np.unique(inner, axis=0, return_counts=True)
    return bool((counts == 2).all())


def _covered_once(points: NDArray[Any], simplices: NDArray[np.int64], planes: NDArray[Any]) -> bool:
    """Decide whether the middle of some simplex is in no other; only those in its hyperplane can hold it."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for s, plane in enumerate(map(tuple, planes.tolist())):
        groups.setdefault(plane, []).append(s)
    first, *others = min(groups.values(), key=len)
    middle = points[simplices[first]].sum(axis=0).tolist()
    return not any(_in_cone(points[simplices[s]].tolist(), middle) for s in others)


def _in_cone(corners: Sequence[Sequence[int]], direction: Sequence[int]) -> bool:
    """Decide whether a direction is a combination, with no negative coefficient, of independent corners."""
    parts = solve_dense([list(column) for column in zip(*corners, strict=True)], direction)
    assert parts is not None
    return min(parts) >= 0
