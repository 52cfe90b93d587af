"""Servers searched by residual capacity: few are looked at one and all, side by side, many stand in a tree.

Processors compare several numbers at a time, so up to `FEW` servers are searched faster than a tree of maxima
(`fluid.simulation.slotted.trees`) is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.slotted.trees import NOTHING, first_at_least, new_tree, set_leaf
from theory.jit import step

FEW = 256
"""Servers up to which all are looked at."""


def new_rooms(free: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make the tree of the residuals of servers; of two dimensions, and empty, where they are few.

    The dimensions are known when a loop is compiled: it holds one of the two searches.

    Examples
    --------
    >>> for servers in (6, 600):
    ...     free = np.full(servers, 3)
    ...     rooms = new_rooms(free)
    ...     for server, residual in ((4, 9), (0, 1)):
    ...         free[server] = residual
    ...         set_room(rooms, server, residual)
    ...     print([int(first_room(rooms, free, start, least)) for start, least in ((0, 3), (2, 5), (5, 5))])
    [1, 4, -1]
    [1, 4, -1]
    """
    return new_tree(len(free), value=free) if len(free) > FEW else np.zeros((0, 0), np.int64)


@step
def set_room(rooms: NDArray[np.int64], server: int, residual: int) -> None:
    """Keep the tree, if there is one: the residual of a server has changed."""
    if rooms.ndim == 1:
        set_leaf(rooms, server, residual)


@step
def first_room(rooms: NDArray[np.int64], free: NDArray[np.int64], start: int, least: int) -> int:
    """Return the first server from `start` on with a residual of at least so much, -1 if there is none."""
    if rooms.ndim == 1:
        return first_at_least(rooms, start, least)
    later = free[start:]  # from 0 on, servers are compared side by side: no index can be one that counts from the end
    first = FEW
    for place in range(len(later)):
        first = min(first, place if later[place] >= least else FEW)
    return start + first if first < FEW else -1


@step
def skipped(rooms: NDArray[np.int64], free: NDArray[np.int64], full: int, least: int) -> int:
    """Return how many servers, the first ones, a search may leave out, of which so many have less than the least room.

    Where servers are few, none is left out: all are looked at anyway.
    """
    if rooms.ndim == 1:
        while full < len(free) and free[full] < least:
            full += 1
        return full
    return 0


@step
def least_room(free: NDArray[np.int64], least: int) -> int:
    """Return the first of the servers with the least residual that is at least so much, -1 if there is none.

    For up to 2^16 servers of 2^46 units: residual and number make one number, whose minimum is sought.

    Examples
    --------
    >>> [int(least_room(np.array([7, 4, 9, 4]), least)) for least in (3, 5, 10)]
    [1, 0, -1]
    """
    first = -NOTHING
    for server in range(len(free)):
        first = min(first, (free[server] << 16) + server if free[server] >= least else -NOTHING)
    return int(first & 0xFFFF) if first < -NOTHING else -1
