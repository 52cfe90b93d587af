"""Why no facet is missing: a check that shares nothing with the hull that it checks.

Let P be convex and down-closed in the positive orthant, with the origin, and let S be a finite set of simplices, each
with J linearly independent corners in P on a hyperplane ``a x = b``, b > 0, valid for P. If

1. every ridge (J - 1 corners of a simplex) belongs to exactly two simplices or lies in a coordinate hyperplane, and
2. some direction, in no ridge, is in the cone of exactly one simplex,

then the hyperplanes of S and the coordinate hyperplanes are all the facets of P. Proof. Count the cones of S over a
direction in the open orthant. Along a path that meets the cones of ridges only in their relative interiors and avoids
everything of codimension 2, as generic paths do, the count changes only on meeting a ridge, by the simplices gained
less those lost there; each simplex with that ridge lies on one side of it, there are two, so the parity stays. The
open orthant without those pieces is connected, so by 2 the count is odd everywhere: the cones cover the orthant.
Now let x >= 0 satisfy all the inequalities. It lies in a cone of S, so x = t y with y on that simplex; a y = b and
a x <= b give t <= 1, and x is in P with y and the origin. So the inequalities describe P. None can be left out: each
holds with equality at J affinely independent points of P, and so do ``x_j >= 0``, at the origin and on the other axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.exact.elimination import solve

PRIME = 2**31 - 1
"""Determinants are first computed modulo this prime: what is not 0 there is not 0."""


def is_outer_boundary(points: NDArray[Any], simplices: NDArray[np.int64], planes: NDArray[Any]) -> bool:
    """Decide whether simplices prove that their hyperplanes are all the outer facets.

    Parameters
    ----------
    points : int[V, J]
        Points of P, of any length of integers.
    simplices : int64[S, J]
        Rows of the corners, increasing in each simplex.
    planes : int[S, J + 1]
        Hyperplane of each simplex, in lowest terms; whoever calls has proved each valid for P.

    Notes
    -----
    O(S J^3) integer operations, vectorised.

    Examples
    --------
    >>> points = np.array([[1, 0], [1, 2], [0, 6]])
    >>> planes = np.array([[1, 0, 1], [4, 1, 6]])
    >>> is_outer_boundary(points, np.array([[0, 1], [1, 2]]), planes)
    True
    >>> is_outer_boundary(points, np.array([[1, 2]]), planes[1:])
    False
    """
    width = points.shape[1]
    corners = points[simplices]
    on = (corners * planes[:, None, :width]).sum(axis=2) == planes[:, width:]
    if not len(simplices) or not on.all() or not (planes[:, width] > 0).all():
        return False
    return _independent(corners) and _ridges_meet(points, simplices) and _covered_once(points, simplices, planes)


def _independent(corners: NDArray[Any]) -> bool:
    """Decide whether the corners of each simplex are linearly independent."""
    flat = np.flatnonzero(_determinant_is_zero(np.asarray(corners % PRIME, np.int64)))
    width = corners.shape[1]
    return all(solve(corners[s].tolist(), [0] * width) is not None for s in flat.tolist())


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
    parts = solve([list(column) for column in zip(*corners, strict=True)], direction)
    assert parts is not None
    return min(parts) >= 0
