"""Priors from data, by maximum likelihood over deployments that were watched for a time.

What is seen of a deployment enters the likelihood as in a belief: k core ends in core-time T (cores that were active at
the end of the watch add time alone: they are censored), m scale-outs in alive time T_d, and whether it was shut down.
Integrated over lambda, the likelihood of (k, T, m, T_d, shut) given the priors is an integral over mu of

    delta^[shut] mu^(alpha - 1 + k + kappa m + [shut]) exp(-mu (beta + T + delta T_d))
    (beta' + mu^kappa T_d)^-(alpha' + m)

times constants, which equally spaced nodes of log mu evaluate for all deployments at once; sizes have a law of their
own, negative binomial. Deployments that were there before the watch began must be left out: they are those that
survived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.belief import log_density, slope_and_curvature
from fluid.admission.law.cluster import Gamma, InitialSize, Priors
from fluid.admission.simulation import world as worlds
from fluid.admission.simulation.world import World
from theory.compiled import plain
from theory.errors import InputError

_log_density, _slope_and_curvature = plain(log_density), plain(slope_and_curvature)

NODES = 160
"""Nodes of log mu, for each deployment."""


@dataclass(frozen=True)
class Watched:
    """What was seen of n deployments from their arrivals on.

    Attributes
    ----------
    core_deaths, scale_outs, extra_cores, sizes : int64[n]
        As in `fluid.admission.law.belief.Observed`.
    core_time, alive_time : float64[n]
    shut : bool[n]
        Whether the deployment was shut down while cores were active.
    """

    core_deaths: NDArray[np.int64]
    core_time: NDArray[np.float64]
    alive_time: NDArray[np.float64]
    scale_outs: NDArray[np.int64]
    extra_cores: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shut: NDArray[np.bool_]


def watched(world: World, until: float, *, initial_counts: bool = True) -> Watched:
    """Collect what is seen in a world in which everything is granted, up to a time.

    Parameters
    ----------
    world : World
    until : float
        End of the watch; cores that are active then are censored.
    initial_counts : bool
        Whether the initial size follows 1 + Poisson(sigma).
    """
    n = len(world.arrival)
    owner = world.deployment[world.batch]
    deaths = np.bincount(owner[world.what == worlds.DEATH], minlength=n)
    outs = world.what == worlds.SCALE_OUT
    scale_outs = np.bincount(owner[outs], minlength=n)
    extra = np.bincount(owner[outs], world.size[world.batch[outs]] - 1, minlength=n)
    shut = np.zeros(n, bool)
    shut[owner[world.what == worlds.SHUTDOWN]] = True
    born = np.bincount(world.deployment, world.size, minlength=n)
    last = np.zeros(n)
    np.maximum.at(last, owner, world.time)
    end = np.where(shut | (deaths >= born), last, until)
    # core time: every core from the start of its batch to its end, or to the end of the deployment
    start = np.bincount(world.deployment, world.size * _starts(world), minlength=n)
    ended = np.bincount(owner[world.what == worlds.DEATH], world.time[world.what == worlds.DEATH], minlength=n)
    core_time = ended + (born - deaths) * end - start
    sizes = scale_outs.astype(np.int64)
    if initial_counts:
        extra = extra + world.size[world.first] - 1
        sizes = sizes + 1
    return Watched(
        deaths.astype(np.int64),
        np.maximum(core_time, 0.0),
        end - world.arrival,
        scale_outs.astype(np.int64),
        extra.astype(np.int64),
        sizes,
        shut,
    )


def _starts(world: World) -> NDArray[np.float64]:
    starts = np.zeros(len(world.size))
    begins = (world.what == worlds.ARRIVAL) | (world.what == worlds.SCALE_OUT)
    starts[world.batch[begins]] = world.time[begins]
    return starts


@dataclass(frozen=True)
class Fitted:
    """Priors of greatest likelihood."""

    priors: Priors
    log_likelihood: float  # of deaths, scale-outs, shutdowns and sizes, without constants that priors do not change
    deployments: int
    converged: bool


def log_likelihood(priors: Priors, seen: Watched) -> float:
    """Return the logarithm of the likelihood of deaths, scale-outs and shutdowns, up to a constant.

    O(n x `NODES`); nodes of log mu are spread around the peak of each deployment's integrand.
    """
    from scipy.special import gammaln

    a, b, kappa, delta = priors.mu.shape, priors.mu.rate, priors.kappa, priors.delta
    shape, base = priors.lam.shape, priors.lam.rate
    power = (a + seen.core_deaths + kappa * seen.scale_outs + seen.shut)[:, None]
    rate = (b + seen.core_time + delta * seen.alive_time)[:, None]
    lam = (shape + seen.scale_outs)[:, None]
    alive = seen.alive_time[:, None]
    s = np.log(np.maximum(power, 0.05) / rate)
    for _ in range(40):  # Newton's method on concave functions, all at once
        slope, bend = _slope_and_curvature(s, power, rate, lam, base, alive, kappa)
        s = s + np.clip(slope / np.maximum(bend, 1e-9), -1.0, 1.0)
    width = 1 / np.sqrt(np.maximum(bend, 1e-9))
    low = -8 * width - np.minimum(30.0, 12 / np.maximum(power, 0.1))
    high = np.minimum(8 * width, 6.0)
    x = np.linspace(0.0, 1.0, NODES)[None, :]
    at = s + low + (high - low) * x
    level = _log_density(at, power, rate, lam, base, alive, kappa)
    top = level.max(axis=1, keepdims=True)
    inner = np.log(np.exp(level - top).sum(axis=1) * ((high - low)[:, 0] / (NODES - 1))) + top[:, 0]
    constant = a * np.log(b) - gammaln(a) + shape * np.log(base) - gammaln(shape)
    total = inner + gammaln(lam[:, 0]) + constant + np.where(seen.shut, np.log(delta) if delta > 0 else -1e9, 0.0)
    return float(total.sum())


def size_log_likelihood(sigma: Gamma, seen: Watched) -> float:
    """Return the logarithm of the likelihood of sizes, up to a constant: sums of Poisson draws of one sigma."""
    from scipy.special import gammaln

    k, n = seen.extra_cores, seen.sizes
    terms = gammaln(sigma.shape + k) - gammaln(sigma.shape) + sigma.shape * np.log(sigma.rate)
    return float((terms - (sigma.shape + k) * np.log(sigma.rate + n))[n > 0].sum())


def fit_priors(seen: Watched, initial: InitialSize | None = None, start: Sequence[float] | None = None) -> Fitted:
    """Fit Gamma priors, kappa and delta by maximum likelihood.

    Parameters
    ----------
    seen : Watched
    initial : InitialSize, optional
        Of the priors that come out.
    start : sequence of 6 floats, optional
        Shape and rate of mu, shape and rate of lambda, kappa, delta.

    Raises
    ------
    InputError
        Fewer than two deployments, or data in which nothing ends or nothing scales out.
    """
    from scipy.optimize import minimize

    n = len(seen.core_deaths)
    if n < 2 or not seen.core_deaths.sum() or not seen.scale_outs.sum():
        raise InputError("data: expected several deployments, with core ends and scale-outs")
    pooled = float(seen.core_deaths.sum() / seen.core_time.sum())
    per_hour = float(seen.scale_outs.sum() / seen.alive_time.sum())
    first = start or (1.0, 1.0 / pooled, 1.0, pooled / per_hour, 1.0, max(0.02, float(seen.shut.mean())))
    shift = np.array([np.log(x) if i != 4 else x for i, x in enumerate(first)])

    def priors_of(v: NDArray[np.float64]) -> Priors:
        e = np.exp(np.clip(v, -30, 30))
        sigma = Gamma(1.0, 1.0)
        kappa = float(np.clip(v[4], -3, 5))
        return Priors(Gamma(float(e[0]), float(e[1])), Gamma(float(e[2]), float(e[3])), sigma, kappa, float(e[5]))

    optimum = minimize(lambda v: -log_likelihood(priors_of(v), seen) / n, shift, method="Nelder-Mead",
                     options={"maxiter": 1500, "xatol": 1e-4, "fatol": 1e-8, "adaptive": True})  # fmt: skip
    fitted = priors_of(optimum.x)
    if not seen.shut.any():
        fitted = Priors(fitted.mu, fitted.lam, fitted.sigma, fitted.kappa, 0.0)
    sigma, sizes_converged = _fitted_gamma(lambda law: size_log_likelihood(law, seen) / n)
    priors = Priors(fitted.mu, fitted.lam, sigma, fitted.kappa, fitted.delta, initial or InitialSize())
    value = log_likelihood(priors, seen) + size_log_likelihood(sigma, seen)
    return Fitted(priors, value, n, bool(optimum.success and sizes_converged))


def _fitted_gamma(log_likelihood_of: Callable[[Gamma], float]) -> tuple[Gamma, bool]:
    """Return the Gamma law of greatest likelihood, and whether the search converged."""
    from scipy.optimize import minimize

    optimum = minimize(
        lambda v: -log_likelihood_of(Gamma(*(float(x) for x in np.exp(np.clip(v, -30, 30))))),
        np.zeros(2),
        method="Nelder-Mead",
        options={"maxiter": 800, "xatol": 1e-5, "fatol": 1e-9},
    )
    shape, rate = (float(x) for x in np.exp(np.clip(optimum.x, -30, 30)))
    return Gamma(shape, rate), bool(optimum.success)


def lifetime_log_likelihood(mu: Gamma, seen: Watched) -> float:
    """Return the logarithm of the likelihood of core ends alone, up to a constant: k ends in a core-time T."""
    from scipy.special import gammaln

    k = seen.core_deaths
    terms = gammaln(mu.shape + k) - gammaln(mu.shape) + mu.shape * np.log(mu.rate)
    return float((terms - (mu.shape + k) * np.log(mu.rate + seen.core_time)).sum())


def fit_lifetimes_and_sizes(seen: Watched) -> tuple[Gamma, Gamma]:
    """Fit the Gamma laws of mu and sigma where nothing is known of scale-outs and shutdowns.

    Cores that did not end on their own while they were watched are censored: they add time alone. (Whether a
    deployment was watched for long says nothing of mu only if the end of the watch does not depend on it.)

    Raises
    ------
    InputError
        Fewer than two deployments, no core that ends, or a search that does not converge.
    """
    n = len(seen.core_deaths)
    if n < 2 or not seen.core_deaths.sum():
        raise InputError("data: expected several deployments, with core ends")
    hours = float(seen.core_time.sum() / seen.core_deaths.sum())  # a unit of time in which the search starts near 1
    scaled = replace(seen, core_time=seen.core_time / hours)
    mu, done = _fitted_gamma(lambda law: lifetime_log_likelihood(law, scaled) / n)
    sigma, sizes_done = _fitted_gamma(lambda law: size_log_likelihood(law, seen) / n)
    if not (done and sizes_done):
        raise InputError("data: the search for the laws of greatest likelihood did not converge")
    return Gamma(mu.shape, mu.rate * hours), sigma
