"""The event list of jobs in service: a heap with four children a node, in arrays that are enlarged from outside.

Entries with equal times come out in the order in which they went in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import step


class EventList(NamedTuple):
    """Entries by time."""

    time: NDArray[Any]  # float64[N], or int64[N] where times are slots
    number: NDArray[np.int64]  # [N]: the order in which entries went in, which breaks ties
    what: NDArray[np.int64]  # [N]: what the caller has put there
    size: NDArray[np.int64]  # [2]: entries held, and how many have ever gone in


def new_event_list(length: int, kind: type[np.float64] | type[np.int64] = np.float64) -> EventList:
    """Make an empty list; `kind` is the type of times.

    >>> events = new_event_list(4)
    >>> for time, what in ((3.0, 30), (1.0, 10), (1.0, 11)): push(events, time, what)
    >>> [int(pop(events)) for _ in range(3)]
    [10, 11, 30]
    """
    number, what = np.zeros((2, length), np.int64)
    return EventList(np.zeros(length, kind), number, what, np.zeros(2, np.int64))


def enlarged(events: EventList) -> EventList:
    """Copy a list into twice the memory."""
    time, number, what = (np.concatenate([a, np.zeros_like(a)]) for a in (events.time, events.number, events.what))
    return EventList(time, number, what, events.size)


@step
def next_time(events: EventList, never: float) -> Any:
    """Return the time of the earliest entry; `never`, of the type of times, where there is none."""
    return events.time[0] if events.size[0] > 0 else never


@step
def push(events: EventList, time: float, what: int) -> None:
    """Add an entry; there must be a free place."""
    at = events.size[0]
    number = events.size[1]
    events.size[0] = at + 1
    events.size[1] = number + 1
    times = events.time
    while at > 0:
        above = (at - 1) >> 2
        if times[above] <= time:
            break
        times[at] = times[above]
        events.number[at] = events.number[above]
        events.what[at] = events.what[above]
        at = above
    times[at] = time
    events.number[at] = number
    events.what[at] = what


@step
def _earliest(events: EventList, child: int) -> int:
    """Return the earliest of four neighbours: without branches but for ties, as none could be foreseen."""
    times = events.time
    # pairs first: a quarter quicker, over the whole of an event loop, than the loop of `_earliest_of`
    lower = child + int(times[child + 1] < times[child])
    upper = child + 2 + int(times[child + 3] < times[child + 2])
    best = upper if times[upper] < times[lower] else lower
    tied = (
        int(times[lower] == times[2 * child + 1 - lower])
        | int(times[upper] == times[2 * child + 5 - upper])
        | int(times[lower] == times[upper])
    )
    return _earliest_of(events, child, child + 4) if tied else best


@step
def _earliest_of(events: EventList, first: int, last: int) -> int:
    """Return the earliest of the entries from one up to another, or the next four; ties by what went in first."""
    times, numbers = events.time, events.number
    best = first
    for other in range(first + 1, min(first + 4, last)):
        if times[other] < times[best] or (times[other] == times[best] and numbers[other] < numbers[best]):
            best = other
    return best


@step
def pop(events: EventList) -> int:
    """Remove the earliest entry and return what stood there."""
    first = events.what[0]
    last = events.size[0] - 1
    events.size[0] = last
    times, numbers = events.time, events.number
    time, number, what = times[last], numbers[last], events.what[last]
    at = 0
    # the last entry sinks from the top: all entries above `at` are in order, and its place is free
    while True:
        child = 4 * at + 1
        if child >= last:
            break
        best = _earliest(events, child) if child + 3 < last else _earliest_of(events, child, last)
        if time < times[best] or (time == times[best] and number < numbers[best]):
            break
        times[at] = times[best]
        numbers[at] = numbers[best]
        events.what[at] = events.what[best]
        at = best
    times[at] = time
    numbers[at] = number
    events.what[at] = what
    return int(first)
