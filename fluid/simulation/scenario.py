"""What is simulated, whatever the policy: the base of the scenarios of all models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import ArrivalLaw, JobList, Law, Stream, refuse_endless, sample, stream_of
from fluid.simulation.loop import Engine
from fluid.simulation.measures import Measures, measures_in_units, new_measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Result, Run
from fluid.simulation.state import Setting
from fluid.simulation.ticks import common_tick, exactly, in_ticks, in_units, rounded
from theory.errors import ArgumentError, expect, expect_number
from theory.instance import Additive, Instance


class Scenario(ABC):
    """The base of scenarios: an instance or a law of sizes, servers, jobs, a horizon."""

    model: ClassVar[str]  # whose policies suit
    title: ClassVar[str]
    unit: ClassVar[str] = "s"  # of time, or "slots"
    measured: ClassVar[tuple[str, ...]]  # the fields of `fluid.simulation.measures.Measures` that it fills
    result: ClassVar[type[Result[Any]]]

    servers: int
    until: float
    warmup: float  # averages are over [warmup, until), with events at the first and without those at the second
    jobs: JobList | None  # jobs with arrival times and durations, instead of all laws, in ticks
    options: Mapping[str, Any]  # for the policy
    bins: int  # equal time bins of [warmup, until]
    log: int  # events whose log is wanted

    @property
    def resolution(self) -> Fraction:
        """The tick in which the loop counts time, in units of time (`fluid.simulation.ticks`)."""
        return Fraction(1)

    def refuse_sizes(self) -> None:
        """Refuse a number of servers or bins that is none, no horizon, and a warm-up that does not end before it."""
        expect_number(self.servers, "servers", 1)
        expect_number(self.bins, "bins", 1)
        for name in ("until", "warmup"):
            expect(getattr(self, name), Real, name, "a time")
        if not (self.until > 0 and isfinite(self.until)):
            raise ArgumentError("until", f"expected a time greater than 0, got {self.until!r}")
        if not 0 <= self.warmup < self.until:
            raise ArgumentError("warmup", f"expected 0 or more and less than until {self.until!r}, got {self.warmup!r}")

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the groups of jobs that are measured apart."""

    @property
    @abstractmethod
    def intensity(self) -> float | None:
        """Traffic intensity; None where nothing is known of it (a list or a stream of jobs)."""

    @property
    @abstractmethod
    def rewards(self) -> NDArray[np.float64] | None:
        """Reward of a job of each group per unit time, float64[G]; None for a law of sizes."""

    @property
    @abstractmethod
    def expected_events(self) -> float:
        """The arrivals that are expected, twice, as those that are served depart; slots count besides."""

    @property
    def cost_as_python(self) -> float:
        """How many times longer than in a small system an event takes as Python."""
        return 1.0

    @abstractmethod
    def setting(self) -> Any:
        """Return what a policy is prepared for."""

    @abstractmethod
    def engine(
        self, policy: Policy, state: Any, arrival_rng: np.random.Generator, start_rng: np.random.Generator
    ) -> Engine:
        """Return the model at work on a prepared state."""

    @abstractmethod
    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of each resource in use, by bin."""

    def group_of(self, job_type: int) -> int:
        """Return the place in `names` under which a type, or a size class, is measured."""
        return job_type

    def measures(self) -> Measures:
        """Make empty measures, in ticks."""
        tick = self.resolution
        until, warmup = in_ticks(self.until, tick), in_ticks(self.warmup, tick)
        return new_measures(until, warmup, self.bins, len(self.names), self.measured, log=self.log, tick=tick)

    def in_units(self, measures: Measures) -> Measures:
        """Return measures in ticks with times in units of time."""
        return measures_in_units(measures, self.resolution, float(self.until), float(self.warmup))

    @property
    def last_arrival(self) -> float:
        """When the last of listed jobs comes, in units of time."""
        assert self.jobs is not None
        return float(in_units(float(self.jobs.times[-1]), self.resolution))

    def arrivals_until(self, time: float) -> int:
        """Return the listed jobs that come before a time."""
        assert self.jobs is not None
        return int(np.searchsorted(self.jobs.times, in_ticks(time, self.resolution), side="left"))


@dataclass(frozen=True)
class TypedScenario(Scenario):
    """The base of scenarios in continuous time, of the types of an instance; the other fields as in `Scenario`.

    Attributes
    ----------
    tick : Fraction
        What the times of listed jobs count, in units of time: 1/1,000,000 s for microseconds. Simultaneous events are
        simultaneous where these times are whole numbers; departures come before arrivals, and arrivals in their order.
    """

    instance: Instance
    servers: int
    until: float
    warmup: float
    arrivals: ArrivalLaw = ArrivalLaw()  # L workload_j service_rate_j jobs of type j per unit time
    service: Law = Law()  # with mean 1 / service_rate_j
    jobs: JobList | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    bins: int = 200
    log: int = 0
    tick: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse times that do not fit, and a run without end."""
        Instance.expected(self.instance)
        self.refuse_sizes()
        if not self.listed:
            refuse_endless(float(self.rates.sum()) * self.until)

    @property
    def listed(self) -> bool:
        """Whether the jobs are given, not drawn from the laws."""
        return self.jobs is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the types."""
        return self.instance.names

    @property
    def rates(self) -> NDArray[np.float64]:
        """Arrivals of each type per unit time, float64[J]."""
        return np.array([float(self.servers * t.workload * t.service_rate) for t in self.instance.types])

    @property
    def service_rates(self) -> NDArray[np.float64]:
        """mu_j, float64[J]."""
        return np.array([float(t.service_rate) for t in self.instance.types])

    @property
    def rewards(self) -> NDArray[np.float64]:
        """u_j, float64[J]."""
        return np.array([float(u) for u in self.instance.rewards])

    @property
    def expected_events(self) -> float:
        """Arrivals that are expected, twice; of a stream of jobs those of the workload."""
        if self.jobs is not None:
            return 2.0 * self.arrivals_until(self.until)
        return 2.0 * float(self.rates.sum()) * self.until

    @cached_property
    def intensity(self) -> float | None:
        """Traffic intensity of the workload; None for a list or a stream of jobs."""
        if self.listed:
            return None
        from theory.region.membership import traffic_intensity

        return float(traffic_intensity(self.instance))

    @cached_property
    def _tick_of_laws(self) -> tuple[Fraction, bool] | None:
        """The tick of the deterministic laws, and whether all their times are whole numbers of it; None without any."""
        times = []
        if self.service.name == "deterministic":
            times += [1 / t.service_rate for t in self.instance.types]
        if self.arrivals.between.name == "deterministic":
            batch = exactly(self.arrivals.batch)
            rates = (self.servers * t.workload * t.service_rate for t in self.instance.types)
            times += [batch / rate for rate in rates if rate > 0]
        return common_tick(times, self.until) if times else None

    @property
    def resolution(self) -> Fraction:
        """The tick of listed jobs, or else that of the laws that are deterministic."""
        return self.tick if self.listed else self._tick_of_laws[0] if self._tick_of_laws else Fraction(1)

    @property
    def in_whole_ticks(self) -> bool:
        """Whether times that are drawn are rounded to ticks."""
        return self.tick != 1 if self.listed else self._tick_of_laws is not None

    @property
    def rounds_times(self) -> bool:
        """Whether deterministic times are rounded, as they have no common tick that is long enough."""
        return not self.listed and self._tick_of_laws is not None and not self._tick_of_laws[1]

    def service_times(self, types: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw service times of the law for jobs of given types, in ticks."""
        rates = self._per_tick([t.service_rate for t in self.instance.types])
        work = sample(self.service, rng, len(types)) / rates[types]
        return rounded(work, whole=self.in_whole_ticks)

    def _per_tick(self, rates: Sequence[Fraction]) -> NDArray[np.float64]:
        """Return rates per unit of time as rates per tick."""
        return np.array([float(rate * self.resolution) for rate in rates])

    def stream_of_jobs(self, rng: np.random.Generator) -> Stream:
        """Return the stream of the jobs that come, in ticks."""
        services = [t.service_rate for t in self.instance.types]
        arriving = [self.servers * t.workload * t.service_rate for t in self.instance.types]
        rates = self._per_tick(arriving), self._per_tick(services)
        return stream_of(self.arrivals, self.service, *rates, rng, self.jobs, whole=self.in_whole_ticks)

    def setting(self) -> Setting:
        """Return what a policy is prepared for: empty servers."""
        return Setting(self.instance, self.servers, self.options)

    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of each resource in use by bin, over all pools; nothing where a pool lists its configurations."""
        spaces = [pool.space for pool in self.instance.pools if isinstance(pool.space, Additive)]
        if len(spaces) < len(self.instance.pools):
            return {}
        demands = np.array(spaces[0].demands, float)
        shares: dict[str, NDArray[np.float64]] = {}
        for r, name in enumerate(spaces[0].resources):
            total = sum(n * space.capacity[r] for n, space in zip(self.setting().pool_sizes, spaces, strict=True))
            shares[name] = run.jobs @ (demands[:, r] / total)
        return shares
