"""The jobs in service by the slot in which they end: jobs that end in one slot share an entry of the event list.

They stand in a chain in the order in which they went in, and leave in that order. A job is put behind the last one of
its slot where that is remembered: by the last bits of the slot, so that a slot may be forgotten for another one. Then
it has a second entry, whose jobs all came later than those of the first, and the event list breaks ties by what went in
first. So a job costs O(1) where many end in one slot, and O(log n) otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.structures.event_list import EventList, new_event_list, next_time
from fluid.simulation.structures.event_list import enlarged as longer
from fluid.simulation.structures.event_list import pop as take_first
from fluid.simulation.structures.event_list import push as enter
from theory.compiled import step

WHAT, BEHIND = 0, 1
"""Columns of ``rows``."""

SLOT, ROW = 0, 1
"""Columns of ``recent``."""

RECENT = 1024
"""Slots that are remembered, a power of two: most jobs are served for fewer slots."""

NO_JOB = -1
"""What stands in a free row."""


class SlotEnds(NamedTuple):
    """Memory for N jobs in service."""

    slots: EventList  # what the earliest slot has there is the first row of its chain
    rows: NDArray[np.int64]  # [N, 2], of each job: what the caller has put there, and the row behind it, -1 for none
    recent: NDArray[np.int64]  # [RECENT, 2]: a slot, and the last row of its chain
    size: NDArray[np.int64]  # [2]: jobs held, and the first free row


def new_slot_ends(length: int) -> SlotEnds:
    """Make memory for a number of jobs, none in service.

    >>> ends = new_slot_ends(4)
    >>> for slot, what in ((3000, 7), (40, 8), (40, 9)): push(ends, slot, what)
    >>> while ends.size[0]: print(next_slot(ends, -1), pop(ends))
    40 8
    40 9
    3000 7
    """
    recent = np.full((RECENT, 2), -1)
    return SlotEnds(new_event_list(length, np.int64), _free_rows(0, length, -1), recent, np.zeros(2, np.int64))


def _free_rows(first: int, length: int, behind: int) -> NDArray[np.int64]:
    """Make rows from a number on, each of them followed by the next, and the last by another one."""
    return np.column_stack([np.full(length, NO_JOB), np.append(np.arange(first + 1, first + length), behind)])


def enlarged(ends: SlotEnds) -> SlotEnds:
    """Copy the jobs into twice the memory."""
    length = len(ends.rows)
    rows = np.concatenate([ends.rows, _free_rows(length, length, int(ends.size[1]))])
    ends.size[1] = length
    return SlotEnds(longer(ends.slots), rows, ends.recent, ends.size)


def in_service(ends: SlotEnds) -> NDArray[np.int64]:
    """Return what the caller has put there for the jobs in service, in no order."""
    jobs: NDArray[np.int64] = ends.rows[ends.rows[:, WHAT] != NO_JOB, WHAT]
    return jobs


@step
def next_slot(ends: SlotEnds, never: int) -> int:
    """Return the slot in which the next job ends; `never` where no job is in service."""
    return int(next_time(ends.slots, never))


@step
def push(ends: SlotEnds, slot: int, what: int) -> None:
    """Add a job that ends in a slot, later than those that have been taken out; there must be a free row."""
    row = ends.size[1]
    ends.size[0] += 1
    ends.size[1] = ends.rows[row, BEHIND]
    ends.rows[row, WHAT] = what
    ends.rows[row, BEHIND] = -1
    place = slot & (RECENT - 1)
    if ends.recent[place, SLOT] == slot:
        ends.rows[ends.recent[place, ROW], BEHIND] = row
    else:
        enter(ends.slots, slot, row)
        ends.recent[place, SLOT] = slot
    ends.recent[place, ROW] = row


@step
def pop(ends: SlotEnds) -> int:
    """Take out the first job of the earliest slot, of which there must be one, and return what stood there."""
    row = ends.slots.what[0]
    what, behind = ends.rows[row, WHAT], ends.rows[row, BEHIND]
    if behind >= 0:
        ends.slots.what[0] = behind
    else:
        take_first(ends.slots)
    ends.rows[row, WHAT] = NO_JOB
    ends.rows[row, BEHIND] = ends.size[1]
    ends.size[0] -= 1
    ends.size[1] = row
    return int(what)
