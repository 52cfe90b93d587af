"""The configuration of greatest weight, exactly, with the tie rule of Definition 2.2, without enumerating."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.errors import TooLargeError
from theory.exact.configurations import Reduced, reduced
from theory.exact.nodes import Nodes
from theory.instance import Additive, Configuration, Explicit, Space
from theory.numbers import to_integers

TABLE_LIMIT = 200_000_000
"""Largest dynamic program (cells times types); beyond it branch and bound takes over."""

SMALL_TABLE = 500_000
"""Cells up to which nothing but the dynamic program is tried: a type takes it less than a millisecond, and branch and
bound about as long for the linear program of each type."""

FEW_NODES = 200_000
"""Nodes after which it gives way to a table that is not too large."""

LIMB_BITS = 62
"""Weights are added in limbs of this many bits, so that 64-bit words carry integers of any length."""


def max_reward(space: Space, rewards: Sequence[Fraction | int], types: Iterable[int] | None = None) -> Configuration:
    """Return MaxReward: the configuration of the given types with the greatest reward.

    Parameters
    ----------
    space : Space
        The configurations K of one server.
    rewards : sequence of rational, shape (J,)
        u_j >= 0, compared exactly.
    types : iterable of int, optional
        The set S; all types where left out.

    Returns
    -------
    Configuration, shape (J,)
        The greatest of K_S in the order of Definition 2.2: by reward, ties by more slots of the first type that
        differs.

    Notes
    -----
    See `max_weight`. Source: auto-scaling paper, Definitions 2.2 and 2.3.

    Examples
    --------
    >>> from theory.instance import additive
    >>> max_reward(additive([12], [[5], [7]]).pools[0].space, [1, 1])
    (2, 0)
    """
    weights, _ = to_integers([Fraction(u) for u in rewards])
    return max_weight(space, weights, types)


def max_weight(space: Space, weights: Sequence[int], types: Iterable[int] | None = None) -> Configuration:
    """Return the configuration of greatest integer weight, ties by more slots of the first type that differs.

    Parameters
    ----------
    space : Space
    weights : sequence of int, shape (J,)
        At least 0, of any length.
    types : iterable of int, optional
        Types that may be used; all of them where left out.

    Raises
    ------
    TooLargeError
        If the table would be larger than `TABLE_LIMIT`, and branch and bound takes more nodes than allowed
        (`allowing`).

    Notes
    -----
    Additive spaces: a dynamic program over resource levels, O(n prod_r (C_r + 1)) for n types, on the space without
    the resources that never bind. Branch and bound (`theory.exact.search`) is tried before a table that
    takes long (`SMALL_TABLE`), and takes the place of one that would be too large. Explicit spaces: a scan of the
    generators.

    Examples
    --------
    >>> from theory.instance import additive
    >>> max_weight(additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]).pools[0].space, [9, 48, 48, 512])
    (16, 3, 10, 1)
    """
    wanted = set(range(len(weights)) if types is None else types)
    if isinstance(space, Explicit):
        return _scan(space, weights, wanted)
    small = reduced(space, wanted)
    if not small.types:
        return (0,) * len(weights)
    return widened(small, _best(small, [weights[j] for j in small.types]), len(weights))


def widened(small: Reduced, slots: Sequence[int], width: int) -> Configuration:
    """Return a configuration of all types from the slots of those that fit."""
    by_type = dict(zip(small.types, slots, strict=True))
    return tuple(by_type.get(j, 0) for j in range(width))


def too_fine(small: Reduced) -> bool:
    """Return whether a table of the resource levels would be larger than `TABLE_LIMIT`."""
    return small.cells * len(small.types) > TABLE_LIMIT


def heavier(space: Space, weights: Sequence[int], than: int, nodes: Nodes | None = None) -> list[Configuration]:
    """Return configurations that are worth more than a number; none proves that there is none.

    Parameters
    ----------
    space : Space
    weights : sequence of int, shape (J,)
        At least 0, of any length.
    than : int
        At least 0.
    nodes : Nodes, optional
        What may be spent, where a table would be too large.

    Returns
    -------
    list of Configuration
        The heaviest is the last. Where a table is small enough it is the heaviest of all.

    Raises
    ------
    TooLargeError
        As `max_weight`.

    Examples
    --------
    >>> from theory.instance import additive
    >>> space = additive([12], [[5], [7]]).pools[0].space
    >>> heavier(space, [2, 3], 4), heavier(space, [2, 3], 5)
    ([(1, 1)], [])
    """
    small = reduced(space) if isinstance(space, Additive) else None
    if small is None or not small.types or not too_fine(small):
        best = max_weight(space, weights)
        return [best] if sum(map(mul, weights, best)) > than else []
    from theory.exact import search  # few commands need it

    found = search.heavier(small, [weights[j] for j in small.types], than, nodes)
    return [widened(small, k, len(weights)) for k in found]


def greatest_weight(space: Space, weights: Sequence[int], known: Iterable[Configuration] = ()) -> int:
    """Return the greatest weight of a configuration, which takes less time where one that has it is known.

    Examples
    --------
    >>> from theory.instance import additive
    >>> greatest_weight(additive([12], [[5], [7]]).pools[0].space, [2, 3], [(2, 0)])
    5
    """
    best = max((sum(map(mul, weights, k)) for k in known), default=0)
    while found := heavier(space, weights, best):
        best = sum(map(mul, weights, found[-1]))
    return best


def weight(slots: Sequence[Fraction | int], weights: Sequence[Fraction]) -> Fraction:
    """Return U(k), the sum of weight times slots of each type (Definition 2.1); slots may be fractional."""
    return sum((u * k for u, k in zip(weights, slots, strict=True) if k), Fraction(0))


def _scan(space: Explicit, weights: Sequence[int], wanted: set[int]) -> Configuration:
    usable = [j for j in range(len(weights)) if j in wanted]
    _, best = max((sum(weights[j] * k[j] for j in usable), tuple(k[j] for j in usable)) for k in space.generators)
    slots = dict(zip(usable, best, strict=True))
    return tuple(slots.get(j, 0) for j in range(len(weights)))


def _best(small: Reduced, weights: Sequence[int]) -> Sequence[int]:
    if small.cells <= SMALL_TABLE and not too_fine(small):
        return _by_table(small, weights)
    from theory.exact import search  # few commands need it

    if too_fine(small):
        return search.greatest(small, weights)
    try:
        return search.greatest(small, weights, Nodes(FEW_NODES))
    except TooLargeError:
        return _by_table(small, weights)


def _by_table(small: Reduced, weights: Sequence[int]) -> list[int]:
    bits = (max(weights) * small.jobs).bit_length()
    limbs = max(1, -(-bits // LIMB_BITS))
    mask = (1 << LIMB_BITS) - 1
    words = [[(w >> (LIMB_BITS * (limbs - 1 - i))) & mask for i in range(limbs)] for w in weights]
    capacity = np.array(small.capacity, np.int64)
    demands = np.array(small.demands, np.int64).reshape(len(weights), len(capacity))
    if limbs == 1:
        chosen = best_by_levels(capacity, demands, np.array([row[0] for row in words], np.int64))
    else:
        chosen = _long_table(capacity, demands, np.array(words, np.int64))
    return [int(slots) for slots in chosen]


@kernel
def table_strides(capacity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the size of a table over all levels of the resources, then the distance of neighbours in each, [R + 1]."""
    strides = np.ones(capacity.size + 1, np.int64)
    for r in range(capacity.size - 1, -1, -1):
        strides[r] = strides[r + 1] * (capacity[r] + 1)
    return strides


