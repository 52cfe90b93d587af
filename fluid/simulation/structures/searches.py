"""Searches of servers by one number each: a tree of maxima, and a list of open servers.

A tree of maxima finds the first leaf that is large enough, in logarithmic time. It is one array of 2P numbers, P a
power of two: the leaves are at P, P + 1, ..., the children of the node at i are at 2i and 2i + 1, and every node holds
the maximum of its children, so the root at 1 holds the largest leaf.

A list of open servers, those that some job may fit, finds the fullest one that fits a job, and the room of the
emptiest. A server has one key, its residual capacity in the high bits and its number in the low ones. The keys lie
without gaps and in no order, and a search compares all of them, several at a time. At high load few servers are open,
and up to some ten thousand servers this takes no longer than keeping the keys in order would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.structures.bitset import highest_bit
from theory.compiled import routine, step
from theory.errors import TooLargeError

NOTHING = -(2**62)
"""The value of a leaf that no search may find."""


def new_tree(leaves: int, rows: int | None = None, *, value: int | NDArray[np.int64] = NOTHING) -> NDArray[np.int64]:
    """Make a tree of maxima, int64[2P] with the least power of two P >= `leaves`, or `rows` of them, int64[rows, 2P].

    `value` is that of all leaves, or int64[leaves] of each.

    >>> tree = new_tree(5)
    >>> for leaf, value in enumerate((3, 9, 4, 8, 1)): set_leaf(tree, leaf, value)
    >>> [int(first_at_least(tree, start, 4)) for start in (0, 2, 4)]
    [1, 2, -1]
    >>> set_leaf(tree, 0, NOTHING)
    >>> int(close_up(tree)), int(first_at_least(tree, 0, 4))
    (4, 0)
    """
    size = 1
    while size < leaves:
        size *= 2
    tree = np.full((1 if rows is None else rows, 2 * size), NOTHING)
    tree[:, size : size + leaves] = value
    while size > 1:
        tree[:, size // 2 : size] = np.maximum(tree[:, size : 2 * size : 2], tree[:, size + 1 : 2 * size : 2])
        size //= 2
    return tree[0] if rows is None else tree


@step
def leaf_value(tree: NDArray[np.int64], leaf: int) -> int:
    """Return the value of a leaf."""
    return int(tree[(len(tree) >> 1) + leaf])


@routine
def set_leaf(tree: NDArray[np.int64], leaf: int, value: int) -> None:
    """Change the value of a leaf."""
    at = leaf + (len(tree) >> 1)
    tree[at] = value
    # up to the root, even where a maximum stays as it was: where that is, processors guess too often in vain; ``value``
    # is the maximum below ``at``, so that no number is read that has just been written
    while at > 1:
        value = max(value, tree[at ^ 1])
        at >>= 1
        tree[at] = value


@step
def first_at_least(tree: NDArray[np.int64], start: int, value: int) -> int:
    """Return the first leaf from `start` on whose value is at least `value`; -1 if there is none."""
    size = len(tree) >> 1
    if start >= size or tree[1] < value:
        return -1
    at = start + size if start > 0 else 1
    # every leaf from `start` on that lies before those below this node is too small
    while tree[at] < value:
        while at & 1:
            at >>= 1
        if at == 0:
            return -1
        at += 1
    while at < size:
        at *= 2
        if tree[at] < value:
            at += 1
    return at - size


@routine
def close_up(tree: NDArray[np.int64]) -> int:
    """Move the values of all leaves, those that hold `NOTHING` apart, to the first ones; return how many there are."""
    size, used = len(tree) >> 1, 0
    for leaf in range(size):
        value = tree[size + leaf]
        tree[size + leaf] = NOTHING
        if value != NOTHING:
            tree[size + used] = value
            used += 1
    for at in range(size - 1, 0, -1):
        low, high = tree[2 * at], tree[2 * at + 1]
        tree[at] = low if low >= high else high
    return used


NONE = 2**62
"""Greater than all keys; the largest number of 64 bits would make compilers compare the keys one by one."""


def new_open_servers(servers: int, residual: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Make the list of servers 0, 1, ..., servers - 1, all of them open and of one residual, the largest possible.

    Returned are ``keys`` int64[L], those of the open servers first; ``places`` int64[L], the place in ``keys`` of each
    open server; and ``count`` int64[1], the number of open servers.

    >>> keys, places, count = new_open_servers(4, 10)
    >>> for server, residual in ((2, 4), (0, 6), (1, 4)):
    ...     close_server(keys, places, count, server)
    ...     open_server(keys, places, count, server, residual)
    >>> [int(tightest(keys, count, size)) for size in (3, 5, 7, 11)], int(most_room(keys, count))
    ([1, 0, 3, -1], 10)
    """
    bits = servers.bit_length()
    if residual.bit_length() + bits > 62:
        raise TooLargeError(
            "servers", f"expected {servers:,} servers of fewer than {2 ** (62 - bits):,} units, got {residual:,}"
        )
    numbers = np.arange(servers)
    return (residual << bits) + numbers, numbers, np.full(1, servers)


@step
def _number_bits(keys: NDArray[np.int64]) -> int:
    """Return how many low bits of a key are the number of a server."""
    return highest_bit(len(keys)) + 1


@step
def open_server(
    keys: NDArray[np.int64], places: NDArray[np.int64], count: NDArray[np.int64], server: int, residual: int
) -> None:
    """Enter a server that is not open."""
    keys[count[0]] = (residual << _number_bits(keys)) + server
    places[server] = count[0]
    count[0] += 1


@step
def close_server(keys: NDArray[np.int64], places: NDArray[np.int64], count: NDArray[np.int64], server: int) -> None:
    """Take an open server out: the last one takes its place."""
    count[0] -= 1
    last = keys[count[0]]
    keys[places[server]] = last
    places[last & ((1 << _number_bits(keys)) - 1)] = places[server]


@step
def tightest(keys: NDArray[np.int64], count: NDArray[np.int64], size: int) -> int:
    """Return the first of the open servers with the least residual of at least a size, -1 if there is none."""
    bits = _number_bits(keys)
    least, best = size << bits, NONE
    for place in range(count[0]):
        best = min(best, keys[place] if keys[place] >= least else NONE)
    return int(best & ((1 << bits) - 1)) if best < NONE else -1


@step
def most_room(keys: NDArray[np.int64], count: NDArray[np.int64]) -> int:
    """Return the largest residual of the open servers, 0 if there is none."""
    best = 0
    for place in range(count[0]):
        best = max(best, keys[place])
    return best >> _number_bits(keys)
