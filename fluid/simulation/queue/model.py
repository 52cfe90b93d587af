"""A scene for queues in continuous time: an instance, servers, laws of arrivals and service, a horizon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import ArrivalLaw, JobList, joined, refuse_endless, stream_of
from fluid.simulation.authors import prepared
from fluid.simulation.laws import Law
from fluid.simulation.policy import Policy
from fluid.simulation.queue.driver import Run, simulate_queue
from fluid.simulation.results import shares_of_jobs
from fluid.simulation.state import Setting
from fluid.simulation.streams import Stream, sample
from theory.errors import InputError
from theory.instance import Instance


@dataclass(frozen=True)
class QueueScene:
    """What is simulated, whatever the policy.

    Attributes
    ----------
    instance : Instance
    servers : int
        L.
    until, warmup : float
        Averages are over [warmup, until].
    arrivals : ArrivalLaw
        L workload_j service_rate_j jobs of type j per unit time.
    service : Law
        With mean 1 / service_rate_j.
    jobs : JobList, optional
        Jobs with arrival times and durations, instead of both laws.
    options : mapping
        For the policy.
    bins, log : int
        Equal spans of [warmup, until] that are told apart; rows of the event log.
    stream : callable, optional
        Instead of all laws: makes the stream of jobs from a generator, such as requests for vectors of jobs
        (`fluid.simulation.streams.batches`).
    present : JobList, optional
        Jobs of a trace that wait at time 0; their durations are what is left of their service.
    queue : tuple of int
        Jobs of each type that wait at time 0, behind those, with service of the law; empty for none.
    """

    instance: Instance
    servers: int
    until: float
    warmup: float
    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()
    jobs: JobList | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    bins: int = 200
    log: int = 0
    stream: Callable[[np.random.Generator], Stream] | None = None
    present: JobList | None = None
    queue: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a warm-up that is none, and a run without end."""
        if not 0 <= self.warmup < self.until:
            raise InputError(f"--warmup: expected 0 or more and less than --until {self.until:g}, got {self.warmup!r}")
        if self.jobs is None and self.stream is None:
            refuse_endless(
                sum(float(self.servers * t.workload * t.service_rate) for t in self.instance.types) * self.until
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the types."""
        return self.instance.names

    @cached_property
    def intensity(self) -> float | None:
        """Traffic intensity of the workload; None for a list or a stream of jobs."""
        if self.jobs is not None or self.stream is not None:
            return None
        from theory.region import traffic_intensity

        return float(traffic_intensity(self.instance))

    def run(
        self, policy: Policy, seed: np.random.SeedSequence, say: Callable[[float], None] | None = None, **how: Any
    ) -> Run:
        """Run once; jobs, what the policy draws, and jobs of time 0 come from streams spawned from the seed.

        Raises
        ------
        InputError
            If the policy is none for queues in continuous time.
        """
        if policy.model != "queue":
            raise InputError(f"--policy: {policy.name} is no policy of queues in continuous time")
        world, choices, past = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(3)
        types = self.instance.types
        rates = np.array([float(self.servers * t.workload * t.service_rate) for t in types])
        services = np.array([float(t.service_rate) for t in types])
        generator = np.random.default_rng(world)
        if self.stream is not None:
            stream = self.stream(generator)
        else:
            stream = stream_of(self.arrivals, self.service, rates, services, generator, self.jobs)
        state = prepared(policy, Setting(self.instance, self.servers, self.options))
        return simulate_queue(
            policy, state, stream, self.until, self.warmup, choices, bins=self.bins, log=self.log, say=say,
            waiting=self._waiting(services, np.random.default_rng(past)), types=self.names, **how,
        )  # fmt: skip

    def _waiting(self, services: NDArray[np.float64], generator: np.random.Generator) -> JobList:
        """Return the jobs that wait at time 0; drawn apart, so that those that come do not depend on them."""
        kinds = np.repeat(np.arange(len(self.queue), dtype=np.int32), np.array(self.queue, np.int64))
        drawn = JobList(np.zeros(len(kinds)), kinds, sample(self.service, generator, len(kinds)) / services[kinds])
        return drawn if self.present is None else joined(self.present, drawn)

    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of each resource in use by bin; nothing where a pool lists configurations."""
        shares = shares_of_jobs(self.instance, self.servers)
        return {name: run.jobs @ each for name, each in shares.items()}
