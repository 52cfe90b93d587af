"""Linear programs solved in floats and answered in rationals: basis -> exact vertex -> exact optimality conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from theory.exact import sparse
from theory.exact.signs import UNSURE, FloatColumns

Number = Fraction | int
Bound = Fraction | int | None
"""A bound of a row or a column; None means there is none."""


ZERO, ONE = Fraction(0), Fraction(1)

PRIMAL = 4
"""The primal simplex method by the number that HiGHS gives it."""

MOVES = "primal_simplex_bound_perturbation_multiplier"
"""By how much the primal method moves bounds, as a multiple of what it would."""

PATIENCE = 10
"""Iterations a row, beyond a thousand, after which the primal method starts again from the basis that it has reached.

Programs of configurations take less; where thousands of them are worth the same, it may otherwise go in circles."""

RESTARTS = 50
"""How often it starts again at most; then there is no optimum in floats.

Of eleven published instances of 801 and 1,002 jobs, six needed it, once.
"""

LARGER = 2.0**10
"""By which costs are multiplied where a basis is optimal up to the solver's tolerance only."""


class InfeasibleError(ArithmeticError):
    """No point satisfies the constraints (decided exactly)."""


@dataclass(frozen=True)
class Vertex:
    """An optimal vertex with its multipliers, exact.

    Attributes
    ----------
    objective : Fraction
    primal : tuple of Fraction, shape (n,)
        Column values x.
    dual : tuple of Fraction, shape (m,)
        Row multipliers y; the reduced costs are c - A'y.
    """

    objective: Fraction
    primal: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]


class _Column(NamedTuple):
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


