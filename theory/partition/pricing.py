"""Knapsacks on one resource, compiled: the greatest value of a configuration, over integer or float prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.jit import kernel

NONE = -1.0
"""Value of what is impossible (prices are at least 0)."""


@kernel
def values_by_capacity(
    sizes: NDArray[np.int64], prices: NDArray[Any], capacity: int
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the greatest value of jobs within each capacity, and the job that was put in last.

    Parameters
    ----------
    sizes : int64[n]
        Positive.
    prices : int64[n] or float64[n]
        At least 0; int64 sums must fit.
    capacity : int

    Returns
    -------
    values : [capacity + 1]
        Of the type of the prices.
    last : int32[capacity + 1]
        -1 where nothing is put in. Walking back from any capacity gives a configuration of that value.

    Notes
    -----
    O(n capacity) time, O(capacity) memory.
    """
    values = np.zeros(capacity + 1, prices.dtype)
    last = np.full(capacity + 1, -1, np.int32)
    for j in range(sizes.size):
        size, price = sizes[j], prices[j]
        for c in range(size, capacity + 1):
            with_one = values[c - size] + price
            if with_one > values[c]:
                values[c] = with_one
                last[c] = j
    return values, last


@kernel
def valuable_mixes(
    middles: NDArray[np.int64],
    tops: NDArray[np.int64],
    prices: NDArray[np.float64],
    starts: NDArray[np.int64],
    halved: NDArray[np.bool_],
    capacity: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return for every cell a configuration of great value in which none is wider, that fits when its jobs are mixed.

    Parameters
    ----------
    middles, tops : int64[n]
        Sizes of each cell, cells of one width beside each other, widths increasing.
    prices : float64[n]
    starts : int64[w + 1]
        Where the cells of each width begin; the last entry is n.
    halved : bool[w]
        Whether two of the next narrower width are at least as wide as one of this.
    capacity : int

    Returns
    -------
    values : float64[n]
        0 where a job of the cell does not fit.
    slots : int64[n, n]
        Row j is the configuration of cell j.

    Notes
    -----
    All jobs take their middles if the widest two have one width, or the widest has two of half its width beside it;
    else the widest takes its top. These are the greatest configurations but for a few that mix in other ways.
    O(n capacity + n^2 jobs).
    """
    n, widths = middles.size, starts.size - 1
    free = np.zeros((widths + 1, capacity + 1))  # all at their middles, whatever the widths
    first = np.full((widths, capacity + 1), NONE)  # just one of this width, at its middle
    more = np.full((widths, capacity + 1), NONE)  # two or more of this width
    first_job = np.full((widths, capacity + 1), -1, np.int32)
    more_job = np.full((widths, capacity + 1), -1, np.int32)
    values, slots = np.zeros(n), np.zeros((n, n), np.int64)
    for w in range(widths):
        for j in range(starts[w], starts[w + 1]):
            for c in range(middles[j], capacity + 1):
                value = free[w, c - middles[j]] + prices[j]
                if value > first[w, c]:
                    first[w, c] = value
                    first_job[w, c] = j
        for j in range(starts[w], starts[w + 1]):
            for c in range(middles[j], capacity + 1):
                value = max(first[w, c - middles[j]], more[w, c - middles[j]])
                if value >= 0 and value + prices[j] > more[w, c]:
                    more[w, c] = value + prices[j]
                    more_job[w, c] = j
        for c in range(capacity + 1):
            free[w + 1, c] = max(free[w, c], first[w, c], more[w, c])
        for j in range(starts[w], starts[w + 1]):
            case, value = 0, 0.0
            if tops[j] <= capacity:
                case, value = 1, free[w, capacity - tops[j]] + prices[j]
            left = capacity - middles[j]
            if left >= 0 and first[w, left] >= 0 and first[w, left] + prices[j] > value:
                case, value = 2, first[w, left] + prices[j]
            if left >= 0 and more[w, left] >= 0 and more[w, left] + prices[j] > value:
                case, value = 3, more[w, left] + prices[j]
            if halved[w] and left >= 0 and more[w - 1, left] >= 0 and more[w - 1, left] + prices[j] > value:
                case, value = 4, more[w - 1, left] + prices[j]
            if case == 0:
                continue
            values[j] = value
            slots[j, j] += 1
            c = capacity - tops[j] if case == 1 else left
            v = w if case in (2, 3) else w - 1
            need = 2 if case in (3, 4) else 1 if case == 2 else 0  # of the width at hand: two or more, just one, any
            while v >= 0:
                if need == 2 or (need == 0 and more[v, c] > max(free[v, c], first[v, c])):
                    slots[j, more_job[v, c]] += 1
                    c -= middles[more_job[v, c]]
                    while more[v, c] > first[v, c]:
                        slots[j, more_job[v, c]] += 1
                        c -= middles[more_job[v, c]]
                    slots[j, first_job[v, c]] += 1
                    c -= middles[first_job[v, c]]
                elif need == 1 or first[v, c] > free[v, c]:
                    slots[j, first_job[v, c]] += 1
                    c -= middles[first_job[v, c]]
                v -= 1
                need = 0
    return values, slots
