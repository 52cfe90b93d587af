"""The steps that all event loops share, over the names ``place``, ``depart``, ``refresh`` and ``transfer``.

``theory.jit.bound(loop, place=..., depart=..., refresh=..., transfer=...)`` makes the loop of one policy.
"""

from __future__ import annotations

from typing import Any

from fluid.simulation.measures import (
    ARRIVAL,
    DEPARTURE,
    MIGRATION,
    PREEMPTION,
    REFUSAL,
    Measures,
    note,
)
from fluid.simulation.policy import RESTLESS
from fluid.simulation.state import ASKS, MOVES, PATIENCE, REASSIGNED, Common, PolicyError, fits, most_calls, put, take
from theory.jit import step

GOES_ON, FINISHED, NEEDS_JOBS = 0, 1, 2
"""How a part of a run ends: another may follow, the horizon is reached, or the loop needs the stream's next jobs."""


@step
def place(state: Common, job_type: int, draws: Any) -> int:
    """Stand for the policy's own function."""
    return -1


@step
def depart(state: Common, server: int, job_type: int, draws: Any) -> None:
    """Stand for the policy's own function."""


@step
def refresh(state: Common, draws: Any) -> bool:
    """Stand for the policy's own function."""
    return False


@step
def transfer(jobs: Any, job_type: int, source: int, target: int) -> None:
    """Stand for what follows a moved job in the loop's own lists."""


@step
def observe(state: Common, jobs: Any, measures: Measures) -> None:
    """Look at the system after an event: nothing here, assertions in tests."""


@step
def carry_out(state: Common, jobs: Any, measures: Measures) -> None:
    """Follow the moves that the policy has made, count them, and clear them."""
    b = measures.bin[0]
    for row in range(state.done[MOVES]):
        job_type, source, target = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        transfer(jobs, job_type, source, target)
        if target < 0:
            measures.preempted[b, job_type] += 1
            note(measures, PREEMPTION, job_type, source, target)
        else:
            measures.migrations[b] += 1
            note(measures, MIGRATION, job_type, source, target)
    state.done[MOVES] = 0


@step
def settle(state: Common, jobs: Any, measures: Measures, draws: Any) -> None:
    """Let the policy refresh after an event."""
    calls = 0
    while True:
        again = refresh(state, draws)
        if state.done[MOVES] > 0:
            carry_out(state, jobs, measures)
        if not again:
            break
        calls += 1
        if calls > PATIENCE and calls > PATIENCE + most_calls(state):
            raise PolicyError(RESTLESS)
    measures.reassigned[measures.bin[0]] += state.done[REASSIGNED]
    state.done[REASSIGNED] = 0


@step
def try_to_place(state: Common, jobs: Any, measures: Measures, job_type: int, draws: Any) -> int:
    """Ask the policy for a server for an arriving job, and put the job there; -1 if it is refused."""
    b = measures.bin[0]
    measures.events[0] += 1
    measures.arrivals[b, job_type] += 1
    server = place(state, job_type, draws)
    if state.done[MOVES] > 0:
        carry_out(state, jobs, measures)
    if server < 0:
        note(measures, REFUSAL, job_type, -1, -1)
        return -1
    if server >= len(state.counts) or not fits(state, server, job_type):
        raise PolicyError("place: expected a server with room for the job, or -1")
    measures.accepted[b, job_type] += 1
    note(measures, ARRIVAL, job_type, server, -1)
    put(state, server, job_type)
    return server


@step
def end(state: Common, jobs: Any, measures: Measures, server: int, job_type: int, draws: Any) -> None:
    """Let a job leave its server."""
    measures.events[0] += 1
    note(measures, DEPARTURE, job_type, server, -1)
    take(state, server, job_type)
    depart(state, server, job_type, draws)
    if state.done[MOVES] > 0:
        carry_out(state, jobs, measures)


@step
def asks(state: Common) -> bool:
    """Return whether the policy must be extended from outside before the loop goes on."""
    return bool(state.done[ASKS] != 0)
