"""Exact solution of square linear systems: fraction-free elimination in integers, or FLINT where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

try:
    import flint
except ImportError:  # the extra `exact` is not installed
    flint = None

FLINT_FROM = 12
"""Order from which FLINT is asked: below it, conversion costs more than it saves."""


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
    Bareiss's elimination: O(n^3) integer operations on numbers no larger than minors of the matrix. With python-flint
    (extra ``exact``) systems of order `FLINT_FROM` or more go to `fmpz_mat.solve`.

    Examples
    --------
    >>> solve([[2, 1], [0, 4]], [1, Fraction(1, 2)])
    [Fraction(7, 16), Fraction(1, 8)]
    """
    rows = [_integers(row, b) for row, b in zip(matrix, right, strict=True)]
    if flint is not None and len(rows) >= FLINT_FROM:
        return _flint_solve(rows)
    return _bareiss(rows)


def _integers(row: Sequence[Fraction | int], right: Fraction | int) -> list[int]:
    entries = (*row, right)
    denominator = lcm(*(value.denominator for value in entries))
    return [value.numerator * (denominator // value.denominator) for value in entries]


def _bareiss(rows: list[list[int]]) -> list[Fraction] | None:
    n = len(rows)
    previous = 1
    for step in range(n):
        pivot = next((i for i in range(step, n) if rows[i][step]), None)
        if pivot is None:
            return None
        rows[step], rows[pivot] = rows[pivot], rows[step]
        head, lead = rows[step], rows[step][step]
        for i in range(step + 1, n):
            row = rows[i]
            factor = row[step]
            if factor:
                row[step + 1 :] = [
                    (lead * a - factor * b) // previous for a, b in zip(row[step + 1 :], head[step + 1 :], strict=True)
                ]
            elif lead != previous:
                row[step + 1 :] = [lead * a // previous for a in row[step + 1 :]]
            row[step] = 0
        previous = lead
    solution = [Fraction(0)] * n
    for i in reversed(range(n)):
        known = sum((rows[i][j] * solution[j] for j in range(i + 1, n) if rows[i][j]), Fraction(0))
        solution[i] = (rows[i][n] - known) / rows[i][i]
    return solution


def _flint_solve(rows: list[list[int]]) -> list[Fraction] | None:
    n = len(rows)
    try:
        solution = flint.fmpz_mat([row[:n] for row in rows]).solve(flint.fmpz_mat([[row[n]] for row in rows]))
    except ZeroDivisionError:
        return None
    return [Fraction(int(value.p), int(value.q)) for value in (solution[i, 0] for i in range(n))]
