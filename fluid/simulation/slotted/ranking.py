"""Servers ranked by residual capacity and then by number: the fullest that fits a job, and the emptiest of all.

A server is known by one key, its residual in the high bits and its number in the low ones. Keys stand in increasing
order in blocks of at most `WIDTH`, and a table has the first key of each block: a search halves the table and walks
along one block. A full block is divided, neighbours that hold at most `WIDTH` / 2 together are joined, so N servers
have at most N / 8 + 2 blocks. The blocks depend on the history, what is found does not.
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

BLOCKS, BITS = 0, 1
"""Places in row 0 of ``table``."""


def new_ranking(servers: int, residual: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rank servers 0, 1, ..., servers - 1 of equal residuals.

    Returns
    -------
    keys : int64[B, 32]
        Blocks, each filled from its beginning.
    table : int64[B + 1, 3]
        In row 0 the number of blocks in use and the bits of a server's number. In those behind the first key, the place
        in ``keys`` and the number of keys of each block, in the order of their keys; then the places not in use.

    Raises
    ------
    TooLargeError
        Residual and number do not fit one key of 63 bits.

    Examples
    --------
    >>> keys, table = new_ranking(3, 10)
    >>> for server, residual in ((2, 4), (0, 6), (1, 4)):
    ...     remove(keys, table, 10, server)
    ...     add(keys, table, residual, server)
    >>> [fullest(keys, table, size) for size in (1, 5, 7)], most_free(keys, table)
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
    table[0, BLOCKS], table[0, BITS] = used, bits
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
def add(keys: NDArray[np.int64], table: NDArray[np.int64], residual: int, server: int) -> None:
    """Rank a server that is not ranked."""
    key = (residual << table[0, BITS]) + server
    if table[0, BLOCKS] == 0:
        _open(table, 1)
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


@routine
def remove(keys: NDArray[np.int64], table: NDArray[np.int64], residual: int, server: int) -> None:
    """Take a server out of the ranking, where it has this residual."""
    key = (residual << table[0, BITS]) + server
    row = _row_of(table, key)
    block, at, count = table[row, BLOCK], 0, table[row, COUNT] - 1
    while keys[block, at] != key:
        at += 1
    while at < count:
        keys[block, at] = keys[block, at + 1]
        at += 1
    table[row, COUNT] = count
    table[row, FIRST] = keys[block, 0]
    if count == 0:
        _close(table, row)
        return
    if row < table[0, BLOCKS] and count + table[row + 1, COUNT] <= HALF:
        _join(keys, table, row)
    if row > 1 and table[row, COUNT] + table[row - 1, COUNT] <= HALF:
        _join(keys, table, row - 1)


@step
def _open(table: NDArray[np.int64], row: int) -> None:
    """Insert a row with an empty block."""
    table[0, BLOCKS] += 1
    block = table[table[0, BLOCKS], BLOCK]
    for behind in range(table[0, BLOCKS], row, -1):
        for column in range(3):
            table[behind, column] = table[behind - 1, column]
    table[row, BLOCK] = block
    table[row, COUNT] = 0


@step
def _close(table: NDArray[np.int64], row: int) -> None:
    """Remove a row; its block is not in use any more."""
    block = table[row, BLOCK]
    for behind in range(row, table[0, BLOCKS]):
        for column in range(3):
            table[behind, column] = table[behind + 1, column]
    table[table[0, BLOCKS], BLOCK] = block
    table[0, BLOCKS] -= 1


@step
def _divide(keys: NDArray[np.int64], table: NDArray[np.int64], row: int) -> None:
    """Move the upper half of a full block to a new one."""
    _open(table, row + 1)
    block, other = table[row, BLOCK], table[row + 1, BLOCK]
    for at in range(HALF):
        keys[other, at] = keys[block, HALF + at]
    table[row, COUNT] = HALF
    table[row + 1, COUNT] = HALF
    table[row + 1, FIRST] = keys[other, 0]


@step
def _join(keys: NDArray[np.int64], table: NDArray[np.int64], row: int) -> None:
    """Move the keys of the next block to the end of this one."""
    block, other, count = table[row, BLOCK], table[row + 1, BLOCK], table[row, COUNT]
    for at in range(table[row + 1, COUNT]):
        keys[block, count + at] = keys[other, at]
    table[row, COUNT] = count + table[row + 1, COUNT]
    _close(table, row + 1)


@step
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
    if row == table[0, BLOCKS]:
        return -1
    return int(table[row + 1, FIRST] & ((1 << table[0, BITS]) - 1))


@step
def most_free(keys: NDArray[np.int64], table: NDArray[np.int64]) -> int:
    """Return the largest residual of the ranked servers, 0 if there is none."""
    row = table[0, BLOCKS]
    if row == 0:
        return 0
    return int(keys[table[row, BLOCK], table[row, COUNT] - 1] >> table[0, BITS])
