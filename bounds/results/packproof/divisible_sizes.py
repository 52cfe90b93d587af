"""Results of packproof on sizes of which each divides the next, on one resource."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, permutations, product

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.families import one_resource_family
from bounds.results.packproof.potential import UNIT, log_below
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from theory.errors import expect_number
from theory.exact.knapsack import max_weight
from theory.greedy.divisible import divisible_reward
from theory.greedy.optimal import solve
from theory.instance import Instance, additive
from theory.numbers import text, total

SEED = 29
TERMS = 80

E_LOW = total(Fraction(1, 2**k - 1) for k in range(1, TERMS + 1))
"""E = sum of 1/(2^k - 1) without the terms after `TERMS`, which sum to less than `TAIL`."""
TAIL = Fraction(1, 2 ** (TERMS - 1))


def powers_of_two(types: int, width: int) -> Instance:
    """Return the instance of sizes 1, w, 2 w, 4 w, ... on 2^(J-1) w - 1, rewards as sizes, workload (w - 1, 1, ..., 1).

    Parameters
    ----------
    types : int
        J, at least 2.
    width : int
        w, a power of two: then all sizes are powers of two.

    Examples
    --------
    >>> from theory.greedy.optimal import solve
    >>> solve(powers_of_two(3, 4)).ratio, kept_of_powers(3, 4)
    (Fraction(161, 225), Fraction(161, 225))
    """
    expect_number(types, "types", 2)
    expect_number(width, "width", 2)
    sizes = [1, *(width * 2**j for j in range(types - 1))]
    return additive([2 ** (types - 1) * width - 1], [[s] for s in sizes], sizes, [width - 1] + [1] * (types - 1))


def kept_of_powers(types: int, width: int) -> Fraction:
    """Return what greedy keeps of `powers_of_two`, by the proof."""
    capacity = 2 ** (types - 1) * width - 1
    s = Fraction(width - 1, capacity) + total(Fraction(1, 2**k - 1) for k in range(2, types))
    return 1 - Fraction(2 ** (types - 2) * width, capacity) * s


def random_sizes(generator: random.Random, types: int) -> list[int]:
    """Return different sizes, increasing, of which each divides the next."""
    factors = [generator.randint(1, 3)] + [generator.choice([2, 2, 3, 4]) for _ in range(types - 1)]
    return list(accumulate(factors, int.__mul__))


def multiples_are_optimal(count: int, extra: int = 0) -> bool:
    """Decide that greedy is optimal on random instances; `extra` units are added to multiples of the largest size."""
    generator = random.Random(SEED)
    ratios = []
    for _ in range(count):
        sizes = random_sizes(generator, generator.randint(2, 5))
        rewards = [Fraction(s * generator.randint(6, 12), 10) for s in sizes]
        workload = [Fraction(generator.randint(1, 12), 4) for _ in sizes]
        order = generator.sample(range(len(sizes)), len(sizes))
        capacity = sizes[-1] * generator.randint(1, 3) + extra
        instance = additive([capacity], [[s] for s in sizes], rewards, workload).reordered(order)
        ratios.append(solve(instance).ratio)
    return min(ratios) == 1


def closed_form_is_exact(count: int, extra: int = 0) -> bool:
    """Decide for random divisible sizes that the closed form is what an exact search for the best content finds.

    The closed form is taken for `extra` more units than the search.
    """
    generator = random.Random(SEED + 1)
    equal = True
    for _ in range(count):
        sizes = random_sizes(generator, generator.randint(1, 6))
        rewards = [generator.randint(1, 3 * s) for s in sizes]
        capacity = generator.randint(sizes[-1], 4 * sizes[-1])
        best = max_weight(additive([capacity], [[s] for s in sizes]).pools[0].space, rewards)
        equal &= divisible_reward(capacity + extra, sizes, rewards) == sum(
            k * u for k, u in zip(best, rewards, strict=True)
        )
    return equal


def numbers_of_the_proof(S0: Fraction | None = None) -> list[str]:
    """Return which numbers of the proof fail, decided in rationals; `S0` is E - 1 in the proof."""
    low, high = (E_LOW - 1, E_LOW - 1 + TAIL) if S0 is None else (S0, S0)
    # e^(-1/2) is less than a partial sum of its alternating series that ends with +
    root = total(Fraction((-1) ** n, 2**n * math.factorial(n)) for n in range(11))

    def slope(g: Fraction) -> Fraction:
        """Return a lower bound of D'(g)."""
        return total(n * g ** (n - 1) / (2**n - 1) for n in range(1, TERMS)) / high - 1 / (1 - g)

    quarter, half, middle = Fraction(1, 4), Fraction(1, 2), Fraction(545, 1000)
    share, reach = (1 / low - _log_below(1 / high) / (1 - low)), Fraction(146, 1000)
    alone = 1 / low - 1 - _log_below(1 / high)
    checks = {
        "a small last type": root < low,
        "coefficients of D'": Fraction(3, 7) < low,  # n/(2^n - 1) falls in n
        "slopes of D": min(slope(Fraction(0)), slope(quarter)) > Fraction(64, 100) and slope(half) > Fraction(45, 100),
        "G in parts of a": share <= Fraction(378, 1000),
        "single jobs": (1 - 2 * reach) * (1 - reach) < low,
        "with room for one more": Fraction(378, 1000) * (1 + reach) < Fraction(45, 100),
        "without room for one more": half * (1 - (1 - high) / high) < Fraction(352, 2000)
        and half * (1 - high) / high > Fraction(324, 1000)
        and alone < middle * Fraction(324, 1000),
    }
    return [name for name, holds in checks.items() if not holds]


