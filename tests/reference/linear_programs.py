"""What `LinearProgram` answers, in plain Python: the best of all vertices, found by trying every set of constraints."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Bound = Fraction | int | None


def greatest_objective(
    costs: Sequence[Fraction],
    rows: Sequence[tuple[Sequence[Fraction], Bound, Bound]],
    bounds: Sequence[tuple[Bound, Bound]],
) -> Fraction | None:
    """Return the maximum of ``c x`` over ``lower <= a x <= upper`` in each row and each variable; None if infeasible.

    The set of solutions must be bounded: then it has a vertex where the maximum is attained, the only point at which
    n constraints hold with equality. O((m + n choose n)) systems of order n.
    """
    n = len(costs)
    units = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    constraints = [*rows, *((unit, *pair) for unit, pair in zip(units, bounds, strict=True))]
    tight = [(normal, Fraction(b)) for normal, *pair in constraints for b in pair if b is not None]
    best = None
    for chosen in combinations(tight, n):
        x = solution([[*normal, b] for normal, b in chosen])
        if x is None or not all(holds(x, *constraint) for constraint in constraints):
            continue
        value = sum((c * v for c, v in zip(costs, x, strict=True)), Fraction(0))
        best = value if best is None else max(best, value)
    return best


def holds(x: Sequence[Fraction], normal: Sequence[Fraction], lower: Bound, upper: Bound) -> bool:
    """Return whether a point satisfies a constraint."""
    value = sum((a * v for a, v in zip(normal, x, strict=True)), Fraction(0))
    return (lower is None or value >= lower) and (upper is None or value <= upper)


def solution(augmented: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a square system, given as rows of coefficients and right-hand side; None if it is singular."""
    n = len(augmented)
    for i in range(n):
        pivot = next((r for r in range(i, n) if augmented[r][i]), None)
        if pivot is None:
            return None
        augmented[i], augmented[pivot] = augmented[pivot], [Fraction(a) for a in augmented[i]]
        augmented[i] = [Fraction(a) / augmented[i][i] for a in augmented[i]]
        for r in range(n):
            if r != i:
                factor = augmented[r][i]
                augmented[r] = [a - factor * b for a, b in zip(augmented[r], augmented[i], strict=True)]
    return [row[n] for row in augmented]
