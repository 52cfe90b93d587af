"""Loss systems: a job that finds no server is lost. One run, replications of it, and what they say."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import ArrivalLaw, JobList, refuse_endless, stream_of
from fluid.simulation.authors import answered, prepared
from fluid.simulation.laws import Law
from fluid.simulation.loss import calendar as calendars
from fluid.simulation.loss import urn as urns
from fluid.simulation.loss.event_list import event_list
from fluid.simulation.loss.jump_chain import jump_chain
from fluid.simulation.loss.steps import FINISHED, NEEDS_JOBS, observe, settle
from fluid.simulation.measures import Measures, bin_edges, new_measures
from fluid.simulation.policy import UNANSWERED, Policy
from fluid.simulation.queue.driver import next_chunk
from fluid.simulation.results import Measured
from fluid.simulation.runner import Runner
from fluid.simulation.state import ASKS, PATIENCE, Setting
from fluid.simulation.streams import sample
from theory.errors import InputError
from theory.instance import Instance
from theory.jit import plain

CHUNK = 2_000_000
"""Events between two looks at the clock: progress and Ctrl-C wait so long at most."""


@dataclass(frozen=True)
class Scenario:
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
    initial : int32[L, J], optional
        Jobs in service at time 0; their service begins then.
    jobs : JobList, optional
        Jobs with arrival times and durations, instead of both laws.
    options : mapping
        For the policy.
    synchronised : bool
        Use the event list even where the jump chain would do: two policies with equal seeds then see the same jobs.
    bins : int
        Equal spans of [warmup, until] that are told apart.
    log : int
        Events whose log is kept.
    """

    instance: Instance
    servers: int
    until: float
    warmup: float
    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()
    initial: NDArray[np.int32] | None = None
    jobs: JobList | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    synchronised: bool = False
    bins: int = 200
    log: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.warmup < self.until:
            raise InputError(f"--warmup: expected 0 or more and less than --until {self.until!r}, got {self.warmup!r}")
        if self.jobs is None:
            refuse_endless(float(self.rates.sum()) * self.until)

    @property
    def rates(self) -> NDArray[np.float64]:
        """Arrivals of each type per unit time, float64[J]."""
        return np.array([float(self.servers * t.workload * t.service_rate) for t in self.instance.types])

    @property
    def service_rates(self) -> NDArray[np.float64]:
        """mu_j, float64[J]."""
        return np.array([float(t.service_rate) for t in self.instance.types])

    @property
    def is_markovian(self) -> bool:
        """Whether the jump chain suits: Poisson arrivals, exponential service."""
        poisson = self.arrivals.is_poisson and self.jobs is None
        return poisson and self.service.name == "exponential" and not self.synchronised


