"""First-fit: the first server, by number, that has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.bitset import discard, empty_sets, insert, least
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import Common, Setting, common, fits, state_type
from theory.jit import step

FirstFitState = state_type(
    __name__,
    "FirstFitState",
    Common._fields,
    "room",
    "levels",
    "touched_",
)
"""The common part, and for each type the set of servers with room for it (see `fluid.simulation.bitset`)."""


def prepare(setting: Setting) -> Any:
    """Make the state of first-fit; any number of pools."""
    base = common(setting)
    room, levels = empty_sets(len(setting.instance.types), setting.servers)
    state = FirstFitState(**base, room=room, levels=levels, touched_=np.full(1, -1))
    _fill(state)
    return state


@step
def _fill(state: Common) -> None:
    for server in range(len(state.counts)):
        _update(state, server)


@step
def _update(state: Any, server: int) -> None:
    for j in range(len(state.totals)):
        if fits(state, server, j):
            insert(state.room, state.levels, j, server)
        else:
            discard(state.room, state.levels, j, server)


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Return the first server with room."""
    server = least(state.room, state.levels, job_type)
    state.touched_[0] = server
    return server


@step
def depart(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Remember whose room has changed."""
    state.touched_[0] = server


@step
def refresh(state: Any, draws: Any) -> bool:
    """Bring the sets of servers with room up to date."""
    if state.touched_[0] >= 0:
        _update(state, state.touched_[0])
        state.touched_[0] = -1
    return False


FIRST_FIT = Policy("first-fit", "loss", prepare, place, depart, refresh, about="the first server, by number, with room")
