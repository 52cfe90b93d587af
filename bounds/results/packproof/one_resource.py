"""Results of packproof on three job types and one resource: greedy keeps more than 1 - (1 - 1/3)^3, by a margin."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from bounds.adversary.by_size import THREE_ON_ONE
from bounds.adversary.workload import worst_workload
from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import one_resource_family
from theory.instance import additive
from theory.numbers import text

WIDE = Fraction(183, 250)  # s_0: where a + b is larger, s (2 - s)^2 / 4 bounds what is lost

SEED = 17


class HalfSpace(NamedTuple):
    """A case of the proof: ``normal . t <= offset`` for t_i = k_i / n_i and every feasible k, and a multiplier."""

    normal: tuple[Fraction, Fraction, Fraction]
    offset: Fraction
    multiplier: Fraction  # kappa

    def mirrored(self) -> HalfSpace:
        """Return the case in which the first two types change places."""
        a, b, c = self.normal
        return self._replace(normal=(b, a, c))


def _case(normal: str, offset: str, multiplier: str) -> HalfSpace:
    a, b, c = map(Fraction, normal.split())
    return HalfSpace((a, b, c), Fraction(offset), Fraction(multiplier))


ONE, SEVERAL = _case("1/2 0 1", "1", "1/4"), _case("1 1 1", "3/2", "1/4")
TWO, THREE, MANY = _case("2 3 2", "7/2", "1/20"), _case("3 4 3", "5", "1/20"), _case("20 20 13", "25", "7/1000")
CASES = (ONE, ONE.mirrored(), SEVERAL, TWO, TWO.mirrored(), THREE, THREE.mirrored(), MANY)


def case_of(n: tuple[int, int, int]) -> HalfSpace:
    """Return the case of the proof for the jobs of each type that a server holds alone."""
    if n[0] == 1:
        return ONE
    if n[1] == 1:
        return ONE.mirrored()
    if n[2] > 1:
        return SEVERAL
    for number, case in ((2, TWO), (3, THREE)):
        if n[0] == number:
            return case
        if n[1] == number:
            return case.mirrored()
    return MANY


def identities_hold() -> bool:
    """Decide the identities of the proof in symbols."""
    import sympy as sp

    a, b, c, d, s = sp.symbols("a b c d s", positive=True)
    first, second, third = sp.symbols("U_1 U_2 U_3", positive=True)
    kappa, alpha, beta, theta = sp.symbols("kappa alpha beta theta", positive=True)
    # a longer first stage at the same reward of the first two stages
    longer = (a + d) * (first - third) + (b - d * first / second) * (second - third)
    shorter = a * (first - third) + b * (second - third)
    earned = third + shorter
    last = 1 - a * first - b * second  # what the optimum earns of the last type
    weighted = (1 - kappa * alpha) * (1 - a) + (1 - kappa * beta) * (1 - b) + a + b - theta * (1 - c)
    differences = [
        longer - shorter - d * third * (first / second - 1),
        1 - earned - (last - third * (1 - a - b)),
        1 / c - (2 - c) - (1 - c) ** 2 / c,
        sp.diff(s * (2 - s) ** 2 / 4, s) - (2 - s) * (2 - 3 * s) / 4,
        weighted - (2 - kappa * (alpha + beta) + kappa * (alpha * a + beta * b) - theta * (1 - c)),
    ]
    return all(sp.simplify(difference) == 0 for difference in differences)


def suffices(case: HalfSpace, lost: Fraction) -> bool:
    """Decide the inequality of means: on the half-space greedy loses at most a share of the optimum."""
    (a, b, c), kappa = case.normal, case.multiplier
    first, second = 1 - kappa * a, 1 - kappa * b
    positive = first > 0 and second > 0 and kappa * c <= 1 - WIDE
    return positive and (first + second + kappa * (case.offset - c)) ** 3 <= 27 * lost * first * second


def contents(n: tuple[int, int, int], smaller: int = 1) -> np.ndarray:
    """Return all k with sum k_i / (smaller (n_i + 1)) < 1, int64[m, 3]: those of every server that holds n_i alone."""
    k = np.stack(np.meshgrid(*(np.arange(smaller * (x + 1)) for x in n), indexing="ij"), -1).reshape(-1, 3)
    common = smaller * int(np.prod([x + 1 for x in n]))
    return k[k @ np.array([common // (smaller * (x + 1)) for x in n]) < common]


def outside(most: int, smaller: int) -> Iterator[tuple[int, int, int]]:
    """Yield the n of at most `most` jobs alone at which some content leaves the half-space of its case."""
    for n in product(range(1, most + 1), repeat=3):
        case = case_of(n)
        scale = 60 * int(np.prod(n))  # of all denominators
        normal = np.array([int(scale * weight / alone) for weight, alone in zip(case.normal, n, strict=True)])
        if (contents(n, smaller) @ normal).max() > scale * case.offset:
            yield n


@claim(
    "one-resource-three-types",
    "With one additive resource, equal servers and three job types greedy keeps at least 7057/10000 of the optimum, "
    "more than 19/27 = 0.7037; 17/24 = 0.7083 is attained. In the proof each of eight cases of (n_1, n_2, n_3), the "
    "jobs of each type that a server holds alone, has a half-space and a multiplier, which are decided in rationals; "
    "the identities are decided in symbols. Beside it, the half-spaces hold for all contents of servers with n_i up "
    "to 7 (14 at the full level), and no random instance keeps less.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    breaks=("17/24 is asked for", "jobs of half the size"),
    proof="greedy.md#one-resource-three",
)
def three_types(level: Level, broken: str) -> Outcome:
    """Decide the identities and the cases, and try instances."""
    bound = Fraction(17, 24) if broken.startswith("17/24") else THREE_ON_ONE
    lost, smaller = 1 - bound, 2 if broken.startswith("jobs") else 1
    identities = identities_hold()
    # elsewhere than on the half-spaces, a (1 - a) <= 1/4 and s (2 - s)^2 / 4, which falls from s = 2/3 on
    elsewhere = max(Fraction(1, 4), WIDE * (2 - WIDE) ** 2 / 4) <= lost and 3 * WIDE >= 2
    sufficient = sum(suffices(case, lost) for case in CASES)
    wrong = list(outside(7 if level is Level.quick else 14, smaller))
    generator, least = np.random.default_rng(SEED), worst_workload(one_resource_family(3)).ratio
    for _ in range(25 if level is Level.quick else 1000):
        capacity = int(generator.integers(12, 60))
        demands = [[int(generator.integers(2, capacity // part))] for part in (3, 2, 1)]
        rewards = [Fraction(int(generator.integers(20, 40)), 30) * row[0] for row in demands]
        least = min(least, worst_workload(additive([capacity], demands, rewards)).ratio)
    computed = (
        f"identities {'hold' if identities else 'fail'}; {sufficient} of {len(CASES)} cases keep {text(bound)}; "
        f"{'contents within them' if not wrong else f'contents outside at {wrong[:2]}'}; least ratio {text(least)}"
    )
    return Outcome(computed, identities and elsewhere and sufficient == len(CASES) and not wrong and least >= bound)
