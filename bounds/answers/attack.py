"""Answers of ``packproof attack``."""

from __future__ import annotations

from typing import Annotated, Any

from bounds.answers.record import HIDDEN, Answer, Ends, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class Attack(CommandAnswer):
    """The worst instance found; `certified` says that the ratio is exact and proved by what stands beside it.

    Bins are counted from 0 here, as a rule for items returns them; text for people counts them from 1.
    """

    rule: Annotated[str, HIDDEN]
    kind: Annotated[str, Head("kind of rule")]
    ratio: Annotated[Exact, Head("ratio to what is possible")]
    ratio_float: Annotated[float, Of("ratio")]
    certified: Annotated[bool, Head("the ratio is exact and certified")]
    instance: Annotated[dict[str, Any], HIDDEN]
    evidence: Annotated[dict[str, Any], HIDDEN]
    evaluations: Annotated[int, Head("instances judged")]
    complete: Annotated[bool, Head("search ran to its end")]
    seconds: Annotated[float, Head("seconds of search", digits=3)]


class OnlineAttack(CommandAnswer):
    """The worst instance found for a policy.

    `ratio` is the traffic intensity at which queues grow (1: none was confirmed), or the share of the reward that a
    policy of loss systems keeps. `certified` is false: a simulation confirms, and does not prove; the intensity of
    a trap is exact.
    """

    policy: Annotated[str, HIDDEN]
    kind: Annotated[str, HIDDEN]
    model: Annotated[str, HIDDEN]
    ratio: Annotated[Exact, HIDDEN]
    ratio_float: Annotated[float, Of("ratio")]
    certified: Annotated[bool, HIDDEN]
    confirmed: Annotated[bool, Head("confirmed with a fresh seed")]
    instance: Annotated[dict[str, Any], HIDDEN]
    servers: int
    trap: TrapAnswer | None
    growth: Annotated[GrowthAnswer | None, Head("growth of the waiting work, in servers per unit of time")]
    share: Annotated[Measured | None, Head("share of the optimal reward")]
    reproduce: Annotated[str, HIDDEN]
    evaluations: Annotated[int, Head("instances judged")]
    complete: Annotated[bool, Head("search ran to its end")]
    seconds: Annotated[float, Head("seconds of search", digits=3)]


class TrapAnswer(Answer):
    """A regime that servers do not leave while the queues of some types are long."""

    growing: Annotated[list[str], Head("types whose jobs wait")]
    service: Annotated[dict[str, Exact], Head("mean jobs in service on all servers", by="type")]
    intensity: Annotated[Exact, Head("traffic intensity above which their queues grow")]
    contents: Annotated[list[dict[str, int]], Head("jobs of these types on each server")]
    fixed: Annotated[bool, Head("these jobs are the same in all states")]
    cause: Annotated[dict[str, int], Head("ratios of the queues that lead to it")]


class GrowthAnswer(Answer):
    """How the waiting work grew in two windows, in servers per unit of time, over the caught replications."""

    first: Annotated[Measured | None, Head("in the first window")]
    second: Annotated[Measured | None, Head("in the second window")]
    caught: Annotated[int, Head("replications that were caught")]
    replications: int


class Measured(Answer):
    """A mean over replications with its interval, which misses with the probability `alarm` at most."""

    mean: float
    interval: Ends
    alarm: float

    def in_words(self) -> str:
        """Return the mean with its interval."""
        low, high = self.interval
        ends = "" if low is None or high is None else f"  [{low:.4g}, {high:.4g}]"
        return f"{self.mean:.4g}{ends}"
