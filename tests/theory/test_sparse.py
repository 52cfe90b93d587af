"""Sparse systems: the solution satisfies every equation exactly, and singular systems have none."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from theory.exact.programs import rational


def drawn(seed: int, size: int, extra: int) -> tuple[list[dict[int, Fraction]], list[Fraction]]:
    """Draw a permuted triangular system with more entries thrown in: mostly cheap pivots and a dense core."""
    generator = random.Random(seed)
    rows: list[dict[int, Fraction]] = [
        {i: Fraction(generator.randint(1, 9), generator.randint(1, 9))} for i in range(size)
    ]
    for _ in range(3 * size if size > 1 else 0):
        i, j = sorted(generator.sample(range(size), 2))
        rows[i][j] = Fraction(generator.randint(-9, 9), generator.randint(1, 9))
    for _ in range(extra):
        rows[generator.randrange(size)][generator.randrange(size)] = Fraction(generator.randint(-9, 9))
    generator.shuffle(rows)
    return rows, [Fraction(generator.randint(-20, 20), 7) for _ in range(size)]


@pytest.mark.parametrize("size", [1, 7, rational.SMALL, rational.SMALL + 1, 120])
@pytest.mark.parametrize("extra", [0, 5, 200])
@pytest.mark.parametrize("seed", range(3))
def test_every_equation_holds(seed: int, extra: int, size: int) -> None:
    rows, right = drawn(seed, size, extra)
    values = rational.solve_sparse(rows, right)
    dense = rational.solve_dense([[row.get(j, 0) for j in range(size)] for row in rows], right)
    assert values == dense
    if values is not None:
        assert [sum(v * values[j] for j, v in row.items()) for row in rows] == right


@pytest.mark.parametrize("size", [5, 80])
def test_singular(size: int) -> None:
    rows, right = drawn(1, size, 10)
    assert rational.solve_sparse([*rows[:-1], {j: 2 * v for j, v in rows[0].items()}], right) is None
    assert rational.solve_sparse([*rows[:-1], {}], right) is None
    assert rational.solve_sparse([{j: v for j, v in row.items() if j} for row in rows], right) is None
    column = [{j: v for j, v in row.items() if j > 1} | {0: Fraction(1), 1: Fraction(-3)} for row in rows]
    assert rational.solve_sparse(column, right) is None
