"""Results of packproof on four job types and two resources: greedy keeps more than 106/155, so more than 175/256."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from bounds.adversary.by_size import LEAST_ON_TWO, on_record
from bounds.adversary.chains import proven_bound
from bounds.claims import Evidence, Outcome, claim
from theory.numbers import text, total

TYPES, EVEN = 4, Fraction(1, 4)
"""Four types; the length of each stage where the bound of `proven_bound` is attained."""

CAP = Fraction(2, 7)
"""Most that the jobs of type 2, or of type 3, in the content take of a resource."""

CONTENTS = ((0, 0, 2, 1), (0, 2, 0, 1), (2, 0, 1, 1), (2, 1, 0, 1), (3, 1, 1, 0), (0, 3, 2, 0), (0, 2, 3, 0))
"""Multiples of the types' jobs in one content of the optimum that earn more than a server can; so none of them fits."""

Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class Condition:
    """An inequality of the proof: a sum of constants times 1, p_1, p_1 p_2, p_1 p_2 p_3 is more than `slack` times D.

    Attributes
    ----------
    name : str
    factors : tuple of Fraction, shape (4,)
    slack : Fraction
    """

    name: str
    factors: tuple[Fraction, ...]
    slack: Fraction

    def least(self, box: Box) -> Fraction:
        """Return the least value of the sum for p in a box: nested, each p_i occurs once, so intervals are exact."""
        low = high = self.factors[-1]
        for (small, large), factor in zip(reversed(box), reversed(self.factors[:-1]), strict=True):
            low, high = min(low * small, low * large) + factor, max(high * small, high * large) + factor
        return low


def radius(lost: Fraction) -> Fraction:
    """Return an e with |x_i - 1/4| < e for all stages where greedy loses so much: (1 - x)((2 + x)/3)^3 is less at e."""
    e = Fraction(0)
    while any((1 - x) * ((2 + x) / 3) ** 3 >= lost for x in (EVEN - e, EVEN + e)):
        e += Fraction(1, 2000)
    return e


def conditions(e: Fraction) -> list[Condition]:
    """Return the inequalities that the proof needs where all stages are within e of a quarter.

    With q_0 = 1 and q_i = p_1 ... p_i: q_(i-1) - g_i D <= U_i <= q_(i-1) + h_i D and U_i - h_i D <= R_i <= U_i.
    """
    x, p = EVEN - e, 1 - EVEN - e
    h = [1 / (x * p ** (TYPES - i)) for i in range(1, TYPES + 1)]
    g = [Fraction(0), *(1 / p ** (TYPES + 1 - i) for i in range(2, TYPES + 1))]
    needed = []
    for content in CONTENTS:
        # sum q_j r_j is a sum of R_i with these factors, and U_m is what a server can earn
        parts = [content[0], *(content[i] - content[i - 1] for i in range(1, TYPES))]
        m = next(i for i, n in enumerate(content) if n)
        slack = total(n * (g[i] + h[i]) if n > 0 else -n * h[i] for i, n in enumerate(parts)) + h[m]
        factors = [Fraction(n - (i == m)) for i, n in enumerate(parts)]
        needed.append(Condition(f"{content} earns more", tuple(factors), slack))
    for i in (1, 2):
        # v <= r_i / (U_i - later) <= 2/7, that is 2 U_i - 2 later - 7 (R_i - R_(i+1)) >= 0
        factors = [Fraction(0)] * TYPES
        factors[i], factors[i + 1] = 2 - 1 / CAP * 2, 1 / CAP * 2
        slack = 2 / CAP * (h[i] + g[i + 1] + h[i + 1]) + 2 * g[i] + 2 * h[i + 1] / x
        needed.append(Condition(f"type {i + 1} takes at most {CAP}", tuple(factors), slack))
    return needed


def greatest_product(box: Box) -> Fraction:
    """Return an upper bound of p_1 p_2 p_3 p_4 for (p_1, p_2, p_3) in a box and sum p = 3.

    With the centre c it is at most prod c times the fourth power of the mean of p_i / c_i, and that mean is linear.
    """
    centre = [(low + high) / 2 for low, high in box]
    last = 3 - total(centre)
    mean = 1 + total((high - low) / 2 * abs(1 / c - 1 / last) for (low, high), c in zip(box, centre, strict=True)) / 4
    return centre[0] * centre[1] * centre[2] * last * mean**4


@cache
def boxes(lost: Fraction, limit: int) -> tuple[int, str]:
    """Return the number of boxes that decide the conditions, and the name of one that fails, or an empty text.

    p = 1 - x runs over all stages with sum p = 3 and product p >= lost; D is at most the product less `lost`.
    """
    e, seen = radius(lost), 0
    needed, middle = conditions(e), 1 - EVEN
    todo: deque[Box] = deque([((middle - e, middle + e),) * (TYPES - 1)])
    while todo:
        # large boxes first, so that a condition that fails is soon seen at the centre of one
        box, seen = todo.popleft(), seen + 1
        centre = [(low + high) / 2 for low, high in box]
        last = 3 - total(centre)
        at_centre = centre[0] * centre[1] * centre[2] * last
        most = min(greatest_product(box), middle**4)
        if most < lost or abs(last - middle) > e + total(high - low for low, high in box) / 2:
            continue
        failing = [one for one in needed if one.least(box) <= one.slack * (most - lost)]
        if not failing:
            continue
        point = tuple((c, c) for c in centre)
        if seen >= limit or (at_centre >= lost and any(one.least(point) <= 0 for one in failing)):
            return seen, failing[0].name
        i = max(range(TYPES - 1), key=lambda i: box[i][1] - box[i][0])
        todo += [(*box[:i], part, *box[i + 1 :]) for part in ((box[i][0], centre[i]), (centre[i], box[i][1]))]
    return seen, ""


