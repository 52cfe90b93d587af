"""FIFO-FF (throughput paper, VII-B): the first job goes to the first server that has room, or all jobs wait."""

from __future__ import annotations

from typing import Any

from fluid.simulation.policy_interface import Policy
from fluid.simulation.slotted.policies.best_fit import server_depart
from fluid.simulation.slotted.state import (
    COMMON,
    SlottedCommon,
    SlottedSetting,
    begin,
    class_size,
    front,
    place_nowhere,
    shared,
)
from fluid.simulation.slotted.trees import first_at_least, new_tree, set_leaf
from fluid.simulation.state import state_type
from theory.jit import step

FifoState = state_type(__name__, "FifoState", COMMON, "rooms")
"""``rooms``: tree over servers of residuals."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of FIFO-FF."""
    return FifoState(**shared(setting, fifo=True), rooms=new_tree(setting.servers, value=setting.capacity))


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the job that came first, if a server has room for it."""
    job_class = front(state, 0)
    if job_class < 0:
        return False
    server = first_at_least(state.rooms, 0, class_size(state, job_class))
    if server < 0:
        return False
    begin(state, job_class, server)
    set_leaf(state.rooms, server, state.free[server])
    return True


FIFO_FF = Policy(
    "fifo-ff",
    "slotted",
    prepare,
    place_nowhere,
    server_depart,
    refresh,
    about="first in, first out, on the first server with room",
)
