"""Results of packproof on three job types and one resource: greedy keeps 17/24 of the optimum, and no more."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from bounds.adversary.by_size import LEAST_ON_ONE
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.families import one_resource_family
from theory.errors import expect_number
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.numbers import text

SEED = 17


def identities_hold() -> bool:
    """Decide the identities of the proof in symbols."""
    import sympy as sp

    a, b = sp.symbols("a b", positive=True)
    differences = [
        sp.diff((1 - a) * (a + b), a) - (1 - b - 2 * a),
        (1 - b) * ((1 + b) / 2) ** 2 - (1 - b) * (1 - (1 - b) / 2) * ((1 - b) / 2 + b),
        sp.diff((1 - b) * (1 + b) ** 2, b) - (1 + b) * (1 - 3 * b),
    ]
    return all(sp.simplify(difference) == 0 for difference in differences)


def most_lost(n: int, other: int) -> Fraction:
    """Return a bound of (1 - a)(1 - b)(a + b) for a <= 1/n and b <= 1/other, as in the proof; both are at least 2."""
    a, b = Fraction(1, n), Fraction(1, other)
    if min(n, other) == 2:
        b = min(a, b, Fraction(1, 3))  # the best a at this b; it grows with b up to 1/3
        return (1 - b) * (1 + b) ** 2 / 4
    return (1 - a) * (1 - b) * (a + b) if max(n, other) > 3 else Fraction(8, 27)


@claim(
    "one-resource-three-types",
    "On one resource three types attain exactly 17/24",
    "With one additive resource, equal servers and three job types, each of which fits a server, greedy attains at "
    "least 17/24 of the optimum, and 17/24 is attained. So the infimum is larger than 19/27, which it is with two "
    "resources. In the proof the identities are decided in symbols. Beside it, all pairs of up to 40 (full: 400) jobs "
    "alone of the first two types lose no more in rationals, and no random instance has a smaller ratio.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    tiny={"alone": 20, "instances": 8},
    full={"alone": 400, "instances": 1000},
    controls={"18/25 is asked for": {"bound": Fraction(18, 25)}, "jobs of half the size": {"smaller": 2}},
    proof="greedy.md#one-resource-three",
)
def three_types(
    alone: int = 40, instances: int = 25, *, bound: Fraction = LEAST_ON_ONE[3], smaller: int = 1
) -> Outcome:
    """Decide the identities and the cases, and try instances."""
    expect_number(alone, "alone", 3)
    expect_number(instances, "instances", 0)
    # a job of which n fit alone takes more than 1/(n + 1); the first two types share less than 1/2
    lost = max(
        most_lost(n, other)
        for n, other in product(range(2, alone + 1), repeat=2)
        if Fraction(1, smaller * (n + 1)) + Fraction(1, smaller * (other + 1)) < Fraction(1, 2)
    )
    generator, least = np.random.default_rng(SEED), solve(one_resource_family(3)).ratio
    identities, attained = identities_hold(), least == bound
    for _ in range(instances):
        capacity = int(generator.integers(12, 60))
        demands = [[int(generator.integers(2, capacity // part))] for part in (3, 2, 1)]
        rewards = [Fraction(int(generator.integers(20, 40)), 30) * row[0] for row in demands]
        least = min(least, worst_workload(additive([capacity], demands, rewards)).ratio)
    computed = (
        f"identities {'hold' if identities else 'fail'}; the cases lose {text(lost)} of {text(1 - bound)} at most; "
        f"least ratio {text(least)}"
    )
    return Outcome(computed, identities and lost <= 1 - bound and attained and least >= bound)
