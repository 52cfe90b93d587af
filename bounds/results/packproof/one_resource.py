"""Results of packproof on three job types and one resource: greedy keeps 17/24 of the optimum, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bounds.adversary.by_size import LEAST_ON_ONE
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import one_resource_family
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.numbers import text

SEED = 17

RECTANGLES = tuple(
    (Fraction(a), Fraction(b)) for a, b in (("1/3", "1/4"), ("1/4", "1/3"), ("1/5", "1/3"), ("1/3", "1/5"))
)
"""Corners (A, B) below which t_1 and t_2 are, unless one of them is at most `SMALL` or they sum to less than `SUM`."""

SMALL, SUM = Fraction(1, 6), Fraction(4, 7)


def identities_hold() -> bool:
    """Decide the identities of the proof in symbols."""
    import sympy as sp

    a, b, c, d, s = sp.symbols("a b c d s", positive=True)
    first, second, third = sp.symbols("U_1 U_2 U_3", positive=True)
    # a longer first stage at the same reward of the first two stages
    longer = (a + d) * (first - third) + (b - d * first / second) * (second - third)
    shorter = a * (first - third) + b * (second - third)
    last = 1 - a * first - b * second  # what the optimum earns of the last type
    differences = [
        longer - shorter - d * third * (first / second - 1),
        1 - third - shorter - (last - third * (1 - a - b)),
        sp.diff((1 - a) * (a + b), a) - (1 - b - 2 * a),
        (1 - b) * ((1 + b) / 2) ** 2 - (1 - b) * (1 - (1 - b) / 2) * ((1 - b) / 2 + b),
        sp.diff((1 - b) * (1 + b) ** 2, b) - (1 + b) * (1 - 3 * b),
        sp.diff(s * (2 - s) ** 2, s) - (2 - s) * (2 - 3 * s),
        sp.diff((1 - s / 2) ** 2 * (2 * s - 1), s) - (1 - s / 2) * (3 - 3 * s),
        sp.diff((1 - s / 2) ** 2 * (1 - (1 - s) / c), s) - (1 - s / 2) * (2 - c - 3 * s / 2) / c,
        sp.diff((1 - s / 2) ** 2 / (3 - 2 * s), s) + (2 - s) * (1 - s) / (2 * (3 - 2 * s) ** 2),
    ]
    return all(sp.simplify(difference) == 0 for difference in differences)


def most_lost() -> list[Fraction]:
    """Return the greatest share of the optimum that greedy loses in each case of the proof, exactly."""
    corners = [(1 - a) * (1 - b) * (a + b) for a, b in RECTANGLES]
    # below its corner the product grows in a and in b
    grows = all(a <= (1 - b) / 2 and b <= (1 - a) / 2 for a, b in RECTANGLES)
    small = (1 - SMALL) * ((1 + SMALL) / 2) ** 2
    together, half = (s * (1 - s / 2) ** 2 for s in (SUM, Fraction(1, 2)))
    return [Fraction(1, 4), *(corners if grows else [Fraction(1)]), small, together, half]


def contents(n: Sequence[int], smaller: int = 1) -> NDArray[np.int64]:
    """Return all k with sum k_i / (smaller (n_i + 1)) < 1, int64[m, 3]: those of every server that holds n_i alone."""
    k = np.stack(np.meshgrid(*(np.arange(smaller * (x + 1)) for x in n), indexing="ij"), -1).reshape(-1, 3)
    common = smaller * int(np.prod([x + 1 for x in n]))
    fits: NDArray[np.bool_] = k @ np.array([common // (smaller * (x + 1)) for x in n]) < common
    return np.compress(fits, k, axis=0)


def is_in_a_case(n: Sequence[int], k: Sequence[int]) -> bool:
    """Decide whether the content of a server is in one of the cases of the proof."""
    a, b, c = (Fraction(jobs, most) for jobs, most in zip(k, n, strict=True))
    if not all(k) or 2 * c <= 1:
        return True  # at most 1/4 is lost
    if n[2] > 1:
        return 2 * (a + b) < 3 * (1 - Fraction(k[2], n[2] + 1))
    return min(a, b) <= SMALL or a + b < SUM or any(a <= most and b <= other for most, other in RECTANGLES)


def outside(most: int, smaller: int) -> Iterator[tuple[int, ...]]:
    """Yield the n of at most `most` jobs alone at which some content is in no case of the proof."""
    for n in product(range(1, most + 1), repeat=3):
        if not all(is_in_a_case(n, k) for k in contents(n, smaller).tolist()):
            yield n


@claim(
    "one-resource-three-types",
    "With one additive resource, equal servers and three job types, each of which fits a server, greedy keeps at least "
    "17/24 of the optimum, and 17/24 is attained. So the infimum is larger than 19/27, which it is with two resources. "
    "In the proof the identities are decided in symbols and the numbers of the cases in rationals. Beside it, every "
    "content of a server that holds up to 6 (full: 12) jobs of each type alone is in one of the cases, and no random "
    "instance keeps less.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    breaks=("18/25 is asked for", "jobs of half the size"),
    proof="greedy.md#one-resource-three",
)
def three_types(level: Level, broken: str) -> Outcome:
    """Decide the identities and the cases, and try instances."""
    bound = Fraction(18, 25) if broken.startswith("18/25") else LEAST_ON_ONE[3]
    smaller = 2 if broken.startswith("jobs") else 1
    identities, lost = identities_hold(), max(most_lost())
    wrong = list(outside(6 if level is Level.quick else 12, smaller))
    generator, least = np.random.default_rng(SEED), solve(one_resource_family(3)).ratio
    attained = least == bound
    for _ in range(25 if level is Level.quick else 1000):
        capacity = int(generator.integers(12, 60))
        demands = [[int(generator.integers(2, capacity // part))] for part in (3, 2, 1)]
        rewards = [Fraction(int(generator.integers(20, 40)), 30) * row[0] for row in demands]
        least = min(least, worst_workload(additive([capacity], demands, rewards)).ratio)
    computed = (
        f"identities {'hold' if identities else 'fail'}; the cases lose {text(lost)} of {text(1 - bound)} at most; "
        f"{'every content is in a case' if not wrong else f'contents in no case at {wrong[:2]}'}; "
        f"least ratio {text(least)}"
    )
    return Outcome(computed, identities and lost <= 1 - bound and not wrong and attained and least >= bound)
