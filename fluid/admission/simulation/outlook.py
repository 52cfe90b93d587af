"""What the moment policies expect of every deployment at every horizon, kept up to date as events come.

The sums over deployments of mean and variance at H horizons are kept; a deployment's part is computed anew when it is
stale, so an arrival costs O(H) and one comparison for each active deployment. A part is stale if its belief may have
moved by more than a tolerance in total variation, or its size by more than that fraction. With elapsed time e since
the last look, C cores, rate r(mu) of scale-outs given mu, and x = (C + delta) e, survival multiplies the density by
w <= 1 with total variation at most sd(w) / (2 E[w]) <= (sd(mu) x + sd(r) e) / 2 exp(E[mu] x + E[r] e); a core's end
multiplies it by mu, which moves it by at most sd(mu) / (2 E[mu]).

Many times to look ahead, such as the 2,663 that the paper prints, are interpolated from knots of log t (cubic). Mean
and second moment of a part are mixtures of exp(-x t); as a function of s = log t each exp(-x e^s) has a fourth
derivative of at most 1.4, whatever x is, so between knots h apart it is off by at most 1.4 x 3/128 h^4, 3e-5 here.

A belief lives on nodes of log mu that are multiples of a fixed step (`fluid.admission.law.quadrature`). Horizons
that are whole steps apart then need values of exp(-mu t) from one table only.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.admission.choices import Moments
from fluid.admission.law.absorption import cubic_weights
from fluid.admission.law.cluster import AdmissionCluster, Priors
from fluid.admission.law.moments import composed_size, sizes_at, some_left
from fluid.admission.law.quadrature import FINE, Density, Grid, find_nodes, new_grid
from fluid.admission.law.thresholds import needed_over
from theory.compiled import routine, step

DEPTH = 12.0
"""Nodes of simulated beliefs are where the density of log mu is above exp(-12) of its largest value."""

EXACT, PLUG_IN, PAPER, LABELLED, HIDDEN = range(5)
"""What is believed of deployments. Under priors: exact belief and exact moments of M (O + N); plug-in belief and the
same moments; plug-in and composed moments. Of known kinds: which deployment is of which; or no more than the kinds."""

MOMENTS = tuple(name.value for name in Moments)
"""Names of the first three."""

REFRESHED, SINCE_SUMMED = range(2)
"""Entries of `Outlook.counts`: parts refreshed, and arrivals since the sums were last added up anew."""

KNOTS = 32
"""Steps of the table between knots: a factor of the fourth root of 2."""

LOWEST = -6000
"""Lowest index of the table: exp(-32)."""

HIGHEST = 5000
"""Highest: exp(27)."""


class Rule(NamedTuple):
    """What does not change in a run: times to look ahead, tables for them, and what is believed of deployments."""

    horizons: NDArray[np.float64]  # [H]: the times to look ahead, or the knots that they are interpolated from
    has_knots: bool
    at: NDArray[np.int64]  # [T]: with knots, the first of the four knots of each time to look ahead
    share: NDArray[np.float64]  # [4, T]: what each of the four counts
    is_tabled: bool
    offset: int  # with a table, the place of the first horizon in it, in steps
    # Of kinds, a row each: 1 - exp(-mu t) and exp(-r t) at all horizons t, with r the rate of shutdowns. Under priors
    # the table, if the horizons are an equal number N of whole steps apart: 1 - exp(-x) and exp(-delta x), log x one
    # step further from row to row and N from column to column, so that one node reads neighbouring entries.
    gone: NDArray[np.float64]
    shut: NDArray[np.float64]
    belief: int  # EXACT, PLUG_IN or PAPER under priors, LABELLED or HIDDEN kinds
    kappa: float
    delta: float
    # [K, 6]: probability, mu, rates of scale-outs and shutdowns, size of a scale-out, initial size
    kinds: NDArray[np.float64]
    tolerance: float
    capacity: float


class Outlook(NamedTuple):
    """The parts of S places for deployments, and their sums."""

    rule: Rule
    # [S + 1, H]: by place; the last row is that of the deployment that asks to enter
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    total_mean: NDArray[np.float64]  # [H]
    total_variance: NDArray[np.float64]
    counts: NDArray[np.int64]  # [2]
    grid: Grid  # nodes of one belief, in steps of the table
    weights: NDArray[np.float64]  # [K]: of kinds, in one belief
    sums: NDArray[np.float64]  # [8, H]: averages of the paper's constituents; `ahead` where there is no table
    # [3, T]: mean and variance of all cores, and mean of the arrival's, at the times to look ahead
    seen: NDArray[np.float64]


def aligned_horizons(first: float = 0.04, last: float = 26280.0, steps: int = 64) -> NDArray[np.float64]:
    """Return horizons whose logarithms are `steps` steps of the table apart (64: a factor of the root of 2)."""
    count = int(np.ceil(log(last / first) / (steps * FINE) - 1e-9)) + 1
    return np.asarray(first * np.exp(steps * FINE * np.arange(count)))


def knots_for(
    times: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return knots, float64[H], and for each time the first of four of them and what they count (cubic in log t)."""
    h = KNOTS * FINE
    knots = aligned_horizons(float(times[0]) * exp(-h), float(times[-1]) * exp(2 * h), KNOTS)
    return knots, *cubic_weights(np.log(times / knots[0]) / h, len(knots))


