"""M14 (max-weight at local refresh times): a server takes a configuration of greatest weight when it is empty.

The account that the non-preemptive paper gives of this policy (Maguluri and Srikant's) has two readings, which the
option ``renewal`` names:

- "while-empty": a server stays at a refresh time as long as it is empty. An arrival that finds no slot lets the first
  empty server that can hold it choose a configuration anew.
- "on-emptying": the refresh time is the moment at which a server becomes empty. The server chooses then, for the queues
  of that moment, and keeps its configuration until it becomes empty again, even if no job is there for it. A server
  that has never held a job makes its first choice when a job comes that finds no slot, as under Algorithm 1.

In both, slots are refilled from the queues between refresh times, and ties are broken as in `fluid.simulation.oracle`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from fluid.simulation.options import options_of
from fluid.simulation.oracle import (
    CONFIGURED,
    OracleOptions,
    configured_fields,
    heaviest,
    refill_slot,
    take_configuration,
)
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import QueueCommon, Setting, state_type
from fluid.simulation.structures.bitset import discard, insert, least
from theory.compiled import step


@dataclass(frozen=True)
class LocalOptions(OracleOptions):
    """The options of M14."""

    renewal: Annotated[
        Literal["while-empty", "on-emptying"],
        "when a server of max-weight-local chooses: while-empty (anew at arrivals) or on-emptying (once)",
    ] = "while-empty"


LocalState = state_type(__name__, "LocalState", CONFIGURED, "once")
"""The fields of configured servers (`fluid.simulation.oracle`), and whether they choose only when they become empty.

The servers of a pool that may choose at an arrival are the empty ones; with ``once`` those that have never chosen.
"""


def prepare(setting: Setting) -> Any:
    """Make the state of M14; several pools are servers of several kinds."""
    once = np.full(1, options_of(LocalOptions, setting.options).renewal == "on-emptying")
    return LocalState(**configured_fields(setting, "max-weight-local"), once=once)


@step
def _renew(state: QueueCommon, server: int) -> None:
    """Give an empty server a configuration of greatest weight and fill it from the queues."""
    heaviest(state, state.pool[server])
    take_configuration(state, server)
    types = len(state.waiting)
    for j in range(types):
        if state.counts[server, j] > 0:
            discard(state.vacant, state.levels, types + state.pool[server], server)


@step
def place(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Return the first server with an empty slot of the type."""
    server = least(state.vacant, state.levels, job_type)
    if server < 0:
        state.asked[0] = job_type
        return server
    # the server is no longer empty, and perhaps full
    discard(state.vacant, state.levels, len(state.waiting) + state.pool[server], server)
    if state.counts[server, job_type] + 1 == state.configuration[server, job_type]:
        discard(state.vacant, state.levels, job_type, server)
    return server


@step
def depart(state: QueueCommon, server: int, job_type: int, draws: Any) -> None:
    """Renew the configuration of a server that is empty, else refill the slot."""
    types = len(state.waiting)
    for j in range(types):
        if state.counts[server, j] > 0:
            refill_slot(state, server, job_type)
            return
    # a local refresh time: max_k sum_j k_j Q_j over the configurations of the server
    if not state.once[0]:
        insert(state.vacant, state.levels, types + state.pool[server], server)
    _renew(state, server)


@step
def refresh(state: QueueCommon, draws: Any) -> bool:
    """Let the first server that may choose, and can hold a job that has found no slot, take a configuration.

    That job waits, so the configuration has a positive weight and a job starts: the server is empty no longer.
    """
    job_type = state.asked[0]
    if job_type >= 0:
        state.asked[0] = -1
        # pools in their order, of each the first server
        for p in range(len(state.rows)):
            if state.share[p, job_type] <= 1.0:
                server = least(state.vacant, state.levels, len(state.waiting) + p)
                if server >= 0:
                    _renew(state, server)
                    break
    return False


MAX_WEIGHT_LOCAL = Policy(
    "max-weight-local",
    "queue",
    prepare,
    place,
    depart,
    refresh,
    about="M14: a configuration of greatest weight at local refresh times",
    record=LocalOptions,
)
