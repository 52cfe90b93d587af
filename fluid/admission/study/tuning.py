"""Thresholds tuned to an SLA on common random numbers, and a bound that holds for every policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.replications import simulate_admission
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult, run_policy, seed_of
from fluid.admission.simulation.world import draw_world
from fluid.statistics import Interval, mean_interval
from theory.errors import InputError

SMALLEST = 1e-6
"""Least threshold of the second-moment policy that is tried."""

REFUSING = 5
"""Runs that must have refused a scale-out for an interval to show that an SLA is met: without them its width says
nothing, as with no refusal at all it is 0."""


@dataclass(frozen=True)
class Tuned:
    """A threshold tuned to an SLA."""

    policy: AdmissionPolicy  # with the largest threshold found whose SLA is met
    result: AdmissionResult  # at that threshold
    # Every threshold outside was found to miss, or to meet, the SLA at 95 %, by intervals of its share of refused
    # scale-outs over runs (at least `REFUSING` of them refused one where it is to be met). Open ends: 0 and infinity.
    interval: tuple[float, float]
    tried: tuple[tuple[float, Interval], ...]  # thresholds and shares of refused scale-outs, in the order of trial


def tune(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    sla: float,
    until: float,
    *,
    replications: int = 20,
    seed: int = 0,
    observations: int = 0,
    warmup: float = 0.0,
    steps: int = 10,
    bracket: tuple[float, float] | None = None,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
) -> Tuned:
    """Tune a policy's threshold by bisection: the largest one whose share of refused scale-outs is at most the SLA.

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
    replications, seed, observations, workers, engine, progress
        See `fluid.admission.simulation.replications.simulate_admission`; every threshold meets the same deployments.
    steps : int
        Halvings: of the capacity, or of the logarithm of the range 1e-6 to 1 under the second-moment policy.
    bracket : (float, float), optional
        Thresholds to start from in place of that range.

    Raises
    ------
    InputError
        An SLA that is no share.
    """
    if not 0 < sla < 1:
        raise InputError(f"--sla: expected a share between 0 and 1, got {sla!r}")
    second = policy.name == "second"
    widest = (SMALLEST, 1.0) if second else (0.0, cluster.capacity + 1.0)
    low, high = (log(x) if second else x for x in (bracket or widest))
    tried: list[tuple[float, Interval]] = []
    telling: list[bool] = []
    best: tuple[AdmissionPolicy, AdmissionResult] | None = None

    def attempt(at: float, number: int) -> bool:
        nonlocal best
        trial = replace(policy, threshold=exp(at) if second else at)
        result = simulate_admission(
            cluster,
            trial,
            until,
            replications=replications,
            seed=seed,
            observations=observations,
            warmup=warmup,
            workers=workers,
            engine=engine,
        )
        tried.append((trial.threshold, result.sla))
        telling.append(sum(bool(run.refused.any()) for run in result.runs) >= REFUSING)
        if progress is not None:
            progress(f"step {number} of {steps + 1}: threshold {trial.threshold:.6g}, refused {result.sla.mean:.3g}")
        meets = result.sla.mean <= sla
        if meets and (best is None or trial.threshold > best[0].threshold):
            best = (trial, result)
        return meets

    if not attempt(high, 1):
        for number in range(2, steps + 2):
            middle = (low + high) / 2
            if attempt(middle, number):
                low = middle
            else:
                high = middle
    if best is None:
        attempt(low, steps + 2)
    if best is None:
        raise InputError(f"--sla: no threshold tried meets {sla:g}, and none below {tried[-1][0]:.3g} was tried")
    meets = [threshold for (threshold, share), tells in zip(tried, telling, strict=True) if tells and share.high < sla]
    misses = [threshold for threshold, share in tried if share.low > sla]
    return Tuned(best[0], best[1], (max(meets, default=0.0), min(misses, default=inf)), tuple(tried))


def bca_interval(values: ArrayLike, level: float = 0.95, resamples: int = 9999, seed: int = 0) -> Interval:
    """Return the mean of independent values with the bootstrap's BCa interval (bias-corrected and accelerated).

    Examples
    --------
    >>> found = bca_interval([1.0, 2.0, 3.0, 4.0, 9.0])
    >>> found.mean, found.low < 3.8 < found.high
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


def pathwise_bound(cluster: AdmissionCluster, until: float, *, replications: int, seed: int = 0) -> Bound:
    """Return the bound in the same worlds that policies of this seed meet.

    Accepting everybody is not this bound: scale-outs that are refused there change who stays.
    """
    everybody = AdmissionPolicy("everybody")
    shares = [
        run_policy(cluster, draw_world(cluster, until, seed_of(seed, r)), everybody, until, grant_all=True).capped
        for r in range(replications)
    ]
    return Bound(mean_interval(shares), np.array(shares))
