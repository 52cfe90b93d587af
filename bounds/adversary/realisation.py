"""Demands that realise a chain in a number of resources, or the exact proof by branching that there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bounds.adversary.budget import Budget
from bounds.adversary.chains import Chain
from theory.exact.programs import LinearProgram
from theory.instance import Instance, additive
from theory.numbers import to_integers

_CLEAR = 1e-7  # a margin in floats that needs no exact decision
_CAPACITY = 400  # capacities that are tried for short numbers


@dataclass(frozen=True)
class Realised:
    """The outcome for one chain.

    Attributes
    ----------
    instance : Instance or None
        One that realises the chain; None if there is none.
    nodes : int
        Partial answers that were tried.
    decided : bool
        Whether an instance was found, or there is none; False where the search gave up.
    """

    instance: Instance | None
    nodes: int
    decided: bool = True


class _GaveUpError(Exception):
    pass


def realise(chain: Chain, resources: int, budget: Budget | None = None, *, nodes: int | None = None) -> Realised:
    """Find demands in a number of resources that realise a chain, or decide that there are none.

    Parameters
    ----------
    chain : Chain
    resources : int
        Most resources that are used.
    budget : Budget, optional
    nodes : int, optional
        Partial answers after which the search gives up.

    Raises
    ------
    OutOfTimeError
        At the end of the budget: nothing is decided then.

    Notes
    -----
    Demands realise a chain if its configurations n_i e_i and m fit, and each forbidden configuration exceeds some
    resource. Branching is over that resource: the search takes a forbidden configuration that fits, and gives it to
    each resource in turn (of the resources that have none yet, to one). Each resource alone has a linear program: the
    greatest margin by which its configurations exceed it, while n_i e_i and m fit. A branch ends where that margin is
    at most 0, decided in rationals; the multipliers name the few configurations that exclude each other in one
    resource, and they are remembered. So "none" is exact. Exponential at worst.

    Examples
    --------
    >>> from bounds.adversary.chains import Chain
    >>> realise(Chain((3, 3, 1), (1, 1, 1)), 1).instance is None
    True
    >>> from theory.greedy.optimal import solve
    >>> solve(realise(Chain((3, 3, 1), (1, 1, 1)), 2).instance).ratio
    Fraction(19, 27)
    """
    search = _Search(chain, resources, budget or Budget(), nodes)
    try:
        demands = search.visit([() for _ in range(resources)])
    except _GaveUpError:
        return Realised(None, search.nodes, decided=False)
    return Realised(None if demands is None else search.instance(demands), search.nodes)


class _Search:
    def __init__(self, chain: Chain, resources: int, budget: Budget, most: int | None) -> None:
        self.chain, self.resources, self.nodes = chain, resources, 0
        self._budget, self._most = budget, most
        self._forbidden = np.array(chain.forbidden, dtype=np.int64)
        self._margins = _Margins(chain)

    def visit(self, given: list[tuple[int, ...]]) -> list[tuple[Fraction, ...]] | None:
        """Return demands of every resource, shape (R, J), that exceed what each was given and all else forbidden."""
        self.nodes += 1
        self._budget.spend(f"chain {self.chain.alone}: {self.nodes} branches")
        if self._most is not None and self.nodes > self._most:
            raise _GaveUpError
        # a forbidden configuration is excluded if it needs more than one server of some resource
        used = np.array([self._margins.nearly(have) for have in given])  # [R, J]
        most = (self._forbidden @ used.T).max(axis=1)
        worst = int(most.argmin())
        if most[worst] > 1 + _CLEAR:
            exact = [self._margins.demands(have) for have in given]
            most = (self._forbidden @ np.array(exact, dtype=float).T).max(axis=1)
            worst = int(most.argmin())
            if most[worst] > 1 + _CLEAR:
                return exact
        choices = []
        for r, have in enumerate(given):
            if not have and r and not given[r - 1]:
                break  # resources without any configuration are alike
            more = tuple(sorted({*have, worst}))
            if worst not in have and (margin := self._margins.margin(more)) > 0:
                choices.append((-margin, r, more))
        # the widest margin first: it leaves most freedom to what follows
        for _, r, more in sorted(choices):
            demands = self.visit([more if i == r else have for i, have in enumerate(given)])
            if demands is not None:
                return demands
        return None

    def instance(self, demands: Sequence[Sequence[Fraction]]) -> Instance:
        """Return the instance, with capacities as small as rounding the demands allows, without idle resources."""
        busy = [row for row in demands if any(row)]
        rows = [self._short(row) for row in busy]
        if not self._excludes(rows):
            rows = [_whole(row) for row in busy]
        columns = list(zip(*(row for row, _ in rows), strict=True))
        return additive([capacity for _, capacity in rows], columns, self.chain.rewards, self.chain.best)

    def _short(self, demands: Sequence[Fraction]) -> tuple[list[int], int]:
        """Round the demands in one resource to the smallest capacity for which it excludes what it excluded."""
        out = self._forbidden @ np.array([float(x) for x in demands]) > 1 + _CLEAR
        for capacity in range(2, _CAPACITY):
            exact = zip(demands, self.chain.alone, strict=True)
            row = [min(int(x * capacity + Fraction(1, 2)), capacity // n) for x, n in exact]
            fits = sum(d * m for d, m in zip(row, self.chain.best, strict=True)) <= capacity
            if fits and (self._forbidden[out] @ np.array(row) > capacity).all():
                return row, capacity
        return _whole(demands)

    def _excludes(self, rows: Sequence[tuple[Sequence[int], int]]) -> bool:
        """Decide in whole numbers that each forbidden configuration exceeds some resource."""
        return all(
            any(sum(d * int(n) for d, n in zip(row, k, strict=True)) > capacity for row, capacity in rows)
            for k in self._forbidden
        )


def _whole(demands: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return whole demands and their capacity."""
    whole, _ = to_integers([*demands, Fraction(1)])
    return whole[:-1], whole[-1]


