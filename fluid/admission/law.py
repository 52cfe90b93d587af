"""The exact law of a deployment's size Q at a time, with absorption at 0, by uniformisation.

Given mu, lambda and sigma, and in units of core lifetimes, the size is a Markov chain: from n cores to n - 1 at rate n,
to n + S at rate r = lambda mu^(kappa - 1), S = 1 + Poisson(sigma), and to 0 at rate delta; 0 is absorbing. The chain
is cut at a largest size N: what would go beyond is added to a state of its own, whose probability, with that of the
steps of uniformisation left out, bounds the error from above. Shutdowns are independent of the rest, a factor
exp(-delta tau).

Mixed over priors, the time mu t is random too. For one pair (r, sigma) the weights of all mu act on the same steps of
uniformisation, so one pass gives the mixture; sigma and r have rules of nodes, and a coarser rule beside the finer one
states the error of quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.absorption import gamma_grid, log_nodes, r_nodes
from fluid.admission.model import Kind, Priors
from theory.errors import TooLargeError
from theory.jit import kernel

WORK = 3e10
"""Products beyond which a law is refused."""


@dataclass(frozen=True)
class SizeLaw:
    """The law of the size Q at one time.

    Attributes
    ----------
    probability : float64[N + 1]
        Of 0, 1, ..., N cores; sums to at least 1 - `left_out`.
    left_out : float
        Bound on the probability that is missing: beyond N, and in steps of uniformisation left out.
    error : float
        What a coarser quadrature over priors differs by, the largest of all probabilities Pr[Q >= n]; 0 where the
        parameters are given.
    """

    probability: NDArray[np.float64]
    left_out: float
    error: float = 0.0

    @property
    def zero(self) -> float:
        """Pr[Q = 0]."""
        return float(self.probability[0])

    @property
    def mean(self) -> float:
        """E[Q]."""
        return float(self.probability @ np.arange(len(self.probability)))

    @property
    def variance(self) -> float:
        """Var[Q]."""
        return float(self.probability @ (np.arange(len(self.probability)) - self.mean) ** 2)

    @property
    def tails(self) -> NDArray[np.float64]:
        """Pr[Q >= n] for n = 0, ..., N, float64[N + 1]."""
        return np.cumsum(self.probability[::-1])[::-1]

    def quantile(self, level: float) -> int:
        """Return the least n with Pr[Q <= n] of at least `level`."""
        return int(np.searchsorted(np.cumsum(self.probability), level - 1e-15))


def batch_law(sigma: float, most: int, negligible: float = 1e-16) -> tuple[int, NDArray[np.float64]]:
    """Return the least size of a scale-out that is kept, and the probabilities of 1 + Poisson(sigma) from there on."""
    from scipy.special import gammaln

    n = np.arange(most + 1)
    with np.errstate(divide="ignore"):
        p = np.exp(n * np.log(sigma) - sigma - gammaln(n + 1)) if sigma > 0 else (n == 0).astype(float)
    kept = np.flatnonzero(p > negligible)
    if len(kept) == 0:
        return 1, np.zeros(1)
    return int(kept[0]) + 1, np.asarray(p[kept[0] : kept[-1] + 1])


@kernel
def _steps(
    start: NDArray[np.float64],
    rate: float,
    scale_out: float,
    least: int,
    batch: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sum over k of ``weight[k]`` times the law after k steps; the last entry is the state beyond."""
    n = len(start) - 1
    now, after = start.copy(), np.zeros(n + 1)
    made = np.zeros(n + 1)
    top = n - 1
    while top > 0 and now[top] == 0.0:
        top -= 1
    for k in range(len(weight)):
        if weight[k] != 0.0:
            for i in range(n + 1):
                made[i] += weight[k] * now[i]
        reach = min(n - 1, top + least + len(batch) - 1)
        after[: reach + 1] = 0.0
        after[0] = now[0]
        beyond = now[n]
        for i in range(1, top + 1):
            p = now[i]
            if p < 1e-300:
                continue
            after[i] += p * (1.0 - (i + scale_out) / rate)
            after[i - 1] += p * (i / rate)
            q = p * (scale_out / rate)
            last = min(len(batch), n - i - least)
            inside = 0.0
            for j in range(last):
                after[i + least + j] += q * batch[j]
                inside += batch[j]
            beyond += q * (1.0 - inside)
        after[n] = beyond
        top = reach
        while top > 0 and after[top] < 1e-25:  # what is dropped here is missing from the sum, and so bounded
            after[top] = 0.0
            top -= 1
        now, after = after, now
    return made


