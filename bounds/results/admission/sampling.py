"""The cluster admission paper on rare failures (Appendix D): the bound of a size, and the variance after redrawing."""

from __future__ import annotations

import random

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from fluid.admission.law.cluster import Kind
from fluid.admission.law.size_law import kind_law
from fluid.admission.study.importance import redraw_for, redrawn_probabilities

SEVERAL = (Kind(1.0, 0.6, 0.4, 0.1, 1), Kind(1.0, 1.0, 0.8, 0.0, 2), Kind(1.0, 0.3, 0.5, 0.05, 3, 4))
"""Deployments, ours, whose sizes have long tails beside their means."""


@claim(
    "definition-d.1",
    "E[Q] + sqrt((1 - eta) / eta Var[Q]) is passed with a probability of at most eta: exact laws of the sizes of three "
    "deployments of known kinds, 0.5, 2 and 8 hours ahead, eta = 0.001, 0.01, 0.05 and 0.3. A bound by the normal "
    "quantile, which is less, is passed more often.",
    source="Definition D.1, equation (163)",
    printed="the upper bound of the confidence interval of a deployment's size as given by Cantelli's inequality",
    evidence=Evidence.numeric,
    breaks=("normal quantile", "no root"),
)
def definition_d_1(level: Level, broken: str) -> Outcome:
    from scipy.special import ndtri

    most = 0.0
    for kind in SEVERAL:
        for t in (0.5, 2.0, 8.0):
            law = kind_law(kind, kind.size, t)
            n = np.arange(len(law.probability))
            mean = float(n @ law.probability)
            variance = float(n**2 @ law.probability) - mean**2
            for eta in (0.001, 0.01, 0.05, 0.3):
                wide = (1 - eta) / eta
                deviations = -float(ndtri(eta)) if broken.startswith("normal") else wide**0.5
                bound = mean + deviations * variance**0.5 / (wide**0.5 if broken == "no root" else 1.0)
                most = max(most, float(law.probability[n >= bound - 1e-9].sum()) / eta)
    return Outcome(f"passed with at most {most:.4f} of the probability allowed, in 36 cases", most <= 1)


@claim(
    "redraw-variance",
    "Of all probabilities of the buckets, q_i proportional to p_i sqrt(E[f^2 | B_i]), which (162) is on the level of "
    "buckets, gives the weighted mean of f the least variance, (sum of p_i sqrt(E[f^2 | B_i]))^2 - E[f]^2 a run; and "
    "redrawing reaches it where buckets rise. 200 (2,000 in full) random cases of 2 to 5 buckets: the formula to 1e-9, "
    "never more than nominal draws or 20 other probabilities have.",
    source="Appendix D, equations (162) and (165)",
    printed="the rejection probabilities are calculated by combining Equation (162) and Equation (165) (formulas lost)",
    evidence=Evidence.numeric,
    breaks=("nothing is redrawn", "failures in place of their roots"),
)
def redraw_variance(level: Level, broken: str) -> Outcome:
    draws, off, excess, gain = random.Random(20261126), 0.0, -np.inf, []
    cases = 200 if level is Level.quick else 2000
    for _ in range(cases):
        count = draws.randint(2, 5)
        p = np.array([draws.uniform(0.05, 1.0) for _ in range(count)])
        p /= p.sum()
        second = np.sort([draws.uniform(1e-4, 1.0) for _ in range(count)])  # E[f^2 | B_i], for a share f of at most 1
        mean = float(p @ (second * np.array([draws.uniform(0.2, 1.0) for _ in range(count)])))  # E[f^2] <= E[f | B_i]
        wanted = p * (second if broken.startswith("failures") else np.sqrt(second))
        redraw = redraw_for(p, wanted / wanted.sum())
        q = redrawn_probabilities(p, 0 * redraw if broken.startswith("nothing") else redraw)
        variance = float(p**2 / q @ second) - mean**2
        least = float(p @ np.sqrt(second)) ** 2 - mean**2
        others = [np.array([draws.uniform(0.05, 1.0) for _ in range(count)]) for _ in range(20)] + [p]
        best = min(float(p**2 / (one / one.sum()) @ second) - mean**2 for one in others)
        off, excess = max(off, abs(variance - least)), max(excess, variance - best)
        gain.append((float(p @ second) - mean**2) / variance)
    shown = f"{cases} cases: off by at most {off:.1e}, above others by at most {excess:.1e}"
    shown += f"; nominal draws have {min(gain):.2f} to {max(gain):.1f} times the variance"
    return Outcome(shown, bool(off < 1e-9 and excess < 1e-9))
