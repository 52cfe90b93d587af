"""G16 (randomized sampling): each queue samples servers at random and reserves room by tokens.

The non-preemptive paper says: each queue samples servers at random, at a rate that grows with its length; where a job
fits it places a token, which holds room for a job of the type for some time; an arriving job takes a token of its type
if there is one, else it is queued. What it leaves open, and what is chosen here:

- queue j samples at rate ``sampling`` x mu_j x (1 + Q_j), each server with the same probability;
- a sampled server in which a job fits beside jobs and tokens gets a waiting job if there is one, else a token;
- a token of type j lasts an exponential time of rate ``expiry`` x mu_j; an arriving job takes a token of its type at
  random;
- the room of a job that leaves is free for whoever samples it next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from fluid.simulation.options import options_of
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import QUEUE, QueueCommon, Setting, one_of, over_servers, queue_fields, start, state_type
from theory.compiled import step
from theory.errors import ArgumentError
from theory.files.record import Range
from theory.instance import Additive

FASTEST = 1e12
"""Largest rate of sampling and expiry, in units of the service rate."""


@dataclass(frozen=True)
class TokenOptions:
    """The options of G16."""

    sampling: Annotated[float, Range(0, FASTEST), "rate at which an empty queue samples, over the service rate"] = 1.0
    expiry: Annotated[float, Range(0, FASTEST), "rate at which a token expires, over the service rate"] = 1.0


TokenState = state_type(__name__, "TokenState", QUEUE, "rates", "held", "urn", "tokens")
"""The fields of queues, and the tokens.

``clocks`` float64[2 J]: rates at which each queue samples, then rates at which a token of each type expires. ``rates``
float64[2, J]: sampling rate of an empty queue, and expiry rate of one token. ``held`` int32[L, J]: tokens on each
server. ``urn`` int32[J, N]: the servers of the tokens of each type. ``tokens`` int64[J]: their number.
"""


def prepare(setting: Setting) -> Any:
    """Make the state of G16; several pools are servers of several kinds."""
    options = options_of(TokenOptions, setting.options)
    spaces = [pool.space for pool in setting.instance.pools]
    if not all(isinstance(space, Additive) for space in spaces):
        raise ArgumentError("policy randomized-sampling", "expected servers with capacities, these list configurations")
    services = np.array([float(t.service_rate) for t in setting.instance.types])
    types = len(services)
    most = max(
        sum(space.most(j) * n for space, n in zip(spaces, setting.pool_sizes, strict=True)) for j in range(types)
    )
    state = TokenState(
        **queue_fields(setting, "randomized-sampling", resources=True, most_moves=16, clocks=2 * types),
        rates=np.array([options.sampling * services, options.expiry * services]),
        held=np.zeros((setting.servers, types), np.int32),
        urn=np.zeros((types, most), np.int32),
        tokens=np.zeros(types, np.int64),
    )
    over_servers(refresh, setting.servers)(state, None)
    return state


@step
def _fits_beside_tokens(state: QueueCommon, server: int, job_type: int) -> bool:
    for r in range(state.free.shape[1]):
        # free capacity less the job and the tokens that hold room there
        remaining = state.free[server, r] - state.demands[job_type, r]
        for j in range(len(state.waiting)):
            remaining -= state.held[server, j] * state.demands[j, r]
        if remaining < 0:
            return False
    return True


@step
def _drawn_token(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Remove a token of a type, each with the same probability; return its server."""
    last = state.tokens[job_type] - 1
    entry = one_of(draws, last + 1)
    # the last token moves to the place of the one that is drawn, so that the urn stays dense
    server = state.urn[job_type, entry]
    state.urn[job_type, entry] = state.urn[job_type, last]
    state.urn[job_type, last] = 0
    state.tokens[job_type] = last
    state.held[server, job_type] -= 1
    return int(server)


@step
def place(state: QueueCommon, job_type: int, draws: Any) -> int:
    """Return the server of a token of the type, which the job takes."""
    if state.tokens[job_type] == 0:
        return -1
    return _drawn_token(state, job_type, draws)


@step
def depart(state: QueueCommon, server: int, job_type: int, draws: Any) -> None:
    """Leave the room of the job to whoever samples it next."""


@step
def ring(state: QueueCommon, clock: int, draws: Any) -> None:
    """Let a queue sample a server, or a token expire."""
    types = len(state.waiting)
    if clock >= types:  # clocks J, ..., 2 J - 1 are those of the tokens
        _drawn_token(state, clock - types, draws)
        return
    server = one_of(draws, len(state.counts))
    if not _fits_beside_tokens(state, server, clock):
        return
    if state.waiting[clock] > 0:
        state.waiting[clock] -= 1
        start(state, clock, server)
    else:
        state.urn[clock, state.tokens[clock]] = server
        state.tokens[clock] += 1
        state.held[server, clock] += 1


@step
def refresh(state: QueueCommon, draws: Any) -> bool:
    """Set the clocks by the queues and the tokens."""
    types = len(state.waiting)
    # exponential clocks have no memory, so their rates may change at every event
    for j in range(types):
        state.clocks[j] = state.rates[0, j] * (1 + state.waiting[j])
        state.clocks[types + j] = state.rates[1, j] * state.tokens[j]
    return False


RANDOMIZED_SAMPLING = Policy(
    "randomized-sampling",
    "queue",
    prepare,
    place,
    depart,
    refresh,
    ring=ring,
    about="G16: queues sample servers at random and hold room by tokens",
    record=TokenOptions,
)
