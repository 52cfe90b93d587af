"""Sets of small integers with their least member: words of 32 bits in a tree, so all is O(log_32 n).

Members are bits of the lowest level; a bit of a higher level says that a word below it is not empty. Ten million
members make five levels. The order in which members came leaves no trace, so equal sets are equal arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.compiled import step


@step
def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit of a positive number of at most 53 bits.

    >>> lowest_bit(12)
    2
    """
    return highest_bit(word & -word)


@step
def highest_bit(word: int) -> int:
    """Return the place of the highest bit of a positive number of at most 53 bits.

    >>> highest_bit(12)
    3
    """
    # as a float the number is exact, and the bits of the float from the 52nd on are its exponent plus 1023
    return int(np.float64(word).view(np.int64) >> 52) - 1023


_BIT = np.int64(1)
"""Of 64 bits, so that a member of 32 bits (a class of a job) shifts it to bit 31 in Python as it does compiled."""


def empty_sets(number: int, members: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make empty sets of members 0, 1, ..., members - 1.

    Returned are ``words`` int64[number, W], one row a set, W about members / 31, and ``levels`` int64[D + 1], where
    each level of the tree begins in a row.

    >>> words, levels = empty_sets(2, 1000)
    >>> for member in (999, 40, 41): insert(words, levels, 1, member)
    >>> discard(words, levels, 1, 40)
    >>> int(least(words, levels, 0)), int(least(words, levels, 1)), levels.tolist()
    (-1, 41, [0, 32, 33])
    """
    starts = [0]
    size = max(1, members)
    while True:
        size = -(-size // 32)
        starts.append(starts[-1] + size)
        if size == 1:
            return np.zeros((number, starts[-1]), np.int64), np.array(starts, np.int64)


@step
def insert(words: NDArray[np.int64], levels: NDArray[np.int64], row: int, member: int) -> None:
    """Add a member to a set."""
    for level in range(len(levels) - 1):
        word = levels[level] + (member >> 5)
        before = words[row, word]
        words[row, word] = before | (_BIT << (member & 31))
        if before != 0:  # the levels above know it already
            break
        member >>= 5


@step
def discard(words: NDArray[np.int64], levels: NDArray[np.int64], row: int, member: int) -> None:
    """Remove a member from a set, if it is there."""
    for level in range(len(levels) - 1):
        word = levels[level] + (member >> 5)
        words[row, word] &= ~(_BIT << (member & 31))
        if words[row, word] != 0:
            break
        member >>= 5


@step
def contains(words: NDArray[np.int64], row: int, member: int) -> bool:
    """Return whether a set has a member."""
    return bool(words[row, member >> 5] >> (member & 31) & 1)


@step
def least(words: NDArray[np.int64], levels: NDArray[np.int64], row: int) -> int:
    """Return the least member of a set, -1 if it is empty."""
    top = len(levels) - 2
    word = words[row, levels[top]]
    return -1 if word == 0 else _least_below(words, levels, row, top, lowest_bit(word))


@step
def _least_below(words: NDArray[np.int64], levels: NDArray[np.int64], row: int, level: int, bit: int) -> int:
    """Return the least member below a bit of a level; the bit says that there is one."""
    for lower in range(level - 1, -1, -1):
        bit = (bit << 5) + lowest_bit(words[row, levels[lower] + bit])
    return int(bit)


@step
def greatest_upto(words: NDArray[np.int64], levels: NDArray[np.int64], row: int, member: int) -> int:
    """Return the greatest member of a set that is at most `member`, -1 if there is none.

    >>> words, levels = empty_sets(1, 5000)
    >>> for member in (3, 4000): insert(words, levels, 0, member)
    >>> [int(greatest_upto(words, levels, 0, m)) for m in (2, 3, 3999, 4999)]
    [-1, 3, 3, 4000]
    """
    for level in range(len(levels) - 1):
        if member < 0:
            return -1
        word = words[row, levels[level] + (member >> 5)] & ((_BIT << (member & 31)) * 2 - 1)
        if word != 0:
            bit = (member >> 5 << 5) + highest_bit(word)
            for lower in range(level - 1, -1, -1):
                bit = (bit << 5) + highest_bit(words[row, levels[lower] + bit])
            return int(bit)
        member = (member >> 5) - 1
    return -1


@step
def least_from(words: NDArray[np.int64], levels: NDArray[np.int64], row: int, member: int) -> int:
    """Return the least member of a set that is at least `member`, -1 if there is none.

    >>> words, levels = empty_sets(1, 5000)
    >>> for member in (3, 4000): insert(words, levels, 0, member)
    >>> [int(least_from(words, levels, 0, m)) for m in (0, 3, 4, 4001)]
    [3, 3, 4000, -1]
    """
    for level in range(len(levels) - 1):
        if member >> 5 >= levels[level + 1] - levels[level]:
            return -1
        word = words[row, levels[level] + (member >> 5)] & ~((_BIT << (member & 31)) - 1)
        if word != 0:
            return _least_below(words, levels, row, level, (member >> 5 << 5) + lowest_bit(word))
        member = (member >> 5) + 1
    return -1
