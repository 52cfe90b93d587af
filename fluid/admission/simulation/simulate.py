"""Runs of admission policies: one run through a world, and what runs measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluid.admission.law.cluster import AdmissionCluster, Priors
from fluid.admission.law.moments import refuse_infinite_mean, refuse_infinite_variance, refuse_small_shape
from fluid.admission.law.thresholds import FIRST, POLICIES, SECOND, ZEROTH
from fluid.admission.simulation import event_loop as events
from fluid.admission.simulation.outlook import DEPTH, MOMENTS, REFRESHED, Outlook, aligned_horizons, new_outlook
from fluid.admission.simulation.world import World, draw_world, most_alive
from fluid.statistics import Interval, mean_interval, ratio_interval
from theory.compiled import plain
from theory.errors import ArgumentError

CONTROLLED = "controlled"
"""The zeroth-moment policy with a threshold that is moved by the refusals that are seen."""

SMALL_WORLD = 2_000
"""Expected deployments up to which worlds are remembered: tuning meets the same ones at every threshold."""


@dataclass(frozen=True)
class AdmissionPolicy:
    """A policy with its threshold.

    Attributes
    ----------
    name : str
        One of zeroth, first, second (Definitions 4.1, 4.2, 4.4); controlled: zeroth with a threshold that moves; or
        everybody: admit all, as far as they fit.
    threshold : float
        Cores for zeroth, first and controlled, where it is the first one; a bound of a probability for second.
    moments : str
        exact: exact belief, moments of M (O + N); plug-in: the paper's belief, the same moments; paper: the paper's
        belief and its composition (Propositions 4.3 and 4.5).
    marginal : float
        Marginal heuristic (Definition 6.1): times ahead at which the arrival's expected cores are below this do not
        count; 0 for none.
    horizons : float64[H] or None
        Hours ahead; None for 40 horizons from 0.04 to 26,280 hours, each the root of 2 times the one before.
    tolerance : float
        Of the outlook (`fluid.admission.simulation.outlook`); 0 computes everything anew at each arrival.
    labelled : bool
        Of known kinds, whether the policy sees the kind of an arrival.
    aim, gain : float
        Of the controlled policy: at every scale-out that is asked for, the threshold moves by `gain` cores times
        (`aim` - 1 if it is refused, else `aim`), up to the capacity plus 1.
    """

    name: str
    threshold: float = inf
    moments: str = "exact"
    marginal: float = 0.0
    horizons: NDArray[np.float64] | None = field(default=None, compare=False)
    tolerance: float = 0.02
    labelled: bool = True
    aim: float = 0.0
    gain: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in (*POLICIES, CONTROLLED, "everybody"):
            raise ArgumentError("policy", f"expected one of {', '.join(POLICIES)}, {CONTROLLED}, got {self.name!r}")
        if (self.name == CONTROLLED) != (self.gain != 0) or not self.gain >= 0:
            raise ArgumentError(
                "gain", f"expected cores greater than 0 of policy {CONTROLLED} alone, got {self.gain!r}"
            )
        if self.name != CONTROLLED and self.aim:
            raise ArgumentError("sla", f"has no meaning without the policy {CONTROLLED}")
        if self.name == CONTROLLED and not 0 < self.aim < 1:
            raise ArgumentError("sla", f"expected a share between 0 and 1, got {self.aim!r}")
        if self.moments not in MOMENTS:
            raise ArgumentError("moments", f"expected one of {', '.join(MOMENTS)}, got {self.moments!r}")
        if not self.threshold >= 0:
            raise ArgumentError("threshold", f"expected a number of at least 0, got {self.threshold!r}")
        if self.name == "everybody" and self.threshold < inf:
            raise ArgumentError("threshold", f"has no meaning for the policy everybody, got {self.threshold:g}")
        if self.name == "second" and 1 < self.threshold < inf:
            words = "expected a bound of a probability, at most 1, for the policy second"
            raise ArgumentError("threshold", f"{words}, got {self.threshold:g}")
        if not self.marginal >= 0:
            raise ArgumentError("marginal", f"expected a number of cores of at least 0, got {self.marginal!r}")

    def refuse_without_threshold(self) -> None:
        """Refuse a policy whose threshold is none, or moves: it cannot be tuned, compared or solved."""
        if self.name not in POLICIES:
            raise ArgumentError("policy", f"expected one of {', '.join(POLICIES)}, got {self.name!r}")


@dataclass(frozen=True)
class AdmissionRun:
    """One run.

    Attributes
    ----------
    utilisation : float
        Time average of active cores over the capacity, past the warm-up.
    capped : float
        Of min(capacity, active cores) over the capacity; differs where everything is granted.
    asked, refused : int64[M]
        Scale-outs by month of 730 hours.
    arrivals, admitted, events, peak : int
        Events count arrivals and all that happened to admitted deployments.
    seconds : float
        CPU time of the event loop.
    refreshed : int
        Parts of the outlook that were computed anew.
    needed : float64[D]
        What the policy compared with its threshold, by arrival.
    admitted_ones : bool[D]
    thresholds : float64[2]
        The last threshold, and the least one that there was.
    """

    utilisation: float
    capped: float
    asked: NDArray[np.int64]
    refused: NDArray[np.int64]
    arrivals: int
    admitted: int
    events: int
    peak: int
    seconds: float
    refreshed: int
    needed: NDArray[np.float64]
    admitted_ones: NDArray[np.bool_]
    thresholds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))

    @property
    def sla(self) -> float:
        """Share of scale-outs that are refused; 0 where none was asked for."""
        return float(self.refused.sum() / max(1, self.asked.sum()))


def run_policy(
    cluster: AdmissionCluster,
    world: World,
    policy: AdmissionPolicy,
    until: float,
    *,
    warmup: float = 0.0,
    most: int | None = None,
    alive: int | None = None,
    grant_all: bool = False,
    python: bool = False,
) -> AdmissionRun:
    """Run a policy through a world.

    Parameters
    ----------
    cluster : AdmissionCluster
    world : World
        Drawn up to `until`, or later.
    policy : AdmissionPolicy
    until, warmup : float
        Hours.
    most : int, optional
        Most deployments at once.
    alive : int, optional
        ``most_alive(world)``, where many policies run in one world.
    grant_all : bool
        Admit every deployment and grant every scale-out, beyond the capacity too.
    python : bool
        Run as plain Python: the same path, slowly.

    Notes
    -----
    O(1) for each event, O(H) for each arrival under a moment policy, and O(H G) for each part that is computed anew,
    with G nodes of a belief (13 to 50).
    """
    # "everybody" is a zeroth-moment policy without a threshold: it admits as far as deployments fit
    code = POLICIES.index(policy.name) if policy.name in POLICIES else ZEROTH
    code = events.EVERYBODY if grant_all else code
    moves = code in (FIRST, SECOND)
    if moves and isinstance(cluster.deployments, Priors) and len(world.arrival):
        least = float(world.mu_shape.min())
        refuse_small_shape(least, DEPTH, cluster.source)
        refuse_infinite_mean(least + cluster.deployments.kappa, cluster.source)
        if code == SECOND:
            refuse_infinite_variance(least + 2 * cluster.deployments.kappa, cluster.source)
    places = 1 + ((alive or most_alive(world)) if moves else len(world.arrival))
    horizons = aligned_horizons() if policy.horizons is None else policy.horizons
    chosen = (horizons, places) if moves else (horizons[:1], 0)
    view = new_outlook(cluster, *chosen, policy.moments, policy.tolerance, policy.labelled)
    tenants = _tenants(world, places)
    months = int(until / events.MONTH) + 1
    control = np.array([policy.threshold, policy.threshold, policy.gain, policy.aim], float)
    counts, asked, refused = (np.zeros(length, np.int64) for length in (6, months, months))
    tally = events.Tally(np.zeros(2), counts, asked, refused, control)
    loop: Callable[..., Any] = plain(events.run_events) if python else events.run_events
    largest = events.UNLIMITED if most is None else most
    begin = process_time()
    loop(
        world,
        tenants,
        view,
        tally,
        code,
        float(policy.marginal),
        cluster.capacity,
        largest,
        float(warmup),
        float(until),
    )
    seconds = process_time() - begin
    return _measured(cluster, tenants, view, tally, until - warmup, seconds, world.first)


def _tenants(world: World, places: int) -> events.Tenants:
    count = len(world.arrival)
    fields = (np.zeros(count, np.int64) for _ in range(7))
    cores, place, deaths, scale_outs, extra, sizes, where = fields
    spread = np.zeros((5, count))
    spread[4] = np.log(world.mu_shape / world.mu_rate)
    return events.Tenants(
        status=np.zeros(count, np.int8),
        cores=cores,
        place=place,
        granted=np.zeros(len(world.size), np.int8),
        deaths=deaths,
        scale_outs=scale_outs,
        extra=extra,
        sizes=sizes,
        core_time=np.zeros(count),
        last=np.zeros(count),
        seen_at=np.zeros(count),
        moved=np.zeros(count),
        has_asked=np.zeros(count, np.bool_),
        spread=spread,
        active=np.zeros(places, np.int64),
        where=where,
        free=np.arange(places, dtype=np.int64),
        counts=np.array([0, places], np.int64),
        needed=np.full(count, np.nan),
    )


def _measured(
    cluster: AdmissionCluster,
    tenants: events.Tenants,
    view: Outlook,
    tally: events.Tally,
    span: float,
    seconds: float,
    first: NDArray[np.int64],
) -> AdmissionRun:
    number, arrivals, admitted, _, _, peak = (int(x) for x in tally.counts)
    return AdmissionRun(
        utilisation=float(tally.core_hours[0] / span / cluster.capacity),
        capped=float(tally.core_hours[1] / span / cluster.capacity),
        asked=tally.asked,
        refused=tally.refused,
        arrivals=arrivals,
        admitted=admitted,
        events=number,
        peak=peak,
        seconds=seconds,
        refreshed=int(view.counts[REFRESHED]),
        needed=tenants.needed,
        admitted_ones=tenants.granted[first] > 0,
        thresholds=tally.control[:2].copy(),
    )


@dataclass(frozen=True)
class AdmissionResult:
    """Replications of one policy.

    Attributes
    ----------
    utilisation : Interval
        95 %, over replications.
    sla : Interval
        Refused scale-outs over all scale-outs, pooled over runs; 95 % by linearisation.
    monthly : Interval
        Mean over runs of the mean over months (with a scale-out) of the share that is refused.
    runs : tuple of AdmissionRun
    seconds : float
        CPU time of drawing worlds and running the policy.
    """

    utilisation: Interval
    sla: Interval
    monthly: Interval
    runs: tuple[AdmissionRun, ...]
    seconds: float

    @property
    def events(self) -> int:
        """Events of all runs."""
        return sum(run.events for run in self.runs)


def monthly_share(run: AdmissionRun) -> float:
    """Return the mean over months with a scale-out of the share that is refused; 0 where there is none."""
    asked = run.asked > 0
    return float((run.refused[asked] / run.asked[asked]).mean()) if asked.any() else 0.0


def share_interval(refused: ArrayLike, asked: ArrayLike) -> Interval:
    """Return refused scale-outs over all, pooled over runs, with its 95 % interval; 0 where none was asked for."""
    runs = np.asarray(asked, float)
    return ratio_interval(refused, runs) if runs.sum() else Interval(0.0, 0.0, 0.0, 0.95, len(runs))


def result_of(runs: Sequence[AdmissionRun], seconds: float) -> AdmissionResult:
    """Summarise runs."""
    sla = share_interval([float(r.refused.sum()) for r in runs], [float(r.asked.sum()) for r in runs])
    utilisation = mean_interval([run.utilisation for run in runs])
    return AdmissionResult(utilisation, sla, mean_interval([monthly_share(run) for run in runs]), tuple(runs), seconds)


def seed_of(seed: int, replication: int) -> np.random.SeedSequence:
    """Return the seed of a replication's world: the same for every policy."""
    return np.random.SeedSequence(seed, spawn_key=(replication,))


def run_in_one_world(
    cluster: AdmissionCluster,
    policies: Sequence[AdmissionPolicy],
    until: float,
    seed: int,
    replication: int,
    observations: int = 0,
    warmup: float = 0.0,
    most: int | None = None,
) -> list[tuple[AdmissionRun, float]]:
    """Draw a world and run policies through it; return the runs, and CPU seconds: drawing counts with the first."""
    runs = []
    begin = process_time()
    small = cluster.arrival_rate * until <= SMALL_WORLD
    world = (_remembered if small else _drawn)(cluster, until, seed, replication, observations)
    moves = any(policy.name in (POLICIES[FIRST], POLICIES[SECOND]) for policy in policies)
    alive = most_alive(world) if moves else None  # only beliefs about deployments take places
    for policy in policies:
        run = run_policy(cluster, world, policy, until, warmup=warmup, most=most, alive=alive)
        end = process_time()
        runs.append((run, end - begin))
        begin = end
    return runs


def _drawn(cluster: AdmissionCluster, until: float, seed: int, replication: int, observations: int) -> World:
    return draw_world(cluster, until, seed_of(seed, replication), observations=observations)


_remembered = lru_cache(maxsize=64)(_drawn)
