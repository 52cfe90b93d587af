"""The event loop of queues in continuous time, over the names ``place``, ``depart``, ``refresh`` and ``ring``.

``theory.jit.bound(run, place=..., depart=..., refresh=..., ring=...)`` makes the loop of one policy. Jobs come
from outside (`fluid.simulation.streams`); at equal times departures precede arrivals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.heap import Heap, pop, push
from fluid.simulation.policy import RESTLESS
from fluid.simulation.queue.lines import Lines, join, leave
from fluid.simulation.queue.measures import ARRIVAL, DEPARTURE, RING, START, QueueMeasures, advance, note
from fluid.simulation.sketch import count_delay
from fluid.simulation.state import MOVES, OUTSIDE, PATIENCE, PolicyError, fits, most_calls, put, take
from theory.jit import step

GOING, FINISHED, NEEDS_JOBS, NEEDS_ROOM = 0, 1, 2, 3
"""Why the loop returns."""


class Coming(NamedTuple):
    """The chunk of jobs that come next.

    Attributes
    ----------
    time : float64[n]
    type : int32[n]
    work : float64[n]
    at : int64[2]
        The next of them, and whether no chunk follows (1) or one may (0).
    """

    time: NDArray[np.float64]
    type: NDArray[np.int32]
    work: NDArray[np.float64]
    at: NDArray[np.int64]


class Jobs(NamedTuple):
    """The loop's own lists: the calendar of jobs in service and the lines of those that wait."""

    calendar: Heap
    lines: Lines


@step
def place(state: Any, job_type: int, draws: Any) -> int:
    """Stand for the policy's own function."""
    return -1


@step
def depart(state: Any, server: int, job_type: int, draws: Any) -> None:
    """Stand for the policy's own function."""


@step
def refresh(state: Any, draws: Any) -> bool:
    """Stand for the policy's own function."""
    return False


@step
def ring(state: Any, clock: int, draws: Any) -> None:
    """Stand for the policy's own function."""


@step
def observe(state: Any, jobs: Jobs, measures: QueueMeasures) -> None:
    """Look at the system after an event: nothing here, assertions in tests."""


@step
def run(state: Any, jobs: Jobs, coming: Coming, measures: QueueMeasures, draws: Any, most: int) -> int:
    """Run at most so many events; say why it stopped.

    Parameters
    ----------
    state : NamedTuple
        Of the policy whose functions the loop is bound to, with `waiting` and `clocks`.
    jobs : Jobs
    coming : Coming
    measures : QueueMeasures
    draws : numpy.random.Generator
        For clocks of the policy's own and what it draws; stopping and going on does not change the path.
    most : int

    Returns
    -------
    int
        `GOING`, `FINISHED`, `NEEDS_JOBS` (the chunk is used up) or `NEEDS_ROOM` (jobs or moves have no place left).

    Notes
    -----
    O(log n) an event for n jobs in service, and what the policy takes.
    """
    types = len(state.totals)
    calendar, lines = jobs
    for _ in range(most):
        cursor = coming.at[0]
        if cursor == len(coming.time) and coming.at[1] == 0:
            return NEEDS_JOBS
        if lines.free[0] < 0 or calendar.size[0] + len(state.moves) >= len(calendar.time):
            return NEEDS_ROOM
        arriving = coming.time[cursor] if cursor < len(coming.time) else np.inf
        ending = calendar.time[0] if calendar.size[0] > 0 else np.inf
        ringing = np.inf
        rate = 0.0
        for k in range(len(state.clocks)):
            rate += state.clocks[k]
        if rate > 0.0:
            ringing = measures.now[0] + draws.standard_exponential() / rate
        if not advance(measures, state, min(arriving, ending, ringing)):
            return FINISHED
        measures.events[0] += 1
        b = measures.bin[0]
        if ending <= arriving and ending <= ringing:
            what = pop(calendar)
            server, j = what // types, what % types
            measures.ends[b, j] += 1
            note(measures, DEPARTURE, j, server)
            take(state, server, j)
            depart(state, server, j, draws)
        elif arriving <= ringing:
            coming.at[0] = cursor + 1
            j = coming.type[cursor]
            measures.arrivals[b, j] += 1
            note(measures, ARRIVAL, j, -1)
            server = place(state, j, draws)
            if server < 0:
                state.waiting[j] += 1
                join(lines, j, arriving, coming.work[cursor])
            else:
                if server >= len(state.counts) or not fits(state, server, j):
                    raise PolicyError("place: expected a server with room for the job, or -1")
                put(state, server, j)
                begin(measures, calendar, types, j, server, 0.0, coming.work[cursor])
        else:
            level = draws.random() * rate
            k = 0
            while k < len(state.clocks) - 1 and level >= state.clocks[k]:
                level -= state.clocks[k]
                k += 1
            note(measures, RING, k, -1)
            ring(state, k, draws)
        calls = 0
        while True:
            carry_out(state, jobs, measures)
            if not refresh(state, draws):
                break
            calls += 1
            if calls > PATIENCE and calls > PATIENCE + most_calls(state):
                raise PolicyError(RESTLESS)
        carry_out(state, jobs, measures)
        observe(state, jobs, measures)
    return GOING


@step
def begin(
    measures: QueueMeasures, calendar: Heap, types: int, job_type: int, server: int, delay: float, work: float
) -> None:
    """Let a job begin its service."""
    b = measures.bin[0]
    measures.starts[b, job_type] += 1
    measures.delay[b, job_type] += delay
    if b >= measures.first[0]:
        count_delay(measures.sketch, delay)
    note(measures, START, job_type, server)
    push(calendar, measures.now[0] + work, server * types + job_type)


@step
def carry_out(state: Any, jobs: Jobs, measures: QueueMeasures) -> None:
    """Begin the service of the waiting jobs that the policy has started, and clear its moves."""
    for row in range(state.done[MOVES]):
        job_type, source, server = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        if source != OUTSIDE or server < 0:
            raise PolicyError("queue models: expected moves from outside to a server only")
        arrival, work = leave(jobs.lines, job_type)
        begin(measures, jobs.calendar, len(state.totals), job_type, server, measures.now[0] - arrival, work)
    state.done[MOVES] = 0
