"""The jobs in service by the slot in which they end: a radix heap, whose steps take constant time.

A slot after the present one has the same leading digits of base 1024 as that one, down to the first digit in which the
two differ. The place of this digit and its value in the later slot name the bucket of the slot. When time goes on, only
one bucket changes: the one with the new present slot in it. Its jobs agree with the new present slot in at least one
digit more, and are dealt out again. So a job moves at most once for each digit of its service time, and the jobs that
end in the present slot are alone in their bucket of the last digit. Buckets are lists in the order in which jobs came,
and are dealt out in that order, so the jobs that end in one slot leave in the order in which they began.

Source: Ahuja, Mehlhorn, Orlin and Tarjan, Faster algorithms for the shortest path problem, J. ACM 37 (1990).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.structures.bitset import discard, empty_sets, highest_bit, insert, least
from theory.compiled import routine, step

DIGIT = 10
"""Bits of a digit: most jobs end within 1024 slots, and then they are never moved."""

VALUES = 1 << DIGIT

DIGITS = 7
"""Digits of a slot: more than 62 bits."""

BEHIND, SLOT, SERVER, CLASS = 0, 1, 2, 3
"""Columns of ``rows``."""

FIRST, LAST, EARLIEST = 0, 1, 2
"""Columns of ``buckets``."""

IN_SERVICE, UNUSED, PRESENT, SOONEST = 0, 1, 2, 3
"""Places in ``counts``."""

NEVER = 2**62
"""The slot in which the next job ends where none is in service."""


class Ends(NamedTuple):
    """Memory for N jobs in service."""

    # [N, 4], of each job: the next one in its bucket (or the next unused row, -1 for none), the slot in which it ends,
    # its server and its class
    rows: NDArray[np.int64]
    # [7 * 1024, 3], of each digit and value: the first and the last job, -1 for none, and the earliest slot in which
    # one of them ends
    buckets: NDArray[np.int64]
    words: NDArray[np.int64]  # of each digit the set of values whose buckets hold jobs (`structures.bitset`)
    levels: NDArray[np.int64]
    counts: NDArray[np.int64]  # [4]: see `IN_SERVICE`


def new_ends(length: int) -> Ends:
    """Make memory for jobs, none in service, in slot 0.

    >>> ends = new_ends(4)
    >>> for slot, server in ((3000, 7), (40, 8), (40, 9)): push(ends, slot, server, 0)
    >>> while ends.counts[IN_SERVICE]:
    ...     slot = int(ends.counts[SOONEST])
    ...     go_on(ends, slot)
    ...     row = take_due(ends)
    ...     while row >= 0:
    ...         print(slot, ends.rows[row, SERVER])
    ...         row = release(ends, row)
    40 8
    40 9
    3000 7
    """
    rows = np.zeros((length, 4), np.int64)
    rows[:, BEHIND] = np.append(np.arange(1, length), -1)
    words, levels = empty_sets(DIGITS, VALUES)
    return Ends(rows, np.full((DIGITS * VALUES, 3), -1), words, levels, np.array([0, 0, 0, NEVER]))


def enlarged(ends: Ends, length: int) -> Ends:
    """Copy the jobs into memory for more."""
    before = len(ends.rows)
    more = np.zeros((length - before, 4), np.int64)
    more[:, BEHIND] = np.append(np.arange(before + 1, length), ends.counts[UNUSED])
    ends.counts[UNUSED] = before
    return ends._replace(rows=np.concatenate([ends.rows, more]))


@step
def _digit_of(slot: int, present: int) -> int:
    """Return the first digit in which a slot differs from the present one, 0 for the present slot itself."""
    return highest_bit((slot ^ present) | 1) // DIGIT


@step
def _value_of(slot: int, digit: int) -> int:
    """Return the value of a digit of a slot."""
    return (slot >> (DIGIT * digit)) & (VALUES - 1)


@step
def _hang(ends: Ends, row: int, slot: int) -> None:
    """Put a row at the end of the bucket of its slot."""
    digit = _digit_of(slot, ends.counts[PRESENT])
    value = _value_of(slot, digit)
    bucket = VALUES * digit + value
    last = ends.buckets[bucket, LAST]
    if last >= 0:
        ends.rows[last, BEHIND] = row
        ends.buckets[bucket, EARLIEST] = min(ends.buckets[bucket, EARLIEST], slot)
    else:
        insert(ends.words, ends.levels, digit, value)
        ends.buckets[bucket, FIRST] = row
        ends.buckets[bucket, EARLIEST] = slot
    ends.buckets[bucket, LAST] = row
    ends.rows[row, BEHIND] = -1


@step
def _emptied(ends: Ends, digit: int, value: int) -> int:
    """Take all rows out of a bucket; return the first of them, -1 if there is none."""
    bucket = VALUES * digit + value
    row = ends.buckets[bucket, FIRST]
    if row >= 0:
        ends.buckets[bucket, FIRST] = -1
        ends.buckets[bucket, LAST] = -1
        discard(ends.words, ends.levels, digit, value)
    return int(row)


@step
def push(ends: Ends, slot: int, server: int, job_class: int) -> None:
    """Add a job that ends in a slot, not before the present one; there must be an unused row."""
    row = ends.counts[UNUSED]
    ends.counts[UNUSED] = ends.rows[row, BEHIND]
    ends.counts[IN_SERVICE] += 1
    ends.rows[row, SLOT] = slot
    ends.rows[row, SERVER] = server
    ends.rows[row, CLASS] = job_class
    ends.counts[SOONEST] = min(ends.counts[SOONEST], slot)
    _hang(ends, row, slot)


@step
def go_on(ends: Ends, slot: int) -> None:
    """Let a slot be the present one; no job may end before it."""
    digit = _digit_of(slot, ends.counts[PRESENT])
    ends.counts[PRESENT] = slot
    if digit > 0:
        _deal_out(ends, digit, _value_of(slot, digit))


@routine
def _deal_out(ends: Ends, digit: int, value: int) -> None:
    """Put the jobs of a bucket, in their order, into those that the present slot gives them."""
    row = _emptied(ends, digit, value)
    while row >= 0:
        behind = ends.rows[row, BEHIND]
        _hang(ends, row, ends.rows[row, SLOT])
        row = behind


@step
def take_due(ends: Ends) -> int:
    """Take out the jobs that end in the present slot; return the row of the first, -1 if there is none.

    Each row stays readable until it is released.
    """
    row = _emptied(ends, 0, _value_of(ends.counts[PRESENT], 0))
    ends.counts[SOONEST] = _next_end(ends)
    return row


@step
def _next_end(ends: Ends) -> int:
    """Return the slot in which the next job ends: whatever differs in a later digit alone ends earlier."""
    for digit in range(DIGITS):
        value = least(ends.words, ends.levels, digit)
        if value >= 0:
            return int(ends.buckets[VALUES * digit + value, EARLIEST])
    return NEVER


@step
def release(ends: Ends, row: int) -> int:
    """Let a row that was taken out be used again; return the one behind it, -1 after the last."""
    behind = ends.rows[row, BEHIND]
    ends.rows[row, BEHIND] = ends.counts[UNUSED]
    ends.counts[UNUSED] = row
    ends.counts[IN_SERVICE] -= 1
    return int(behind)
