"""Dynamic reservation with preemption: a refused job of higher priority stops jobs of priority 0, smallest first.

Where the text leaves a choice: the job for which others are stopped stays lost, the stops make slots for those that
come after it (option ``trigger = "served"``: emptied servers are first given what the unmatched stage of the last plan
lacks, and the job takes a slot if there is one then); CRA runs once, after all stops; a refused job stops as many jobs
as the state has rows of moves for (4,096) at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np

from fluid.simulation.loss.policies.dra import (
    ReservationOptions,
    ReservationState,
    answer,
    drained_server,
    match_first_unmatched,
    reservation_arrays,
    settled_state,
)
from fluid.simulation.loss.policies.dra import depart as depart_by_reservation
from fluid.simulation.loss.policies.dra import place as place_by_reservation
from fluid.simulation.loss.policies.dra import refresh as refresh_by_reservation
from fluid.simulation.loss.policies.greedy_stages import CHANGED
from fluid.simulation.loss.policies.slot_lists import follow_freed_slot
from fluid.simulation.options import options_of
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import MOVES, Common, Setting, over_servers, state_type, stop
from fluid.simulation.structures.bitset import discard, empty_sets, insert, least
from theory.compiled import step
from theory.errors import ArgumentError
from theory.files.record import Expected, Range
from theory.instance import Additive
from theory.numbers import to_integers


@dataclass(frozen=True)
class PreemptionOptions(ReservationOptions):
    """The options of dynamic reservation with preemption."""

    priority: Annotated[
        Mapping[str, int],
        Range(0),
        Expected("a priority, 0 the lowest"),
        "the priority of each type; jobs of priority 0 can be stopped",
    ] = field(kw_only=True)
    trigger: Annotated[
        Literal["lost", "served"], "what becomes of the job for which others are stopped: lost or served"
    ] = "lost"


PreemptionState = state_type(
    __name__, "PreemptionState", ReservationState._fields,
    "priority", "size", "serves", "victims", "held", "held_levels",
)  # fmt: skip
"""The state of dynamic reservation, and which types can be preempted: ``priority`` and ``size`` int64[J];
``serves`` whether the job that they are stopped for is; ``victims`` lists the types of priority 0 from the smallest;
``held``, ``held_levels``: the servers with a job of each victim type (`fluid.simulation.structures.bitset`)."""


def prepare(setting: Setting) -> Any:
    """Make the state.

    The size of a type is the largest share of a resource that it takes, as the paper has it.
    """
    instance = setting.instance
    if len(instance.pools) > 1:
        raise ArgumentError(
            "policy dra-preemption",
            f"expected one pool of servers, got {len(instance.pools)}; --policy dra takes several, without preemption",
        )
    fields = reservation_arrays(setting)
    ids = fields.pop("ids")
    options = options_of(PreemptionOptions, setting.options, instance.names)
    priority = np.array([options.priority[name] for name in instance.names], np.int64)
    space = instance.pools[0].space
    if not isinstance(space, Additive):
        raise ArgumentError("policy dra-preemption", "expected a server with capacity, whose types have sizes")
    # sizes max_r d_jr / c_r as multiples of one unit
    sizes, _ = to_integers(
        [max(Fraction(d, c) for d, c in zip(row, space.capacity, strict=True) if c) for row in space.demands]
    )
    victims = sorted(np.flatnonzero(priority == 0).tolist(), key=lambda j: (sizes[j], j))
    held, levels = empty_sets(len(victims), setting.servers)
    insert_into = over_servers(insert, setting.servers)
    for row, j in enumerate(victims):
        for server in np.flatnonzero(fields["counts"][:, j]).tolist():
            insert_into(held, levels, row, server)
    state = PreemptionState(
        **fields,
        priority=priority,
        size=np.array(sizes, np.int64),
        serves=np.full(1, options.trigger == "served", np.int64),
        victims=np.array(victims, np.int64),
        held=held,
        held_levels=levels,
    )
    return settled_state(setting, state, ids)


@step
def _follow(state: Any, server: int, j: int) -> None:
    """Bring the set of servers that hold a victim type up to date."""
    for row in range(len(state.victims)):
        if state.victims[row] == j:
            if state.counts[server, j] > 0:
                insert(state.held, state.held_levels, row, server)
            else:
                discard(state.held, state.held_levels, row, server)


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Place as dynamic reservation does; where that refuses a job of priority above 0, stop jobs of priority 0.

    Stops the smallest first, from drained servers before others, until their total size reaches g(L) times the size of
    the refused job, or none is left.
    """
    server = place_by_reservation(state, job_type, draws)
    if server >= 0 or state.priority[job_type] == 0:
        return server
    # room for g(L) jobs like this one
    wanted = state.reserve[0] * state.size[job_type]
    stopped = 0
    for row in range(len(state.victims)):
        j = state.victims[row]
        while stopped < wanted and state.totals[j] > 0 and state.done[MOVES] < len(state.moves):
            # out of the reject group first, where the job would have to leave anyway
            source = drained_server(state, j)
            if source < 0:
                source = least(state.held, state.held_levels, row)
            stop(state, j, source)
            follow_freed_slot(state, source, j)
            _follow(state, source, j)
            state.numbers[CHANGED] += 1
            stopped += state.size[j]
    if stopped == 0 or not state.serves[0]:
        return -1
    match_first_unmatched(state)
    return place_by_reservation(state, job_type, draws)


@step
def depart(state: Common, server: int, job_type: int, draws: Any) -> None:
    """Let dynamic reservation pull a job in; follow who holds victims."""
    depart_by_reservation(state, server, job_type, draws)
    _follow(state, server, job_type)
    if state.done[MOVES] > 0:  # the job that was pulled in has left another server
        _follow(state, state.moves[0, 1], job_type)


@step
def refresh(state: Any, draws: Any) -> bool:
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
    record=PreemptionOptions,
)
