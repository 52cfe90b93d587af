"""The sharp constant of Lemma 6.1."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from bounds.claims import Evidence, Level, Outcome, claim
from theory.instance import Additive, additive
from theory.numbers import ceiling
from theory.region.worst_case import worst_weights


def harmonic(fits: int, terms: int = 6) -> Fraction:
    """Return the beginning of 1 + 1/a_1 + 1/a_2 + ..., a_1 = N + 1, a_{i+1} = a_i (a_i + 1), for N = `fits`.

    For N = 1 it is the constant 1.69103... of harmonic bin packing.
    """
    value, a = Fraction(1), fits + 1
    for _ in range(terms):
        value += Fraction(1, a)
        a *= a + 1
    return value


def exceeded(room: Fraction, least: int, value: Fraction) -> bool:
    """Decide whether integers m >= least, with repetition, have sum 1/m < room and sum 1/(m - 1) > value.

    The largest parts come first. Parts of at most 1/m weigh at most m/(m - 1) times what they take, which ends the
    search; and any small parts weigh more than they take, so room of at least the value is enough.
    """
    while True:
        least = max(least, int(1 / room) + 1)
        if value <= room:
            return True
        if room * least <= value * (least - 1):
            return False
        most = ceiling(room * least) - 1
        for count in range(most, 0, -1):
            if exceeded(room - Fraction(count, least), least + 1, value - Fraction(count, least - 1)):
                return True
        least += 1


@claim(
    "lemma-6.1-constant",
    "The constant of Lemma 6.1 for the best single type is 1/(R T), T = 1 + 1/(N+1) + 1/((N+1)(N+2)) + ..., each "
    "denominator the one before times itself plus one: 0.5913/R for N = 1 where the lemma has 0.5/R. The worst weights "
    "are 1/n_j, so its inverse is the greatest sum of k_j / n_j. Put each type to the resource of which it takes most, "
    "more than 1/m for m = n_j + 1: no integers m > N with sum 1/m < 1 have sum 1/(m - 1) > T + 10^-9 (all tried, N "
    "up to 8 or 60). Types just above the unit fractions of the series come as near as one likes.",
    source="packproof",
    printed="not in the paper: r = N_f / (R (N_f + 1))",
    evidence=Evidence.proved,
    breaks=("the series ends after two terms",),
)
def lemma_6_1_constant(level: Level, broken: str) -> Outcome:
    """Search all sums of unit fractions, then evaluate the family."""
    most = 8 if level is Level.quick else 60
    good = not any(
        exceeded(Fraction(1), fits + 1, harmonic(fits, 1 if broken else 6) + Fraction(1, 10**9))
        for fits in range(1, most + 1)
    )
    nearest = []
    for resources, fits in product((1, 2), (1, 2)):
        ratio = worst_weights(_just_above(resources, fits), "single-type").ratio
        gap = ratio * resources * harmonic(fits)
        good &= 1 <= gap < 1 + Fraction(1, 1000)
        nearest.append(f"{float(ratio):.5f} for N = {fits}, R = {resources}")
    return Outcome(f"N up to {most}: none above T; attained {', '.join(nearest)}", good)


def _just_above(resources: int, fits: int) -> Additive:
    """Return the family: on every resource, types just above 1/(N+1), 1/(N+2), 1/((N+1)(N+2)+1), ... of it."""
    denominators, a = [fits + 1], fits + 1
    for _ in range(3):
        denominators.append(a + 1)
        a *= a + 1
    unit = prod(denominators) * (fits + 3)  # N + 3 jobs, each one unit above its fraction, and so much room is left
    demands = [
        [unit // d + 1 if s == r else 0 for s in range(resources)] for r in range(resources) for d in denominators
    ]
    instance = additive([unit] * resources, demands)
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    return space
