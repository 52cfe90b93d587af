"""The event loop of queues in continuous time, and its lists of jobs: the event list of those in service, and lines.

The waiting jobs of a type form a line, served in the order of their arrival. At equal times departures precede
arrivals, and both precede the rings of a policy's clocks. Times are in ticks (`fluid.simulation.ticks`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.simulation.loop import (
    FINISHED,
    GOING,
    NEEDS_JOBS,
    NEEDS_ROOM,
    Coming,
    depart,
    is_used_up,
    next_arrival,
    observe,
    ring,
    server_for,
    settle,
)
from fluid.simulation.measures import ARRIVAL, DEPARTURE, RING, START, Measures, advance, count_delay, note
from fluid.simulation.state import MOVES, OUTSIDE, PolicyError, QueueCommon, put, start, take
from fluid.simulation.structures.event_list import EventList, next_time, pop, push
from theory.compiled import step


class Lines(NamedTuple):
    """One line a type, with M places in all."""

    arrival: NDArray[np.float64]  # [M]: of the job at each place
    work: NDArray[np.float64]  # [M]
    after: NDArray[np.int64]  # [M]: the place behind each, or the next free place; -1 at the end
    first: NDArray[np.int64]  # [J]: ends of each line; -1 if it is empty
    last: NDArray[np.int64]
    free: NDArray[np.int64]  # [1]: the first free place; -1 if there is none


def new_lines(types: int, length: int = 1024) -> Lines:
    """Make empty lines.

    >>> lines = new_lines(2)
    >>> for arrival in (1.0, 2.0): join(lines, 1, arrival, 10.0)
    >>> [float(value) for value in leave(lines, 1)]
    [1.0, 10.0]
    """
    after = np.arange(1, length + 1)
    after[-1] = -1
    return Lines(
        np.zeros(length), np.zeros(length), after, np.full(types, -1), np.full(types, -1), np.zeros(1, np.int64)
    )


def longer_lines(lines: Lines) -> Lines:
    """Copy lines that are full into twice the memory."""
    length = len(lines.after)
    after = np.concatenate([lines.after, np.arange(length + 1, 2 * length + 1)])
    after[-1] = lines.free[0]
    arrival, work = (np.concatenate([a, np.zeros(length)]) for a in (lines.arrival, lines.work))
    return Lines(arrival, work, after, lines.first, lines.last, np.full(1, length))


@step
def join(lines: Lines, job_type: int, arrival: float, work: float) -> None:
    """Put a job at the end of its line; there must be a free place."""
    at = lines.free[0]
    lines.free[0] = lines.after[at]
    lines.arrival[at] = arrival
    lines.work[at] = work
    lines.after[at] = -1
    if lines.first[job_type] < 0:
        lines.first[job_type] = at
    else:
        lines.after[lines.last[job_type]] = at
    lines.last[job_type] = at


def fill(lines: Lines, types: NDArray[np.int32], works: NDArray[np.float64]) -> None:
    """Let jobs come at time 0 into new lines, as if each of them joined in turn."""
    count = len(types)
    lines.work[:count] = works
    lines.free[0] = lines.after[count - 1]  # the free places of new lines are in order
    for kind in np.unique(types):
        places = np.flatnonzero(types == kind)
        lines.after[places] = np.append(places[1:], -1)
        lines.first[kind], lines.last[kind] = places[0], places[-1]


@step
def leave(lines: Lines, job_type: int) -> tuple[float, float]:
    """Take the first job of a line; return its arrival and its work."""
    at = lines.first[job_type]
    lines.first[job_type] = lines.after[at]
    lines.after[at] = lines.free[0]
    lines.free[0] = at
    return lines.arrival[at], lines.work[at]


class Jobs(NamedTuple):
    """The loop's own lists."""

    ends: EventList  # jobs in service by the time at which they end, as ``server * J + type``
    lines: Lines  # jobs that wait


@step
def accumulate(measures: Measures, state: QueueCommon, b: int, length: float) -> None:
    """Add jobs that wait and jobs in service, over a length of time."""
    for j in range(len(state.totals)):
        measures.waiting[b, j] += length * state.waiting[j]
        measures.jobs[b, j] += length * state.totals[j]


@step
def next_ring(state: QueueCommon, rate: float, policy_rng: Any) -> int:
    """Return which of the policy's clocks rings, each with probability its share of `rate`, the sum of their rates."""
    level = policy_rng.random() * rate
    k = 0
    while k < len(state.clocks) - 1 and level >= state.clocks[k]:
        level -= state.clocks[k]
        k += 1
    return k


