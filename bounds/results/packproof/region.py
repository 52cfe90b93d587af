"""The sharp constant of Lemma 6.1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import additive_space
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
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
    "The constant of Lemma 6.1 for the best configuration of a single type is 1/(R T), T = 1 + 1/(N+1) + "
    "1/((N+1)(N+2)) + ..., each denominator the one before times itself plus one, and no constant is larger: 0.5913/R "
    "for N = 1 where the lemma has 0.5/R. For every number R of resources, every N >= 1 and all servers with additive "
    "resources that every type fits N times: the proof in the docstring of the check, whose steps are identities and "
    "signs in symbols. Beside it all sums of unit fractions are searched (N up to 8, full: 60), and the exact worst "
    "ratio of members of the family is computed.",
    source="packproof",
    printed="not in the paper: r = N_f / (R (N_f + 1))",
    evidence=Evidence.proved,
    breaks=(
        "the series ends after two terms",
        "each denominator is the square of the one before",
        "step (1) is taken where c = N",
    ),
)
def lemma_6_1_constant(level: Level, broken: str) -> Outcome:
    """Decide the steps in symbols, search all sums of unit fractions, evaluate the family.

    Notes
    -----
    Let n_j >= N be the jobs of type j that fit a server alone, and scale the weights so that the best single type
    weighs 1: w_j <= 1/n_j, so a configuration k weighs at most sum_j k_j / n_j. Put each job to the resource of which
    it takes the largest share, which is more than 1/(n_j + 1). So with m = n_j + 1 the jobs of one resource give
    integers m > N, with repetition, with sum 1/m < 1 and value sum 1/(m - 1).

    Such integers have a value below T. Sort them. Let c <= N be the copies of N + 1.
    (1) If c < N, the rest is at least N + 2, so its value is at most (N+2)/(N+1) times what it takes, which is less
    than 1 - c/(N+1). The bound c/N + (N+2)/(N+1) (1 - c/(N+1)) grows with c, and at c = N - 1 it is below the first
    three terms of T.
    (2) If c = N, these have the value 1, and what is left is 1/(s-1) for s = N + 2. As long as what is left is 1/(s-1),
    each of the rest is at least s. Two copies of s do not fit. If there is one, it adds 1/(s-1), the next term of T,
    and leaves 1/(s-1) - 1/s = 1/(s'-1) with s' - 1 = s (s-1): the same with s'. If there is none, the rest is at least
    s + 1, so its value is below (s+1)/s times 1/(s-1), which is 1/(s-1) + 1/(s'-1): the next two terms of T. The
    integers are finitely many, so one of these ends comes. Hence a configuration weighs less than R T.

    The constant is the largest: on each resource take types of 1/s + eps of it alone, s = N + 1, then s = N + 2 and
    each s' as above, up to some length, eps so small that N jobs of the first type and one of each other fit, which
    leaves 1/(s'-1) > 0 without the eps, and that s - 1 jobs of each type fit alone. With weights 1/(s-1) no single type
    weighs more than 1, and that configuration weighs R times a partial sum of T.
    """
    steps = _steps(broken)
    most = 8 if level is Level.quick else 60
    terms = 1 if broken == "the series ends after two terms" else 6
    above = sum(
        exceeded(Fraction(1), fits + 1, harmonic(fits, terms) + Fraction(1, 10**9)) for fits in range(1, most + 1)
    )
    good, nearest = all(steps.values()) and not above, []
    for resources, fits in product((1, 2), (1, 2)):
        ratio = worst_weights(_just_above(resources, fits), "single-type").ratio
        gap = ratio * resources * harmonic(fits, terms)
        good &= 1 <= gap < 1 + Fraction(1, 1000)
        nearest.append(f"{float(ratio):.5f} for N = {fits}, R = {resources}")
    failing = [name for name, fine in steps.items() if not fine]
    computed = (
        f"{len(steps) - len(failing)} of {len(steps)} steps in symbols{': not ' if failing else ''}"
        f"{', '.join(failing)}; N up to {most}: {above} above T; attained {', '.join(nearest)}"
    )
    return Outcome(computed, bool(good))


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
    return [Chart("jobs of any type that fit a server N (number)", "constant times resources R (1)", curves)]


def _steps(broken: str) -> dict[str, bool]:
    """Decide the steps of the proof for symbolic N >= 1, c and s >= 3: each is an identity, or a sign after one."""
    import sympy as sp

    more, c, beyond = sp.symbols("M c t", nonnegative=True)
    n, s = more + 1, beyond + 3  # every N >= 1, every s >= 3

    def positive(expression: sp.Expr) -> bool:
        """Whether a rational function has positive coefficients above and below, so is positive."""
        above, below = sp.fraction(sp.cancel(sp.together(expression)))
        signs = {sign > 0 for part in (above, below) for sign in sp.Poly(part, more, beyond).coeffs()}
        return signs == {True}

    bound = c / n + (n + 2) / (n + 1) * (1 - c / (n + 1))
    following = (s - 1) ** 2 if broken.startswith("each denominator") else s * (s - 1)  # s' - 1
    parts = n if broken.startswith("step (1)") else n - 1
    first_terms = 1 + 1 / (n + 1) if broken.startswith("the series") else 1 + 1 / (n + 1) + 1 / ((n + 1) * (n + 2))
    return {
        "m/(m-1) falls": positive(s / (s - 1) - (s + more + 1) / (s + more)),
        "the bound of (1) grows with c": positive(sp.diff(bound, c)),
        "(1) is below three terms": positive(first_terms - bound.subs(c, parts)),
        "N copies have the value 1": sp.simplify(n * (1 / ((n + 1) - 1)) - 1) == 0,
        "N copies leave 1/(s-1), s = N + 2": sp.simplify(1 - n / (n + 1) - 1 / ((n + 2) - 1)) == 0,
        "two copies of s do not fit": positive(2 / s - 1 / (s - 1)),
        "one copy leaves 1/(s'-1)": sp.simplify(1 / (s - 1) - 1 / s - 1 / following) == 0,
        "none is below the next two terms": sp.simplify((s + 1) / s / (s - 1) - 1 / (s - 1) - 1 / following) == 0,
    }


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
