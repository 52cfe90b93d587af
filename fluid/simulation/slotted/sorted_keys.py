"""Numbers in increasing order, of which the least that is large enough is found: a table of blocks.

Each block holds its keys in increasing order, and takes the keys from its own lower limit up to that of the next block.
When a block is full, all keys are dealt out evenly and the limits are drawn anew. N keys have about sqrt(N) blocks that
are half full then, so at least sqrt(N) / 2 insertions pay for the next O(N) steps of dealing out: every operation takes
O(sqrt(N)) steps, dealing out included, and far fewer where changes are spread over the blocks. Where the limits lie
depends on the history; what is found does not.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from theory.jit import routine, step

LOWEST, COUNT = 0, 1
"""Columns of ``blocks``."""


def sorted_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make the table of some keys, with memory for as many and no more.

    Parameters
    ----------
    keys : int64[N]
        At least one, from 0 on, increasing, each once.

    Returns
    -------
    table : int64[B, W]
        Blocks, each filled from its beginning.
    blocks : int64[B, 2]
        Of each block the lower limit of its keys, and their number.

    Examples
    --------
    >>> table, blocks = sorted_keys(np.array([20, 30, 40]))
    >>> remove_key(table, blocks, 30)
    >>> add_key(table, blocks, 35)
    >>> [int(least_key_from(table, blocks, key)) for key in (0, 21, 36, 41)], int(greatest_key(table, blocks))
    ([20, 35, 40, -1], 40)
    """
    width = 2 * isqrt(len(keys)) + 6
    number = 2 * len(keys) // width + 1
    table, blocks = np.zeros((number, width), np.int64), np.zeros((number, 2), np.int64)
    first = 0
    for b in range(number):
        last = (b + 1) * len(keys) // number
        table[b, : last - first] = keys[first:last]
        blocks[b] = keys[first] if b else 0, last - first
        first = last
    return table, blocks


@step
def _block_of(blocks: NDArray[np.int64], key: int) -> int:
    """Return the block that takes a key."""
    low, high = 0, len(blocks) - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if blocks[middle, LOWEST] <= key:
            low = middle
        else:
            high = middle - 1
    return low


@routine
def add_key(table: NDArray[np.int64], blocks: NDArray[np.int64], key: int) -> None:
    """Put a key in its place; it must not be there."""
    b = _block_of(blocks, key)
    if blocks[b, COUNT] == table.shape[1]:
        _deal_out(table, blocks)
        b = _block_of(blocks, key)
    at = blocks[b, COUNT]
    while at > 0 and table[b, at - 1] > key:
        table[b, at] = table[b, at - 1]
        at -= 1
    table[b, at] = key
    blocks[b, COUNT] += 1


@routine
def remove_key(table: NDArray[np.int64], blocks: NDArray[np.int64], key: int) -> None:
    """Take a key out, which must be there."""
    b, at = _block_of(blocks, key), 0
    while table[b, at] != key:
        at += 1
    blocks[b, COUNT] -= 1
    for behind in range(at, blocks[b, COUNT]):
        table[b, behind] = table[b, behind + 1]


@step
def _deal_out(table: NDArray[np.int64], blocks: NDArray[np.int64]) -> None:
    """Give every block the same number of keys, up to one; there is a key for each, since one block is full."""
    number, width = table.shape
    total = 0
    # close up: no key moves to a place whose key has not moved yet
    for b in range(number):
        for at in range(blocks[b, COUNT]):
            table[total // width, total % width] = table[b, at]
            total += 1
    # deal out from the last key on: at most half of the places are in use, so here, too, no key is overwritten
    for b in range(number - 1, -1, -1):
        first, last = b * total // number, (b + 1) * total // number
        for at in range(last - first - 1, -1, -1):
            place = first + at
            table[b, at] = table[place // width, place % width]
        blocks[b, LOWEST] = table[b, 0] if b > 0 else 0
        blocks[b, COUNT] = last - first


@routine
def least_key_from(table: NDArray[np.int64], blocks: NDArray[np.int64], key: int) -> int:
    """Return the least key that is at least `key`, -1 if there is none."""
    b = _block_of(blocks, key)
    # only the first block can hold smaller keys; those behind it may be empty
    for at in range(blocks[b, COUNT]):
        if table[b, at] >= key:
            return int(table[b, at])
    for behind in range(b + 1, len(blocks)):
        if blocks[behind, COUNT] > 0:
            return int(table[behind, 0])
    return -1


@step
def greatest_key(table: NDArray[np.int64], blocks: NDArray[np.int64]) -> int:
    """Return the greatest key, -1 if there is none."""
    for b in range(len(blocks) - 1, -1, -1):
        if blocks[b, COUNT] > 0:
            return int(table[b, blocks[b, COUNT] - 1])
    return -1
