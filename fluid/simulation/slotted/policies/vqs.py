"""VQS (throughput paper, V): servers follow a configuration of the reduced set, renewed when they are empty.

What the paper leaves open, and what is chosen here: servers take their turns by number, each sees the queues as those
before it have left them; among configurations of equal weight the first of (19) is taken; a server that may not take
the head of a virtual queue takes none behind it; a size of at most 2^-J counts as the unit that 2^-J rounds up to.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.bitset import discard, empty_sets, insert, least_from
from fluid.simulation.options import PARTITION
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.state import (
    COMMON,
    SOON,
    WAITING,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    front,
    moves_are_many,
    place_nowhere,
    shared,
)
from fluid.simulation.slotted.trees import NOTHING, first_at_least, new_tree, set_leaf
from fluid.simulation.state import MOVES, state_type
from theory.errors import InputError
from theory.jit import step

VirtualState = state_type(
    __name__,
    "VirtualState",
    COMMON,
    "table",
    "least_size",
    "active",
    "ones",
    "inner",
    "rooms",
    "empty",
    "spread",
    "cursor",
)
"""``table`` int64[4J - 4, 3]: K_RED (`reduced_configurations`). ``least_size`` int64[1]: what sizes below it count as.
Of each server: ``active``, its row of the table (-1: none); ``ones``, its jobs of queue 1; ``inner``, the sizes of the
others. ``rooms`` int64[V, 2P]: trees over servers of the room for jobs of each queue. ``empty``, ``spread``: the empty
servers. ``cursor`` int64[1]: whose turn it is."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of VQS."""
    levels = PARTITION(setting.options) or depth(setting.sizes, setting.capacity)
    queues = 2 * levels
    queue_of = virtual_queues(setting.sizes, setting.capacity, levels)
    empty, spread = empty_sets(1, setting.servers)
    for server in range(setting.servers):
        insert(empty, spread, 0, server)
    return VirtualState(
        **shared(setting, fifo=True, queue_of=queue_of, queues=queues),
        table=reduced_configurations(levels),
        least_size=np.full(1, -(-setting.capacity // 2**levels)),
        active=np.full(setting.servers, -1),
        ones=np.zeros(setting.servers, np.int64),
        inner=np.zeros(setting.servers, np.int64),
        rooms=new_tree(setting.servers, queues),
        empty=empty,
        spread=spread,
        cursor=np.zeros(1, np.int64),
    )


@step
def heaviest_row(state: SlottedCommon) -> int:
    """Return the first row of K_RED of the greatest weight (20)."""
    chosen, most = 0, -1
    for row in range(len(state.table)):
        weight = state.table[row, 0] * state.queues[1] + state.table[row, 2] * state.queues[state.table[row, 1]]
        if weight > most:
            chosen, most = row, weight
    return chosen


@step
def _counted(state: SlottedCommon, job_class: int) -> int:
    size, least = class_size(state, job_class), state.least_size[0]
    return int(size if size > least else least)


@step
def _room(state: SlottedCommon, server: int) -> int:
    """Return the room for jobs of the other queue of the active configuration: a third, or all of the server."""
    share = state.capacity[0]
    if state.table[state.active[server], 0] == 1:
        share = share // 3
    return int(share - state.inner[server])


@step
def _show_rooms(state: SlottedCommon, server: int) -> None:
    """Bring the trees up to date with a server that has a configuration."""
    row = state.active[server]
    if state.table[row, 0] == 1:
        set_leaf(state.rooms[1], server, NOTHING if state.ones[server] > 0 else state.capacity[0])
    set_leaf(state.rooms[state.table[row, 1]], server, _room(state, server))


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the room; a server that is empty loses its configuration."""
    row = state.active[server]
    if state.table[row, 0] == 1 and state.queue_of[job_class] == 1:
        state.ones[server] -= 1
    else:
        state.inner[server] -= _counted(state, job_class)
    if state.jobs[server] > 0:
        _show_rooms(state, server)
        return
    if state.table[row, 0] == 1:
        set_leaf(state.rooms[1], server, NOTHING)
    set_leaf(state.rooms[state.table[row, 1]], server, NOTHING)
    state.active[server] = -1
    insert(state.empty, state.spread, 0, server)


@step
def _next_server(state: SlottedCommon, start: int) -> int:
    """Return the first server from `start` on that can take a job; -1 if there is none."""
    if state.counters[WAITING] == 0 or start >= len(state.free):
        return -1
    found = least_from(state.empty, state.spread, 0, start)
    for queue in range(len(state.queues)):
        if state.queues[queue] > 0:
            server = first_at_least(state.rooms[queue], start, _counted(state, front(state, queue)))
            if server >= 0 and (found < 0 or server < found):
                found = server
    return found


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers that can take a job do so, by number."""
    start = state.cursor[0]
    state.cursor[0] = 0
    server = _next_server(state, start)
    while server >= 0:
        start = server + 1 if _take(state, server) else server
        if moves_are_many(state):
            state.cursor[0] = start
            return True
        server = _next_server(state, start)
    if start > 0 and _next_server(state, 0) >= 0:
        state.done[SOON] = 1
    return False


@step
def _take(state: SlottedCommon, server: int) -> bool:
    """Let a server take a job of queue 1 if its configuration has one, then others; return whether it is done."""
    if state.active[server] < 0:
        state.active[server] = heaviest_row(state)
        discard(state.empty, state.spread, 0, server)
    row, finished = state.active[server], True
    if state.table[row, 0] == 1 and state.ones[server] == 0:
        head = front(state, 1)
        if head >= 0:
            begin(state, head, server)
            state.ones[server] = 1
    queue = state.table[row, 1]
    while True:
        head = front(state, queue)
        if head < 0 or _counted(state, head) > _room(state, server):
            break
        if state.done[MOVES] == len(state.moves):
            finished = False
            break
        begin(state, head, server)
        state.inner[server] += _counted(state, head)
    _show_rooms(state, server)
    return finished


VQS = Policy(
    "vqs",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="virtual queues of the universal partition, reduced configurations, renewed by empty servers",
    options=(PARTITION.name,),
)


def depth(sizes: NDArray[np.int64], capacity: int) -> int:
    """Return the least J >= 2 with all sizes greater than capacity / 2^J.

    Examples
    --------
    >>> depth(np.array([1, 7]), 20)
    5
    """
    levels = 2
    while int(sizes[0]) << levels <= capacity:
        levels += 1
    return levels


def virtual_queues(sizes: NDArray[np.int64], capacity: int, levels: int) -> NDArray[np.int32]:
    """Return the virtual queue of each size: 2m for (2/3 2^-m, 2^-m], 2m + 1 for (1/2 2^-m, 2/3 2^-m], of the capacity.

    Sizes do not decrease, so queues do not increase. Sizes of at most 2^-J go to the last one, 2J - 1.

    Examples
    --------
    >>> virtual_queues(np.array([1, 2, 3, 4, 5, 6, 8, 9, 12]), 12, 2).tolist()
    [3, 3, 3, 3, 2, 2, 1, 0, 0]
    """
    if levels < 2:
        raise InputError(f"simulation.partition: expected J of at least 2, got {levels}")
    ends = [Fraction(capacity, 2**m) * part for m in range(levels) for part in (Fraction(1), Fraction(2, 3))]
    upto = np.searchsorted(sizes, [floor(end) for end in reversed(ends[1:])], side="right")
    return np.repeat(np.arange(len(upto), -1, -1, dtype=np.int32), np.diff([0, *upto, len(sizes)]))


def reduced_configurations(levels: int) -> NDArray[np.int64]:
    """Return the 4J - 4 configurations of K_RED as rows (k_1, queue, number in it).

    A row ``(1, q, n)`` is one job of queue 1 and n of queue q; ``(0, q, n)`` is n jobs of queue q alone.

    Examples
    --------
    >>> reduced_configurations(2).tolist()
    [[0, 0, 1], [0, 2, 2], [0, 3, 3], [1, 3, 1]]
    """
    rows = [(0, 2 * m, 2**m) for m in range(levels)]
    rows += [(0, 2 * m + 1, 3 * 2 ** (m - 1)) for m in range(1, levels)]
    rows += [(1, 2 * m, 2**m // 3) for m in range(2, levels)]
    rows += [(1, 2 * m + 1, 2 ** (m - 1)) for m in range(1, levels)]
    return np.array(rows, np.int64)