def _poisson_weights(means: NDArray[np.float64], shares: NDArray[np.float64], allowance: float) -> NDArray[np.float64]:
    """Return the mixture of Poisson laws with these means and shares, without a tail of at most the allowance."""
    from scipy.special import gammaln

    order = np.argsort(means)
    means, shares = means[order], shares[order]
    beyond = np.cumsum(shares[::-1])[::-1]
    means, shares = means[beyond > allowance / 2], shares[beyond > allowance / 2]
    upper = int(means[-1] + 12 * means[-1] ** 0.5 + 60) if len(means) else 0
    made = np.zeros(upper + 1)
    for mean, share in zip(means, shares, strict=True):
        low = max(0, int(mean - 9 * mean**0.5 - 40))
        high = min(upper, int(mean + 12 * mean**0.5 + 60))
        part = np.arange(low, high + 1)
        made[low : high + 1] += share * np.exp(part * np.log(mean) - mean - gammaln(part + 1))
    tail = np.cumsum(made[::-1])[::-1]
    return made[tail > allowance / 2]


def given_law(
    mu: float,
    scale_out_rate: float,
    shutdown_rate: float,
    sizes: tuple[int, NDArray[np.float64]],
    size: int,
    t: float,
    *,
    most: int | None = None,
    tolerance: float = 1e-12,
) -> SizeLaw:
    """Return the law of Q where the parameters are known.

    Parameters
    ----------
    mu, scale_out_rate, shutdown_rate : float
    sizes : (int, float64[B])
        Least size of a scale-out and the probabilities from there on (`batch_law`).
    size : int
        Cores now.
    t : float
        Hours ahead.
    most : int, optional
        N; unless given, doubled until less than the tolerance lies beyond.
    tolerance : float

    Raises
    ------
    TooLargeError
        Beyond `WORK` products.

    Examples
    --------
    A deployment that never grows is a binomial law.

    >>> law = given_law(1.0, 0.0, 0.0, (1, np.ones(1)), 2, 0.5)
    >>> bool(abs(law.mean - 2 * np.exp(-0.5)) < 1e-12), law.left_out < 1e-12
    (True, True)
    """
    if t == 0:
        return SizeLaw(np.eye(size + 1)[size], 0.0)
    least, batch = sizes
    r = scale_out_rate / mu
    largest = least + len(batch)
    n = most if most is not None else size + 4 * largest + 16
    while True:
        survive = float(np.exp(-shutdown_rate * t))
        made, left = _mixed_pass(r, least, batch, size, n, np.array([mu * t]), np.ones(1), tolerance / 4)
        if most is not None or left <= tolerance or r == 0:
            break
        n *= 2
    probability = made * survive
    probability[0] += 1 - survive
    return SizeLaw(probability, left * survive)


def _mixed_pass(
    r: float,
    least: int,
    batch: NDArray[np.float64],
    size: int,
    n: int,
    tau: NDArray[np.float64],
    shares: NDArray[np.float64],
    tolerance: float,
) -> tuple[NDArray[np.float64], float]:
    """Return the mixture over tau of the laws of 0 ... n, and the probability that is not in it."""
    rate = float(n + r)
    weight = _poisson_weights(rate * tau, shares, tolerance)
    work = len(weight) * n * (3.0 + len(batch))
    if work > WORK:
        raise TooLargeError(
            f"--at: about {work:.1e} products for one law, expected at most {WORK:.0e}: ask for an earlier time"
        )
    start = np.zeros(n + 2)
    start[size] = 1.0
    made = _steps(start, rate, r, least, batch, weight)
    return made[:-1], float(max(0.0, shares.sum() - made[:-1].sum()))


def kind_law(kind: Kind, size: int, t: float) -> SizeLaw:
    """Return the law of the size of a deployment of a known kind that has `size` cores now."""
    return given_law(kind.mu, kind.scale_out_rate, kind.shutdown_rate, (kind.batch, np.ones(1)), size, t)