@dataclass(frozen=True)
class Certificate:
    """Whole numbers that prove of some contents that no resource is too small for each of them.

    Attributes
    ----------
    multipliers : dict
        A factor at least 1 of each of these contents; `total` is their sum.
    server : int
        The factor b of sum v <= 1.
    caps : tuple of int, shape (4,)
        The factors c_i of v_i <= cap; only types 2 and 3 have one.

    Notes
    -----
    If each content takes more than 1, the sum of factor times content takes more than `total`. It is at most b sum v +
    sum c_i v_i where each entry is at most b + c_i, and so at most b + cap sum c_i. That is at most `total`.
    """

    multipliers: dict[tuple[int, ...], int]
    server: int
    caps: tuple[int, ...]

    def proves(self, cap: Fraction) -> bool:
        """Decide the inequalities of the notes, in whole numbers and one fraction."""
        summed = [sum(n * q[i] for q, n in self.multipliers.items()) for i in range(TYPES)]
        signs = min(self.multipliers.values()) >= 1 and min(self.server, *self.caps) >= 0
        allowed = not self.caps[0] and not self.caps[3]
        below = all(n <= self.server + c for n, c in zip(summed, self.caps, strict=True))
        return signs and allowed and below and self.server + cap * sum(self.caps) <= sum(self.multipliers.values())


CERTIFICATES = (
    Certificate({(0, 0, 2, 1): 1, (0, 2, 0, 1): 1}, 2, (0, 0, 0, 0)),
    Certificate({(0, 0, 2, 1): 1, (2, 1, 0, 1): 1}, 2, (0, 0, 0, 0)),
    Certificate({(0, 2, 0, 1): 1, (2, 0, 1, 1): 1}, 2, (0, 0, 0, 0)),
    Certificate({(0, 0, 2, 1): 3, (2, 0, 1, 1): 3, (0, 3, 2, 0): 2}, 6, (0, 0, 7, 0)),
    Certificate({(0, 0, 2, 1): 3, (3, 1, 1, 0): 1, (0, 2, 3, 0): 1}, 3, (0, 0, 7, 0)),
    Certificate({(0, 2, 0, 1): 3, (2, 1, 0, 1): 3, (0, 2, 3, 0): 2}, 6, (0, 7, 0, 0)),
    Certificate({(0, 2, 0, 1): 3, (3, 1, 1, 0): 1, (0, 3, 2, 0): 1}, 3, (0, 7, 0, 0)),
)
"""Farkas multipliers: of any two parts of `CONTENTS` one has all contents of one of these."""


def divisions(resources: int) -> Iterator[list[tuple[Sequence[int], ...]]]:
    """Yield the ways to name a resource that is too small for each of `CONTENTS`."""
    for places in product(range(resources), repeat=len(CONTENTS)):
        yield [tuple(q for q, at in zip(CONTENTS, places, strict=True) if at == r) for r in range(resources)]


def undecided(resources: int, cap: Fraction = CAP) -> int:
    """Return how many divisions no certificate refutes, without solving any program."""
    proofs = [set(one.multipliers) for one in CERTIFICATES if one.proves(cap)]
    return sum(
        not any(contents <= set(part) for contents in proofs for part in parts) for parts in divisions(resources)
    )


@claim(
    "four-types-two-resources",
    "Four types on two resources attain over 106/155",
    "With four job types, equal servers and two additive resources greedy attains more than 106/155 = 0.68387 of the "
    "optimum. So 175/256 = 0.68359, which is attained with three resources, is not attained with two. In the proof "
    "the lengths of stages run over boxes in rationals, and seven certificates in whole numbers decide, without "
    "solving anything, that no two resources are too small for each of seven contents. (The least share that is known "
    "is 671/980 = 0.68469.)",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    controls={
        "a bound of 13/19": {"bound": Fraction(13, 19)},
        "types 2 and 3 take up to 3/10": {"cap": Fraction(3, 10)},
        "three resources": {"resources": 3},
    },
    proof="two-resources.md#four-types-two-resources",
)
def four_types(*, bound: Fraction = LEAST_ON_TWO[TYPES], cap: Fraction = CAP, resources: int = 2) -> Outcome:
    least_known, _ = on_record()[TYPES, 2]
    seen, failing = boxes(1 - bound, 20_000)
    uncertified = undecided(resources, cap)
    fewer = Fraction(2, 3) ** 3 < 1 - bound  # with three stages greedy keeps more
    verdict = f"{failing} fails" if failing else "all conditions hold"
    computed = (
        f"a loss of {text(1 - bound)}: {verdict} after {seen:,} boxes; "
        f"{uncertified or 'none'} of {resources ** len(CONTENTS)} ways to divide {len(CONTENTS)} contents among "
        f"{resources} resources without a certificate; the bound is {text(bound)}, {text(least_known)} is known"
    )
    return Outcome(computed, not failing and not uncertified and fewer and proven_bound(TYPES) < bound < least_known)
