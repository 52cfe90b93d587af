"""What is simulated, whatever the policy: the base of the scenarios of all models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import ArrivalLaw, JobList, Law, Stream, refuse_endless, stream_of
from fluid.simulation.loop import Engine
from fluid.simulation.measures import Measures, new_measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Result, Run
from fluid.simulation.state import Setting
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
    warmup: float  # averages are over [warmup, until]
    jobs: JobList | None  # jobs with arrival times and durations, instead of all laws
    options: Mapping[str, Any]  # for the policy
    bins: int  # equal time bins of [warmup, until]
    log: int  # events whose log is wanted

    def refuse_sizes(self) -> None:
        """Refuse a number of servers or bins that is none, no horizon, and a warm-up that does not end before it."""
        expect_number(self.servers, "servers", 1)
        expect_number(self.bins, "bins", 1)
        for name in ("until", "warmup"):
            expect(getattr(self, name), Real, name, "a time")
        if not (self.until > 0 and isfinite(self.until)):
            raise ArgumentError(f"until: expected a time greater than 0, got {self.until!r}")
        if not 0 <= self.warmup < self.until:
            raise ArgumentError(f"warmup: expected 0 or more and less than until {self.until!r}, got {self.warmup!r}")

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
        """Make empty measures."""
        return new_measures(
            float(self.until), float(self.warmup), self.bins, len(self.names), self.measured, log=self.log
        )


@dataclass(frozen=True)
class TypedScenario(Scenario):
    """The base of scenarios in continuous time, of the types of an instance; the other fields as in `Scenario`."""

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

    @cached_property
    def intensity(self) -> float | None:
        """Traffic intensity of the workload; None for a list or a stream of jobs."""
        if self.listed:
            return None
        from theory.region.membership import traffic_intensity

        return float(traffic_intensity(self.instance))

    def stream_of_jobs(self, rng: np.random.Generator) -> Stream:
        """Return the stream of the jobs that come."""
        return stream_of(self.arrivals, self.service, self.rates, self.service_rates, rng, self.jobs)

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
