"""Algorithm 1 (non-preemptive paper): a server stalls when its configuration is too light, and renews it when empty.

The paper does not say how a system begins. Here a server enters its first active period when a job comes that finds no
slot (option ``start``, "as-needed"); with "at-once", the literal reading, all do at time 0, with a configuration for
queues of length zero. Either way a server that is empty and active keeps its configuration until one of its types
comes, so a type that never comes can starve the rest ("as-needed" too, after one job of it). Theorem 3.1 needs every
type to arrive, as the interior of C says, and the proof of Lemma 4.4, which takes departures from an active server at
rate min mu at least, overlooks empty servers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tanh
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
from fluid.simulation.state import QueueCommon, Setting, over_servers, state_type
from fluid.simulation.structures.bitset import discard, least
from theory.compiled import step
from theory.files.record import Range


@dataclass(frozen=True)
class PeriodOptions(OracleOptions):
    """The options of Algorithm 1; the first six after the oracle are the numbers of the field ``rule``."""

    beta: Annotated[float, Range(0, 1), "weight below which a server stalls, as a fraction of the greatest, (29)"] = 0.9
    p: Annotated[float, Range(most=1), "p of (29); 1 for a constant beta"] = -0.05
    z: Annotated[float, Range(0), "z of (29)"] = 0.005
    cut: Annotated[float, Range(0), "fraction of stalled servers from which q(s) is 0; 2 for never"] = 0.1
    fall: Annotated[float, Range(0, 1), "slope of q(s); 0 for none"] = 1.0
    early: Annotated[bool, "whether a stalled server may renew before it is empty (6.3)"] = True
    start: Annotated[Literal["as-needed", "at-once"], "when servers become active first: as-needed or at-once"] = (
        "as-needed"
    )


BETA, P, Z, CUT, FALL, EARLY = 0, 1, 2, 3, 4, 5
"""Places in ``rule``."""

NonpreemptiveState = state_type(__name__, "NonpreemptiveState", CONFIGURED, "active", "stalled", "rule")
"""The fields of configured servers (`fluid.simulation.oracle`), and what is active.

``active`` int64[L]: 1 active, 0 stalled or not used yet. ``stalled`` int64[1]: number of stalled servers. ``rule``
float64[6], see `BETA`: beta = BETA (P + (1 - P) tanh(Z sum Q)) q(s), (29), with q(s) = 1 - FALL s for a share s < CUT
of stalled servers and 0 from there (6.4); EARLY: whether 6.3 is in force. Only active servers have vacant slots; the
servers of a pool that may take a configuration when a job comes are those not used yet.
"""


def prepare(setting: Setting) -> Any:
    """Make the state of Algorithm 1; several pools are servers of several kinds."""
    options = options_of(PeriodOptions, setting.options)
    state = NonpreemptiveState(
        **configured_fields(setting, "nonpreemptive"),
        active=np.zeros(setting.servers, np.int64),
        stalled=np.zeros(1, np.int64),
        rule=np.array([options.beta, options.p, options.z, options.cut, options.fall, options.early]),
    )
    if options.start == "at-once":
        for server in range(setting.servers):
            over_servers(heaviest, setting.servers)(state, state.pool[server])
            over_servers(_begin, setting.servers)(state, server)
    return state


@step
def _activate(state: QueueCommon, server: int) -> None:
    """Let an active period begin with the configuration in ``best_``: lines 9 to 14 of the departures."""
    state.active[server] = 1
    take_configuration(state, server)


@step
def _begin(state: QueueCommon, server: int) -> None:
    """Let a server enter its first active period."""
    discard(state.vacant, state.levels, len(state.waiting) + state.pool[server], server)
    _activate(state, server)


@step
def beta_now(state: QueueCommon) -> float:
    """Return beta for the queues and the share of stalled servers as they are."""
    rule = state.rule
    # q(s) of 6.4
    stalled = state.stalled[0] / len(state.active)
    if stalled >= rule[CUT]:
        return 0.0
    waiting = 0
    for j in range(len(state.waiting)):
        waiting += state.waiting[j]
    # h(Q) / beta_bar of (29)
    growing = rule[P] + (1.0 - rule[P]) * tanh(rule[Z] * waiting)
    return float(rule[BETA] * growing * (1.0 - rule[FALL] * stalled))


@step
def place(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Return the first server with an empty slot of the type: lines 1 to 4 of the arrivals."""
    server = least(state.vacant, state.levels, job_type)
    if server < 0:
        state.asked[0] = job_type
    elif state.counts[server, job_type] + 1 == state.configuration[server, job_type]:
        discard(state.vacant, state.levels, job_type, server)
    return server


@step
def depart(state: QueueCommon, server: int, job_type: int, draws: Any) -> None:
    """Stall the server if its configuration is too light, else refill the slot; renew a stalled server when empty."""
    types = len(state.waiting)
    best = -1
    if state.active[server] == 1:  # line 1
        best = heaviest(state, state.pool[server])
        weight = 0
        for j in range(types):
            weight += state.waiting[j] * state.configuration[server, j]
        # lines 2 and 3, condition (5): f(k, Q) < beta f(k^(r), Q)
        if weight < beta_now(state) * best:
            state.active[server] = 0
            state.stalled[0] += 1
            for j in range(types):
                discard(state.vacant, state.levels, j, server)
        else:  # line 5
            refill_slot(state, server, job_type)
    if state.active[server] == 0:  # lines 8 to 14
        if best < 0:
            heaviest(state, state.pool[server])
        empty = below = True
        for j in range(types):
            empty = empty and state.counts[server, j] == 0
            below = below and state.counts[server, j] <= state.best_[j]
        # 6.3: the period may end as soon as the jobs that are left are part of the new configuration
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
    record=PeriodOptions,
)
