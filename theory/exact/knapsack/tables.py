"""The knapsack by a table: the greatest weight within every level of the resources, compiled.

The table has a cell for every level ``c`` with ``0 <= c_r <= C_r``. With types added from the last to the first,

    value(c) = max(value(c), value(c - d_j) + w_j),

and ``first(c)`` is the first type of a configuration that attains it. Walking back from a level gives the configuration
of greatest weight with the tie rule of Definition 2.2: more slots of the first type that differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.exact.knapsack.configurations import binding, reduced
from theory.instance import Additive


class Grid:
    """The common table of several servers with equal demands, in the resources that bind on some of them.

    `types` fit at least one server; `demands`, int64[n, R], and `capacities`, int64[P, R], are in multiples of a common
    unit; the table has the levels up to `largest`. `steps` are cells times types, `jobs` bounds the jobs of a
    configuration.
    """

    def __init__(self, spaces: Sequence[Additive]) -> None:
        demands = spaces[0].demands
        self.types = [j for j in range(len(demands)) if any(space.most(j) for space in spaces)]
        # a resource that binds on one server has levels for all
        resources = sorted({r for space in spaces for r in binding(space, self.types)})
        units = [gcd(*(demands[j][r] for j in self.types)) for r in resources]

        def in_units(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
            multiples = [[row[r] // unit for r, unit in zip(resources, units, strict=True)] for row in rows]
            return np.array(multiples, np.int64).reshape(len(rows), len(resources))

        self.demands = in_units([demands[j] for j in self.types])
        self.capacities = in_units([space.capacity for space in spaces])
        self.largest = self.capacities.max(axis=0)
        self.steps = prod(int(c) + 1 for c in self.largest) * len(self.types)
        alone = [min(int(c) // int(d) for c, d in zip(self.largest, row, strict=True) if d) for row in self.demands]
        self.jobs = sum(alone)


@lru_cache(maxsize=64)  # a program is solved again and again for other workloads
def grids(spaces: tuple[Additive, ...], limit: int) -> list[tuple[list[int], Grid]]:
    """Return the places of the servers that share a table, and the grid of each table.

    Servers with equal demands share one, unless a table for each of them takes fewer steps, or it would have more than
    `limit` of them.
    """
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for p, space in enumerate(spaces):
        alike.setdefault(space.demands, []).append(p)
    shared = []
    for members in alike.values():
        common = Grid([spaces[p] for p in members])
        alone = [reduced(spaces[p]) for p in members]
        # one table has the greatest capacity of each resource, so it may be larger than all of theirs
        if common.steps <= min(limit, sum(small.cells * len(small.types) for small in alone)):
            shared.append((members, common))
        else:
            shared.extend(([p], Grid([spaces[p]])) for p in members)
    return shared


@kernel
def table_strides(capacity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of cells, then the distance of neighbouring levels of each resource in the table, [R + 1]."""
    strides = np.ones(capacity.size + 1, np.int64)
    for r in range(capacity.size - 1, -1, -1):
        strides[r] = strides[r + 1] * (capacity[r] + 1)
    return strides


@kernel
def place_in_table(level: NDArray[np.int64], strides: NDArray[np.int64]) -> int:
    """Return the cell of a level; for a demand, the distance from a level to the level without it."""
    place = 0
    for r in range(level.size):
        place += level[r] * strides[r + 1]
    return place


@kernel
def _next_row(row: NDArray[np.int64], capacity: NDArray[np.int64]) -> None:
    """Step to the next level of all resources but the last, which varies fastest."""
    for r in range(capacity.size - 2, -1, -1):
        if row[r] < capacity[r]:
            row[r] += 1
            return
        row[r] = 0


@kernel
def _row_holds(row: NDArray[np.int64], demand: NDArray[np.int64]) -> bool:
    """Return whether a level holds a demand, in all resources but the last."""
    for r in range(demand.size - 1):  # noqa: SIM110 (compiled)
        if row[r] < demand[r]:
            return False
    return True


