"""Waiting jobs: for each type a line, first come first served, of linked places in arrays that grow from outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.jit import step


class Lines(NamedTuple):
    """One line a type.

    Attributes
    ----------
    arrival, work : float64[M]
        Of the job at each place.
    after : int64[M]
        The place behind it, or the next free place; -1 at the end.
    first, last : int64[J]
        Ends of each line; -1 if it is empty.
    free : int64[1]
        The first free place; -1 if there is none.
    """

    arrival: NDArray[np.float64]
    work: NDArray[np.float64]
    after: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    free: NDArray[np.int64]


def new_lines(types: int, room: int = 1024) -> Lines:
    """Make empty lines.

    Examples
    --------
    >>> lines = new_lines(2)
    >>> for arrival in (1.0, 2.0): join(lines, 1, arrival, 10.0)
    >>> leave(lines, 1)
    (1.0, 10.0)
    """
    after = np.arange(1, room + 1)
    after[-1] = -1
    return Lines(np.zeros(room), np.zeros(room), after, np.full(types, -1), np.full(types, -1), np.zeros(1, np.int64))


def enlarged(lines: Lines) -> Lines:
    """Copy lines that are full into twice the room."""
    room = len(lines.after)
    after = np.concatenate([lines.after, np.arange(room + 1, 2 * room + 1)])
    after[-1] = lines.free[0]
    arrival, work = (np.concatenate([a, np.zeros(room)]) for a in (lines.arrival, lines.work))
    return Lines(arrival, work, after, lines.first, lines.last, np.full(1, room))


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


@step
def leave(lines: Lines, job_type: int) -> tuple[float, float]:
    """Take the first job of a line; return its arrival and its work."""
    at = lines.first[job_type]
    lines.first[job_type] = lines.after[at]
    lines.after[at] = lines.free[0]
    lines.free[0] = at
    return lines.arrival[at], lines.work[at]
