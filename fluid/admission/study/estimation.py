"""Priors from data, by maximum likelihood over deployments that were watched for a time.

What is seen of a deployment enters the likelihood as in a belief: k core ends in core-time T (cores that were active at
the end of the watch add time alone: they are censored), m scale-outs in alive time T_d, and whether it was shut down.
Integrated over lambda, the likelihood of (k, T, m, T_d, shut) given the priors is an integral over mu of

    delta^[shut] mu^(alpha - 1 + k + kappa m + [shut]) exp(-mu (beta + T + delta T_d))
    (beta' + mu^kappa T_d)^-(alpha' + m)

times constants, which `fluid.admission.law.quadrature` evaluates, with its gradient: by Fisher's identity
the mean, under the belief about mu, of the gradient of the logarithm. A deployment that ended with its last core, where
a log does not say whether it was shut down then, has a factor 1 + delta. Sizes have a law of their own, negative
binomial. Deployments that were there before the watch began must be left out: they are those that survived.

Standard errors come from the observed information, minus the second derivatives of the logarithm of the likelihood at
its maximum, in logarithms of shapes, rates and delta.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import MOST_KAPPA, Gamma, InitialSize, Priors
from fluid.admission.law.quadrature import Density, Grid, find_nodes, log_rate, new_grid
from fluid.admission.study.watched import TenantLog, Watched
from theory.compiled import kernel
from theory.errors import InputError

DROP = 36.0
"""The integrand is left out where it is below e^-36 of its largest value."""

PARAMETERS = ("mu.shape", "mu.rate", "lambda.shape", "lambda.rate", "kappa", "delta", "sigma.shape", "sigma.rate")
"""What is fitted; all but kappa by their logarithms."""

LARGEST_LOG = 14.0
"""End of the search in logarithms, as `MOST_KAPPA` is in kappa: a shape of e^14 is a law of one value, for any log."""

NEAR_END = 1e-3
"""A parameter, or its logarithm, that is so near the end of its range is at the end."""


@dataclass(frozen=True)
class Fitted:
    """Priors of greatest likelihood.

    Attributes
    ----------
    priors : Priors
    log_likelihood : float
        Of deaths, scale-outs, shutdowns and sizes, without constants that priors do not change.
    converged : bool
        Whether the search ended at a maximum inside its limits.
    problem : str
        Of a search that did not converge, which parameters ran to which ends, or are not determined; else empty.
    covariance : float64[8, 8]
        Of the logarithms of `PARAMETERS` (of kappa itself), the inverse of the observed information; NaN where that is
        not positive definite, or the parameter is not fitted.
    """

    priors: Priors
    log_likelihood: float
    converged: bool
    covariance: NDArray[np.float64]
    problem: str = ""

    def estimates(self) -> Mapping[str, tuple[float, float, float, float]]:
        """Return value, standard error and the ends of the 95 % interval of each parameter."""
        p = self.priors
        values = (p.mu.shape, p.mu.rate, p.lam.shape, p.lam.rate, p.kappa, p.delta, p.sigma.shape, p.sigma.rate)
        rows = {}
        for name, x, error in zip(PARAMETERS, values, np.sqrt(np.diag(self.covariance)).tolist(), strict=True):
            # the delta method; ends on the scale of logarithms, so that they are positive
            ends = [x + z * error if name == "kappa" else x * np.exp(z * error) for z in (-1.96, 1.96)]
            rows[name] = (x, error if name == "kappa" else x * error, float(ends[0]), float(ends[1]))
        return rows


def log_likelihood(priors: Priors, seen: Watched) -> float:
    """Return the logarithm of the likelihood of deaths, scale-outs and shutdowns, up to a constant.

    O(n) sums over the nodes of log mu.
    """
    return _likelihood_and_score(priors, seen)[0]


def _likelihood_and_score(priors: Priors, seen: Watched) -> tuple[float, NDArray[np.float64]]:
    """Return the logarithm of the likelihood and its gradient in the first six of `PARAMETERS` (see above).

    The gradient is a mean under each belief.
    """
    from scipy.special import digamma

    a, b, kappa, delta = priors.mu.shape, priors.mu.rate, priors.kappa, priors.delta
    shape, base = priors.lam.shape, priors.lam.rate
    k, m, alive, shut = seen.core_deaths, seen.scale_outs, seen.alive_time, seen.shut
    power, rate = a + k + kappa * m + shut, b + seen.core_time + delta * alive
    laws = np.column_stack([power, rate, shape + m, np.full(len(k), base), alive, np.full(len(k), kappa)])
    inner, s, mean_log, mean_mu, mean_share, pulled, mean_base = _means(laws.astype(float), new_grid(DROP))
    ended = np.where(shut, np.log(delta) if delta > 0 else -1e9, np.where(seen.alone, np.log1p(delta), 0.0))
    total = inner + _log_density(priors, seen, s) + ended
    by_delta = shut / delta + seen.alone / (1 + delta) if delta > 0 else seen.alone * 1.0
    score = [
        np.log(b) - digamma(a) + mean_log,
        a / b - mean_mu,
        np.log(base) - digamma(shape) + digamma(shape + m) - mean_base,
        shape / base - (shape + m) * (1 - mean_share) / base,
        m * mean_log - (shape + m) * pulled,
        by_delta - alive * mean_mu,
    ]
    logs = np.array([a, b, shape, base, 1.0, delta])  # the derivative in log x is x times that in x
    return float(total.sum()), logs * np.array([float(np.sum(one)) for one in score])


def _log_density(priors: Priors, seen: Watched, s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the likelihood of each deployment at s = log mu, times the density of the prior there.

    Terms of a prior of large shape cancel: they are written in the distance from its mean, which is small then.
    """
    a, b, shape, base = priors.mu.shape, priors.mu.rate, priors.lam.shape, priors.lam.rate
    k, m, alive = seen.core_deaths, seen.scale_outs, seen.alive_time
    u = s + np.log(b / a)
    of_mu = _remainder(a) + a * (u - np.expm1(u))  # a log b - log Gamma(a) + a s - b e^s
    of_ends = (k + priors.kappa * m + seen.shut) * s - (seen.core_time + priors.delta * alive) * np.exp(s)
    with np.errstate(divide="ignore"):  # log 0 of a time alive is -inf
        odds = priors.kappa * s + np.log(alive / base)
    # shape log base - (shape + m) log(base + mu^kappa alive)
    of_lam = -shape * np.logaddexp(0.0, odds) - m * (np.log(base) + np.logaddexp(0.0, odds))
    # log Gamma(shape + m) - log Gamma(shape)
    gammas = m * np.log(shape + m) + shape * np.log1p(m / shape) - m - (_remainder(shape + m) - _remainder(shape))
    return np.asarray(of_mu + of_ends + of_lam + gammas, float)


