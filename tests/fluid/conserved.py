"""What must hold after every event of a queue, and after every slot: `watch` of runs in tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.measures import Measures
from fluid.simulation.slotted.loop import CLASS_BITS, NEVER
from fluid.simulation.slotted.state import (
    BEHIND,
    CLASS,
    COUNT,
    FIRST,
    SOON,
    USED,
    WAITING,
    has_arrivals,
    has_fronts,
    has_lengths,
)
from fluid.simulation.state import MOVES
from fluid.simulation.structures.searches import NOTHING
from fluid.simulation.structures.slot_ends import in_service, next_slot


def conserve_queue(state: Any, jobs: Any, measures: Measures) -> None:
    """Assert what must hold after every event.

    Every job that came waits, is in service or has gone; lines and queues agree; no server is over its capacity; the
    policy's moves are carried out; nobody's clock goes back.
    """
    waiting = measures.arrivals.sum(axis=0) - measures.starts.sum(axis=0)
    serving = measures.starts.sum(axis=0) - measures.ends.sum(axis=0)
    assert (waiting == state.waiting).all(), "jobs that came and did not start wait"
    assert (serving == state.totals).all(), "jobs that started and did not end are in service"
    assert (state.counts.sum(axis=0) == state.totals).all(), "the totals are those of the servers"
    assert (state.counts >= 0).all()
    assert (state.free >= 0).all(), "no server is over its capacity"
    assert state.done[MOVES] == 0
    assert jobs.ends.size[0] == state.totals.sum(), "each job in service has its end in the calendar"
    held = jobs.ends.what[: jobs.ends.size[0]]
    assert (np.bincount(held, minlength=state.counts.size) == state.counts.ravel()).all()
    assert (jobs.ends.time[: len(held)] >= measures.now[0]).all()
    for j, expected in enumerate(state.waiting):
        at, length, before = jobs.lines.first[j], 0, -1.0
        while at >= 0:
            assert jobs.lines.arrival[at] >= before, "a line is in the order of arrival"
            before = float(jobs.lines.arrival[at])
            at, length = jobs.lines.after[at], length + 1
        assert length == expected


def conserve_slots(state: Any, jobs: Any, measures: Measures) -> None:
    """Assert what must hold after every slot.

    Every job that came waits, is in service or has gone; lines, sets and trees agree; no server is over its capacity;
    the policy's moves are carried out.
    """
    classes, ends = len(state.sizes), jobs.ends
    where, kinds = np.divmod(in_service(ends), 1 << CLASS_BITS)
    came, began, gone = (a.sum(axis=0) for a in (measures.arrivals, measures.starts, measures.ends))
    by_group = np.zeros((4, len(came)), np.int64)
    np.add.at(by_group[0], measures.group, state.lines[:, COUNT])
    np.add.at(by_group[1], measures.group[kinds], 1)
    np.add.at(by_group[2], measures.group, state.lines[:, COUNT] * state.sizes)
    np.add.at(by_group[3], measures.group[kinds], state.sizes[kinds])
    assert (by_group == measures.inside).all(), "what is counted as inside is inside"
    assert (came - began == by_group[0]).all(), "jobs that came and did not start wait"
    assert (began - gone == by_group[1]).all(), "jobs that started and did not end are in service"
    assert state.done[MOVES] == 0
    assert state.counters[WAITING] == state.lines[:, COUNT].sum()
    used = np.zeros(len(state.free), np.int64)
    np.add.at(used, where, state.sizes[kinds])
    assert (state.capacity[0] - used == state.free).all(), "residuals are what the jobs in service leave"
    assert (state.free >= 0).all(), "no server is over its capacity"
    assert (np.bincount(where, minlength=len(used)) == state.jobs).all()
    assert len(where) == ends.size[0]
    assert next_slot(ends, NEVER) > measures.now[0], "whatever is due has ended"
    for c in range(classes):
        at, length, before = state.lines[c, FIRST], 0, -1
        while at >= 0:
            assert state.number[at] > before, "a line is in the order of arrival"
            before, at, length = state.number[at], state.after[at], length + 1
        assert length == state.lines[c, COUNT]
        assert bool(state.words[0, c >> 5] >> (c & 31) & 1) == (length > 0), "the set is that of the classes that wait"
    if has_lengths(state):
        queues = np.zeros(len(state.queues), np.int64)
        np.add.at(queues, state.queue_of, state.lines[:, COUNT])
        assert (queues == state.queues).all(), "virtual queues are as long as their lines"
    if has_arrivals(state):
        assert_in_arrival(state)
    if has_fronts(state):
        assert_in_order(state)
    assert state.done[SOON] in (0, 1)


def assert_in_arrival(state: Any) -> None:
    """Assert that the jobs in the order of arrival are those that wait."""
    used, leaves = int(state.counters[USED]), len(state.arrived) >> 1
    values = state.arrived[leaves:]
    line = []
    for c in range(len(state.sizes)):
        at = state.lines[c, FIRST]
        while at >= 0:
            line.append((int(state.number[at]), c))
            at = state.after[at]
    assert [-value for value in values if value != NOTHING] == [c for _, c in sorted(line)]
    assert (values[used:] == NOTHING).all()
    for node in range(1, leaves):
        assert state.arrived[node] == state.arrived[2 * node : 2 * node + 2].max()


def assert_in_order(state: Any) -> None:
    """Assert that virtual queues hold the jobs of their classes in the order of arrival, where that is kept."""
    for queue, (first, last) in enumerate(state.fronts.tolist()):
        classes, at, before = [], first, -1
        while at >= 0:
            assert state.number[at] > before, "a virtual queue is in the order of arrival"
            classes.append(int(state.order[at, CLASS]))
            before, at, end = int(state.number[at]), int(state.order[at, BEHIND]), at
        assert last == (end if classes else -1)
        in_queue = state.queue_of == queue
        held = np.bincount(np.array(classes, np.int64), minlength=len(state.sizes))
        assert (held == np.where(in_queue, state.lines[:, COUNT], 0)).all()
