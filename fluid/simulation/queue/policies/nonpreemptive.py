"""Algorithm 1 (non-preemptive paper): a server stalls when its configuration is too light, and renews it when empty.

The paper does not say how a system begins. Here a server enters its first active period when a job comes that finds no
slot (option ``start``, "as-needed"); with "at-once", the literal reading, all do at time 0, with a configuration for
queues of length zero. Either way a server that is empty and active keeps its configuration until one of its types
comes, so a type that never comes can starve the rest ("as-needed" too, after one job of it). Theorem 3.1 needs every
type to arrive, as the interior of C says, and the proof of Lemma 4.4, which takes departures from an active server at
rate min mu at least, overlooks empty servers.
"""

from __future__ import annotations

from math import tanh
from typing import Any

import numpy as np

from fluid.simulation import options
from fluid.simulation.bitset import discard, insert, least
from fluid.simulation.oracle import Oracle, heaviest, oracle
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.state import QUEUE, QueueCommon, most_starts, queue_fields, vacancies
from fluid.simulation.state import Setting, start, state_type
from theory.jit import step

BETA, P, Z, CUT, FALL, EARLY = 0, 1, 2, 3, 4, 5
"""Places in ``rule``."""


NonpreemptiveState = state_type(
    __name__,
    "NonpreemptiveState",
    (*QUEUE, *Oracle._fields),
    "configuration",
    "active",
    "stalled",
    "vacant",
    "levels",
    "asked",
    "rule",
)
"""The fields of queues, the oracle (`oracle.Oracle`), and of each server ``configuration``
int32[L, J], its slots while it is active, and ``active`` int64[L], 1 active, 0 stalled or not used yet.

``stalled`` int64[1]: number of stalled servers. ``vacant``, ``levels``: active servers with an empty slot of each type,
then servers of each pool not used yet (`fluid.simulation.bitset`). ``asked`` int64[1]: type of a job that has found no
slot; -1 for none. ``rule`` float64[6], see `BETA`: beta = BETA (P + (1 - P) tanh(Z sum Q)) q(s), (29), with q(s) = 1 -
FALL s for a share s < CUT of stalled servers and 0 from there (6.4); EARLY: whether 6.3 is in force.
"""


RULE = (options.BETA, options.P, options.Z, options.CUT, options.FALL, options.EARLY)
"""The options in the order of the field ``rule``."""


def prepare(setting: Setting) -> Any:
    """Make the state of Algorithm 1; several pools are servers of several kinds."""
    rule = np.array([float(option(setting.options)) for option in RULE])
    helper = oracle(setting)
    begin = options.START(setting.options)
    vacant, levels = vacancies(setting)
    state = NonpreemptiveState(
        **queue_fields(setting, "nonpreemptive", resources=False, room=most_starts(setting)),
        **helper._asdict(),
        configuration=np.zeros((setting.servers, len(setting.instance.types)), np.int32),
        active=np.zeros(setting.servers, np.int64),
        stalled=np.zeros(1, np.int64),
        vacant=vacant,
        levels=levels,
        asked=np.full(1, -1),
        rule=rule,
    )
    for server in range(setting.servers if begin == "at-once" else 0):
        heaviest(state, state.pool[server])
        _begin(state, server)
    return state


@step
def _activate(state: QueueCommon, server: int) -> None:
    """Give a server the configuration in ``best_`` and fill it from the queues."""
    state.active[server] = 1
    for j in range(len(state.waiting)):
        state.configuration[server, j] = state.best_[j]
        while state.counts[server, j] < state.best_[j] and state.waiting[j] > 0:
            state.waiting[j] -= 1
            start(state, j, server)
        if state.counts[server, j] < state.best_[j]:
            insert(state.vacant, state.levels, j, server)


@step
def _begin(state: QueueCommon, server: int) -> None:
    """Let a server enter its first active period."""
    discard(state.vacant, state.levels, len(state.waiting) + state.pool[server], server)
    _activate(state, server)


@step
def beta_now(state: QueueCommon) -> float:
    """Return beta for the queues and the share of stalled servers as they are."""
    rule = state.rule
    stalled = state.stalled[0] / len(state.active)
    if stalled >= rule[CUT]:
        return 0.0
    waiting = 0
    for j in range(len(state.waiting)):
        waiting += state.waiting[j]
    growing = rule[P] + (1.0 - rule[P]) * tanh(rule[Z] * waiting)
    return float(rule[BETA] * growing * (1.0 - rule[FALL] * stalled))


@step
def place(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Return the first server with an empty slot of the type."""
    server = least(state.vacant, state.levels, job_type)
    if server < 0:
        state.asked[0] = job_type
    elif state.counts[server, job_type] + 1 == state.configuration[server, job_type]:
        discard(state.vacant, state.levels, job_type, server)
    return server


@step
def depart(state: QueueCommon, server: int, job_type: int, draws: Any) -> None:
    """Stall the server if its configuration is too light (5), else refill the slot.

    Renew a stalled server's when empty.
    """
    types = len(state.waiting)
    best = -1
    if state.active[server] == 1:
        best = heaviest(state, state.pool[server])
        weight = 0
        for j in range(types):
            weight += state.waiting[j] * state.configuration[server, j]
        if weight < beta_now(state) * best:
            state.active[server] = 0
            state.stalled[0] += 1
            for j in range(types):
                discard(state.vacant, state.levels, j, server)
        elif state.waiting[job_type] > 0:
            state.waiting[job_type] -= 1
            start(state, job_type, server)
        else:
            insert(state.vacant, state.levels, job_type, server)
    if state.active[server] == 0:
        if best < 0:
            heaviest(state, state.pool[server])
        empty = below = True
        for j in range(types):
            empty = empty and state.counts[server, j] == 0
            below = below and state.counts[server, j] <= state.best_[j]
        if empty or (below and state.rule[EARLY] != 0.0):
            state.stalled[0] -= 1
            _activate(state, server)


@step
def refresh(state: QueueCommon, draws: Any) -> bool:
    """Let servers not used yet become active, one a call, for a job that has found no slot."""
    job_type = state.asked[0]
    if job_type < 0:
        return False
    if state.waiting[job_type] > 0:
        for p in range(len(state.rows)):
            if state.share[p, job_type] <= 1.0:
                server = least(state.vacant, state.levels, len(state.waiting) + p)
                if server >= 0:
                    heaviest(state, p)
                    _begin(state, server)
                    return True
    state.asked[0] = -1
    return False


NONPREEMPTIVE = Policy(
    "nonpreemptive",
    "queue",
    prepare,
    place,
    depart,
    refresh,
    about="Algorithm 1 of the non-preemptive paper: active and stalled periods, r-max weight configurations",
    options=tuple(option.name for option in (options.ORACLE, *RULE, options.START)),
)
