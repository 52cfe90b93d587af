"""Answers of ``packproof simulate``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, Answer, Ends, Head, Of
from bounds.answers.shared import CommandAnswer, Number


class SimulatedAnswer(CommandAnswer):
    """What the answers for loss systems and for queues both have."""

    policy: str
    servers: int
    until: Annotated[float, Head("measured until time")]
    warmup: Annotated[float, Head("measured from time")]
    replications: int
    interrupted: Annotated[bool, Head("stopped before its end")]
    events: int
    events_as_python: Annotated[int, Head("events that ran as Python")]
    events_per_second: Annotated[float | None, Head("events per second of computing", digits=3)]
    reward: Annotated[Number, Head("reward per server", least=0.0)]
    jobs: Annotated[dict[str, float], Head("jobs in service", by="type")]
    jobs_ci95: Annotated[dict[str, Ends], Of("jobs")]
    utilisation: Annotated[dict[str, Number], Head("in use", digits=4, share=True, by="resource")]
    warmup_check: Annotated[WarmupCheck, HIDDEN]
    trace: Annotated[TraceUse | UnsetType, HIDDEN] = UNSET
    initial: Annotated[InitialJobs | UnsetType, HIDDEN] = UNSET
    pools: Annotated[dict[str, int] | UnsetType, Head("servers of each pool")] = UNSET
    log: Annotated[list[LoggedEvent] | UnsetType, HIDDEN] = UNSET


class SimulatedLoss(SimulatedAnswer):
    """The answer for a loss system; rates are per unit time."""

    path: Annotated[str, HIDDEN]
    acceptance: Annotated[dict[str, float | None], Head("accepted", digits=4, share=True, by="type")]
    accepted: Annotated[Number, Head("jobs accepted", digits=4, share=True)]
    acceptance_ci95: Annotated[dict[str, Ends], Of("acceptance")]
    migrations: Annotated[Number, Head("migrations per unit time", digits=5, least=0.0)]
    reassignments: Annotated[Number, Head("reassigned servers per unit time", digits=5, least=0.0)]
    preemptions: Annotated[Number, Head("preempted jobs per unit time", digits=5, least=0.0)]
    reserved_idle: Annotated[
        dict[str, Number] | UnsetType, Head("idle reserved slots", digits=4, by="type", least=0.0)
    ] = UNSET


class SimulatedQueue(SimulatedAnswer):
    """The answer for a queue, in continuous time or in slots."""

    acceptance: Annotated[dict[str, float | None], HIDDEN]
    traffic_intensity: float | None
    started: Annotated[dict[str, Number], Head("started, of those that came", digits=4, share=True, by="type")]
    queue: Annotated[Queue, HIDDEN]


class WarmupCheck(Answer):
    """Whether the warm-up is long enough, and the time from which it would be."""

    enough: bool
    suggested: float


class TraceUse(Answer):
    """What became of a trace that stood for arrivals."""

    arrivals: int
    used: int
    last: float
    unit: str
    ends_early: bool
    cut_off: int
    notes: list[str]


class InitialJobs(Answer):
    """Jobs that were there at time 0: how many, whether their service is whole or what was left of it."""

    jobs: int
    service: str
    cut_off: int


class LoggedEvent(Answer):
    """A row of the event log; servers are numbered from 1."""

    time: float
    event: str
    type: str | UnsetType = UNSET
    clock: int | UnsetType = UNSET
    server: int | UnsetType = UNSET
    to: int | UnsetType = UNSET


class Queue(Answer):
    """Jobs that wait, in the whole cluster."""

    mean: float | None
    ci95: Annotated[Ends, Of("")]
    growth: Growth
    delay: Delay
    by_type: dict[str, float]


class Growth(Answer):
    """Growth of the queue per unit time, and whether it grows beyond doubt (99.9 %)."""

    per_time: float | None
    ci95: Annotated[Ends, Of("")]
    grows: bool


class Delay(Answer):
    """Waiting time of the jobs that start; quantiles are off by at most the relative error.

    Their intervals come from the replications, and are null where there is only one.
    """

    mean: float | None
    ci95: Annotated[Ends, Of("")]
    p95: float | None
    p99: float | None
    relative_error: float
    p95_ci95: Annotated[Ends, Of("p95")]
    p99_ci95: Annotated[Ends, Of("p99")]


Simulated = SimulatedLoss | SimulatedQueue
