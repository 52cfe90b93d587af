"""The cluster admission paper on sampling: Proposition D.2 (redrawing by buckets), Section 7 (pricing by variance)."""

from __future__ import annotations

import random
from fractions import Fraction

from bounds.claims import Evidence, Level, Outcome, claim
from fluid.admission.importance import redraw_for, redrawn_probabilities


def _by_chain(p: list[Fraction], r: list[Fraction]) -> list[Fraction]:
    """Probabilities of the buckets under redrawing, from the chain of blocked buckets, in rationals.

    With buckets below l blocked, bucket i >= l comes with probability p_i / (p_l + ... + p_K), and is accepted with
    1 - r_i; else buckets below i are blocked. Level l itself can be left for itself: a geometric series.
    """
    count = len(p)
    reached = [Fraction(0)] * count
    reached[0] = Fraction(1)
    accepted = [Fraction(0)] * count
    for low in range(count):
        rest = sum(p[low:], Fraction(0))
        stays = p[low] / rest * r[low]  # redrawn from the lowest bucket that is left
        visits = reached[low] / (1 - stays)
        for i in range(low, count):
            accepted[i] += visits * p[i] / rest * (1 - r[i])
            if i > low:
                reached[i] += visits * p[i] / rest * r[i]
    return accepted


@claim(
    "prop-d.2",
    "Proposition D.2 as rebuilt gives the probabilities of buckets under redrawing: against the chain of blocked "
    "buckets in rationals, on 200 (2,000 in full) random cases of 2 to 5 buckets; and its inversion finds the redraw "
    "probabilities again, tolerance 1e-9.",
    source="Proposition D.2",
    printed="(165)-(171), by a geometric series for two buckets and iteration (formulas lost, rebuilt)",
    evidence=Evidence.numeric,
    breaks=("lower buckets stay open",),
)
def prop_d_2(level: Level, broken: str) -> Outcome:
    """Compare formula, chain and inversion."""
    draws = random.Random(20260713)
    worst = off = 0.0
    cases = 200 if level is Level.quick else 2000
    for _ in range(cases):
        count = draws.randint(2, 5)
        raw = [draws.randint(1, 30) for _ in range(count)]
        p = [Fraction(x, sum(raw)) for x in raw]
        r = [Fraction(draws.randint(0, 9), 10) for _ in range(count - 1)] + [Fraction(0)]
        exact = _by_chain(p, r)
        found = redrawn_probabilities([float(x) for x in p], [float(x) for x in r])
        if broken:
            open_ = [float(a * (1 - b)) for a, b in zip(p, r, strict=True)]
            found = found * 0 + [x / sum(open_) for x in open_]
        nominal, wanted = ([float(x) for x in row] for row in (p, exact))
        again = redrawn_probabilities(nominal, redraw_for(nominal, wanted))
        worst = max(worst, *(abs(a - b) for a, b in zip(wanted, found, strict=True)))
        off = max(off, *(abs(a - b) for a, b in zip(wanted, again, strict=True)))
    shown = f"{cases} cases: formula off by at most {worst:.1e}, inversion by {off:.1e}"
    return Outcome(shown, bool(worst < 1e-12 and off < 1e-9))


@claim(
    "mixture-variance",
    "A mixture has at least the mean of the variances of its parts, and the excess for two is q (1 - q) times the "
    "square of the difference of the means, so labels never raise a payment by variance: identities in symbols.",
    source="Proposition 7.1 and Corollary 7.2, equations (31)-(34)",
    printed="q Var(A) + (1 - q) Var(B) <= Var(Z), by the law of total variance",
    evidence=Evidence.proved,
    breaks=("means left out",),
)
def mixture_variance(level: Level, broken: str) -> Outcome:
    """Expand the variance of the mixture."""
    import sympy

    q, a, b, va, vb = sympy.symbols("q a b v_a v_b", real=True)
    mean = q * a + (1 - q) * b
    second = q * (va + a**2) + (1 - q) * (vb + b**2)
    variance = q * va + (1 - q) * vb if broken else second - mean**2
    excess = sympy.factor(sympy.expand(variance - (q * va + (1 - q) * vb)))
    good = sympy.expand(excess - q * (1 - q) * (a - b) ** 2) == 0
    return Outcome(f"excess {excess}, at least 0 for 0 <= q <= 1", bool(good))
