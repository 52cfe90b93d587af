"""Knapsacks on one resource without a table: lists of states, none of which another dominates.

A state is a set of jobs, by its size and its value. Jobs join type after type; a state no smaller and no more valuable
than another is dropped, and so is one that cannot come above a target with all that its free capacity could hold. What
is left does not grow with the capacity, so sizes may stand on grids far too fine for a table (`pricing`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel

LEVELS = 1024
"""Levels of the free capacity at which the value of what it could hold is bounded."""

DOUBT = 1e-9
"""Relative difference of values in floats below which integers of any length decide."""

FINEST = 2**50
"""Largest capacity, so that a capacity times `LEVELS` stays within 64 bits."""

MOST_JOBS = 10**6
"""Most jobs in a server: sums of so many floats are exact to well within `DOUBT`."""


class Sets(NamedTuple):
    """Sets of items, none of which another dominates.

    Attributes
    ----------
    within : bool
        False if there were more states than allowed; the rest then means nothing.
    values : float64[m]
        They increase with the size: the last set is the most valuable of all, if any is worth more than the target.
    state : int32[m]
    item, parent : int32[states]
        A set has an item, and the items of its state's parent; state 0 is empty.
    """

    within: bool
    values: NDArray[np.float64]
    state: NDArray[np.int32]
    item: NDArray[np.int32]
    parent: NDArray[np.int32]


@kernel
def _bounds(sizes: NDArray[np.int64], price: NDArray[np.float64], capacity: int) -> NDArray[np.float64]:
    """Bound the value within so many of `LEVELS` parts of the capacity: sizes are rounded down to whole parts."""
    bound = np.zeros(LEVELS + 1)
    for j in range(sizes.size):
        size = sizes[j] * LEVELS // capacity
        if size == 0 and price[j] > 0:
            bound[:] = np.inf
        for c in range(max(size, 1), LEVELS + 1):
            bound[c] = max(bound[c], bound[c - size] + price[j])
    return bound


@kernel
def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with twice the room."""
    return np.concatenate((array, array))


