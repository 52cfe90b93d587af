"""Thresholds tuned to an SLA on common random numbers, and a bound that holds for every policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.replications import simulate_admission
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult, run_policy, seed_of, share_interval
from fluid.admission.simulation.world import draw_world
from fluid.admission.study.frontier import PILOTS, Frontier, frontier_at, refined
from fluid.statistics import Interval, mean_interval
from theory.errors import InputError

if TYPE_CHECKING:
    from fluid.experiment.store import Store

REFUSING = 5
"""Runs that must have refused a scale-out for an interval to say anything: with no refusal at all its width is 0."""

RESAMPLES = 999
"""Resamples of the runs for the interval of a threshold."""


@dataclass(frozen=True)
class Tuned:
    """A threshold tuned to an SLA."""

    policy: AdmissionPolicy  # with the largest threshold of the ladder whose fitted share is at most the SLA
    result: AdmissionResult  # at that threshold, in worlds that had no part in its choice
    # 95 %, of the threshold at which the share is the SLA, by resampling runs; beyond the ladder: 0 and infinity
    interval: tuple[float, float]
    tried: tuple[tuple[float, Interval], ...]  # thresholds of the ladder and shares of refused scale-outs
    fitted: tuple[float, ...]  # the shares by isotonic regression


def tune(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    sla: float,
    until: float,
    *,
    replications: int = 40,
    seed: int = 0,
    observations: int = 0,
    warmup: float = 0.0,
    steps: int = 8,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> Tuned:
    """Tune a policy's threshold: the largest one of a ladder whose fitted share of refused scale-outs meets the SLA.

    Parameters
    ----------
    cluster : AdmissionCluster
    policy : AdmissionPolicy
        Its threshold does not matter.
    sla : float
        Between 0 and 1.
    until, warmup : float
        Hours of each run, which begins with an empty cluster, and of those that do not count. While a cluster fills,
        little is refused: without a warm-up the threshold is one for the first hours, not for the long run.
    replications : int
        Worlds of the ladder, and as many others for the result; at most `PILOTS` other ones choose the ladder.
    seed, observations, workers, engine, progress, store
        See `fluid.admission.simulation.replications.simulate_admission`; every threshold meets the same deployments.
    steps : int
        Thresholds of the ladder; half as many more lie between the two of them where the fit passes the SLA.

    Raises
    ------
    InputError
        An SLA that is no share, or one that the least threshold misses.
    """
    if not 0 < sla < 1:
        raise InputError(f"--sla: expected a share between 0 and 1, got {sla!r}")
    pilots = min(PILOTS, replications)
    common: dict[str, Any] = {
        "seed": seed, "observations": observations, "warmup": warmup, "workers": workers, "engine": engine,
        "progress": progress, "store": store,
    }  # fmt: skip
    curve = frontier_at(cluster, policy, sla, until, replications=replications, pilots=pilots, steps=steps, **common)
    curve = refined(cluster, curve, sla, until, (steps + 1) // 2, replications=replications, first=pilots, **common)
    least = float(curve.thresholds[0])
    if curve.fitted[0] > sla:
        raise InputError(f"--sla: no threshold tried meets {sla:g}, and none below {least:.3g} was tried")
    best = replace(policy, threshold=curve.largest(sla))
    fresh = simulate_admission(cluster, best, until, replications=replications, first=pilots + replications, **common)
    shares = (share_interval(refused, asked) for refused, asked in zip(curve.refused, curve.asked, strict=True))
    tried = tuple(zip(curve.thresholds.tolist(), shares, strict=True))
    return Tuned(best, fresh, _interval(curve, sla, seed), tried, tuple(curve.fitted.tolist()))


def _interval(curve: Frontier, sla: float, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the threshold that meets an SLA, by resampling runs."""
    if int((curve.refused[-1] > 0).sum()) < REFUSING:
        return 0.0, inf
    runs = curve.used.shape[1]
    picks = np.random.default_rng(seed).integers(0, runs, (RESAMPLES, runs))
    least, most = (curve.fitted_ends(picks) > sla).T  # whether the ends of the ladder miss the SLA
    crossing = np.where(least, 0.0, curve.thresholds_at(sla, picks))
    low = np.quantile(crossing, 0.025, method="lower")
    high = np.quantile(np.where(most, crossing, inf), 0.975, method="higher")
    return float(low), float(high)


def bca_interval(values: ArrayLike, level: float = 0.95, resamples: int = 9999, seed: int = 0) -> Interval:
    """Return the mean of independent values with the bootstrap's BCa interval (bias-corrected and accelerated).

    Examples
    --------
    >>> interval = bca_interval([1.0, 2.0, 3.0, 4.0, 9.0])
    >>> interval.mean, interval.low < 3.8 < interval.high
    (3.8, True)
    """
    from scipy.stats import bootstrap

    sample = np.asarray(values, float)
    mean = float(sample.mean())
    if len(sample) < 2 or np.ptp(sample) == 0:
        return Interval(mean, mean, mean, level, len(sample))
    resampled = bootstrap(
        (sample,),
        np.mean,
        confidence_level=level,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(mean, float(resampled.low), float(resampled.high), level, len(sample))


@dataclass(frozen=True)
class Bound:
    """How far any policy can go: the greatest mean utilisation that one can have (95 %, over runs), and that of runs.

    Pathwise, the cores of a policy are among those that are active if no request is ever refused, and never more than
    the capacity.
    """

    utilisation: Interval
    by_run: NDArray[np.float64]


def pathwise_bound(
    cluster: AdmissionCluster, until: float, *, replications: int, seed: int = 0, warmup: float = 0.0, first: int = 0
) -> Bound:
    """Return the bound in the same worlds that policies of this seed meet, from the world of number `first` on.

    Accepting everybody is not this bound: scale-outs that are refused there change who stays.
    """
    everybody = AdmissionPolicy("everybody")
    worlds = (draw_world(cluster, until, seed_of(seed, first + r)) for r in range(replications))
    shares = [run_policy(cluster, one, everybody, until, warmup=warmup, grant_all=True).capped for one in worlds]
    return Bound(mean_interval(shares), np.array(shares))
