"""The event list of jobs in service: a heap of four children a node, in arrays that grow from outside.

Events of one time come out in the order in which they went in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.jit import step


class Heap(NamedTuple):
    """Entries by time.

    Attributes
    ----------
    time : float64[N] or int64[N]
    number : int64[N]
        Order in which entries went in, which breaks ties.
    what : int64[N]
        What the caller has put there.
    size : int64[2]
        Entries held, and how many have ever gone in.
    """

    time: NDArray[Any]
    number: NDArray[np.int64]
    what: NDArray[np.int64]
    size: NDArray[np.int64]


def new_heap(room: int, kind: type[np.float64] | type[np.int64] = np.float64) -> Heap:
    """Make an empty heap.

    Examples
    --------
    >>> heap = new_heap(4)
    >>> for time, what in ((3.0, 30), (1.0, 10), (1.0, 11)): push(heap, time, what)
    >>> [int(pop(heap)) for _ in range(3)]
    [10, 11, 30]
    """
    return Heap(np.zeros(room, kind), np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(2, np.int64))


def enlarged(heap: Heap) -> Heap:
    """Copy a heap into twice the room."""
    time, number, what = (np.concatenate([a, np.zeros_like(a)]) for a in (heap.time, heap.number, heap.what))
    return Heap(time, number, what, heap.size)


@step
def push(heap: Heap, time: Any, what: int) -> None:
    """Add an entry; there must be room."""
    at = heap.size[0]
    number = heap.size[1]
    heap.size[0] = at + 1
    heap.size[1] = number + 1
    times = heap.time
    while at > 0:
        above = (at - 1) >> 2
        if times[above] <= time:
            break
        times[at] = times[above]
        heap.number[at] = heap.number[above]
        heap.what[at] = heap.what[above]
        at = above
    times[at] = time
    heap.number[at] = number
    heap.what[at] = what


@step
def pop(heap: Heap) -> int:
    """Remove the earliest entry and return what stood there."""
    first = heap.what[0]
    last = heap.size[0] - 1
    heap.size[0] = last
    times, numbers = heap.time, heap.number
    time, number, what = times[last], numbers[last], heap.what[last]
    at = 0
    while True:
        child = 4 * at + 1
        if child >= last:
            break
        best = child
        end = child + 4 if child + 4 < last else last
        for other in range(child + 1, end):
            if times[other] < times[best] or (times[other] == times[best] and numbers[other] < numbers[best]):
                best = other
        if time < times[best] or (time == times[best] and number < numbers[best]):
            break
        times[at] = times[best]
        numbers[at] = numbers[best]
        heap.what[at] = heap.what[best]
        at = best
    times[at] = time
    numbers[at] = number
    heap.what[at] = what
    return int(first)
