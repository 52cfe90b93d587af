"""VQS-BF (throughput paper, VI): the configurations of VQS, the largest jobs that fit, and the rest filled by Best-Fit.

Choices as in `fluid.simulation.slotted.policies.vqs`; sizes count as they are. The jobs of the other queue in a server
are those it holds, however they came there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.bitset import greatest_upto
from fluid.simulation.options import PARTITION
from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.policies.best_fit import fill, next_with_room
from fluid.simulation.slotted.policies.vqs import depth, heaviest_row, reduced_configurations, virtual_queues
from fluid.simulation.slotted.state import (
    COMMON,
    SlottedCommon,
    SlottedSetting,
    begin,
    classes_upto,
    moves_are_many,
    place_nowhere,
    shared,
)
from fluid.simulation.slotted.trees import new_tree, set_leaf
from fluid.simulation.state import MOVES, state_type
from theory.jit import step

HybridState = state_type(__name__, "HybridState", COMMON, "table", "spans", "active", "held", "residuals")
"""As `vqs.VirtualState`; ``spans`` int64[V, 2]: first and last-but-one class of each virtual queue, which lie side by
side; ``held`` int64[L, V]: jobs of each virtual queue on each server; ``rooms``: a tree of residuals
(`fluid.simulation.slotted.rooms`)."""


def spans_of(queue_of: NDArray[np.int32], queues: int) -> NDArray[np.int64]:
    """Return first and last-but-one class of each virtual queue, which lie side by side."""
    classes = np.bincount(queue_of, minlength=queues)
    first = len(queue_of) - np.cumsum(classes)  # the last queue has the first classes
    return np.where(classes[:, None] > 0, np.column_stack([first, first + classes]), 0)


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of VQS-BF."""
    levels = PARTITION(setting.options) or depth(setting.sizes, setting.capacity)
    queue_of = virtual_queues(setting.sizes, setting.capacity, levels)
    common = shared(setting, queue_of=queue_of, queues=2 * levels)
    return HybridState(
        **common,
        table=reduced_configurations(levels),
        spans=spans_of(queue_of, 2 * levels),
        active=np.full(setting.servers, -1),
        held=np.zeros((setting.servers, 2 * levels), np.int64),
        residuals=new_tree(setting.servers, value=common["free"]),
    )


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Free the room; a server that is empty loses its configuration."""
    state.held[server, state.queue_of[job_class]] -= 1
    set_leaf(state.residuals, server, state.free[server])
    if state.jobs[server] == 0:
        state.active[server] = -1


@step
def _largest_of(state: SlottedCommon, queue: int, room: int) -> int:
    """Return the largest class of a virtual queue that waits and fits so much room, -1 if there is none."""
    most = min(classes_upto(state, room), state.spans[queue, 1]) - 1
    found = greatest_upto(state.words, state.levels, 0, most)
    return found if found >= state.spans[queue, 0] else -1


@step
def _start(state: SlottedCommon, job_class: int, server: int) -> None:
    begin(state, job_class, server)
    state.held[server, state.queue_of[job_class]] += 1


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers that some waiting job fits take jobs, by number."""
    while True:
        server = next_with_room(state)
        if server < 0:
            return False
        _take(state, server)
        if moves_are_many(state):
            return True


@step
def _take(state: SlottedCommon, server: int) -> bool:
    """Let a server take jobs: (i) queue 1, (ii) the other queue, (iii) any; return whether it is done."""
    if state.active[server] < 0:
        state.active[server] = heaviest_row(state)
    row = state.active[server]
    if state.table[row, 0] == 1:
        job_class = _largest_of(state, 1, state.free[server])
        if job_class >= 0:
            _start(state, job_class, server)
    queue, most = state.table[row, 1], state.table[row, 2]
    while state.held[server, queue] < most:
        job_class = _largest_of(state, queue, state.free[server])
        if job_class < 0 or state.done[MOVES] == len(state.moves):
            break
        _start(state, job_class, server)
    before = state.done[MOVES]
    finished = fill(state, server)
    for started in range(before, state.done[MOVES]):
        state.held[server, state.queue_of[state.moves[started, 0]]] += 1
    set_leaf(state.residuals, server, state.free[server])
    return finished


VQS_BF = Policy(
    "vqs-bf",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="VQS whose servers take the largest jobs that fit and fill up by Best-Fit",
    options=(PARTITION.name,),
)
