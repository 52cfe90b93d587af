"""How column generation prices configurations: proposals at prices in floats, and proofs at exact prices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.errors import TooLargeError
from theory.exact.knapsack import greatest as knapsack
from theory.exact.knapsack import search
from theory.exact.knapsack.configurations import reduced
from theory.exact.knapsack.greatest import CELLS
from theory.exact.knapsack.lists import ListSearch
from theory.exact.knapsack.search import Nodes
from theory.exact.knapsack.tables import best_with_each, fill_table, grids
from theory.instance import Additive, Configuration, Space

PRICE_BITS = 40
"""Bits of the largest price, to which prices in floats are rounded; fewer where a server holds so many jobs that the
value of a configuration would leave 64 bits."""

Answer = TypeVar("Answer")

LEVELS = (20_000, 400_000)
"""Levels of the capacity to which sizes are rounded up in the first rounds before a list is searched."""


class Pricing:
    """The prices of configurations on several servers, each by the algorithm that serves it (`knapsack`).

    Parameters
    ----------
    spaces : sequence of Additive, length P
        Of the same number of types J.
    most : sequence of int, shape (J,), optional
        Most jobs of each type on a server, where the only server has one resource.
    cells : int
        Limit of memory: a table has at most ten times as many cells times types, and `ListSearch` says what a list has.
    """

    def __init__(self, spaces: Sequence[Additive], most: Sequence[int] | None = None, cells: int = CELLS) -> None:
        self._spaces, self._most, self._cells = tuple(spaces), most, cells
        self._smalls = [reduced(space) for space in spaces]
        self._nodes = Nodes()
        self._lists: dict[int, ListSearch] = {}
        self._branched: list[int] = []
        limit, tabled = min(knapsack.TABLE_LIMIT, 10 * cells), []
        for p, small in enumerate(self._smalls):
            if most is None and not knapsack.too_fine(small, limit):
                tabled.append(p)
            elif most is not None or knapsack.is_listed(small):
                self._lists[p] = ListSearch(small, most and [most[j] for j in small.types], cells)
            else:
                self._branched.append(p)
        shared = grids(tuple(self._spaces[p] for p in tabled), limit)
        self._tables = [([tabled[place] for place in places], grid) for places, grid in shared]

    def renew_nodes(self) -> None:
        """Allow branch and bound all nodes that a question may take (`allowing`)."""
        self._nodes = Nodes()

    def propose(
        self, prices: NDArray[np.float64], server_prices: NDArray[np.float64], several: int
    ) -> list[NDArray[np.int64]]:
        """Return configurations of great value of each server, at most `several`, as arrays int64[m, J].

        By a table they are the best with each type; by a list the best of various types, and none if none is worth more
        than the server's price; by branch and bound what short searches find with each type.
        """
        rows = [np.zeros((0, len(prices)), np.int64) for _ in self._spaces]
        for members, grid in self._tables:
            weights, _ = _rounded(prices, grid.types, grid.jobs)
            value, first = fill_table(grid.largest, grid.demands, weights)
            for p, capacity in zip(members, grid.capacities, strict=True):
                best = best_with_each(value, first, grid.largest, capacity, grid.demands, weights, several)
                rows[p] = _widened(best, grid.types, len(prices))
        for p in [*self._lists, *self._branched]:
            small = self._smalls[p]
            weights, unit = _rounded(prices, small.types, small.jobs)
            target = _in_units(server_prices[p], unit)
            rows[p] = _widened(self._without_table(p, weights.tolist(), target, several), small.types, len(prices))
        return rows

    def _without_table(self, p: int, weights: list[int], target: int, several: int) -> NDArray[np.int64]:
        if p in self._lists:
            proposed = self._by_list(p, lambda listed: listed.propose(weights, target, several))
            if proposed is not None:
                return proposed
        heavy = search.with_each(self._smalls[p], weights)[:several] if any(weights) else []
        return np.array(heavy, np.int64).reshape(len(heavy), len(weights))

    def missed(
        self, prices: NDArray[np.float64], server_prices: NDArray[np.float64]
    ) -> list[tuple[int, list[Configuration]]]:
        """Return configurations worth more than their servers, by server, that branch and bound may have missed."""
        weights, unit = _rounded(prices, range(len(prices)), 0)
        thresholds = [(p, _in_units(server_prices[p], unit)) for p in self._branched]
        return [(p, self.heavier(p, weights.tolist(), than)) for p, than in thresholds]

    def heavier(self, p: int, weights: Sequence[int], than: int) -> list[Configuration]:
        """Return configurations of a server that are worth more than a number, as the function `heavier` does."""
        small = self._smalls[p]
        chosen = [weights[j] for j in small.types]
        above: Sequence[Sequence[int]] | None = None
        if p in self._lists:
            above = self._by_list(p, lambda listed: listed.heavier(chosen, than))
        if above is None and p in self._branched:
            above = search.heavier(small, chosen, than, self._nodes)
        if above is None and knapsack.is_listed(small) and knapsack.is_long(small, chosen):
            # in Python integers a list looks at little of what a table would fill
            above = ListSearch(small, cells=self._cells).heavier(chosen, than)
        if above is None:
            best = knapsack.max_weight(self._spaces[p], weights)
            return [best] if sum(map(mul, weights, best)) > than else []
        return [knapsack.widened(small, k, len(weights)) for k in above]

    def _by_list(self, p: int, question: Callable[[ListSearch], Answer]) -> Answer | None:
        """Return a list's answer; None where it is too long, and branch and bound takes over from now on.

        Raises `TooLargeError` where branch and bound would be hopeless, or jobs are limited in number.
        """
        try:
            return question(self._lists[p])
        except TooLargeError:
            if self._most is not None or len(self._smalls[p].types) > knapsack.MANY:
                raise
        del self._lists[p]
        self._branched.append(p)
        return None

    def coarser(self) -> list[Pricing]:
        """Return pricings on coarser and coarser grids that a table can have, the coarsest first.

        Sizes are rounded up to levels of the capacity: what fits then fits as it is. Only where lists serve all servers
        and jobs are not limited in number; elsewhere there are none.
        """
        if self._most is not None or len(self._lists) < len(self._spaces):
            return []
        return [
            Pricing([_rounded_up(space, levels) for space in self._spaces], cells=self._cells)
            for levels in LEVELS
            if all(small.capacity[0] > levels for small in self._smalls)
        ]


def heavier(space: Space, weights: Sequence[int], than: int) -> list[Configuration]:
    """Return configurations that are worth more than a number, the heaviest last; an empty list proves that none is.

    Weights and the number are integers of any length, at least 0. Raises `TooLargeError` as `max_weight` does.

    Examples
    --------
    >>> from theory.instance import additive
    >>> space = additive([12], [[5], [7]]).pools[0].space
    >>> heavier(space, [2, 3], 4), heavier(space, [2, 3], 5)
    ([(1, 1)], [])
    """
    if isinstance(space, Additive) and reduced(space).types:
        return Pricing([space]).heavier(0, weights, than)
    best = knapsack.max_weight(space, weights)
    return [best] if sum(map(mul, weights, best)) > than else []


def greatest_weight(space: Space, weights: Sequence[int], known: Iterable[Configuration] = ()) -> int:
    """Return the greatest weight of a configuration, which takes less time where one that has it is known.

    Examples
    --------
    >>> from theory.instance import additive
    >>> greatest_weight(additive([12], [[5], [7]]).pools[0].space, [2, 3], [(2, 0)])
    5
    """
    best = max((sum(map(mul, weights, k)) for k in known), default=0)
    while better := heavier(space, weights, best):
        best = sum(map(mul, weights, better[-1]))
    return best


def _rounded_up(space: Additive, levels: int) -> Additive:
    """Return the server with its only binding resource in whole levels; types that do not fit still do not."""
    small = reduced(space)
    (capacity,) = small.capacity
    sizes = {j: -(-size * levels // capacity) for j, (size,) in zip(small.types, small.demands, strict=True)}
    demands = tuple((sizes.get(j, levels + 1),) for j in range(len(space.demands)))
    return Additive(("level",), (levels,), demands, (Fraction(1),))


def _rounded(prices: NDArray[np.float64], types: Sequence[int], jobs: int) -> tuple[NDArray[np.int64], float]:
    """Return integer prices of some types, and the price that one stands for."""
    largest = max(float(prices.max()), 1e-300)
    unit = largest / 2 ** min(PRICE_BITS, knapsack.WORD - 1 - jobs.bit_length())
    return np.maximum(np.rint(prices[list(types)] / unit), 0).astype(np.int64), unit


def _in_units(price: float, unit: float) -> int:
    """Return how many units a price has, at most 2**62: no configuration is worth so many."""
    return int(min(max(0.0, float(price)) / unit, 2.0**62))


def _widened(rows: NDArray[np.int64], types: Sequence[int], width: int) -> NDArray[np.int64]:
    """Return configurations of all types from those of some, int64[m, width]."""
    full = np.zeros((len(rows), width), np.int64)
    full[:, list(types)] = rows
    return full
