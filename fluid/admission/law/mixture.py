"""The law of a deployment's size mixed over Gamma laws, at any time: by generating functions, not step by step.

In units of core lifetimes (tau = mu t), a chain that is never absorbed at 0 has, from 0 cores, the generating function

    G_0(z, tau) = exp(-r [Ein(sigma y) - Ein(sigma y x) + (exp(-sigma y x) - exp(-sigma y)) / sigma]),
    y = 1 - z,  x = exp(-tau),

and from C cores G_C = (1 - x y)^C G_0. What has visited 0 by tau restarted from there (the law A of that visit is in
`fluid.admission.law.absorption`), so the cores of deployments that are alive have the generating function

    F(z, tau) = G_C(z, tau) - integral over s in [0, tau] of G_0(z, tau - s) dA(s).

Beyond `RANGE` lifetimes the initial cores are gone, and F falls as 1 - A does: the chain is in its quasi-stationary
law. So the cost does not grow with the time, unlike that of uniformisation. Averages over mu become weights on nodes of
tau, and nodes of a piecewise Chebyshev interpolation carry the integral; one inverse Fourier transform on a circle of a
radius below 1 gives the law. A second, coarser rule in all of these beside it states the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.absorption import (
    RANGE,
    Absorption,
    cubic_weights,
    first_visits,
    gamma_grid,
    interpolated,
    log_generating,
    mu_nodes,
    r_nodes,
)
from fluid.admission.law.cluster import Priors
from fluid.admission.law.size_law import SizeLaw
from theory.errors import TooLargeError

PANELS = 8
"""Panels of the interpolation in tau, each twice as long as the one before."""

DAMPED = 1e-5
"""What lies N beyond a size is added to it times this number, by the radius of the circle."""

LARGEST = 1 << 15
"""Most sizes of a law; what lies beyond is counted as left out."""

WORK = 1e9
"""Products of complex numbers beyond which a law is refused: a minute."""


@dataclass(frozen=True)
class Rule:
    """How finely priors, times and first visits are resolved."""

    density: float  # nodes of log r and log sigma in a factor of e
    steps: int  # of the first visits, a power of 2 of at least 2 ** PANELS
    degree: int  # nodes in a panel


FINE, COARSE = Rule(2.5, 512, 10), Rule(1.9, 256, 7)


def mixed_law(priors: Priors, size: int, t: float, *, tolerance: float = 1e-6) -> SizeLaw:
    """Return the law of Q mixed over Gamma laws of the parameters.

    Parameters
    ----------
    priors : Priors
    size : int
        C_0.
    t : float
        Hours ahead.
    tolerance : float
        Prior probability of the pairs (r, sigma) that are left out, and of sizes beyond the cut of each pair.

    Notes
    -----
    O(pairs x (steps + N x nodes)): seconds, at any time ahead. `error` of what is returned is what a coarser rule
    differs by.

    Examples
    --------
    >>> from fluid.admission.law.cluster import Gamma
    >>> law = mixed_law(Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2), 4, 1.7)
    >>> round(law.mean, 4), round(1 - law.zero, 4), law.error < 1e-4
    (0.9442, 0.3675, True)
    """
    if t == 0:
        return SizeLaw(np.eye(size + 1)[size], 0.0)
    fine, coarse = (_mixture(priors, size, t, tolerance, rule) for rule in (FINE, COARSE))
    length = max(len(fine), len(coarse))
    a, b = (np.pad(p, (0, length - len(p))) for p in (fine, coarse))
    error = float(np.abs(np.cumsum(a - b)).max())
    return SizeLaw(np.trim_zeros(fine, "b"), max(0.0, 1.0 - float(fine.sum())), error)


def _mixture(priors: Priors, size: int, t: float, tolerance: float, rule: Rule) -> NDArray[np.float64]:
    """The mixed law by one rule."""
    mu, mu_weight = mu_nodes(priors, size, t, rule.density)
    sigma, sigma_weight = gamma_grid(priors.sigma, rule.density)
    r, r_weight = r_nodes(priors, mu, mu_weight, rule.density)
    tau = mu * t
    alive = r_weight.T * (mu_weight * np.exp(-priors.delta * tau))  # float64[r, mu]
    mass = sigma_weight[:, None] * alive.sum(axis=1)
    ascending = np.sort(mass, axis=None)
    # pairs (sigma, r) of the least mass are left out, as long as all of them weigh less than half the tolerance
    least = float(ascending[min(int(np.searchsorted(np.cumsum(ascending), tolerance / 2)), mass.size - 1)])
    of_sigma, of_r = np.nonzero(mass >= least)
    deviations = (2 * np.log(np.maximum(2.0, mass[of_sigma, of_r] * len(of_r) / tolerance))) ** 0.5 + 1
    cuts = seldom_passed(r[of_r], sigma[of_sigma], size, deviations)
    lengths = 2 ** np.ceil(np.log2(np.minimum(LARGEST, cuts))).astype(int)
    work = float(lengths.sum()) / 2 * PANELS * rule.degree
    if work > WORK:
        raise TooLargeError(
            "deployments",
            f"about {work:.1e} products for one law, expected at most {WORK:.0e}: kappa is too far from 1 "
            "for these shapes, or deployments grow too large",
        )
    table = first_visits(r[of_r], sigma[of_sigma], size, float(min(RANGE, tau[-1])), rule.steps)
    nodes, first, second = _weights(table, tau, alive, of_r, rule.degree)
    first, second = (w * sigma_weight[of_sigma, None] for w in (first, second))
    total = _inverted(table, nodes, first, second, lengths)
    dead = 1 - float((mu_weight * np.exp(-priors.delta * tau)).sum())
    for row, (s, i) in enumerate(zip(of_sigma, of_r, strict=True)):
        dead += sigma_weight[s] * float(alive[i] @ interpolated(table, table.absorbed[row : row + 1], 0, tau)[0])
    total[0] = dead
    return np.maximum(total, 0.0)


def seldom_passed(
    r: NDArray[np.float64], sigma: NDArray[np.float64], size: int, deviations: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return sizes that are seldom passed, from mean and deviation of the chain that is never absorbed, float64[n]."""
    mean = size + r * (1 + sigma)
    variance = mean + r * (sigma**2 + 2 * sigma)
    return np.asarray(mean + deviations * variance**0.5 + (1 + deviations) * (1 + sigma) + 8)


