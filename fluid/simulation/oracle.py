"""Configurations of great weight for given queues, and the servers that hold them: what policies of queues share.

The oracles give a configuration k of weight sum_j k_j Q_j of at least r times the greatest. ``exact``: the greatest
weight over the maximal configurations (r = 1). ``single``: over configurations of one type only (Lemma 6.1 of the
non-preemptive paper). ``greedy``: types by weight per largest share of a server, each as often as it still fits. It has
the guarantee of Lemma 6.1 too, but for given queues it may find less than ``single``: on a server of 10, with jobs of 6
and 5 and queues (121, 100), it takes one job of the first type, of weight 121, where two of the second weigh 200.

Ties are broken by more slots of the first type that differs, so that queues of length zero have an answer too; the zero
configuration is never one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.options import options_of
from fluid.simulation.state import QUEUE, Setting, over_servers, queue_fields, start
from fluid.simulation.structures.bitset import discard, empty_sets, insert
from theory.compiled import step
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import maximal
from theory.instance import Additive

LIMIT = 4_000_000
"""Largest table (rows times types) that is searched at every event."""


@dataclass(frozen=True)
class OracleOptions:
    """The option of every policy whose servers hold configurations of great weight."""

    oracle: Annotated[Literal["exact", "single", "greedy"], "how configurations of great weight are found"] = "exact"


CONFIGURED = (
    *QUEUE, "table", "rows", "greedily", "capacity", "need", "share", "best_", "remaining_",
    "configuration", "vacant", "levels", "asked",
)  # fmt: skip
"""Fields of the states of policies whose servers hold configurations of great weight: those of queues, and

table : int32[G, J]
    Configurations of each pool, in decreasing lexicographic order; empty for ``greedy``.
rows : int64[P, 2]
    First and last-but-one row of each pool.
greedily : bool[1]
    Whether the oracle is ``greedy``.
capacity, need : int64[P, R], int64[J, R]
    Capacity of a server of each pool and demands, for ``greedy``.
share : float64[P, J]
    Largest share of a server that a job takes; infinite where it does not fit.
best_, remaining_ : int32[J], int64[R]
    The last answer of the oracle, and what is left of a server while it is sought.
configuration : int32[L, J]
    The slots of each server.
vacant, levels
    Sets (`fluid.simulation.structures.bitset`): for each type the servers with an empty slot of it, and behind
    them for each pool the servers that may take a configuration when a job comes.
asked : int64[1]
    The type of a job that has found no slot; -1 for none.
