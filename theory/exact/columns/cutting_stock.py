"""The configuration program of one resource and counted jobs: the least servers, in fractions, that hold them.

It is column generation (`columns`) with what programs of a thousand sizes need: jobs limited in number, and an end at
the bound of divisible jobs. That bound, the total size of the jobs over the capacity, is often reached; then a job's
part of a server is its price, which proves the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from theory.exact.columns.generation import ConfigurationColumns, Multiplier, Pattern
from theory.exact.columns.pricing import Pricing
from theory.exact.columns.starts import largest_first
from theory.exact.knapsack.greatest import CELLS
from theory.exact.programs.linear import LinearProgram, Vertex
from theory.exact.programs.solver import Number
from theory.instance import Additive
from theory.numbers import total

SCALE = 1000
"""Cost of a server in the linear program: the solver's tolerance is absolute, and must be small beside it."""

CLOSED = 1e-11
"""Relative distance from the bound of divisible jobs, in floats, at which the program is taken to have reached it."""

MAGNIFIED = 2**20
"""How many times as much a server costs that stays empty, where only what is empty costs: small amounts must count."""

SIMPLEX = 100
"""Sizes up to which a simplex method in rationals decides where no basis in floats does; beyond, it would not end."""


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
    columns : tuple of pattern
        Every configuration that the program has, those first whose slots are worth most at the prices: whole servers
        are looked for among them.
    """

    servers: Fraction
    patterns: tuple[tuple[Pattern, Fraction], ...]
    prices: tuple[Fraction, ...]
    rounds: int
    columns: tuple[Pattern, ...] = ()


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
        Limit of the memory of pricing (`theory.exact.columns.pricing.Pricing`).

    Returns
    -------
    Stock or None
        None where no basis in floats became an exact optimum, for more than `SIMPLEX` sizes.

    Raises
    ------
    TooLargeError
        If the pricing needs more memory, or more nodes of branch and bound than allowed.

    Notes
    -----
    Prices are smoothed towards those of the best bound (Wentges); the first are those of divisible jobs, which cost
    what they take of a server. Where that bound is reached, as by jobs that fill servers without a gap, its prices are
    the proof; near it, only what servers leave empty costs, as the solver's tolerance is absolute. With `most`, the
    program without it is solved first, in floats. Otherwise the basis is made exact at the end, and its prices are
    proved; a configuration that is worth too much joins, and it goes on.

    Examples
    --------
    >>> found = stock([3, 5], [2, 2], 10)
    >>> found.servers, found.prices
    (Fraction(5, 3), (Fraction(1, 3), Fraction(1, 2)))
    >>> stock([3, 5], [2, 2], 10, most=[2, 2]).servers
    Fraction(2, 1)
    """
    program = CuttingStock(sizes, demand, capacity, cells)
    if most is not None:
        program.solve_float()
        program.limit(most)
    return program.solution()


def bins(sizes: Sequence[int], jobs: Sequence[int], capacity: int, cells: int = CELLS) -> tuple[Stock, Stock] | None:
    """Return the least servers, in fractions, for a list of jobs: with any configurations, and with proper ones.

    A configuration is proper if it holds no more jobs of a type than there are. Both values are lower bounds of the
    bins that the jobs need, and the second is at least the first. The memory of pricing is limited as in `stock`.

    Examples
    --------
    >>> [str(found.servers) for found in bins([3, 5], [2, 2], 10)]
    ['5/3', '2']
    """
    program = CuttingStock(sizes, jobs, capacity, cells)
    any_configurations = program.solution()
    if any_configurations is None:
        return None
    program.limit(jobs)
    proper = program.solution()
    return None if proper is None else (any_configurations, proper)


