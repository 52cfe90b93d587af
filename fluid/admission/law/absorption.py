"""When a deployment dies for lack of cores: the exact law of that time, and the exact moments of the size Q.

In units of core lifetimes (tau = mu t) the size of a deployment that is never absorbed at 0 is a Markov chain with
death rate 1 a core, scale-outs at rate r = lambda mu^(kappa - 1) and sizes 1 + Poisson(sigma). Its probability of 0
cores, from 0 cores, is elementary:

    p(tau) = exp(-r [Ein(sigma) - Ein(sigma x) + (exp(-sigma x) - exp(-sigma)) / sigma]),   x = exp(-tau),

with Ein(z) the integral of (1 - exp(-y)) / y over [0, z]. The first visit to 0 from C cores has a distribution A that
solves the renewal equation

    (1 - exp(-tau))^C p(tau) = integral over s in [0, tau] of p(tau - s) dA(s).

Everything else follows: after the first visit the chain that is never absorbed goes on from 0, so the moments of Q are
those of that chain minus those of its restarts. `Absorption` solves the equation for many (r, sigma) at once; A is
continued beyond the solved range by its exponential tail. Averages over mu, lambda and sigma are quadratures; a
coarser one beside each states its error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import Gamma, InitialSize, Priors
from theory.compiled import kernel
from theory.errors import TooLargeError

RANGE = 16.0
"""Units of core lifetimes that are solved; p is constant beyond, up to exp(-16)."""

FAST, NEVER = 30.0, 1e9
"""Rates r of scale-outs in a core lifetime. From FAST on, a deployment that dies does so within SHORT / r lifetimes, or
has cores for good: p is below exp(-r (1 - exp(-SHORT / r))), at most 6e-12, from there on. From NEVER on it does not
die: C cores end before a scale-out with probability at most 1 / (1 + r)."""

SHORT = 60.0

MOST_PAIRS = 4_000_000
"""Most pairs of nodes of mu and of r: arrays of each take tens of megabytes, and there are dozens."""

FINE = 500_000_000
"""Products of the finer of two quadratures, about half a second."""


GAUSS = np.polynomial.legendre.leggauss(4)
"""Nodes and weights of the rule for a cell between two times, on [-1, 1]."""


def ein(z: NDArray[Any]) -> NDArray[Any]:
    """Return the entire exponential integral, the integral of (1 - exp(-y)) / y from 0 to z, for Re z >= 0.

    >>> [round(float(x), 6) for x in ein(np.array([0.0, 0.25, 1.0]))]
    [0.0, 0.235204, 0.7966]
    """
    from scipy.special import exp1

    z = np.asarray(z)
    small = np.abs(z) < 0.5
    values = np.empty(z.shape, complex if np.iscomplexobj(z) else float)
    values[small] = _ein_series(z[small])
    large = z[~small]
    values[~small] = np.euler_gamma + np.log(large) + exp1(large)
    return values


def _ein_series(z: NDArray[Any]) -> NDArray[Any]:
    """The power series of Ein, the sum of -(-z)^n / (n n!), for |z| < 1/2: 16 terms give all digits."""
    total = np.zeros_like(z)
    for n in range(16, 0, -1):
        total = total * z - (-1) ** n / (n * factorial(n))
    return np.asarray(total * z)


def log_generating(sigma: float, tau: NDArray[Any], y: NDArray[Any] | float = 1.0) -> NDArray[Any]:
    """Return -log E[(1 - y)^size] / r at tau, float64[m], of a chain from 0 cores that is never absorbed.

    y has Re y >= 0 and is broadcast with tau; y = 1 gives the probability of no core at all.
    """
    x, u = np.exp(-tau), -np.expm1(-tau)
    # (exp(-sigma y x) - exp(-sigma y)) / sigma without cancellation
    sizes = np.exp(-sigma * y * x) * -np.expm1(-sigma * y * u) / sigma if sigma > 0 else y * u
    return np.asarray(ein(sigma * np.atleast_1d(y)) - ein(sigma * y * x) + sizes)


@dataclass(frozen=True)
class Absorption:
    """The first visit to 0 from C cores, for n pairs (r, sigma), at tau = 0, h, 2 h, ..."""

    time_step: float  # h
    size: int  # C
    r: NDArray[np.float64]
    sigma: NDArray[np.float64]
    absorbed: NDArray[np.float64]  # [n, m + 1]: A(tau), the probability that there was a time with 0 cores
    # integrals of A(s) exp(-(tau - s)) and of A(s) exp(-2 (tau - s)) over s in [0, tau], [n, m + 1]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def first_visits(r: NDArray[np.float64], sigma: NDArray[np.float64], size: int, until: float, steps: int) -> Absorption:
    """Solve the renewal equation for r, sigma float64[n] from C = `size` cores to tau = `until` in m = `steps` steps.

    O(n m^2). With A linear between nodes, the integral of p(tau - s) dA(s) is a sum of slopes times integrals of p over
    cells, which Gauss's rule takes to all digits; the equation is then solved node by node. The error is of second
    order in the step, so four thirds of the solution with 2 m steps less a third of that with m steps is far nearer
    (Richardson's extrapolation).
    """
    rough, fine = (_absorption(r, sigma, size, until, m) for m in (steps, 2 * steps))
    better = ((4 * b[:, ::2] - a) / 3 for a, b in zip(rough[1:], fine[1:], strict=True))
    return Absorption(rough[0], size, np.asarray(r, float), np.asarray(sigma, float), *better)


def _absorption(
    r: NDArray[np.float64], sigma: NDArray[np.float64], size: int, until: float, steps: int
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The step, A and its two decayed integrals, with one step."""
    h = until / steps
    tau = h * np.arange(steps + 1)
    rates = np.asarray(r, float)
    solved = np.zeros((len(r), steps + 1))
    for one in np.unique(sigma):  # p depends on r by a power alone
        rows = np.flatnonzero((sigma == one) & (rates < FAST))
        solved[rows] = _visited(rates[rows], one, size, until, steps)
        fast = np.flatnonzero((sigma == one) & (rates >= FAST) & (rates < NEVER))
        # on grids of their own, of the same number of steps: the whole rise of A may be within one step of the other
        short = np.minimum(until, SHORT / rates[fast])
        for row, end, values in zip(fast, short, _visited(rates[fast], one, size, short, steps), strict=True):
            solved[row] = np.interp(tau, end / steps * np.arange(steps + 1), values)
    return h, solved, _decayed(solved, h, 1.0), _decayed(solved, h, 2.0)


def _visited(
    r: NDArray[np.float64], sigma: float, size: int, until: float | NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """A at 0, h, ..., `until` for rates r of one sigma, float64[n, m + 1]; `until` for all of them, or float64[n]."""
    h = np.asarray(until)[..., None] / steps
    tau = h * np.arange(steps + 1)
    x, w = GAUSS
    inner = (tau[..., :-1, None] + h[..., None] * (1 + x) / 2).reshape(*tau.shape[:-1], steps * len(x))
    with np.errstate(divide="ignore"):
        old_gone = size * np.log(-np.expm1(-tau))
    rate = -r[:, None]
    cells = np.exp(rate * log_generating(sigma, inner)).reshape(len(r), steps, len(x)) @ (w / 2)
    return np.asarray(_solved(cells, np.exp(old_gone + rate * log_generating(sigma, tau))))


@kernel
def _solved(cells: NDArray[np.float64], goal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve sum_j (A_j - A_(j-1)) c_(i-j) = goal_i for A, row by row; c_k is the mean of p over cell k.

    Each rise of A is added to all sums that it is part of, which the processor does several at a time.
    """
    n, m = cells.shape
    convolved = np.zeros((n, m + 1))
    for row in range(n):
        first, later = cells[row, 0], cells[row, 1:]
        total = np.zeros(m + 1)
        for i in range(1, m + 1):
            rise = (goal[row, i] - total[i]) / first
            convolved[row, i] = convolved[row, i - 1] + rise
            after = total[i + 1 :]
            for k in range(after.size):
                after[k] += rise * later[k]
    return convolved


def _decayed(values: NDArray[np.float64], h: float, rate: float) -> NDArray[np.float64]:
    """Integrals of a piecewise linear function times exp(-rate (tau - s)), by a recursion."""
    x = rate * h
    keep = np.exp(-x)
    # integral over one cell of ((1 - v) left + v right) exp(-x (1 - v)) h dv
    from_right = h * (1 / x - (1 - keep) / x**2) if x > 1e-4 else h * (0.5 - x / 6)
    from_left = h * (1 - keep) / x - from_right
    return _followed(values, keep, from_left, from_right)


@kernel
def _followed(values: NDArray[np.float64], keep: float, left: float, right: float) -> NDArray[np.float64]:
    """The recursion of `_decayed`, row by row."""
    decayed = np.zeros_like(values)
    for row in range(len(values)):
        for i in range(1, values.shape[1]):
            decayed[row, i] = keep * decayed[row, i - 1] + left * values[row, i - 1] + right * values[row, i]
    return decayed


@dataclass(frozen=True)
class ExactMoments:
    """Exact moments of the size Q at one time, with absorption at 0.

    Attributes
    ----------
    alive, mean, variance : float
        Pr[Q > 0], E[Q] and Var[Q].
    error : float
        What a coarser quadrature differs by, the largest of alive, mean / (1 + mean) and second moment likewise.
    """

    alive: float
    mean: float
    variance: float
    error: float


def exact_moments(priors: Priors, size: int, t: float, work: int = FINE) -> ExactMoments:
    """Return the exact moments of Q under Gamma laws; the error is that of quadrature, and stated.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0.
    t : float
        Hours ahead.
    work : int
        Products of the finer quadrature; the coarser one takes a quarter of them.

    Examples
    --------
    >>> priors = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
    >>> found = exact_moments(priors, 4, 1.7)
    >>> round(found.mean, 5), round(found.variance, 4), round(found.alive, 6), found.error < 1e-5
    (0.94419, 3.0572, 0.367544, True)
    """
    if t == 0:
        return ExactMoments(1.0, float(size), 0.0, 0.0)
    fine = _mixed(priors, size, t, work, density=2.5)
    coarse = _mixed(priors, size, t, work // 4, density=1.9)
    error = float(np.max(np.abs(fine - coarse) / (1 + fine * [0, 1, 1])))
    alive, mean, second = (float(x) for x in fine)
    return ExactMoments(alive, mean, second - mean**2, error)


def log_nodes(law: Gamma, density: float, least: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes equally spaced in the logarithm, and their weights for a Gamma law, float64[n] each.

    `density` is the number of nodes in a factor of e (more where the law is narrow). The probability left out at the
    lower end is given to the lowest node; below `least` what is averaged must be nearly constant.
    """
    from scipy.special import gammainc, gammainccinv, gammaincinv

    low = float(gammaincinv(law.shape, 1e-13))
    low = max(low / law.rate, least, 1e-290)
    high = float(gammainccinv(law.shape, 1e-15)) / law.rate
    if high <= low:  # the whole law is where nothing changes any more
        low = high / np.e
    width = min(1.0, law.shape**-0.5 * 1.5)
    count = int(np.ceil(np.log(high / low) * density / width)) + 1
    s = np.linspace(np.log(low), np.log(high), count)
    if not s[0] < s[1]:
        raise TooLargeError("deployments", f"a Gamma law of shape {law.shape:g} is too narrow for floats")
    raw = law.shape * s - law.rate * np.exp(s)
    weight = np.exp(raw - raw.max())
    below = float(gammainc(law.shape, law.rate * np.exp(s[0] - (s[1] - s[0]) / 2)))
    weight = weight / weight.sum() * (1 - below)
    weight[0] += below
    return np.exp(s), weight


def mu_nodes(priors: Priors, size: int, t: float, density: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes of mu and their weights, float64[n] each, for the size at time t.

    A deployment so slow that in the time ahead it has less than 1e-9 ended cores, and asks for less than 1e-9, stays as
    it is: where scale-outs are rare for small mu (kappa > 0), all of these are one node.
    """
    least = 0.0
    if priors.kappa > 0:
        asks = np.log(1e-9 / (t * priors.lam.mean * mean_size(priors))) / priors.kappa
        log_least = min(float(np.log(1e-9 / (t * size))), float(asks)) / np.log(10)
        least = 10.0 ** max(-290.0, 3 * np.floor(log_least / 3))  # one of few, so that solved tables serve many times
    return log_nodes(priors.mu, 4 * density, least)


def mean_size(priors: Priors) -> float:
    """Return the mean size of a scale-out."""
    return 1 + priors.sigma.mean


def gamma_grid(law: Gamma, density: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights for the mean of a scale-out's size minus 1, which matters little below 1e-8."""
    return log_nodes(law, density, least=1e-8)


def r_nodes(
    priors: Priors, mu: NDArray[np.float64], mu_weight: NDArray[np.float64], density: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes of r = lambda mu^(kappa - 1), float64[n], and their weights for each mu, float64[len(mu), n].

    All mu share the nodes, equally spaced in the logarithm; each row of weights has sum 1.
    """
    lam, _ = log_nodes(priors.lam, density, least=1e-9 / mean_size(priors))
    power = priors.kappa - 1
    drift = np.log(mu[mu_weight > 1e-16]) * power
    low, high = np.log(lam[0]) + drift.min(), np.log(lam[-1]) + drift.max()
    count = int(np.ceil((high - low) / np.log(lam[1] / lam[0]))) + 1
    if count * len(mu) > MOST_PAIRS or max(-low, high) > 700:
        raise TooLargeError(
            "deployments",
            f"{count:,} values of lambda mu^(kappa - 1) and {len(mu):,} of mu for one law, expected at "
            f"most {MOST_PAIRS:,} pairs and values in the range of floats: mu or lambda has too small a shape, or "
            f"kappa is too far from 1",
        )
    log_r = np.linspace(low, high, count)
    log_lam = log_r[None, :] - power * np.log(mu)[:, None]
    raw = priors.lam.shape * log_lam - priors.lam.rate * np.exp(np.minimum(log_lam, 700.0))
    weight = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.exp(log_r), weight / weight.sum(axis=1, keepdims=True)


def _mixed(priors: Priors, size: int, t: float, work: int, density: float) -> NDArray[np.float64]:
    """Pr[Q > 0], E[Q] and E[Q^2], float64[3], by one rule.

    All mu share the nodes of r = lambda mu^(kappa - 1), equally spaced in log r, so that the renewal equation is solved
    once for each (r, sigma).
    """
    mu, mu_weight = mu_nodes(priors, size, t, density)
    sigma, sigma_weight = gamma_grid(priors.sigma, density)
    r, r_weight = r_nodes(priors, mu, mu_weight, density)
    running = replace(priors, delta=0.0, initial=InitialSize())  # what the first visits depend on
    table = _visits_on_grid(running, size, float(min(RANGE, t * mu[-1])), work, density, tuple(r.tolist()))
    tau = mu * t
    weight = r_weight.T * (mu_weight * np.exp(-priors.delta * tau))  # float64[r, mu]
    total = np.zeros(3)
    for s, share in enumerate(sigma_weight):  # one sigma at a time: all pairs times all mu may be gigabytes
        total += share * np.einsum("qrm,rm->q", _sizes_given(_rows(table, slice(s, None, len(sigma))), tau), weight)
    return total


def _rows(table: Absorption, rows: slice) -> Absorption:
    """Some of the pairs of a table."""
    parts = (table.r, table.sigma, table.absorbed, table.first, table.second)
    return Absorption(table.time_step, table.size, *(part[rows] for part in parts))


@lru_cache(maxsize=2)  # a fine one and a coarse one: all times that are far ahead ask for the same
def _visits_on_grid(
    priors: Priors, size: int, until: float, work: int, density: float, r: tuple[float, ...]
) -> Absorption:
    """The first visits at all pairs of nodes (r, sigma), sigma fastest; the time ahead is in `until` and r alone."""
    sigma, _ = gamma_grid(priors.sigma, density)
    grid_r, grid_sigma = (a.ravel() for a in np.meshgrid(r, sigma, indexing="ij"))
    steps = int(np.clip((work / (2.5 * len(grid_r))) ** 0.5, 100, 2000))
    return first_visits(grid_r, grid_sigma, size, until, steps)


def _sizes_given(table: Absorption, tau: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of being alive, E[Q] and E[Q^2] without shutdowns, float64[3, n, len(tau)]."""
    r, s1 = table.r[:, None], 1 + table.sigma[:, None]
    s2 = table.sigma[:, None] ** 2 + 2 * table.sigma[:, None]
    absorbed, first, second = (
        interpolated(table, a, k, tau) for k, a in enumerate((table.absorbed, table.first, table.second))
    )
    u = -np.expm1(-tau)[None, :]
    w, size = 1 - u, table.size
    new = r * s1 * u
    mean = size * w + new - r * s1 * first
    # E[(O + N)^2] of the chain that is never absorbed, from C and (in the last two terms) from 0
    chain = size * w * u + (size * w) ** 2 + 2 * size * w * new + new + r * s2 * u * (2 - u) / 2 + new**2
    restarts = (r * s1 + 2 * (r * s1) ** 2) * first + (r * s2 - 2 * (r * s1) ** 2) * second
    return np.stack([1 - absorbed, mean, chain - restarts])


def interpolated(
    table: Absorption, values: NDArray[np.float64], rate: int, tau: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values at tau, by cubic interpolation, continued by an exponential approach to the limit: 1, or 1 / rate."""
    h, m = table.time_step, values.shape[1] - 1
    at, weights = cubic_weights(np.minimum(tau, m * h) / h, m + 1)
    interpolated_values = np.zeros((len(values), len(tau)))
    for k in range(4):
        interpolated_values += values[:, at + k] * weights[k]
    beyond = np.maximum(tau - m * h, 0.0)
    if beyond.max(initial=0.0) > 1e-9 * m * h:
        limit = 1.0 / max(rate, 1)
        back = round(1.0 / h)
        last = np.maximum(limit - values[:, m], 0.0)
        before = np.maximum(limit - values[:, m - back], 1e-300)
        decay = np.clip(-np.log(np.clip(last / before, 1e-300, 1.0)) / (back * h), 0.0, 700.0)
        tail = limit - last[:, None] * np.exp(-decay[:, None] * beyond[None, :])
        interpolated_values = np.where(beyond[None, :] > 0, tail, interpolated_values)
    return np.asarray(interpolated_values)


def cubic_weights(x: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each point x the first of the four of the nodes 0, ..., count - 1 around it, and Lagrange's weights.

    These are int64[T] and float64[4, T].
    """
    first = np.clip(x.astype(np.int64) - 1, 0, count - 4)
    x = x - first
    weights = [np.prod([(x - j) / (k - j) for j in range(4) if j != k], axis=0) for k in range(4)]
    return first, np.array(weights)
