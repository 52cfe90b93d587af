"""The knapsack of one resource by a list of states, for grids too fine for a table and for jobs limited in number.

A state is a set of jobs, known by its size and its value. Items join one after another, the largest first; a state is
dropped if another one is no larger and at least as valuable, or if it cannot pass a target whatever its free capacity
could still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel, plain
from theory.errors import TooLargeError
from theory.exact.knapsack.configurations import Reduced
from theory.exact.knapsack.greatest import CELLS, FINEST

LEVELS = 1024
"""Levels of the free capacity at which the value of what it could hold is bounded."""

WORD = 60
"""Bits of the greatest value of a server that the compiled search adds; longer integers run as plain Python."""

CELLS_A_STATE = 4
"""Cells that a state counts as."""

PASSES = 2
"""All states that are made for a program are at most so many times its cells: it bounds the time."""


class States(NamedTuple):
    """All states that a search has made: state s has item `item[s]` more than state `parent[s]`, and state 0 is empty.

    `within` tells whether the search ended within the states allowed; if not, the rest is incomplete.
    """

    within: bool
    size: NDArray[np.int64]
    value: NDArray[Any]
    item: NDArray[np.int32]
    parent: NDArray[np.int32]


@kernel
def _bounds(sizes: NDArray[np.int64], prices: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Bound the value that each number of `LEVELS` parts of the capacity can hold: sizes are rounded down to parts.

    Items smaller than a part are bounded apart, by the most that the whole capacity could hold of them.
    """
    bound = np.zeros(LEVELS + 1, prices.dtype)
    small_ones = prices[0] * 0
    for j in range(sizes.size):
        size = sizes[j] * LEVELS // capacity
        if size == 0:
            small_ones = max(small_ones, prices[j] * (capacity // sizes[j] + 1))
            continue
        for c in range(size, LEVELS + 1):
            bound[c] = max(bound[c], bound[c - size] + prices[j])
    for c in range(LEVELS + 1):
        bound[c] += small_ones
    return bound


@kernel
def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of twice the length."""
    return np.concatenate((array, array))


@kernel
def search_states(
    sizes: NDArray[np.int64], prices: NDArray[Any], capacity: int, endless: bool, target: int, most: int
) -> States:
    """Return states among which is the most valuable set of items, if any set is worth more than a target.

    Sizes, int64[n], decrease; the capacity is at most `FINEST`. Prices are integers of 64 bits, if no set is worth more
    than 2**`WORD`, or, as plain Python, of any length. If `endless`, each item may be taken any number of times, else
    once. `most` limits the states. O(n times the longest list) time.

    Invariant: after item i the list holds, in increasing order of size and of value, every state of items up to i that
    no other dominates and whose bound passes the target.
    """
    bound = _bounds(sizes, prices, capacity)
    size, value = np.zeros(1024, np.int64), np.zeros(1024, prices.dtype)
    item, parent = np.full(1024, -1, np.int32), np.full(1024, -1, np.int32)
    old, new = np.zeros(1024, np.int32), np.zeros(1024, np.int32)  # two lists of states
    listed, states = 1, 1
    for i in range(sizes.size):
        a, b, kept = 0, 0, 0  # next state that stays without item i, next that it joins, length of the new list
        while True:
            joinable, length = (new, kept) if endless else (old, listed)  # endless: also states that have item i
            base = joinable[b] if b < length else -1
            joined = size[base] + sizes[i] if base >= 0 else capacity + 1
            stays = a < listed and size[old[a]] <= joined
            if stays:
                state_size, state_value = size[old[a]], value[old[a]]
                a += 1
            elif joined <= capacity:
                state_size, state_value = joined, value[base] + prices[i]
                b += 1
            else:
                break
            if kept > 0 and state_value <= value[new[kept - 1]]:
                continue  # dominated
            if state_value + bound[(capacity - state_size) * LEVELS // capacity] <= target:
                continue
            if kept > 0 and size[new[kept - 1]] == state_size:
                kept -= 1  # it dominates the state before it
            if kept == new.size:
                old, new = _longer(old), _longer(new)
            if stays:
                new[kept] = old[a - 1]
            else:
                if states == most:
                    return States(False, size, value, item, parent)
                if states == size.size:
                    size, value, item, parent = _longer(size), _longer(value), _longer(item), _longer(parent)
                size[states], value[states], item[states], parent[states] = state_size, state_value, i, base
                new[kept] = states
                states += 1
            kept += 1
        old, new = new, old
        listed = kept
    return States(True, size[:states], value[:states], item[:states], parent[:states])


class ListSearch:
    """The knapsack of one resource, whose jobs of each type may be limited by `most`, else by the capacity alone.

    `cells` limits the memory, some tens of bytes a cell: a state counts as four. All states that are ever made may take
    twice as much, which limits the time. Raises `TooLargeError` if the capacity is beyond `FINEST`; and, when searched,
    beyond the cells.
    """

    def __init__(self, small: Reduced, most: Sequence[int] | None = None, cells: int = CELLS) -> None:
        self.sizes, self.cells, self.listed = np.array(small.demands, object)[:, 0], cells, 0
        (self.capacity,) = small.capacity
        if self.capacity > FINEST:
            raise TooLargeError(f"a grid of {self.capacity:,} units: expected at most {FINEST:,}; use coarser units")
        most_alone = [self.capacity // size for size in self.sizes]
        limits = most_alone if most is None else [min(pair) for pair in zip(most_alone, most, strict=True)]
        self.endless = limits == most_alone
        items = [(j, 1) for j in range(len(most_alone))] if self.endless else _bundles(limits)
        # largest first: then the lists are shortest
        items.sort(key=lambda item: -self.sizes[item[0]] * item[1])
        self.owner, self.number = np.array(items, np.int64).reshape(len(items), 2).T
        self.weight = np.array([self.sizes[j] * number for j, number in items], np.int64)

    def search(self, weights: Sequence[int], target: int) -> States:
        """Return the states of which one is the heaviest set, if any is heavier than a target."""
        items = [weights[j] * number for j, number in zip(self.owner.tolist(), self.number.tolist(), strict=True)]
        # no set is worth more than the whole capacity at the greatest weight for its size
        greatest = max(w * self.capacity // s + 1 for w, s in zip(weights, self.sizes, strict=True))
        long = max(greatest, target).bit_length() > WORD
        prices = np.array(items, object if long else np.int64)
        searched = plain(search_states) if long else search_states
        states = searched(self.weight, prices, self.capacity, self.endless, target, self.cells // CELLS_A_STATE)
        self.listed += len(states.item)
        if not states.within or self.listed > PASSES * self.cells:
            raise TooLargeError(
                f"the exact maximum of {len(self.sizes):,} sizes on a grid of {self.capacity:,} units takes more than "
                f"{self.cells:,} cells, of tables or lists of states: allow more, or use coarser sizes"
            )
        return states

    def propose(self, weights: Sequence[int], target: int, several: int) -> NDArray[np.int64]:
        """Return configurations heavier than a target, heaviest first, with distinct smallest items, int64[m, n]."""
        states = self.search(weights, target)
        above = np.flatnonzero(states.value > target)
        above = above[np.argsort(-states.value[above], kind="stable")]
        _, first = np.unique(states.item[above], return_index=True)  # of each item the best set that it joined last
        chosen = above[np.sort(first)[:several]].tolist()
        return np.array([self._jobs(states, state) for state in chosen], np.int64).reshape(-1, len(self.sizes))

    def heavier(self, weights: Sequence[int], than: int) -> list[list[int]]:
        """Return the heaviest configuration, if it is heavier than a number, as a list of one."""
        states = self.search(weights, than)
        heaviest = int(states.value.argmax())
        return [self._jobs(states, heaviest)] if states.value[heaviest] > than else []

    def _jobs(self, states: States, state: int) -> list[int]:
        jobs = [0] * len(self.sizes)
        while state > 0:
            item = states.item[state]
            jobs[self.owner[item]] += int(self.number[item])
            state = int(states.parent[state])
        return jobs


def _bundles(limits: Sequence[int]) -> list[tuple[int, int]]:
    """Return the items (type, jobs) that make every number of jobs up to a limit: 1, 2, 4, ... and the rest."""
    items = []
    for j, limit in enumerate(limits):
        jobs, bundle = 0, 1
        while jobs < limit:
            items.append((j, min(bundle, limit - jobs)))
            jobs, bundle = jobs + items[-1][1], 2 * bundle
    return items
