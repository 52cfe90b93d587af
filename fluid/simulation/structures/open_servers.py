"""Servers that some job may fit, by residual capacity: the fullest one that fits a job, and the room of the emptiest.

Such a server is called open here. It is known by one key, its residual in the high bits and its number in the low ones.
The keys lie without gaps and in no order, and a search compares all of them, several at a time. At high load few
servers are open, and up to some ten thousand servers this takes no longer than keeping the keys in order would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.structures.bits import highest_bit
from theory.compiled import step
from theory.errors import TooLargeError

NONE = 2**62
"""Greater than all keys; the largest number of 64 bits would make compilers compare the keys one by one."""


def new_open_servers(servers: int, residual: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Make the list of servers 0, 1, ..., servers - 1, all of them open and of one residual, the largest possible.

    Returns
    -------
    keys : int64[L]
        Those of the open servers come first.
    places : int64[L]
        The place in ``keys`` of each open server.
    count : int64[1]
        Number of open servers.

    Raises
    ------
    TooLargeError
        Residual and number do not fit one key.

    Examples
    --------
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
            f"servers: expected {servers:,} servers of fewer than {2 ** (62 - bits):,} units, got {residual:,}"
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
