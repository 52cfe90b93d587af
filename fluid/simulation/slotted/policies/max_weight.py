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
    place_nowhere,
    shared,
)
from fluid.simulation.state import MOVES, state_type
from theory.errors import TooLargeError
from theory.exact.configurations import maximal
from theory.instance import Additive
from theory.jit import step

WeightState = state_type(
    __name__, "WeightState", COMMON, "table", "configuration", "serving", "vacant", "spread", "cursor"
)
"""``table`` int32[G, n]: maximal configurations in decreasing lexicographic order. ``configuration``, ``serving``
int32[L, n]: slots and jobs of each server. ``vacant``, ``spread``: for each class the servers with an empty slot, then
the empty
servers. ``cursor`` int64[1]: whose turn it is."""


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
        table=table[::-1].astype(np.int32),
        configuration=np.zeros((setting.servers, classes), np.int32),
        serving=np.zeros((setting.servers, classes), np.int32),
        vacant=vacant,
        spread=spread,
        cursor=np.zeros(1, np.int64),
    )


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the slot; an empty server loses its configuration."""
    state.serving[server, job_class] -= 1
    if state.jobs[server] > 0:
        insert(state.vacant, state.spread, job_class, server)
        return
    for c in range(len(state.sizes)):
        discard(state.vacant, state.spread, c, server)
        state.configuration[server, c] = 0
    insert(state.vacant, state.spread, len(state.sizes), server)


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the next server, by number, that has a slot for a waiting job or is empty take jobs."""
    classes = len(state.sizes)
    server = -1
    if state.counters[WAITING] > 0 and state.cursor[0] < len(state.free):
        server = least_from(state.vacant, state.spread, classes, state.cursor[0])
        for c in range(classes):
            if state.lines[c, COUNT] > 0:
                other = least_from(state.vacant, state.spread, c, state.cursor[0])
                if other >= 0 and (server < 0 or other < server):
                    server = other
    if server < 0:
        state.cursor[0] = 0
        return False
    state.cursor[0] = server + 1
    if state.jobs[server] == 0:
        chosen, most = 0, -1
        for g in range(len(state.table)):
            weight = 0
            for c in range(classes):
                weight += state.table[g, c] * state.lines[c, COUNT]
            if weight > most:
                chosen, most = g, weight
        discard(state.vacant, state.spread, classes, server)
        for c in range(classes):
            state.configuration[server, c] = state.table[chosen, c]
    for c in range(classes):
        while state.serving[server, c] < state.configuration[server, c] and state.lines[c, COUNT] > 0:
            if state.done[MOVES] == len(state.moves):
                state.cursor[0] = server
                break
            begin(state, c, server)
            state.serving[server, c] += 1
        if state.serving[server, c] < state.configuration[server, c]:
            insert(state.vacant, state.spread, c, server)
        else:
            discard(state.vacant, state.spread, c, server)
    return True


MAX_WEIGHT = Policy(
    "max-weight",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="a configuration of greatest weight over all sizes, renewed by empty servers",
)
