"""The loop over slots; only slots are visited in which a job comes or ends, or that the policy asks for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loop import (
    FINISHED,
    GOING,
    NEEDS_JOBS,
    NEEDS_ROOM,
    NO_SERVER,
    Coming,
    depart,
    observe,
    place,
    settle,
)
from fluid.simulation.measures import ARRIVAL, DEPARTURE, START, Measures, advance, bucket_of, note
from fluid.simulation.slotted.ends import (
    HELD,
    NEVER,
    PRESENT,
    SOONEST,
    Ends,
    class_of,
    go_on,
    push,
    release,
    server_of,
    size_of,
    take_due,
)
from fluid.simulation.slotted.state import (
    FIRST,
    NEXT,
    SIZE,
    SOON,
    WAITING,
    SlottedCommon,
    begin,
    join,
    leave,
)
from fluid.simulation.state import MOVES, PolicyError
from theory.jit import step

SHORT = 4096
"""Slots; the logarithms of shorter delays are taken once."""

ARRIVAL_SLOT, WORK = 0, 1
"""Columns of ``waiting``."""


class Jobs(NamedTuple):
    """The loop's own lists.

    Attributes
    ----------
    ends : Ends
        Jobs in service by the slot in which they end.
    waiting : int64[M, 2]
        Of the waiting job at each place of the state: when it came and how long it is served, side by side.
    buckets : int64[SHORT]
        Where each delay below `SHORT` is counted (`fluid.simulation.measures.bucket_of`), -1 until that is known.
    """

    ends: Ends
    waiting: NDArray[np.int64]
    buckets: NDArray[np.int64]


@step
def accumulate(measures: Measures, state: SlottedCommon, b: int, length: float) -> None:
    """Add the jobs that wait, those in service, and the sizes of both, over a length of time."""
    _accumulate(measures, b, 0, length)  # apart: most runs have one group, and a loop of one turn costs as much again
    for g in range(1, measures.inside.shape[1]):
        _accumulate(measures, b, g, length)


@step
def _accumulate(measures: Measures, b: int, g: int, length: float) -> None:
    measures.waiting[b, g] += length * measures.inside[0, g]
    measures.jobs[b, g] += length * measures.inside[1, g]
    measures.load[b, g] += length * measures.inside[2, g]
    measures.busy[b, g] += length * measures.inside[3, g]


@step
def most_calls(state: SlottedCommon) -> int:
    """Return how often ``refresh`` may return True in one slot beyond `PATIENCE`: ten times a server and a job."""
    jobs = len(state.free) + state.counters[WAITING]
    for server in range(len(state.jobs)):
        jobs += state.jobs[server]
    return int(10 * jobs)


@step
def run(
    state: SlottedCommon, jobs: Jobs, coming: Coming, measures: Measures, arrival_rng: Any, policy_rng: Any, most: int
) -> int:
    """Visit at most so many slots; say why it stopped.

    Parameters
    ----------
    state : NamedTuple
        Of the policy whose functions the loop is bound to.
    jobs : Jobs
    coming : Coming
        All jobs of a slot stand in one chunk.
    measures : Measures
    arrival_rng : numpy.random.Generator
        Not used: the stream has drawn already.
    policy_rng : numpy.random.Generator
        What the policy draws from.
    most : int
        Cutting a run into parts does not change its path.

    Returns
    -------
    int
        `GOING`, `FINISHED`, `NEEDS_JOBS` (the chunk is used up) or `NEEDS_ROOM` (jobs have no place left).
    """
    ends, edges = jobs.ends, measures.edges
    first, left = coming.at[0], most
    certain = first + spare(state, ends)
    while left > 0:
        b = measures.bin[0]
        if b == len(edges) - 1:
            return FINISHED
        now, end = measures.now[0], edges[b + 1]
        while left > 0:  # the slots of a bin: a compiler then looks its row of every measure up once
            if first == len(coming.times) and coming.at[1] == 0:
                return NEEDS_JOBS
            come = coming.times[first] if first < len(coming.times) else NEVER
            due = ends.counts[SOONEST]
            slot = min(come, due)
            if state.done[SOON] != 0:
                slot = min(slot, ends.counts[PRESENT] + 1)
            last = first
            if come == slot:
                last = end_of_slot(coming.times, first)
                if last > certain:
                    certain = first + spare(state, ends)
                    if last > certain:
                        return NEEDS_ROOM
            if slot >= end:
                if not advance(measures, state, end):
                    return FINISHED
                break
            accumulate(measures, state, b, slot - now)
            now = slot
            measures.now[0] = slot
            go_on(ends, slot)
            state.done[SOON] = 0
            if due == slot:
                departures(state, ends, measures, b, policy_rng)
            number = state.counters[NEXT]
            if last > first:
                arrivals(state, jobs, coming, measures, b, first, last)
                coming.at[0] = last
            settle(state, jobs, measures, policy_rng)
            newcomers(state, jobs, coming.types[first:last], number, measures, policy_rng)
            observe(state, jobs, measures)
            first = last
            left -= 1
    return GOING


@step
def end_of_slot(times: NDArray[np.int64], first: int) -> int:
    """Return the place behind the last job that comes in the slot of the first."""
    last = first + 1
    while last < len(times) and times[last] == times[first]:
        last += 1
    return last


@step
def departures(state: SlottedCommon, ends: Ends, measures: Measures, b: int, policy_rng: Any) -> None:
    """Let the jobs leave that end in the present slot, of which there are some."""
    row = take_due(ends)
    while row >= 0:
        server, job_class, size = server_of(ends, row), class_of(ends, row), size_of(ends, row)
        row = release(ends, row)
        measures.events[0] += 1
        group = group_of(measures, job_class)
        measures.ends[b, group] += 1
        measures.inside[1, group] -= 1
        measures.inside[3, group] -= size
        note(measures, DEPARTURE, job_class, server, -1)
        leave(state, server, size)
        depart(state, server, job_class, policy_rng)


@step
def arrivals(
    state: SlottedCommon, jobs: Jobs, coming: Coming, measures: Measures, b: int, first: int, last: int
) -> None:
    """Let the jobs of a slot join their lines."""
    measures.events[0] += last - first
    slot = coming.times[first]
    for i in range(first, last):
        job_class = int(coming.types[i])
        group = group_of(measures, job_class)
        measures.arrivals[b, group] += 1
        measures.inside[0, group] += 1
        measures.inside[2, group] += state.lines[job_class, SIZE]
        note(measures, ARRIVAL, job_class, -1, -1)
        at = join(state, job_class)
        jobs.waiting[at, ARRIVAL_SLOT] = slot
        jobs.waiting[at, WORK] = coming.durations[i]


@step
def newcomers(
    state: SlottedCommon, jobs: Jobs, classes: NDArray[np.int32], number: int, measures: Measures, draws: Any
) -> None:
    """Let the policy place the jobs that have come in a slot, the first of them with a number, and still wait."""
    for i in range(len(classes)):
        job_class = classes[i]
        head = state.lines[job_class, FIRST]
        if head >= 0 and state.number[head] <= number + i:  # not started meanwhile
            server = place(state, job_class, draws)
            if server >= len(state.free):
                raise PolicyError(NO_SERVER)
            if server >= 0:
                begin(state, job_class, server)
                carry_out(state, jobs, measures)


@step
def no_newcomers(
    state: SlottedCommon, jobs: Jobs, classes: NDArray[np.int32], number: int, measures: Measures, draws: Any
) -> None:
    """Stand for `newcomers` under policies that leave them to ``refresh``: there is less to compile."""


@step
def group_of(measures: Measures, job_class: int) -> int:
    """Return the group of a class; the table is not looked up where there is one group."""
    return int(measures.group[job_class]) if measures.inside.shape[1] > 1 else 0


@step
def spare(state: SlottedCommon, ends: Ends) -> int:
    """Return how many more jobs can be entered beside all that wait."""
    waiting = state.counters[WAITING]
    places = len(state.after) - 1 - waiting
    if len(state.free) * (state.capacity[0] // state.sizes[0]) <= len(ends.rows):
        return int(places)
    return int(min(places, len(ends.rows) - ends.counts[HELD] - waiting))


@step
def carry_out(state: SlottedCommon, jobs: Jobs, measures: Measures) -> None:
    """Enter the jobs that the policy has started, and clear its moves."""
    b, now = measures.bin[0], jobs.ends.counts[PRESENT]
    for row in range(state.done[MOVES]):
        job_class, at = state.moves[row, 0], state.moves[row, 1]
        server, size = state.moves[row, 2], state.lines[job_class, SIZE]
        delay = now - jobs.waiting[at, ARRIVAL_SLOT]
        group = group_of(measures, job_class)
        measures.starts[b, group] += 1
        measures.delay[b, group] += delay
        measures.inside[0, group] -= 1
        measures.inside[1, group] += 1
        measures.inside[2, group] -= size
        measures.inside[3, group] += size
        if b >= measures.first[0]:
            count_slots(measures.sketch, jobs.buckets, delay)
        note(measures, START, job_class, server, -1)
        push(jobs.ends, now + jobs.waiting[at, WORK], server, job_class, size)
    state.done[MOVES] = 0


@step
def count_slots(sketch: NDArray[np.int64], buckets: NDArray[np.int64], delay: int) -> None:
    """Count a delay of whole slots; the buckets of short ones are computed once."""
    if delay >= len(buckets):
        sketch[bucket_of(sketch, delay)] += 1
        return
    if buckets[delay] < 0:
        buckets[delay] = bucket_of(sketch, delay)
    sketch[buckets[delay]] += 1