@kernel
def fill_table(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the greatest weight within each level, and the first type of the best configuration within it, or -1.

    The last resource varies fastest, and the values have the type of the weights: integers of 64 bits, if the weight of
    every configuration fits, floats, or as plain Python integers of any length. Every type demands something. O(n
    cells) time, O(cells) memory.
    """
    cells = table_strides(capacity)[0]
    value, first = np.zeros(cells, weights.dtype), np.full(cells, -1, np.int32)
    for j in range(demands.shape[0] - 1, -1, -1):
        add_type(value, first, j, capacity, demands[j], weights[j])
    return value, first


@kernel
def add_type(
    value: NDArray[Any],
    first: NDArray[np.int32],
    j: int,
    capacity: NDArray[np.int64],
    demand: NDArray[np.int64],
    weight: Any,
) -> None:
    """Add type `j` to a table that is filled for other types."""
    strides, last = table_strides(capacity), capacity.size - 1
    offset, width = place_in_table(demand, strides), capacity[last] + 1
    row = np.zeros(capacity.size, np.int64)
    for start in range(0, strides[0], width):
        if _row_holds(row, demand):
            # views of one table, so a job may join a level that another one of its type has reached; compiled, they
            # take half the time of places in the whole table
            level, end = start + demand[last], start + width
            without, within, type_within = value[level - offset : end - offset], value[level:end], first[level:end]
            for c in range(within.size):
                with_one = without[c] + weight
                # "no worse" in place of "better": then the first type that can be taken without loss is noted, and what
                # is left after it has none before it, so the walk back meets types in order (Definition 2.2)
                if with_one >= within[c]:
                    within[c] = with_one
                    type_within[c] = j
        _next_row(row, capacity)


@kernel
def add_best_within(
    cell: int, first: NDArray[np.int32], offsets: NDArray[np.int64], configuration: NDArray[np.int64]
) -> None:
    """Add the best configuration within the level of a cell to `configuration`, int64[n]: a walk back."""
    while first[cell] >= 0:
        configuration[first[cell]] += 1
        cell -= offsets[first[cell]]


@kernel
def best_by_levels(capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[Any]) -> NDArray[np.int64]:
    """Return the configuration of greatest weight, ties by Definition 2.2, int64[n]; parameters as in `fill_table`."""
    _, first = fill_table(capacity, demands, weights)
    strides = table_strides(capacity)
    offsets = np.zeros(demands.shape[0], np.int64)
    for j in range(offsets.size):
        offsets[j] = place_in_table(demands[j], strides)
    best = np.zeros(offsets.size, np.int64)
    add_best_within(first.size - 1, first, offsets, best)
    return best


@kernel
def best_with_each(
    value: NDArray[np.int64],
    first: NDArray[np.int32],
    largest: NDArray[np.int64],
    capacity: NDArray[np.int64],
    demands: NDArray[np.int64],
    weights: NDArray[np.int64],
    most: int,
) -> NDArray[np.int64]:
    """Return configurations with a job of one type and the best of what fits beside it, int64[m, n], heaviest first.

    `value` and `first` are the table of `largest`; a server with the capacity, which is at most that, shares it. `most`
    limits the types; ties go to the first. O(n) and the jobs of the configuration for each.
    """
    n = demands.shape[0]
    strides = table_strides(largest)
    full = place_in_table(capacity, strides)
    offsets = np.zeros(n, np.int64)
    worth = np.full(n, -1, np.int64)
    fitting = 0
    for j in range(n):
        offsets[j] = place_in_table(demands[j], strides)
        fits = True
        for r in range(capacity.size):
            fits = fits and demands[j, r] <= capacity[r]
        if fits:
            worth[j] = weights[j] + value[full - offsets[j]]
            fitting += 1
    order = np.argsort(-worth, kind="mergesort")[: min(most, fitting)]
    configurations = np.zeros((order.size, n), np.int64)
    for place, j in enumerate(order):
        configurations[place, j] = 1
        add_best_within(full - offsets[j], first, offsets, configurations[place])
    return configurations
