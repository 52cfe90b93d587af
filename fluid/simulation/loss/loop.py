"""The event loops of loss systems: a jump chain for Poisson arrivals and exponential service, an event list otherwise.

Both run over the names of `fluid.simulation.loop`, and over ``transfer``, which follows a moved job in the loop's own
lists. Of simultaneous events departures come first. Times of an event list are in ticks (`fluid.simulation.ticks`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loop import (
    FINISHED,
    GOING,
    NEEDS_JOBS,
    Coming,
    depart,
    is_used_up,
    next_arrival,
    observe,
    server_for,
    settle,
)
from fluid.simulation.loss.jobs import Calendar, Urn, add_job, draw_job, schedule, take_next
from fluid.simulation.measures import (
    ARRIVAL,
    DEPARTURE,
    MIGRATION,
    PREEMPTION,
    REFUSAL,
    Measures,
    advance,
    note,
)
from fluid.simulation.state import ASKS, MOVES, REASSIGNED, Common, PolicyError, put, take, wide
from fluid.simulation.structures.event_list import next_time
from theory.compiled import routine, step


class Rates(NamedTuple):
    """What comes next in a jump chain."""

    arrival: NDArray[np.float64]  # [J]: arrivals of each type per unit time, all servers together
    service: NDArray[np.float64]  # [J]: the rate at which each job ends


@step
def transfer(jobs: Any, job_type: int, source: int, target: int) -> None:
    """Stand for what follows a moved job in the loop's own lists."""


@step
def accumulate(measures: Measures, state: Common, b: int, length: float) -> None:
    """Add jobs in service and slots held ready, over a length of time."""
    for j in range(len(state.totals)):
        measures.jobs[b, j] += length * state.totals[j]
        measures.slots[b, j] += length * state.slots[j]


@routine
def carry_out(state: Common, jobs: Any, measures: Measures) -> None:
    """Follow the moves that the policy has made, count them, and clear them."""
    if not jobs.moves_jobs:
        raise PolicyError("refresh", "expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")
    b = measures.bin[0]
    for row in range(state.done[MOVES]):
        job_type, source, target = wide(state.moves[row, 0]), wide(state.moves[row, 1]), wide(state.moves[row, 2])
        if source < 0:
            raise PolicyError("refresh", "expected moves and stops only, in a loss system no job waits to start")
        transfer(jobs, job_type, source, target)
        if target < 0:
            measures.preempted[b, job_type] += 1
            note(measures, PREEMPTION, job_type, source, target)
        else:
            measures.migrations[b] += 1
            note(measures, MIGRATION, job_type, source, target)
    state.done[MOVES] = 0


@step
def count_reassigned(state: Common, measures: Measures) -> None:
    """Count the servers that the policy has reassigned after an event."""
    measures.reassigned[measures.bin[0]] += state.done[REASSIGNED]
    state.done[REASSIGNED] = 0


@step
def try_to_place(state: Common, jobs: Any, measures: Measures, job_type: int, draws: Any) -> int:
    """Ask the policy for a server for an arriving job, and put the job there; -1 if it is refused."""
    b = measures.bin[0]
    measures.events[0] += 1
    measures.arrivals[b, job_type] += 1
    server = server_for(state, job_type, draws)
    if state.done[MOVES] > 0:  # jobs that were stopped for this one
        carry_out(state, jobs, measures)
    if server < 0:
        note(measures, REFUSAL, job_type, -1, -1)
        return -1
    measures.starts[b, job_type] += 1
    note(measures, ARRIVAL, job_type, server, -1)
    put(state, server, job_type)
    return server


@step
def leave(state: Common, measures: Measures, server: int, job_type: int) -> None:
    """Let a job leave its server."""
    measures.events[0] += 1
    note(measures, DEPARTURE, job_type, server, -1)
    take(state, server, job_type)


@step
def leaving_type(state: Common, rates: Rates, level: float) -> int:
    """Return the type of the job that leaves, by a level between 0 and the rate at which jobs leave."""
    j = 0
    while j < len(rates.service) - 1 and level >= state.totals[j] * rates.service[j]:
        level -= state.totals[j] * rates.service[j]
        j += 1
    while state.totals[j] == 0:  # rounding at the very end of the scale
        j -= 1
    return j


@step
def jump_chain(
    state: Common, urn: Urn, rates: Rates, measures: Measures, arrival_rng: Any, policy_rng: Any, most: int
) -> int:
    """Run a part of a jump chain (`fluid.simulation.loop`): `FINISHED` or `GOING`.

    The urn has memory for `most` more jobs of each type. An event draws three numbers of the arrivals: holding time,
    which type, which job. It takes O(J) and what the policy takes; nothing grows with the number of servers.
    """
    types = len(rates.arrival)
    arriving = 0.0
    for j in range(types):
        arriving += rates.arrival[j]
    for _ in range(most):
        # the chain leaves its state at rate sum_j (L lambda_j + Y_j mu_j)
        total = arriving
        for j in range(types):
            total += state.totals[j] * rates.service[j]
        if total <= 0.0:
            advance(measures, state, np.inf)
            return FINISHED
        holding, level = arrival_rng.standard_exponential() / total, arrival_rng.random() * total
        if not advance(measures, state, measures.now[0] + holding):
            return FINISHED
        if level < arriving:
            j = 0
            while j < types - 1 and level >= rates.arrival[j]:
                level -= rates.arrival[j]
                j += 1
            server = try_to_place(state, urn, measures, j, policy_rng)
            if server >= 0:
                add_job(urn, j, server)
        else:
            j = leaving_type(state, rates, level - arriving)
            server = draw_job(urn, state, j, arrival_rng)
            leave(state, measures, server, j)
            depart(state, server, j, policy_rng)
        # the moves that the policy makes as a job departs are carried out before it refreshes
        settle(state, urn, measures, policy_rng)
        count_reassigned(state, measures)
        if state.done[ASKS] != 0:
            return GOING
        observe(state, urn, measures)
    return GOING


@step
def event_list(
    state: Common, calendar: Calendar, coming: Coming, measures: Measures, arrival_rng: Any, policy_rng: Any, most: int
) -> int:
    """Run a part of an event list (`fluid.simulation.loop`): `FINISHED`, `NEEDS_JOBS` or `GOING`.

    The calendar has memory for `most` more jobs. The stream has drawn the jobs with their service times: two policies
    with equal seeds see the same jobs. O(log n + J) an event with n jobs in service, and what the policy takes.
    """
    for _ in range(most):
        if is_used_up(coming):
            return NEEDS_JOBS
        arrival, departure = next_arrival(coming), next_time(calendar.ends, np.inf)
        if departure <= arrival:
            if departure == np.inf or not advance(measures, state, departure):
                advance(measures, state, np.inf)
                return FINISHED
            job = take_next(calendar)
            server, j = wide(calendar.server[job]), wide(calendar.kind[job])
            if server < 0:  # it was stopped
                continue
            leave(state, measures, server, j)
            depart(state, server, j, policy_rng)
        else:
            if not advance(measures, state, arrival):
                return FINISHED
            row = coming.at[0]
            coming.at[0] = row + 1
            j = wide(coming.types[row])
            server = try_to_place(state, calendar, measures, j, policy_rng)
            if server >= 0:
                schedule(calendar, arrival + coming.durations[row], j, server)
        settle(state, calendar, measures, policy_rng)
        count_reassigned(state, measures)
        if state.done[ASKS] != 0:
            return GOING
        observe(state, calendar, measures)
    return GOING