def _log_below(x: Fraction) -> Fraction:
    """Return a lower bound of ln x, x >= 1."""
    return Fraction(log_below(x.numerator, x.denominator), UNIT)


def least_slack(count: int, S0: float = float(E_LOW - 1)) -> float:
    """Return the least D(gamma) - D(gamma - u) - G(y) at random steps, in floats; G is concave in y."""
    generator, least = random.Random(SEED + 2), math.inf

    def D(g: float) -> float:  # noqa: N802
        return math.log(1 - g) + math.fsum(g**n / (2**n - 1) for n in range(1, 60)) / S0

    for _ in range(count):
        w = generator.random() ** 2 / 2
        p = generator.randint(1 + int(0.5 / w), max(1 + int(0.5 / w), int(1 / w)))
        room = 1 - p * w
        if not w <= room < 0.5:
            continue
        q = int(room / w + 1e-12)
        k = generator.randint(1, q)
        n, j = p + q, q - k
        # the maximum of G is at y = 1/n, or where (1 - q y)(1 - j y) = S0
        y = 1 / n
        if (1 - q * y) * (1 - j * y) < S0:
            y = (q + j - math.sqrt((q + j) ** 2 - 4 * q * j * (1 - S0))) / (2 * q * j) if j else (1 - S0) / q
        step = math.log((1 - q * y) / (1 - j * y)) + k * y / S0
        least = min(least, D(room) - D(room - k * w) - step)
    return least


def lost_bound(capacity: int, sizes: Sequence[int], values: Sequence[int], jobs: Sequence[int]) -> Fraction:
    """Return U_I (sum a_i - 1) / U(k), what greedy loses at most by one content, types in the order of exhaustion."""
    best = [divisible_reward(capacity, sizes[i:], values[i:]) for i in range(len(sizes))]
    shares = total(Fraction(k * u) / U for k, u, U in zip(jobs, values, best, strict=True))
    return best[-1] * (shares - 1) / sum(k * u for k, u in zip(jobs, values, strict=True))


@cache
def climbed(types: int, steps: int) -> Fraction:
    """Return the most that is lost by a content in any order other than that of the sizes, by hill climbing in each."""
    generator, most = random.Random(SEED + types), Fraction(-1)
    for order in permutations(range(types)):
        if list(order) == sorted(order):
            continue
        sizes = random_sizes(generator, types)
        state = (sizes, [240 * s for s in sizes], [1] * types)
        best = _judged(order, *state)
        for _ in range(steps):
            neighbour = _changed(generator, *state)
            loss = _judged(order, *neighbour) if neighbour else best - 1
            if loss >= best:
                state, best = neighbour or state, loss
        most = max(most, best)
    return most


def _judged(order: Sequence[int], sizes: list[int], values: list[int], jobs: list[int]) -> Fraction:
    """Return what is lost at most where the capacity is just the size of the content."""
    capacity = sum(k * s for k, s in zip(jobs, sizes, strict=True))
    return lost_bound(capacity, *([row[i] for i in order] for row in (sizes, values, jobs)))


