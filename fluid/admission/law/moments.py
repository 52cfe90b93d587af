"""Moments of a deployment's future size: the exact ones of M (O + N), and the paper's composition.

O counts the old cores that are active after time t, N the cores that were started since and are active, M is 1 unless
the maximum lifetime is over; a death for lack of cores is left out, so that M (O + N) is at least the size Q. Given mu,
lambda and sigma the moments are elementary; under Gamma laws they are differences of

    G(a, s) = E[mu^a exp(-s mu)] = Gamma(alpha + a) / Gamma(alpha) beta^alpha (beta + s)^-(alpha + a),

which the printed Proposition C.1 uses. With a = kappa - 1 the sum alpha + a may be negative, or a pole of the Gamma
function, though the differences are finite. They are therefore evaluated as integrals of G(a + 1, .), or
G(a + 2, .), whose integrands are positive (`first_difference`, `second_difference`): nothing cancels for small t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, lgamma, log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.belief import Belief
from fluid.admission.law.cluster import Gamma, Kind, Priors, moment_of_power
from theory.compiled import plain, step
from theory.errors import InputError, TooLargeError


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a size, or of one of its constituents.

    Attributes
    ----------
    mean, variance : float
    """

    mean: float
    variance: float


GAUSS = np.polynomial.legendre.leggauss(40)
"""Nodes and weights on [-1, 1]."""
MOST_PIECES = 10**6
"""Most pieces of a range of integration: it is cut into the more of them, the narrower a law is."""


def first_difference(law: Gamma, a: float, low: float, high: float) -> float:
    """Return G(a, low) - G(a, high) for ``0 <= low <= high``, by the analytic continuation where ``shape + a <= 0``.

    It is E[mu^a (exp(-low mu) - exp(-high mu))], finite if ``shape + a > -1``; InputError if it is infinite.

    >>> law = Gamma(1.0, 2.0)  # a pole: E[(1 - exp(-mu t)) / mu] = 2 log(1 + t / 2)
    >>> abs(first_difference(law, -1.0, 0.0, 3.0) - 2 * log(2.5)) < 1e-14
    True
    """
    # with c = shape + a and x = log((rate + high) / (rate + low)) it is
    # Gamma(c + 1) / Gamma(shape) rate^shape (rate + low)^-c (1 - exp(-c x)) / c, whose last factor tends to x at c = 0
    c = law.shape + a
    refuse_infinite_mean(c + 1)
    x = log1p((high - low) / (law.rate + low))
    factor = -expm1(-c * x) / c if abs(c * x) > 1e-300 and c != 0 else x
    scale = lgamma(c + 1) - lgamma(law.shape) + law.shape * log(law.rate) - c * log(law.rate + low)
    return exp(scale) * factor


def refuse_infinite_mean(power: float, source: str = "") -> None:
    """Refuse laws under which the mean rate of scale-outs is infinite: `power` is kappa + shape of mu."""
    if power <= 0:
        raise InputError(source, "deployments.kappa", f"expected kappa + shape of mu greater than 0, got {power:g}")


def refuse_infinite_variance(power: float, source: str = "") -> None:
    """Refuse laws under which the variance of that rate is infinite: `power` is 2 kappa + shape of mu."""
    if power <= 0:
        raise InputError(source, "deployments.kappa", f"expected 2 kappa + shape of mu greater than 0, got {power:g}")


def refuse_small_shape(shape: float, depth: float, source: str = "") -> None:
    """Refuse laws of mu whose lower tail, mu^shape down to exp(-depth), has values that are 0 in floats."""
    if shape < depth / 600:
        raise InputError(
            source, "deployments.mu.shape", f"expected at least {depth / 600:.2g} for a moment policy, got {shape:g}"
        )


def second_difference(law: Gamma, a: float, low: float, lag: float) -> float:
    """Return G(a, low) - 2 G(a, low + lag) + G(a, low + 2 lag), by the analytic continuation.

    It is E[mu^a exp(-low mu) (1 - exp(-lag mu))^2], finite if ``shape + a > -2``; InputError if it is infinite.
    """
    c = law.shape + a + 2
    refuse_infinite_variance(c)
    if lag == 0:
        return 0.0
    # the integral over v in [0, 2 lag] of min(v, 2 lag - v) G(a + 2, low + v), which is positive, by Gauss's rule in
    # log(rate + low + v) on both halves: all digits but the last few
    base = law.rate + low
    x, w = GAUSS
    total = 0.0
    for start, end in ((0.0, lag), (lag, 2 * lag)):
        first, last = log1p(start / base), log1p(end / base)
        pieces = max(1, int(np.ceil((last - first) * max(1.0, c) / 8.0)))
        if pieces > MOST_PIECES:
            raise TooLargeError("deployments", f"a Gamma law of shape {law.shape:g} is too narrow for floats")
        edges = np.linspace(first, last, pieces + 1)
        half = np.diff(edges)[:, None] / 2
        y = edges[:-1, None] + half * (1 + x)  # log(1 + v / base)
        v = base * np.expm1(y)
        hat = v if start == 0 else np.maximum(2 * lag - v, 0.0)
        total += float(np.sum(half * w * hat * np.exp((1 - c) * y)) * base)
    scale = lgamma(c) - lgamma(law.shape) + law.shape * log(law.rate) - c * log(base)
    return exp(scale) * total


