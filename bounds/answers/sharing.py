"""Answers of ``packproof share``."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import CommandAnswer


class Shares(CommandAnswer):
    """One allocation; tasks and allocation are totals over a server class.

    `ignored` names the lines of the file that the mechanism does not use; `feasible` says whether the tasks fit the
    cluster all the same (left out if that is not decided). `price` is given for time division.
    """

    mechanism: str
    division: str
    exact: bool
    tasks: dict[str, float]
    tasks_exact: Annotated[dict[str, Exact] | None, Of("tasks")]
    allocation: dict[str, dict[str, float]]
    utilisation: dict[str, dict[str, float]]
    jain_index: float
    nash_welfare: float
    rounds: int | None
    damped: bool
    properties: dict[str, Property]
    whole: Whole | UnsetType = UNSET
    price: Price | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET
    feasible: bool | UnsetType = UNSET


class Property(Answer):
    """Whether a property holds (null: not decided), with a witness."""

    holds: bool | None
    witness: dict[str, Any] | None


class Price(Answer):
    """What fairness costs: the sum of users' parts of what each could run alone on all servers, and the greatest one.

    `guaranteed` is (2 sqrt(N) - 1)/N, the least part of the greatest sum that N users of equal weights keep (left out
    where weights differ).
    """

    parts: Exact
    greatest: Exact
    kept: float
    guaranteed: float | UnsetType = UNSET


class Whole(Answer):
    """Whole tasks, and what rounding to them loses."""

    tasks: dict[str, int]
    allocation: dict[str, dict[str, int]]
    lost: dict[str, Exact]
    lost_part: float


class AllShares(CommandAnswer):
    """All mechanisms side by side."""

    mechanism: str
    mechanisms: dict[str, Shares]


class CheckedShares(CommandAnswer):
    """How far a stored allocation is from the conditions of its mechanism (null: no tolerance excuses it)."""

    mechanism: str
    division: str
    evidence: str
    valid: bool
    tolerance: float
    violation: float | None
    overload: float | None
    bottleneck: float | None
    user: str | None
    server: str | None
    reason: str | None


class InMotion(CommandAnswer):
    """A run with users coming and going, at the end of each period."""

    mechanism: str
    time: list[float]
    tasks: dict[str, list[float]]
    present: dict[str, list[bool]]
    utilisation: dict[str, dict[str, list[float]]]


class AllInMotion(CommandAnswer):
    """Runs of all mechanisms that divide servers, with the same users coming and going."""

    mechanism: str
    mechanisms: dict[str, InMotion]


class NumericShares(CommandAnswer):
    """Shares within a tolerance.

    Tasks and allocation are totals over a server class, zeros left out of allocation. Prices, of mechanisms that
    are max-min fair in one number a user, are by stage, server and resource, of the whole of each resource; zeros
    are left out.
    """

    mechanism: str
    division: str
    exact: bool
    evidence: str
    tolerance: float
    violation: float
    user: str | None
    server: str | None
    rounds: int | None
    interrupted: bool
    tasks: dict[str, float]
    allocation: dict[str, dict[str, float]]
    utilisation: dict[str, dict[str, float]]
    jain_index: float
    nash_welfare: float
    properties: dict[str, Property]
    prices: list[dict[str, dict[str, float]]] | None
