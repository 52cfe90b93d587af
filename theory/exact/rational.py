"""Exact linear systems, by FLINT, and a plain simplex method in rationals where no floating-point basis certifies."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import flint


def solve(matrix: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction | int]) -> list[Fraction] | None:
    """Solve ``matrix @ x == right`` exactly.

    Parameters
    ----------
    matrix : sequence of sequence of rational, shape (n, n)
    right : sequence of rational, shape (n,)

    Returns
    -------
    list of Fraction, shape (n,), or None
        None if the matrix is singular.

    Notes
    -----
    Rows are scaled to integers and go to FLINT's ``fmpz_mat.solve``: fraction-free, O(n^3) integer operations.

    Examples
    --------
    >>> solve([[2, 1], [0, 4]], [1, Fraction(1, 2)])
    [Fraction(7, 16), Fraction(1, 8)]
    """
    if not len(matrix):
        return []
    try:
        left, scales = flint.fmpz_mat(matrix), [1] * len(matrix)
    except TypeError:  # not all integers
        scales = [lcm(*(value.denominator for value in row)) for row in matrix]
        left = flint.fmpz_mat(
            [
                [value.numerator * (scale // value.denominator) for value in row]
                for row, scale in zip(matrix, scales, strict=True)
            ]
        )
    unit = lcm(*(value.denominator for value in right))
    whole = [[b.numerator * (unit // b.denominator) * scale] for b, scale in zip(right, scales, strict=True)]
    try:
        solution = left.solve(flint.fmpz_mat(whole))
    except ZeroDivisionError:
        return None
    return [Fraction(int(value.p), int(value.q) * unit) for value in solution.entries()]


class UnboundedError(ArithmeticError):
    """The objective can grow without end."""


def maximise(
    cost: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Maximise ``cost @ x`` subject to ``rows @ x == right`` and ``x >= 0`` exactly.

    Parameters
    ----------
    cost : shape (n,)
    rows : shape (m, n)
    right : shape (m,)

    Returns
    -------
    (x, y) or None
        An optimal vertex, shape (n,), and optimal multipliers of the rows, shape (m,); None if nothing is feasible.

    Raises
    ------
    UnboundedError

    Notes
    -----
    Two phases on a dense tableau with Bland's rule, so it ends; each pivot costs O(m n) rational operations.

    Examples
    --------
    >>> one = Fraction(1)
    >>> maximise([one, one, 0 * one], [[one, 2 * one, one]], [3 * one])
    ([Fraction(3, 1), Fraction(0, 1), Fraction(0, 1)], [Fraction(1, 1)])
    """
    m, n = len(rows), len(cost)
    signs = [-1 if b < 0 else 1 for b in right]
    zero, one = Fraction(0), Fraction(1)
    tableau = [
        [sign * Fraction(a) for a in row] + [one if i == r else zero for i in range(m)] + [sign * Fraction(b)]
        for r, (row, b, sign) in enumerate(zip(rows, right, signs, strict=True))
    ]
    basis = list(range(n, n + m))
    _run(tableau, basis, [zero] * n + [-one] * m, n + m)
    if any(basis[r] >= n and tableau[r][-1] != 0 for r in range(m)):
        return None
    for r in range(m):  # an artificial at zero leaves the basis if its row has anything else to offer
        if basis[r] >= n:
            j = next((j for j in range(n) if tableau[r][j] != 0), None)
            if j is not None:
                _pivot(tableau, basis, r, j)
    full = [Fraction(c) for c in cost] + [zero] * m
    _run(tableau, basis, full, n)
    x = [zero] * n
    for r, j in enumerate(basis):
        if j < n:
            x[j] = tableau[r][-1]
    y = [sign * sum((full[basis[r]] * tableau[r][n + i] for r in range(m)), zero) for i, sign in enumerate(signs)]
    return x, y


def _run(tableau: list[list[Fraction]], basis: list[int], cost: list[Fraction], eligible: int) -> None:
    while True:
        weights = [cost[j] for j in basis]
        entering = None
        for j in range(eligible):
            gain = cost[j] - sum((w * row[j] for w, row in zip(weights, tableau, strict=True) if w), Fraction(0))
            if gain > 0:
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
