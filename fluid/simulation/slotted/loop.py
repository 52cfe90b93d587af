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
from fluid.simulation.measures import ARRIVAL, DEPARTURE, START, Measures, advance, count_delay, note
from fluid.simulation.slotted.state import (
    FIRST,
    NEXT,
    SOON,
    WAITING,
    SlottedCommon,
    begin,
    class_size,
    end,
    join,
)
from fluid.simulation.state import MOVES, PolicyError
from fluid.simulation.structures.slot_ends import SlotEnds, next_slot, pop, push
from theory.compiled import step

NEVER = 2**62
"""The slot of the next arrival, or end, where there is none."""

ARRIVAL_SLOT, WORK = 0, 1
"""Columns of ``waiting``."""

CLASS_BITS = 32
"""Bits of a class among those of a job in service."""


class Jobs(NamedTuple):
    """The loop's own lists."""

    ends: SlotEnds  # jobs in service by the slot in which they end, as ``(server << CLASS_BITS) + class``
    waiting: NDArray[np.int64]  # [M, 2], of the job at each place: when it came and how long it is served, side by side


@step
def accumulate(measures: Measures, state: SlottedCommon, b: int, length: float) -> None:
    """Add the jobs that wait, those in service, and the sizes of both, over a length of time."""
    for g in range(measures.inside.shape[1]):
        measures.waiting[b, g] += length * measures.inside[0, g]
        measures.jobs[b, g] += length * measures.inside[1, g]
        measures.load[b, g] += length * measures.inside[2, g]
        measures.busy[b, g] += length * measures.inside[3, g]


@step
def most_calls(state: SlottedCommon) -> int:
    """Return how often ``refresh`` may return True in one slot beyond `MOST_REQUESTS`: ten times a server and a job."""
    jobs = len(state.free) + state.counters[WAITING]
    for server in range(len(state.jobs)):
        jobs += state.jobs[server]
    return int(10 * jobs)


@step
def run(
    state: SlottedCommon, jobs: Jobs, coming: Coming, measures: Measures, arrival_rng: Any, policy_rng: Any, most: int
) -> int:
    """Visit at most `most` slots (`fluid.simulation.loop`): `GOING`, `FINISHED`, `NEEDS_JOBS` or `NEEDS_ROOM`.

    All jobs of a slot stand in one chunk, drawn with their service times, so that `arrival_rng` is not used.
    """
    for _ in range(most):
        first = coming.at[0]
        if first == len(coming.times) and coming.at[1] == 0:
            return NEEDS_JOBS
        slot = min(next_arrival(coming), next_slot(jobs.ends, NEVER))
        if state.done[SOON] != 0:
            slot = min(slot, int(measures.now[0]) + 1)
        last = end_of_slot(coming.times, first, slot)
        if last - first > spare_places(state, jobs.ends):
            return NEEDS_ROOM
        if not advance(measures, state, slot):
            return FINISHED
        state.done[SOON] = 0
        b, number = measures.bin[0], state.counters[NEXT]
        departures(state, jobs.ends, measures, b, slot, policy_rng)
        arrivals(state, jobs, coming, measures, b, first, last)
        coming.at[0] = last
        settle(state, jobs, measures, policy_rng)
        newcomers(state, jobs, coming.types[first:last], number, measures, policy_rng)
        observe(state, jobs, measures)
    return GOING


@step
def next_arrival(coming: Coming) -> int:
    """Return the slot in which the next job comes."""
    first = coming.at[0]
    return int(coming.times[first]) if first < len(coming.times) else NEVER


@step
def end_of_slot(times: NDArray[np.int64], first: int, slot: int) -> int:
    """Return the place behind the last job that comes in a slot, of those from `first` on."""
    last = first
    while last < len(times) and times[last] == slot:
        last += 1
    return last


@step
def spare_places(state: SlottedCommon, ends: SlotEnds) -> int:
    """Return how many more jobs can come: all that wait then may be in service later."""
    waiting = state.counters[WAITING]
    return int(min(len(state.after) - 1 - waiting, len(ends.rows) - ends.size[0] - waiting))


@step
def departures(state: SlottedCommon, ends: SlotEnds, measures: Measures, b: int, slot: int, policy_rng: Any) -> None:
    """Let the jobs leave that end in a slot, in the order in which they began."""
    while next_slot(ends, NEVER) == slot:
        what = pop(ends)
        server, job_class = what >> CLASS_BITS, what & ((1 << CLASS_BITS) - 1)
        group = group_of(measures, job_class)
        measures.events[0] += 1
        measures.ends[b, group] += 1
        measures.inside[1, group] -= 1
        measures.inside[3, group] -= class_size(state, job_class)
        note(measures, DEPARTURE, job_class, server, -1)
        end(state, job_class, server)
        depart(state, server, job_class, policy_rng)


@step
def arrivals(
    state: SlottedCommon, jobs: Jobs, coming: Coming, measures: Measures, b: int, first: int, last: int
) -> None:
    """Let the jobs of a slot join their lines."""
    measures.events[0] += last - first
    for i in range(first, last):
        job_class = int(coming.types[i])
        group = group_of(measures, job_class)
        measures.arrivals[b, group] += 1
        measures.inside[0, group] += 1
        measures.inside[2, group] += class_size(state, job_class)
        note(measures, ARRIVAL, job_class, -1, -1)
        at = join(state, job_class)
        jobs.waiting[at, ARRIVAL_SLOT] = coming.times[i]
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
def group_of(measures: Measures, job_class: int) -> int:
    """Return the group of a class; the table is not looked up where there is one group."""
    return int(measures.group[job_class]) if measures.inside.shape[1] > 1 else 0


@step
def carry_out(state: SlottedCommon, jobs: Jobs, measures: Measures) -> None:
    """Enter the jobs that the policy has started, and clear its moves."""
    b, now = measures.bin[0], int(measures.now[0])
    for row in range(state.done[MOVES]):
        job_class, at, server = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        delay, size = now - jobs.waiting[at, ARRIVAL_SLOT], class_size(state, job_class)
        group = group_of(measures, job_class)
        measures.starts[b, group] += 1
        measures.delay[b, group] += delay
        measures.inside[0, group] -= 1
        measures.inside[1, group] += 1
        measures.inside[2, group] -= size
        measures.inside[3, group] += size
        if b >= measures.first[0]:
            count_delay(measures.sketch, delay)
        note(measures, START, job_class, server, -1)
        push(jobs.ends, now + jobs.waiting[at, WORK], (server << CLASS_BITS) + job_class)
    state.done[MOVES] = 0