"""


def configured_fields(setting: Setting, name: str) -> dict[str, NDArray[Any]]:
    """Make the fields `CONFIGURED` for empty servers that have no configuration yet.

    Refused are ``greedy`` where a pool lists its configurations, and more than `LIMIT` entries to search at every
    event.
    """
    spaces = [pool.space for pool in setting.instance.pools]
    types, pools = len(setting.instance.types), len(spaces)
    vacant, levels = empty_sets(types + pools, setting.servers)
    insert_into = over_servers(insert, setting.servers)
    for server in range(setting.servers):
        insert_into(vacant, levels, types + int(setting.pool[server]), server)
    # the most jobs that start at one event are those of one server; a margin beside
    most = 16 + max(sum(space.most(j) for j in range(types)) for space in spaces)
    fields = queue_fields(setting, name, resources=False, most_moves=most)
    return fields | _oracle(setting) | {
        "configuration": np.zeros((setting.servers, types), np.int32),
        "vacant": vacant,
        "levels": levels,
        "asked": np.full(1, -1),
    }  # fmt: skip


def _oracle(setting: Setting) -> dict[str, NDArray[Any]]:
    """Make what the oracle that the option asks for looks into."""
    name = options_of(OracleOptions, setting.options).oracle
    spaces = [pool.space for pool in setting.instance.pools]
    types, pools = len(setting.instance.types), len(spaces)
    share = np.array([[1 / m if (m := space.most(j)) else np.inf for j in range(types)] for space in spaces])
    tables = [np.zeros((0, types), np.int32)] * pools
    resources = len(spaces[0].capacity) if name == "greedy" and isinstance(spaces[0], Additive) else 0
    capacity, need = np.zeros((pools, resources), np.int64), np.zeros((types, resources), np.int64)
    for p, space in enumerate(spaces):
        if name == "exact":
            try:
                tables[p] = maximal(space, limit=LIMIT)[::-1].astype(np.int32)
            except TooLargeError as error:
                raise TooLargeError("simulation.oracle", f"{error}; or oracle = 'greedy'") from error
        elif name == "single":
            # Lemma 6.1: the greatest weight of a configuration of one type, (largest number that fits) times Q_j
            diagonal = np.diag([space.most(j) for j in range(types)]).astype(np.int32)
            tables[p] = diagonal[diagonal.any(axis=1)]
        elif not isinstance(space, Additive):
            raise InputError("simulation.oracle", "'greedy' expects servers with capacities, these list configurations")
        else:
            capacity[p] = space.capacity
            need[:] = np.array(space.demands, np.int64).reshape(types, -1)
            for j, demand in enumerate(space.demands):
                if space.most(j):
                    share[p, j] = max(d / c for d, c in zip(demand, space.capacity, strict=True) if d)
    ends = np.cumsum([len(table) for table in tables])
    return {
        "table": np.concatenate(tables),
        "rows": np.column_stack([ends - [len(table) for table in tables], ends]).astype(np.int64),
        "greedily": np.full(1, name == "greedy"),
        "capacity": capacity,
        "need": need,
        "share": share,
        "best_": np.zeros(types, np.int32),
        "remaining_": np.zeros(resources, np.int64),
    }


@step
def heaviest(state: Any, pool: int) -> int:
    """Write a configuration of great weight for the queues as they are to ``best_``; return its weight."""
    types = len(state.waiting)
    if state.greedily[0]:
        return _fill_greedily(state, pool)
    best, chosen = -1, -1
    # the rows decrease lexicographically, so the first of equal weights has more slots of the first type that differs
    for g in range(state.rows[pool, 0], state.rows[pool, 1]):
        weight = 0
        for j in range(types):
            weight += state.waiting[j] * state.table[g, j]
        if weight > best:
            best, chosen = weight, g
    for j in range(types):
        state.best_[j] = state.table[chosen, j]
    return best


@step
def _fill_greedily(state: Any, pool: int) -> int:
    """Fill a server with the types of greatest weight per share, one type after another."""
    types = len(state.waiting)
    remaining = state.remaining_
    for r in range(len(remaining)):
        remaining[r] = state.capacity[pool, r]
    for j in range(types):
        state.best_[j] = -1
    weight = 0
    for _ in range(types):
        chosen = -1
        value = -1.0
        for j in range(types):
            if state.best_[j] < 0:
                # weight per largest share, Q_j / max_r (d_jr / c_r); the share is infinite where the type does not fit
                worth = state.waiting[j] / state.share[pool, j]
                if worth > value:
                    chosen, value = j, worth
        most = 2**31 - 1
        for r in range(len(remaining)):
            if state.need[chosen, r] > 0:
                most = min(most, remaining[r] // state.need[chosen, r])
        for r in range(len(remaining)):
            remaining[r] -= most * state.need[chosen, r]
        state.best_[chosen] = most
        weight += most * state.waiting[chosen]
    return weight


@step
def take_configuration(state: Any, server: int) -> None:
    """Give a server the configuration in ``best_``, and fill its slots from the queues."""
    for j in range(len(state.waiting)):
        state.configuration[server, j] = state.best_[j]
        while state.counts[server, j] < state.best_[j] and state.waiting[j] > 0:
            state.waiting[j] -= 1
            start(state, j, server)
        if state.counts[server, j] < state.best_[j]:
            insert(state.vacant, state.levels, j, server)
        else:
            discard(state.vacant, state.levels, j, server)


@step
def refill_slot(state: Any, server: int, job_type: int) -> None:
    """Give the slot of a job that has left to the first job of its queue; with an empty queue it is vacant."""
    if state.waiting[job_type] > 0:
        state.waiting[job_type] -= 1
        start(state, job_type, server)
    else:
        insert(state.vacant, state.levels, job_type, server)
