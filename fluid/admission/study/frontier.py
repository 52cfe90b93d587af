"""Utilisation at equal SLA: a ladder of thresholds for each policy, in the same worlds, with one bootstrap for all.

A policy at T thresholds has T points of refused share against utilisation; between them utilisation is linear in the
logarithm of the share. A resample of runs gives every point anew, so an interval holds the uncertainty of the threshold
that meets the SLA as well as that of the utilisation there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.replications import simulate_policies
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult
from fluid.admission.study.tuning import SMALLEST
from fluid.statistics import Interval
from theory.errors import InputError

if TYPE_CHECKING:
    from fluid.experiment.store import Store

LEAST_SHARE = 1e-9
"""A share of refused scale-outs below this, as where there is none, has this logarithm."""


@dataclass(frozen=True)
class Frontier:
    """One policy at T thresholds in the same R worlds.

    Attributes
    ----------
    policy : AdmissionPolicy
    thresholds : float64[T]
        In increasing order.
    used, refused, asked : float64[T, R]
        Utilisation, and scale-outs, by run.
    """

    policy: AdmissionPolicy
    thresholds: NDArray[np.float64]
    used: NDArray[np.float64]
    refused: NDArray[np.float64]
    asked: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Refused scale-outs over all, pooled over runs, by threshold, float64[T]."""
        return np.asarray(self.refused.sum(axis=1) / np.maximum(1.0, self.asked.sum(axis=1)))

    def holds(self, sla: float) -> bool:
        """Whether the ladder has a threshold below the SLA and one above it."""
        return bool(self.shares.min() <= sla <= self.shares.max())

    def threshold_at(self, sla: float) -> float:
        """Return the threshold at which the share is the SLA, between those of the ladder."""
        return float(_between(self.shares[:, None], self.thresholds[:, None], sla)[0])

    def used_at(self, sla: float, picks: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the utilisation at an SLA, float64[B], for resamples of the runs, int64[B, R]; at first all runs."""
        chosen = np.arange(self.used.shape[1])[None, :] if picks is None else picks
        used = np.array([one[chosen].mean(axis=-1) for one in self.used])
        refused, asked = (np.array([one[chosen].sum(axis=-1) for one in x]) for x in (self.refused, self.asked))
        return _between(refused / np.maximum(asked, 1.0), used, sla)


def _between(shares: NDArray[np.float64], values: NDArray[np.float64], sla: float) -> NDArray[np.float64]:
    """Values where the share is the SLA, linear in its logarithm; the ladder's ends beyond it. [T, B] -> [B]."""
    level = np.log(np.maximum(np.maximum.accumulate(shares, axis=0), LEAST_SHARE))
    above = np.clip((level <= np.log(sla)).sum(axis=0), 1, len(level) - 1)
    columns = np.arange(shares.shape[1])
    low, high = level[above - 1, columns], level[above, columns]
    width = np.where(high > low, high - low, 1.0)
    x = np.clip((np.log(sla) - low) / width, 0.0, 1.0)
    values = np.broadcast_to(values, shares.shape)
    return np.asarray((1 - x) * values[above - 1, columns] + x * values[above, columns])


def frontier(policy: AdmissionPolicy, thresholds: Sequence[float], results: Sequence[AdmissionResult]) -> Frontier:
    """Return the frontier of results at thresholds in increasing order."""
    used = np.array([[run.utilisation for run in one.runs] for one in results])
    refused = np.array([[float(run.refused.sum()) for run in one.runs] for one in results])
    asked = np.array([[float(run.asked.sum()) for run in one.runs] for one in results])
    return Frontier(policy, np.asarray(thresholds, float), used, refused, asked)


def difference_at(
    first: Frontier, second: Frontier | None, sla: float, level: float = 0.95, resamples: int = 4999, seed: int = 0
) -> Interval:
    """Return the utilisation at an SLA, less that of a second policy in the same worlds, with the BCa interval.

    Notes
    -----
    The bootstrap resamples runs, the same for both policies, and interpolates each frontier anew.
    """
    from scipy.stats import bootstrap

    runs = first.used.shape[1]

    def statistic(picks: NDArray[Any], axis: int = -1) -> NDArray[np.float64]:
        rows = np.moveaxis(np.asarray(picks, np.int64), axis, -1)
        flat = rows.reshape(-1, rows.shape[-1])
        used = first.used_at(sla, flat)
        if second is not None:
            used = used - second.used_at(sla, flat)
        return used.reshape(rows.shape[:-1])

    value = float(statistic(np.arange(runs)))
    resampled: Any = bootstrap(
        (np.arange(runs),),
        statistic,
        confidence_level=level,
        n_resamples=resamples,
        method="BCa",
        vectorized=True,
        batch=500,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(value, float(resampled.low), float(resampled.high), level, runs)


def ladder_for(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    sla: float,
    until: float,
    *,
    pilots: int = 12,
    steps: int = 5,
    seed: int = 0,
    observations: int = 0,
    store: Store | None = None,
) -> list[float]:
    """Return thresholds around the one that meets an SLA, from a bisection on a few worlds.

    Parameters
    ----------
    cluster, policy, sla, until, seed, observations, store
        As in `fluid.admission.simulation.replications.simulate_admission`.
    pilots : int
        Runs for each threshold tried.
    steps : int
        Thresholds that are returned, between those whose shares are about a third and thrice the SLA.

    Raises
    ------
    InputError
        If no threshold reaches a third of the SLA.
    """
    second = policy.name == "second"
    low, high = (float(np.log(SMALLEST)), 0.0) if second else (0.0, cluster.capacity + 1.0)
    tried: dict[float, float] = {low: 0.0}

    def share(at: float) -> float:
        if at not in tried:
            tried_policy = replace(policy, threshold=float(np.exp(at)) if second else at)
            (result,) = simulate_policies(
                cluster, [tried_policy], until, replications=pilots, seed=seed, observations=observations, store=store
            )
            tried[at] = result.sla.mean
        return tried[at]

    if share(high) < sla / 3:
        raise InputError(f"--sla: expected a share that refusals reach, at most {share(high):.2g}, got {sla:g}")
    ends = []
    for goal in (sla / 3, 3 * sla):
        a = max(x for x, y in tried.items() if y <= goal)
        b = min((x for x, y in tried.items() if y > goal and x > a), default=high)
        for _ in range(7):
            if b - a < (0.1 if second else 0.01 * cluster.capacity):
                break
            middle = (a + b) / 2
            a, b = (middle, b) if share(middle) <= goal else (a, middle)
        ends.append((a, b))
    ladder = np.linspace(ends[0][0], ends[1][1], steps)
    return [float(np.exp(x)) if second else float(x) for x in ladder]


def frontiers_of(
    cluster: AdmissionCluster,
    ladders: Sequence[tuple[AdmissionPolicy, Sequence[float]]],
    until: float,
    *,
    replications: int,
    seed: int,
    observations: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> list[Frontier]:
    """Simulate policies at their thresholds, all in the same worlds, each of which is drawn once."""
    chosen = [replace(policy, threshold=x) for policy, thresholds in ladders for x in thresholds]
    results = simulate_policies(
        cluster,
        chosen,
        until,
        replications=replications,
        seed=seed,
        observations=observations,
        workers=workers,
        engine=engine,
        progress=progress,
        store=store,
    )
    made, at = [], 0
    for policy, thresholds in ladders:
        made.append(frontier(policy, thresholds, results[at : at + len(thresholds)]))
        at += len(thresholds)
    return made