class LinearProgram:
    """Maximise ``c x`` subject to ``row_lower <= A x <= row_upper`` and ``lower <= x <= upper``.

    One HiGHS model that stays warm: after a change of bounds, costs or columns, the next solve starts from the last
    basis. Beside it stand the exact data, against which every answer of `solve` is certified.

    Parameters
    ----------
    rows : sequence of (lower, upper), length m
        Bounds of the rows; None for no bound.

    Examples
    --------
    >>> program = LinearProgram([(None, 3)])
    >>> program.add_columns([1, 2], [{0: 1}, {0: 4}], upper=[2, None])
    >>> program.solve()
    Vertex(objective=Fraction(5, 2), primal=(Fraction(2, 1), Fraction(1, 4)), dual=(Fraction(1, 2),))
    """

    def __init__(self, rows: Sequence[tuple[Bound, Bound]]) -> None:
        self._rows = list(rows)
        self._columns: list[_Column] = []
        self._floats = FloatColumns()
        self._bounds: list[tuple[Bound, Bound]] = []
        self._solved = False  # in floats, since the last change
        self._moves_bounds = True
        self._enough = inf
        self._highs = highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("parallel", "off"),
            ("primal_feasibility_tolerance", 1e-9),
            ("dual_feasibility_tolerance", 1e-9),
        ):
            highs.setOptionValue(option, value)
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for lower, upper in self._rows:
            highs.addRow(*_floats(lower, upper), 0, np.empty(0, np.int32), np.empty(0))

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
        self._solved = False
        count = len(costs)
        new = [_column(cost, column) for cost, column in zip(costs, entries, strict=True)]
        lengths = [len(column.entries) for column in new]
        rows = [i for column in new for i, _ in column.entries]
        values: list[Number] = [value for column in new for _, value in column.entries]
        self._floats.extend([column.cost for column in new], lengths, rows, values)  # type: ignore[arg-type]
        if any(column.unit is not ONE for column in new):
            values = [value * column.unit for column in new for _, value in column.entries]
        bounds = [
            *zip([0] * count if lower is None else lower, [None] * count if upper is None else upper, strict=True)
        ]
        floats = [_floats(*pair) for pair in bounds]
        self._columns += new
        self._bounds += bounds
        self._highs.addCols(
            count,
            np.array(costs, np.float64),
            np.array([low for low, _ in floats]),
            np.array([high for _, high in floats]),
            len(rows),
            np.cumsum([0, *lengths[:-1]], dtype=np.int32),
            np.array(rows, np.int32),
            np.array(values, np.float64),
        )

    def expect_columns(self) -> None:
        """Use the primal simplex method from now on: when columns join, the last basis stays feasible for it."""
        self._highs.setOptionValue("simplex_strategy", PRIMAL)
        self._highs.setOptionValue("simplex_iteration_limit", 1000 + PATIENCE * len(self._rows))

    def move_bounds(self, allowed: bool) -> None:
        """Allow the primal method to move bounds by very little to break ties, as it does at first, or forbid it.

        Where amounts as little as that count, it would not find back to the bounds as they are.
        """
        self._moves_bounds = allowed
        self._highs.setOptionValue(MOVES, float(allowed))

    def stop_at(self, worth: float) -> None:
        """Take a feasible basis that is worth so much for optimal where the primal method goes in circles.

        For programs of which nothing is worth more, with bounds as they are: that the last basis is the best needs no
        multipliers. Infinity, as at first, means that it does.
        """
        self._enough = worth

    def keep_columns(self, places: Sequence[int]) -> None:
        """Remove all columns but those at these places, which are in order."""
        dropped = np.setdiff1d(np.arange(self.width, dtype=np.int32), np.array(places, np.int32))
        self._solved = False
        self._highs.deleteCols(len(dropped), dropped)
        self._columns = [self._columns[j] for j in places]
        self._bounds = [self._bounds[j] for j in places]
        self._floats.keep(places)

    def keep_best(self, count: int) -> list[int]:
        """Keep the basic columns and those of the best reduced costs, so many in all; return the places of what stays.

        For programs that have an optimum, and whose columns are at least 0 without upper bounds: it remains optimal.
        """
        basis = self._basis() if self._run() else None
        if basis is None or self.width <= count:
            return list(range(self.width))
        worth = np.array(self._highs.getSolution().col_dual)
        worth[basis[0]] = np.inf
        places: list[int] = np.sort(np.argsort(-worth, kind="stable")[: max(count, len(basis[0]))]).tolist()
        self.keep_columns(places)
        return places

    def set_bounds(self, column: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a column."""
        self._solved = False
        self._bounds[column] = (lower, upper)
        self._highs.changeColBounds(column, *_floats(lower, upper))

    def set_row(self, row: int, lower: Bound, upper: Bound) -> None:
        """Change the bounds of a row."""
        self._solved = False
        self._rows[row] = (lower, upper)
        self._highs.changeRowBounds(row, *_floats(lower, upper))

    def set_cost(self, column: int, cost: Number) -> None:
        """Change the cost of a column."""
        self._solved = False
        old = self._columns[column]
        self._columns[column] = new = _column(cost, {i: value * old.unit for i, value in old.entries})
        self._floats.replace(column, new.cost, new.entries)
        self._highs.changeColCost(column, float(cost))

    def solve_float(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Solve in floats only.

        Returns
        -------
        objective : float
            NaN where the solver reports anything but an optimum.
        primal : float64[n]
        dual : float64[m]
        """
        optimal = self._run()
        solution = self._highs.getSolution()
        objective = self._highs.getObjectiveValue() if optimal else float("nan")
        return objective, np.array(solution.col_value), np.array(solution.row_dual)

    def _run(self) -> bool:
        """Solve in floats unless that is done already, and return whether there is an optimum."""
        if not self._solved:
            self._highs.run()
            for seed in range(1, RESTARTS + 1):
                if self._highs.getModelStatus() != highspy.HighsModelStatus.kIterationLimit or self._has_enough():
                    break
                self._restart(seed)
            self._solved = True
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal or self._has_enough())

    def _has_enough(self) -> bool:
        found = self._highs.getInfo()
        return bool(found.num_primal_infeasibilities == 0 and found.objective_function_value >= self._enough)

    def _restart(self, seed: int) -> None:
        """Go on from the last basis with nothing else of what led to it, with bounds as they are and ties cut anew."""
        basis = self._highs.getBasis()
        self._highs.clearSolver()
        self._highs.setBasis(basis)
        self._highs.setOptionValue("random_seed", seed)
        self._highs.setOptionValue(MOVES, 0.0)
        self._highs.run()
        self._highs.setOptionValue("random_seed", 0)
        self._highs.setOptionValue(MOVES, float(self._moves_bounds))

    def solve(self) -> Vertex:
        """Solve exactly.

        Returns
        -------
        Vertex
            Feasible and optimal in rationals, checked against every row and column.

        Raises
        ------
        InfeasibleError
        theory.exact.rational.UnboundedError

        Notes
        -----
        The float basis almost always certifies at once: two exact linear systems of the order of the basic columns,
        then integer arithmetic on every row and column. Where it does not, the float solver goes on with larger costs,
        and then a rational simplex method decides.
        """
        vertex = self.solve_basis()
        if vertex is not None:
            return vertex
        return self._by_simplex(np.array(self._highs.getSolution().row_dual) if self._run() else None)

    def solve_basis(self, multipliers: Sequence[Fraction] | None = None) -> Vertex | None:
        """Solve in floats and return the exact vertex of the last basis, or None if it does not certify.

        For programs that are themselves a guess: where `solve` would go on to prove in rationals that nothing is
        feasible, this gives up. Optimality is proved by the given multipliers, or by those of the basis.
        """
        if not self._run():
            return None
        vertex = self._from_basis(multipliers)
        return self._refined() if vertex is None and multipliers is None else vertex

    def _refined(self) -> Vertex | None:
        """Go on from a basis that is optimal up to the solver's tolerance, with costs that are so many times as large.

        The tolerance is absolute: beside larger costs smaller gains count.
        """
        places = np.arange(self.width, dtype=np.int32)
        costs = np.array([float(column.cost * column.unit) for column in self._columns])
        self._highs.changeColsCost(self.width, places, costs * LARGER)
        self._solved = False
        vertex = self._from_basis() if self._run() else None
        self._highs.changeColsCost(self.width, places, costs)
        self._solved = False
        return vertex

    def at_most(self, bound: Number) -> bool:
        """Return whether exact multipliers show that no solution is worth more than a bound.

        Returns
        -------
        bool
            False means that the multipliers of the float basis do not show it, not that some solution is worth more.

        Notes
        -----
        Weak duality: ``c x = y A x + (c - A'y) x`` for every y, and within the bounds of its row or column each term
        has a largest value. That takes about half the work of `solve`, as no vertex is worked out.

        Examples
        --------
        >>> program = LinearProgram([(None, 3)])
        >>> program.add_columns([1, 2], [{0: 1}, {0: 4}], upper=[2, None])
        >>> program.at_most(Fraction(5, 2)), program.at_most(2)
        (True, False)
        """
        basis = self._basis() if self._run() else None
        if basis is None:
            return False
        columns, tight = basis
        _, transposed = self._square(columns, {i: position for position, i in enumerate(tight)})
        y = self._multipliers(columns, tight, transposed)
        if y is None:
            return False
        scale, dual = _whole(y)
        worth: Number = 0  # times the scale
        for price, (lower, upper) in zip(dual, self._rows, strict=True):
            limit = upper if price > 0 else lower
            if price and limit is None:
                return False
            worth += price * limit if price and limit else 0
        for column, sign, (lower, upper) in zip(
            self._columns, self._floats.signs(dual, scale), self._bounds, strict=True
        ):
            if lower == 0 and (sign < 0 or upper == 0):
                continue
            gain = column.reduced_cost(dual, scale) if sign == UNSURE else sign
            limit = upper if gain > 0 else lower
            if gain and limit is None:
                return False
            if gain and limit:
                worth += column.reduced_cost(dual, scale) * column.unit * limit
        return worth <= bound * scale

    def _basis(self) -> tuple[list[int], list[int]] | None:
        """Return the basic columns of an optimum in floats and the rows that are not basic."""
        if not self._highs.getNumNz():  # nothing was factorised, and HiGHS would look into what is not there
            return [], []
        status, basic = self._highs.getBasicVariables()  # columns as they are, row i as -1 - i
        if status != highspy.HighsStatus.kOk:
            return None
        columns = sorted(j for j in basic.tolist() if j >= 0)
        return columns, sorted(set(range(len(self._rows))).difference(-1 - j for j in basic.tolist()))

    def _multipliers(
        self, columns: Sequence[int], tight: Sequence[int], transposed: Sequence[Mapping[int, int]]
    ) -> list[Fraction] | None:
        """Return the multipliers y that make the reduced costs of the basic columns 0; None if there are none."""
        found = sparse.solve(transposed, [self._columns[j].cost for j in columns])
        if found is None:
            return None
        y = [ZERO] * len(self._rows)
        for i, multiplier in zip(tight, found, strict=True):
            y[i] = multiplier
        return y

    def _from_basis(self, multipliers: Sequence[Fraction] | None = None) -> Vertex | None:
        basis = self._basis()
        if basis is None:
            return None
        columns, tight = basis
        solution = self._highs.getSolution()
        primal, activity = solution.col_value, solution.row_value
        x: list[Number] = [0] * self.width
        is_basic = set(columns)
        for j, (lower, upper) in enumerate(self._bounds):
            if (lower != 0 or upper is not None) and j not in is_basic:
                x[j] = _nearest(lower, upper, primal[j])
        targets = [Fraction(_nearest(*self._rows[i], activity[i])) for i in tight]
        place = {i: position for position, i in enumerate(tight)}
        for j, value in enumerate(x):
            if value:
                for i, entry in self._columns[j].entries:
                    if i in place:
                        targets[place[i]] -= value * entry * self._columns[j].unit
        square, transposed = self._square(columns, place)
        values = sparse.solve(square, targets)
        if values is None:
            return None
        for j, value in zip(columns, values, strict=True):
            x[j] = value / self._columns[j].unit
        y = self._multipliers(columns, tight, transposed) if multipliers is None else multipliers
        return self._vertex(x, y) if y is not None and self._is_optimal(x, y, is_basic) else None

    def _square(
        self, columns: Sequence[int], place: Mapping[int, int]
    ) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
        """Return the integer entries of the basic columns in the rows of `place`, and the transposed matrix."""
        square: list[dict[int, int]] = [{} for _ in place]
        transposed: list[dict[int, int]] = [{} for _ in columns]
        for position, j in enumerate(columns):
            for i, entry in self._columns[j].entries:
                if i in place:
                    square[place[i]][position] = transposed[position][place[i]] = entry
        return square, transposed

    def _is_optimal(self, x: Sequence[Number], y: Sequence[Fraction], basic: set[int]) -> bool:
        """Decide primal feasibility, dual feasibility and complementarity exactly.

        The sign of most reduced costs is certain in floats (`FloatColumns.signs`); the others are worked out exactly.
        """
        if not all(_within(x[j], *self._bounds[j]) for j in basic):
            return False
        scale, dual = _whole(y)
        for j, sign in enumerate(self._floats.signs(dual, scale)):
            gain = self._columns[j].reduced_cost(dual, scale) if sign == UNSURE else sign
            bound = self._bounds[j][gain > 0]
            if gain and x[j] is not bound and x[j] != bound:
                return False
        for (lower, upper), value, price in zip(self._rows, self._activity(x), y, strict=True):
            if not _within(value, lower, upper):
                return False
            if (price > 0 and value != upper) or (price < 0 and value != lower):
                return False
        return True

    def _activity(self, x: Sequence[Number]) -> list[Fraction]:
        """Return A x, in integers over one denominator."""
        parts = [(column, value * column.unit) for column, value in zip(self._columns, x, strict=True) if value]
        scale = lcm(*(part.denominator for _, part in parts))
        activity = [0] * len(self._rows)
        for column, part in parts:
            whole = part.numerator * (scale // part.denominator)
            for i, entry in column.entries:
                activity[i] += whole * entry
        return [Fraction(value, scale) for value in activity]

    def _vertex(self, x: Sequence[Number], y: Sequence[Fraction]) -> Vertex:
        pairs = zip(self._columns, x, strict=True)
        objective = sum((column.cost * column.unit * value for column, value in pairs if value), ZERO)
        return Vertex(objective, tuple(Fraction(value) if value else ZERO for value in x), tuple(y))

    def _by_simplex(self, dual: NDArray[np.float64] | None) -> Vertex:
        """Solve in rationals over the columns that the float multipliers cannot rule out, adding any that price in."""
        from theory.exact import standard  # seldom needed

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
            answer = standard.maximise([(*self._columns[j].exact, self._bounds[j]) for j in order], self._rows)
            if answer is None:
                if len(chosen) < self.width:
                    chosen = set(range(self.width))
                    continue
                raise InfeasibleError("no point satisfies the constraints")
            values, y = answer
            x = [Fraction(0)] * self.width
            for j, value in zip(order, values, strict=True):
                x[j] = value
            scale, prices = _whole(y)
            missing = {
                j for j in range(self.width) if j not in chosen and self._columns[j].reduced_cost(prices, scale) > 0
            }
            if not missing:
                return self._vertex(x, y)
            chosen |= missing


def _whole(values: Sequence[Fraction]) -> tuple[int, list[int]]:
    """Return a common denominator, and the values times it."""
    scale = lcm(*(value.denominator for value in values))
    return scale, [value.numerator * (scale // value.denominator) for value in values]


def _column(cost: Number, column: Mapping[int, Number]) -> _Column:
    entries = tuple(entry for entry in column.items() if entry[1])
    if type(cost) is int and {int}.issuperset(map(type, column.values())):
        return _Column(cost, entries, ONE)  # type: ignore[arg-type]
    denominator = lcm(cost.denominator, *(value.denominator for _, value in entries))
    whole = tuple((i, value.numerator * (denominator // value.denominator)) for i, value in entries)
    return _Column(cost.numerator * (denominator // cost.denominator), whole, Fraction(1, denominator))


def _floats(lower: Bound, upper: Bound) -> tuple[float, float]:
    return (
        -highspy.kHighsInf if lower is None else float(lower),
        highspy.kHighsInf if upper is None else float(upper),
    )


def _nearest(lower: Bound, upper: Bound, value: float) -> Number:
    if lower is None:
        return 0 if upper is None else upper
    if upper is None:
        return lower
    return lower if abs(value - lower) <= abs(value - upper) else upper


def _within(value: Number, lower: Bound, upper: Bound) -> bool:
    return (lower is None or value >= lower) and (upper is None or value <= upper)