def _weights(
    table: Absorption, tau: NDArray[np.float64], alive: NDArray[np.float64], of_r: NDArray[np.int64], degree: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Nodes of tau, float64[K], and by pair the weights of G_C and of G_0 at them, float64[n, K] each.

    With A linear between its nodes the integral is a sum of slopes times averages of G_0 over cells; its error is of
    second order in the step, so two steps are extrapolated to 0.
    """
    steps = table.absorbed.shape[1] - 1
    until = table.time_step * steps
    nodes, values = panels(until, degree)
    beyond = tau > until
    inside = np.where(beyond, until, tau)
    first = alive[:, ~beyond] @ values(inside[~beyond])
    # past the range, F falls as 1 - A: weights of times beyond are moved to its end
    remaining = np.maximum(1 - table.absorbed[:, -1], 1e-300)
    falls = (1 - interpolated(table, table.absorbed, 0, tau[beyond])) / remaining[:, None]
    end = np.einsum("nj,nj->n", alive[of_r][:, beyond], np.clip(falls, 0.0, 1.0))
    first = first[of_r] + end[:, None] * values(np.array([until]))
    results = []
    for stride in (1, 2):
        h, m = table.time_step * stride, steps // stride
        rise = np.diff(table.absorbed[:, ::stride], axis=1)
        on_grid = (alive[:, ~beyond] @ _on_grid(inside[~beyond], h, m))[of_r]
        on_grid[:, -1] += end
        # cell c of tau - s gets the mass at tau = i h times the rise of A in cell i - c
        spectrum = np.fft.rfft(on_grid[:, 1:], 2 * m) * np.conj(np.fft.rfft(rise, 2 * m))
        cells = np.fft.irfft(spectrum, 2 * m)[:, :m]
        x, w = np.polynomial.legendre.leggauss(3)
        inner = (h * (np.arange(m)[:, None] + (1 + x) / 2)).ravel()
        averages = np.einsum("cgk,g->ck", values(inner).reshape(m, len(x), len(nodes)), w / 2)
        results.append(cells @ averages)
    return nodes, first, (4 * results[0] - results[1]) / 3


def panels(
    until: float, degree: int
) -> tuple[NDArray[np.float64], Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """Return Chebyshev nodes on panels of [0, until], and the function of the values of their Lagrange polynomials."""
    edges = until * np.concatenate([[0.0], 2.0 ** np.arange(1 - PANELS, 1)])
    x = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
    nodes = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + x) / 2).ravel()
    barycentric = (-1.0) ** np.arange(degree) * np.sin(np.pi * (np.arange(degree) + 0.5) / degree)

    def values(points: NDArray[np.float64]) -> NDArray[np.float64]:
        panel = np.clip(np.searchsorted(edges, points, side="right") - 1, 0, PANELS - 1)
        at = 2 * (points - edges[panel]) / np.diff(edges)[panel] - 1
        away = at[:, None] - x
        away = np.where(np.abs(away) < 1e-14, 1e-14, away)
        local = barycentric / away
        local /= local.sum(axis=1, keepdims=True)
        basis = np.zeros((len(points), PANELS, degree))
        basis[np.arange(len(points)), panel] = local
        return basis.reshape(len(points), PANELS * degree)

    return nodes, values


def _on_grid(tau: NDArray[np.float64], h: float, m: int) -> NDArray[np.float64]:
    """Cubic interpolation from 0, h, ..., m h to tau as a matrix, float64[len(tau), m + 1]."""
    at, weights = cubic_weights(tau / h, m + 1)
    matrix = np.zeros((len(tau), m + 1))
    for k in range(4):
        matrix[np.arange(len(tau)), at + k] += weights[k]
    return matrix


def _inverted(
    table: Absorption,
    nodes: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    lengths: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Sum F over pairs and nodes, and return the law that it generates, by a Fourier transform for each length."""
    total = np.zeros(int(lengths.max()))
    for length in np.unique(lengths):
        radius = DAMPED ** (1 / length)
        y = 1 - radius * np.exp(2j * np.pi * np.arange(length // 2 + 1) / length)
        old = (1 - np.exp(-nodes)[:, None] * y) ** table.size
        sums = np.zeros(len(y), complex)
        rows = np.flatnonzero(lengths == length)
        for sigma in np.unique(table.sigma[rows]):
            exponent = log_generating(float(sigma), nodes[:, None], y)
            for row in rows[table.sigma[rows] == sigma]:
                empty = np.exp(-table.r[row] * exponent)
                sums += first[row] @ (empty * old) - second[row] @ empty
        law = np.fft.irfft(np.conj(sums), int(length))
        total[:length] += law * radius ** -np.arange(length)
    return total
