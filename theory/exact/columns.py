"""Column generation over configurations: floats propose, exact prices dispose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from theory.exact.configurations import has_at_most, maximal, reduced
from theory.exact.filling import SERVED, fillings
from theory.exact.knapsack import heavier, too_fine
from theory.exact.linear import LinearProgram, Vertex
from theory.exact.nodes import Nodes
from theory.exact.solver import Bound, Number
from theory.instance import Additive, Configuration, Explicit, Space
from theory.numbers import to_integers

ENUMERATE_BELOW = 20_000
"""Number of feasible configurations up to which all maximal ones are columns from the start."""

SEVERAL = 160
"""Most configurations that join in one round, of all pools together, each the best with a type of its own."""

LOOKED_AT = 3
"""So many times as many of each pool are compared at the true prices."""

STEADY = 0.7
"""Weight of the earlier prices in those that configurations are sought for, which keeps prices from swinging."""

PRICE_BITS = 40
"""Float prices are rounded to this many bits before the integer dynamic program."""


class ConfigurationColumns:
    """The columns of a linear program that stand for configurations: one block for every pool.

    A column of pool p holds ``-k_j`` in the row of slots of type j and 1 in the row of pool p, and costs nothing: it
    turns servers into slots. The prices of slots decide which configuration is missing.

    Parameters
    ----------
    program : LinearProgram
        Maximises; slots row j reads ``(slots used) - sum of k_j x_k <= 0``.
    spaces : sequence of Space, length P
    slot_rows : sequence of int, length J
    pool_rows : sequence of int, length P
        ``sum of x_k <= servers`` in each.
    enumerate_below : int, optional
        Pools with at most so many feasible configurations have all maximal ones from the start; `ENUMERATE_BELOW`
        where left out.
    """

    def __init__(
        self,
        program: LinearProgram,
        spaces: Sequence[Space],
        slot_rows: Sequence[int],
        pool_rows: Sequence[int],
        *,
        enumerate_below: int | None = None,
    ) -> None:
        self._program, self._spaces = program, tuple(spaces)
        self._slot_rows, self._pool_rows = tuple(slot_rows), tuple(pool_rows)
        self._present: dict[tuple[int, Configuration], int] = {}
        few = ENUMERATE_BELOW if enumerate_below is None else enumerate_below
        self._complete = [isinstance(space, Explicit) or has_at_most(space, few) for space in spaces]
        self._guess: NDArray[np.float64] | None = None  # prices that configurations are sought for first
        width = len(slot_rows)
        alone: set[int] = set()  # types that a pool has for itself: with one column each the program is feasible
        for p, space in enumerate(self._spaces):
            if self._complete[p]:
                self.add(p, map(tuple, maximal(space).tolist()))
            else:
                most = {j: space.most(j) for j in range(width) if j not in alone}
                self.add(p, (tuple(n if i == j else 0 for i in range(width)) for j, n in most.items() if n))
                alone |= {j for j, n in most.items() if n}

    def add(self, pool: int, configurations: Iterable[Configuration]) -> bool:
        """Add columns that are not there yet; return whether any was new."""
        fresh = [k for k in dict.fromkeys(configurations) if (pool, k) not in self._present]
        for position, k in enumerate(fresh, self._program.width):
            self._present[pool, k] = position
        entries: list[dict[int, Number]] = [
            {self._pool_rows[pool]: 1, **{self._slot_rows[j]: -slots for j, slots in enumerate(k) if slots}}
            for k in fresh
        ]
        if fresh:
            self._program.add_columns([0] * len(fresh), entries)
        return bool(fresh)

    def serve(self, workload: Sequence[Fraction], shares: Sequence[Fraction]) -> None:
        """Add configurations that carry a workload: a start for `solve`.

        Parameters
        ----------
        workload : sequence of Fraction, shape (J,)
            At least 0.
        shares : sequence of Fraction, shape (P,)
            Of the servers, in each pool.

        Notes
        -----
        The workload is divided among the pools as if jobs were divisible (`divided`); each pool alone then finds
        configurations for its part, in a program with few rows. The prices of that division are looked at first when
        configurations are sought for all pools together. Where one resource binds, the largest jobs first are so good
        a start that every pool gets the configurations that would carry everything.
        """
        from theory.exact.divided import divided  # only for spaces that are not enumerated

        unfinished = self._unfinished()
        if not unfinished:
            return
        self._program.solver.expect_columns()
        additive = [space for space in self._spaces if isinstance(space, Additive)]
        split = None
        one = all(len(reduced(space).capacity) == 1 for _, space in unfinished)
        if not one and len(additive) == len(self._spaces) and len({space.demands for space in additive}) == 1:
            split = divided(additive, list(map(float, shares)), list(map(float, workload)))
        offered = np.array(list(map(float, workload)))
        if split is not None:
            self._guess = split[1]
        for p, space in unfinished:
            part = offered if split is None else split[0][p]
            carry = fillings if split is None or len(self._spaces) == 1 else _carrying
            self.add(p, map(tuple, carry(space, np.where(part > SERVED * offered, part, 0.0)).tolist()))

    def items(self) -> Iterable[tuple[int, Configuration, int]]:
        """Yield (pool, configuration, column) for every column so far."""
        return ((pool, k, column) for (pool, k), column in self._present.items())

    def solve(self) -> Vertex:
        """Solve the program over *all* configurations exactly.

        Notes
        -----
        Rounds of float solve and integer pricing until no rounded price finds a better configuration, then the exact
        vertex, priced exactly over all configurations; what prices in is added and the loop goes on. It ends because
        a configuration enters once.
        """
        nodes = Nodes()
        while True:
            self._generate(nodes)
            vertex = self._program.solve()
            prices, unit = to_integers([vertex.dual[row] for row in self._slot_rows])
            added = False
            for p, space in self._unfinished():
                added |= self.add(p, heavier(space, prices, floor(vertex.dual[self._pool_rows[p]] / unit), nodes))
            if not added:
                return vertex

    def at_most(self, bound: Fraction) -> bool:
        """Decide exactly whether the program over all configurations is worth at most a bound."""
        shown = not self._unfinished() and self._program.at_most(bound)
        return shown or self.solve().objective <= bound

    def solve_float(self) -> float:
        """Return the float objective over all configurations, up to the rounding of prices."""
        self._generate(Nodes())
        return self._program.solve_float()[0]

    def used(self) -> list[Configuration]:
        """Return the configurations that the solution in floats uses, of all pools."""
        self._generate(Nodes())
        _, primal, _ = self._program.solve_float()
        return [k for _, k, column in self.items() if primal[column] > 0]

    def _unfinished(self) -> list[tuple[int, Additive]]:
        """Return the pools of which not all maximal configurations are columns, with their spaces."""
        pools = enumerate(zip(self._spaces, self._complete, strict=True))
        return [(p, space) for p, (space, complete) in pools if isinstance(space, Additive) and not complete]

    def _generate(self, nodes: Nodes) -> None:
        """Add configurations until, at the prices in floats, none of those found is worth more than its server."""
        from theory.exact.heavy import heavy  # only for spaces that are not enumerated

        unfinished = self._unfinished()
        several = max(1, SEVERAL // max(1, len(unfinished)))
        spaces = [space for _, space in unfinished]
        sought, steady = (np.zeros(len(self._slot_rows)), 0.0) if self._guess is None else (self._guess, 1.0)
        self._guess = None
        while unfinished:
            _, _, dual = self._program.solve_float()
            slots = dual[list(self._slot_rows)]
            sought = steady * sought + (1 - steady) * slots
            added = False
            all_found = heavy(spaces, _rounded(sought), LOOKED_AT * several)
            for (p, _), found in zip(unfinished, all_found, strict=True):
                gains = found @ slots
                threshold = float(dual[self._pool_rows[p]])
                better = np.flatnonzero(gains > threshold + 1e-9 * (1 + abs(threshold)))
                best = better[np.argsort(-gains[better], kind="stable")[:several]]
                added |= self.add(p, map(tuple, found[best].tolist()))
            if not added and not steady and not self._searched(unfinished, dual, nodes):
                return
            steady = STEADY if added else 0.0  # nothing at the steady prices: look at the true ones

    def _searched(self, pools: Sequence[tuple[int, Additive]], dual: NDArray[np.float64], nodes: Nodes) -> bool:
        """Add configurations of pools without a table, whose short searches may miss some; return whether any."""
        added = False
        slots = dual[list(self._slot_rows)]
        prices = _rounded(slots)
        unit = max(float(slots.max()), 1e-300) / 2**PRICE_BITS
        for p, space in pools:
            if too_fine(reduced(space)):
                threshold = max(0.0, float(dual[self._pool_rows[p]]))
                than = int((threshold + 1e-9 * (1 + threshold)) / unit)
                added |= self.add(p, heavier(space, prices, than, nodes))
        return added


def _carrying(space: Additive, wanted: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return configurations of one pool that carry what is wanted on few servers, int64[m, J]."""
    types = np.flatnonzero(wanted).tolist()
    rows: list[tuple[Bound, Bound]] = [(None, -Fraction(float(wanted[j]))) for j in types]
    program = LinearProgram([*rows, (None, 0)])
    program.add_columns([-1], [{len(types): -1}])
    part = replace(space, demands=tuple(space.demands[j] for j in types))
    columns = ConfigurationColumns(program, [part], range(len(types)), [len(types)], enumerate_below=0)
    columns.serve([Fraction(float(wanted[j])) for j in types], [Fraction(1)])
    used = columns.used()
    found = np.zeros((len(used), len(wanted)), np.int64)
    found[:, types] = np.array(used, np.int64).reshape(len(used), len(types))
    return found


