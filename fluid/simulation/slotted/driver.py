"""Runs of a slotted queue.

The loop fed with jobs and with room, in parts, so that it can be interrupted and watched.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.heap import Heap, enlarged, new_heap
from fluid.simulation.measures import bin_edges
from fluid.simulation.policy import Policy
from fluid.simulation.queue.driver import Run, cut
from fluid.simulation.runner import Runner
from fluid.simulation.slotted import loop
from fluid.simulation.slotted.loop import FINISHED, NEEDS_JOBS, NEEDS_ROOM, Coming, Places
from fluid.simulation.slotted.measures import SlottedMeasures, new_measures
from fluid.simulation.slotted.state import COUNT, FIRST, SOON, WAITING, with_places
from fluid.simulation.slotted.streams import SlotStream
from fluid.simulation.state import MOVES, State, copied

FUNCTIONS = ("place", "depart", "refresh")
"""What the loop calls of a policy."""

PART = 1 << 17
"""Slots visited between two looks at the clock on the wall; no part of what a seed means."""


def simulate_slots(
    policy: Policy,
    state: State,
    stream: SlotStream,
    until: int,
    warmup: int,
    seed: np.random.SeedSequence | int,
    *,
    group: NDArray[np.int32] | None = None,
    bins: int = 200,
    log: int = 0,
    compiled: bool = True,
    say: Callable[[float], None] | None = None,
    **others: Callable[..., Any],
) -> Run:
    """Run a slotted queue from an empty system to a horizon.

    Parameters
    ----------
    policy : Policy
        Of model ``slotted``.
    state : NamedTuple
        From ``policy.prepare``; copied, not changed.
    stream : SlotStream
    until, warmup : int
        Slots: the horizon, and from when averages are taken.
    seed : SeedSequence or int
        Of what the policy draws.
    group : int32[n], optional
        Groups of classes to be measured apart; one group where left out.
    bins, log, compiled, say, others
        As for `fluid.simulation.queue.driver.simulate_queue`.
    """
    draws = np.random.Generator(np.random.PCG64(seed))
    state = copied(state)
    edges, first = bin_edges(float(until), float(warmup), bins)
    groups = np.zeros(len(state.sizes), np.int32) if group is None else group
    measures = new_measures(edges, first, groups, log)
    places = Places(*(np.zeros(len(state.after), np.int64) for _ in range(2)))
    ends = new_heap(1024, np.int64)
    nothing = Coming(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(2, np.int64))
    begin = perf_counter()
    coming = _next_chunk(stream, nothing)
    drawing = perf_counter() - begin
    run = Runner(policy, loop.run, FUNCTIONS, others=others, compiled=compiled)
    run.ready(state, places, ends, coming, measures, draws)
    begin = perf_counter() - drawing
    try:
        while True:
            status = run(state, places, ends, coming, measures, draws, PART)
            if status == FINISHED:
                return Run(measures, state, perf_counter() - begin)
            if status == NEEDS_JOBS:
                coming = _next_chunk(stream, coming)
            elif status == NEEDS_ROOM:
                if len(ends.time) < ends.size[0] + state.counters[WAITING] + len(coming.slot):
                    ends = enlarged(ends)
                if len(state.after) <= state.counters[WAITING] + len(coming.slot):
                    room = 2 * (len(state.after) + len(coming.slot))
                    state = with_places(state, room)
                    places = Places(*(np.concatenate([a, np.zeros(room - len(a), np.int64)]) for a in places))
            if say is not None:
                say(float(measures.now[0]))
    except KeyboardInterrupt:
        if measures.bin[0] <= measures.first[0]:
            raise
        return Run(cut(measures), state, perf_counter() - begin, interrupted=True)


def _next_chunk(stream: SlotStream, before: Coming) -> Coming:
    chunk = next(stream, None)
    if chunk is None:
        return before._replace(at=np.array([len(before.slot), 1]))
    return Coming(chunk.slot, chunk.job_class, chunk.work, np.zeros(2, np.int64))


def conserve(state: State, places: Places, ends: Heap, measures: SlottedMeasures) -> None:
    """Assert what must hold after every slot (to be put in the place of ``observe``, in Python).

    Every job that came waits, is in service or has gone; lines, sets and trees agree; no server is over its capacity;
    the policy's moves are carried out.
    """
    classes = len(state.sizes)
    came, began, gone = (a.sum(axis=0) for a in (measures.arrivals, measures.starts, measures.ends))
    by_group = np.zeros((4, len(came)), np.int64)
    held = ends.what[: ends.size[0]]
    np.add.at(by_group[0], measures.group, state.lines[:, COUNT])
    np.add.at(by_group[1], measures.group[held % classes], 1)
    np.add.at(by_group[2], measures.group, state.lines[:, COUNT] * state.sizes)
    np.add.at(by_group[3], measures.group[held % classes], state.sizes[held % classes])
    assert (by_group == measures.inside).all(), "what is counted as inside is inside"
    assert (came - began == by_group[0]).all(), "jobs that came and did not start wait"
    assert (began - gone == by_group[1]).all(), "jobs that started and did not end are in service"
    assert state.done[MOVES] == 0
    assert state.counters[WAITING] == state.lines[:, COUNT].sum()
    used = np.zeros(len(state.free), np.int64)
    np.add.at(used, held // classes, state.sizes[held % classes])
    assert (state.capacity[0] - used == state.free).all(), "residuals are what the jobs in service leave"
    assert (state.free >= 0).all(), "no server is over its capacity"
    assert (np.bincount(held // classes, minlength=len(used)) == state.jobs).all()
    assert (ends.time[: len(held)] > measures.now[0]).all(), "whatever is due has ended"
    for c in range(classes):
        at, length, before = state.lines[c, FIRST], 0, -1
        while at >= 0:
            assert state.number[at] > before, "a line is in the order of arrival"
            before, at, length = state.number[at], state.after[at], length + 1
        assert length == state.lines[c, COUNT]
        assert bool(state.words[0, c >> 5] >> (c & 31) & 1) == (length > 0), "the set is that of the classes that wait"
    if len(state.queue_of):
        queues = np.zeros(len(state.queues), np.int64)
        np.add.at(queues, state.queue_of, state.lines[:, COUNT])
        assert (queues == state.queues).all(), "virtual queues are as long as their lines"
    assert state.done[SOON] in (0, 1)