@dataclass(frozen=True)
class LossRun(Measured):
    """One run.

    Attributes
    ----------
    scenario : Scenario
        With `until` as far as the run came.
    measures : Measures
    first : int
        First bin after the warm-up.
    seconds : float
        Time in the loop, compilation excluded.
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    scenario: Scenario
    measures: Measures
    first: int
    seconds: float
    interrupted: bool = False

    @cached_property
    def slots(self) -> NDArray[np.float64]:
        """Mean slots held ready by bin, float64[B, J]."""
        return self.measures.slots / self.spans[:, None]

    @cached_property
    def reward(self) -> NDArray[np.float64]:
        """Mean reward per server by bin, float64[B]."""
        u = np.array([float(x) for x in self.scenario.instance.rewards])
        return np.asarray(self.jobs @ u / self.scenario.servers)

    @property
    def mean_reward(self) -> float:
        """Time average of the reward per server over [W, T]."""
        return self.average(self.reward)


def plain_loop(
    policy: Policy, loop: Callable[..., int], jobs: Any, watch: Callable[..., None] = observe
) -> Callable[..., int]:
    """Return the same loop as Python; `watch(state, jobs, measures)` is called after each event."""
    functions = {"place": policy.place, "depart": policy.depart, "refresh": policy.refresh}
    return plain(loop, **functions, transfer=jobs.transfer, observe=watch)


def run_loss(
    policy: Policy,
    scenario: Scenario,
    seed: np.random.SeedSequence | int,
    *,
    python: bool = False,
    watch: Callable[..., None] = observe,
    progress: Callable[[float, int], None] | None = None,
) -> LossRun:
    """Simulate one run.

    Parameters
    ----------
    policy : Policy
        Of the model ``loss``.
    scenario : Scenario
    seed : SeedSequence or int
        Two streams are spawned from it: the world's and the policy's.
    python : bool
        Run as plain Python: the same path, slowly.
    watch : callable
        With `python`: called as ``watch(state, jobs, measures)`` after each event.
    progress : callable, optional
        Called with the time reached and the events so far.

    Notes
    -----
    Work per event does not grow with the number of servers (event list: log of the jobs in service). Memory of dynamic
    reservation for J types: 4 (3 J + 8) bytes a server, and in the jump chain 4 J more and 4 a job.
    """
    if policy.model != "loss":
        raise InputError(f"--policy: {policy.name} is no policy of loss systems")
    world, choices = (np.random.default_rng(s) for s in _sequence(seed).spawn(2))
    setting = Setting(scenario.instance, scenario.servers, scenario.options, scenario.initial)
    state = prepared(policy, setting)
    edges, first = bin_edges(scenario.until, scenario.warmup, scenario.bins)
    measures = new_measures(edges, len(scenario.instance.types), scenario.log)
    engine = (_JumpChain if scenario.is_markovian else _EventList)(policy, scenario, state, world)
    run = Runner(
        policy,
        engine.loop,
        ("place", "depart", "refresh"),
        parts={"transfer": engine.module.transfer},
        others={"observe": watch} if python else None,
        compiled=not python,
        types=scenario.instance.names,
    )
    run.ready(state, engine.jobs, measures, *engine.inputs, world, choices)
    reopen = plain(settle, refresh=run.functions["refresh"], transfer=engine.module.transfer)
    seconds, interrupted = 0.0, False
    status = 0
    try:
        while status != FINISHED:
            most = min(CHUNK, engine.spare())
            if most < 1024:
                engine.enlarge()
                continue
            begin = time.perf_counter()
            status = run(state, engine.jobs, measures, *engine.inputs, world, choices, most)
            seconds += time.perf_counter() - begin
            if status == NEEDS_JOBS:
                engine.supply()  # type: ignore[union-attr]
            if state.done[ASKS]:
                for asked in count():
                    if not state.done[ASKS]:
                        break
                    if asked == PATIENCE:
                        raise run.refused("answer", state, UNANSWERED)
                    state = answered(policy, setting, state)
                    reopen(state, engine.jobs, measures, choices)
                if python:
                    watch(state, engine.jobs, measures)
            if progress is not None:
                progress(float(measures.now[0]), int(measures.events[0]))
    except KeyboardInterrupt:
        if measures.now[0] <= edges[first]:
            raise
        interrupted = True
        measures = _cut(measures)
    ended = replace(scenario, until=float(measures.edges[-1]))
    return LossRun(ended, measures, first, seconds, interrupted)


def _sequence(seed: np.random.SeedSequence | int) -> np.random.SeedSequence:
    """A fresh copy of a seed sequence, since spawning changes it."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(seed)


def _cut(measures: Measures) -> Measures:
    """Keep the bins that were reached; the last one ends now."""
    bins = int(measures.bin[0]) + 1
    fields = {name: getattr(measures, name) for name in measures._fields}
    for name, array in fields.items():
        if name == "edges":
            fields[name] = np.append(array[:bins], measures.now)
        elif name not in ("now", "bin", "events", "log", "logged"):
            fields[name] = array[:bins]
    return Measures(**fields)


class _JumpChain:
    """Poisson arrivals and exponential service."""

    loop, module = staticmethod(jump_chain), urns

    def __init__(self, policy: Policy, scenario: Scenario, state: Any, world: Any) -> None:
        del world
        expected = np.minimum(1.2 * scenario.rates / scenario.service_rates, 10.0 * scenario.servers) + 1024
        self.jobs = urns.new_urn(state.counts, expected, moves_jobs=policy.moves_jobs)
        self.inputs = (scenario.rates, scenario.service_rates)

    def spare(self) -> int:
        return urns.spare(self.jobs)

    def enlarge(self) -> None:
        self.jobs = urns.enlarged(self.jobs)


class _EventList:
    """Any arrivals and service times."""

    loop, module = staticmethod(event_list), calendars

    def __init__(self, policy: Policy, scenario: Scenario, state: Any, world: Any) -> None:
        rates, services = scenario.rates, scenario.service_rates
        self._stream = stream_of(scenario.arrivals, scenario.service, rates, services, world, scenario.jobs)
        room = int(state.totals.sum()) + ceil(1.2 * float((rates / services).sum())) + (1 << 16)
        self.jobs = calendars.new_calendar(room, scenario.servers, len(rates), moves_jobs=policy.moves_jobs)
        for server, j in np.argwhere(state.counts > 0).tolist():
            for work in sample(scenario.service, world, int(state.counts[server, j])) / services[j]:
                calendars.schedule(self.jobs, work, j, server)
        self.supply()

    def supply(self) -> None:
        """Take the next jobs of the stream."""
        self.inputs = (next_chunk(self._stream),)

    def spare(self) -> int:
        return len(self.jobs.due) - int(self.jobs.size[0])

    def enlarge(self) -> None:
        self.jobs = calendars.enlarged(self.jobs)
