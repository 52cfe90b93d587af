"""M14 (max-weight at local refresh times): a server takes a configuration of greatest weight whenever it is empty.

What paper 004 leaves open in its account of Maguluri and Srikant's policy, and what is chosen here: a server stays at a
refresh time as long as it is empty, so an arrival that finds no slot lets the first empty server that can hold it
choose anew; between refresh times slots are refilled from the queues; ties as in `fluid.policies.queue.oracle`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.policies.bitset import discard, empty_sets, insert, least
from fluid.policies.options import Options
from fluid.policies.queue.nonpreemptive import most_starts
from fluid.policies.queue.oracle import heaviest, oracle
from fluid.policy import Policy, Setting, common, start
from theory.compiled import step
from theory.errors import InputError


class LocalState(NamedTuple):
    """The common part, the queues, the oracle, and of each server its slots.

    Attributes
    ----------
    configuration : int32[L, J]
    vacant : int64[J + P, W]
        Servers with an empty slot of each type, then the empty servers of each pool (`fluid.policies.bitset`).
    asked : int64[1]
        Type of a job that has found no slot; -1 for none.
    """

    counts: NDArray[np.int32]
    totals: NDArray[np.int64]
    slots: NDArray[np.int64]
    free: NDArray[np.int64]
    demands: NDArray[np.int64]
    generators: NDArray[np.int32]
    spans: NDArray[np.int64]
    pool: NDArray[np.int32]
    moves: NDArray[np.int32]
    done: NDArray[np.int64]
    waiting: NDArray[np.int64]
    clocks: NDArray[np.float64]
    table: NDArray[np.int32]
    rows: NDArray[np.int64]
    room: NDArray[np.int64]
    need: NDArray[np.int64]
    share: NDArray[np.float64]
    best_: NDArray[np.int32]
    left_: NDArray[np.int64]
    configuration: NDArray[np.int32]
    vacant: NDArray[np.int64]
    levels: NDArray[np.int64]
    asked: NDArray[np.int64]


def prepare(setting: Setting) -> LocalState:
    """Make the state of M14; several pools are servers of several kinds. Option: ``oracle``."""
    options = Options(setting.options)
    helper = oracle(setting, {"oracle": options.text("oracle", "exact")})
    options.finish()
    if setting.initial is not None and setting.initial.any():
        raise InputError("initial: expected empty servers for max-weight-local")
    types, pools = len(setting.instance.types), len(setting.instance.pools)
    vacant, levels = empty_sets(types + pools, setting.servers)
    for server in range(setting.servers):
        insert(vacant, levels, types + int(setting.pool[server]), server)
    return LocalState(
        **common(setting, resources=False, room=most_starts(setting)),
        waiting=np.zeros(types, np.int64),
        clocks=np.zeros(0),
        **helper._asdict(),
        configuration=np.zeros((setting.servers, types), np.int32),
        vacant=vacant,
        levels=levels,
        asked=np.full(1, -1),
    )


@step
def _renew(state: LocalState, server: int) -> None:
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
def place(state: LocalState, job_type: int, draws: Any) -> int:
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
def depart(state: LocalState, server: int, job_type: int, draws: Any) -> None:
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
    insert(state.vacant, state.levels, types + state.pool[server], server)
    _renew(state, server)


@step
def refresh(state: LocalState, draws: Any) -> bool:
    """Renew the configuration of the first empty server that can hold a job that has found no slot."""
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
)
