"""The jobs in service by the slot in which they end: each of the next slots has a list, all others share an event list.

The lists stand by the last bits of their slots, and a set says which of them are not empty. A job that is served for
fewer than `NEAR` slots goes to the end of a list, any other into the event list, and leaves from there. Both keep the
order in which jobs began, and a job in the event list began before those in the list of its slot, which were nearer to
it. So a job costs O(1) where it is served for fewer slots, and O(log n) otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.structures import event_list
from fluid.simulation.structures.bitset import discard, empty_sets, insert, least, least_from
from fluid.simulation.structures.event_list import EventList, new_event_list
from theory.compiled import step

WHAT, BEHIND = 0, 1
"""Columns of ``rows``."""

FIRST, LAST = 0, 1
"""Columns of ``near``."""

NEAR = 1024
"""Slots that have a list, a power of two: most jobs are served for fewer slots."""

NO_JOB = -1
"""What stands in a free row, and what `pop` returns where no job is left in a slot."""


class SlotEnds(NamedTuple):
    """Memory for N jobs in service."""

    far: EventList  # the rows of the jobs that are served for `NEAR` slots or more
    rows: NDArray[np.int64]  # [N, 2], of each job: what the caller has put there, and the row behind it, -1 for none
    near: NDArray[np.int64]  # [NEAR, 2]: the first row of each list, -1 if it is empty, and the last one
    words: NDArray[np.int64]  # the set of lists that are not empty (`fluid.simulation.structures.bitset`)
    levels: NDArray[np.int64]
    size: NDArray[np.int64]  # [2]: jobs held, and the first free row


def new_slot_ends(length: int) -> SlotEnds:
    """Make memory for a number of jobs, none in service.

    >>> ends = new_slot_ends(4)
    >>> for slot, what in ((3000, 7), (40, 8), (40, 9)): push(ends, 0, slot, what)
    >>> slot = 0
    >>> while ends.size[0]:
    ...     slot = next_slot(ends, slot, -1)
    ...     print(slot, [pop(ends, slot) for _ in range(3)])
    40 [8, 9, -1]
    3000 [7, -1, -1]
    """
    far, near, size = new_event_list(length, np.int64), np.full((NEAR, 2), -1), np.zeros(2, np.int64)
    return SlotEnds(far, _free_rows(0, length, -1), near, *empty_sets(1, NEAR), size)


def _free_rows(first: int, length: int, behind: int) -> NDArray[np.int64]:
    """Make rows from a number on, each of them followed by the next, and the last by another one."""
    return np.column_stack([np.full(length, NO_JOB), np.append(np.arange(first + 1, first + length), behind)])


def enlarged(ends: SlotEnds) -> SlotEnds:
    """Copy the jobs into twice the memory."""
    length = len(ends.rows)
    rows = np.concatenate([ends.rows, _free_rows(length, length, int(ends.size[1]))])
    ends.size[1] = length
    return ends._replace(far=event_list.enlarged(ends.far), rows=rows)


def in_service(ends: SlotEnds) -> NDArray[np.int64]:
    """Return what the caller has put there for the jobs in service, in no order."""
    jobs: NDArray[np.int64] = ends.rows[ends.rows[:, WHAT] != NO_JOB, WHAT]
    return jobs


@step
def next_slot(ends: SlotEnds, now: int, never: int) -> int:
    """Return the slot, not before the present one, in which the next job ends; `never` where no job is in service."""
    place = least_from(ends.words, ends.levels, 0, now & (NEAR - 1))
    if place < 0:  # those below the last bits of the present slot come after all above them
        place = least(ends.words, ends.levels, 0)
    if place < 0:
        return int(event_list.next_time(ends.far, never))
    slot = now + ((place - now) & (NEAR - 1))
    return int(min(slot, event_list.next_time(ends.far, slot)))


@step
def push(ends: SlotEnds, now: int, slot: int, what: int) -> None:
    """Add a job that begins now and ends in a later slot; there must be a free row."""
    row = ends.size[1]
    ends.size[0] += 1
    ends.size[1] = ends.rows[row, BEHIND]
    ends.rows[row, WHAT] = what
    ends.rows[row, BEHIND] = -1
    if slot - now >= NEAR:
        event_list.push(ends.far, slot, row)
        return
    place = slot & (NEAR - 1)
    if ends.near[place, FIRST] >= 0:
        ends.rows[ends.near[place, LAST], BEHIND] = row
    else:
        ends.near[place, FIRST] = row
        insert(ends.words, ends.levels, 0, place)
    ends.near[place, LAST] = row


@step
def pop(ends: SlotEnds, slot: int) -> int:
    """Take out the first job that ends in the present slot and return what stood there, or `NO_JOB`."""
    place = slot & (NEAR - 1)
    if event_list.next_time(ends.far, -1) == slot:
        row = event_list.pop(ends.far)
    elif ends.near[place, FIRST] >= 0:
        row = ends.near[place, FIRST]
        ends.near[place, FIRST] = ends.rows[row, BEHIND]
        if ends.rows[row, BEHIND] < 0:
            discard(ends.words, ends.levels, 0, place)
    else:
        return NO_JOB
    what = ends.rows[row, WHAT]
    ends.rows[row, WHAT] = NO_JOB
    ends.rows[row, BEHIND] = ends.size[1]
    ends.size[0] -= 1
    ends.size[1] = row
    return int(what)
