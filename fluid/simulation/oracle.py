"""Configurations of great weight for given queues: the oracles that scheduling policies ask at their events.

``exact``: the greatest weight over the maximal configurations (r = 1). ``single``: over configurations of one type only
(Lemma 6.1 of the non-preemptive paper). ``greedy``: types by weight per largest share of a server, each as often as it
still fits. It has the guarantee of Lemma 6.1 too, but for given queues it may find less than ``single``: on a server of
10, with jobs of 6 and 5 and queues (121, 100), it takes one job of the first type, of weight 121, where two of the
second weigh 200. Ties are broken by more slots of the first type that differs, so
that queues of length zero have an answer too; the zero configuration is never one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.options import ORACLE
from fluid.simulation.state import Setting
from theory.errors import InputError, TooLargeError
from theory.exact.configurations import maximal
from theory.instance import Additive
from theory.jit import step

LIMIT = 4_000_000
"""Largest table (rows times types) that is searched at every event."""


class Oracle(NamedTuple):
    """What an oracle looks into; spread into a policy's state.

    Attributes
    ----------
    table : int32[G, J]
        Configurations of each pool, in decreasing lexicographic order; empty for ``greedy``.
    rows : int64[P, 2]
        First and last-but-one row of each pool.
    room : int64[P, R]
        Capacity of a server of each pool, for ``greedy``; R = 0 otherwise.
    need : int64[J, R]
        Demands, for ``greedy``.
    share : float64[P, J]
        Largest share of a server that a job takes; infinite where it does not fit.
    best_ : int32[J]
        The last answer.
    left_ : int64[R]
        Scratch.
    """

    table: NDArray[np.int32]
    rows: NDArray[np.int64]
    room: NDArray[np.int64]
    need: NDArray[np.int64]
    share: NDArray[np.float64]
    best_: NDArray[np.int32]
    left_: NDArray[np.int64]


def oracle(setting: Setting) -> Oracle:
    """Make the oracle that the option asks for.

    Raises
    ------
    InputError
        ``greedy`` where a pool lists its configurations.
    TooLargeError
        More than `LIMIT` entries to search at every event.
    """
    name = ORACLE(setting.options)
    spaces = [pool.space for pool in setting.instance.pools]
    types = len(setting.instance.types)
    share = np.array([[1 / m if (m := space.most(j)) else np.inf for j in range(types)] for space in spaces])
    tables: list[NDArray[np.int32]] = []
    room, need = np.zeros((len(spaces), 0), np.int64), np.zeros((types, 0), np.int64)
    for p, space in enumerate(spaces):
        if name == "exact":
            try:
                found = maximal(space, limit=LIMIT)
            except TooLargeError as error:
                raise TooLargeError(f"simulation.oracle: {error}; or oracle = 'greedy'") from None
            tables.append(found[::-1].astype(np.int32))
        elif name == "single":
            diagonal = np.diag([space.most(j) for j in range(types)]).astype(np.int32)
            tables.append(diagonal[diagonal.any(axis=1)])
        elif not isinstance(space, Additive):
            raise InputError("simulation.oracle: 'greedy' expects servers with capacities, these list configurations")
        else:
            tables.append(np.zeros((0, types), np.int32))
            if p == 0:
                room = np.zeros((len(spaces), len(space.capacity)), np.int64)
                need = np.array(space.demands, np.int64).reshape(types, -1)
            room[p] = space.capacity
            for j in range(types):
                if space.most(j):
                    parts = zip(space.demands[j], space.capacity, strict=True)
                    share[p, j] = max(d / c for d, c in parts if d)
    ends = np.cumsum([len(t) for t in tables])
    rows = np.column_stack([ends - [len(t) for t in tables], ends]).astype(np.int64)
    return Oracle(
        np.concatenate(tables), rows, room, need, share, np.zeros(types, np.int32), np.zeros(room.shape[1], np.int64)
    )


@step
def heaviest(state: Any, pool: int) -> int:
    """Write a configuration of great weight for the queues as they are to ``best_``; return its weight."""
    types = len(state.waiting)
    if state.room.shape[1] > 0:
        return _greedily(state, pool)
    best, chosen = -1, -1
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
def _greedily(state: Any, pool: int) -> int:
    """Fill a server with the types of greatest weight per share, one type after another."""
    types = len(state.waiting)
    left = state.left_
    for r in range(len(left)):
        left[r] = state.room[pool, r]
    for j in range(types):
        state.best_[j] = -1
    weight = 0
    for _ in range(types):
        chosen = -1
        value = -1.0
        for j in range(types):
            if state.best_[j] < 0:
                worth = state.waiting[j] / state.share[pool, j]
                if worth > value:
                    chosen, value = j, worth
        most = 2**31 - 1
        for r in range(len(left)):
            if state.need[chosen, r] > 0:
                most = min(most, left[r] // state.need[chosen, r])
        for r in range(len(left)):
            left[r] -= most * state.need[chosen, r]
        state.best_[chosen] = most
        weight += most * state.waiting[chosen]
    return weight