def new_outlook(
    cluster: AdmissionCluster,
    horizons: NDArray[np.float64],
    places: int,
    moments: str = "exact",
    tolerance: float = 0.02,
    labelled: bool = True,
    direct: bool = False,
    depth: float = DEPTH,
) -> Outlook:
    """Return an outlook of no deployments, with S = `places`.

    Where the horizons are whole steps of the table apart (`aligned_horizons`) there is a table, and where they are more
    than their knots, parts are kept at knots unless `direct`. A tolerance of 0 computes every part anew at every
    arrival; known kinds have exact moments whatever `moments` says.
    """
    times = np.asarray(horizons, float)
    rule = _rule(cluster, times, moments, tolerance, labelled, direct)
    H = len(rule.horizons)
    return Outlook(
        rule=rule,
        mean=np.zeros((places + 1, H)),
        variance=np.zeros((places + 1, H)),
        total_mean=np.zeros(H),
        total_variance=np.zeros(H),
        counts=np.zeros(2, np.int64),
        grid=new_grid(depth, finest=FINE),
        weights=np.zeros(len(rule.kinds)),
        sums=np.zeros((8, H)),
        seen=np.zeros((3, len(times))),
    )


def _rule(
    cluster: AdmissionCluster, times: NDArray[np.float64], moments: str, tolerance: float, labelled: bool, direct: bool
) -> Rule:
    """Return the rule of an outlook (`new_outlook`)."""
    horizons, at, share = knots_for(times)
    has_knots = not direct and len(times) > len(horizons)
    if not has_knots:
        horizons = times
    H = len(horizons)
    place = np.log(horizons) / FINE
    first, stride = int(np.floor(place[0])), max(1, round((place[-1] - place[0]) / max(1, H - 1)))
    is_aligned = bool(np.abs(place - place[0] - stride * np.arange(H)).max() < 1e-6)
    if isinstance(cluster.deployments, Priors):
        belief, is_tabled = MOMENTS.index(moments), is_aligned
        kappa, delta = float(cluster.deployments.kappa), float(cluster.deployments.delta)
        kinds = np.zeros((0, 6))
        gone = shut = np.zeros((0, H))
        if is_tabled:
            gone, shut = _table(float(place[0] - first), stride, H, delta)
    else:
        belief, is_tabled = LABELLED if labelled else HIDDEN, False
        kappa, delta = 1.0, 0.0
        kinds = np.array(
            [[k.probability, k.mu, k.scale_out_rate, k.shutdown_rate, k.batch, k.size] for k in cluster.deployments],
            float,
        )
        gone, shut = -np.expm1(-np.outer(kinds[:, 1], horizons)), np.exp(-np.outer(kinds[:, 3], horizons))
    return Rule(
        horizons, has_knots, at, share, is_tabled, first, gone, shut, belief, kappa, delta, kinds, float(tolerance),
        float(cluster.capacity),
    )  # fmt: skip


