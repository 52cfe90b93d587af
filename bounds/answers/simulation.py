"""Answers of ``packproof simulate``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from bounds.answers.record import Answer, Ends, Of
from bounds.answers.shared import CommandAnswer, Number


class PolicyLine(Answer):
    """A policy, in one line; `options` are fields of the table ``[simulation]``, which `explained` explains."""

    name: str
    model: str
    about: str
    options: list[str]
    explained: list[OptionLine]


class OptionLine(Answer):
    """An option of a policy.

    `default` as it stands in a file, null where the policy works it out, or needs a value.
    """

    name: str
    default: str | None
    about: str


class SimulatedLoss(CommandAnswer):
    """The answer for a loss system; rates are per unit time."""

    policy: str
    servers: int
    until: float
    warmup: float
    replications: int
    interrupted: bool
    events: int
    events_as_python: int
    events_per_second: float | None
    reward: Number
    jobs: dict[str, float]
    jobs_ci95: Annotated[dict[str, Ends], Of("jobs")]
    path: str
    acceptance: dict[str, float | None]
    utilisation: dict[str, Number]
    warmup_check: WarmupCheck
    trace: TraceUse | UnsetType = UNSET
    initial: InitialJobs | UnsetType = UNSET
    pools: dict[str, int] | UnsetType = UNSET
    log: list[LoggedEvent] | UnsetType = UNSET
    accepted: Number
    acceptance_ci95: Annotated[dict[str, Ends], Of("acceptance")]
    migrations: Number
    reassignments: Number
    preemptions: Number
    reserved_idle: dict[str, Number] | UnsetType = UNSET


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


class SimulatedQueue(CommandAnswer):
    """The answer for a queue, in continuous time or in slots."""

    policy: str
    servers: int
    until: float
    warmup: float
    replications: int
    interrupted: bool
    events: int
    events_as_python: int
    events_per_second: float | None
    reward: Number
    jobs: dict[str, float]
    jobs_ci95: Annotated[dict[str, Ends], Of("jobs")]
    acceptance: dict[str, float | None]
    utilisation: dict[str, Number]
    warmup_check: WarmupCheck
    trace: TraceUse | UnsetType = UNSET
    initial: InitialJobs | UnsetType = UNSET
    pools: dict[str, int] | UnsetType = UNSET
    log: list[LoggedEvent] | UnsetType = UNSET
    traffic_intensity: float | None
    started: dict[str, Number]
    queue: Queue


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


class ComparedLoss(CommandAnswer):
    """Policies of loss systems on the same jobs: the answer of each, and what each has more than the first.

    `replications` are those that count: copies of one run count as one.
    """

    policies: Annotated[list[SimulatedLoss], Meta(min_length=1)]
    differences: list[Difference]
    replications: int


class Difference(Answer):
    """Mean of the first policy minus that of the second, over replications that saw the same jobs.

    `number` is one of the numbers of a run as experiments name them: ``reward``, ``acceptance.TYPE``,
    ``utilisation.RESOURCE``, ``queue``, ``delay.p95`` and so on; ``acceptance`` is that of all types together.
    """

    first: str
    second: str
    number: str
    difference: Number


class ComparedQueues(CommandAnswer):
    """Policies of queues on the same jobs: the answer of each, and what each has more than the first.

    `replications` are those that count: copies of one run count as one.
    """

    policies: Annotated[list[SimulatedQueue], Meta(min_length=1)]
    differences: list[Difference]
    replications: int


Compared = ComparedLoss | ComparedQueues
