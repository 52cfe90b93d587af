"""Linear systems and programs solved in rationals alone.

Dense systems go to FLINT, sparse ones through cheap pivots until a dense core remains. Programs of which no basis in
floats certifies go through a plain simplex method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm

import flint

SMALL = 40
"""Order up to which a sparse system is solved as a dense one, which is faster there."""

FILL = 24
"""Most entries that a pivot may touch, (row length - 1)(column length - 1); beyond it the rest counts as dense."""

Bounds = tuple[Fraction | int | None, Fraction | int | None]
"""Least and greatest value; None where there is none."""


def solve_dense(matrix: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction | int]) -> list[Fraction] | None:
    """Solve ``matrix @ x == right`` exactly, by the fraction-free ``fmpz_mat.solve`` of FLINT; None if it is singular.

    Parameters
    ----------
    matrix : sequence of sequence of rational, shape (n, n)
    right : sequence of rational, shape (n,)

    Examples
    --------
    >>> solve_dense([[2, 1], [0, 4]], [1, Fraction(1, 2)])
    [Fraction(7, 16), Fraction(1, 8)]
    """
    if not len(matrix):
        return []
    try:
        integral, scales = flint.fmpz_mat(matrix), [1] * len(matrix)
    except TypeError:  # not all integers
        scales = [lcm(*(value.denominator for value in row)) for row in matrix]
        integral = flint.fmpz_mat(
            [
                [value.numerator * (scale // value.denominator) for value in row]
                for row, scale in zip(matrix, scales, strict=True)
            ]
        )
    # row i of the system times scales[i], and all right-hand sides over one unit
    unit = lcm(*(value.denominator for value in right))
    integers = [[b.numerator * (unit // b.denominator) * scale] for b, scale in zip(right, scales, strict=True)]
    try:
        solution = integral.solve(flint.fmpz_mat(integers))
    except ZeroDivisionError:
        return None
    return [Fraction(int(value.p), int(value.q) * unit) for value in solution.entries()]


def solve_sparse(
    rows: Sequence[Mapping[int, Fraction | int]], right: Sequence[Fraction | int]
) -> list[Fraction] | None:
    """Solve a square sparse system exactly; None if the matrix is singular.

    Parameters
    ----------
    rows : sequence of mapping from column to rational, length n
    right : sequence of rational, length n

    Notes
    -----
    Gaussian elimination in rationals. The pivot is an entry of a shortest row, or of a shortest column, that touches
    few other entries (Markowitz's rule). Bases of linear programs and of flows on graphs are nearly triangular, so this
    costs little and keeps numbers short. Once the pivot would touch more than `FILL` entries, `solve_dense` takes over
    what is left; small systems are left to it at once.

    Examples
    --------
    >>> solve_sparse([{0: 2, 1: 1}, {1: 4}], [1, Fraction(1, 2)])
    [Fraction(7, 16), Fraction(1, 8)]
    """
    if len(rows) <= SMALL:
        dense = [[row.get(j, 0) for j in range(len(rows))] for row in rows]
        return solve_dense(dense, right)
    system = _System(rows, right)
    order: list[tuple[int, int]] = []
    while (pivot := system.cheapest()) is not None:
        system.eliminate(*pivot)
        order.append(pivot)
    values = system.core()
    if values is None:
        return None
    for i, j in reversed(order):  # back substitution: row i has column j and columns that were eliminated later
        row = system.rows[i]
        rest = system.right[i]
        for column, entry in row.items():
            if column != j:
                rest -= entry * values[column]
        values[j] = rest / row[j]
    return [Fraction(int(values[j].p), int(values[j].q)) for j in range(len(rows))]


class _System:
    """A system under elimination; open rows and columns are those that are not eliminated yet."""

    def __init__(self, rows: Sequence[Mapping[int, Fraction | int]], right: Sequence[Fraction | int]) -> None:
        self.rows: list[dict[int, flint.fmpq]] = [{j: _exact(v) for j, v in row.items() if v} for row in rows]
        self.right = [_exact(value) for value in right]
        self.columns: list[set[int]] = [set() for _ in rows]
        for i, row in enumerate(self.rows):
            for j in row:
                self.columns[j].add(i)
        self.open_rows = set(range(len(rows)))
        self.open_columns = set(range(len(rows)))
        self._by_row = [(len(row), i) for i, row in enumerate(self.rows)]
        self._by_column = [(len(column), j) for j, column in enumerate(self.columns)]
        heapify(self._by_row)
        heapify(self._by_column)

    def cheapest(self) -> tuple[int, int] | None:
        """Return row and column of a cheap pivot; None if there is none, or if the system is singular."""
        i = _shortest(self._by_row, self.open_rows, lambda i: len(self.rows[i]))
        j = _shortest(self._by_column, self.open_columns, lambda j: len(self.columns[j]))
        if i is None or j is None or not self.rows[i] or not self.columns[j]:
            return None
        # Markowitz's rule, looked at in one shortest row and one shortest column only
        beside = min(self.rows[i], key=lambda column: (len(self.columns[column]), column))
        above = min(self.columns[j], key=lambda row: (len(self.rows[row]), row))
        costs = [
            ((len(self.rows[row]) - 1) * (len(self.columns[column]) - 1), row, column)
            for row, column in ((i, beside), (above, j))
        ]
        cost, row, column = min(costs)
        return (row, column) if cost <= FILL else None

    def eliminate(self, i: int, j: int) -> None:
        """Take row `i` and column `j` out: subtract multiples of the row from the other rows of the column."""
        row = self.rows[i]
        self.open_rows.discard(i)
        self.open_columns.discard(j)
        for column in row:
            self.columns[column].discard(i)
        others = [(column, entry) for column, entry in row.items() if column != j]
        for k in self.columns[j]:
            target = self.rows[k]
            factor = target.pop(j) / row[j]
            for column, entry in others:
                old = target.get(column)
                new = -factor * entry if old is None else old - factor * entry
                if new:
                    target[column] = new
                    self.columns[column].add(k)
                else:
                    target.pop(column, None)
                    self.columns[column].discard(k)
            self.right[k] -= factor * self.right[i]
            heappush(self._by_row, (len(target), k))
        for column, _ in others:
            heappush(self._by_column, (len(self.columns[column]), column))
        self.columns[j] = set()

    def core(self) -> dict[int, flint.fmpq] | None:
        """Return the values of the open columns, from the open rows; None if they are singular."""
        columns = sorted(self.open_columns)
        rows = sorted(self.open_rows)
        dense = [[_fraction(self.rows[i].get(j)) for j in columns] for i in rows]
        values = solve_dense(dense, [_fraction(self.right[i]) for i in rows])
        return None if values is None else {j: _exact(value) for j, value in zip(columns, values, strict=True)}


def _shortest(heap: list[tuple[int, int]], still: set[int], length: Callable[[int], int]) -> int | None:
    """Return the shortest open row or column; entries of the heap that are out of date are dropped."""
    while heap and (heap[0][1] not in still or heap[0][0] != length(heap[0][1])):
        heappop(heap)
    return heap[0][1] if heap else None


def _exact(value: Fraction | int) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)


def _fraction(value: flint.fmpq | None) -> Fraction:
    return Fraction(0) if value is None else Fraction(int(value.p), int(value.q))


class UnboundedError(ArithmeticError):
    """The objective can grow without end."""


def maximise(
    columns: Sequence[tuple[Fraction, Mapping[int, Fraction], Bounds]], rows: Sequence[Bounds]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Maximise ``c x`` over ``row_lower <= A x <= row_upper`` and ``lower <= x <= upper`` in rationals.

    Columns are (cost, entries by row, (lower, upper)). Return x and the multipliers of the rows, or None if no point
    satisfies the constraints; raise `UnboundedError` where the objective can grow without end.
    """
    right = [Fraction(0)] * len(rows)
    forms: list[tuple[Fraction, dict[int, Fraction]]] = []  # cost and entries of each nonnegative variable
    boxes: list[tuple[int, Fraction]] = []  # variable and its upper bound: a row more
    recipe: list[tuple[Fraction, list[tuple[int, int]]]] = []  # each x as offset + sum of sign * variable
    for cost, column, (lower, upper) in columns:
        entries = dict(column)
        if lower is None and upper is None:  # x = x+ - x-
            recipe.append((Fraction(0), [(len(forms), 1), (len(forms) + 1, -1)]))
            forms += [(cost, entries), (-cost, {i: -value for i, value in entries.items()})]
            continue
        # x = lower + x', or x = upper - x' where there is no lower bound
        sign, offset = (1, Fraction(lower)) if lower is not None else (-1, Fraction(upper))  # type: ignore[arg-type]
        if lower is not None and upper is not None:
            boxes.append((len(forms), Fraction(upper) - lower))
        recipe.append((offset, [(len(forms), sign)]))
        forms.append((sign * cost, {i: sign * value for i, value in entries.items()}))
        for i, value in entries.items():
            right[i] -= value * offset
    for i, (lower, upper) in enumerate(rows):
        if lower is None and upper is None:  # a slack of either sign
            forms += [(Fraction(0), {i: Fraction(1)}), (Fraction(0), {i: Fraction(-1)})]
        elif upper is not None:  # a x + slack = upper, and slack <= upper - lower; an equation has none
            right[i] += upper
            if lower != upper:
                if lower is not None:
                    boxes.append((len(forms), Fraction(upper) - lower))
                forms.append((Fraction(0), {i: Fraction(1)}))
        else:  # a x - surplus = lower
            assert lower is not None
            right[i] += lower
            forms.append((Fraction(0), {i: Fraction(-1)}))
    for variable, box in boxes:
        forms[variable][1][len(right)] = Fraction(1)
        forms.append((Fraction(0), {len(right): Fraction(1)}))
        right.append(box)
    dense = [[entries.get(i, Fraction(0)) for _, entries in forms] for i in range(len(right))]
    solution = maximise_standard([cost for cost, _ in forms], dense, right)
    if solution is None:
        return None
    point, multipliers = solution
    x = [offset + sum((sign * point[j] for j, sign in parts), Fraction(0)) for offset, parts in recipe]
    return x, multipliers[: len(rows)]


def maximise_standard(
    cost: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return an optimal vertex x of ``cost @ x`` over ``rows @ x == right``, ``x >= 0``, and multipliers of the rows.

    None if nothing is feasible; raises `UnboundedError`. Two phases on a dense tableau with Bland's rule, so it ends;
    each pivot takes O(m n) operations.
    """
    m, n = len(rows), len(cost)
    # the tableau has a column for each variable, one artificial variable for each row, and the right-hand side >= 0
    signs = [-1 if b < 0 else 1 for b in right]
    zero, one = Fraction(0), Fraction(1)
    tableau = [
        [sign * Fraction(a) for a in row] + [one if i == r else zero for i in range(m)] + [sign * Fraction(b)]
        for r, (row, b, sign) in enumerate(zip(rows, right, signs, strict=True))
    ]
    basis = list(range(n, n + m))
    # phase 1: the artificial variables sum to 0 if anything is feasible
    _run(tableau, basis, [zero] * n + [-one] * m, n + m)
    if any(basis[r] >= n and tableau[r][-1] != 0 for r in range(m)):
        return None
    for r in range(m):  # an artificial at zero leaves the basis if its row has anything else to offer
        if basis[r] >= n:
            j = next((j for j in range(n) if tableau[r][j] != 0), None)
            if j is not None:
                _pivot(tableau, basis, r, j)
    # phase 2: artificial variables do not enter again; their columns carry the multipliers
    full = [Fraction(c) for c in cost] + [zero] * m
    _run(tableau, basis, full, n)
    x = [zero] * n
    for r, j in enumerate(basis):
        if j < n:
            x[j] = tableau[r][-1]
    y = [sign * sum((full[basis[r]] * tableau[r][n + i] for r in range(m)), zero) for i, sign in enumerate(signs)]
    return x, y


def _run(tableau: list[list[Fraction]], basis: list[int], cost: list[Fraction], eligible: int) -> None:
    """Pivot to an optimum of a cost; only the first `eligible` variables may enter the basis."""
    while True:
        weights = [cost[j] for j in basis]
        entering = None
        for j in range(eligible):
            gain = cost[j] - sum((w * row[j] for w, row in zip(weights, tableau, strict=True) if w), Fraction(0))
            if gain > 0:  # Bland's rule: the first that gains, and the row of the first basic variable among ties
                entering = j
                break
        if entering is None:
            return
        ratios = [(row[-1] / row[entering], basis[r], r) for r, row in enumerate(tableau) if row[entering] > 0]
        if not ratios:
            raise UnboundedError("the objective can grow without end")
        _pivot(tableau, basis, min(ratios)[2], entering)


def _pivot(tableau: list[list[Fraction]], basis: list[int], r: int, j: int) -> None:
    lead = tableau[r][j]
    tableau[r] = head = [a / lead for a in tableau[r]]
    for i, row in enumerate(tableau):
        if i != r and row[j] != 0:
            factor = row[j]
            tableau[i] = [a - factor * b if b else a for a, b in zip(row, head, strict=True)]
    basis[r] = j
