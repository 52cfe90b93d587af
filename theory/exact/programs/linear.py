"""Linear programs solved in floats and answered in rationals: basis -> exact vertex -> exact optimality conditions."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.exact.programs.rational import maximise, solve_sparse
from theory.exact.programs.solver import Bound, FloatProgram, Number

ZERO, ONE = Fraction(0), Fraction(1)

LARGER = 2.0**10
"""By which costs are multiplied where a basis is optimal up to the solver's tolerance only."""

MARGIN, WHOLE, UNSURE = 1e-6, 2.0**53, 2
"""A sum in floats has the sign of the exact sum if its size is at least `MARGIN` of that of its terms. Where these
sizes sum to less than `WHOLE`, up to which floats hold all whole numbers, nothing is rounded. A sign is -1, 0 or 1, or
`UNSURE`."""


class InfeasibleError(ArithmeticError):
    """No point satisfies the constraints (decided exactly)."""


@dataclass(frozen=True)
class Vertex:
    """An optimal vertex, exact: columns x and multipliers y of the rows; the reduced costs are c - A'y."""

    objective: Fraction
    primal: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]


class Column(NamedTuple):
    """A column as integers: cost and entries are the true ones divided by `unit` > 0."""

    cost: int
    entries: tuple[tuple[int, int], ...]
    unit: Fraction

    @property
    def exact(self) -> tuple[Fraction, dict[int, Fraction]]:
        """The true cost and entries."""
        return self.cost * self.unit, {i: value * self.unit for i, value in self.entries}

    def reduced_cost(self, dual: Sequence[int], scale: int) -> int:
        """Return a positive multiple of c - a'y for y = dual / scale."""
        return self.cost * scale - sum(value * dual[i] for i, value in self.entries)


class FloatColumns:
    """Columns of whole numbers as floats in one long list, from which the signs of reduced costs are read off."""

    def __init__(self, columns: Sequence[Column]) -> None:
        lengths = [len(column.entries) for column in columns]
        self._places = np.repeat(np.arange(len(columns)), lengths)
        self._rows = np.array([i for column in columns for i, _ in column.entries], np.int64)
        self._values = np.array(_floats([value for column in columns for _, value in column.entries]))
        self._costs = np.array(_floats([column.cost for column in columns]))

    def signs(self, dual: Sequence[int], scale: int) -> list[int]:
        """Return the sign of ``scale c - a'y`` for every column, or `UNSURE`, from ``dual`` = scale y, and scale > 0.

        Every number is whole, so no product underflows. Where the sizes of the terms sum to less than `WHOLE` in
        floats, they do so exactly: rounding does not lead across a power of 2. Elsewhere each number is rounded once,
        and so is each product and sum: the error is less than (4 + entries of the column) 2^-53 times the sum of the
        sizes. `MARGIN` is far more for any column that fits into memory. What is too large for a float is infinite,
        which makes a column unsure.
        """
        prices = np.array(_floats(dual))
        with np.errstate(all="ignore"):  # what is not finite is unsure
            costs, terms = self._costs * _floats([scale])[0], self._values * prices[self._rows]
            gains = costs - np.bincount(self._places, terms, len(costs))
            sizes = np.abs(costs) + np.bincount(self._places, np.abs(terms), len(costs))
            sure = (sizes < WHOLE) | ((np.abs(gains) > MARGIN * sizes) & np.isfinite(sizes))
        return np.where(sure, np.sign(gains), UNSURE).astype(int).tolist()  # type: ignore[no-any-return]


