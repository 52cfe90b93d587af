"""Dynamic reservation with preemption: a refused job of higher priority stops jobs of priority 0, smallest first."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.policies.bitset import discard, empty_sets, insert, least
from fluid.policies.reservation import answer, arrays, drained, settled
from fluid.policies.reservation import depart as depart_by_reservation
from fluid.policies.reservation import place as place_by_reservation
from fluid.policies.reservation import refresh as refresh_by_reservation
from fluid.policies.slots import freed
from fluid.policy import MOVES, Policy, Setting, stop
from theory.compiled import step
from theory.errors import InputError
from theory.instance import Additive
from theory.numbers import to_integers


class PreemptionState(NamedTuple):
    """The state of dynamic reservation, and which types can be preempted.

    ``priority`` and ``size`` by type; ``victims`` lists the types of priority 0 from the smallest; ``held`` holds the
    servers with a job of each victim type.
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
    rows: NDArray[np.int32]
    configurations: NDArray[np.int32]
    number: NDArray[np.int64]
    effective: NDArray[np.int64]
    newest: NDArray[np.int32]
    oldest: NDArray[np.int32]
    border: NDArray[np.int32]
    lists: NDArray[np.int32]
    words: NDArray[np.int64]
    levels: NDArray[np.int64]
    stage: NDArray[np.int32]
    plan: NDArray[np.int64]
    stages: NDArray[np.int64]
    unmatched: NDArray[np.int64]
    changed: NDArray[np.int64]
    reserve: NDArray[np.int64]
    worst_first: NDArray[np.int64]
    plan_: NDArray[np.int64]
    need_: NDArray[np.int64]
    sets_: NDArray[np.int64]
    known_: NDArray[np.int32]
    touched_: NDArray[np.int64]
    priority: NDArray[np.int64]
    size: NDArray[np.int64]
    victims: NDArray[np.int64]
    held: NDArray[np.int64]
    held_levels: NDArray[np.int64]


def prepare(setting: Setting) -> PreemptionState:
    """Make the state; option ``priority`` gives each type's, a whole number of at least 0.

    The size of a type is the largest share of a resource that it takes, as the paper has it.
    """
    made = arrays(setting)
    ids = made.pop("ids")
    instance = setting.instance
    given = setting.options.get("priority")
    if given is None or set(given) != set(instance.names):
        raise InputError(f"simulation.priority: expected a priority for each of {', '.join(instance.names)}")
    priority = np.array([given[name] for name in instance.names], np.int64)
    space = instance.pools[0].space
    if not isinstance(space, Additive):
        raise InputError("--policy dra-preemption: expected a server with capacity, whose types have sizes")
    whole, _ = to_integers(
        [max(Fraction(d, c) for d, c in zip(row, space.capacity, strict=True) if c) for row in space.demands]
    )
    size = np.array(whole, np.int64)
    victims = np.array(sorted(np.flatnonzero(priority == 0).tolist(), key=lambda j: (whole[j], j)), np.int64)
    held, levels = empty_sets(len(victims), setting.servers)
    for row, j in enumerate(victims):
        for server in np.flatnonzero(made["counts"][:, j]).tolist():
            insert(held, levels, row, server)
    state = PreemptionState(**made, priority=priority, size=size, victims=victims, held=held, held_levels=levels)
    ready: PreemptionState = settled(setting, state, ids, refresh_by_reservation, answer)
    return ready


@step
def _follow(state: PreemptionState, server: int, j: int) -> None:
    """Bring the set of servers that hold a victim type up to date."""
    for row in range(len(state.victims)):
        if state.victims[row] == j:
            if state.counts[server, j] > 0:
                insert(state.held, state.held_levels, row, server)
            else:
                discard(state.held, state.held_levels, row, server)


@step
def place(state: PreemptionState, job_type: int, draws: Any) -> int:
    """Place as dynamic reservation does; where that refuses a job of priority above 0, stop jobs of priority 0.

    Stops the smallest first, from drained servers before others, until their total size reaches g(L) times the size of
    the refused job, or none is left.
    """
    server = place_by_reservation(state, job_type, draws)
    if server >= 0 or state.priority[job_type] == 0:
        return server
    wanted = state.reserve[0] * state.size[job_type]
    stopped = 0
    for row in range(len(state.victims)):
        j = state.victims[row]
        while stopped < wanted and state.totals[j] > 0 and state.done[MOVES] < len(state.moves):
            source = drained(state, j)
            if source < 0:
                source = least(state.held, state.held_levels, row)
            stop(state, j, source)
            freed(state, source, j)
            _follow(state, source, j)
            state.changed[0] = 1
            stopped += state.size[j]
    return -1


@step
def depart(state: PreemptionState, server: int, job_type: int, draws: Any) -> None:
    """Let dynamic reservation pull a job in; follow who holds victims."""
    depart_by_reservation(state, server, job_type, draws)
    _follow(state, server, job_type)
    if state.done[MOVES] > 0:
        _follow(state, state.moves[0, 1], job_type)


@step
def refresh(state: PreemptionState, draws: Any) -> bool:
    """Classify and reassign; follow who holds victims."""
    if state.touched_[0] >= 0:
        _follow(state, state.touched_[0], state.touched_[1])
    return bool(refresh_by_reservation(state, draws))


DRA_PREEMPTION = Policy(
    "dra-preemption",
    "loss",
    prepare,
    place,
    depart,
    refresh,
    moves_jobs=True,
    reserves=True,
    answer=answer,
    about="dynamic reservation that stops jobs of priority 0 when one of higher priority is refused",
)