@kernel
def place_in_table(level: NDArray[np.int64], strides: NDArray[np.int64]) -> int:
    """Return where a level stands in a table; for a demand, how far before any level the one without it stands."""
    place = 0
    for r in range(level.size):
        place += level[r] * strides[r + 1]
    return place


@kernel
def step_level(row: NDArray[np.int64], capacity: NDArray[np.int64]) -> None:
    """Step to the next level of all resources but the last."""
    for r in range(capacity.size - 2, -1, -1):
        if row[r] < capacity[r]:
            row[r] += 1
            return
        row[r] = 0


@kernel
def level_holds(row: NDArray[np.int64], demand: NDArray[np.int64]) -> bool:
    """Return whether a level holds a demand, in all resources but the last."""
    for r in range(demand.size - 1):  # noqa: SIM110 (compiled)
        if row[r] < demand[r]:
            return False
    return True


@kernel
def best_by_levels(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the configuration of greatest weight by a table over all levels of the resources.

    Add types from last to first; at each level note whether taking one more of the type keeps the best value.

    Taking wherever it is no worse makes the walk back prefer more of the first type, then of the second: Def. 2.2.
    """
    n, last = demands.shape[0], capacity.size - 1
    strides = table_strides(capacity)
    size, width = strides[0], capacity[last] + 1
    value = np.zeros(size, np.int64)
    take = np.zeros((n, size), np.bool_)
    row = np.zeros(capacity.size, np.int64)
    for j in range(n - 1, -1, -1):
        offset = place_in_table(demands[j], strides)
        row[:] = 0
        for start in range(0, size, width):
            if level_holds(row, demands[j]):
                for c in range(start + demands[j, last], start + width):
                    with_one = value[c - offset] + weights[j]
                    if with_one >= value[c]:
                        value[c] = with_one
                        take[j, c] = True
            step_level(row, capacity)
    return _walk(take, demands, strides)


@kernel
def _walk(take: NDArray[np.bool_], demands: NDArray[np.int64], strides: NDArray[np.int64]) -> NDArray[np.int64]:
    chosen = np.zeros(take.shape[0], np.int64)
    c = strides[0] - 1
    for j in range(take.shape[0]):
        offset = place_in_table(demands[j], strides)
        while take[j, c]:
            chosen[j] += 1
            c -= offset
    return chosen


@kernel
def _long_table(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """`best_by_levels` for weights of several limbs, most significant first, shape (n, limbs)."""
    n, limbs, last = demands.shape[0], weights.shape[1], capacity.size - 1
    base = np.int64(1) << np.int64(62)
    strides = table_strides(capacity)
    size, width = strides[0], capacity[last] + 1
    value = np.zeros((size, limbs), np.int64)
    with_one = np.zeros(limbs, np.int64)
    take = np.zeros((n, size), np.bool_)
    row = np.zeros(capacity.size, np.int64)
    for j in range(n - 1, -1, -1):
        offset = place_in_table(demands[j], strides)
        row[:] = 0
        for start in range(0, size, width):
            if level_holds(row, demands[j]):
                for c in range(start + demands[j, last], start + width):
                    carry = np.int64(0)
                    for limb in range(limbs - 1, -1, -1):
                        part = value[c - offset, limb] + weights[j, limb] + carry
                        carry = np.int64(0)
                        if part >= base:
                            part -= base
                            carry = np.int64(1)
                        with_one[limb] = part
                    no_worse = True
                    for limb in range(limbs):
                        if with_one[limb] != value[c, limb]:
                            no_worse = with_one[limb] > value[c, limb]
                            break
                    if no_worse:
                        value[c] = with_one
                        take[j, c] = True
            step_level(row, capacity)
    return _walk(take, demands, strides)
