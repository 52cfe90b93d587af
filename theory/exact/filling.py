"""Servers filled with the largest jobs first: a good start of column generation, and whole servers for counted jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.exact.configurations import reduced
from theory.instance import Additive, Configuration

SERVED = 1e-9
"""Part of a type's jobs that may be left when it counts as served; the rounding of floats leaves some."""


def fillings(space: Additive, wanted: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return configurations of a pool that serve what is wanted, each filled with the largest jobs that still wait.

    Parameters
    ----------
    space : Additive
    wanted : float64[J]
        Jobs of each type, at least 0; those of types that do not fit are left out.

    Returns
    -------
    int64[m, J]

    Examples
    --------
    >>> from theory.instance import additive
    >>> fillings(additive([10], [[6], [3]]).pools[0].space, np.array([1.0, 3.0])).tolist()
    [[1, 1], [0, 3]]
    """
    small = reduced(space, np.flatnonzero(wanted).tolist())
    size = [max(d / c for d, c in zip(row, small.capacity, strict=True)) for row in small.demands]
    order = sorted(range(len(size)), key=lambda i: -size[i])
    types = [small.types[i] for i in order]
    demands = np.array(small.demands, np.int64).reshape(len(size), len(small.capacity))[order]
    most = np.array([space.most(j) for j in types], np.int64)
    rows = filled_largest_first(np.array(small.capacity, np.int64), demands, wanted[types], most)
    found = np.zeros((len(rows), len(wanted)), np.int64)
    found[:, types] = rows
    return found


@kernel
def filled_largest_first(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], wanted: NDArray[np.float64], most: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return configurations that serve what is wanted, each filled with the largest jobs that still wait and fit.

    Parameters
    ----------
    capacity : int64[R]
    demands : int64[n, R]
        Of the types from the largest to the smallest; each fits alone.
    wanted : float64[n]
        Positive.
    most : int64[n]
        Most jobs of each type in a configuration, positive.

    Returns
    -------
    int64[m, n]
        m is at most n: with every configuration another type is served to the end.

    Notes
    -----
    O(n^2 R).
    """
    n = len(demands)
    left = wanted.copy()
    waits = np.ones(n, np.bool_)
    rows = np.zeros((n, n), np.int64)
    m = 0
    while waits.any():
        free = capacity.copy()
        amount = np.inf
        for j in range(n):
            if not waits[j]:
                continue
            number = most[j]
            for r in range(free.size):
                if demands[j, r] > 0:
                    number = min(number, free[r] // demands[j, r])
            rows[m, j] = number
            if number > 0:
                free -= number * demands[j]
                amount = min(amount, left[j] / number)
        for j in range(n):
            if rows[m, j] > 0:
                left[j] -= amount * rows[m, j]
                waits[j] = left[j] > SERVED * wanted[j]
        m += 1
    return rows[:m]


def packing(
    space: Additive, need: Sequence[int], begun: Iterable[tuple[Configuration, int]] = ()
) -> list[tuple[Configuration, int]]:
    """Return whole servers for counted jobs: each is filled with the largest jobs that are left, as many as fit.

    Parameters
    ----------
    space : Additive
        Every type with jobs fits a server alone.
    need : sequence of int, length J
    begun : iterable of (configuration, servers)
        Servers that are taken first, whatever is left over of their slots.

    Returns
    -------
    list of (configuration, servers)
        Servers with slots for all jobs, those that were begun included.

    Notes
    -----
    First-Fit Decreasing by the largest share of a resource, equal servers at once: O(J R) for each kind of server.

    Examples
    --------
    >>> from theory.instance import additive
    >>> packing(additive([10], [[6], [3], [2]]).pools[0].space, [3, 4, 3])
    [((1, 1, 0), 3), ((0, 1, 3), 1)]
    """
    made = list(begun)
    left = [max(0, n - sum(k[j] * servers for k, servers in made)) for j, n in enumerate(need)]
    share = [max(d / c for d, c in zip(demand, space.capacity, strict=True) if d) for demand in space.demands]
    order = sorted(range(len(need)), key=lambda j: -share[j])
    while any(left):
        free, k = list(space.capacity), [0] * len(need)
        for j in order:
            if left[j]:
                k[j] = min(left[j], *(f // d for f, d in zip(free, space.demands[j], strict=True) if d))
                free = [f - k[j] * d for f, d in zip(free, space.demands[j], strict=True)]
        servers = min(n // slots for n, slots in zip(left, k, strict=True) if slots)
        left = [n - slots * servers for n, slots in zip(left, k, strict=True)]
        made.append((tuple(k), servers))
    return made
