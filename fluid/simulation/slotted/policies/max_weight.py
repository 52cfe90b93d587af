"""MaxWeight in slots (throughput paper, III): an empty server takes a configuration of greatest weight over all sizes.

For few sizes: the maximal configurations are listed. Choices: a server keeps its configuration until it is empty (jobs
are never preempted); servers take their turns by number, each sees the queues as those before it have left them; ties
by more slots of the smallest size that differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.bitset import discard, empty_sets, insert, least_from
from fluid.simulation.oracle import LIMIT
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.state import (
    COMMON,
    COUNT,
    WAITING,
    SlottedCommon,
    SlottedSetting,
    begin,
    moves_are_many,
    place_nowhere,
    shared,
)
from fluid.simulation.state import MOVES, state_type
from theory.errors import TooLargeError
from theory.exact.configurations import maximal
from theory.instance import Additive
from theory.jit import step

WeightState = state_type(__name__, "WeightState", COMMON, "table", "weights_", "slots", "vacant", "spread", "cursor")
"""``table`` int64[n, G]: maximal configurations as columns in decreasing lexicographic order. ``weights_`` int64[G]:
memory for their weights. ``slots`` int64[L, n]: the empty slots of each server. ``vacant``, ``spread``: for each class
the servers with an empty slot, then the empty servers. ``cursor`` int64[1]: whose turn it is."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of MaxWeight.

    Raises
    ------
    TooLargeError
        Too many configurations to search at every event.
    """
    classes = len(setting.sizes)
    if classes > 64:
        raise TooLargeError(f"--policy max-weight: expected at most 64 sizes, got {classes:,}; use vqs-bf or bf-js")
    demands = tuple((int(size),) for size in setting.sizes)
    try:
        table = maximal(Additive(("size",), (setting.capacity,), demands, (1,)), limit=LIMIT)  # type: ignore[arg-type]
    except TooLargeError as error:
        raise TooLargeError(f"--policy max-weight: {error}; use vqs-bf or bf-js") from None
    vacant, spread = empty_sets(classes + 1, setting.servers)
    for server in range(setting.servers):
        insert(vacant, spread, classes, server)
    return WeightState(
        **shared(setting),
        table=np.ascontiguousarray(table[::-1].T, np.int64),
        weights_=np.zeros(len(table), np.int64),
        slots=np.zeros((setting.servers, classes), np.int64),
        vacant=vacant,
        spread=spread,
        cursor=np.zeros(1, np.int64),
    )


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the slot; an empty server loses its configuration."""
    if state.jobs[server] > 0:
        state.slots[server, job_class] += 1
        insert(state.vacant, state.spread, job_class, server)
        return
    for c in range(len(state.sizes)):
        if state.slots[server, c] > 0:
            discard(state.vacant, state.spread, c, server)
            state.slots[server, c] = 0
    insert(state.vacant, state.spread, len(state.sizes), server)


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers that have a slot for a waiting job or are empty take jobs, by number."""
    server = _next_server(state, state.cursor[0])
    state.cursor[0] = 0
    while server >= 0:
        following = server + 1 if _take(state, server) else server
        if moves_are_many(state):
            state.cursor[0] = following
            return True
        server = _next_server(state, following)
    return False


@step
def _next_server(state: SlottedCommon, start: int) -> int:
    """Return the first server from `start` on that has a slot for a waiting job or is empty, -1 if there is none."""
    if state.counters[WAITING] == 0 or start >= len(state.free):
        return -1
    classes = len(state.sizes)
    server = least_from(state.vacant, state.spread, classes, start)
    for c in range(classes):
        if state.lines[c, COUNT] > 0:
            other = least_from(state.vacant, state.spread, c, start)
            if other >= 0 and (server < 0 or other < server):
                server = other
    return server


@step
def _heaviest(state: SlottedCommon) -> int:
    """Return the first configuration of the greatest weight."""
    weights = state.weights_
    for g in range(len(weights)):
        weights[g] = state.table[0, g] * state.lines[0, COUNT]
    for c in range(1, len(state.sizes)):
        waiting = state.lines[c, COUNT]
        if waiting > 0:
            for g in range(len(weights)):
                weights[g] += state.table[c, g] * waiting
    chosen = 0
    for g in range(1, len(weights)):
        if weights[g] > weights[chosen]:
            chosen = g
    return chosen


@step
def _take(state: SlottedCommon, server: int) -> bool:
    """Let a server take jobs, by a new configuration if it is empty; return whether it is done."""
    classes, finished = len(state.sizes), True
    chosen = -1
    if state.jobs[server] == 0:
        chosen = _heaviest(state)
        discard(state.vacant, state.spread, classes, server)
    for c in range(classes):
        before = state.slots[server, c]
        left = state.table[c, chosen] if chosen >= 0 else before
        while left > 0 and state.lines[c, COUNT] > 0:
            if state.done[MOVES] == len(state.moves):
                finished = False
                break
            begin(state, c, server)
            left -= 1
        state.slots[server, c] = left
        if left > 0 and before == 0:
            insert(state.vacant, state.spread, c, server)
        elif left == 0 and before > 0:
            discard(state.vacant, state.spread, c, server)
    return finished


MAX_WEIGHT = Policy(
    "max-weight",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="a configuration of greatest weight over all sizes, renewed by empty servers",
)
