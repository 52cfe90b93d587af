"""FIFO-FF (throughput paper, VII-B): the first job goes to the first server that has room, or all jobs wait.

Servers are listed by number.
"""

from __future__ import annotations

from typing import Any

from fluid.simulation.policy_interface import Policy
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
from fluid.simulation.structures.trees import first_at_least, new_tree, set_leaf
from theory.compiled import step

FifoState = state_type(__name__, "FifoState", COMMON, "residuals")
"""``residuals`` int64[2P]: a tree of maxima of the servers' residuals (`fluid.simulation.structures.trees`)."""


def prepare(setting: SlottedSetting) -> Any:
    """Make the state of FIFO-FF."""
    common = shared(setting, fifo=True)
    return FifoState(**common, residuals=new_tree(setting.servers, value=common["free"]))


@step
def depart(state: SlottedCommon, server: int, job_class: int, draws: Any) -> None:
    """Keep the tree up to date."""
    set_leaf(state.residuals, server, state.free[server])


@step
def refresh(state: SlottedCommon, draws: Any) -> bool:
    """Start the jobs in the order of arrival, as long as a server has room for the first."""
    while True:
        # without virtual queues all jobs are in queue 0, in the order of arrival
        job_class = front(state, 0)
        if job_class < 0:
            return False
        # First-Fit: the first server that has sufficient capacity
        server = first_at_least(state.residuals, 0, class_size(state, job_class))
        if server < 0:
            # FIFO: no job overtakes the first one
            return False
        begin(state, job_class, server)
        set_leaf(state.residuals, server, state.free[server])
        if moves_are_many(state):
            return True


FIFO_FF = Policy(
    "fifo-ff",
    "slotted",
    prepare,
    place_nowhere,
    depart,
    refresh,
    about="first in, first out, on the first server with room",
)
