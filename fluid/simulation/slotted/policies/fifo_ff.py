"""FIFO-FF (throughput paper, VII-B): the first job goes to the first server that has room, or all jobs wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.rooms import first_room, new_rooms, set_room, skipped
from fluid.simulation.slotted.state import (
    COMMON,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    front,
    moves_are_many,
    place_nowhere,
    shared,
)
from fluid.simulation.state import state_type
from theory.jit import step

FifoState = state_type(__name__, "FifoState", COMMON, "rooms", "full_")
"""``rooms``: a tree of residuals (`fluid.simulation.slotted.rooms`). ``full_`` int64[1]: a number of servers, the first
ones, none of which any job fits."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of FIFO-FF."""
    common = shared(setting, fifo=True)
    return FifoState(**common, rooms=new_rooms(common["free"]), full_=np.zeros(1, np.int64))


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Keep the tree, and the number of full servers."""
    state.full_[0] = min(state.full_[0], server)
    set_room(state.rooms, server, state.free[server])


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the jobs in the order of arrival, as long as a server has room for the first."""
    job_class, full = front(state, 0), state.full_[0]
    while job_class >= 0:
        server = first_room(state.rooms, state.free, full, class_size(state, job_class))
        if server < 0:
            break
        begin(state, job_class, server)
        set_room(state.rooms, server, state.free[server])
        full = skipped(state.rooms, state.free, full, state.sizes[0])
        state.full_[0] = full
        if moves_are_many(state):
            return True
        job_class = front(state, 0)
    return False


FIFO_FF = Policy(
    "fifo-ff",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="first in, first out, on the first server with room",
)
