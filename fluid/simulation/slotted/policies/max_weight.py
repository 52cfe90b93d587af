"""MaxWeight in slots (throughput paper, III-A): servers follow a configuration of greatest weight over all sizes.

For few sizes: the maximal configurations are listed. What the paper leaves open: a server keeps its configuration until
it is empty, so that no job is preempted; servers take their turns by number, and each sees the queues as those before
it have left them; among configurations of equal weight the one with more jobs of the smallest size that differs is
taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from fluid.simulation.structures.searches import first_at_least, leaf_value, new_tree, set_leaf
from theory.compiled import step
from theory.errors import ArgumentTooLargeError, TooLargeError
from theory.exact.knapsack import maximal
from theory.instance import Additive

MOST_SIZES = 64

WeightState = state_type(__name__, "WeightState", COMMON, "table", "weights_", "slots", "empty")
"""``table`` int64[n, G]: maximal configurations as columns in decreasing lexicographic order. ``weights_`` int64[G]:
memory for their weights. ``slots`` int64[n, 2P]: for each class a tree of maxima of the free slots of each server
(`fluid.simulation.structures.searches`). ``empty`` int64[2P]: a tree over the servers, 1 for those that are empty."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of MaxWeight; too many configurations to search at every event are refused."""
    classes = len(setting.sizes)
    if classes > MOST_SIZES:
        raise ArgumentTooLargeError(
            "policy max-weight", f"expected at most {MOST_SIZES} sizes, got {classes:,}; use vqs-bf or bf-js"
        )
    # a maximal configuration has at least the weight of those below it, as queues are not negative
    demands = tuple((int(size),) for size in setting.sizes)
    try:
        table = maximal(Additive(("size",), (setting.capacity,), demands, (1,)), limit=LIMIT)  # type: ignore[arg-type]
    except TooLargeError as error:
        raise ArgumentTooLargeError("policy max-weight", f"{error}; use vqs-bf or bf-js") from error
    return WeightState(
        **shared(setting),
        table=np.ascontiguousarray(table[::-1].T, np.int64),
        weights_=np.zeros(len(table), np.int64),
        slots=new_tree(setting.servers, classes, value=0),
        empty=new_tree(setting.servers, value=1),
    )


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the slot; an empty server loses its configuration."""
    if state.jobs[server] > 0:
        set_leaf(state.slots[job_class], server, leaf_value(state.slots[job_class], server) + 1)
        return
    for c in range(len(state.sizes)):
        _set_slots(state, c, server, 0)
    set_leaf(state.empty, server, 1)


@step
def _set_slots(state: SlottedCommon, job_class: int, server: int, slots: int) -> None:
    """Note how many free slots of a class a server has."""
    if leaf_value(state.slots[job_class], server) != slots:
        set_leaf(state.slots[job_class], server, slots)


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers take jobs, by number."""
    while True:
        # a server whose turn is over has no slot for any job that waits, so the next one has a higher number
        server = _next_server(state)
        if server < 0:
            return False
        _schedule(state, server)
        if moves_are_many(state):
            return True


@step
def _next_server(state: SlottedCommon) -> int:
    """Return the first server that has a slot for a waiting job or is empty, -1 if there is none."""
    if state.counters[WAITING] == 0:
        return -1
    # an empty server takes a configuration of positive weight, since some job waits
    first = first_at_least(state.empty, 0, 1)
    for c in range(len(state.sizes)):
        if state.lines[c, COUNT] > 0:
            server = first_at_least(state.slots[c], 0, 1)
            if server >= 0 and (first < 0 or server < first):
                first = server
    return first


@step
def _heaviest(state: SlottedCommon) -> int:
    """Return the first configuration of greatest weight."""
    weights, best = state.weights_, 0
    # (5): <k, Q>, the sum over j of k_j Q_j; configurations are columns, so that all are multiplied side by side
    for g in range(len(weights)):
        weights[g] = state.table[0, g] * state.lines[0, COUNT]
    for c in range(1, len(state.sizes)):
        waiting = state.lines[c, COUNT]
        if waiting > 0:
            for g in range(len(weights)):
                weights[g] += state.table[c, g] * waiting
    for g in range(1, len(weights)):
        if weights[g] > weights[best]:
            best = g
    return best


@step
def _schedule(state: SlottedCommon, server: int) -> None:
    """Put waiting jobs into the free slots of a server, as far as there are rows for moves."""
    # only an empty server is given another configuration: no job is preempted
    is_empty = leaf_value(state.empty, server) == 1
    configuration = _heaviest(state) if is_empty else 0
    if is_empty:
        set_leaf(state.empty, server, 0)
    for c in range(len(state.sizes)):
        slots = state.table[c, configuration] if is_empty else leaf_value(state.slots[c], server)
        while slots > 0 and state.lines[c, COUNT] > 0 and state.done[MOVES] < len(state.moves):
            begin(state, c, server)
            slots -= 1
        _set_slots(state, c, server, slots)


MAX_WEIGHT = Policy(
    "max-weight",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="a configuration of greatest weight over all sizes, renewed by empty servers",
)
