"""Servers ranked by residual capacity and then by number: the fullest that fits a job, and the emptiest of all.

A server is known by one key, its residual in the high bits and its number in the low ones. Servers that no job fits are
left out. Keys stand in increasing order in blocks of at most `WIDTH`, and a table has the first key of each block: a
search halves the table and walks along one block. A full block is divided, neighbours that hold at most `WIDTH` / 2
together are joined, so N servers have at most N / 8 + 2 blocks. The blocks depend on the history, what is found does
not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.errors import TooLargeError
from theory.jit import routine, step

WIDTH = 32
"""Keys of a block: four lines of a processor's cache."""

HALF = WIDTH // 2

FIRST, BLOCK, COUNT = 0, 1, 2
"""Columns of ``table``."""

NONE = 2**63 - 1
"""The first key of a block without keys: the only block, when no server is ranked."""

BLOCKS, BITS, LEAST = 0, 1, 2
"""Places in row 0 of ``table``."""


def new_ranking(servers: int, residual: int, least: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rank servers 0, 1, ..., servers - 1 of equal residuals, not below the least by which any is ranked.

    Returns
    -------
    keys : int64[B, 32]
        Blocks, each filled from its beginning.
    table : int64[B + 1, 3]
        In row 0 the number of blocks in use, the bits of a server's number, and the least residual. In those behind
        the first key, the place in ``keys`` and the number of keys of each block, in the order of their keys; then the
        places not in use.

    Raises
    ------
    TooLargeError
        Residual and number do not fit one key of 63 bits.

    Examples
    --------
    >>> keys, table = new_ranking(4, 10, 2)
    >>> for server, residual in ((2, 4), (0, 6), (1, 4), (3, 1)): move(keys, table, server, 10, residual)
    >>> [fullest(keys, table, size) for size in (2, 5, 7)], most_free(keys, table)
    ([1, 0, -1], 6)
    """
    bits = servers.bit_length()
    if residual.bit_length() + bits > 63:
        raise TooLargeError(
            f"servers: expected {servers:,} servers of fewer than {2 ** (63 - bits):,} units, got {residual:,}"
        )
    blocks = servers // 8 + 2
    keys, table = np.zeros((blocks, WIDTH), np.int64), np.zeros((blocks + 1, 3), np.int64)
    table[1:, BLOCK] = np.arange(blocks)
    used = -(-servers // HALF)
    table[0] = used, bits, least
    all_keys = (residual << bits) + np.arange(used * HALF)
    keys[:used, :HALF] = all_keys.reshape(used, HALF)
    table[1 : used + 1, FIRST] = all_keys[::HALF]
    table[1 : used + 1, COUNT] = np.minimum(HALF, servers - HALF * np.arange(used))
    return keys, table


@step
def _row_of(table: NDArray[np.int64], key: int) -> int:
    """Return the last row whose first key is at most a key, 0 if there is none."""
    low, high = 0, table[0, BLOCKS]
    while low < high:
        middle = (low + high + 1) >> 1
        if table[middle, FIRST] <= key:
            low = middle
        else:
            high = middle - 1
    return int(low)


@routine
def move(keys: NDArray[np.int64], table: NDArray[np.int64], server: int, before: int, after: int) -> None:
    """Rank a server by another residual; it is not ranked by one below the least, such as -1."""
    if before >= table[0, LEAST]:
        _remove(keys, table, (before << table[0, BITS]) + server)
    if after >= table[0, LEAST]:
        _add(keys, table, (after << table[0, BITS]) + server)


@step
def _add(keys: NDArray[np.int64], table: NDArray[np.int64], key: int) -> None:
    """Put a key in its place."""
    row = max(1, _row_of(table, key))
    if table[row, COUNT] == WIDTH:
        _divide(keys, table, row)
        if key >= table[row + 1, FIRST]:
            row += 1
    block, at = table[row, BLOCK], table[row, COUNT]
    while at > 0 and keys[block, at - 1] > key:
        keys[block, at] = keys[block, at - 1]
        at -= 1
    keys[block, at] = key
    table[row, COUNT] += 1
    table[row, FIRST] = keys[block, 0]


@step
def _remove(keys: NDArray[np.int64], table: NDArray[np.int64], key: int) -> None:
    """Take a key out, which is there."""
    row = _row_of(table, key)
    block, at, count = table[row, BLOCK], 0, table[row, COUNT] - 1
    while keys[block, at] != key:
        at += 1
    while at < count:
        keys[block, at] = keys[block, at + 1]
        at += 1
    table[row, COUNT] = count
    table[row, FIRST] = keys[block, 0] if count > 0 else NONE
    for low in range(row, row - 2, -1):
        if 0 < low < table[0, BLOCKS]:
            together = table[low, COUNT] + table[low + 1, COUNT]
            if together <= HALF or table[row, COUNT] == 0:
                _join(keys, table, low, together)


@step
def _divide(keys: NDArray[np.int64], table: NDArray[np.int64], row: int) -> None:
    """Move the upper half of a full block to one that is not in use, in the next row."""
    table[0, BLOCKS] += 1
    block, other = table[row, BLOCK], table[table[0, BLOCKS], BLOCK]
    for behind in range(table[0, BLOCKS], row + 1, -1):
        for column in range(3):
            table[behind, column] = table[behind - 1, column]
    for at in range(HALF):
        keys[other, at] = keys[block, HALF + at]
    table[row, COUNT] = HALF
    table[row + 1, FIRST] = keys[other, 0]
    table[row + 1, BLOCK] = other
    table[row + 1, COUNT] = HALF


@step
def _join(keys: NDArray[np.int64], table: NDArray[np.int64], row: int, together: int) -> None:
    """Move the keys of the next block to the end of this one; that block is not in use any more."""
    block, other, count = table[row, BLOCK], table[row + 1, BLOCK], table[row, COUNT]
    for at in range(count, together):
        keys[block, at] = keys[other, at - count]
    table[row, COUNT] = together
    table[row, FIRST] = keys[block, 0]
    for behind in range(row + 1, table[0, BLOCKS]):
        for column in range(3):
            table[behind, column] = table[behind + 1, column]
    table[table[0, BLOCKS], BLOCK] = other
    table[0, BLOCKS] -= 1


@routine
def fullest(keys: NDArray[np.int64], table: NDArray[np.int64], size: int) -> int:
    """Return the first of the ranked servers with the least residual of at least a size, -1 if there is none."""
    least = size << table[0, BITS]
    row = _row_of(table, least)
    if row > 0:
        block, count = table[row, BLOCK], table[row, COUNT]
        if keys[block, count - 1] >= least:
            at = 0
            while keys[block, at] < least:
                at += 1
            return int(keys[block, at] & ((1 << table[0, BITS]) - 1))
    if row == table[0, BLOCKS] or table[row + 1, COUNT] == 0:
        return -1
    return int(table[row + 1, FIRST] & ((1 << table[0, BITS]) - 1))


@step
def most_free(keys: NDArray[np.int64], table: NDArray[np.int64]) -> int:
    """Return the largest residual of the ranked servers, 0 if there is none."""
    row = table[0, BLOCKS]
    block, count = table[row, BLOCK], table[row, COUNT]
    return int(keys[block, count - 1] >> table[0, BITS]) if count > 0 else 0
