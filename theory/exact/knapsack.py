"""The configuration of greatest weight, exactly, with the tie rule of Definition 2.2, without enumerating."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.errors import TooLargeError
from theory.exact.configurations import Reduced, reduced
from theory.exact.linear import LinearProgram
from theory.instance import Configuration, Explicit, Space
from theory.jit import kernel
from theory.numbers import to_integers

TABLE_LIMIT = 200_000_000
"""Largest dynamic program (cells times types); beyond it branch and bound takes over."""

SMALL_TABLE = 500_000
"""Cells up to which nothing but the dynamic program is tried: a type takes it less than a millisecond, and branch and
bound about as long for the linear program of each type."""

NODE_LIMIT = 2_000_000
"""Nodes after which branch and bound gives up."""

FEW_NODES = 2_000
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
        If neither the table (`TABLE_LIMIT`) nor branch and bound (`NODE_LIMIT`) is small enough.

    Notes
    -----
    Additive spaces: a dynamic program over resource levels, O(n prod_r (C_r + 1)) for n types, on the space without
    the resources that never bind. Branch and bound with exact linear-programming bounds is tried before a table that
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
    best = [0] * len(weights)
    chosen = [weights[j] for j in small.types]
    if small.types:
        for j, slots in zip(small.types, _best(small, chosen), strict=True):
            best[j] = slots
    return tuple(best)


def weight(slots: Sequence[Fraction | int], weights: Sequence[Fraction]) -> Fraction:
    """Return U(k), the sum of weight times slots of each type (Definition 2.1); slots may be fractional."""
    return sum((u * k for u, k in zip(weights, slots, strict=True) if k), Fraction(0))


def _scan(space: Explicit, weights: Sequence[int], wanted: set[int]) -> Configuration:
    usable = [j for j in range(len(weights)) if j in wanted]
    _, best = max((sum(weights[j] * k[j] for j in usable), tuple(k[j] for j in usable)) for k in space.generators)
    slots = dict(zip(usable, best, strict=True))
    return tuple(slots.get(j, 0) for j in range(len(weights)))


def _best(small: Reduced, weights: Sequence[int]) -> list[int]:
    table = small.cells * len(weights)
    if table > TABLE_LIMIT:
        return _by_branching(small, weights, NODE_LIMIT)
    if small.cells <= SMALL_TABLE:
        return _by_table(small, weights)
    try:
        return _by_branching(small, weights, FEW_NODES)
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


def _by_branching(small: Reduced, weights: Sequence[int], most: int) -> list[int]:
    """Find the greatest weight in order of value for room, then the first configuration that has it.

    Raises
    ------
    TooLargeError
        After `most` nodes in one of both searches.
    """
    prices = _suffix_prices(small, weights, range(len(weights)))[0]

    def density(i: int) -> Fraction:
        return Fraction(weights[i]) / sum(
            (p * d for p, d in zip(prices, small.demands[i], strict=True)), Fraction(1, 10**9)
        )

    order = sorted(range(len(weights)), key=density, reverse=True)
    best, _ = _depth_first(small, weights, order, 0, most)
    value, chosen = _depth_first(small, weights, range(len(weights)), best, most)
    assert value == best
    return chosen


def _suffix_prices(small: Reduced, weights: Sequence[int], order: Sequence[int]) -> list[list[Fraction]]:
    """Return for each suffix of `order` resource prices p >= 0 with p d_i >= w_i: then no suffix beats p times room."""
    program = LinearProgram([(None, c) for c in small.capacity])
    prices: list[list[Fraction]] = [[Fraction(0)] * len(small.capacity)]
    for i in reversed(order):
        program.add_columns([weights[i]], [dict(enumerate(small.demands[i]))])
        prices.append(list(program.solve().dual))
    return prices[::-1]


def _depth_first(
    small: Reduced, weights: Sequence[int], order: Sequence[int], target: int, most: int
) -> tuple[int, list[int]]:
    """Return the greatest weight that is at least `target` and the first configuration in `order` that has it."""
    n = len(order)
    scaled = [to_integers(row) for row in _suffix_prices(small, weights, order)]
    best, chosen = target - 1, [0] * len(weights)
    k = [0] * len(weights)
    nodes = 0

    def visit(depth: int, left: list[int], value: int) -> None:
        nonlocal best, chosen, nodes
        if depth == n:
            if value > best:
                best, chosen = value, k.copy()
            return
        i = order[depth]
        demand = small.demands[i]
        fitting = min(c // d for c, d in zip(left, demand, strict=True) if d)
        integers, unit = scaled[depth + 1]
        for slots in range(fitting, -1, -1):
            nodes += 1
            if nodes > most:
                raise TooLargeError(
                    f"the greatest configuration needs a table of {small.cells:,} resource levels for {n} types, and "
                    f"branch and bound gave up after {most:,} nodes: use coarser units"
                )
            room = [c - slots * d for c, d in zip(left, demand, strict=True)]
            gain = value + slots * weights[i]
            price = sum(p * c for p, c in zip(integers, room, strict=True))
            if gain + price * unit.numerator // unit.denominator > best:
                k[i] = slots
                visit(depth + 1, room, gain)
        k[i] = 0

    visit(0, list(small.capacity), 0)
    return best, chosen


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
