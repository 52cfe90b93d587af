"""Answers of ``packproof share``."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, Answer, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class Shares(CommandAnswer):
    """One allocation; tasks and allocation are totals over a server class.

    `ignored` names the lines of the file that the mechanism does not use; `feasible` says whether the tasks fit the
    cluster all the same (left out if that is not decided). `price` is given for time division. `most_tasks` has
    the caps of the users that have one. `groups` says what each group holds, where users are in groups: a user
    without a group is one of its own, and in Jain's index and Nash welfare a user has its part of its group's weight.
    """

    mechanism: str
    division: Annotated[str, Head("servers are divided by")]
    exact: Annotated[bool, Head("tasks are exact")]
    tasks: Annotated[dict[str, float], HIDDEN]
    tasks_exact: Annotated[dict[str, Exact] | None, Of("tasks"), Head("tasks", by="user")]
    allocation: Annotated[dict[str, dict[str, float]], Head("tasks by user and server class", by="user, server")]
    utilisation: Annotated[
        dict[str, dict[str, float]],
        Head("in use, by server class and resource", digits=4, share=True, by="server, resource"),
    ]
    jain_index: Annotated[float, Head("Jain's index", digits=4)]
    nash_welfare: Annotated[float, Head("Nash welfare", digits=4)]
    rounds: Annotated[int | None, Head("rounds of the algorithm")]
    damped: Annotated[bool, HIDDEN]
    properties: Annotated[dict[str, Property], HIDDEN]
    whole: Annotated[Whole | UnsetType, HIDDEN] = UNSET
    price: Annotated[Price | UnsetType, HIDDEN] = UNSET
    ignored: Annotated[list[str] | UnsetType, HIDDEN] = UNSET
    feasible: Annotated[bool | UnsetType, Head("the tasks fit this cluster")] = UNSET
    most_tasks: Annotated[dict[str, Exact] | UnsetType, Head("wants at most", by="user")] = UNSET
    groups: Annotated[list[GroupHoldings] | UnsetType, Head("what groups hold")] = UNSET


class GroupHoldings(Answer):
    """What a group of users holds of all servers together.

    `share` is the greatest part of a resource, and `due` its part of the weights of all groups.
    """

    group: str
    weight: Exact
    users: Annotated[list[str], HIDDEN]
    share: Annotated[Exact, Head("dominant share", digits=4, share=True)]
    due: Annotated[Exact, Head("part by weight", digits=4, share=True)]


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
    division: Annotated[str, Head("servers are divided by")]
    evidence: str
    valid: bool
    tolerance: Annotated[float, Head("distance that is allowed", digits=4)]
    violation: Annotated[float | None, Head("distance from the conditions of the mechanism", digits=4)]
    overload: Annotated[float | None, Head("a server is loaded beyond its capacity, at most", digits=4, share=True)]
    bottleneck: Annotated[float | None, Head("the same, without loads beyond capacity", digits=4)]
    user: Annotated[str | None, HIDDEN]
    server: Annotated[str | None, HIDDEN]
    reason: Annotated[str | None, HIDDEN]


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
    division: Annotated[str, Head("servers are divided by")]
    exact: Annotated[bool, HIDDEN]
    evidence: str
    tolerance: Annotated[float, Head("distance that was asked for", digits=4)]
    violation: Annotated[float, Head("distance from the conditions of the mechanism", digits=4)]
    user: Annotated[str | None, HIDDEN]
    server: Annotated[str | None, HIDDEN]
    rounds: Annotated[int | None, Head("rounds of the algorithm")]
    interrupted: Annotated[bool, Head("stopped before its end")]
    tasks: Annotated[dict[str, float], Head("tasks", by="user")]
    allocation: Annotated[dict[str, dict[str, float]], Head("tasks by user and server class", by="user, server")]
    utilisation: Annotated[
        dict[str, dict[str, float]],
        Head("in use, by server class and resource", digits=4, share=True, by="server, resource"),
    ]
    jain_index: Annotated[float, Head("Jain's index", digits=4)]
    nash_welfare: Annotated[float, Head("Nash welfare", digits=4)]
    properties: Annotated[dict[str, Property], HIDDEN]
    prices: Annotated[list[dict[str, dict[str, float]]] | None, HIDDEN]
