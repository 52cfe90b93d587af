"""Jobs with a time at which they end: a binary heap, and where needed lists of the jobs of each server and type."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.jit import step


class Calendar(NamedTuple):
    """Room for N jobs; a job keeps its number while it is in service.

    Attributes
    ----------
    due : float64[N]
        When each job ends.
    server, kind : int32[N]
        Where it runs and its type; server -1 for one that was stopped and still stands in the heap.
    heap : int32[N]
        Jobs, the next to end first.
    size : int64[1]
        Jobs in the heap.
    unused : int32[N]
        Free numbers; the first N - size are in use as a stack.
    after, before : int32[N]
        Neighbours in the list of the server and type.
    first : int32[L, J]
        Heads of those lists; L = 0 where the policy moves no jobs.
    """

    due: NDArray[np.float64]
    server: NDArray[np.int32]
    kind: NDArray[np.int32]
    heap: NDArray[np.int32]
    size: NDArray[np.int64]
    unused: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    first: NDArray[np.int32]


def new_calendar(room: int, servers: int, types: int, *, moves_jobs: bool) -> Calendar:
    """Make an empty calendar with room for so many jobs."""
    room = max(room, 1024)
    return Calendar(
        np.zeros(room),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(1, np.int64),
        np.arange(room - 1, -1, -1, dtype=np.int32),
        np.full(room, -1, np.int32),
        np.full(room, -1, np.int32),
        np.full((servers if moves_jobs else 0, types), -1, np.int32),
    )


def enlarged(calendar: Calendar) -> Calendar:
    """Copy a calendar with twice the room."""
    room = len(calendar.due)
    grown = new_calendar(2 * room, len(calendar.first), calendar.first.shape[1], moves_jobs=True)
    for name in ("due", "server", "kind", "heap", "after", "before"):
        getattr(grown, name)[:room] = getattr(calendar, name)
    left = room - int(calendar.size[0])
    grown.unused[:room] = np.arange(2 * room - 1, room - 1, -1)
    grown.unused[room : room + left] = calendar.unused[:left]
    grown.size[:] = calendar.size
    return grown._replace(first=calendar.first)


@step
def schedule(calendar: Calendar, due: float, job_type: int, server: int) -> None:
    """Enter a job that ends at a time."""
    size = calendar.size[0]
    job = calendar.unused[len(calendar.due) - size - 1]
    calendar.due[job] = due
    calendar.kind[job] = job_type
    if len(calendar.first) > 0:
        _link(calendar, job, server)
    calendar.server[job] = server
    at = size
    while at > 0:
        above = (at - 1) >> 1
        other = calendar.heap[above]
        if calendar.due[other] <= due:
            break
        calendar.heap[at] = other
        at = above
    calendar.heap[at] = job
    calendar.size[0] = size + 1


@step
def next_end(calendar: Calendar) -> float:
    """Return when the next job ends, infinite if there is none."""
    return float(calendar.due[calendar.heap[0]]) if calendar.size[0] > 0 else np.inf


@step
def pop(calendar: Calendar) -> int:
    """Remove the next job to end and return its number, which stays readable until the next `schedule`."""
    job = calendar.heap[0]
    size = calendar.size[0] - 1
    calendar.size[0] = size
    calendar.unused[len(calendar.due) - size - 1] = job
    last = calendar.heap[size]
    due = calendar.due[last]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and calendar.due[calendar.heap[below + 1]] < calendar.due[calendar.heap[below]]:
            below += 1
        other = calendar.heap[below]
        if due <= calendar.due[other]:
            break
        calendar.heap[at] = other
        at = below
    calendar.heap[at] = last
    if len(calendar.first) > 0 and calendar.server[job] >= 0:
        _unlink(calendar, job)
    return int(job)


@step
def _link(calendar: Calendar, job: int, server: int) -> None:
    head = calendar.first[server, calendar.kind[job]]
    calendar.after[job] = head
    calendar.before[job] = -1
    if head >= 0:
        calendar.before[head] = job
    calendar.first[server, calendar.kind[job]] = job


@step
def _unlink(calendar: Calendar, job: int) -> None:
    after, before = calendar.after[job], calendar.before[job]
    if after >= 0:
        calendar.before[after] = before
    if before >= 0:
        calendar.after[before] = after
    else:
        calendar.first[calendar.server[job], calendar.kind[job]] = after


@step
def transfer(calendar: Calendar, job_type: int, source: int, target: int) -> None:
    """Move the job of a type that came to a server last, or stop it; a moved job ends when it would have."""
    job = calendar.first[source, job_type]
    _unlink(calendar, job)
    calendar.server[job] = target
    if target >= 0:
        _link(calendar, job, target)
