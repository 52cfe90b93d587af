"""M14 (max-weight at local refresh times): a server takes a configuration of greatest weight when it is empty.

The account that the non-preemptive paper gives of this policy (Maguluri and Srikant's) has two readings, which the
option ``renewal`` names:

- "while-empty": a server stays at a refresh time as long as it is empty. An arrival that finds no slot lets the first
  empty server that can hold it choose a configuration anew.
- "on-emptying": the refresh time is the moment at which a server becomes empty. The server chooses then, for the queues
  of that moment, and keeps its configuration until it becomes empty again, even if nobody is there for it. A server
  that has never held a job makes its first choice when a job comes that finds no slot, as under Algorithm 1.

In both, slots are refilled from the queues between refresh times, and ties are broken as in `fluid.simulation.oracle`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.bitset import discard, insert, least
from fluid.simulation.options import ORACLE, RENEWAL
from fluid.simulation.oracle import Oracle, heaviest, oracle
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.state import QUEUE, QueueCommon, most_starts, queue_fields, vacancies
from fluid.simulation.state import Setting, start, state_type
from theory.jit import step

LocalState = state_type(
    __name__, "LocalState", (*QUEUE, *Oracle._fields), "configuration", "vacant", "levels", "asked", "once"
)
"""The fields of queues, the oracle, and of each server its slots, ``configuration`` int32[L, J].

``vacant``, ``levels``: servers with an empty slot of each type, then the servers of each pool that may choose at an
arrival (`fluid.simulation.bitset`): the empty ones, or those that have never chosen. ``asked`` int64[1]: type of a job
that has found no slot; -1 for none. ``once`` int64[1]: 1 if a server chooses only when it becomes empty.
"""


def prepare(setting: Setting) -> Any:
    """Make the state of M14; several pools are servers of several kinds."""
    helper = oracle(setting)
    vacant, levels = vacancies(setting)
    return LocalState(
        **queue_fields(setting, "max-weight-local", resources=False, room=most_starts(setting)),
        **helper._asdict(),
        configuration=np.zeros((setting.servers, len(setting.instance.types)), np.int32),
        vacant=vacant,
        levels=levels,
        asked=np.full(1, -1),
        once=np.full(1, int(RENEWAL(setting.options) == "on-emptying")),
    )


@step
def _renew(state: QueueCommon, server: int) -> None:
    """Give an empty server a configuration of greatest weight and fill it from the queues."""
    types = len(state.waiting)
    heaviest(state, state.pool[server])
    for j in range(types):
        state.configuration[server, j] = state.best_[j]
        while state.counts[server, j] < state.best_[j] and state.waiting[j] > 0:
            state.waiting[j] -= 1
            start(state, j, server)
            discard(state.vacant, state.levels, types + state.pool[server], server)
        if state.counts[server, j] < state.best_[j]:
            insert(state.vacant, state.levels, j, server)
        else:
            discard(state.vacant, state.levels, j, server)


@step
def place(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Return the first server with an empty slot of the type."""
    types = len(state.waiting)
    server = least(state.vacant, state.levels, job_type)
    if server < 0:
        state.asked[0] = job_type
        return server
    discard(state.vacant, state.levels, types + state.pool[server], server)
    if state.counts[server, job_type] + 1 == state.configuration[server, job_type]:
        discard(state.vacant, state.levels, job_type, server)
    return server


@step
def depart(state: QueueCommon, server: int, job_type: int, draws: Any) -> None:
    """Renew the configuration of a server that is empty, else refill the slot."""
    types = len(state.waiting)
    for j in range(types):
        if state.counts[server, j] > 0:
            if state.waiting[job_type] > 0:
                state.waiting[job_type] -= 1
                start(state, job_type, server)
            else:
                insert(state.vacant, state.levels, job_type, server)
            return
    if state.once[0] == 0:
        insert(state.vacant, state.levels, types + state.pool[server], server)
    _renew(state, server)


@step
def refresh(state: QueueCommon, draws: Any) -> bool:
    """Let the first server that may choose, and can hold a job that has found no slot, take a configuration.

    That job waits, so the configuration has a positive weight and a job starts: the server is empty no longer.
    """
    types = len(state.waiting)
    job_type = state.asked[0]
    if job_type >= 0:
        state.asked[0] = -1
        for p in range(len(state.rows)):
            if state.share[p, job_type] <= 1.0:
                server = least(state.vacant, state.levels, types + p)
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
    options=(ORACLE.name, RENEWAL.name),
)
