"""The fewest bins for counted items where one resource binds: bounds from both sides, and a packing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theory.errors import TooLargeError
from theory.exact.columns.generation import ENUMERATE_BELOW, Pattern, PoolColumn
from theory.exact.knapsack import count, maximal, reduced, weight
from theory.greedy.whole import MOST_JOBS, floors, packed_largest_first, whole_servers
from theory.instance import Additive, Configuration, additive
from theory.numbers import ceiling

if TYPE_CHECKING:
    from theory.exact.columns.cutting_stock import Stock

PROGRAM_CELLS, FEW_KINDS = 20_000_000, 300
"""Kinds times units of a bin, or kinds, up to which the configuration program is solved unless it is asked for."""

SEARCHED_KINDS = 200
"""Kinds up to which whole bins are looked for among the configurations of the program, some seconds of work."""


@dataclass(frozen=True)
class Bins:
    """Bounds of the fewest bins for a list of items, and what proves them.

    Attributes
    ----------
    lower, upper : int
        No packing has fewer bins than `lower`; `columns` has `upper`.
    columns : tuple of (configuration, int)
        Numbers of bins; they have a place for each item, and no more.
    prices : tuple of Fraction, length J
        Of an item of each kind. At these the items are worth more than ``lower - 1`` times what a bin can be worth that
        holds no more items of a kind than there are.
    configurations, proper : Fraction, optional
        Bins in fractions, by any configurations and by those that hold no more items of a kind than there are, where
        one resource binds.
    solved : bool
        Whether a configuration program was solved; if not, `lower` is a bound by the sizes alone.
    """

    lower: int
    upper: int
    columns: tuple[tuple[Configuration, int], ...]
    prices: tuple[Fraction, ...]
    configurations: Fraction | None = None
    proper: Fraction | None = None
    solved: bool = True

    def of_kinds(self, places: Sequence[int], width: int) -> Bins:
        """Return the bounds with kind `i` as kind ``places[i]`` of `width`; the other kinds have no items."""
        place = {j: i for i, j in enumerate(places)}

        def spread(row: Sequence[Any], nothing: Any) -> tuple[Any, ...]:
            return tuple(row[place[j]] if j in place else nothing for j in range(width))

        columns = tuple((spread(k, 0), number) for k, number in self.columns)
        return replace(self, columns=columns, prices=spread(self.prices, Fraction(0)))


def one_resource_bins(
    space: Additive, counts: Sequence[int], cells: int | None = None, *, asked: bool = False
) -> Bins | None:
    """Bound the fewest bins for a list of items from both sides; None where not just one resource binds.

    Parameters
    ----------
    space : Additive
        A bin, and the kinds of items; each fits.
    counts : sequence of int, shape (J,)
        Items of each kind.
    cells : int, optional
        Limit of the memory of pricing (`theory.exact.columns.stock`).
    asked : bool
        Whether the configuration program is solved whatever its size; TooLargeError where it cannot be.

    Notes
    -----
    Lower bound: the configuration program over proper configurations, rounded up. Upper bound: First-Fit Decreasing,
    and where that is more, the best of `theory.greedy.whole.whole_servers`. The order of the kinds and the units of the
    resource change nothing, so that one list has one answer in whatever form it is written.

    Examples
    --------
    >>> from theory.instance import additive
    >>> found = one_resource_bins(additive([12], [[2], [3], [4], [6], [7]]).pools[0].space, [2, 4, 3, 1, 2])
    >>> found.lower, found.upper, str(found.proper)
    (4, 4, '4')
    """
    small = reduced(space, [j for j, number in enumerate(counts) if number])
    if len(small.capacity) != 1:
        return None
    kinds = sorted(zip(small.demands, small.types, strict=True), key=lambda kind: (-kind[0][0], space.demands[kind[1]]))
    places = [j for _, j in kinds]
    bounds = _of_sizes(
        [size for (size,), _ in kinds], [counts[j] for j in places], small.capacity[0], cells, asked=asked
    )
    return bounds.of_kinds(places, len(counts))


def _of_sizes(sizes: Sequence[int], need: Sequence[int], capacity: int, cells: int | None, *, asked: bool) -> Bins:
    """Bound the fewest bins for items of decreasing sizes, whose common unit is 1."""
    units = Additive(("size",), (capacity,), tuple((size,) for size in sizes), (Fraction(1, capacity),))
    best = packed_largest_first(units, need)  # First-Fit Decreasing
    programs = _programs(sizes, need, capacity, cells, asked=asked)
    if programs is None:
        lower, prices = _by_sizes(sizes, need, capacity)
        return Bins(lower, _bins(best), _whole(best), prices, solved=False)
    anything, proper = programs
    lower = ceiling(proper.servers)
    if _bins(best) > lower and max(need) <= MOST_JOBS:
        amounts = [(0, _configuration(k, len(sizes)), amount) for k, amount in proper.patterns]
        best = min(best, packed_largest_first(units, need, floors(amounts)), key=_bins)
        if _bins(best) > lower and len(sizes) <= SEARCHED_KINDS:
            ranked = [(0, k) for k in _candidates(units, proper)]
            one_bin = additive([capacity], [[size] for size in sizes])
            best = min(best, whole_servers(one_bin, need, amounts, lower, lambda: ranked), key=_bins)
    # prices over all configurations say more, where they prove as many bins
    prices = anything.prices if ceiling(anything.servers) == lower else proper.prices
    return Bins(lower, _bins(best), _whole(best), prices, anything.servers, proper.servers)


def _programs(
    sizes: Sequence[int], need: Sequence[int], capacity: int, cells: int | None, *, asked: bool
) -> tuple[Stock, Stock] | None:
    """Return the program over any configurations and over proper ones; None where they could not be solved."""
    from theory.exact.columns.cutting_stock import bins  # only here, as it loads the pricing
    from theory.exact.knapsack.greatest import CELLS

    if not asked and len(sizes) * capacity > PROGRAM_CELLS and len(sizes) > FEW_KINDS:
        return None
    try:
        return bins(sizes, need, capacity, cells or CELLS)
    except TooLargeError:
        if asked:
            raise
        return None


def _candidates(space: Additive, proper: Stock) -> list[Configuration]:
    """Return the configurations that whole bins may have: of few all maximal ones, those worth most first."""
    width = len(space.demands)
    candidates = [_configuration(k, width) for k in proper.columns]
    if count(space, stop=ENUMERATE_BELOW + 1) <= ENUMERATE_BELOW:
        candidates = list(dict.fromkeys([*candidates, *map(tuple, maximal(space).tolist())]))
        prices = list(map(float, proper.prices))
        candidates.sort(key=lambda k: -sum(map(float.__mul__, prices, map(float, k))))
    return candidates


def _by_sizes(sizes: Sequence[int], need: Sequence[int], capacity: int) -> tuple[int, tuple[Fraction, ...]]:
    """Return the bound of divisible items, or of items above half of a bin, and the prices that prove it."""
    divisible = tuple(Fraction(size, capacity) for size in sizes)
    alone = tuple(Fraction(2 * size > capacity) for size in sizes)
    bounds = [(ceiling(weight(need, prices)), prices) for prices in (divisible, alone)]
    return max(bounds, key=lambda bound: bound[0])


def _bins(columns: Sequence[PoolColumn]) -> int:
    return sum(int(number) for _, _, number in columns)


def _whole(columns: Sequence[PoolColumn]) -> tuple[tuple[Configuration, int], ...]:
    return tuple((k, int(number)) for _, k, number in columns)


def _configuration(pattern: Pattern, width: int) -> Configuration:
    slots = dict(pattern)
    return tuple(slots.get(j, 0) for j in range(width))


# ---- sizes that are a little too large -------------------------------------------------------------------------------

NEAR = Fraction(1, 500)
"""Part of a bin by which equal items may exceed it and still be taken for rounded parts of it."""

MOST_PARTS = 20
"""Most parts of a bin that are looked for: of smaller items, some are always near a part."""


@dataclass(frozen=True)
class NearMiss:
    """Items of nearly equal sizes that exceed a bin by very little, as 6 of size 0.1667 do.

    Attributes
    ----------
    items : int
        Their number, at least 2.
    smallest, largest : Fraction
    excess : Fraction
        Their total size beyond the capacity.
    """

    items: int
    smallest: Fraction
    largest: Fraction
    excess: Fraction


def near_misses(capacity: Fraction, sizes: Sequence[Fraction], counts: Sequence[int]) -> list[NearMiss]:
    """Return where sizes near 1/k of a bin, k = 2, 3, ..., are in sum a little more than the bin.

    For each k: the k largest of the sizes within a part of `NEAR` of 1/k of the capacity.

    Examples
    --------
    >>> near_misses(Fraction(1), [Fraction("0.1667")], [6])
    [NearMiss(items=6, smallest=Fraction(1667, 10000), largest=Fraction(1667, 10000), excess=Fraction(1, 5000))]
    >>> near_misses(Fraction(1), [Fraction("0.1667"), Fraction("0.1666")], [3, 3])
    []
    """
    near: dict[int, list[tuple[Fraction, int]]] = {}
    for size, number in zip(sizes, counts, strict=True):
        parts = round(capacity / size) if size else 0
        if 2 <= parts <= MOST_PARTS and abs(parts * size - capacity) <= NEAR * capacity:
            near.setdefault(parts, []).append((size, number))
    misses = []
    for parts, rows in sorted(near.items()):
        missing, chosen = parts, []
        for size, number in sorted(rows, reverse=True):
            if taken := min(number, missing):
                chosen.append((size, taken))
                missing -= taken
        excess = sum((size * number for size, number in chosen), Fraction(0)) - capacity
        if not missing and excess > 0:
            misses.append(NearMiss(parts, chosen[-1][0], chosen[0][0], excess))
    return misses
