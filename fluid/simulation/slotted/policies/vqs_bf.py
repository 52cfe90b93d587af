"""VQS-BF (throughput paper, VI): the configurations of VQS, the largest jobs that fit, and the rest filled by Best-Fit.

What the paper leaves open is chosen as in `fluid.simulation.slotted.policies.vqs`; sizes count as they are. The jobs of
the other queue in a server are those it holds, however they came there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.policies.best_fit import fill, first_with_room
from fluid.simulation.slotted.policies.vqs import (
    NUMBER,
    ONE,
    OTHER,
    PartitionOptions,
    heaviest_row,
    partition,
    reduced_configurations,
    virtual_queues,
)
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
from fluid.simulation.state import MOVES, state_type
from fluid.simulation.structures.bitset import greatest_upto
from fluid.simulation.structures.searches import new_tree, set_leaf
from theory.compiled import step

HybridState = state_type(__name__, "HybridState", COMMON, "table", "spans", "active", "held", "residuals")
"""``table``, ``active``: as in `vqs.VirtualState`. ``spans`` int64[2J, 2]: the first class of each virtual queue and
the one behind its last; its classes lie side by side. ``held`` int64[L, 2J]: jobs of each virtual queue on each server.
``residuals`` int64[2P]: a tree of maxima of the servers' residuals (`fluid.simulation.structures.searches`)."""


def spans_of(queue_of: NDArray[np.int8], queues: int) -> NDArray[np.int64]:
    """Return the first class of each virtual queue and the one behind its last; its classes lie side by side."""
    reversed_queues = queue_of[::-1]  # increasing, since larger sizes have lower queues
    numbers = np.arange(queues, dtype=queue_of.dtype)
    first = np.searchsorted(reversed_queues, numbers, side="right")
    return len(queue_of) - np.column_stack([first, np.searchsorted(reversed_queues, numbers)])


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of VQS-BF."""
    levels = partition(setting)
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
def _largest_of(state: SlottedCommon, queue: int, server: int) -> int:
    """Return the largest class of a virtual queue that waits and fits a server, -1 if there is none."""
    largest = min(classes_upto(state, state.free[server]), state.spans[queue, 1]) - 1
    job_class = greatest_upto(state.words, state.levels, 0, largest)
    return job_class if job_class >= state.spans[queue, 0] else -1


@step
def _start(state: SlottedCommon, job_class: int, server: int) -> None:
    """Start a job of a class, and count it in its virtual queue on the server."""
    begin(state, job_class, server)
    state.held[server, state.queue_of[job_class]] += 1


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Let the servers that some waiting job fits take jobs, by number."""
    while True:
        # step (iii) leaves no room for any job that waits, so the first server with room is the next one
        server = first_with_room(state)
        if server < 0:
            return False
        if state.active[server] < 0:
            # step 1, as in VQS
            state.active[server] = heaviest_row(state)
        _schedule(state, server)
        set_leaf(state.residuals, server, state.free[server])
        if moves_are_many(state):
            return True


@step
def _schedule(state: SlottedCommon, server: int) -> None:
    """Take step 2: schedule jobs by the active configuration, and others beside it."""
    row = state.active[server]
    # (i) if k_1 = 1, the largest job of VQ_1 that fits; nothing is reserved where there is none
    if state.table[row, ONE] == 1:
        job_class = _largest_of(state, 1, server)
        if job_class >= 0:
            _start(state, job_class, server)
    # (ii) the largest jobs of the other VQ_j that fit, until the server holds k_j of them
    queue, most = state.table[row, OTHER], state.table[row, NUMBER]
    while state.held[server, queue] < most:
        job_class = _largest_of(state, queue, server)
        if job_class < 0 or state.done[MOVES] == len(state.moves):
            break
        _start(state, job_class, server)
    # (iii) BF-S in the remaining capacity, from all queues
    first_move = state.done[MOVES]
    fill(state, server)
    for move in range(first_move, state.done[MOVES]):
        state.held[server, state.queue_of[state.moves[move, 0]]] += 1


VQS_BF = Policy(
    "vqs-bf",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="VQS whose servers take the largest jobs that fit and fill up by Best-Fit",
    record=PartitionOptions,
)