def _rounded(prices: NDArray[np.float64]) -> list[int]:
    largest = max(float(prices.max()), 1e-300)
    return [max(0, round(float(price) / largest * 2**PRICE_BITS)) for price in prices]


def slots_of(columns: Iterable[tuple[Configuration, Fraction]], width: int) -> list[Fraction]:
    """Return the slots of each type that fractions of servers in given configurations make, shape (J,)."""
    slots = [Fraction(0)] * width
    for k, fraction in columns:
        for j, number in enumerate(k):
            if number:
                slots[j] += fraction * number
    return slots


PoolColumn = tuple[int, Configuration, Fraction]
"""(pool, configuration, amount of servers)."""


def trimmed(columns: Sequence[PoolColumn], need: Sequence[Fraction | int]) -> list[PoolColumn]:
    """Take away slots beyond what is needed, splitting a column where only part of it has a slot too many.

    Parameters
    ----------
    columns : sequence of (pool, configuration, amount)
        Their slots cover the need; whole amounts stay whole if the need is whole.
    need : sequence of rational, shape (J,)

    Returns
    -------
    list of (pool, configuration, amount)
        Slots exactly as needed; distinct, without empty configurations, by pool and decreasing configuration.

    Examples
    --------
    >>> trimmed([(0, (2, 1), Fraction(3))], [4, 3])
    [(0, (2, 1), Fraction(1, 1)), (0, (1, 1), Fraction(2, 1))]
    """
    current = [(p, list(k), amount) for p, k, amount in _in_order(columns)]
    slots = slots_of([(k, amount) for _, k, amount in columns], len(need))
    for j, surplus in enumerate(have - wanted for have, wanted in zip(slots, need, strict=True)):
        if not surplus:
            continue
        left, kept = surplus, []
        for p, k, amount in current:
            whole = min(k[j], floor(left / amount))
            k[j] -= whole
            left -= whole * amount
            part = left if k[j] else Fraction(0)
            if part:
                less = k.copy()
                less[j] -= 1
                kept.append((p, less, part))
                left = Fraction(0)
            kept.append((p, k, amount - part))
        current = kept
    merged: dict[tuple[int, Configuration], Fraction] = {}
    for p, k, amount in current:
        if any(k):
            merged[p, tuple(k)] = merged.get((p, tuple(k)), Fraction(0)) + amount
    return _in_order([(p, k, amount) for (p, k), amount in merged.items()])


def _in_order(columns: Iterable[PoolColumn]) -> list[PoolColumn]:
    return sorted(columns, key=lambda column: (column[0], tuple(-slots for slots in column[1])))
