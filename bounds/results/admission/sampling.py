"""The cluster admission paper on rare failures (Appendix D): the bound of a size, and the variance after redrawing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.admission.importance import redraw_for, redrawn_probabilities
from fluid.admission.law.cluster import Kind, horizons_of
from fluid.admission.law.size_law import kind_law
from theory.errors import InputError, expect_number

SEVERAL = (Kind(1.0, 0.6, 0.4, 0.1, 1), Kind(1.0, 1.0, 0.8, 0.0, 2), Kind(1.0, 0.3, 0.5, 0.05, 3, 4))
"""Deployments, ours, whose sizes have long tails beside their means."""


def _cantelli(mean: float, variance: float, eta: float) -> float:
    """Return the bound (163)."""
    return mean + float(np.sqrt((1 - eta) / eta * variance))


def _by_normal_quantile(mean: float, variance: float, eta: float) -> float:
    from scipy.special import ndtri

    return mean - float(ndtri(eta) * np.sqrt(variance))


def _without_root(mean: float, variance: float, eta: float) -> float:
    """Return the mean and one standard deviation, as where the factor of the variance is left out of the root."""
    del eta
    return mean + float(np.sqrt(variance))


@claim(
    "definition-d.1",
    "Cantelli's bound holds for exact distributions, where tried",
    "E[Q] + sqrt((1 - eta) / eta Var[Q]) is passed with a probability of at most eta: exact distributions of the "
    "sizes of three deployments of known kinds, 0.5, 2 and 8 hours ahead, eta = 0.001, 0.01, 0.05 and 0.3. A bound by "
    "the normal quantile, which is less, is passed more often.",
    source="Definition D.1, equation (163)",
    printed="the upper bound of the confidence interval of a deployment's size as given by Cantelli's inequality",
    evidence=Evidence.numeric,
    controls={"normal quantile": {"bound": _by_normal_quantile}, "no root": {"bound": _without_root}},
)
def definition_d_1(
    etas: tuple[float, ...] = (0.001, 0.01, 0.05, 0.3),
    hours: tuple[float, ...] = (0.5, 2.0, 8.0),
    *,
    bound: Callable[[float, float, float], float] = _cantelli,
) -> Outcome:
    if not all(0 < eta < 1 for eta in etas):
        raise InputError("etas", f"expected probabilities between 0 and 1, got {', '.join(map(str, etas))}")
    horizons_of(list(hours), "hours")
    most, cases = 0.0, 0
    for kind in SEVERAL:
        for t in hours:
            law = kind_law(kind, kind.size, t)
            n = np.arange(len(law.probability))
            mean = float(n @ law.probability)
            variance = float(n**2 @ law.probability) - mean**2
            for eta in etas:
                passed = law.probability[n >= bound(mean, variance, eta) - 1e-9]
                most, cases = max(most, float(passed.sum()) / eta), cases + 1
    return Outcome(f"passed with at most {most:.4f} of the probability allowed, in {cases} cases", most <= 1)


def _nothing_is_redrawn(p: Any, wanted: Any) -> Any:
    del wanted
    return 0 * p


def _as_they_are(second: Any) -> Any:
    return second


@claim(
    "redraw-variance",
    "The rebuilt redrawing attains the least variance, sampled",
    "Of all probabilities of the buckets, q_i proportional to p_i sqrt(E[f^2 | B_i]), which (162) is on the level of "
    "buckets, gives the weighted mean of f the least variance, (sum of p_i sqrt(E[f^2 | B_i]))^2 - E[f]^2 a run; and "
    "redrawing reaches it where buckets rise. 200 (2,000 in full) random cases of 2 to 5 buckets: the formula to 1e-9, "
    "never more than nominal draws or 20 other probabilities have.",
    source="Appendix D, equations (162) and (165)",
    printed="the rejection probabilities are calculated by combining Equation (162) and Equation (165) (formulas lost)",
    evidence=Evidence.numeric,
    full={"cases": 2000},
    controls={
        "nothing is redrawn": {"redraw": _nothing_is_redrawn},
        "failures in place of their roots": {"weight": _as_they_are},
    },
)
def redraw_variance(
    cases: int = 200,
    *,
    redraw: Callable[[Any, Any], Any] = redraw_for,
    weight: Callable[[Any], Any] = np.sqrt,
) -> Outcome:
    expect_number(cases, "cases", 1)
    draws, off, excess, gain = random.Random(20261126), 0.0, -np.inf, []
    for _ in range(cases):
        count = draws.randint(2, 5)
        p = np.array([draws.uniform(0.05, 1.0) for _ in range(count)])
        p /= p.sum()
        second = np.sort([draws.uniform(1e-4, 1.0) for _ in range(count)])  # E[f^2 | B_i], for a share f of at most 1
        mean = float(p @ (second * np.array([draws.uniform(0.2, 1.0) for _ in range(count)])))  # E[f^2] <= E[f | B_i]
        wanted = p * weight(second)
        q = redrawn_probabilities(p, redraw(p, wanted / wanted.sum()))
        variance = float(p**2 / q @ second) - mean**2
        least = float(p @ np.sqrt(second)) ** 2 - mean**2
        others = [np.array([draws.uniform(0.05, 1.0) for _ in range(count)]) for _ in range(20)] + [p]
        best = min(float(p**2 / (one / one.sum()) @ second) - mean**2 for one in others)
        off, excess = max(off, abs(variance - least)), max(excess, variance - best)
        gain.append((float(p @ second) - mean**2) / variance)
    shown = f"{cases} cases: off by at most {off:.1e}, above others by at most {excess:.1e}"
    shown += f"; nominal draws have {min(gain):.2f} to {max(gain):.1f} times the variance"
    return Outcome(shown, bool(off < 1e-9 and excess < 1e-9))
