"""Column generation over configurations: floats propose, exact prices dispose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, inf, isnan
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.exact.columns.starts import SERVED, divided, largest_first
from theory.exact.knapsack.configurations import has_at_most, maximal, reduced
from theory.exact.knapsack.greatest import CELLS
from theory.exact.programs.linear import LinearProgram, Vertex
from theory.exact.programs.solver import Bound, Number
from theory.instance import Additive, Configuration, Space
from theory.numbers import to_integers

if TYPE_CHECKING:
    from theory.exact.columns.pricing import Pricing

ENUMERATE_BELOW = 20_000
"""Number of feasible configurations up to which all maximal ones are columns from the start."""

SEVERAL = 160
"""Configurations that join in one round, of all pools together; as many as types where these are more."""

LOOKED_AT = 3
"""So many times as many of each pool are compared at the true prices."""

STEADY = 0.8
"""Weight of the centre in the prices that configurations are sought for: it keeps prices from swinging."""

GAIN = 1e-9
"""Least gain of a configuration that joins: the tolerance of the solver, which is absolute."""

ROUNDING = 1e-12
"""Relative error of the worth of a configuration in floats."""

STAYING = 4
"""Configurations a type and pool, those of the best reduced costs, that stay when there are twice as many."""

Pattern = tuple[tuple[int, int], ...]
"""A configuration as (type, slots), slots positive, types increasing."""

Multiplier = TypeVar("Multiplier", float, Fraction)


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
    cells : int
        Limit of the memory of pricing (`theory.exact.columns.pricing`).
    """

    def __init__(
        self,
        program: LinearProgram,
        spaces: Sequence[Space],
        slot_rows: Sequence[int],
        pool_rows: Sequence[int],
        *,
        enumerate_below: int | None = None,
        cells: int = CELLS,
    ) -> None:
        few = ENUMERATE_BELOW if enumerate_below is None else enumerate_below
        self._program, self._spaces = program, tuple(spaces)
        self._slot_rows, self._pool_rows = tuple(slot_rows), tuple(pool_rows)
        self._present: dict[tuple[int, Pattern], int] = {}  # the column of each configuration of a pool, in order
        # pools of which not all maximal configurations are columns, with their spaces
        self._unfinished = [
            (p, space) for p, space in enumerate(spaces) if isinstance(space, Additive) and not has_at_most(space, few)
        ]
        self._centre: NDArray[np.float64] | None = None  # prices of slots, then of the servers of unfinished pools
        self._bound = -inf  # what the centre proves, where anything
        self._dropped_at = -inf  # the objective when columns were last dropped
        self.rounds = 0
        for p, space in enumerate(spaces):
            if (p, space) not in self._unfinished:
                self.add(p, maximal(space))
        self._add_alone()
        self._always = program.width  # columns that are never dropped
        self._others = program.width - len(self._present)  # columns that are no configurations
        if self._unfinished:
            from theory.exact.columns.pricing import Pricing  # few programs need it

            self._pricing = Pricing([space for _, space in self._unfinished], cells=cells)
            self._coarser = self._pricing.coarser()

    def _add_alone(self) -> None:
        """Add one column for each type that an unfinished pool holds: with them the program is feasible."""
        alone: set[int] = set()
        for p, space in self._unfinished:
            most = {j: space.most(j) for j in range(len(self._slot_rows)) if j not in alone}
            self._join(p, [((j, n),) for j, n in most.items() if n])
            alone |= {j for j, n in most.items() if n}

    def add(self, pool: int, configurations: Sequence[Sequence[int]] | NDArray[np.int64]) -> bool:
        """Add columns that are not there yet; return whether any was new."""
        rows = np.asarray(configurations)
        patterns: list[list[tuple[int, int]]] = [[] for _ in rows]
        if rows.size:
            where = rows.nonzero()
            for i, j, slots in zip(*(part.tolist() for part in (*where, rows[where])), strict=True):
                patterns[i].append((j, slots))
        return self._join(pool, list(map(tuple, patterns)))

    def _join(self, pool: int, patterns: Sequence[Pattern]) -> bool:
        fresh = [k for k in dict.fromkeys(patterns) if (pool, k) not in self._present]
        self._present.update(((pool, k), column) for column, k in enumerate(fresh, self._program.width))
        if fresh:
            self._program.add_columns([self._cost(k) for k in fresh], [self._entries(pool, k) for k in fresh])
        return bool(fresh)

    def _cost(self, pattern: Pattern) -> int:
        del pattern
        return 0

    def _entries(self, pool: int, pattern: Pattern) -> dict[int, Number]:
        return {self._pool_rows[pool]: 1, **{self._slot_rows[j]: -slots for j, slots in pattern}}

    def serve(self, workload: Sequence[Fraction], shares: Sequence[Fraction]) -> None:
        """Add configurations that carry a workload, where each pool has a share of the servers: a start for `solve`.

        The workload is divided among the pools as if jobs were divisible (`divided`); each pool alone then finds
        configurations for its part, in a program with few rows. The prices of that division are looked at first when
        configurations are sought for all pools together. Where one resource binds, the largest jobs first are so good a
        start that every pool gets the configurations that would carry everything.
        """
        if not self._unfinished:
            return
        self._program.solver.expect_columns()
        offered, split = np.array(list(map(float, workload))), None
        spaces = [space for space in self._spaces if isinstance(space, Additive)]
        alike = len(spaces) == len(self._spaces) and len({space.demands for space in spaces}) == 1
        if alike and any(len(reduced(space).capacity) > 1 for _, space in self._unfinished):
            split = divided(spaces, list(map(float, shares)), offered.tolist())
        if split is not None:
            self._centre = np.concatenate([split[1], np.zeros(len(self._unfinished))])
        for p, space in self._unfinished:
            part = offered if split is None else split[0][p]
            part = np.where(part > SERVED * offered, part, 0.0)
            if split is None or len(spaces) == 1:
                self.add(p, largest_first(space, part, divisible=True)[0])
            else:
                self.add(p, _carrying(space, part))

    def items(self) -> Iterator[tuple[int, Configuration, int]]:
        """Yield (pool, configuration, column) for every column so far."""
        for (pool, pattern), column in self._present.items():
            yield pool, _configuration(pattern, len(self._slot_rows)), column

    def amounts(self, primal: Sequence[Fraction]) -> list[PoolColumn]:
        """Return the configurations that a solution uses, with their amounts of servers."""
        used = [(pool, k, primal[column]) for (pool, k), column in self._present.items() if primal[column]]
        return [(pool, _configuration(k, len(self._slot_rows)), amount) for pool, k, amount in used]

    def solve(self) -> Vertex:
        """Solve the program over *all* configurations exactly.

        Notes
        -----
        Rounds of float solve and integer pricing until no rounded price finds a better configuration, then the exact
        vertex, priced exactly over all configurations; what prices in is added and the loop goes on. It ends because
        a configuration enters once.
        """
        self._renew_nodes()
        while True:
            self._generate()
            vertex = self._program.solve()
            if not self._add_heavier(vertex):
                return vertex

    def at_most(self, bound: Fraction) -> bool:
        """Decide exactly whether the program over all configurations is worth at most a bound."""
        shown = not self._unfinished and self._program.at_most(bound)
        return shown or self.solve().objective <= bound

    def solve_float(self) -> float:
        """Return the float objective over all configurations, up to the rounding of prices."""
        self._renew_nodes()
        self._generate()
        return self._program.solve_float()[0]

    def _renew_nodes(self) -> None:
        """Begin another question, with all nodes of branch and bound that a question may take."""
        if self._unfinished:
            self._pricing.renew_nodes()

    def _add_heavier(self, vertex: Vertex) -> bool:
        """Add configurations that are worth more than their server at exact prices; return whether there are any."""
        slots, servers = self._priced(vertex.dual)
        prices, unit = to_integers(slots)
        above = [self._pricing.heavier(i, prices, floor(price / unit)) for i, price in enumerate(servers)]
        return sum([self.add(p, rows) for (p, _), rows in zip(self._unfinished, above, strict=True)]) > 0

    def _priced(self, dual: Sequence[Multiplier]) -> tuple[list[Multiplier], list[Multiplier]]:
        """Return the prices of slots, and of servers of the unfinished pools, from the multipliers of the rows."""
        return [dual[row] for row in self._slot_rows], [dual[self._pool_rows[p]] for p, _ in self._unfinished]

    def _generate(self) -> None:
        """Add configurations until, at the prices in floats, none of those found is worth more than its server."""
        if not self._unfinished:
            return
        for pricing in self._coarser:
            centre = self._centre, self._bound  # on a coarser grid nothing is bounded
            self._run_rounds(pricing)
            self._centre, self._bound = centre
        self._coarser = []
        self._run_rounds(self._pricing)
        if self._bound == -inf:  # the next question may have other prices
            self._centre = None

    def _run_rounds(self, pricing: Pricing) -> None:
        several = max(1, max(SEVERAL, len(self._slot_rows)) // len(self._unfinished))
        steady = 1.0 if self._bound == -inf else STEADY
        while True:
            self.rounds += 1
            objective, _, dual = self._program.solve_float()
            if isnan(objective) or self._is_enough(objective):
                return
            self._drop_worst(objective)
            slots, servers = map(np.array, self._priced(dual.tolist()))
            prices = np.concatenate([slots, servers])
            sought = prices if self._centre is None else steady * self._centre + (1 - steady) * prices
            proposed = pricing.propose(sought[: len(slots)], sought[len(slots) :], LOOKED_AT * several)
            self._recentre(sought, proposed)
            fresh = False
            for (p, _), rows, server in zip(self._unfinished, proposed, servers, strict=True):
                gains = rows.astype(np.float64) @ slots - server
                better = np.flatnonzero(gains > max(GAIN, ROUNDING * abs(server)))
                best = better[np.argsort(-gains[better], kind="stable")[:several]]
                fresh |= self.add(p, rows[best])
            if not fresh and (steady == 0 or sought is prices):
                missed = pricing.missed(slots, servers * (1 + GAIN) + GAIN)
                fresh = sum([self.add(self._unfinished[place][0], rows) for place, rows in missed]) > 0
                if not fresh:
                    return
            steady = STEADY if fresh else 0.0  # nothing at the steady prices: look at the true ones

    def _is_enough(self, objective: float) -> bool:
        """Return whether no configuration can be missing at an objective; only where the optimum is known."""
        del objective
        return False

    def _recentre(self, sought: NDArray[np.float64], proposed: Sequence[NDArray[np.int64]]) -> None:
        """Move the centre to the prices that were looked at: an average of all so far, the latest most."""
        del proposed
        self._centre = sought

    def _drop_worst(self, objective: float) -> None:
        """Let the worst columns leave, where they are many and the objective is higher than when they last did."""
        most = STAYING * len(self._slot_rows) * len(self._unfinished)
        # columns of others that came later would lose their places, or leave
        alone = self._program.width - len(self._present) == self._others
        if len(self._present) > 2 * most and objective > self._dropped_at and alone:
            self._dropped_at = objective + ROUNDING * abs(objective)
            self._renumber(self._program.keep_best(self._always + most, self._always))

    def _renumber(self, stayed: Sequence[int]) -> None:
        """Forget the configurations whose columns left; those that stayed are the first columns now, in order."""
        place = {column: new for new, column in enumerate(stayed)}
        self._present = {k: place[column] for k, column in self._present.items() if column in place}


def _carrying(space: Additive, wanted: NDArray[np.float64]) -> list[Configuration]:
    """Return configurations of one pool that carry what is wanted on few servers."""
    types = np.flatnonzero(wanted).tolist()
    rows: list[tuple[Bound, Bound]] = [(None, -Fraction(float(wanted[j]))) for j in types]
    program = LinearProgram([*rows, (None, 0)])
    program.add_columns([-1], [{len(types): -1}])
    part = replace(space, demands=tuple(space.demands[j] for j in types))
    columns = ConfigurationColumns(program, [part], range(len(types)), [len(types)], enumerate_below=0)
    columns.serve([Fraction(float(wanted[j])) for j in types], [Fraction(1)])
    columns.solve_float()
    used = columns.amounts(program.solve_float()[1].tolist())
    return [_configuration(tuple(zip(types, k, strict=True)), len(wanted)) for _, k, _ in used]


def _configuration(pattern: Pattern, width: int) -> Configuration:
    slots = dict(pattern)
    return tuple([slots.get(j, 0) for j in range(width)])


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
    for j, (have, wanted) in enumerate(zip(slots, need, strict=True)):
        surplus = have - wanted
        if not surplus:
            continue
        trimmed_columns = []
        for p, k, amount in current:
            taken = min(k[j], floor(surplus / amount))  # slots that every server of the column can do without
            k[j] -= taken
            surplus -= taken * amount
            part = surplus if k[j] else Fraction(0)
            if part:  # less than the column's amount: only that part of its servers gives up one slot more
                less = k.copy()
                less[j] -= 1
                trimmed_columns.append((p, less, part))
                surplus = Fraction(0)
            trimmed_columns.append((p, k, amount - part))
        current = trimmed_columns
    merged: dict[tuple[int, Configuration], Fraction] = {}
    for p, k, amount in current:
        if any(k):
            merged[p, tuple(k)] = merged.get((p, tuple(k)), Fraction(0)) + amount
    return _in_order([(p, k, amount) for (p, k), amount in merged.items()])


def _in_order(columns: Iterable[PoolColumn]) -> list[PoolColumn]:
    return sorted(columns, key=lambda column: (column[0], tuple(-slots for slots in column[1])))
