"""The loop over slots, over the names ``place``, ``depart`` and ``refresh`` (see `fluid.simulation.slotted.state`).

Only slots in which a job comes or ends, or that the policy asks for, are visited.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.heap import Heap, pop, push
from fluid.simulation.policy import RESTLESS
from fluid.simulation.queue.measures import ARRIVAL, DEPARTURE, START, note
from fluid.simulation.sketch import count_delay
from fluid.simulation.slotted.measures import SlottedMeasures, advance
from fluid.simulation.slotted.state import FIRST, FREE, NEXT, SIZE, SOON, WAITING, begin, end, join
from fluid.simulation.state import MOVES, PATIENCE, PolicyError
from theory.jit import step

GOING, FINISHED, NEEDS_JOBS, NEEDS_ROOM = 0, 1, 2, 3
"""Why the loop returns."""

NEVER = 2**62


class Coming(NamedTuple):
    """The chunk of jobs that come next; all jobs of a slot stand in one chunk.

    Attributes
    ----------
    slot : int64[n]
    job_class : int32[n]
    work : int64[n]
        Slots in service, at least 1.
    at : int64[2]
        The next of them, and whether no chunk follows (1) or one may (0).
    """

    slot: NDArray[np.int64]
    job_class: NDArray[np.int32]
    work: NDArray[np.int64]
    at: NDArray[np.int64]


class Places(NamedTuple):
    """Of the waiting job at each place of the state: when it came and how long it is served."""

    arrival: NDArray[np.int64]
    work: NDArray[np.int64]


@step
def place(state: Any, job_class: int, draws: Any) -> int:
    """Stand for the policy's own function."""
    return -1


@step
def depart(state: Any, server: int, job_class: int, draws: Any) -> None:
    """Stand for the policy's own function."""


@step
def refresh(state: Any, draws: Any) -> bool:
    """Stand for the policy's own function."""
    return False


@step
def observe(state: Any, places: Places, ends: Heap, measures: SlottedMeasures) -> None:
    """Look at the system after a slot: nothing here, assertions in tests."""


@step
def run(
    state: Any, places: Places, ends: Heap, coming: Coming, measures: SlottedMeasures, draws: Any, most: int
) -> int:
    """Visit at most so many slots; say why it stopped.

    Parameters
    ----------
    state : NamedTuple
        Of the policy whose functions the loop is bound to.
    places : Places
    ends : Heap
        Jobs in service by the slot in which they end, as ``server * n + class``.
    coming : Coming
    measures : SlottedMeasures
    draws : numpy.random.Generator
    most : int

    Returns
    -------
    int
        `GOING`, `FINISHED`, `NEEDS_JOBS` (the chunk is used up) or `NEEDS_ROOM` (jobs have no place left).
    """
    classes = len(state.sizes)
    for _ in range(most):
        first = coming.at[0]
        if first == len(coming.slot) and coming.at[1] == 0:
            return NEEDS_JOBS
        slot = coming.slot[first] if first < len(coming.slot) else NEVER
        if ends.size[0] > 0 and ends.time[0] < slot:
            slot = ends.time[0]
        if state.done[SOON] != 0 and measures.now[0] + 1 < slot:
            slot = measures.now[0] + 1
        last = first
        while last < len(coming.slot) and coming.slot[last] == slot:
            last += 1
        if not has_room(state, ends, last - first):
            return NEEDS_ROOM
        if not advance(measures, slot):
            return FINISHED
        state.done[SOON] = 0
        b = measures.bin[0]
        while ends.size[0] > 0 and ends.time[0] == slot:
            what = pop(ends)
            server, job_class = what // classes, what % classes
            measures.events[0] += 1
            group = group_of(measures, job_class)
            measures.ends[b, group] += 1
            measures.inside[1, group] -= 1
            measures.inside[3, group] -= state.lines[job_class, SIZE]
            note(measures, DEPARTURE, job_class, server)
            end(state, job_class, server)
            depart(state, server, job_class, draws)
        number = state.counters[NEXT]
        for i in range(first, last):
            job_class = coming.job_class[i]
            measures.events[0] += 1
            group = group_of(measures, job_class)
            measures.arrivals[b, group] += 1
            measures.inside[0, group] += 1
            measures.inside[2, group] += state.lines[job_class, SIZE]
            note(measures, ARRIVAL, job_class, -1)
            at = join(state, job_class)
            places.arrival[at] = slot
            places.work[at] = coming.work[i]
        coming.at[0] = last
        calls, limit = 0, PATIENCE + 10 * (len(state.free) + state.counters[WAITING])
        while refresh(state, draws):
            carry_out(state, places, ends, measures)
            calls += 1
            if calls > limit:
                raise PolicyError(RESTLESS)
        carry_out(state, places, ends, measures)
        for i in range(first, last):
            job_class = coming.job_class[i]
            head = state.lines[job_class, FIRST]
            if head >= 0 and state.number[head] <= number + i - first:  # not started meanwhile
                server = place(state, job_class, draws)
                if server >= len(state.free):
                    raise PolicyError("place: expected a server with room for the job, or -1")
                if server >= 0:
                    begin(state, job_class, server)
                    carry_out(state, places, ends, measures)
        observe(state, places, ends, measures)
    return GOING


@step
def group_of(measures: SlottedMeasures, job_class: int) -> int:
    """Return the group of a class; the table is not looked up where there is one group."""
    return int(measures.group[job_class]) if measures.inside.shape[1] > 1 else 0


@step
def has_room(state: Any, ends: Heap, arrivals: int) -> bool:
    """Return whether so many more jobs, and all that wait, can be entered."""
    if ends.size[0] + state.counters[WAITING] + arrivals > len(ends.time):
        most = len(state.free) * (state.capacity[0] // state.sizes[0])
        if most > len(ends.time):
            return False
    return bool(state.counters[FREE] >= 0 and state.counters[WAITING] + arrivals < len(state.after))


@step
def carry_out(state: Any, places: Places, ends: Heap, measures: SlottedMeasures) -> None:
    """Enter the jobs that the policy has started, and clear its moves."""
    b = measures.bin[0]
    for row in range(state.done[MOVES]):
        job_class, at, server = state.moves[row, 0], state.moves[row, 1], state.moves[row, 2]
        delay = measures.now[0] - places.arrival[at]
        group = group_of(measures, job_class)
        measures.starts[b, group] += 1
        measures.delay[b, group] += delay
        measures.inside[0, group] -= 1
        measures.inside[1, group] += 1
        measures.inside[2, group] -= state.lines[job_class, SIZE]
        measures.inside[3, group] += state.lines[job_class, SIZE]
        if b >= measures.first[0]:
            count_delay(measures.sketch, delay)
        note(measures, START, job_class, server)
        push(ends, measures.now[0] + places.work[at], server * len(state.sizes) + job_class)
    state.done[MOVES] = 0
