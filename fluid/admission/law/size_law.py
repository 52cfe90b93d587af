"""The exact law of a deployment's size Q at a time, with absorption at 0, by uniformisation.

Given mu, lambda and sigma, and in units of core lifetimes, the size is a Markov chain: from n cores to n - 1 at rate n,
to n + S at rate r = lambda mu^(kappa - 1), S = 1 + Poisson(sigma), and to 0 at rate delta; 0 is absorbing. The chain
is cut at a largest size N: what would go beyond is added to a state of its own, whose probability, with that of the
steps of uniformisation left out, bounds the error from above. Shutdowns are independent of the rest, a factor
exp(-delta tau). `fluid.admission.law.mixture` has the law mixed over priors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import Kind, Priors
from theory.compiled import kernel
from theory.errors import ArgumentTooLargeError

WORK = 5e9
"""Products beyond which a law is refused: tens of seconds."""

TOLERANCE = 1e-12
"""Probability that a law may leave out."""

ROUNDING = 1e-6
"""What rounding may add up to within `WORK`; if more is left out, N is too small."""


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


def batch_law(sigma: float, most: int) -> tuple[int, NDArray[np.float64]]:
    """Return the least size of a scale-out that is kept, and the probabilities of 1 + Poisson(sigma) from there on."""
    from scipy.special import gammaln

    n = np.arange(most + 1)
    with np.errstate(divide="ignore"):
        p = np.exp(n * np.log(sigma) - sigma - gammaln(n + 1)) if sigma > 0 else (n == 0).astype(float)
    kept = np.flatnonzero(p > 1e-16)
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
    law = np.zeros(n + 1)
    top = n - 1
    while top > 0 and now[top] == 0.0:
        top -= 1
    for k in range(len(weight)):
        if weight[k] != 0.0:
            for i in range(n + 1):
                law[i] += weight[k] * now[i]
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
    return law


def _poisson_weights(mean: float) -> NDArray[np.float64]:
    """Return Poisson probabilities of 0, 1, ..., without a tail of at most a quarter of the tolerance."""
    from scipy.special import gammaln

    steps = np.arange(int(mean + 12 * mean**0.5 + 60))
    weights = np.exp(steps * np.log(mean) - mean - gammaln(steps + 1))
    return np.asarray(weights[np.cumsum(weights[::-1])[::-1] > TOLERANCE / 4])


def given_law(
    mu: float,
    scale_out_rate: float,
    shutdown_rate: float,
    sizes: tuple[int, NDArray[np.float64]],
    size: int,
    t: float,
) -> SizeLaw:
    """Return the law of Q where the parameters are known; `sizes` as `batch_law` gives them, `t` in hours.

    N is doubled until at most `TOLERANCE` is left out, or rounding, more than half of what was before. TooLargeError
    beyond `WORK` products.

    >>> law = given_law(1.0, 0.0, 0.0, (1, np.ones(1)), 2, 0.5)  # without growth the law is binomial
    >>> bool(abs(law.mean - 2 * np.exp(-0.5)) < 1e-12), law.left_out < 1e-12
    (True, True)
    """
    if t == 0:
        return SizeLaw(np.eye(size + 1)[size], 0.0)
    least, batch = sizes
    r = scale_out_rate / mu
    largest = least + len(batch)
    n = size + 4 * largest + 16
    before = np.inf
    while True:
        running, left_out = _passed(r, least, batch, size, n, mu * t)
        # a larger N does not lessen what rounding adds up to over many steps: left_out states it
        is_rounding = before / 2 < left_out < ROUNDING
        if left_out <= TOLERANCE or r == 0 or is_rounding:
            break
        n, before = 2 * n, left_out
    survive = float(np.exp(-shutdown_rate * t))
    probability = running * survive
    probability[0] += 1 - survive
    return SizeLaw(probability, left_out * survive)


def _passed(
    r: float, least: int, batch: NDArray[np.float64], size: int, n: int, tau: float
) -> tuple[NDArray[np.float64], float]:
    """Return the law of 0 ... n after tau core lifetimes, and the probability that is not in it."""
    rate = float(n + r)  # at which uniformisation steps: the greatest rate at which a state is left
    weight = _poisson_weights(rate * tau)
    work = len(weight) * n * (3.0 + len(batch))
    if work > WORK:
        raise ArgumentTooLargeError(
            "at", f"about {work:.1e} products for one law, expected at most {WORK:.0e}: ask for an earlier time"
        )
    start = np.zeros(n + 2)
    start[size] = 1.0
    law = _steps(start, rate, r, least, batch, weight)
    return law[:-1], float(max(0.0, 1.0 - law[:-1].sum()))


def kind_law(kind: Kind, size: int, t: float) -> SizeLaw:
    """Return the law of the size of a deployment of a known kind that has `size` cores now."""
    return given_law(kind.mu, kind.scale_out_rate, kind.shutdown_rate, (kind.batch, np.ones(1)), size, t)


def parameters_law(priors: Priors, mu: float, lam: float, sigma: float, size: int, t: float) -> SizeLaw:
    """Return the law of Q for given mu, lambda and sigma, with kappa and delta of the priors."""
    batch = batch_law(sigma, int(sigma + 12 * sigma**0.5 + 40))
    return given_law(mu, lam * mu**priors.kappa, priors.delta * mu, batch, size, t)
