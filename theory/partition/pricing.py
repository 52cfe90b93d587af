"""Knapsacks on one resource, compiled: the greatest value of a configuration, over integer or float prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel

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
def most_valuable_mix(
    middles: NDArray[np.int64],
    tops: NDArray[np.int64],
    prices: NDArray[np.float64],
    starts: NDArray[np.int64],
    halved: NDArray[np.bool_],
    capacity: int,
) -> tuple[float, NDArray[np.int64]]:
    """Return a configuration of cells of great value that fits when its jobs are mixed.

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
    value : float
    slots : int64[n]

    Notes
    -----
    All jobs take their middles if the widest two have one width, or the widest has two of half its width beside it;
    else the widest takes its top. These are the greatest configurations but for a few that mix in other ways.
    O(n capacity).
    """
    widths = starts.size - 1
    free = np.zeros((widths + 1, capacity + 1))  # all at their middles, whatever the widths
    first = np.full((widths, capacity + 1), NONE)  # just one of this width, at its middle
    more = np.full((widths, capacity + 1), NONE)  # two or more of this width
    first_job = np.full((widths, capacity + 1), -1, np.int32)
    more_job = np.full((widths, capacity + 1), -1, np.int32)
    best, best_job, best_width, best_case = 0.0, -1, 0, 0
    for w in range(widths):
        for j in range(starts[w], starts[w + 1]):
            if tops[j] <= capacity and free[w, capacity - tops[j]] + prices[j] > best:
                best, best_job, best_width, best_case = free[w, capacity - tops[j]] + prices[j], j, w, 1
            if halved[w] and middles[j] <= capacity and more[w - 1, capacity - middles[j]] >= 0:
                value = more[w - 1, capacity - middles[j]] + prices[j]
                if value > best:
                    best, best_job, best_width, best_case = value, j, w, 2
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
        if more[w, capacity] > best:
            best, best_job, best_width, best_case = more[w, capacity], -1, w, 3
    slots = np.zeros(middles.size, np.int64)
    c, w, in_more = capacity, best_width, best_case == 3
    if best_case == 1:
        slots[best_job] += 1
        c -= tops[best_job]
        w -= 1
    elif best_case == 2:
        slots[best_job] += 1
        c -= middles[best_job]
        w, in_more = w - 1, True
    while w >= 0 and best_case > 0:
        if in_more or more[w, c] > max(free[w, c], first[w, c]):
            slots[more_job[w, c]] += 1
            c -= middles[more_job[w, c]]
            while more[w, c] > first[w, c]:
                slots[more_job[w, c]] += 1
                c -= middles[more_job[w, c]]
            slots[first_job[w, c]] += 1
            c -= middles[first_job[w, c]]
        elif first[w, c] > free[w, c]:
            slots[first_job[w, c]] += 1
            c -= middles[first_job[w, c]]
        w, in_more = w - 1, False
    return best, slots
