"""Answers of ``packproof attack``."""

from __future__ import annotations

from typing import Annotated, Any

from bounds.answers.record import Answer, Ends, Exact, Of
from bounds.answers.shared import CommandAnswer


class Attack(CommandAnswer):
    """The worst instance found; `certified` says that the ratio is exact and proved by what stands beside it.

    Bins are counted from 0 here, as a rule for items returns them; text for people counts them from 1.
    """

    rule: str
    kind: str
    ratio: Exact
    ratio_float: Annotated[float, Of("ratio")]
    certified: bool
    instance: dict[str, Any]
    evidence: dict[str, Any]
    evaluations: int
    complete: bool
    seconds: float


class OnlineAttack(CommandAnswer):
    """The worst instance found for a policy.

    `ratio` is the traffic intensity at which queues grow (1: none was confirmed), or the share of the reward that a
    policy of loss systems keeps. `certified` is false: a simulation confirms, and does not prove; the intensity of
    a trap is exact.
    """

    policy: str
    kind: str
    model: str
    ratio: Exact
    ratio_float: Annotated[float, Of("ratio")]
    certified: bool
    confirmed: bool
    instance: dict[str, Any]
    servers: int
    trap: TrapAnswer | None
    growth: GrowthAnswer | None
    share: Measured | None
    reproduce: str
    evaluations: int
    complete: bool
    seconds: float


class TrapAnswer(Answer):
    """A regime that servers do not leave while the queues of some types are long."""

    growing: list[str]
    service: dict[str, Exact]
    intensity: Exact
    contents: list[dict[str, int]]
    fixed: bool
    cause: dict[str, int]


class GrowthAnswer(Answer):
    """How the waiting work grew in two windows, in servers per unit of time, over the caught replications."""

    first: Measured | None
    second: Measured | None
    caught: int
    replications: int


class Measured(Answer):
    """A mean over replications with its interval, which misses with the probability `alarm` at most."""

    mean: float
    interval: Ends
    alarm: float
