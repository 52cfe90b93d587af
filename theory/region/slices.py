"""A capacity region cut by the plane of two types, the other workloads as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from theory.errors import InputError
from theory.instance import Instance
from theory.numbers import to_integers
from theory.region.membership import CapacityProgram

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Slice:
    """The workloads of two types that a region holds beside a fixed workload of the others.

    Attributes
    ----------
    types : tuple of int, length 2
    workload : tuple of Fraction, shape (J,)
        Fixed; 0 at the two types.
    vertices : tuple of (Fraction, Fraction)
        Where the outer boundary turns, from the axis of the first type to that of the second.
    """

    types: tuple[int, int]
    workload: tuple[Fraction, ...]
    vertices: tuple[Point, ...]

    @property
    def edges(self) -> tuple[tuple[tuple[int, int], Fraction], ...]:
        """The outer inequalities ``a s + b t <= c`` as ((a, b), c), a and b coprime, in the order of the vertices."""
        edges = []
        for (s, t), (u, v) in pairwise(self.vertices):
            (a, b), _ = to_integers([v - t, s - u])  # normal to the edge, outwards
            edges.append(((a, b), a * s + b * t))
        return tuple(edges)

    def holds(self, first: Fraction | int, second: Fraction | int) -> bool:
        """Return whether the slice holds workloads of the two types."""
        return min(first, second) >= 0 and all(a * first + b * second <= c for (a, b), c in self.edges)


def region_slice(
    instance: Instance,
    first: int,
    second: int,
    workload: Sequence[Fraction | int] | None = None,
    program: CapacityProgram | None = None,
) -> Slice:
    """Cut the region by the plane of two types through a workload.

    Parameters
    ----------
    instance : Instance
    first, second : int
        Places of the two types.
    workload : sequence of rational, shape (J,), optional
        The instance's where left out; its entries at the two types do not matter.
    program : CapacityProgram, optional
        Of the same pools, warm from earlier questions.

    Raises
    ------
    InputError
        If the region does not hold the workload of the other types, or the types are the same.

    Notes
    -----
    Exact: from the two ends, the point farthest beyond the line through two neighbours is added until there is none;
    one linear program an edge and one a vertex, over all configurations and without listing them.

    Examples
    --------
    >>> from theory.instance import additive
    >>> cut = region_slice(additive([6], [[4], [1], [2]], workload=[1, 1, "1/2"]), 0, 1)
    >>> [(str(s), str(t)) for s, t in cut.vertices], cut.holds(1, 1), cut.holds(1, 2)
    ([('1', '0'), ('1', '1'), ('0', '5')], True, False)
    """
    if first == second:
        raise InputError("slice", "expected two types, got one twice")
    warm = CapacityProgram(instance) if program is None else program
    rho = list(instance.workload if workload is None else map(Fraction, workload))
    rho[first] = rho[second] = Fraction(0)
    if not warm.intensity(rho).holds:
        raise InputError("slice", "expected that the region holds the workload of the other types, but it does not")

    def end(along: int, across: int) -> tuple[Fraction, Fraction]:
        most = warm.most_beside(rho, {along: 1})[along]
        fixed = [most if j == along else load for j, load in enumerate(rho)]
        return most, warm.most_beside(fixed, {across: 1})[across]

    # the boundary turns between two of its points where one lies farther along the normal of the line through them
    def between(a: Point, b: Point) -> list[Point]:
        normal = (b[1] - a[1], a[0] - b[0])
        if not all(normal):
            return []
        most = warm.most_beside(rho, {first: normal[0], second: normal[1]})
        c = (most[first], most[second])
        if normal[0] * (c[0] - a[0]) + normal[1] * (c[1] - a[1]) == 0:
            return []
        return [*between(a, c), c, *between(c, b)]

    s, t = end(first, second)
    v, u = end(second, first)
    points = [
        (s, Fraction(0)),
        (s, t),
        *([] if (s, t) == (u, v) else between((s, t), (u, v))),
        (u, v),
        (Fraction(0), v),
    ]
    return Slice((first, second), tuple(rho), tuple(_turning(points)))


def _turning(points: Sequence[Point]) -> list[Point]:
    """Drop points that repeat the one before, or lie on the line between their neighbours."""
    kept: list[Point] = []
    for c in points:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], c) == 0:
            kept.pop()
        if not kept or kept[-1] != c:
            kept.append(c)
    return kept


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