def _changed(
    generator: random.Random, sizes: list[int], values: list[int], jobs: list[int]
) -> tuple[list[int], list[int], list[int]] | None:
    """Return a neighbour: another reward, number of jobs, or factor between two sizes; None for too large sizes."""
    sizes, values, jobs = list(sizes), list(values), list(jobs)
    i, kind = generator.randrange(len(sizes)), generator.randrange(3)
    if kind == 0:
        values[i] = max(1, values[i] + generator.choice([-1, 1]) * max(1, values[i] // generator.choice([4, 16, 64])))
    elif kind == 1:
        jobs[i] = max(1, jobs[i] + generator.choice([-2, -1, 1, 2]))
    else:
        factor = generator.choice([2, 3])
        if i and generator.random() < 0.5 and sizes[i] % (factor * sizes[i - 1]) == 0:
            sizes[i:] = [s // factor for s in sizes[i:]]
        else:
            sizes[i:] = [s * factor for s in sizes[i:]]
    return (sizes, values, jobs) if sizes[-1] <= 2**11 * sizes[0] else None


@claim(
    "divisible-sizes",
    "Divisible sizes gain nothing up to four types",
    "One resource, equal servers, sizes of which each divides the next. (1) The most reward of a server has a closed "
    "form (packproof.greedy.divisible_reward), and greedy is optimal where the largest size divides the capacity. (2) "
    "Divisible sizes gain nothing for up to four types: the infimum of what greedy attains is 3/4, 17/24 and 235/336 "
    "for 2, 3 and 4 types even with powers of two, as for all sizes; for J types it is at most what greedy attains on "
    "the one-resource family. (3) If types are exhausted in an order in which the size of each one exhausted before "
    "the last stage divides the sizes of all after it, greedy attains more than (3 - E)/2 = 0.69665 for every number "
    "of types, E the sum of 1/(2^k - 1), and no larger constant will do. The numbers of the proof are decided in "
    "rationals. Beside it: the closed form and the optimality on random instances, the instances of (2) for up to 5 "
    "types and w to 64, and hill climbing over sizes, rewards and numbers of jobs in all other orders of 3 and 4 "
    "(full: 2 to 5) types, which finds no content that loses more than the family.",
    source="packproof",
    printed="not in the paper",
    evidence=Evidence.proved,
    tiny={
        "instances": 20,
        "servers": 40,
        "most_types": 4,
        "widths": (2, 8),
        "orders": (3,),
        "climbs": 100,
        "steps": 500,
    },
    full={
        "instances": 1_000,
        "servers": 3_000,
        "most_types": 7,
        "orders": (2, 3, 4, 5),
        "climbs": 3_000,
        "steps": 200_000,
    },
    controls={
        "one unit more than a multiple of the largest size": {"units_over_a_multiple": 1},
        "the closed form for one unit more": {"more_units_in_form": 1},
        "1/2 instead of E - 1": {"S0": Fraction(1, 2)},
        "w jobs of size 1": {"more_small_jobs": 1},
    },
    proof="divisible-sizes.md#divisible-sizes",
)
def divisible(
    instances: int = 40,
    servers: int = 100,
    most_types: int = 5,
    widths: tuple[int, ...] = (2, 8, 64),
    orders: tuple[int, ...] = (3, 4),
    climbs: int = 600,
    steps: int = 5_000,
    *,
    units_over_a_multiple: int = 0,
    more_units_in_form: int = 0,
    more_small_jobs: int = 0,
    S0: Fraction | None = None,
) -> Outcome:
    """Decide the three parts one after the other.

    Parameters
    ----------
    instances : int
        Random instances whose capacity is a multiple of the largest size.
    servers : int
        Random servers for which the closed form is compared with a search.
    most_types : int
        J of the largest instance of part 2.
    widths : tuple of int
        w in these instances; powers of two make all sizes powers of two.
    orders : tuple of int
        Numbers of types for whose other orders contents that lose much are climbed to.
    climbs, steps : int
        Steps of the climbing in each order, and random steps of the proof.
    """
    expect_number(instances, "instances", 1)
    optimal = multiples_are_optimal(instances, units_over_a_multiple)
    exact = closed_form_is_exact(servers, more_units_in_form)
    members = product(range(2, most_types + 1), widths)
    as_said = all(powers_keep_what_is_said(types, width, more_small_jobs) for types, width in members)
    failed = numbers_of_the_proof(S0)
    slack = least_slack(steps)
    most = {types: climbed(types, climbs) for types in orders}
    below = all(lost < 1 - solve(one_resource_family(types)).ratio for types, lost in most.items())
    computed = (
        f"greedy is {'' if optimal else 'not '}optimal at multiples; the closed form is {'' if exact else 'not '}"
        "exact; "
        f"instances keep {'what' if as_said else 'other than'} the formula says, near the family's "
        f"{text(solve(one_resource_family(4)).ratio)} for four types; numbers of the proof that fail: "
        f"{', '.join(failed) or 'none'}; least slack of random steps {slack:.2g}; other orders lose at most "
        f"{', '.join(f'{float(lost):.4f} with {types} types' for types, lost in most.items())}"
    )
    return Outcome(computed, optimal and exact and as_said and not failed and slack > 0 and below)


def powers_keep_what_is_said(types: int, width: int, more_small_jobs: int = 0) -> bool:
    """Decide that greedy keeps what the formula says of `powers_of_two`: more than of the family, by less than 1/w."""
    instance, fraction = powers_of_two(types, width), kept_of_powers(types, width)
    instance = instance.with_workload([instance.workload[0] + more_small_jobs, *instance.workload[1:]])
    family = solve(one_resource_family(types)).ratio
    return solve(instance).ratio == fraction and 0 < fraction - family < Fraction(1, width)


@drawing("Sizes that are powers of two: what greedy attains as the units become fine", "divisible-sizes")
def as_units_become_fine() -> Sequence[Panel]:
    widths = [2**n for n in range(1, 11)]
    curves, lines = [], []
    for types in (2, 3, 4):
        ratios = [float(kept_of_powers(types, width)) for width in widths]
        curves.append(Curve(f"{types} types", widths, ratios))
        lines.append(Line(f"family, {types} types", float(solve(one_resource_family(types)).ratio)))
    return [Chart("w (units)", "attained (share)", curves, lines, xscale="log")]
