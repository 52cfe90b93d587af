"""From a float limit to an exact allocation: read off who is where and what is full, then solve that in rationals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import frexp

from theory.exact.linear import LinearProgram
from theory.exact.solver import Bound
from theory.sharing.model import Matrix
from theory.sharing.occupation import Occupation
from theory.sharing.rounds import State

SMALL = Fraction(1, 2**30)
"""Unit in which distances from the float allocation are measured."""

Form = dict[int, Fraction]
"""A linear form in the unknowns."""


class _Equations:
    """Unknowns that are at least zero, and rows over them."""

    def __init__(self) -> None:
        self.guesses: list[float] = []
        self._columns: list[dict[int, Fraction]] = []
        self._bounds: list[tuple[Bound, Bound]] = []

    def unknown(self, guess: float) -> int:
        self.guesses.append(guess)
        self._columns.append({})
        return len(self._columns) - 1

    def row(self, form: Mapping[int, Fraction], lower: Bound, upper: Bound) -> None:
        for j, value in form.items():
            if value:
                self._columns[j][len(self._bounds)] = value
        self._bounds.append((lower, upper))

    def solve(self, near: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
        """Return the solution with the least sum of distances from `near`, shape (unknowns,), or None.

        The unknowns of the program are the distances in units of `SMALL`: the solver's tolerances would swallow them.
        """
        count = len(self._columns)
        residual = [Fraction(0)] * len(self._bounds)
        for column, value in zip(self._columns, near, strict=True):
            for row, entry in column.items():
                residual[row] += entry * value
        program = LinearProgram(
            [
                tuple(None if bound is None else (bound - at) / SMALL for bound in bounds)  # type: ignore[misc]
                for bounds, at in zip(self._bounds, residual, strict=True)
            ]
        )
        program.add_columns([-1] * count, self._columns)
        negated = [{row: -entry for row, entry in column.items()} for column in self._columns]
        program.add_columns([-1] * count, negated, upper=[value / SMALL for value in near])
        vertex = program.solve_basis()
        if vertex is None:
            return None  # a wrong guess: not worth an exact proof that it is wrong
        more, less = vertex.primal[:count], vertex.primal[count:]
        return tuple(v + SMALL * (p - q) for v, p, q in zip(near, more, less, strict=True))


def exact_tasks(table: Occupation, state: State, tolerance: float) -> Matrix | None:
    """Return an exact allocation with the structure of a float one, or None if there is none.

    Parameters
    ----------
    table : Occupation
    state : State
        Floats, close to a PS-DSF allocation of the table.
    tolerance : float
        What counts as zero (a share of a server), as full, and (relative) as an equal level.

    Returns
    -------
    tuple of tuple of Fraction, shape (N, K), or None
        It satisfies what is tight in Theorem 1; whether it is PS-DSF is for `is_ps_dsf` to say.

    Notes
    -----
    By Theorem 1 the holders of a bottleneck resource are all at one level, so everything is linear in one level L for
    each bottleneck (i, r). A user of one server has x_n = phi_n gamma_{n,i} L; only users of several servers need
    unknowns of their own. The program has as many rows as there are bottlenecks and ties, not as there are users.
    Where the structure leaves a choice (it often does), the answer is the allocation closest to the float one, its
    numbers rounded to denominators up to a million.
    """
    taken = state.tasks * state.per_task * [[float(w)] for w in table.weights]  # share of the server's time
    held = taken > tolerance
    level = state.totals[:, None] * state.per_task
    users, servers = held.shape
    equations = _Equations()
    pieces: dict[tuple[int, int], Form] = {}
    totals: list[Form | None] = [None] * users
    for n in range(users):
        here = held[n].nonzero()[0]
        if len(here) > 1:
            for i in here:
                pieces[n, i] = {equations.unknown(taken[n, i]): table.monopoly(n, i)}
            totals[n] = _sum((pieces[n, i], Fraction(1)) for i in here)
    loads = (state.tasks[:, :, None] * state.shares).sum(axis=0)
    for i, r in zip(*(loads >= 1 - tolerance).nonzero(), strict=True):
        demanding = (state.per_task[:, i] > 0) & (state.shares[:, i, r] > 0)
        holders = (demanding & held[:, i]).nonzero()[0]
        if not len(holders):
            continue
        top = level[holders, i].max()
        unit = Fraction(2) ** frexp(top)[1]
        unknown = equations.unknown(top / float(unit))
        for n in (
            demanding & (level[:, i] >= top * (1 - tolerance)) & (level[:, i] <= top * (1 + tolerance))
        ).nonzero()[0]:
            tied = {unknown: table.weights[n] * table.monopoly(n, i) * unit}
            form = totals[n]
            if form is None:
                if not held[n, i]:
                    continue  # a user of another, later server: its tie, if any, is left to the final check
                totals[n] = pieces[n, i] = tied
            else:
                equations.row(_sum([(form, Fraction(1)), (tied, Fraction(-1))]), 0, 0 if held[n, i] else None)
        shares = [(n, table.shares[n][i]) for n in holders]
        if any((n, i) not in pieces for n in holders):
            late = [n for n in holders if (n, i) not in pieces]
            for n in late:  # held below the top here: another resource of this server, still to come, sets its level
                pieces[n, i] = totals[n] = {equations.unknown(taken[n, i]): table.monopoly(n, i)}
        equations.row(_sum((pieces[n, i], row[r]) for n, row in shares if row is not None), 1, 1)
    guesses = [Fraction(float(guess)).limit_denominator(10**6) for guess in equations.guesses]
    values = equations.solve(guesses)
    if values is None or any((n, i) not in pieces for n, i in zip(*held.nonzero(), strict=True)):
        return None
    zero = Fraction(0)
    return tuple(
        tuple(
            sum((c * values[j] for j, c in pieces[n, i].items()), zero) if held[n, i] else zero for i in range(servers)
        )
        for n in range(users)
    )


def _sum(terms: Iterable[tuple[Form, Fraction]]) -> Form:
    result: Form = {}
    for form, factor in terms:
        for j, value in form.items():
            result[j] = result.get(j, Fraction(0)) + factor * value
    return result
