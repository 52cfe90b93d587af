"""The sharp constant of Lemma 6.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import additive_space
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from theory.errors import expect_number
from theory.instance import Additive, additive
from theory.numbers import ceiling, total
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


def _two_terms(fits: int) -> Fraction:
    return harmonic(fits, 1)


def _of_squares(fits: int) -> Fraction:
    """Return a sum whose denominators are squares of the one before, which is wrong."""
    return 1 + total(Fraction(1, (fits + 1) ** 2**i) for i in range(6))


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
    "The exact constant of Lemma 6.1 is 1/(RT)",
    "The constant of Lemma 6.1 for the best configuration of a single type is 1/(R T), T = 1 + 1/(N+1) + "
    "1/((N+1)(N+2)) + ..., each denominator the one before times itself plus one, and no constant is larger: 0.5913/R "
    "for N = 1 where the lemma has 0.5/R. For every number R of resources, every N >= 1 and all servers with additive "
    "resources that every type fits N times. Coq checked both directions for the first terms of T, a number of terms "
    "equal to that of jobs. Beside the theorems all sums of unit fractions are searched (N up to 8, full: 60), and "
    "the exact worst ratio of members of the family is computed.",
    source="packproof",
    printed="not in the paper: r = N_f / (R (N_f + 1))",
    evidence=Evidence.formal,
    tiny={"most": 3},
    full={"most": 60},
    controls={
        "the series ends after two terms": {"constant": _two_terms},
        "each denominator is the square of the one before": {"constant": _of_squares},
    },
    theorems=("SingleType.lemma_6_1", "SingleType.single_type_keeps", "SingleType.lemma_6_1_sharp"),
)
def lemma_6_1_constant(most: int = 8, *, constant: Callable[[int], Fraction] = harmonic) -> Outcome:
    expect_number(most, "most", 1)
    good, nearest = True, []
    tail = Fraction(1, 10**9)  # more than the terms that are left out
    above = sum(exceeded(Fraction(1), fits + 1, constant(fits) + tail) for fits in range(1, most + 1))
    near = sum(exceeded(Fraction(1), fits + 1, constant(fits) - 1000 * tail) for fits in range(1, most + 1))
    for resources, fits in product((1, 2), (1, 2)):
        ratio = worst_weights(_just_above(resources, fits), "single-type").ratio
        good &= 1 <= ratio * resources * constant(fits) < 1 + Fraction(1, 1000)
        nearest.append(f"{float(ratio):.5f} for N = {fits}, R = {resources}")
    computed = (
        f"T = {float(constant(1)):.5f} for N = 1; N up to {most}: {above} sums of unit fractions above T, {near} "
        f"within 1e-6; attained {', '.join(nearest)}"
    )
    good &= not above and near == most
    return Outcome(computed, good and Fraction("0.5913") < 1 / constant(1) < Fraction("0.5914"))


@drawing(
    "The best configuration of a single job type against the greatest weight",
    "lemma-6.1-constant",
    "nonpreemptive/lemma-6.1",
)
def single_types() -> Sequence[Panel]:
    """Draw both constants times the number of resources."""
    fits = range(1, 9)
    curves = [
        Curve("1 / T, attained in the limit", fits, [float(1 / harmonic(n)) for n in fits]),
        Curve("N / (N + 1), Lemma 6.1", fits, [n / (n + 1) for n in fits]),
    ]
    return [Chart("jobs of any type that fit a server N (number)", "constant times resources R (number)", curves)]


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
    return additive_space(additive([unit] * resources, demands))