def parameters_law(priors: Priors, mu: float, lam: float, sigma: float, size: int, t: float) -> SizeLaw:
    """Return the law of Q for given mu, lambda and sigma, with kappa and delta of the priors."""
    batch = batch_law(sigma, int(sigma + 12 * sigma**0.5 + 40))
    return given_law(mu, lam * mu**priors.kappa, priors.delta * mu, batch, size, t)


def mixed_law(priors: Priors, size: int, t: float, *, tolerance: float = 1e-6, density: float = 1.5) -> SizeLaw:
    """Return the law of Q mixed over Gamma laws of the parameters.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0.
    t : float
        Hours ahead.
    tolerance : float
        Bound on the probability left out by uniformisation and by the cut at N.
    density : float
        Nodes of log r and log sigma in a factor of e; the coarser rule beside it has three quarters.
    """
    if t == 0:
        return SizeLaw(np.eye(size + 1)[size], 0.0)
    fine = _mixture(priors, size, t, tolerance, density)
    coarse = _mixture(priors, size, t, tolerance, density * 0.75)
    length = max(len(fine[0]), len(coarse[0]))
    a, b = (np.pad(p, (0, length - len(p))) for p in (fine[0], coarse[0]))
    error = float(np.abs(np.cumsum(a - b)).max())
    return SizeLaw(np.trim_zeros(fine[0], "b"), fine[1], error)


def _mixture(
    priors: Priors, size: int, t: float, tolerance: float, density: float
) -> tuple[NDArray[np.float64], float]:
    """The mixed law with one rule, and what it leaves out."""
    mu, mu_weight = log_nodes(priors.mu, 4 * density)
    sigma, sigma_weight = gamma_grid(priors.sigma, density)
    r, r_weight = r_nodes(priors, mu, mu_weight, density)
    tau, survive = mu * t, np.exp(-priors.delta * mu * t)
    total = np.zeros(size + 1)
    shutdown = float(mu_weight @ (1 - survive))
    mass = np.einsum("mr,m,s->sr", r_weight, mu_weight * survive, sigma_weight)
    ascending = np.sort(mass, axis=None)
    # pairs (sigma, r) of the least mass are left out, as long as all of them weigh less than half the tolerance
    least_mass = float(ascending[min(int(np.searchsorted(np.cumsum(ascending), tolerance / 2)), mass.size - 1)])
    allowance = tolerance / 4 / max(1, int((mass >= least_mass).sum()))
    passes = []
    work = 0.0
    for k, one in enumerate(sigma):
        least, batch = batch_law(float(one), int(one + 12 * one**0.5 + 40), 1e-10)
        for i in np.flatnonzero(mass[k] >= least_mass):
            shares = r_weight[:, i] * mu_weight * survive * sigma_weight[k]
            deviations = 1.0 + (2 * np.log(max(2.0, float(mass[k, i]) / allowance))) ** 0.5
            longest = float(tau[np.searchsorted(np.cumsum(shares), shares.sum() - allowance)])
            n = _cut(float(r[i]), float(one), size, longest, float(deviations))
            work += float((n + r[i]) * longest * n * (3.0 + len(batch)))
            passes.append((float(r[i]), least, batch, size, n, tau, shares, allowance))
    if work > WORK:
        raise TooLargeError(
            f"--at: about {work:.0e} products for the law under these priors, expected at most {WORK:.0e}: "
            "ask for an earlier time, or give the parameters (--given); moments has no such limit"
        )
    for one_pass in passes:
        made, _ = _mixed_pass(*one_pass)
        if len(made) > len(total):
            total = np.pad(total, (0, len(made) - len(total)))
        total[: len(made)] += made
    total[0] += shutdown
    return total, max(0.0, 1.0 - float(total.sum()))


def _cut(r: float, sigma: float, size: int, tau: float, deviations: float) -> int:
    """Return a size that is seldom passed up to tau, from mean and deviation of the chain that is never absorbed."""
    u = -np.expm1(-tau)
    mean = size + r * (1 + sigma) * u
    variance = size + r * (1 + sigma) * u + r * (sigma**2 + 2 * sigma) * u
    return int(mean + deviations * variance**0.5 + (1 + deviations) * (1 + sigma) + 8)
