"""Admission: what is believed of a deployment, and how sharp the moments of its size are."""

from __future__ import annotations

import numpy as np

from bounds.results.admission.instances import WORKED
from bounds.results.admission.moments import CAPACITY, PAIR
from bounds.views.panels import Chart, Curve
from fluid.admission.absorption import exact_moments
from fluid.admission.belief import Observed, exact_belief, plug_in_belief
from fluid.admission.law import kind_law
from fluid.admission.model import Priors
from fluid.admission.moments import composed_moments, constituents
from generate.drawn import Drawing, draws


@draws("admission/belief-exact")
def beliefs() -> Drawing:
    """Draw the law of mu after five quiet hours of one core: exact, and by the conjugate update."""
    from scipy.stats import gamma

    seen = Observed(core_time=5.0, alive_time=5.0)
    mu = np.linspace(1e-3, 2.5, 200)
    exact, plug_in = exact_belief(WORKED, seen), plug_in_belief(WORKED, seen).mu
    # The nodes are equally spaced in log mu, so weight / (step mu) is the density of mu.
    density = exact.weight / (np.log(exact.mu[1] / exact.mu[0]) * exact.mu)
    curves = [
        Curve("before", mu, gamma.pdf(mu, WORKED.mu.shape, scale=1 / WORKED.mu.rate), look="plain"),
        Curve("conjugate update", mu, gamma.pdf(mu, plug_in.shape, scale=1 / plug_in.rate), look="plain"),
        Curve("exact", mu, np.interp(mu, exact.mu, density), look="plain"),
    ]
    chart = Chart("death rate mu of a core (per hour)", "density (hours)", curves)
    return Drawing("What five quiet hours of one core say of mu (worked example)", [chart])


@draws("admission/prop-4.3", "admission/variance-understated")
def moments() -> Drawing:
    """Draw both statements on the worked example, by time."""
    times = (0.4, 1.7, 6.0)
    still = Priors(WORKED.mu, WORKED.lam, WORKED.sigma, WORKED.kappa, 0.0, WORKED.initial)
    found = [(exact_moments(WORKED, 4, t), composed_moments(WORKED, 4, t)) for t in times]
    left = [
        Curve("right side of (16)-(17)", times, [constituents(WORKED, 4, t).D.mean for t in times]),
        Curve("exact", times, [exact_moments(still, 4, t).alive for t in times]),
    ]
    right = [
        Curve("exact", times, [exact.variance for exact, _ in found]),
        Curve("Propositions 4.3 and 4.5 composed", times, [composed.variance for _, composed in found]),
    ]
    return Drawing(
        "Moments of the size of a deployment of 4 cores (worked example)",
        [
            Chart("time ahead (hours)", "Pr[not out of cores] (1)", left, xscale="log", ylim=(0, 1.05)),
            Chart("time ahead (hours)", "variance of the size (cores^2)", right, xscale="log", ylim=(0, None)),
        ],
        columns=2,
    )


@draws("admission/prop-3.1")
def failing() -> Drawing:
    """Draw the probability that the sizes of the two deployments of the claim reach the capacity, by time."""
    times = np.linspace(0.0, 10.0, 81)
    tails = []
    for t in times.tolist():
        one, other = (kind_law(kind, kind.size, t).probability for kind in PAIR)
        tails.append(float(np.convolve(one, other)[CAPACITY:].sum()))
    curve = Curve("Pr[sum of Q >= c]", times, tails, look="plain")
    chart = Chart("time ahead (hours)", "share of scale-outs that fail (1)", [curve])
    return Drawing(f"Two deployments of known kinds on {CAPACITY} cores", [chart])
