"""Thresholds tuned to an SLA on common random numbers, and a bound that holds for every policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, exp, inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.simulation.replications import simulate_policies
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult, run_policy, seed_of, share_interval
from fluid.admission.simulation.world import draw_world
from fluid.admission.study.frontier import (
    PILOTS,
    SMALLEST,
    Frontier,
    between,
    difference_at,
    doubled,
    enclosing,
    frontier_at,
    frontiers_of,
    prefixed,
    refined,
)
from fluid.statistics import Interval, mean_interval
from theory.errors import ArgumentError

if TYPE_CHECKING:
    from fluid.experiment.store import Store

REFUSING = 5
"""Runs that must have refused a scale-out for an interval to say anything: with no refusal at all its width is 0."""

RESAMPLES = 999
"""Resamples of the runs for the interval of a threshold."""

HALF_A_POINT = 0.005
"""Half width of the interval of utilisation at an SLA at which no more worlds are needed."""

FIRST_WORLDS = 40
"""Worlds of the first round; each further round doubles them."""

REPLICATIONS = 160
"""Most worlds of the ladder unless a caller says otherwise."""


@dataclass(frozen=True)
class Tuned:
    """A threshold tuned to an SLA.

    Attributes
    ----------
    policy : AdmissionPolicy
        With the estimated threshold: the largest one tried whose fitted share of refused scale-outs is at most the SLA.
    result : AdmissionResult
        At the estimated threshold, in worlds that had no part in its choice.
    interval : tuple of float
        95 %, of the threshold at which the share is the SLA, by resampling runs; beyond the ladder: 0 and infinity.
    tried : tuple of (float, Interval)
        Thresholds of the ladder and shares of refused scale-outs, in the worlds that chose the estimated one.
    fitted : tuple of float
        Those shares by isotonic regression.
    safe : AdmissionPolicy or None
        With the safe threshold: the largest candidate, none above the estimated one, whose upper bound (97.5 %,
        one-sided) of the share is at most the SLA in the worlds of `result`; None where no candidate has such a bound.
    safe_result : AdmissionResult or None
        At the safe threshold, in these worlds.
    judged : tuple of (float, Interval)
        The candidates and their shares, in these worlds.
    allowed : Interval
        Utilisation at the SLA between the thresholds of the ladder, 95 %, with the uncertainty of the threshold.
    worlds : int
        Of the ladder; `result` is of as many others.
    ended_by : str
        precision: `allowed` is within `HALF_A_POINT`; replications or time: the limit ended the search before.
    """

    policy: AdmissionPolicy
    result: AdmissionResult
    interval: tuple[float, float]
    tried: tuple[tuple[float, Interval], ...]
    fitted: tuple[float, ...]
    safe: AdmissionPolicy | None
    safe_result: AdmissionResult | None
    judged: tuple[tuple[float, Interval], ...]
    allowed: Interval
    worlds: int
    ended_by: str


def tune(
    cluster: AdmissionCluster,
    policy: AdmissionPolicy,
    sla: float,
    until: float,
    *,
    replications: int = REPLICATIONS,
    seed: int = 0,
    observations: int = 0,
    warmup: float = 0.0,
    steps: int = 8,
    time_limit: float = inf,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> Tuned:
    """Tune a policy's threshold: the largest ones whose share of refused scale-outs meets the SLA, estimated and safe.

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
        Most worlds of the ladder, and as many others for the results; at most `PILOTS` other ones choose the ladder.
    seed, observations, workers, engine, progress, store
        See `fluid.admission.simulation.replications.simulate_admission`; every threshold meets the same deployments.
    steps : int
        Thresholds of the ladder, and candidates for the safe threshold.
    time_limit : float
        Seconds: a round of more worlds is not begun if it would end later, by the speed so far.

    Raises
    ------
    InputError
        An SLA that is no share, or one that the least threshold misses.

    Notes
    -----
    A ladder that a few worlds choose runs in `FIRST_WORLDS` other ones. The number of worlds doubles until the interval
    of the utilisation at the SLA is within `HALF_A_POINT`, or a limit is reached. Thresholds are then added between the
    two that enclose the SLA, in the same worlds, until these two differ by half a point of utilisation at most: the
    lower one is the estimated threshold.

    Fresh worlds judge it, and candidates below it that the ladder proposes. The candidates are tested from the least
    one on, and the first whose upper bound is above the SLA ends the test; more are tested in the last step that was
    passed, half a point of utilisation apart. As the share does not fall with the
    threshold on average, a threshold that misses the SLA is called safe only if the first candidate that misses it
    passes, which has a probability of at most 2.5 %, however many are tested. The bound is that of the logarithm of the
    share, whose law is nearer to normal: few worlds have most of the refusals.

    Simulations take O(`replications` x `steps`) runs.
    """
    if not 0 < sla < 1:
        raise ArgumentError("sla", f"expected a share between 0 and 1, got {sla!r}")
    if not time_limit > 0:
        raise ArgumentError("time_limit", f"expected a number of seconds greater than 0, got {time_limit!r}")
    policy.refuse_without_threshold()
    search = _Search(cluster, policy, sla, until, steps, monotonic() + time_limit, replications, {
        "seed": seed, "observations": observations, "warmup": warmup, "workers": workers, "engine": engine,
        "progress": progress, "store": store,
    })  # fmt: skip
    curve, allowed, ended_by = search.ladder()
    if _refuses(curve) and _interval(curve, sla, seed)[0] == 0:  # in some resamples the least threshold misses the SLA
        curve = doubled(cluster, curve, until, below=True, **search.of("longer ladder", curve))
    curve = refined(cluster, curve, sla, until, steps, HALF_A_POINT, **search.of("refined ladder", curve))
    estimated = replace(policy, threshold=curve.largest(sla))
    interval = _interval(curve, sla, seed)
    candidates = _candidates(estimated, curve, sla, interval[0], steps)
    fresh, safe = search.judged(candidates, curve)
    return Tuned(
        policy=estimated,
        result=fresh[-1].result,
        interval=interval,
        tried=tuple(zip(curve.thresholds.tolist(), _shares(curve), strict=True)),
        fitted=tuple(curve.fitted.tolist()),
        safe=None if safe is None else fresh[safe].policy,
        safe_result=None if safe is None else fresh[safe].result,
        judged=tuple((one.policy.threshold, one.result.sla) for one in fresh),
        allowed=allowed,
        worlds=curve.used.shape[1],
        ended_by=ended_by,
    )


@dataclass(frozen=True)
class _Search:
    """What the rounds of a search share."""

    cluster: AdmissionCluster
    policy: AdmissionPolicy
    sla: float
    until: float
    steps: int
    deadline: float  # by the monotonic clock
    most: int
    options: Mapping[str, Any]

    @property
    def pilots(self) -> int:
        return min(PILOTS, self.most)

    def of(self, phase: str, curve: Frontier, first: int | None = None) -> dict[str, Any]:
        """Return the options of runs in the worlds of a ladder, or in as many others, which name their phase."""
        say = self.options["progress"]
        named = None if say is None else partial(prefixed, say, phase)
        begin = self.pilots if first is None else first
        return {**self.options, "progress": named, "replications": curve.used.shape[1], "first": begin}

    def ladder(self) -> tuple[Frontier, Interval, str]:
        """Return the frontier in as many worlds as it takes, the utilisation at the SLA, and what ended the rounds."""
        begin = monotonic()
        curve = frontier_at(
            self.cluster, self.policy, self.sla, self.until, replications=min(FIRST_WORLDS, self.most),
            pilots=self.pilots, steps=self.steps, **self.options,
        )  # fmt: skip
        while True:
            if curve.fitted[0] > self.sla:
                least = float(curve.thresholds[0])
                raise ArgumentError(
                    "sla", f"no threshold tried meets {self.sla:g}, and none below {least:.3g} was tried"
                )
            allowed = difference_at(curve, None, self.sla, resamples=RESAMPLES)
            worlds = curve.used.shape[1]
            if allowed.half_width <= HALF_A_POINT:
                return curve, allowed, "precision"
            if worlds >= self.most:
                return curve, allowed, "replications"
            # so far each world of the ladder took a part of the time; a round of as many ends with the refinement and
            # the fresh worlds of twice as many: about four times the time so far
            if monotonic() + 4 * (monotonic() - begin) > self.deadline:
                return curve, allowed, "time"
            curve = self._more(curve, min(worlds, self.most - worlds))

    def judged(self, candidates: Sequence[AdmissionPolicy], curve: Frontier) -> tuple[list[_Judged], int | None]:
        """Run candidates in fresh worlds, and more of them where the test ends; return them and the safe one's number.

        Candidates are in the order of their thresholds, before and after.
        """
        options = self.of("fresh worlds", curve, first=self.pilots + curve.used.shape[1])
        judged: list[_Judged] = []
        more = list(candidates)
        for _ in range(2):
            results = simulate_policies(self.cluster, more, self.until, **options)
            judged += [_Judged(policy, result) for policy, result in zip(more, results, strict=True)]
            judged.sort(key=lambda one: one.policy.threshold)
            safe = safe_number([one.refusing for one in judged], [one.result.sla for one in judged], self.sla)
            if safe is None or safe + 1 == len(judged):
                break
            passes, fails = judged[safe : safe + 2]
            gap = fails.result.utilisation.mean - passes.result.utilisation.mean
            enough = min(self.steps, ceil(gap / HALF_A_POINT)) if gap > HALF_A_POINT else 0
            inner = between(self.policy, passes.policy.threshold, fails.policy.threshold, enough)
            more = [replace(self.policy, threshold=x) for x in inner]
            if not more:
                break
        return judged, safe

    def _more(self, curve: Frontier, count: int) -> Frontier:
        """Return the part of a ladder where the SLA may be passed, with `count` more worlds."""
        curve = curve.around(*_interval(curve, self.sla, self.options["seed"]))
        worlds = curve.used.shape[1]
        options = {**self.of(f"{worlds + count} worlds", curve, self.pilots + worlds), "replications": count}
        thresholds = curve.thresholds.tolist()
        (more,) = frontiers_of(self.cluster, [(self.policy, thresholds)], self.until, **options)
        curve = curve.with_runs(more)
        return enclosing(self.cluster, curve, self.sla, self.until, **self.of("longer ladder", curve))


@dataclass(frozen=True)
class _Judged:
    """A threshold in fresh worlds."""

    policy: AdmissionPolicy
    result: AdmissionResult

    @property
    def refusing(self) -> int:
        """Runs that refused a scale-out."""
        return sum(int(run.refused.sum() > 0) for run in self.result.runs)


def _candidates(
    estimated: AdmissionPolicy, curve: Frontier, sla: float, low: float, count: int
) -> list[AdmissionPolicy]:
    """Return policies with up to `count` thresholds, in increasing order: the last one is the estimated threshold.

    They reach twice as far below it as the interval of the threshold does, which begins at `low`, and as the largest
    threshold of the ladder that has an upper bound within the SLA.
    """
    top, second = estimated.threshold, estimated.name == "second"
    bounded = safe_number((curve.refused > 0).sum(axis=1).tolist(), _shares(curve), sla)
    end = min(low, top, float(curve.thresholds[bounded or 0]))
    least = max(SMALLEST, end**2 / top) if second else max(0.0, 2 * end - top)
    least = least if least < top else 0.75 * top  # the ladder has nothing below the estimated threshold
    if count < 2 or top == 0:
        return [estimated]
    return [replace(estimated, threshold=x) for x in (least, *between(estimated, least, top, count - 2), top)]


def _shares(curve: Frontier) -> list[Interval]:
    return [share_interval(refused, asked) for refused, asked in zip(curve.refused, curve.asked, strict=True)]


def safe_number(refusing: Sequence[int], shares: Sequence[Interval], sla: float) -> int | None:
    """Return the number of the last candidate whose upper bound of the refused share is at most the SLA.

    Candidates come in the order of their thresholds, and the first whose bound is above the SLA ends the test. One with
    fewer than `REFUSING` runs that refused a scale-out has no bound, and decides nothing.

    Parameters
    ----------
    refusing : sequence of int
        Runs of each candidate that refused a scale-out.
    shares : sequence of Interval
        95 %, two-sided.
    sla : float
    """
    safe = None
    for number, (runs, share) in enumerate(zip(refusing, shares, strict=True)):
        if runs < REFUSING:
            continue
        if upper_bound(share) > sla:
            break
        safe = number
    return safe


def upper_bound(share: Interval) -> float:
    """Return the upper bound of a share from its interval: the interval's, taken of the logarithm of the share.

    Examples
    --------
    >>> round(upper_bound(Interval(0.01, 0.0, 0.02, 0.95, 40)), 4)
    0.0272
    """
    return share.mean * exp((share.high - share.mean) / share.mean) if share.mean > 0 else share.high


def _refuses(curve: Frontier) -> bool:
    return int((curve.refused[-1] > 0).sum()) >= REFUSING


def _interval(curve: Frontier, sla: float, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the threshold that meets an SLA, by resampling runs."""
    if not _refuses(curve):
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