class _Margins:
    """The greatest margin by which one resource can exceed given forbidden configurations, by its dual.

    Minimise y_m + sum_i y_i - sum_k lambda_k over y, lambda >= 0 with m_i y_m + n_i y_i >= sum_k lambda_k k_i for every
    type i and sum_k lambda_k = 1. The multipliers of the rows are the demands.
    """

    def __init__(self, chain: Chain) -> None:
        self._forbidden = chain.forbidden
        self._width = width = len(chain.alone)
        self._program = LinearProgram([(0, None)] * width + [(1, 1)])
        self._program.add_columns(
            [-1] * (width + 1), [dict(enumerate(chain.best)), *({i: n} for i, n in enumerate(chain.alone))]
        )
        self._first = width + 1
        self._place: dict[int, int] = {}
        self._open: set[int] = set()
        self._conflicts: list[frozenset[int]] = []
        self._known: dict[tuple[int, ...], tuple[float, NDArray[np.float64]]] = {}
        self._known[()] = 1.0, np.zeros(width)

    def _set(self, chosen: tuple[int, ...]) -> None:
        for k in chosen:
            if k not in self._place:
                self._place[k] = self._program.width
                column: dict[int, int] = {i: -n for i, n in enumerate(self._forbidden[k])}
                self._program.add_columns([1], [{**column, self._width: 1}])
                self._open.add(k)
        for k in self._open - set(chosen):
            self._program.set_bounds(self._place[k], 0, 0)
        for k in set(chosen) - self._open:
            self._program.set_bounds(self._place[k], 0, None)
        self._open = set(chosen)

    def margin(self, chosen: tuple[int, ...]) -> float:
        """Return the margin in floats, at most 0 only if it is so in rationals."""
        if chosen in self._known:
            return self._known[chosen][0]
        wanted = frozenset(chosen)
        # a set that contains a conflict has no margin either
        if any(conflict <= wanted for conflict in self._conflicts):
            return 0.0
        self._set(chosen)
        objective, _, dual = self._program.solve_float()
        margin = -objective
        if not margin > _CLEAR:  # also where the solver fails
            vertex = self._program.solve()
            if vertex.objective >= 0:
                self._conflicts.append(frozenset(k for k in chosen if vertex.primal[self._place[k]]))
                return 0.0
            margin, dual = float(-vertex.objective), np.array(vertex.dual, dtype=float)
        self._known[chosen] = margin, np.abs(dual[: self._width])
        return margin

    def nearly(self, chosen: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the demands that belong to a positive `margin`, in floats, shape (J,)."""
        return self._known[chosen][1]

    def demands(self, chosen: tuple[int, ...]) -> tuple[Fraction, ...]:
        """Return demands with the greatest margin, shape (J,)."""
        if not chosen:
            return (Fraction(0),) * self._width
        self._set(chosen)
        return tuple(abs(y) for y in self._program.solve().dual[: self._width])