@lru_cache(maxsize=8)  # the runs of a study share it
def _table(rest: float, stride: int, width: int, delta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The table of `Rule` under priors: from LOWEST to HIGHEST, and `width` columns beyond on both sides."""
    columns = np.arange(-width, ceil((HIGHEST - LOWEST) / stride) + width)
    x = np.exp((LOWEST + stride * columns + np.arange(stride)[:, None] + rest) * FINE)
    return -np.expm1(-x), np.exp(-delta * x)


@step
def ahead(view: Outlook, j: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 1 - exp(-mu t) and exp(-delta mu t) of a node at all horizons t, float64[H] each."""
    H = len(view.rule.horizons)
    if view.rule.is_tabled:
        rows, columns = view.rule.gone.shape
        at = view.grid.places[j] + view.rule.offset - LOWEST
        row, first = at % rows, at // rows + H
        if 0 <= first <= columns - H:
            return view.rule.gone[row, first : first + H], view.rule.shut[row, first : first + H]
    mu = view.grid.nodes[0, j]
    gone, shut = view.sums[6], view.sums[7]
    for n in range(H):
        x = mu * view.rule.horizons[n]
        gone[n], shut[n] = 1.0 - exp(-x) if x > 1e-5 else x - 0.5 * x * x, exp(-view.rule.delta * x)
    return gone, shut


@step
def _add(
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    gone: NDArray[np.float64],
    shut: NDArray[np.float64],
    size: float,
    weight: float,
    k1: float,
    k2: float,
    k3: float,
) -> None:
    """Add first and second moments of M (O + N) at all horizons, of one rate mu with its weight."""
    for n in range(len(mean)):
        first, second = sizes_at(gone[n], shut[n], size, k1, k2, k3)
        mean[n] += weight * first
        variance[n] += weight * second


@step
def fill_joint(
    view: Outlook, row: int, count: int, size: float, shape: float, base: float, alive: float, s1: float, s2: float,
    s3: float,
) -> None:  # fmt: skip
    """Write mean and variance of M (O + N) at all horizons into a row, for the nodes that were found.

    lambda given mu is Gamma(shape, base + mu^kappa alive).
    """
    mean, variance = view.mean[row], view.variance[row]
    H = len(view.rule.horizons)
    for n in range(H):
        mean[n] = 0.0
        variance[n] = 0.0
    for j in range(count):
        mu, weight, mu_kappa = view.grid.nodes[0, j], view.grid.nodes[1, j], view.grid.nodes[2, j]
        rate = base + mu_kappa * alive
        # E[lambda | mu] = shape / rate and E[lambda^2 | mu] = shape (shape + 1) / rate^2
        ratio = mu_kappa / mu / rate
        k1 = shape * ratio * s1
        k2 = shape * ratio * s2
        k3 = shape * (shape + 1.0) * ratio * ratio * s3
        gone, shut = ahead(view, j)
        _add(mean, variance, gone, shut, size, weight, k1, k2, k3)
    for n in range(H):
        variance[n] = max(0.0, variance[n] - mean[n] * mean[n])


@step
def fill_paper(
    view: Outlook, row: int, count: int, size: float, lam: float, lam_square: float, s1: float, s2: float, s3: float
) -> None:
    """Write the composed moments of Propositions 4.3 and 4.5 at all horizons into a row."""
    H = len(view.rule.horizons)
    sums = view.sums
    sums[:, :] = 0.0
    power = 0.0
    power_square = 0.0
    for j in range(count):
        mu, weight, mu_kappa = view.grid.nodes[0, j], view.grid.nodes[1, j], view.grid.nodes[2, j]
        power += weight * mu_kappa
        power_square += weight * mu_kappa * mu_kappa
        grow = mu_kappa / mu
        gone, shut = ahead(view, j)
        for n in range(H):
            u, stays = gone[n], shut[n]
            sums[0, n] += weight * stays
            sums[1, n] += weight * u
            sums[2, n] += weight * u / mu
            sums[3, n] += weight * grow * u
            sums[4, n] += weight * grow / mu * u * u
            sums[5, n] += weight * grow * grow * u * u
    for n in range(H):
        t = view.rule.horizons[n]
        # probabilities that an old core, and one that started at a uniform time, is active
        b0, b1 = 1.0 - sums[1, n], sums[2, n] / t
        scale_outs = lam * t * power
        new = lam * s1 * sums[3, n]
        new_variance = new + lam * s2 * sums[4, n] / t + lam_square * s3 * sums[5, n] - new * new
        total = size * b0 + new
        total_variance = size * b0 * (1.0 - b0) + new_variance
        d = some_left(b0, b1, size, scale_outs * s1)
        view.mean[row, n], variance = composed_size(sums[0, n], d, total, total_variance)
        view.variance[row, n] = max(0.0, variance)


@step
def fill_kinds(view: Outlook, row: int, size: float, weights: NDArray[np.float64]) -> None:
    """Write mean and variance of M (O + N) into a row, for weights of the kinds."""
    mean, variance = view.mean[row], view.variance[row]
    H = len(view.rule.horizons)
    for n in range(H):
        mean[n] = 0.0
        variance[n] = 0.0
    for k in range(len(view.rule.kinds)):
        weight, mu, rate, s = weights[k], view.rule.kinds[k, 1], view.rule.kinds[k, 2], view.rule.kinds[k, 4]
        if weight == 0.0:
            continue
        k1 = rate / mu * s
        k2 = k1 * (s - 1.0)  # every scale-out has the same size s
        _add(mean, variance, view.rule.gone[k], view.rule.shut[k], size, weight, k1, k2, k1 * k1)
    for n in range(H):
        variance[n] = max(0.0, variance[n] - mean[n] * mean[n])


@routine
def fill_by_priors(
    view: Outlook, row: int, size: float, power: float, rate: float, asked: float, shape: float, base: float,
    sigma_shape: float, sigma_rate: float, age: float, start: float,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Write the part of a deployment whose parameters have Gamma priors into a row.

    Without what the scale-outs say of it, mu is Gamma(`power`, `rate`); lambda would be Gamma(`shape`, `base`) if it
    had been seen for no time, with `asked` scale-outs already in `shape`; sigma is Gamma(`sigma_shape`, `sigma_rate`).
    `age` is the time for which it was seen alive, and `start` is near the peak of log mu.

    Returns variance and mean of mu, variance and mean of the rate of scale-outs, and the place of the peak.
    """
    sigma = sigma_shape / sigma_rate
    square = sigma * (sigma_shape + 1.0) / sigma_rate
    # of the size S of a scale-out: E[S], E[S (S - 1)] and E[E[S | sigma]^2]
    s1, s2, s3 = 1.0 + sigma, square + 2.0 * sigma, 1.0 + 2.0 * sigma + square
    if view.rule.belief == EXACT:
        of = Density(power + view.rule.kappa * asked, rate + view.rule.delta * age, shape, base, age, view.rule.kappa)
    else:
        of = Density(power, rate, 0.0, 1.0, 0.0, view.rule.kappa)
    count, peak, _ = find_nodes(of, start, view.grid)
    if view.rule.belief != EXACT:
        mu_kappa = 0.0
        for j in range(count):
            mu_kappa += view.grid.nodes[1, j] * view.grid.nodes[2, j]
        base += age * mu_kappa  # the plug-in: mu^kappa by its mean
        age = 0.0
    mean_mu = 0.0
    square_mu = 0.0
    mean_rate = 0.0
    square_rate = 0.0
    for j in range(count):
        mu, weight, mu_kappa = view.grid.nodes[0, j], view.grid.nodes[1, j], view.grid.nodes[2, j]
        grow = shape * mu_kappa / (base + age * mu_kappa)
        mean_mu += weight * mu
        square_mu += weight * mu * mu
        mean_rate += weight * grow
        square_rate += weight * grow * grow
    if view.rule.belief == PAPER:
        lam = shape / base
        fill_paper(view, row, count, size, lam, lam * (shape + 1.0) / base, s1, s2, s3)
    else:
        fill_joint(view, row, count, size, shape, base, age, s1, s2, s3)
    return square_mu - mean_mu * mean_mu, mean_mu, square_rate - mean_rate * mean_rate, mean_rate, peak


@step
def needed_with(view: Outlook, row: int, policy: int, marginal: float) -> float:
    """Return what a moment policy compares with its threshold if the deployment of a row is accepted."""
    mean, variance, own = view.seen[0], view.seen[1], view.seen[2]
    for n in range(len(mean)):
        mean[n], variance[n], own[n] = seen_ahead(view, row, n)
    return needed_over(policy, mean, variance, own, view.rule.capacity, marginal)


@step
def seen_ahead(view: Outlook, row: int, n: int) -> tuple[float, float, float]:
    """Return expected cores and variance of all deployments, and expected cores of a row, at a time to look ahead."""
    if not view.rule.has_knots:
        own = view.mean[row, n]
        return view.total_mean[n] + own, max(0.0, view.total_variance[n]) + view.variance[row, n], own
    mean, variance, own = 0.0, 0.0, 0.0
    for k in range(4):
        i, share = view.rule.at[n] + k, view.rule.share[k, n]
        mean += share * view.total_mean[i]
        variance += share * (view.total_variance[i] + view.variance[row, i])
        own += share * view.mean[row, i]
    return mean + own, max(0.0, variance), own


@step
def add_part(view: Outlook, row: int, sign: float) -> None:
    """Add a row to the sums, or take it away."""
    for n in range(len(view.rule.horizons)):
        view.total_mean[n] += sign * view.mean[row, n]
        view.total_variance[n] += sign * view.variance[row, n]
