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


BLOCKS, BESIDE = 32, 10_000_000
"""Of items that are taken at most once: most blocks of them, and about how many levels of all blocks are kept."""


@kernel
def dearest(weight: NDArray[np.int64], price: NDArray[np.float64], capacity: int) -> tuple[float, NDArray[np.int32]]:
    """Return the greatest value of items without end within the capacity, and for every item the best set with it.

    Parameters
    ----------
    weight : int64[n]
        Positive.
    price : float64[n]
        At least 0.
    capacity : int

    Returns
    -------
    float
    int32[n, n]
        How often each item is in the best set that has an item of the row; empty if that does not fit.

    Notes
    -----
    O(n capacity) time, O(capacity) memory beside the rows.
    """
    n = weight.size
    value, last = values_by_capacity(weight, price, capacity)
    rows = np.zeros((n, n), np.int32)
    for j in range(n):
        if weight[j] <= capacity:
            rows[j, j] = 1
            c = capacity - weight[j]
            while last[c] >= 0:
                rows[j, last[c]] += 1
                c -= weight[last[c]]
    return value[capacity], rows


@kernel
def dearest_once(
    weight: NDArray[np.int64], price: NDArray[np.float64], capacity: int
) -> tuple[float, NDArray[np.int32]]:
    """Return the greatest value of items within the capacity, each taken at most once, and sets of great value.

    Parameters
    ----------
    weight, price, capacity
        As in `dearest`.

    Returns
    -------
    float
    int32[n + 1, n]
        For each item the best set that has it and none of the others in its block; last, the best set of all. Item i is
        in block i modulo their number, which is n or `BLOCKS` or, on fine grids, less.

    Notes
    -----
    O(n capacity) time: tables of the blocks up to each and of those from each on, and for every item the best way to
    divide what it leaves of the capacity between those before and those behind its block. Memory is n capacity / 4
    bytes of choices, and 160 MB or 64 bytes for each level.
    """
    n = weight.size
    blocks = min(n, BLOCKS, max(4, BESIDE // (capacity + 1)))
    best, before, took_before = _by_blocks(weight, price, capacity, blocks, False)
    _, behind, took_behind = _by_blocks(weight, price, capacity, blocks, True)
    rows = np.zeros((n + 1, n), np.int32)
    for j in range(n):
        left, block = capacity - weight[j], j % blocks
        if left < 0:
            continue
        at = 0
        for c in range(left + 1):
            if before[block, c] + behind[block, left - c] > before[block, at] + behind[block, left - at]:
                at = c
        rows[j, j] = 1
        _walk(took_before, weight, blocks, at, block - 1, -1, rows[j])
        _walk(took_behind, weight, blocks, left - at, block + 1, blocks, rows[j])
    _walk(took_before, weight, blocks, capacity, blocks - 1, -1, rows[n])
    return best, rows


@kernel
def _by_blocks(
    weight: NDArray[np.int64], price: NDArray[np.float64], capacity: int, blocks: int, from_last: bool
) -> tuple[float, NDArray[np.float64], NDArray[np.uint8]]:
    """Return the greatest value, the values by capacity as each block has its turn, and at which levels items joined.

    The first block has the first turn, or the last one; the items of a block join in the order of their numbers.
    """
    n = weight.size
    value = np.zeros(capacity + 1)
    known = np.zeros((blocks, capacity + 1))
    took = np.zeros((n, capacity // 8 + 1), np.uint8)
    for turn in range(blocks):
        block = blocks - 1 - turn if from_last else turn
        known[block] = value
        for j in range(block, n, blocks):
            for c in range(capacity, weight[j] - 1, -1):
                with_one = value[c - weight[j]] + price[j]
                if with_one > value[c]:
                    value[c] = with_one
                    took[j, c >> 3] |= np.uint8(1 << (c & 7))
    return value[capacity], known, took


@kernel
def _walk(
    took: NDArray[np.uint8],
    weight: NDArray[np.int64],
    blocks: int,
    room: int,
    block: int,
    end: int,
    row: NDArray[np.int32],
) -> None:
    """Enter the items that made the value of so much room, from a block to before another: against their turns."""
    n, c = weight.size, room
    step = 1 if end > block else -1
    while block != end:
        for j in range(block + (n - 1 - block) // blocks * blocks, block - 1, -blocks):
            if took[j, c >> 3] & np.uint8(1 << (c & 7)):
                row[j] = 1
                c -= weight[j]
        block += step


@kernel
def long_dearest(
    weight: NDArray[np.int64], price: NDArray[np.int64], capacity: int, endless: bool
) -> NDArray[np.int32]:
    """Return a set of items of the greatest value within the capacity, for prices that are integers of any length.

    Parameters
    ----------
    weight : int64[n]
    price : int64[n, limbs]
        Words of 62 bits, most significant first; sums must fit.
    capacity : int
    endless : bool
        As in `dearest`.

    Returns
    -------
    int32[n]
        How often each item is in the set.

    Notes
    -----
    O(n capacity limbs) time; memory as in `dearest`, and 8 limbs bytes for each level.
    """
    n, limbs = price.shape
    base = np.int64(1) << np.int64(62)
    value = np.zeros((capacity + 1, limbs), np.int64)
    last = np.full(capacity + 1 if endless else 1, -1, np.int32)
    took = np.zeros((1 if endless else n, capacity // 8 + 1), np.uint8)
    with_one = np.zeros(limbs, np.int64)
    for j in range(n):
        for step in range(capacity + 1 - weight[j]):
            c = weight[j] + step if endless else capacity - step
            carry = np.int64(0)
            for limb in range(limbs - 1, -1, -1):
                part = value[c - weight[j], limb] + price[j, limb] + carry
                carry = np.int64(0)
                if part >= base:
                    part -= base
                    carry = np.int64(1)
                with_one[limb] = part
            more = False
            for limb in range(limbs):
                if with_one[limb] != value[c, limb]:
                    more = with_one[limb] > value[c, limb]
                    break
            if more:
                for limb in range(limbs):
                    value[c, limb] = with_one[limb]
                if endless:
                    last[c] = j
                else:
                    took[j, c >> 3] |= np.uint8(1 << (c & 7))
    row = np.zeros(n, np.int32)
    c = capacity
    if endless:
        while last[c] >= 0:
            row[last[c]] += 1
            c -= weight[last[c]]
        return row
    for j in range(n - 1, -1, -1):
        if took[j, c >> 3] & np.uint8(1 << (c & 7)):
            row[j] = 1
            c -= weight[j]
    return row


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
    one = np.full((widths, capacity + 1), NONE)  # just one of this width, at its middle
    more = np.full((widths, capacity + 1), NONE)  # two or more of this width
    last_one = np.full((widths, capacity + 1), -1, np.int32)
    last_more = np.full((widths, capacity + 1), -1, np.int32)
    values, slots = np.zeros(n), np.zeros((n, n), np.int64)
    for w in range(widths):
        cells = range(starts[w], starts[w + 1])
        for j in cells:
            for c in range(middles[j], capacity + 1):
                value = free[w, c - middles[j]] + prices[j]
                if value > one[w, c]:
                    one[w, c] = value
                    last_one[w, c] = j
        for j in cells:
            for c in range(middles[j], capacity + 1):
                value = max(one[w, c - middles[j]], more[w, c - middles[j]])
                if value >= 0 and value + prices[j] > more[w, c]:
                    more[w, c] = value + prices[j]
                    last_more[w, c] = j
        for c in range(capacity + 1):
            free[w + 1, c] = max(free[w, c], one[w, c], more[w, c])
        for j in cells:
            case, value = _best_beside(
                free, one, more, w, halved[w], prices[j], capacity - tops[j], capacity - middles[j]
            )
            if case == NOTHING_FITS:
                continue
            values[j] = value
            slots[j, j] += 1
            left = capacity - (tops[j] if case == ANY_NARROWER else middles[j])
            _walk_back(free, one, more, last_one, last_more, middles, w, case, left, slots[j])
    return values, slots


NOTHING_FITS = 0
ANY_NARROWER = 1
"""The widest job takes its top; beside it stand any jobs of narrower widths."""
ONE_AS_WIDE = 2
"""The widest job takes its middle, since just one other has its width."""
MORE_AS_WIDE = 3
"""The widest job takes its middle, since two or more others have its width."""
TWO_OF_HALF = 4
"""The widest job takes its middle, since two or more of the next narrower width are at least as wide together."""


@kernel
def _best_beside(
    free: NDArray[np.float64],
    one: NDArray[np.float64],
    more: NDArray[np.float64],
    w: int,
    halved: bool,
    price: float,
    below_top: int,
    below_middle: int,
) -> tuple[int, float]:
    """Return the case of the greatest value with one job of width `w` and `price`, the first if several, and the value.

    `below_top` and `below_middle` are what is left of the capacity beside the job's top and beside its middle.
    """
    case, value = NOTHING_FITS, 0.0
    if below_top >= 0:
        case, value = ANY_NARROWER, free[w, below_top] + price
    if below_middle < 0:
        return case, value
    if one[w, below_middle] >= 0 and one[w, below_middle] + price > value:
        case, value = ONE_AS_WIDE, one[w, below_middle] + price
    if more[w, below_middle] >= 0 and more[w, below_middle] + price > value:
        case, value = MORE_AS_WIDE, more[w, below_middle] + price
    if halved and more[w - 1, below_middle] >= 0 and more[w - 1, below_middle] + price > value:
        case, value = TWO_OF_HALF, more[w - 1, below_middle] + price
    return case, value


@kernel
def _walk_back(
    free: NDArray[np.float64],
    one: NDArray[np.float64],
    more: NDArray[np.float64],
    last_one: NDArray[np.int32],
    last_more: NDArray[np.int32],
    middles: NDArray[np.int64],
    w: int,
    case: int,
    left: int,
    slots: NDArray[np.int64],
) -> None:
    """Add the jobs that make the value of a case, width after width from the widest."""
    v = w if case in (ONE_AS_WIDE, MORE_AS_WIDE) else w - 1
    two, just_one = case in (MORE_AS_WIDE, TWO_OF_HALF), case == ONE_AS_WIDE
    while v >= 0:
        if two or (not just_one and more[v, left] > max(free[v, left], one[v, left])):
            slots[last_more[v, left]] += 1
            left -= middles[last_more[v, left]]
            while more[v, left] > one[v, left]:
                slots[last_more[v, left]] += 1
                left -= middles[last_more[v, left]]
            just_one = True
        if just_one or one[v, left] > free[v, left]:
            slots[last_one[v, left]] += 1
            left -= middles[last_one[v, left]]
        v -= 1
        two = just_one = False
