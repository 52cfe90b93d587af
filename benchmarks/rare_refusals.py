"""Rare refusals: runs from buckets of worlds against plain runs, by variance and CPU time (Appendix D of the paper).

Worlds are sorted by the largest size that one of their deployments grows to in the long run, r (1 + sigma) cores with
r = rate of scale-outs / mu: a cluster that refuses seldom does so when a giant was let in. The paper's own measure is
lost in part; this one is a maximum over independent deployments, so the probabilities of its buckets are exact:
Pr[no deployment beyond x] = exp(-arrivals Pr[one is beyond x]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.results.admission.importance import Weighted, redraw_for, redrawn_probabilities
from fluid.admission.law.absorption import gamma_grid, log_nodes
from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy
from fluid.admission.simulation.world import Drawn, draw_parameters, draw_world
from fluid.statistics import Interval
from theory.errors import InputError


def largest_growth(drawn: Drawn) -> float:
    """Return the largest long-run size of the deployments of a world, r (1 + sigma), in cores; 0 where none arrives."""
    batch = np.where(drawn.batch > 0, drawn.batch, 1 + drawn.sigma)
    return float((drawn.rate / drawn.mu * batch).max(initial=0.0))


def growth_beyond(cluster: AdmissionCluster, x: float) -> float:
    """Return the probability that the long-run size of one deployment is greater than x cores."""
    from scipy.special import gammaincc

    if isinstance(cluster.deployments, tuple):
        return sum(k.probability for k in cluster.kinds if k.scale_out_rate / k.mu * k.batch > x)
    priors = cluster.priors
    mu, mu_weight = log_nodes(priors.mu, 8.0)
    sigma, sigma_weight = gamma_grid(priors.sigma, 8.0)
    needed = x / (1 + sigma)[:, None] * mu ** (1 - priors.kappa)  # of lambda
    return float(sigma_weight @ gammaincc(priors.lam.shape, priors.lam.rate * needed) @ mu_weight)


@dataclass(frozen=True)
class Buckets:
    """Buckets of worlds, and how they are drawn.

    Attributes
    ----------
    edges : float64[K - 1]
        Largest growth at which one bucket ends and the next begins.
    nominal, redraw : float64[K]
        p_i, and the probability that a world of the bucket is drawn again.
    """

    edges: NDArray[np.float64]
    nominal: NDArray[np.float64]
    redraw: NDArray[np.float64]

    @property
    def weights(self) -> NDArray[np.float64]:
        """p_i / q_i, with q_i by Proposition D.2."""
        return np.asarray(self.nominal / redrawn_probabilities(self.nominal, self.redraw))

    def of(self, drawn: Drawn) -> int:
        """Return the bucket of a world."""
        return int(np.searchsorted(self.edges, largest_growth(drawn)))


def plain_buckets(cluster: AdmissionCluster, until: float, edges: Sequence[float]) -> Buckets:
    """Return buckets with these edges, in cores, from which worlds come as often as they do without redrawing.

    Raises
    ------
    InputError
        Edges out of order, or a bucket with no world in it.
    """
    below = [float(np.exp(-cluster.arrival_rate * until * growth_beyond(cluster, x))) for x in edges]
    nominal = np.diff(np.concatenate([[0.0], below, [1.0]]))
    if np.any(np.diff(edges) <= 0) or np.any(nominal <= 0):
        raise InputError("buckets: expected edges in increasing order with worlds between them")
    return Buckets(np.asarray(edges, float), nominal, np.zeros(len(nominal)))


@dataclass(frozen=True)
class Drawing:
    """Runs, and what they cost.

    Attributes
    ----------
    bucket : int64[n]
    refused, asked : float64[n]
        Scale-outs of each run.
    buckets : Buckets
    seconds : float
        CPU time of all, with parameters that were drawn and thrown away.
    """

    bucket: NDArray[np.int64]
    refused: NDArray[np.float64]
    asked: NDArray[np.float64]
    buckets: Buckets
    seconds: float

    def weighted(self) -> list[Weighted]:
        """Return the runs by bucket, without buckets that never came, for `bounds.results.admission.importance`."""
        rows = [np.flatnonzero(self.bucket == i) for i in range(len(self.buckets.nominal))]
        weights = self.buckets.weights
        return [Weighted(float(weights[i]), self.refused[r], self.asked[r]) for i, r in enumerate(rows) if len(r)]


def drawn_runs(
    cluster: AdmissionCluster, policy: AdmissionPolicy, until: float, buckets: Buckets, runs: int, seed: int
) -> Drawing:
    """Run a policy in worlds from buckets: a world of bucket i is redrawn with r_i, and lower ones are then blocked."""
    rng = np.random.default_rng([seed, 0xD2])
    bucket, refused, asked = np.zeros(runs, np.int64), np.zeros(runs), np.zeros(runs)
    begin = process_time()
    for n in range(runs):
        blocked = 0
        while True:
            drawn = draw_parameters(cluster, until, rng)
            i = buckets.of(drawn)
            if i < blocked:
                continue
            if rng.random() >= buckets.redraw[i]:
                break
            blocked = i
        world = draw_world(cluster, until, np.random.SeedSequence([seed, n]), drawn=drawn)
        run = run_policy(cluster, world, policy, until)
        bucket[n], refused[n], asked[n] = i, run.refused.sum(), run.asked.sum()
    return Drawing(bucket, refused, asked, buckets, process_time() - begin)


def tuned_buckets(pilot: Drawing, least: float = 1e-3) -> Buckets:
    """Return buckets that come in proportion to p_i times the root mean square of f - s r in a pilot run.

    Parameters
    ----------
    pilot : Drawing
    least : float
        No bucket counts less than this share of the largest, so that none is starved by a pilot that saw nothing.

    Notes
    -----
    Redrawing can only favour higher buckets, so the root mean squares are made increasing.
    """
    weights = pilot.buckets.weights[pilot.bucket]
    share = float((weights * pilot.refused).sum() / max(1.0, float((weights * pilot.asked).sum())))
    z = (pilot.refused - share * pilot.asked) ** 2
    count = np.bincount(pilot.bucket, minlength=len(pilot.buckets.nominal))
    size = np.bincount(pilot.bucket, z, minlength=len(count)) / np.maximum(count, 1)
    size = np.maximum.accumulate(np.sqrt(size))
    size = np.maximum(size, least * size.max())
    wanted = pilot.buckets.nominal * size
    redraw = redraw_for(pilot.buckets.nominal, wanted / wanted.sum())
    return Buckets(pilot.buckets.edges, pilot.buckets.nominal, redraw)


def _cost(weight: NDArray[Any], refused: NDArray[Any], asked: NDArray[Any]) -> NDArray[np.float64]:
    """Variance of one run's part in the ratio of weighted sums, over the last axis."""
    share = (weight * refused).sum(axis=-1) / np.maximum((weight * asked).sum(axis=-1), 1e-300)
    z = weight * (refused - share[..., None] * asked)
    return np.asarray((z**2).mean(axis=-1) / (weight * asked).mean(axis=-1) ** 2)