def _remainder(x: Any) -> Any:
    """Return x log x - x - log Gamma(x), of large x by Stirling's series."""
    from scipy.special import gammaln

    exact = x * np.log(x) - x - gammaln(x)
    series = np.log(x / (2 * np.pi)) / 2 - 1 / (12 * x) + x**-3.0 / 360
    return np.where(x < 1e3, exact, series)


@kernel
def _means(laws: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Return for n densities, float64[n, 6], an integral, a place and five means, float64[7, n].

    The place is one of s = log mu, and the first number the logarithm of the integral relative to the density there.
    The means are of s, mu, the share y / (base + y) with y = mu^kappa alive, share s, and log(base + y).
    """
    sums = np.zeros((7, len(laws)))
    for i in range(len(laws)):
        row = laws[i]
        of = Density(row[0], row[1], row[2], row[3], row[4], row[5])
        count, _, sums[0, i] = find_nodes(of, log(max(of.power, 0.05) / of.rate), grid)
        sums[1, i] = grid.places[0] * grid.finest
        for j in range(count):
            s, weight = grid.places[j] * grid.finest, grid.nodes[1, j]
            grow = of.alive * grid.nodes[2, j]
            share = grow / (of.base + grow)
            sums[2, i] += weight * s
            sums[3, i] += weight * grid.nodes[0, j]
            sums[4, i] += weight * share
            sums[5, i] += weight * share * s
            sums[6, i] += weight * log_rate(of, s)
    return sums


class GammaPoisson(NamedTuple):
    """Counts of Poisson processes whose rates have one Gamma law, each over an exposure.

    Such are core ends in a core-time, and the cores above one in a number of sizes.
    """

    counts: NDArray[Any]
    exposure: NDArray[Any]

    def log_likelihood(self, law: Gamma) -> float:
        """Return the logarithm of the likelihood, up to a constant."""
        return self.value_and_score(law)[0]

    def value_and_score(self, law: Gamma) -> tuple[float, NDArray[np.float64]]:
        """Return the logarithm of the likelihood and its gradient in the logarithms of shape and rate."""
        from scipy.special import digamma, gammaln

        a, b, k, x = law.shape, law.rate, self.counts, self.exposure
        total = gammaln(a + k) - gammaln(a) + a * np.log(b) - (a + k) * np.log(b + x)
        by_shape = digamma(a + k) - digamma(a) - np.log1p(x / b)
        by_rate = a / b - (a + k) / (b + x)
        return float(total.sum()), np.array([a * by_shape.sum(), b * by_rate.sum()])


def size_log_likelihood(sigma: Gamma, seen: Watched) -> float:
    """Return the logarithm of the likelihood of sizes, up to a constant: sums of Poisson draws of one sigma."""
    return _sizes(seen).log_likelihood(sigma)


def _sizes(seen: Watched) -> GammaPoisson:
    return GammaPoisson(seen.extra_cores, seen.sizes)


def lifetime_log_likelihood(mu: Gamma, seen: Watched) -> float:
    """Return the logarithm of the likelihood of core ends alone, up to a constant: k ends in a core-time T."""
    return GammaPoisson(seen.core_deaths, seen.core_time).log_likelihood(mu)


Score = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


class Maximum(NamedTuple):
    """Where a search for the greatest likelihood ended."""

    at: NDArray[np.float64]
    covariance: NDArray[np.float64]  # the inverse of the information there; NaN where that is not positive definite
    problem: str  # why it is no maximum inside the range, empty where it is


def _maximised(
    score: Score, start: Sequence[float] | NDArray[np.float64], ends: Sequence[float], n: int, names: Sequence[str]
) -> Maximum:
    """Search the greatest likelihood; `ends` are those of the range on both sides of 0.

    Quasi-Newton steps, then up to eight of Newton's method. Second derivatives are central differences of the gradient.
    """
    from scipy.optimize import minimize

    def minus(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = score(v)
        return -value / n, -slope / n

    bounds = [(-end, end) for end in ends]
    limits = np.array(ends)
    x: NDArray[np.float64] = minimize(minus, np.array(start), jac=True, method="L-BFGS-B", bounds=bounds,
                 options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-8}).x  # fmt: skip
    unknown = np.full((len(x), len(x)), np.nan)
    for _ in range(8):
        information = _information(score, x)
        if not np.isfinite(information).all():
            return Maximum(x, unknown, _ran(x, limits, names) or "the likelihood has no finite curvature")
        curvatures, directions = np.linalg.eigh(information)
        # relative to the largest: below it, differences of gradients are rounding
        if curvatures[0] <= 1e-12 * curvatures[-1] or (np.abs(x) >= limits - NEAR_END).any():
            return Maximum(x, unknown, _ran(x, limits, names) or _flat(directions[:, 0], names))
        slope = score(x)[1]
        step = np.linalg.solve(information, slope)
        covariance = np.asarray(np.linalg.inv(information), float)
        if slope @ step < 1e-16:  # the square of the rest of the way, in standard errors
            return Maximum(x, covariance, "")
        x = np.clip(x + np.clip(step, -0.5, 0.5), -limits, limits)
    return Maximum(x, covariance, _ran(x, limits, names) or "the search did not end")


def _ran(x: NDArray[np.float64], limits: NDArray[np.float64], names: Sequence[str]) -> str:
    """Name the parameters at an end of their range; the logarithms are of times in units of the mean core's."""
    words = []
    for name, value, limit in zip(names, x.tolist(), limits.tolist(), strict=True):
        if abs(value) >= limit - NEAR_END:
            end = f"{np.sign(value) * limit:g}" if name == "kappa" else f"e^{np.sign(value) * limit:g}"
            words.append(f"{name} ran to {end}, the end of its range")
    return " and ".join(words)


def _flat(direction: NDArray[np.float64], names: Sequence[str]) -> str:
    """Name the parameters that the likelihood does not determine."""
    some = [name for name, part in zip(names, np.abs(direction), strict=True) if part >= 0.5 * np.abs(direction).max()]
    return f"the likelihood does not determine {' and '.join(some)}"


def _information(score: Score, x: NDArray[np.float64], step: float = 1e-4) -> NDArray[np.float64]:
    rows = []
    for i in range(len(x)):
        shift = step * np.eye(len(x))[i]
        rows.append((score(x - shift)[1] - score(x + shift)[1]) / (2 * step))
    return np.array((np.array(rows) + np.array(rows).T) / 2)


def fit_priors(seen: Watched, initial: InitialSize | None = None) -> Fitted:
    """Fit Gamma priors, kappa and delta by maximum likelihood.

    Parameters
    ----------
    seen : Watched
    initial : InitialSize, optional
        Of the priors that come out.

    Raises
    ------
    InputError
        Fewer than two deployments, or data in which nothing ends or nothing scales out.
    """
    n = len(seen.core_deaths)
    if n < 2 or not seen.core_deaths.sum() or not seen.scale_outs.sum():
        counts = f"{n:,} with {seen.core_deaths.sum():,} core ends and {seen.scale_outs.sum():,} scale-outs"
        raise InputError("data", f"expected several deployments, with core ends and scale-outs, got {counts}")
    # in units of the mean time of a core, the pooled rate of core ends is 1 and the search begins near the maximum
    unit = float(seen.core_time.sum() / seen.core_deaths.sum())
    scaled = replace(seen, core_time=seen.core_time / unit, alive_time=seen.alive_time / unit)
    pooled = float(scaled.alive_time.sum() / seen.scale_outs.sum())
    start = np.log([1.0, 1.0, 1.0, pooled, np.e, max(0.02, float(seen.shut.mean()))])  # kappa = 1
    free = np.arange(6 if seen.shut.any() else 5)  # without a shutdown there is no rate of them

    def priors_of(v: NDArray[np.float64]) -> Priors:
        e = [float(x) for x in np.exp(v)]
        delta = e[5] if len(v) > 5 else 0.0
        return Priors(Gamma(e[0], e[1]), Gamma(e[2], e[3]), Gamma(1.0, 1.0), float(v[4]), delta)

    def score(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = _likelihood_and_score(priors_of(v), scaled)
        return total, slope[free]

    ends = [LARGEST_LOG] * 4 + [MOST_KAPPA] + [LARGEST_LOG] * (len(free) - 5)
    v, within, problem = _maximised(score, start[free], ends, n, [PARAMETERS[i] for i in free])
    # back to hours: log b = log b' + log unit and log base = log base' + (1 - kappa) log unit
    v = v + np.array([0, np.log(unit), 0, (1 - v[4]) * np.log(unit), 0, 0])[free]
    turn = np.eye(len(free))
    turn[3, 4] = -np.log(unit)
    sigma, of_sizes, problem_of_sizes = _fitted_gamma(_sizes(seen), PARAMETERS[6:])
    covariance = np.zeros((8, 8))  # sizes are independent of the rest
    covariance[5, 5] = np.nan
    covariance[np.ix_(free, free)] = turn @ within @ turn.T
    covariance[6:, 6:] = of_sizes
    priors = replace(priors_of(v), sigma=sigma, initial=initial or InitialSize())
    value = log_likelihood(priors, seen) + size_log_likelihood(sigma, seen)
    problem = "; ".join(one for one in (problem, problem_of_sizes) if one)
    return Fitted(priors, value, not problem, covariance, problem)


def fit_log(log: TenantLog, *, is_poisson: bool = True) -> Fitted:
    """Fit priors to a log, whose initial sizes follow 1 + Poisson(sigma) or else the law that was observed."""
    if is_poisson:
        return fit_priors(log.with_initial_sizes())
    sizes, counts = np.unique(log.initial, return_counts=True)
    shares = counts / counts.sum()
    return fit_priors(log.seen, InitialSize(tuple(sizes.tolist()), tuple(shares.tolist())))


def _fitted_gamma(seen: GammaPoisson, names: Sequence[str]) -> tuple[Gamma, NDArray[np.float64], str]:
    """Return the Gamma law of greatest likelihood, the covariance of its logarithms, and why it is no maximum."""

    def score(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        return seen.value_and_score(Gamma(*(float(x) for x in np.exp(v))))

    mean = max(float(seen.counts.sum()), 1.0) / max(float(seen.exposure.sum()), 1e-9)
    start = [0.0, float(np.clip(-np.log(mean), -LARGEST_LOG, LARGEST_LOG))]
    v, covariance, problem = _maximised(score, start, [LARGEST_LOG] * 2, max(len(seen.counts), 1), names)
    shape, rate = (float(x) for x in np.exp(v))
    return Gamma(shape, rate), covariance, problem


def refuse_unconverged(problem: str) -> None:
    """Refuse a search that did not converge, and say what may help."""
    if problem:
        raise InputError(
            "data",
            f"the fit did not converge: {problem}; expected a log that determines the laws: take a longer one, "
            "with more deployments, core ends and scale-outs whose numbers and sizes vary",
        )


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
        raise InputError("data", "expected several deployments, with core ends")
    hours = float(seen.core_time.sum() / seen.core_deaths.sum())  # a unit of time in which the search starts near 1
    mu, _, problem = _fitted_gamma(GammaPoisson(seen.core_deaths, seen.core_time / hours), PARAMETERS[:2])
    sigma, _, problem_of_sizes = _fitted_gamma(_sizes(seen), PARAMETERS[6:])
    refuse_unconverged("; ".join(one for one in (problem, problem_of_sizes) if one))
    return Gamma(mu.shape, mu.rate * hours), sigma