class CuttingStock(ConfigurationColumns):
    """The program ``min (servers)`` with ``sum of k_j x_k >= demand_j``, over all configurations of one resource."""

    def __init__(self, sizes: Sequence[int], demand: Sequence[Fraction | int], capacity: int, cells: int) -> None:
        self._sizes, self._capacity, self._cells = list(sizes), capacity, cells
        self._most: Sequence[int] = [capacity // size for size in sizes]
        self._demand = [Fraction(d) for d in demand]
        self._unit = len(sizes) / total(self._demand)  # the solver sees a mean demand of 1
        self._load = np.array([float(d * self._unit) for d in self._demand])
        self._empty_cost = 0  # of a unit that a server leaves empty; where it is 0, a server costs `SCALE`, full or not
        self._stops_at_bound = True  # that of divisible jobs
        program = LinearProgram([(d * self._unit, None) for d in self._demand])
        program.solver.expect_columns()
        self._space = Additive(("size",), (capacity,), tuple((size,) for size in sizes), (Fraction(1, capacity),))
        super().__init__(program, [self._space], range(len(sizes)), [], enumerate_below=0, cells=cells)
        self._always = 0  # the demand does not change, so no column has to stay
        self._centre_at_bound()
        self.add(0, largest_first(self._space, self._load, divisible=True)[0])

    def _centre_at_bound(self) -> None:
        """Begin at the prices of divisible jobs, which prove their bound: no configuration is worth more there."""
        server = float(self._server_price())
        sizes = np.array(self._sizes, np.float64) / self._capacity
        self._centre, self._bound = np.array([*(sizes * server), server]), float(self._load @ sizes)

    def _add_alone(self) -> None:
        self._join(0, [((j, number),) for j, number in enumerate(self._most)])

    def _cost(self, pattern: Pattern) -> int:
        """Return what a server costs, or what it leaves empty, negative."""
        if not self._empty_cost:
            return -SCALE
        return -self._empty_cost * (self._capacity - sum(self._sizes[j] * slots for j, slots in pattern))

    def _entries(self, pool: int, pattern: Pattern) -> dict[int, Number]:
        del pool  # the only one
        return dict(pattern)

    def _server_price(self) -> int:
        return self._empty_cost * self._capacity or SCALE

    def _priced(self, dual: Sequence[Multiplier]) -> tuple[list[Multiplier], list[Multiplier]]:
        """Return prices at which a configuration joins if it is worth more than its server.

        Where only what is empty costs, at e a unit, k joins if ``-y k > e (C - s k)``: if ``(e s - y) k > e C``.
        """
        slots = [self._empty_cost * size - price for price, size in zip(dual, self._sizes, strict=True)]
        return slots, [self._server_price() + 0 * dual[0]]

    def limit(self, most: Sequence[int]) -> None:
        """Go on with at most so many jobs of each type in a server; configurations that have more leave."""
        if self._empty_cost:
            self._charge(0)
        proper = [i for (_, k), i in self._present.items() if all(slots <= most[j] for j, slots in k)]
        self._program.keep_columns(proper)
        self._renumber(proper)
        self._most = [min(pair) for pair in zip(most, self._most, strict=True)]
        self._pricing, self._coarser = Pricing([self._space], self._most, self._cells), []
        self._stops_at_bound, self._dropped_at = True, -inf
        self._add_alone()

    def _charge(self, empty_cost: int) -> None:
        """Go on with another cost of a unit that a server leaves empty, or with none.

        If all jobs are placed and none more, the servers are the bound of divisible jobs and what they leave empty.
        """
        self._empty_cost = empty_cost
        self._program.solver.move_bounds(not empty_cost)
        self._program.solver.stop_at(-self._least_cost() if empty_cost else inf)
        self._dropped_at = -inf
        self._centre_at_bound()
        for (_, pattern), column in self._present.items():
            self._program.set_cost(column, self._cost(pattern))
        for j, demand in enumerate(self._demand):
            self._program.set_row(j, demand * self._unit, demand * self._unit if empty_cost else None)
        self._add_alone()  # with them some amounts place all jobs and none more

    def solution(self) -> Stock | None:
        """Solve exactly, from the columns that are there on; None where no basis in floats became an exact optimum.

        Near the bound of divisible jobs, what servers leave empty may be too little for the solver's tolerance. Then
        only that costs, and much more, until nothing is left empty. Where that cannot be, servers cost what they did.
        """
        divisible = [Fraction(size, self._capacity) for size in self._sizes]
        self._renew_nodes()
        while True:
            self._generate()
            reached = -self._program.solve_float()[0] <= self._least_cost()
            if reached:
                multipliers = [(0 if self._empty_cost else -SCALE) * price for price in divisible]
                vertex = self._program.solve_basis(multipliers)
                if vertex is not None:
                    return self._answer(vertex, divisible)
            if self._empty_cost:  # near the bound, and not on it
                self._charge(0)
                self._stops_at_bound = False
            elif reached and self._stops_at_bound:
                self._charge(max(1, SCALE * MAGNIFIED // self._capacity))
            else:
                vertex = self._program.solve() if len(self._sizes) <= SIMPLEX else self._program.solve_basis()
                if vertex is None:
                    return None
                if not self._add_heavier(vertex):
                    return self._answer(vertex, [-price / SCALE for price in vertex.dual])

    def _least_cost(self) -> float:
        """Return the cost, with what counts as none beside it, if jobs were divisible."""
        servers = float(self._load @ np.array(self._sizes, np.float64)) / self._capacity * SCALE
        return servers * (CLOSED if self._empty_cost else 1 + CLOSED)

    def _is_enough(self, objective: float) -> bool:
        return self._stops_at_bound and -objective <= self._least_cost()

    def _recentre(self, sought: NDArray[np.float64], proposed: Sequence[NDArray[np.int64]]) -> None:
        """Move the centre to prices that prove more than any before.

        Divided by the worth of the best configuration they price none above its server, so the load is worth no more
        than the servers that it takes.
        """
        slots, server = sought[:-1], sought[-1]
        ratio = max([1.0, *(proposed[0][:1] @ slots / server).tolist()])  # the best is the first
        bound = float(self._load @ slots) / (ratio * server)
        if bound > self._bound:
            self._bound, self._centre = bound, np.array([*(slots / ratio), server])

    def _answer(self, vertex: Vertex, prices: Sequence[Fraction]) -> Stock:
        used = [(k, x / self._unit) for (_, k), column in self._present.items() if (x := vertex.primal[column])]
        servers = total(price * d for price, d in zip(prices, self._demand, strict=True))
        worth = {k: sum(float(prices[j]) * slots for j, slots in k) for _, k in self._present}
        ranked = sorted(worth, key=lambda k: (-worth[k], k))
        return Stock(servers, tuple(used), tuple(prices), self.rounds, tuple(ranked))