def variance_ratio(plain: Drawing, redrawn: Drawing, level: float = 0.95, resamples: int = 1999) -> Interval:
    """Return how many times the variance of plain runs that of redrawn ones is at equal CPU time, with BCa's interval.

    Variances are those of the linearised ratio estimator; times are of all runs and what was thrown away for them.
    """
    from scipy.stats import bootstrap

    columns = [(d.buckets.weights[d.bucket], d.refused, d.asked) for d in (plain, redrawn)]
    times = [d.seconds / len(d.bucket) for d in (plain, redrawn)]

    def ratio(a: NDArray[Any], b: NDArray[Any], axis: int = -1) -> NDArray[np.float64]:
        rows = [np.moveaxis(np.asarray(x, np.int64), axis, -1) for x in (a, b)]
        costs = [_cost(*(c[r] for c in column)) for column, r in zip(columns, rows, strict=True)]
        return np.asarray(np.log(np.maximum(costs[0], 1e-300) / np.maximum(costs[1], 1e-300)))

    picks = (np.arange(len(plain.bucket)), np.arange(len(redrawn.bucket)))
    factor = times[0] / times[1]
    found: Any = bootstrap(
        picks, ratio, confidence_level=level, n_resamples=resamples, method="BCa", vectorized=True, batch=200,
        rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    value, low, high = (factor * float(np.exp(x)) for x in (ratio(*picks), found.low, found.high))
    return Interval(value, low, high, level, len(plain.bucket))
