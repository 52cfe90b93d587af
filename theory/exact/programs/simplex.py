"""A plain simplex method in rationals, for programs of which no basis in floats certifies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

Bounds = tuple[Fraction | int | None, Fraction | int | None]
"""Least and greatest value; None where there is none."""


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


class UnboundedError(ArithmeticError):
    """The objective can grow without end."""


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