def sigma_moments(sigma: Gamma) -> tuple[float, float, float]:
    """Return E[1 + sigma], E[sigma^2 + 2 sigma] = E[S (S - 1)] and E[(1 + sigma)^2], for the size S of a scale-out."""
    return 1 + sigma.mean, sigma.square + 2 * sigma.mean, 1 + 2 * sigma.mean + sigma.square


def joint_moments(priors: Priors, size: int, t: float) -> Moments:
    """Return mean and variance of M (O + N) under Gamma laws, exactly.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0, the cores now.
    t : float
        Hours ahead.

    Raises
    ------
    InputError
        If the variance is infinite (``2 kappa + shape of mu <= 0``).

    Examples
    --------
    >>> priors = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
    >>> found = joint_moments(priors, 4, 1.7)
    >>> round(found.mean, 5), round(found.variance, 5)
    (1.09269, 3.32809)
    """
    mu, h = priors.mu, priors.delta * t
    s1, s2, s3 = sigma_moments(priors.sigma)
    rate, square = priors.lam.mean, priors.lam.square
    kappa = priors.kappa
    grown = first_difference(mu, kappa - 1, h, h + t)  # E[exp(-h mu) mu^(kappa-1) (1 - exp(-mu t))]
    twice = first_difference(mu, kappa - 1, h, h + 2 * t)
    mean = size * moment_of_power(mu, 0, h + t) + rate * s1 * grown
    second = (
        size * first_difference(mu, 0, h + t, h + 2 * t)
        + rate * (s1 * grown + s2 * twice / 2)
        + size**2 * moment_of_power(mu, 0, h + 2 * t)
        + 2 * size * rate * s1 * first_difference(mu, kappa - 1, h + t, h + 2 * t)
        + square * s3 * second_difference(mu, 2 * kappa - 2, h, t)
    )
    return Moments(mean, second - mean**2)


@dataclass(frozen=True)
class Constituents:
    """Moments of the constituent variables (Propositions 4.3, 4.5 and C.1) at one time."""

    X: Moments  # scale-outs
    S: Moments  # their sizes
    new_core: Moments  # whether a new core is active
    old_core: Moments
    M: Moments  # whether the maximum lifetime is not over
    D: Moments  # whether the deployment has not died for lack of cores: an upper bound only
    O: Moments  # noqa: E741 (the paper's letter): old cores
    N: Moments  # new cores
    # O and N with cores of one deployment, or of one scale-out, taken as uncorrelated, as in the paper
    O_paper: Moments
    N_paper: Moments


def _indicator(mean: float) -> Moments:
    return Moments(mean, mean * (1 - mean))


def constituents(priors: Priors, size: int, t: float) -> Constituents:
    """Return the moments of the constituent variables under Gamma laws, exactly but for D, O_paper and N_paper.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0.
    t : float
        Hours ahead, greater than 0.
    """
    mu, kappa = priors.mu, priors.kappa
    s1, s2, s3 = sigma_moments(priors.sigma)
    rate, square = priors.lam.mean, priors.lam.square
    power = moment_of_power(mu, kappa, 0)
    scale_outs = rate * t * power
    X = Moments(scale_outs, scale_outs + t**2 * (square * moment_of_power(mu, 2 * kappa, 0) - (rate * power) ** 2))
    S = Moments(s1, priors.sigma.mean + priors.sigma.shape / priors.sigma.rate**2)
    b0 = moment_of_power(mu, 0, t)
    b1 = first_difference(mu, -1, 0, t) / t  # a core that started at a uniform time
    N_mean = rate * s1 * first_difference(mu, kappa - 1, 0, t)
    V2 = square * s3 * second_difference(mu, 2 * kappa - 2, 0, t) - N_mean**2
    twice = first_difference(mu, kappa - 1, 0, 2 * t)
    V1 = N_mean + rate * s2 * twice / 2
    V1_paper = N_mean + rate * s2 * second_difference(mu, kappa - 2, 0, t) / t
    b00 = moment_of_power(mu, 0, 2 * t)
    O_mean = size * b0
    O_exact = size * b0 * (1 - b0) + size * (size - 1) * (b00 - b0**2)
    alive = _some_left(b0, b1, size, scale_outs * s1)  # Jensen makes it an upper bound of E[D]
    return Constituents(
        X=X,
        S=S,
        new_core=_indicator(b1),
        old_core=_indicator(b0),
        M=_indicator(moment_of_power(mu, 0, priors.delta * t)),
        D=_indicator(alive),
        O=Moments(O_mean, O_exact),
        N=Moments(N_mean, V1 + V2),
        O_paper=Moments(O_mean, size * b0 * (1 - b0)),
        N_paper=Moments(N_mean, V1_paper + V2),
    )


