"""The answer of ``packproof plan``."""

from __future__ import annotations

from typing import Annotated, Any

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import CommandAnswer


class PlanAnswer(CommandAnswer):
    """How many servers a log needs; times are in seconds from the beginning of the log.

    `carries` is certified by `certificate`, `peak` is exact; `policies` and `growth` are simulated; `packproof
    check` verifies `certificate`. `pools` splits servers over several pools by their shares (null: there is one
    pool, or no answer).
    """

    sentence: str
    target: PlanTarget
    servers: int | None
    policy: str | None
    pools: dict[str, int] | None
    log: PlanLog
    workload: list[TypeOfLog]
    by_hour: list[float] | None
    by_day: list[float] | None
    carries: ServersBetween
    peak: PlanPeak
    policies: list[PlanPolicy]
    greedy: PlanGreedy
    growth: list[PlanGrowth]
    left_out: list[str]
    not_run: list[str]
    certificate: Any


class PlanTarget(Answer):
    """A share of VMs that is accepted at least (`accepted`), or a mean wait in seconds at most (`wait`)."""

    kind: str
    value: float


class PlanLog(Answer):
    """The log, when measuring begins, and what was guessed and dropped.

    `begins` is in seconds from 1970 (null: the log has no dates); `simulated` is the part on which policies ran (null:
    all of it).
    """

    arrivals: int
    seconds: float
    warmup: float
    begins: float | None
    notes: list[str]
    simulated: PlanPart | None


class PlanPart(Answer):
    """The busiest part of a log."""

    arrivals: int
    begins: float
    seconds: float


class TypeOfLog(Answer):
    """The workload of a type: mean jobs in service, and those at the fullest instant.

    `headroom` is the number of further jobs that fit, null where the servers do not carry the mean.
    """

    type: str
    arrivals: int
    arrivals_per_hour: float
    mean_hours: float | None
    jobs: float
    at_peak: int
    headroom: float | None


class ServersBetween(Answer):
    """Bounds of a least number of servers, both exact."""

    lower: int
    upper: int


class PlanPeak(Answer):
    """Servers that hold the VMs of every instant if they may be moved.

    Fewer than `lower` do not hold those of the instant `at`.
    """

    lower: int
    upper: int
    at: float
    jobs: dict[str, int]


class PlanPolicy(Answer):
    """The servers on which a policy meets the target (null: not met), and what it attains there and on one less.

    `resampled` has its servers on resampled logs, `range` their range.
    """

    policy: str
    servers: int | None
    pools: dict[str, int] | None
    attained: float
    one_less: float | None
    resampled: list[int | None]
    range: list[int] | None


class PlanGreedy(Answer):
    """What greedy reservation keeps of the optimal reward at this mix, and at the worst that was found.

    `worst_found` says that there is no worse mix.
    """

    ratio: float
    ratio_exact: Annotated[Exact, Of("ratio")]
    worst_ratio: float
    worst_ratio_exact: Annotated[Exact, Of("worst_ratio")]
    worst_found: bool
    worst_workload: dict[str, Exact]


class PlanGrowth(Answer):
    """What the log with more arrivals needs."""

    growth: float
    carries: ServersBetween
    servers: int | None
    pools: dict[str, int] | None
    attained: float
