"""Utilisation at equal SLA: a ladder of thresholds for each policy, in the same worlds, with one bootstrap for all.

A policy at T thresholds has T points of refused share against utilisation. The share is not monotone in the threshold,
even in the same worlds: a deployment that is admitted changes who meets a full cluster later. Shares are therefore
fitted by isotonic regression, weighed by the scale-outs; between thresholds utilisation, and the threshold, are linear
in the logarithm of the fitted share. A resample of runs gives every point and the fit anew, so an interval holds the
uncertainty of the threshold that meets the SLA as well as that of the utilisation there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.replications import simulate_policies
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult
from fluid.statistics import Interval
from theory.errors import ArgumentError
from theory.numbers import many

if TYPE_CHECKING:
    from fluid.experiment.store import Store

SMALLEST = 1e-6
"""Least threshold of the second-moment policy that is tried."""

COARSE = 12
"""Thresholds of each of two rounds that look for the range of a ladder."""

PILOTS = 8
"""Worlds of a comparison that only choose the ladders."""

REFINEMENTS = 4
"""Most times that thresholds are added between the two that enclose an SLA."""

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

    @property
    def fitted(self) -> NDArray[np.float64]:
        """The same after isotonic regression, float64[T]."""
        return self._fitted(self._all)[:, 0]

    @property
    def _all(self) -> NDArray[np.int64]:
        return np.arange(self.used.shape[1])[None, :]

    def _fitted(self, picks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Fitted shares for resamples of the runs, [T, B]."""
        from scipy.optimize import isotonic_regression

        refused, asked = (np.array([row[picks].sum(axis=-1) for row in x]) for x in (self.refused, self.asked))
        weights = np.maximum(asked, 1.0)
        columns = [isotonic_regression(y, weights=w).x for y, w in zip((refused / weights).T, weights.T, strict=True)]
        return np.array(columns).T

    def with_runs(self, more: Frontier) -> Frontier:
        """Return the frontier with the runs of other worlds at the same thresholds."""
        pairs = ((self.used, more.used), (self.refused, more.refused), (self.asked, more.asked))
        return Frontier(self.policy, self.thresholds, *(np.concatenate(pair, axis=1) for pair in pairs))

    def around(self, low: float, high: float) -> Frontier:
        """Return the part of the ladder from the last threshold below `low` to the first one above `high`."""
        first = max(0, int(np.searchsorted(self.thresholds, low)) - 1)
        rows = slice(first, int(np.searchsorted(self.thresholds, high, "right")) + 1)
        return Frontier(self.policy, self.thresholds[rows], self.used[rows], self.refused[rows], self.asked[rows])

    def fitted_ends(self, picks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the fitted shares at both ends of the ladder, float64[B, 2], for resamples of the runs."""
        return self._fitted(picks)[[0, -1]].T

    def holds(self, sla: float) -> bool:
        """Whether the fit has a threshold of the ladder that meets the SLA and one that misses it."""
        return bool(self.fitted[0] <= sla <= self.fitted[-1])

    def largest(self, sla: float) -> float:
        """Return the largest threshold of the ladder whose fitted share is at most the SLA, else the least one."""
        return float(self.thresholds[max(0, int((self.fitted <= sla).sum()) - 1)])

    def threshold_at(self, sla: float) -> float:
        """Return the threshold at which the fitted share is the SLA, between those of the ladder."""
        return float(self.thresholds_at(sla, self._all)[0])

    def thresholds_at(self, sla: float, picks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return such thresholds, float64[B], for resamples of the runs, int64[B, R]."""
        return _between(self._fitted(picks), self.thresholds[:, None], sla)

    def used_at(self, sla: float, picks: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return the utilisation at an SLA, float64[B], for resamples of the runs, int64[B, R]; at first all runs."""
        chosen = self._all if picks is None else picks
        used = np.array([row[chosen].mean(axis=-1) for row in self.used])
        return _between(self._fitted(chosen), used, sla)

    def pseudo_values(self, sla: float) -> NDArray[np.float64]:
        """Return the jackknife's pseudo-values of the utilisation at an SLA, float64[R].

        Their mean and deviation are those of independent values, near enough, with the uncertainty of the threshold.
        """
        runs = self.used.shape[1]
        others = np.array([np.delete(np.arange(runs), r) for r in range(runs)])
        return np.asarray(runs * self.used_at(sla) - (runs - 1) * self.used_at(sla, others))


def _between(shares: NDArray[np.float64], values: NDArray[np.float64], sla: float) -> NDArray[np.float64]:
    """Values where monotone shares are the SLA, linear in the logarithm; the ends beyond. [T, B] -> [B]."""
    level = np.log(np.maximum(shares, LEAST_SHARE))
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
    if runs < 2:
        return Interval(value, -inf, inf, level, runs)
    others = np.array([np.delete(np.arange(runs), r) for r in range(runs)])
    if np.ptp(statistic(others)) == 0:  # no run makes a difference
        return Interval(value, value, value, level, runs)
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
    low, high = float(resampled.low), float(resampled.high)
    if not (isfinite(low) and isfinite(high)):
        low, high = -inf, inf
    return Interval(value, low, high, level, runs)


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
    warmup: float = 0.0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> list[float]:
    """Return thresholds around the one that meets an SLA, from two rounds of `COARSE` thresholds in a few worlds.

    Parameters
    ----------
    cluster, policy, sla, until, seed, observations, warmup, workers, engine, progress, store
        As in `fluid.admission.simulation.replications.simulate_admission`.
    pilots : int
        Runs for each threshold tried: the worlds with the numbers 0, ..., pilots - 1.
    steps : int
        Thresholds that are returned, between those whose fitted shares are about a third and thrice the SLA; the ends
        of the range of thresholds where shares do not go so far.
    """
    second = policy.name == "second"
    low, high = _range(cluster, second)
    for _ in range(2):
        marks = np.linspace(low, high, COARSE)
        (coarse,) = frontiers_of(
            cluster, [(policy, _thresholds(marks, second))], until, replications=pilots, seed=seed,
            observations=observations, warmup=warmup, workers=workers, engine=engine, progress=progress, store=store,
        )  # fmt: skip
        fit = coarse.fitted
        low = float(marks[max(0, int((fit <= sla / 3).sum()) - 1)])
        high = float(marks[min(COARSE - 1, int((fit < 3 * sla).sum()))])
    return _thresholds(np.linspace(low, high, max(2, steps)), second)


def _range(cluster: AdmissionCluster, second: bool) -> tuple[float, float]:
    """The thresholds that may be tried; logarithms of them under the second-moment policy."""
    return (float(np.log(SMALLEST)), 0.0) if second else (0.0, cluster.capacity + 1.0)


def enclosing(cluster: AdmissionCluster, curve: Frontier, sla: float, until: float, **options: Any) -> Frontier:
    """Return a frontier with more thresholds where its fit does not enclose the SLA.

    Runs of other worlds chose the ladder, so its ends may both meet the SLA, or both miss it: it is doubled at that end
    until it encloses the SLA or reaches the end of the range. Options are those with which its runs were simulated.
    """
    while True:
        fit = curve.fitted
        longer = curve
        if fit[0] > sla:
            longer = doubled(cluster, curve, until, below=True, **options)
        elif fit[-1] <= sla:
            longer = doubled(cluster, curve, until, below=False, **options)
        if longer is curve:
            return curve
        curve = longer


def doubled(cluster: AdmissionCluster, curve: Frontier, until: float, *, below: bool, **options: Any) -> Frontier:
    """Return a frontier with as many thresholds again below or above; itself where its ladder reaches the range's end.

    Options are those with which its runs were simulated.
    """
    second = curve.policy.name == "second"
    ends = _range(cluster, second)
    marks = np.log(curve.thresholds) if second else curve.thresholds
    width = float(marks[-1] - marks[0]) or 0.1 * (ends[1] - ends[0])
    if below:
        more = np.linspace(max(ends[0], float(marks[0]) - width), marks[0], len(marks) + 1)[:-1]
    else:
        more = np.linspace(marks[-1], min(ends[1], float(marks[-1]) + width), len(marks) + 1)[1:]
    if marks[0] <= ends[0] + 1e-9 if below else marks[-1] >= ends[1] - 1e-9:
        return curve
    return with_thresholds(cluster, curve, _thresholds(more, second), until, **options)


def with_thresholds(
    cluster: AdmissionCluster, curve: Frontier, thresholds: Sequence[float], until: float, **options: Any
) -> Frontier:
    """Return a frontier with more thresholds, simulated in its own worlds: options are those of its runs."""
    (more,) = frontiers_of(cluster, [(curve.policy, thresholds)], until, **options)
    together = np.concatenate([curve.thresholds, more.thresholds])
    order = np.argsort(together)
    pairs = ((curve.used, more.used), (curve.refused, more.refused), (curve.asked, more.asked))
    return Frontier(curve.policy, together[order], *(np.concatenate(pair)[order] for pair in pairs))


def frontier_at(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    sla: float,
    until: float,
    *,
    replications: int,
    pilots: int = PILOTS,
    steps: int = 6,
    **options: Any,
) -> Frontier:
    """Return the frontier of a policy around an SLA: `pilots` worlds choose the ladder, `replications` others count.

    Options are those of `fluid.admission.simulation.replications.simulate_policies`.
    """
    ladder = ladder_for(cluster, policy, sla, until, pilots=pilots, steps=steps, **options)
    options |= {"replications": replications, "first": pilots}
    (curve,) = frontiers_of(cluster, [(policy, ladder)], until, **options)
    return enclosing(cluster, curve, sla, until, **options)


def _thresholds(marks: NDArray[np.float64], second: bool) -> list[float]:
    return [float(x) for x in (np.exp(marks) if second else marks)]


def frontiers_of(
    cluster: AdmissionCluster,
    ladders: Sequence[tuple[AdmissionPolicy, Sequence[float]]],
    until: float,
    **options: Any,
) -> list[Frontier]:
    """Simulate policies at their thresholds, all in the same worlds, each of which is drawn once.

    Options are those of `fluid.admission.simulation.replications.simulate_policies`.
    """
    chosen = [replace(policy, threshold=x) for policy, thresholds in ladders for x in thresholds]
    results = simulate_policies(cluster, chosen, until, **options)
    frontiers, at = [], 0
    for policy, thresholds in ladders:
        frontiers.append(frontier(policy, thresholds, results[at : at + len(thresholds)]))
        at += len(thresholds)
    return frontiers


def refined(
    cluster: AdmissionCluster, curve: Frontier, sla: float, until: float, count: int, within: float, **options: Any
) -> Frontier:
    """Return a frontier with more thresholds, in its own worlds, where its fit passes the SLA.

    Up to `count` thresholds are added between the two that enclose the SLA, and again, at most `REFINEMENTS` times,
    until utilisation differs between those two by at most `within`, or no threshold between them decides otherwise:
    the zeroth-moment policy compares whole numbers of cores. Options are those with which its runs were simulated.
    """
    for _ in range(REFINEMENTS):
        at = int((curve.fitted <= sla).sum())  # the least threshold that misses the SLA
        if at in (0, len(curve.thresholds)):
            return curve
        used = curve.used[at - 1 : at + 1].mean(axis=1)
        gap = float(used[1] - used[0])
        enough = min(count, ceil(gap / within))
        inner = between(curve.policy, float(curve.thresholds[at - 1]), float(curve.thresholds[at]), enough)
        if gap <= within or not inner:
            return curve
        curve = with_thresholds(cluster, curve, inner, until, **options)
    return curve


def between(policy: AdmissionPolicy, low: float, high: float, count: int) -> list[float]:
    """Return up to `count` thresholds between two others; of the zeroth-moment policy whole ones that differ.

    Examples
    --------
    >>> between(AdmissionPolicy("zeroth"), 7.5, 11.0, 8), between(AdmissionPolicy("first"), 1.0, 2.0, 1)
    ([9.0, 10.0], [1.5])
    """
    second = policy.name == "second"
    ends = np.log([low, high]) if second else np.array([low, high])
    inner = _thresholds(np.linspace(ends[0], ends[1], count + 2)[1:-1], second)
    if policy.name == "zeroth":  # cores are whole: all thresholds in (n - 1, n] decide alike
        return sorted({float(ceil(x)) for x in inner} - {float(ceil(low)), float(ceil(high))})
    return inner


@dataclass(frozen=True)
class Compared:
    """A policy beside the first one at equal SLA."""

    frontier: Frontier
    observations: int
    threshold: float  # at which the fitted share is the SLA
    reached: bool  # whether the ladder has thresholds on both sides; else numbers are those at its end
    utilisation: Interval
    above: Interval | None  # utilisation less that of the first policy, None for that policy itself


def compare(
    cluster: AdmissionCluster,
    policies: Sequence[tuple[AdmissionPolicy, int]],
    sla: float,
    until: float,
    *,
    replications: int = 40,
    pilots: int = PILOTS,
    steps: int = 6,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> list[Compared]:
    """Compare policies, each with a number of observations before arrival, at equal SLA.

    Parameters
    ----------
    cluster, sla, until
    policies : sequence of (AdmissionPolicy, int)
    replications : int
        Worlds that count, the same for all policies.
    pilots : int
        Other worlds, which choose the ladders: the first ones of the seed.
    steps : int
        Thresholds of a ladder.
    seed, progress, options
        As in `fluid.admission.simulation.replications.simulate_policies`; with a store, an interrupted comparison
        is taken up where it was.

    Raises
    ------
    ArgumentError
        An SLA that is no share, or a policy that has no threshold to compare at.
    """
    if not 0 < sla < 1:
        raise ArgumentError("sla", f"expected a share between 0 and 1, got {sla!r}")
    for policy, _ in policies:
        policy.refuse_without_threshold()
    rows: list[Compared] = []
    for policy, observations in policies:
        name = f"{policy.name}, {many(observations, 'observation')}"
        say = None if progress is None else partial(prefixed, progress, name)
        common: dict[str, Any] = {
            "seed": seed, "observations": observations, "progress": say, "pilots": pilots, **options,
        }  # fmt: skip
        curve = frontier_at(cluster, policy, sla, until, replications=replications, steps=steps, **common)
        base = rows[0].frontier if rows else None
        used, above = difference_at(curve, None, sla), None if base is None else difference_at(curve, base, sla)
        rows.append(Compared(curve, observations, curve.threshold_at(sla), curve.holds(sla), used, above))
    return rows


def prefixed(progress: Callable[[str], None], name: str, line: str) -> None:
    """Tell a line of progress behind the name of what it is about."""
    progress(f"{name}: {line}")
