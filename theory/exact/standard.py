"""Linear programs with bounds of any kind brought to standard form, and solved there in rationals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theory.exact import rational

Bounds = tuple[Fraction | int | None, Fraction | int | None]
"""Least and greatest value; None where there is none."""


def maximise(
    columns: Sequence[tuple[Fraction, Mapping[int, Fraction], Bounds]], rows: Sequence[Bounds]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Maximise ``c x`` over ``row_lower <= A x <= row_upper`` and ``lower <= x <= upper`` in rationals.

    Parameters
    ----------
    columns : sequence of (cost, entries by row, (lower, upper)), length n
    rows : sequence of (lower, upper), length m

    Returns
    -------
    (x, multipliers of the rows) or None
        None if no point satisfies the constraints.

    Raises
    ------
    theory.exact.rational.UnboundedError

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> maximise([(half, {0: Fraction(1)}, (None, 2))], [(None, 3)])
    ([Fraction(2, 1)], [Fraction(0, 1)])
    """
    m = len(rows)
    right = [Fraction(0)] * m
    forms: list[tuple[Fraction, dict[int, Fraction]]] = []  # cost and entries of each nonnegative variable
    boxes: list[tuple[int, Fraction]] = []  # variable, upper bound
    recipe: list[tuple[Fraction, list[tuple[int, int]]]] = []  # x = offset + sum of sign * variable
    for cost, given, (lower, upper) in columns:
        entries = dict(given)
        if lower is None and upper is None:
            recipe.append((Fraction(0), [(len(forms), 1), (len(forms) + 1, -1)]))
            forms += [(cost, entries), (-cost, {i: -value for i, value in entries.items()})]
            continue
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
        elif upper is not None:
            right[i] += upper
            if lower != upper:
                if lower is not None:
                    boxes.append((len(forms), Fraction(upper) - lower))
                forms.append((Fraction(0), {i: Fraction(1)}))
        else:
            assert lower is not None
            right[i] += lower
            forms.append((Fraction(0), {i: Fraction(-1)}))
    for variable, box in boxes:
        row = len(right)
        right.append(box)
        forms[variable][1][row] = Fraction(1)
        forms.append((Fraction(0), {row: Fraction(1)}))
    dense = [[entries.get(i, Fraction(0)) for _, entries in forms] for i in range(len(right))]
    answer: Any = rational.maximise([cost for cost, _ in forms], dense, right)
    if answer is None:
        return None
    point, multipliers = answer
    x = [offset + sum((sign * point[j] for j, sign in parts), Fraction(0)) for offset, parts in recipe]
    return x, multipliers[:m]