class LinearProgram:
    """Maximise ``c x`` subject to ``row_lower <= A x <= row_upper`` and ``lower <= x <= upper``.

    A model in floats stays warm: after a change of bounds, costs or columns, the next solve starts from the last basis.
    Beside it stand the exact data, against which every answer of `solve` is certified.

    Parameters
    ----------
    rows : sequence of (lower, upper), length m
        Bounds of the rows; None for no bound.

    Attributes
    ----------
    solver : FloatProgram
        How it solves may be chosen there; rows and columns are changed here, where the exact data is.

    Examples
    --------
    >>> program = LinearProgram([(None, 3)])
    >>> program.add_columns([1, 2], [{0: 1}, {0: 4}], upper=[2, None])
    >>> program.solve()
    Vertex(objective=Fraction(5, 2), primal=(Fraction(2, 1), Fraction(1, 4)), dual=(Fraction(1, 2),))
    """

    def __init__(self, rows: Sequence[tuple[Bound, Bound]]) -> None:
        self._rows = list(rows)
        self._columns: list[Column] = []
        self._float_columns: FloatColumns | None = None  # made when signs are asked for, until columns change
        self._bounds: list[tuple[Bound, Bound]] = []
        self.solver = FloatProgram(self._rows)

    @property
    def width(self) -> int:
        """Number of columns n."""
        return len(self._columns)

    def add_columns(
        self,
        costs: Sequence[Number],
        entries: Sequence[Mapping[int, Number]],
        lower: Sequence[Bound] | None = None,
        upper: Sequence[Bound] | None = None,
    ) -> None:
        """Append columns: cost, entries by row, and bounds (0 and none where left out)."""
        count = len(costs)
        new = [_column(cost, column) for cost, column in zip(costs, entries, strict=True)]
        lengths = [len(column.entries) for column in new]
        rows = [i for column in new for i, _ in column.entries]
        values: list[Number] = [value for column in new for _, value in column.entries]
        self._float_columns = None
        if any(column.unit is not ONE for column in new):
            values = [value * column.unit for column in new for _, value in column.entries]
        bounds = [
            *zip([0] * count if lower is None else lower, [None] * count if upper is None else upper, strict=True)
        ]
        self._columns += new
        self._bounds += bounds
        self.solver.add_columns(costs, bounds, lengths, rows, values)

    def keep_columns(self, places: Sequence[int]) -> None:
        """Remove all columns but those at these places, which are in order."""
        dropped = np.setdiff1d(np.arange(self.width, dtype=np.int32), np.array(places, np.int32))
        self.solver.drop_columns(dropped)
        self._columns = [self._columns[j] for j in places]
        self._bounds = [self._bounds[j] for j in places]
        self._float_columns = None

    def keep_best(self, count: int, always: int = 0) -> list[int]:
        """Keep the first columns, the basic ones, and those of the best reduced costs; return the places of all kept.

        For programs that have an optimum, and whose other columns are at least 0 without upper bounds: it stays one.
        `count` columns stay in all, unless more are basic, among them the first `always`.
        """
        basis = self.solver.basis() if self.solver.run() else None
        if basis is None or self.width <= count:
            return list(range(self.width))
        worth = self.solver.reduced_costs()
        worth[basis[0]] = worth[:always] = np.inf
        least = int(np.isinf(worth).sum())
        places: list[int] = np.sort(np.argsort(-worth, kind="stable")[: max(count, least)]).tolist()
        self.keep_columns(places)
        return places

    def set_bounds(self, column: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a column."""
        self._bounds[column] = (lower, upper)
        self.solver.set_bounds(column, lower, upper)

    def set_row(self, row: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a row."""
        self._rows[row] = (lower, upper)
        self.solver.set_row(row, lower, upper)

    def set_cost(self, column: int, cost: Number) -> None:
        """Change the cost of a column."""
        old = self._columns[column]
        self._columns[column] = _column(cost, {i: value * old.unit for i, value in old.entries})
        self._float_columns = None
        self.solver.set_cost(column, cost)

    def solve_float(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return in floats the objective, NaN where there is no optimum, x, float64[n], and multipliers, float64[m]."""
        optimal = self.solver.run()
        objective, primal, dual = self.solver.solution()
        return (objective if optimal else nan), primal, dual

    def solve(self) -> Vertex:
        """Return an optimal vertex, feasible and optimal in rationals, checked against every row and column.

        Raises
        ------
        InfeasibleError
        theory.exact.programs.rational.UnboundedError

        Notes
        -----
        The float basis almost always certifies at once: two exact linear systems of the order of the basic columns,
        then integer arithmetic on every row and column. Where it does not, the float solver goes on with larger costs,
        and then a rational simplex method decides.
        """
        vertex = self.solve_basis()
        if vertex is not None:
            return vertex
        return self._by_simplex(self.solver.solution()[2] if self.solver.run() else None)

    def solve_basis(self, multipliers: Sequence[Fraction] | None = None) -> Vertex | None:
        """Solve in floats and return the exact vertex of the last basis, or None if it does not certify.

        For programs that are themselves a guess: where `solve` would go on to prove in rationals that nothing is
        feasible, this gives up. Optimality is proved by the given multipliers, or by those of the basis.
        """
        if not self.solver.run():
            return None
        vertex = self._from_basis(multipliers)
        return self._refined() if vertex is None and multipliers is None else vertex

    def _refined(self) -> Vertex | None:
        """Go on from a basis that is optimal up to the solver's tolerance, with costs that are so many times as large.

        The tolerance is absolute: beside larger costs smaller gains count.
        """
        costs = np.array([float(column.cost * column.unit) for column in self._columns])
        self.solver.set_costs(costs * LARGER)
        vertex = self._from_basis() if self.solver.run() else None
        self.solver.set_costs(costs)
        return vertex

    def at_most(self, bound: Number) -> bool:
        """Return whether exact multipliers show that no solution is worth more than a bound.

        False means that the multipliers of the float basis do not show it, not that some solution is worth more. Weak
        duality: ``c x = y A x + (c - A'y) x`` for every y, and within the bounds of its row or column each term has a
        largest value. That takes about half the work of `solve`, as no vertex is worked out.

        Examples
        --------
        >>> program = LinearProgram([(None, 3)])
        >>> program.add_columns([1, 2], [{0: 1}, {0: 4}], upper=[2, None])
        >>> program.at_most(Fraction(5, 2)), program.at_most(2)
        (True, False)
        """
        basis = self.solver.basis() if self.solver.run() else None
        if basis is None:
            return False
        columns, tight = basis
        _, transposed = self._square(columns, tight)
        y = self._multipliers(columns, tight, transposed)
        if y is None:
            return False
        scale, dual = _over_one_denominator(y)
        greatest: Number = 0  # of scale * c x
        for price, (lower, upper) in zip(dual, self._rows, strict=True):
            if price:  # y a x is greatest at the upper bound of the row for a positive price, else at the lower
                limit = upper if price > 0 else lower
                if limit is None:
                    return False
                greatest += price * limit
        for column, sign, (lower, upper) in zip(self._columns, self._signs(dual, scale), self._bounds, strict=True):
            if lower == 0 and (sign < 0 or upper == 0):
                continue  # the column is worth most at 0
            gain = column.reduced_cost(dual, scale) if sign == UNSURE else sign
            if gain:
                limit = upper if gain > 0 else lower
                if limit is None:
                    return False
                greatest += column.reduced_cost(dual, scale) * column.unit * limit if limit else 0
        return greatest <= bound * scale

    def _multipliers(
        self, columns: Sequence[int], tight: Sequence[int], transposed: Sequence[Mapping[int, int]]
    ) -> list[Fraction] | None:
        """Return the multipliers y that make the reduced costs of the basic columns 0; None if there are none."""
        multipliers = solve_sparse(transposed, [self._columns[j].cost for j in columns])
        if multipliers is None:
            return None
        y = [ZERO] * len(self._rows)
        for i, multiplier in zip(tight, multipliers, strict=True):
            y[i] = multiplier
        return y

    def _from_basis(self, multipliers: Sequence[Fraction] | None = None) -> Vertex | None:
        """Return the exact vertex of the last float basis; None if it is not optimal by its multipliers or the given.

        A column that is not basic is at one of its bounds, and a row that is not basic is tight. The basic columns
        solve ``B x_B = b - N x_N`` in the tight rows, the multipliers ``B'y = c_B``.
        """
        basis = self.solver.basis()
        if basis is None:
            return None
        columns, tight = basis
        x, targets = self._nonbasic(columns, tight)
        square, transposed = self._square(columns, tight)
        values = solve_sparse(square, targets)
        if values is None:
            return None
        for j, value in zip(columns, values, strict=True):
            x[j] = value / self._columns[j].unit
        y = self._multipliers(columns, tight, transposed) if multipliers is None else multipliers
        return self._vertex(x, y) if y is not None and self._is_optimal(x, y, set(columns)) else None

    def _nonbasic(self, columns: Sequence[int], tight: Sequence[int]) -> tuple[list[Number], list[Fraction]]:
        """Return x with the basic columns at 0, and what they have to add in each of the tight rows."""
        primal, activity = self.solver.point()
        is_basic = set(columns)
        x: list[Number] = [
            0 if j in is_basic or (lower == 0 and upper is None) else _nearest(lower, upper, primal[j])
            for j, (lower, upper) in enumerate(self._bounds)
        ]
        targets = {i: Fraction(_nearest(*self._rows[i], activity[i])) for i in tight}
        for column, value in zip(self._columns, x, strict=True):
            if value:
                for i, entry in column.entries:
                    if i in targets:
                        targets[i] -= value * entry * column.unit
        return x, list(targets.values())

    def _square(
        self, columns: Sequence[int], tight: Sequence[int]
    ) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
        """Return the integer entries of the basic columns in the tight rows, and the transposed matrix."""
        place = {i: position for position, i in enumerate(tight)}
        square: list[dict[int, int]] = [{} for _ in tight]
        transposed: list[dict[int, int]] = [{} for _ in columns]
        for position, j in enumerate(columns):
            for i, entry in self._columns[j].entries:
                if i in place:
                    square[place[i]][position] = transposed[position][place[i]] = entry
        return square, transposed

    def _signs(self, dual: Sequence[int], scale: int) -> list[int]:
        """Return the signs of all reduced costs, `UNSURE` where floats cannot tell."""
        if self._float_columns is None:
            self._float_columns = FloatColumns(self._columns)
        return self._float_columns.signs(dual, scale)

    def _is_optimal(self, x: Sequence[Number], y: Sequence[Fraction], basic: set[int]) -> bool:
        """Decide primal feasibility, dual feasibility and complementarity exactly.

        The sign of most reduced costs is certain in floats; the others are worked out exactly.
        """
        if not all(_within(x[j], *self._bounds[j]) for j in basic):
            return False
        scale, dual = _over_one_denominator(y)
        for j, sign in enumerate(self._signs(dual, scale)):
            gain = self._columns[j].reduced_cost(dual, scale) if sign == UNSURE else sign
            bound = self._bounds[j][gain > 0]
            # a column that gains is at its upper bound, one that loses at its lower
            if gain and x[j] is not bound and x[j] != bound:
                return False
        for (lower, upper), value, price in zip(self._rows, self._activity(x), y, strict=True):
            if not _within(value, lower, upper):
                return False
            # a row with a price is at the bound that the price pulls it to
            if (price > 0 and value != upper) or (price < 0 and value != lower):
                return False
        return True

    def _activity(self, x: Sequence[Number]) -> list[Fraction]:
        """Return A x, in integers over one denominator."""
        parts = [(column, value * column.unit) for column, value in zip(self._columns, x, strict=True) if value]
        scale = lcm(*(part.denominator for _, part in parts))
        activity = [0] * len(self._rows)
        for column, part in parts:
            amount = part.numerator * (scale // part.denominator)
            for i, entry in column.entries:
                activity[i] += amount * entry
        return [Fraction(value, scale) for value in activity]

    def _vertex(self, x: Sequence[Number], y: Sequence[Fraction]) -> Vertex:
        pairs = zip(self._columns, x, strict=True)
        objective = sum((column.cost * column.unit * value for column, value in pairs if value), ZERO)
        return Vertex(objective, tuple(Fraction(value) if value else ZERO for value in x), tuple(y))

    def _by_simplex(self, dual: NDArray[np.float64] | None) -> Vertex:
        """Solve in rationals over the columns that the float multipliers cannot rule out, adding any that price in."""
        chosen = set(range(self.width))
        if dual is not None:
            slack = [c.cost - sum(v * float(dual[i]) for i, v in c.entries) for c in self._columns]
            chosen = {
                j
                for j, (lower, upper) in enumerate(self._bounds)
                if not (lower == 0 and upper is None) or slack[j] > -1e-6 * (1 + abs(self._columns[j].cost))
            }
        while True:
            order = sorted(chosen)
            solution = maximise([(*self._columns[j].exact, self._bounds[j]) for j in order], self._rows)
            if solution is None:
                if len(chosen) < self.width:
                    chosen = set(range(self.width))
                    continue
                raise InfeasibleError("no point satisfies the constraints")
            values, y = solution
            x = [Fraction(0)] * self.width
            for j, value in zip(order, values, strict=True):
                x[j] = value
            scale, prices = _over_one_denominator(y)
            missing = {
                j for j in range(self.width) if j not in chosen and self._columns[j].reduced_cost(prices, scale) > 0
            }
            if not missing:
                return self._vertex(x, y)
            chosen |= missing


def _over_one_denominator(values: Sequence[Fraction]) -> tuple[int, list[int]]:
    """Return a common denominator, and the values times it."""
    scale = lcm(*(value.denominator for value in values))
    return scale, [value.numerator * (scale // value.denominator) for value in values]


def _column(cost: Number, column: Mapping[int, Number]) -> Column:
    entries = tuple(entry for entry in column.items() if entry[1])
    if type(cost) is int and {int}.issuperset(map(type, column.values())):
        return Column(cost, entries, ONE)  # type: ignore[arg-type]
    denominator = lcm(cost.denominator, *(value.denominator for _, value in entries))
    integers = tuple((i, value.numerator * (denominator // value.denominator)) for i, value in entries)
    return Column(cost.numerator * (denominator // cost.denominator), integers, Fraction(1, denominator))


def _nearest(lower: Bound, upper: Bound, value: float) -> Number:
    if lower is None:
        return 0 if upper is None else upper
    if upper is None:
        return lower
    return lower if abs(value - lower) <= abs(value - upper) else upper


def _within(value: Number, lower: Bound, upper: Bound) -> bool:
    return (lower is None or value >= lower) and (upper is None or value <= upper)


def _floats(values: Sequence[int]) -> array[float]:
    """Return the floats nearest to whole numbers, infinite where a number is too large."""
    try:
        return array("d", values)
    except OverflowError:
        return array("d", [value if abs(value) < 2**1023 else float("inf") for value in values])
