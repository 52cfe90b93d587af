"""The configuration program of many sizes: column generation in floats, kept steady, and one exact finish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isnan, lcm

import numpy as np
from numpy.typing import NDArray

from theory.errors import TooLargeError
from theory.exact.filling import filled_largest_first
from theory.exact.linear import LinearProgram, Vertex
from theory.numbers import total
from theory.partition import states
from theory.partition.pricing import dearest, dearest_once, long_dearest

CELLS = 20_000_000
"""Limit of the memory by which configurations are priced, unless more is allowed: a state of a list counts as four
cells, and as two more for each word of its exact value."""

TABLED = 8
"""A table (items times levels of the capacity) has at most so many times `CELLS`, as it takes less for each of them.

Beyond, lists of states price."""

PASSES = 2
"""All states that are ever listed for a program are at most so many times `CELLS`: it bounds the time."""

ROUNDED = (20_000, 400_000)
"""Levels to which sizes are rounded up in the first rounds, where lists follow: what fits so fits as it stands."""

SEVERAL = 1000
"""Most columns that join in one round, each the best with a size of its own."""

KEPT = 4
"""Columns a type, those of the best reduced costs, that stay in the program when it has twice as many."""

STEADY = 0.9
"""Weight of the prices of the best bound in those that columns are sought for (Wentges' smoothing)."""

NEAR = 1e-12
"""Relative gain of a configuration, in floats, below which it is taken for none."""

SCALE = 1000
"""Cost of a server in the linear program: the solver's tolerance is absolute, and must be small beside it."""

CLOSED = 1e-11
"""Relative distance from the bound of divisible jobs, in floats, at which the program is taken to have reached it."""

MAGNIFIED = 2**20
"""How many times as much a server costs that stays empty, where only what is empty costs: small amounts must count."""

LIMB = 62
"""Exact prices are integers in words of this many bits."""

Pattern = tuple[tuple[int, int], ...]
"""Jobs in a server: (type, number), numbers positive, types increasing."""


@dataclass(frozen=True)
class Stock:
    """An optimal basis of the configuration program.

    Attributes
    ----------
    servers : Fraction
        Least amount of servers, in fractions, that has the demanded slots.
    patterns : tuple of (pattern, Fraction)
        Amounts of servers; together they have at least the demanded slots.
    prices : tuple of Fraction, length J
        At least 0; no configuration is worth more than 1, and the demand is worth `servers`.
    rounds : int
        Of column generation, with those of the program that it began from.
    """

    servers: Fraction
    patterns: tuple[tuple[Pattern, Fraction], ...]
    prices: tuple[Fraction, ...]
    rounds: int


def stock(
    sizes: Sequence[int],
    demand: Sequence[Fraction | int],
    capacity: int,
    most: Sequence[int] | None = None,
    cells: int = CELLS,
) -> Stock | None:
    """Solve the configuration program of one resource exactly.

    Parameters
    ----------
    sizes : sequence of int, length J
        From 1 to `capacity`.
    demand : sequence of rational, length J
        Positive.
    capacity : int
    most : sequence of int, length J, optional
        Most jobs of each type in one server; only the capacity bounds them where left out. With the demand itself, this
        is the tighter program of cutting stock whose configurations are all proper.
    cells : int
        Limit of the memory of pricing, tens of bytes a cell: of a table, or of lists of states where the table would
        be larger.

    Returns
    -------
    Stock or None
        None where no basis in floats became an exact optimum.

    Raises
    ------
    TooLargeError
        If neither a table nor lists of states are within `cells`.

    Notes
    -----
    Columns are found by a table in floats, O(J capacity) time and O(capacity) memory (with `most`, each type counts as
    often as its number has bits, and the tables of choices take a bit for each of them and each level, twice). One
    table gives a good configuration with each of the types, and many of them join; those that turn out worst leave
    again. Prices are smoothed towards those of the best bound; the first is that of divisible jobs, which cost what
    they take of a server. Where it is reached, as by jobs that fill servers without a gap, its prices are the proof;
    near it, only what servers leave empty costs, as the solver's tolerance is absolute.
    With `most`, the program without it is solved first. Where the table would be too large, the sizes are first rounded
    up to `ROUNDED` levels, and then lists of states take its place (`theory.partition.states`). Otherwise the basis is
    made exact at the end, and its prices are proved by the same table, or by lists, over integers of any length; a
    configuration that is worth too much joins, and it goes on.

    Examples
    --------
    >>> found = stock([3, 5], [2, 2], 10)
    >>> found.servers, found.prices
    (Fraction(5, 3), (Fraction(1, 3), Fraction(1, 2)))
    >>> stock([3, 5], [2, 2], 10, most=[2, 2]).servers
    Fraction(2, 1)
    """
    if most is None or len(sizes) * capacity > TABLED * cells:
        return _Program(sizes, demand, capacity, most, cells).solve()
    program = _Program(sizes, demand, capacity, None, cells)
    program.generate()
    return program.bounded(most).solve()


def bins(sizes: Sequence[int], jobs: Sequence[int], capacity: int, cells: int = CELLS) -> tuple[Stock, Stock] | None:
    """Return the least servers, in fractions, for a list of jobs: with any configurations, and with proper ones.

    A configuration is proper if it holds no more jobs of a type than there are. Both values are lower bounds of the
    bins that the jobs need, and the second is at least the first. The memory of pricing is limited as in `stock`.

    Examples
    --------
    >>> [str(found.servers) for found in bins([3, 5], [2, 2], 10)]
    ['5/3', '2']
    """
    program = _Program(sizes, jobs, capacity, None, cells)
    found = program.solve()
    proper = None if found is None else program.bounded(jobs).solve()
    return None if found is None or proper is None else (found, proper)


class _Program:
    """A program, its columns, and how they are priced."""

    def __init__(
        self,
        sizes: Sequence[int],
        demand: Sequence[Fraction | int],
        capacity: int,
        most: Sequence[int] | None,
        cells: int,
    ) -> None:
        self.cells = cells
        self.sizes = np.array(sizes, np.int64)
        self.capacity = capacity
        self.rounds = 0
        self.demand = [Fraction(d) for d in demand]
        self.floats = np.array([float(d) for d in self.demand])
        self.unit = len(self.demand) / total(self.demand)  # the solver sees a mean demand of 1
        self.linear = LinearProgram([(d * self.unit, None) for d in self.demand])
        self.linear.solver.expect_columns()
        self.empty_cost = 0  # of a unit that a server leaves empty; where it is 0, a server costs `SCALE`, full or not
        self.patterns: list[Pattern] = []
        self.present: set[Pattern] = set()
        # as if jobs were divisible: no configuration is worth more than its server at these prices
        self.centre = self.sizes / capacity
        self.bound = float(self.floats @ self.centre)
        self._set_most(most)
        order = np.argsort(-self.sizes, kind="stable")
        column = self.sizes[order][:, None]
        for row in filled_largest_first(np.array([capacity]), column, self.floats[order], self.most[order]):
            self.add(tuple(sorted((int(order[i]), int(row[i])) for i in row.nonzero()[0])))

    def _set_most(self, most: Sequence[int] | None) -> None:
        """Set how many jobs of each type a server may hold, and add the configurations of one type."""
        room = self.capacity // self.sizes
        self.most = room if most is None else np.minimum(room, np.array(most, np.int64))
        # a type is a few items that are taken at most once: 1, 2, 4, ... of its jobs; one item without end if unbounded
        self.endless = bool((self.most == room).all())
        self.owner, self.number = _items(self.most, self.endless)
        self.weight = self.sizes[self.owner] * self.number
        self.tabled = len(self.weight) * self.capacity <= TABLED * self.cells
        jobs = int(room.max())
        if not self.tabled and (self.capacity > states.FINEST or jobs > states.MOST_JOBS):
            raise TooLargeError(
                f"a server holds {jobs:,} jobs, on a grid of {self.capacity:,} units: expected at most "
                f"{states.MOST_JOBS:,} jobs and {states.FINEST:,} units; use coarser units, or leave out tiny sizes"
            )
        self.order = np.argsort(-self.weight, kind="stable")  # largest first, as lists of states are shortest
        self.listed = 0  # states so far
        self.stops_there = True  # at the bound of divisible jobs
        self.tidied = inf
        self._add_singles()

    def _add_singles(self) -> None:
        for j, number in enumerate(self.most.tolist()):
            self.add(((j, number),))

    def bounded(self, most: Sequence[int]) -> _Program:
        """Go on with at most so many jobs of each type in a server; configurations that have more leave."""
        if self.empty_cost:
            self._charge(0)
        proper = [i for i, pattern in enumerate(self.patterns) if all(k <= most[j] for j, k in pattern)]
        self.linear.keep_columns(proper)
        self._keep(proper)
        self._set_most(most)
        return self

    def _keep(self, places: list[int]) -> None:
        self.patterns = [self.patterns[i] for i in places]
        self.present = set(self.patterns)

    def _tidy(self, value: float) -> None:
        """Let the worst columns leave, where they are many and the program is worth less than when they last did."""
        if len(self.patterns) > 2 * KEPT * len(self.sizes) and value < self.tidied:
            self.tidied = value * (1 - NEAR)
            self._keep(self.linear.keep_best(KEPT * len(self.sizes)))

    def add(self, pattern: Pattern) -> bool:
        if pattern in self.present:
            return False
        self.present.add(pattern)
        self.patterns.append(pattern)
        self.linear.add_columns([self._cost(pattern)], [dict(pattern)])
        return True

    def _cost(self, pattern: Pattern) -> int:
        """Return what a server costs, or what it leaves empty, negative."""
        if not self.empty_cost:
            return -SCALE
        return -self.empty_cost * (self.capacity - sum(int(self.sizes[j]) * k for j, k in pattern))

    def _charge(self, empty_cost: int) -> None:
        """Go on with another cost of a unit that a server leaves empty, or with none.

        If all jobs are placed and none more, the servers are the bound of divisible jobs and what they leave empty.
        """
        self.empty_cost = empty_cost
        self.linear.solver.move_bounds(not empty_cost)
        self.linear.solver.stop_at(-self._least() if empty_cost else inf)
        self.centre = self.sizes / self.capacity
        self.tidied = inf
        for i, pattern in enumerate(self.patterns):
            self.linear.set_cost(i, self._cost(pattern))
        for j, demand in enumerate(self.demand):
            self.linear.set_row(j, demand * self.unit, demand * self.unit if empty_cost else None)
        self._add_singles()  # with them some amounts place all jobs and none more

    def solve(self) -> Stock | None:
        """Solve exactly, from the columns that are there on; None where no basis in floats became an exact optimum.

        Near the bound of divisible jobs, what servers leave empty may be too little for the solver's tolerance. Then
        only that costs, and much more, until nothing is left empty. Where that cannot be, servers cost what they did.
        """
        divisible = [Fraction(size, self.capacity) for size in self.sizes.tolist()]
        multipliers = [-SCALE * price for price in divisible]
        while True:
            self.generate()
            reached = self._has_reached(self.linear.solve_float()[0])
            if reached:
                vertex = self.linear.solve_basis([Fraction(0)] * len(divisible) if self.empty_cost else multipliers)
                if vertex is not None:
                    return self.answer(vertex, divisible)
            if self.empty_cost:  # near the bound, and not on it
                self._charge(0)
                self.stops_there = False
                continue
            if reached and self.stops_there:
                self._charge(max(1, SCALE * MAGNIFIED // self.capacity))
                continue
            vertex = self.linear.solve_basis()
            if vertex is None:
                return None
            prices = [-y / SCALE for y in vertex.dual]
            if not self.price_exactly(prices):
                return self.answer(vertex, prices)

    def _has_reached(self, objective: float) -> bool:
        """Return whether a solution in floats takes as few servers as if jobs were divisible."""
        return -objective <= self._least()

    def _least(self) -> float:
        """Return the cost, with what counts as none beside it, if jobs were divisible."""
        servers = float(self.floats @ self.sizes) / self.capacity * float(self.unit) * SCALE
        return servers * (CLOSED if self.empty_cost else 1 + CLOSED)

    def generate(self) -> None:
        """Add columns until none in floats is worth more than its server, or there is no optimum in floats."""
        if self.tabled:
            self._generate(partial(self._dearest, weight=self.weight, capacity=self.capacity))
            return
        for levels in ROUNDED:
            known = self.centre, self.bound
            self._generate(partial(self._dearest, weight=self._weight_in(levels), capacity=levels))
            self.centre, self.bound = known  # rounded sizes bound nothing
        self._generate(self._dearest_listed)

    def _weight_in(self, levels: int) -> NDArray[np.int64]:
        """Return the sizes of the items, each job rounded up to whole levels of the capacity."""
        jobs = [-(-size * levels // self.capacity) for size in self.sizes.tolist()]
        return np.array(jobs, np.int64)[self.owner] * self.number

    def _generate(self, dearest_at: Callable[[NDArray[np.float64]], tuple[float, set[Pattern]]]) -> None:
        steady = STEADY
        while True:
            self.rounds += 1
            objective, _, dual = self.linear.solve_float()
            if isnan(objective) or (self.stops_there and self._has_reached(objective)):
                return
            self._tidy(-objective)
            prices = self._prices(dual)
            sought = steady * self.centre + (1 - steady) * prices
            best, found = dearest_at(sought)
            bound = float(self.floats @ sought) / max(best, 1.0)
            if bound > self.bound:
                self.bound, self.centre = bound, sought / max(best, 1.0)
            gains = [(self._cost(pattern) - sum(float(dual[j]) * k for j, k in pattern), pattern) for pattern in found]
            gains = sorted((gain for gain in gains if gain[0] > NEAR * SCALE), reverse=True)[:SEVERAL]
            fresh = sum([self.add(pattern) for _, pattern in gains])
            if not fresh:
                if steady == 0:
                    return
                steady = 0.0  # nothing at the smoothed prices: look at the true ones
            else:
                steady = STEADY

    def _prices(self, dual: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the prices of jobs, in servers."""
        if not self.empty_cost:
            return np.maximum(-dual / SCALE, 0.0)
        return np.maximum((self.sizes - dual / self.empty_cost) / self.capacity, 0.0)

    def _dearest(
        self, prices: NDArray[np.float64], weight: NDArray[np.int64], capacity: int
    ) -> tuple[float, set[Pattern]]:
        best, chosen = (dearest if self.endless else dearest_once)(weight, prices[self.owner] * self.number, capacity)
        return best, self._patterns(chosen)

    def _dearest_listed(self, prices: NDArray[np.float64]) -> tuple[float, set[Pattern]]:
        values = prices[self.owner] * self.number
        made = self._listed(values, np.zeros((len(values), 0), np.int64), 1.0)
        rows = states.various(made.state, made.item, made.parent, self.owner[self.order], len(self.sizes), SEVERAL)
        best = float(made.values[-1]) if len(made.values) else 1.0
        return max(best, 1.0), self._patterns(rows[:, np.argsort(self.order)])

    def _listed(self, values: NDArray[np.float64], words: NDArray[np.int64], target: float) -> states.Sets:
        """Return the sets of items that may be worth more than the target, items by `order`."""
        most = self.cells // (4 + 2 * words.shape[1])
        weight, price, exact = self.weight[self.order], values[self.order], words[self.order]
        made = states.undominated(weight, price, exact, self.capacity, self.endless, target, most)
        self.listed += len(made.item)
        if not made.within or self.listed > PASSES * self.cells:
            raise TooLargeError(
                f"the exact maximum of {len(self.sizes):,} sizes on a grid of {self.capacity:,} units takes more than "
                f"{self.cells:,} cells, of tables or lists of states: allow more, or use coarser sizes"
            )
        return made

    def _patterns(self, chosen: NDArray[np.int32]) -> set[Pattern]:
        """Turn rows of items into patterns."""
        found = set()
        for row in chosen:
            jobs: dict[int, int] = {}
            for item in row.nonzero()[0].tolist():
                owner = int(self.owner[item])
                jobs[owner] = jobs.get(owner, 0) + int(row[item]) * int(self.number[item])
            found.add(tuple(sorted(jobs.items())))
        return found - {()}

    def price_exactly(self, prices: Sequence[Fraction]) -> bool:
        """Add the configurations that a table of exact integers finds to be worth more than 1; return whether any."""
        unit = lcm(*(price.denominator for price in prices))
        worth = [price.numerator * (unit // price.denominator) for price in prices]
        items = [worth[j] * k for j, k in zip(self.owner.tolist(), self.number.tolist(), strict=True)]
        jobs = int(self.capacity // self.sizes.min()) + 1
        limbs = max(1, -(-(max(worth) * jobs).bit_length() // LIMB))
        mask = (1 << LIMB) - 1
        words = np.array([[(w >> (LIMB * (limbs - 1 - i))) & mask for i in range(limbs)] for w in items], np.int64)
        if self.tabled:
            row = long_dearest(self.weight, words, self.capacity, self.endless)
        else:
            made = self._listed(np.array([Fraction(w, unit) for w in items], np.float64), words, 1.0)
            row = np.zeros(len(items), np.int32)
            row[self.order] = states.jobs_of(made, len(items))
        fresh = False
        for pattern in self._patterns(row[None, :]):
            if sum(worth[j] * k for j, k in pattern) > unit:
                fresh = self.add(pattern)
        return fresh

    def answer(self, vertex: Vertex, prices: Sequence[Fraction]) -> Stock:
        used = [(p, x / self.unit) for p, x in zip(self.patterns, vertex.primal, strict=True) if x]
        servers = sum((p * d for p, d in zip(prices, self.demand, strict=True)), Fraction(0))
        return Stock(servers, tuple(used), tuple(prices), self.rounds)


def _items(most: NDArray[np.int64], endless: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return type and number of the items into which the jobs of each type are bundled."""
    if endless:
        return np.arange(len(most)), np.ones(len(most), np.int64)
    owner, number = [], []
    for j, jobs in enumerate(most.tolist()):
        bundle, done = 1, 0
        while done < jobs:
            owner.append(j)
            number.append(min(bundle, jobs - done))
            done += number[-1]
            bundle *= 2
    return np.array(owner, np.int64), np.array(number, np.int64)
