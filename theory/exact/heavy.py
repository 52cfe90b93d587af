"""Configurations of great weight on servers of several kinds, for column generation: one table serves all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.exact.configurations import binding, reduced
from theory.exact.knapsack import (
    LIMB_BITS,
    TABLE_LIMIT,
    level_holds,
    max_weight,
    place_in_table,
    step_level,
    table_strides,
    too_fine,
    widened,
)
from theory.exact.search import with_each
from theory.instance import Additive


def heavy(spaces: Sequence[Additive], weights: Sequence[int], most: int | None = None) -> list[NDArray[np.int64]]:
    """Return configurations of great integer weight in each of several spaces.

    Parameters
    ----------
    spaces : sequence of Additive, length P
    weights : sequence of int, shape (J,)
        At least 0.
    most : int, optional
        Most configurations of a space; one for each of its types where left out.

    Returns
    -------
    list of int64[m, J], length P
        For every type that fits, a configuration of greatest weight among those with a job of that type, the heaviest
        first, where a table finds them all; where it would be larger than `TABLE_LIMIT` or weights longer than 62
        bits, the one of `max_weight`.

    Notes
    -----
    The table of the greatest weight within each level of the resources holds the answers of all smaller servers. Spaces
    with equal demands share one whose levels go up to the largest capacity of each resource, unless a table for each
    space takes fewer steps. O(cells n) for the table of n types, and O(n) for each configuration.

    Examples
    --------
    >>> from theory.instance import pooled
    >>> ten, four = (pool.space for pool in pooled([(1, [10]), (1, [4])], [[3], [5]]).pools)
    >>> [rows.tolist() for rows in heavy([ten, four], [3, 4])]
    [[[3, 0], [0, 2]], [[1, 0]]]
    """
    found: dict[int, NDArray[np.int64]] = {}
    for members, grid in _grids(tuple(spaces)):
        words = [weights[j] for j in grid.types]
        if grid.steps > TABLE_LIMIT or max(words, default=0) * max(1, grid.jobs) >= 2**LIMB_BITS or not words:
            found |= {p: _without_table(spaces[p], weights)[:most] for p in members}
            continue
        chosen = np.array(words, np.int64)
        value, latest = _table(grid.largest, grid.demands, chosen)
        for p, capacity in zip(members, grid.capacities, strict=True):
            limit = len(words) if most is None else most
            rows = _with_each(value, latest, grid.largest, capacity, grid.demands, chosen, limit)
            found[p] = np.zeros((len(rows), len(weights)), np.int64)
            found[p][:, grid.types] = rows
    return [found[p] for p in range(len(spaces))]


def _without_table(space: Additive, weights: Sequence[int]) -> NDArray[np.int64]:
    small = reduced(space)
    if not small.types or not too_fine(small):
        return np.array([max_weight(space, weights)], np.int64)
    chosen = [weights[j] for j in small.types]
    found = [widened(small, k, len(weights)) for k in with_each(small, chosen)] if any(chosen) else []
    return np.array(found, np.int64).reshape(len(found), len(weights))


class _Grid:
    """The types that fit some of the spaces, in the resources that bind in some, whole multiples of a common unit."""

    def __init__(self, spaces: Sequence[Additive]) -> None:
        demands = spaces[0].demands
        self.types = [j for j in range(len(demands)) if any(space.most(j) for space in spaces)]
        resources = sorted({r for space in spaces for r in binding(space, self.types)})
        units = [gcd(*(demands[j][r] for j in self.types)) for r in resources]

        def whole(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
            made = [[row[r] // unit for r, unit in zip(resources, units, strict=True)] for row in rows]
            return np.array(made, np.int64).reshape(len(rows), len(resources))

        self.demands = whole([demands[j] for j in self.types])
        self.capacities = whole([space.capacity for space in spaces])
        self.largest = self.capacities.max(axis=0)
        self.steps = prod(int(c) + 1 for c in self.largest) * len(self.types)
        most = [min(int(c) // int(d) for c, d in zip(self.largest, row, strict=True) if d) for row in self.demands]
        self.jobs = sum(most)


@lru_cache(maxsize=64)
def _grids(spaces: tuple[Additive, ...]) -> list[tuple[list[int], _Grid]]:
    """Return which spaces share a table, and the grid of each table."""
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for p, space in enumerate(spaces):
        alike.setdefault(space.demands, []).append(p)
    made = []
    for members in alike.values():
        common = _Grid([spaces[p] for p in members])
        alone = [reduced(spaces[p]) for p in members]
        if common.steps <= sum(small.cells * len(small.types) for small in alone):
            made.append((members, common))
        else:
            made.extend(([p], _Grid([spaces[p]])) for p in members)
    return made


@kernel
def _table(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the greatest weight within each level, and the type of one job in a configuration that has it, or -1.

    Parameters
    ----------
    capacity : int64[R]
    demands : int64[n, R]
        Every type fits alone.
    weights : int64[n]
        At least 0; the weight of any configuration fits into int64.

    Returns
    -------
    int64[cells], int32[cells]
        The last resource varies fastest.
    """
    n, last = demands.shape[0], capacity.size - 1
    strides = table_strides(capacity)
    size, width = strides[0], capacity[last] + 1
    value = np.zeros(size, np.int64)
    latest = np.full(size, -1, np.int32)
    row = np.zeros(capacity.size, np.int64)
    for j in range(n):
        if weights[j] == 0:
            continue
        offset = place_in_table(demands[j], strides)
        row[:] = 0
        for start in range(0, size, width):
            if level_holds(row, demands[j]):
                for c in range(start + demands[j, last], start + width):
                    with_one = value[c - offset] + weights[j]
                    if with_one > value[c]:
                        value[c] = with_one
                        latest[c] = j
            step_level(row, capacity)
    return value, latest


@kernel
def _with_each(
    value: NDArray[np.int64],
    latest: NDArray[np.int32],
    largest: NDArray[np.int64],
    capacity: NDArray[np.int64],
    demands: NDArray[np.int64],
    weights: NDArray[np.int64],
    most: int,
) -> NDArray[np.int64]:
    """Return the heaviest of the configurations with a job of one type and the best of what fits beside it.

    Parameters
    ----------
    value, latest : arrays of shape (cells,)
        The table of `largest`.
    capacity : int64[R]
        At most `largest`.
    most : int
        Of types.

    Returns
    -------
    int64[m, n]
        The heaviest first; ties by the first type.
    """
    n = demands.shape[0]
    strides = table_strides(largest)
    whole = place_in_table(capacity, strides)
    offsets = np.zeros(n, np.int64)
    worth = np.full(n, -1, np.int64)
    fitting = 0
    for j in range(n):
        offsets[j] = place_in_table(demands[j], strides)
        fits = True
        for r in range(capacity.size):
            fits = fits and demands[j, r] <= capacity[r]
        if fits:
            worth[j] = weights[j] + value[whole - offsets[j]]
            fitting += 1
    order = np.argsort(-worth, kind="mergesort")[: min(most, fitting)]
    chosen = np.zeros((order.size, n), np.int64)
    for place, j in enumerate(order):
        chosen[place, j] = 1
        c = whole - offsets[j]
        while latest[c] >= 0:
            chosen[place, latest[c]] += 1
            c -= offsets[latest[c]]
    return chosen
