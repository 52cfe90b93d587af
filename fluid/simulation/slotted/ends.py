"""The jobs in service by the slot in which they end: a radix heap, whose steps take constant time.

A slot that is later than the present one agrees with it in its leading digits of base 1024. The first digit in which
the two differ, its place and its value there, names the bucket of the slot. As time goes on to a slot, only the bucket
with that slot in it changes: its jobs agree with the new present in one digit more at least, and are dealt out again.
So a job is moved at most once for each digit of its service time, and the jobs of the present slot lie in one bucket of
the last digit. Jobs are dealt out in their order, so those of one slot leave in the order in which they came.

Source: Ahuja, Mehlhorn, Orlin and Tarjan, Faster algorithms for the shortest path problem, J. ACM 37 (1990).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.bits import highest_bit, lowest_bit
from theory.jit import routine, step

DIGIT = 10
"""Bits of a digit: most jobs end within so many slots that they are never moved."""

VALUES = 1 << DIGIT

DIGITS = 7
"""Digits of a slot: 62 bits and more."""

NEXT, SLOT, WHERE, SIZE = 0, 1, 2, 3
"""Columns of ``rows``."""

HALF = 32
"""Bits of a class in ``WHERE``; those above are the server."""

FIRST, LAST = 0, 1
"""Columns of ``buckets``."""

WORDS = 32
"""Words of a digit; behind them a word that says which of them are not 0."""

_BIT = np.int64(1)
"""Of 64 bits, in Python as compiled."""

HELD, UNUSED, PRESENT, SOONEST = 0, 1, 2, 3
"""Places in ``counts``."""

NEVER = 2**62
"""The slot in which the next job ends where none is in service."""


class Ends(NamedTuple):
    """Memory for N jobs in service.

    Attributes
    ----------
    rows : int64[N, 4]
        Of each job, side by side: the next one in its bucket (or the next unused row), the slot in which it ends, its
        server and its class in one number (`HALF`), and its size: a departure reads no table of classes.
    buckets : int32[7 * 1024 * 2]
        Of each digit and value the first and the last job, -1 for none.
    earliest : int64[7 * 1024]
        The earliest slot in which a job of each bucket ends; those of the last digit have one slot each.
    words : int64[7 * 33]
        Of each digit the set of values whose buckets hold jobs: 32 words of 32 bits, and which of them are not 0.
    counts : int64[4]
        Jobs held, the first unused row, the present slot, and the slot in which the next job ends.
    """

    rows: NDArray[np.int64]
    buckets: NDArray[np.int32]
    earliest: NDArray[np.int64]
    words: NDArray[np.int64]
    counts: NDArray[np.int64]


def new_ends(length: int) -> Ends:
    """Make memory for so many jobs, none in service, in slot 0.

    Examples
    --------
    >>> ends = new_ends(4)
    >>> for slot, server in ((3000, 7), (40, 8), (40, 9)): push(ends, slot, server, 0, 1)
    >>> while ends.counts[HELD]:
    ...     slot = int(ends.counts[SOONEST])
    ...     go_on(ends, slot)
    ...     row = take_due(ends)
    ...     while row >= 0:
    ...         print(slot, server_of(ends, row))
    ...         row = release(ends, row)
    40 8
    40 9
    3000 7
    """
    rows = np.zeros((length, 4), np.int64)
    rows[:, NEXT] = np.append(np.arange(1, length), -1)
    buckets = np.full(DIGITS * VALUES * 2, -1, np.int32)
    words = np.zeros(DIGITS * (WORDS + 1), np.int64)
    return Ends(rows, buckets, np.zeros(DIGITS * VALUES, np.int64), words, np.array([0, 0, 0, NEVER]))


def enlarged(ends: Ends) -> Ends:
    """Copy the jobs into twice the memory."""
    length = len(ends.rows)
    more = np.zeros((length, 4), np.int64)
    more[:, NEXT] = np.append(np.arange(length + 1, 2 * length), ends.counts[UNUSED])
    ends.counts[UNUSED] = length
    return ends._replace(rows=np.concatenate([ends.rows, more]))


@step
def _mark(words: NDArray[np.int64], digit: int, value: int) -> None:
    """Note that a bucket, which was empty, holds a job."""
    at = (WORDS + 1) * digit
    words[at + (value >> 5)] |= _BIT << (value & 31)
    words[at + WORDS] |= _BIT << (value >> 5)


@step
def _clear(words: NDArray[np.int64], digit: int, value: int) -> int:
    """Note that a bucket is empty; return what is left of its word."""
    at, word = (WORDS + 1) * digit, value >> 5
    left = words[at + word] & ~(_BIT << (value & 31))
    words[at + word] = left
    if left == 0:
        words[at + WORDS] &= ~(_BIT << word)
    return int(left)


@step
def _hang(ends: Ends, row: int, slot: int) -> None:
    """Put a row at the end of the bucket of its slot."""
    differing, digit, value = slot ^ ends.counts[PRESENT], 0, slot & (VALUES - 1)
    if differing >= VALUES:
        digit = highest_bit(differing) // DIGIT
        value = (slot >> (DIGIT * digit)) & (VALUES - 1)
    bucket = VALUES * digit + value
    ends.rows[row, NEXT] = -1
    last = ends.buckets[2 * bucket + LAST]
    ends.buckets[2 * bucket + LAST] = row
    if last >= 0:
        ends.rows[last, NEXT] = row
    else:
        _mark(ends.words, digit, value)
        ends.buckets[2 * bucket + FIRST] = row
    if digit > 0 and (last < 0 or slot < ends.earliest[bucket]):
        ends.earliest[bucket] = slot


@step
def push(ends: Ends, slot: int, server: int, job_class: int, size: int) -> None:
    """Add a job that ends in a slot, not before the present one; there must be an unused row."""
    row = ends.counts[UNUSED]
    ends.counts[UNUSED] = ends.rows[row, NEXT]
    ends.counts[HELD] += 1
    ends.rows[row, SLOT] = slot
    ends.rows[row, WHERE] = (server << HALF) + job_class
    ends.rows[row, SIZE] = size
    ends.counts[SOONEST] = min(ends.counts[SOONEST], slot)
    _hang(ends, row, slot)


@step
def go_on(ends: Ends, slot: int) -> None:
    """Let a slot be the present one; no job may end before it."""
    differing = slot ^ ends.counts[PRESENT]
    ends.counts[PRESENT] = slot
    if differing >= VALUES:
        digit = highest_bit(differing) // DIGIT
        value = (slot >> (DIGIT * digit)) & (VALUES - 1)
        if ends.buckets[2 * (VALUES * digit + value) + FIRST] >= 0:
            _deal_out(ends, digit, value)


@routine
def _deal_out(ends: Ends, digit: int, value: int) -> None:
    """Put the jobs of a bucket into those of the present slot."""
    row = _emptied(ends.buckets, VALUES * digit + value)
    _clear(ends.words, digit, value)
    while row >= 0:
        behind = ends.rows[row, NEXT]
        _hang(ends, row, ends.rows[row, SLOT])
        row = behind


@step
def _emptied(buckets: NDArray[np.int32], bucket: int) -> int:
    """Return the first row of a bucket, and note that it has none."""
    row = buckets[2 * bucket + FIRST]
    buckets[2 * bucket + FIRST] = -1
    buckets[2 * bucket + LAST] = -1
    return int(row)


@step
def take_due(ends: Ends) -> int:
    """Take out the jobs that end in the present slot, of which there is one; return the row of the first.

    Each row stays readable until it is released.
    """
    slot = ends.counts[PRESENT]
    value = slot & (VALUES - 1)
    row = _emptied(ends.buckets, value)
    left = _clear(ends.words, 0, value)
    ends.counts[SOONEST] = _next_end(ends, slot, left)
    return row


@step
def _next_end(ends: Ends, slot: int, left: int) -> int:
    """Return the slot in which the next job ends, from what is left of the word of the present slot.

    Whatever ends before the next multiple of 1024 lies in that word or in a later one of the last digit.
    """
    if left != 0:
        return int((slot & -WORDS) + lowest_bit(left))
    if ends.words[WORDS] != 0:
        word = lowest_bit(ends.words[WORDS])
        return int((slot & -VALUES) + 32 * word + lowest_bit(ends.words[word]))
    for digit in range(1, DIGITS):
        at = (WORDS + 1) * digit
        if ends.words[at + WORDS] != 0:
            word = lowest_bit(ends.words[at + WORDS])
            return int(ends.earliest[VALUES * digit + 32 * word + lowest_bit(ends.words[at + word])])
    return NEVER


@step
def release(ends: Ends, row: int) -> int:
    """Let a row that was taken out be used again; return the one behind it, -1 after the last."""
    behind = ends.rows[row, NEXT]
    ends.rows[row, NEXT] = ends.counts[UNUSED]
    ends.counts[UNUSED] = row
    ends.counts[HELD] -= 1
    return int(behind)


@step
def server_of(ends: Ends, row: int) -> int:
    """Return the server of a job."""
    return int(ends.rows[row, WHERE] >> HALF)


@step
def class_of(ends: Ends, row: int) -> int:
    """Return the class of a job."""
    return int(ends.rows[row, WHERE] & ((1 << HALF) - 1))


@step
def size_of(ends: Ends, row: int) -> int:
    """Return the size of a job."""
    return int(ends.rows[row, SIZE])