@kernel
def _is_more(value: float, last: float, doubt: float, a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Compare two values in floats, and as integers of any length `a` and `b` where floats are in doubt."""
    if value <= last - doubt or value > last + doubt:
        return value > last
    for limb in range(a.size):
        if a[limb] != b[limb]:
            return bool(a[limb] > b[limb])
    return False


@kernel
def _sum(a: NDArray[np.int64], b: NDArray[np.int64], result: NDArray[np.int64]) -> None:
    """Add integers of any length."""
    base = np.int64(1) << np.int64(62)
    carry = np.int64(0)
    for limb in range(a.size - 1, -1, -1):
        part = a[limb] + b[limb] + carry
        carry = np.int64(0)
        if part >= base:
            part -= base
            carry = np.int64(1)
        result[limb] = part


@kernel
def undominated(
    sizes: NDArray[np.int64],
    price: NDArray[np.float64],
    words: NDArray[np.int64],
    capacity: int,
    endless: bool,
    target: float,
    most: int,
) -> Sets:
    """Return the sets of items, none dominated, that may be worth more than a target.

    Parameters
    ----------
    sizes : int64[n]
        From 1 to the capacity; largest first keeps the lists short.
    price : float64[n]
        At least 0.
    words : int64[n, limbs]
        The same prices, in another unit, as integers in words of 62 bits, most significant first; sums must fit. They
        decide where floats are in doubt. Without limbs the floats decide alone.
    capacity : int
        At most `FINEST`, and at most `MOST_JOBS` times the smallest size.
    endless : bool
        Whether each item may be taken without end; else at most once.
    target : float
        What cannot be worth more, by the bounds, is left out; where limbs decide, by more than what is in doubt.
    most : int
        Most states that are made.

    Returns
    -------
    Sets

    Notes
    -----
    The greatest value of what a free capacity can hold is bounded by the greatest value for its size, and by a table
    of `LEVELS` sizes, each rounded down; both over all items, since an item that may be taken without end may be taken
    again. O(n times the longest list) time.
    """
    n, limbs = words.shape
    density = (price / sizes).max()
    doubt = DOUBT * max(1.0, density * capacity) if limbs else 0.0
    bound = _bounds(sizes, price, capacity)
    room = 1024
    old_size, old_value, old_state = np.zeros(room, np.int64), np.zeros(room), np.zeros(room, np.int32)
    new_size, new_value, new_state = np.zeros(room, np.int64), np.zeros(room), np.zeros(room, np.int32)
    old_words, new_words = np.zeros((room, limbs), np.int64), np.zeros((room, limbs), np.int64)
    item, parent = np.full(room, -1, np.int32), np.full(room, -1, np.int32)
    candidate = np.zeros(limbs, np.int64)
    states, number = 1, 1
    for i in range(n):
        a, b, kept, last = 0, 0, 0, -1.0
        while True:
            # the next by size: an old state, or one that an item joins (endless: one of the new list itself)
            joined = capacity + 1
            if endless and b < kept:
                joined = new_size[b] + sizes[i]
            elif not endless and b < number:
                joined = old_size[b] + sizes[i]
            is_old = a < number and old_size[a] <= joined
            if not is_old and joined > capacity:
                break
            if is_old:
                size, value = old_size[a], old_value[a]
                candidate[:] = old_words[a]
                a += 1
            elif endless:
                size, value = joined, new_value[b] + price[i]
                _sum(new_words[b], words[i], candidate)
                b += 1
            else:
                size, value = joined, old_value[b] + price[i]
                _sum(old_words[b], words[i], candidate)
                b += 1
            if kept > 0 and not _is_more(value, last, doubt, candidate, new_words[kept - 1]):
                continue
            free = capacity - size
            if value + min(density * free, bound[free * LEVELS // capacity]) <= target - doubt:
                continue
            if kept > 0 and new_size[kept - 1] == size:
                kept -= 1
            if kept == new_size.size:
                new_size, new_value, new_state = _longer(new_size), _longer(new_value), _longer(new_state)
                new_words = _longer(new_words)
            new_size[kept], new_value[kept] = size, value
            new_words[kept] = candidate
            if is_old:
                new_state[kept] = old_state[a - 1]
            else:
                if states >= most:
                    return Sets(False, old_value[:0], old_state[:0], item, parent)
                if states == item.size:
                    item, parent = _longer(item), _longer(parent)
                item[states] = i
                parent[states] = new_state[b - 1] if endless else old_state[b - 1]
                new_state[kept] = states
                states += 1
            last = value
            kept += 1
        old_size, new_size = new_size, old_size
        old_value, new_value = new_value, old_value
        old_state, new_state = new_state, old_state
        old_words, new_words = new_words, old_words
        number = kept
    return Sets(True, old_value[:number], old_state[:number], item[:states], parent[:states])


def jobs_of(sets: Sets, items: int) -> NDArray[np.int32]:
    """Return how often each item is in the most valuable set, int32[items]; nothing if there is no set."""
    row = np.zeros(items, np.int32)
    state = int(sets.state[-1]) if len(sets.state) else 0
    while state > 0:
        row[sets.item[state]] += 1
        state = int(sets.parent[state])
    return row


@kernel
def various(
    state: NDArray[np.int32],
    item: NDArray[np.int32],
    parent: NDArray[np.int32],
    owner: NDArray[np.int64],
    types: int,
    several: int,
) -> NDArray[np.int32]:
    """Return the most valuable sets, each with a type that none before it has.

    Parameters
    ----------
    state, item, parent
        Of `undominated`.
    owner : int64[n]
        Type of each item.
    types : int
    several : int
        Most sets.

    Returns
    -------
    int32[m, n]
        How often each item is in each set.
    """
    rows = np.zeros((several, owner.size), np.int32)
    covered = np.zeros(types, np.int64)
    m = 0
    for place in range(state.size - 1, -1, -1):
        if m == several:
            break
        fresh = False
        s = state[place]
        while s > 0:
            fresh = fresh or covered[owner[item[s]]] < 5
            s = parent[s]
        if not fresh:
            continue
        s = state[place]
        while s > 0:
            covered[owner[item[s]]] += 1
            rows[m, item[s]] += 1
            s = parent[s]
        m += 1
    return rows[:m]