def composed_moments(priors: Priors, size: int, t: float, *, exact_new_cores: bool = False) -> Moments:
    """Return mean and variance of Q as Propositions 4.3 and 4.5 compose them from uncorrelated constituents.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0.
    t : float
        Hours ahead; at 0 the size itself, with no variance.
    exact_new_cores : bool
        Take the exact variance of N in place of the paper's, in which cores of one scale-out are uncorrelated.

    Examples
    --------
    >>> priors = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
    >>> found = composed_moments(priors, 4, 1.7)
    >>> round(found.mean, 5), round(found.variance, 5)
    (0.90294, 2.57577)
    """
    if t == 0:
        return Moments(float(size), 0.0)
    parts = constituents(priors, size, t)
    new = parts.N if exact_new_cores else parts.N_paper
    mean, variance = parts.O_paper.mean + new.mean, parts.O_paper.variance + new.variance
    return Moments(*_composed_size(parts.M.mean, parts.D.mean, mean, variance))


@step
def sizes_at(u: Any, stays: Any, size: Any, k1: Any, k2: Any, k3: Any) -> Any:
    """Return E[M (O + N)] and E[(M (O + N))^2] given mu; every moment under a belief is a mean of these.

    u = 1 - exp(-mu t) is the probability that a core has ended, `stays` that of M = 1. Given mu, O is binomial,
    E[N] = k1 u and E[N^2] = k1 u + k2 (u - u^2 / 2) + k3 u^2; nothing large cancels.
    """
    old = size * (1.0 - u)
    first = stays * (old + k1 * u)
    second = stays * (old * (u + old + 2.0 * k1 * u) + u * (k1 + k2 * (1.0 - 0.5 * u) + k3 * u))
    return first, second


@step
def some_left(b0: Any, b1: Any, size: Any, started: Any) -> Any:
    """Return the right side of (16)-(17): that a core is left, of `size` old ones and a mean of `started` new ones."""
    return 1.0 - (1.0 - b0) ** size * max(0.0, 1.0 - b1) ** started


@step
def product_moments(mean: float, variance: float, other: float, other_variance: float) -> tuple[float, float]:
    """Return mean and variance of a product of independent variables."""
    return mean * other, variance * other_variance + variance * other * other + mean * mean * other_variance


@step
def composed_size(m: float, d: float, total: float, total_variance: float) -> tuple[float, float]:
    """Return mean and variance of M D (O + N) from E[M], E[D] and moments of O + N: (13), (25) and (22)-(24)."""
    alive, alive_variance = product_moments(m, m * (1.0 - m), d, d * (1.0 - d))
    return product_moments(alive, alive_variance, total, total_variance)


_sizes_at, _some_left, _composed_size = plain(sizes_at), plain(some_left), plain(composed_size)
"""The same as plain Python, for arrays of nodes too."""


def given_moments(
    mu: NDArray[np.float64],
    rate: NDArray[np.float64],
    rate_square: NDArray[np.float64],
    shutdown: NDArray[np.float64],
    sizes: tuple[float, float, float],
    size: int,
    t: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E[M (O + N)] and E[(M (O + N))^2] given mu, float64[G] each; mu, rates and shutdowns are float64[G].

    `rate` and `rate_square` are the first two moments of the rate of scale-outs given mu, and `sizes` are
    E[E[S|sigma]], E[S (S - 1)] and E[E[S|sigma]^2] of the size S of a scale-out.
    """
    s1, s2, s3 = sizes
    k1, k2, k3 = rate / mu * s1, rate / mu * s2, rate_square / mu**2 * s3
    first, second = _sizes_at(-np.expm1(-mu * t), np.exp(-shutdown * t), size, k1, k2, k3)
    return first, second


def belief_moments(belief: Belief, size: int, t: float) -> Moments:
    """Return mean and variance of M (O + N) under an exact belief."""
    shape, mu = belief.lam_shape, belief.mu
    rate = shape / belief.lam_rate * mu**belief.kappa
    square = shape * (shape + 1) / belief.lam_rate**2 * mu ** (2 * belief.kappa)
    sizes = sigma_moments(belief.sigma)
    first, second = given_moments(mu, rate, square, belief.delta * mu, sizes, size, t)
    mean = float(belief.weight @ first)
    return Moments(mean, float(belief.weight @ second) - mean**2)


def kind_moments(kind: Kind, size: int, t: float) -> Moments:
    """Return mean and variance of M (O + N) of a deployment of a known kind that has `size` cores now."""
    arrays = (np.array([x]) for x in (kind.mu, kind.scale_out_rate, kind.scale_out_rate**2, kind.shutdown_rate))
    sizes = (float(kind.batch), float(kind.batch * (kind.batch - 1)), float(kind.batch**2))
    mu, rate, square, shutdown = arrays
    first, second = given_moments(mu, rate, square, shutdown, sizes, size, t)
    mean = float(first[0])
    return Moments(mean, float(second[0]) - mean**2)
