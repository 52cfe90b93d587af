"""VQS (throughput paper, V): servers follow a configuration of the reduced set, renewed when they are empty.

What the paper leaves open: servers take their turns by number, and each sees the queues as those before it have left
them; among configurations of equal weight the first of (19) is taken; a server that has no room for the head of a
virtual queue takes no job behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.options import options_of
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
from fluid.simulation.state import MOVES, over_servers, state_type
from fluid.simulation.structures.bitset import discard, empty_sets, insert, least_from
from fluid.simulation.structures.searches import NOTHING, first_at_least, new_tree, set_leaf
from theory.compiled import step
from theory.errors import InputError
from theory.files.record import Range


@dataclass(frozen=True)
class PartitionOptions:
    """The option of the policies with virtual queues."""

    partition: Annotated[
        int | None,
        Range(2, 40),
        "J of the universal partition; the least with all sizes above 2^-J unless given",
    ] = None


ONE, OTHER, NUMBER = 0, 1, 2
"""Columns of ``table``."""

VirtualState = state_type(
    __name__, "VirtualState", COMMON,
    "table", "least_size", "active", "ones", "inner", "rooms", "empty", "spread", "cursor",
)  # fmt: skip
"""``table`` int64[4J - 4, 3]: K_RED (`reduced_configurations`). ``least_size`` int64[1]: smaller sizes count as this.
Of each server: ``active``, its row of the table (-1: none); ``ones``, its jobs of queue 1; ``inner``, the sizes of the
others. ``rooms`` int64[2J, 2P]: for each virtual queue a tree of maxima (`fluid.simulation.structures.searches`) of the
room that the servers have for its jobs. ``empty``, ``spread``: the set of empty servers
(`fluid.simulation.structures.bitset`). ``cursor`` int64[1]: the server whose turn it is."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of VQS."""
    levels = partition(setting)
    queue_of = virtual_queues(setting.sizes, setting.capacity, levels)
    empty, spread = empty_sets(1, setting.servers)
    insert_into = over_servers(insert, setting.servers)
    for server in range(setting.servers):
        insert_into(empty, spread, 0, server)
    return VirtualState(
        **shared(setting, fifo=True, queue_of=queue_of, queues=2 * levels),
        table=reduced_configurations(levels),
        # sizes are whole numbers, so 2^-J of the capacity may be rounded up
        least_size=np.full(1, -(-setting.capacity // 2**levels)),
        active=np.full(setting.servers, -1),
        ones=np.zeros(setting.servers, np.int64),
        inner=np.zeros(setting.servers, np.int64),
        rooms=new_tree(setting.servers, 2 * levels),
        empty=empty,
        spread=spread,
        cursor=np.zeros(1, np.int64),
    )


@step
def heaviest_row(state: SlottedCommon) -> int:
    """Return the first row of K_RED of the greatest weight."""
    best, most = 0, -1
    for row in range(len(state.table)):
        # (20): <k, Q> of a configuration with jobs of VQ_1, of one other VQ_j, or of both
        one, queue, number = state.table[row, ONE], state.table[row, OTHER], state.table[row, NUMBER]
        weight = one * state.queues[1] + number * state.queues[queue]
        if weight > most:
            best, most = row, weight
    return best


@step
def _counted_size(state: SlottedCommon, job_class: int) -> int:
    """Return what a job takes of its server: sizes of at most 2^-J are rounded up to it (V-A), others are not."""
    return int(max(class_size(state, job_class), state.least_size[0]))


@step
def _inner_room(state: SlottedCommon, server: int) -> int:
    """Return the room for jobs of the other queue of the active configuration."""
    share = state.capacity[0]
    if state.table[state.active[server], ONE] == 1:
        # (i): two thirds of the server are reserved for VQ_1, whether a job is there or not
        share = share // 3
    return int(share - state.inner[server])


@step
def _show_rooms(state: SlottedCommon, server: int) -> None:
    """Bring the trees up to date with a server that has a configuration."""
    row = state.active[server]
    if state.table[row, ONE] == 1:
        set_leaf(state.rooms[1], server, NOTHING if state.ones[server] > 0 else state.capacity[0])
    set_leaf(state.rooms[state.table[row, OTHER]], server, _inner_room(state, server))


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the room; a server that is empty loses its configuration."""
    row = state.active[server]
    if state.table[row, ONE] == 1 and state.queue_of[job_class] == 1:
        state.ones[server] -= 1
    else:
        state.inner[server] -= _counted_size(state, job_class)
    if state.jobs[server] > 0:
        # (21): the configuration stays the same until the server is empty
        _show_rooms(state, server)
        return
    if state.table[row, ONE] == 1:
        set_leaf(state.rooms[1], server, NOTHING)
    set_leaf(state.rooms[state.table[row, OTHER]], server, NOTHING)
    insert(state.empty, state.spread, 0, server)
    state.active[server] = -1


@step
def _next_server(state: SlottedCommon, start: int) -> int:
    """Return the first server from `start` on that can take a job; -1 if there is none."""
    if state.counters[WAITING] == 0 or start >= len(state.free):
        return -1
    # an empty server can: some job of the heaviest configuration waits, and fits
    first = least_from(state.empty, state.spread, 0, start)
    for queue in range(len(state.queues)):
        if state.queues[queue] > 0:
            server = first_at_least(state.rooms[queue], start, _counted_size(state, front(state, queue)))
            if server >= 0 and (first < 0 or server < first):
                first = server
    return first


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers that can take a job do so, by number."""
    start = state.cursor[0]
    state.cursor[0] = 0
    server = _next_server(state, start)
    while server >= 0:
        if state.active[server] < 0:
            _renew(state, server)
        start = server + 1 if _schedule(state, server) else server
        if moves_are_many(state):
            state.cursor[0] = start
            return True
        server = _next_server(state, start)
    # The turns of this slot are over. A server may now have room for the head of a queue that it had no room for at its
    # turn, since another server has taken the jobs before that one: it takes it in the next slot.
    if start > 0 and _next_server(state, 0) >= 0:
        state.done[SOON] = 1
    return False


@step
def _renew(state: SlottedCommon, server: int) -> None:
    """Take step 1 for an empty server: set its active configuration."""
    state.active[server] = heaviest_row(state)
    discard(state.empty, state.spread, 0, server)


@step
def _schedule(state: SlottedCommon, server: int) -> bool:
    """Take step 2: schedule jobs by the active configuration; return False if there are no rows for more moves."""
    row, finished = state.active[server], True
    # (i) if k_1 = 1 and the server has no job of type 1, it schedules one from VQ_1
    if state.table[row, ONE] == 1 and state.ones[server] == 0:
        head = front(state, 1)
        if head >= 0:
            begin(state, head, server)
            state.ones[server] = 1
    # (ii) jobs from the other VQ_j with k_j > 0, from the head of the line on, until no more fit, whatever k_j is
    queue = state.table[row, OTHER]
    while True:
        head = front(state, queue)
        if head < 0 or _counted_size(state, head) > _inner_room(state, server):
            break
        if state.done[MOVES] == len(state.moves):
            finished = False
            break
        begin(state, head, server)
        state.inner[server] += _counted_size(state, head)
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
    record=PartitionOptions,
)


def partition(setting: SlottedSetting) -> int:
    """Return J of the universal partition: the option, or the least that suits the sizes."""
    return options_of(PartitionOptions, setting.options).partition or depth(setting.sizes, setting.capacity)


def depth(sizes: NDArray[np.int64], capacity: int) -> int:
    """Return the least J >= 2 with all sizes greater than capacity / 2^J.

    >>> depth(np.array([1, 7]), 20)
    5
    """
    levels = 2
    while int(sizes[0]) << levels <= capacity:
        levels += 1
    return levels


def virtual_queues(sizes: NDArray[np.int64], capacity: int, levels: int) -> NDArray[np.int8]:
    """Return the virtual queue of each size: 2m for (2/3 2^-m, 2^-m], 2m + 1 for (1/2 2^-m, 2/3 2^-m], of the capacity.

    Sizes do not decrease, so queues do not increase. Sizes of at most 2^-J go to the last one, 2J - 1.

    >>> virtual_queues(np.array([1, 2, 3, 4, 5, 6, 8, 9, 12]), 12, 2).tolist()
    [3, 3, 3, 3, 2, 2, 1, 0, 0]
    """
    if levels < 2:
        raise InputError("simulation.partition", f"expected J of at least 2, got {levels}")
    # (18): the upper ends of I_0, I_1, I_2, ... decrease: 1, 2/3, 1/2, 1/3, ...
    ends = [Fraction(capacity, 2**m) * part for m in range(levels) for part in (Fraction(1), Fraction(2, 3))]
    upto = np.searchsorted(sizes, [floor(end) for end in reversed(ends[1:])], side="right")
    return np.repeat(np.arange(len(upto), -1, -1, dtype=np.int8), np.diff([0, *upto, len(sizes)]))


def reduced_configurations(levels: int) -> NDArray[np.int64]:
    """Return the 4J - 4 configurations of K_RED as rows (k_1, queue, number in it).

    A row ``(1, q, n)`` is one job of queue 1 and n of queue q; ``(0, q, n)`` is n jobs of queue q alone.

    >>> reduced_configurations(2).tolist()
    [[0, 0, 1], [0, 2, 2], [0, 3, 3], [1, 3, 1]]
    """
    # (19), line by line
    rows = [(0, 2 * m, 2**m) for m in range(levels)]
    rows += [(0, 2 * m + 1, 3 * 2 ** (m - 1)) for m in range(1, levels)]
    rows += [(1, 2 * m, 2**m // 3) for m in range(2, levels)]
    rows += [(1, 2 * m + 1, 2 ** (m - 1)) for m in range(1, levels)]
    return np.array(rows, np.int64)