@step
def run(
    state: QueueCommon, jobs: Jobs, coming: Coming, measures: Measures, arrival_rng: Any, policy_rng: Any, most: int
) -> int:
    """Run a part (`fluid.simulation.loop`): `GOING`, `FINISHED`, `NEEDS_JOBS` or `NEEDS_ROOM`.

    The stream has drawn the jobs with their service times. O(log n) an event for n jobs in service, and what the policy
    takes. Clocks are exponential, so that their time may be drawn anew at every event.
    """
    types = len(state.totals)
    ends, lines = jobs
    for _ in range(most):
        if is_used_up(coming):
            return NEEDS_JOBS
        if lines.free[0] < 0 or ends.size[0] + len(state.moves) >= len(ends.time):
            return NEEDS_ROOM
        # the next event is the first of an arrival, a departure, and a ring of the policy's clocks
        arriving, ending, ringing = next_arrival(coming), next_time(ends, np.inf), np.inf
        rate = 0.0
        for k in range(len(state.clocks)):
            rate += state.clocks[k]
        if rate > 0.0:
            # the rates of clocks are per unit of time
            ringing = measures.now[0] + policy_rng.standard_exponential() / rate / measures.tick[0] * measures.tick[1]
        if not advance(measures, state, min(arriving, ending, ringing)):
            return FINISHED
        measures.events[0] += 1
        b = measures.bin[0]
        if ending <= arriving and ending <= ringing:
            what = pop(ends)
            server, j = what // types, what % types
            measures.ends[b, j] += 1
            note(measures, DEPARTURE, j, server, -1)
            take(state, server, j)
            depart(state, server, j, policy_rng)
        elif arriving <= ringing:
            row = coming.at[0]
            coming.at[0] = row + 1
            j = coming.types[row]
            measures.arrivals[b, j] += 1
            note(measures, ARRIVAL, j, -1, -1)
            server = server_for(state, j, policy_rng)
            if server < 0:
                state.waiting[j] += 1
                join(lines, j, arriving, coming.durations[row])
            else:
                put(state, server, j)
                begin(measures, ends, types, j, server, 0.0, coming.durations[row])
        else:
            clock = next_ring(state, rate, policy_rng)
            note(measures, RING, clock, -1, -1)
            ring(state, clock, policy_rng)
        settle(state, jobs, measures, policy_rng)
        observe(state, jobs, measures)
    return GOING


@step
def begin(
    measures: Measures, ends: EventList, types: int, job_type: int, server: int, delay: float, work: float
) -> None:
    """Let a job begin its service."""
    b = measures.bin[0]
    measures.starts[b, job_type] += 1
    measures.delay[b, job_type] += delay
    if b >= measures.first[0]:
        count_delay(measures.sketch, delay * measures.tick[0] / measures.tick[1])
    note(measures, START, job_type, server, -1)
    push(ends, measures.now[0] + work, server * types + job_type)


@step
def carry_out(state: QueueCommon, jobs: Jobs, measures: Measures) -> None:
    """Begin the service of the waiting jobs that the policy has started, and clear its moves."""
    for row in range(state.done[MOVES]):
        job_type, source, server = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        if source != OUTSIDE or server < 0:
            raise PolicyError("queue models", "expected moves from outside to a server only")
        arrival, work = leave(jobs.lines, job_type)
        begin(measures, jobs.ends, len(state.totals), job_type, server, measures.now[0] - arrival, work)
    state.done[MOVES] = 0


def open_queue(state: QueueCommon, jobs: Jobs, measures: Measures, draws: Any, waiting: JobList) -> None:
    """Let jobs wait at time 0 and the policy start what it can; run once, as Python.

    The jobs count as arrivals at time 0, in the order of the list; those of a type are served in it. The policy is
    asked for a server (``place``) for each type in turn, until it starts nothing more; where it gives one, the first
    job of the type begins there.
    """
    count = np.bincount(waiting.types, minlength=len(state.waiting))
    measures.events[0] += len(waiting.types)
    measures.arrivals[0] += count
    state.waiting[:] += count
    fill(jobs.lines, waiting.types, waiting.durations)
    for kind in waiting.types[: len(measures.log)].tolist():
        note(measures, ARRIVAL, kind, -1, -1)
    settle(state, jobs, measures, draws)
    # a job that starts may let one of another type start, so the types take turns until none does
    before = -1
    while before != state.waiting.sum():
        before = state.waiting.sum()
        for kind in np.flatnonzero(state.waiting).tolist():
            _start_all(state, jobs, measures, draws, kind)
    observe(state, jobs, measures)


@step
def _start_all(state: QueueCommon, jobs: Jobs, measures: Measures, draws: Any, kind: int) -> None:
    """Ask for servers for jobs of a type as long as some job starts."""
    before = -1
    while state.waiting[kind] > 0 and before != np.sum(state.waiting):
        before = np.sum(state.waiting)
        server = server_for(state, kind, draws)
        if server >= 0:
            state.waiting[kind] -= 1
            start(state, kind, server)
        settle(state, jobs, measures, draws)
