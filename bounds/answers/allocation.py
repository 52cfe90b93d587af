"""The answer of ``packproof share --allocation``: what is true of an allocation that somebody made."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, Answer, Exact, Head, Of, expect_keys
from bounds.answers.shared import CommandAnswer
from bounds.answers.sharing import GroupHoldings, Property


class JudgedShares(CommandAnswer):
    """Whether an allocation fits, its properties, who envies whom, and how far it is from each mechanism.

    Tasks are as they were given, totals over a server class. `gaps` says by how much properties fail, as a part of 1.
    """

    feasible: Annotated[bool, Head("the tasks fit this cluster")]
    tolerance: Annotated[float, Head("tolerated", digits=4)]
    tasks: Annotated[dict[str, float], HIDDEN]
    tasks_exact: Annotated[dict[str, Exact], Of("tasks"), Head("tasks", by="user")]
    utilisation: Annotated[
        dict[str, dict[str, float]],
        Head("in use, by server class and resource", digits=4, share=True, by="server, resource"),
    ]
    overloads: Annotated[list[OverloadedServer], Head("beyond capacity")]
    misplaced: Annotated[list[MisplacedTasks], Head("tasks where they may not run")]
    properties: Annotated[dict[str, Property], HIDDEN]
    gaps: Annotated[dict[str, float], HIDDEN]
    envious: Annotated[list[EnviousUser], Head("who envies whom")]
    distances: Annotated[list[FromMechanism], Head("how far the tasks are from those by each mechanism")]
    groups: Annotated[list[GroupHoldings] | UnsetType, Head("what groups hold")] = UNSET
    unwanted: Annotated[list[UnwantedTasks] | UnsetType, Head("more tasks than wanted")] = UNSET
    most_tasks: Annotated[dict[str, Exact] | UnsetType, Head("wants at most", by="user")] = UNSET
    unwhole: Annotated[list[UnwholeTasks] | UnsetType, Head("more tasks than single servers hold whole")] = UNSET

    def __post_init__(self) -> None:
        """Refuse distances of other users than those that have tasks."""
        expect_keys(self.tasks, "tasks", {f"distances[{i}].tasks": one.tasks for i, one in enumerate(self.distances)})


class OverloadedServer(Answer):
    """A resource of a server class of which more is used than there is."""

    server: str
    resource: str
    used: Exact
    capacity: Exact
    over: Annotated[Exact, Head("too much")]
    part: Annotated[float, Head("of the capacity", digits=4, share=True)]


class MisplacedTasks(Answer):
    """Tasks of a user on a server class that it may not use, or that lacks what they demand."""

    user: str
    server: str
    tasks: Exact


class UnwantedTasks(Answer):
    """A user that has more tasks than its cap (``most_tasks``)."""

    user: str
    tasks: Exact
    most_tasks: Annotated[Exact, Head("wants at most")]


class UnwholeTasks(Answer):
    """Tasks of a user that a server class holds as a whole, of which its servers hold fewer one by one.

    `most_whole` counts whole tasks of this user alone.
    """

    user: str
    server: str
    tasks: Exact
    most_whole: Annotated[int, Head("whole ones at most, of this user alone")]


class EnviousUser(Answer):
    """A user, and another with whose resources, scaled by weight, it would run more tasks."""

    user: str
    envies: str
    tasks: Annotated[Exact, Head("its tasks")]
    with_the_other: Annotated[Exact, Head("with the other's")]
    more: Annotated[Exact, Head("more")]


class FromMechanism(Answer):
    """The greatest difference of a user's tasks from those by a mechanism, in parts of what it could run alone.

    `fulfils` says whether the allocation is itself one that the mechanism defines. `ignored` names what the mechanism
    does not use of the file.
    """

    mechanism: str
    fulfils: Annotated[bool, Head("is such an allocation")]
    part: Annotated[float, Head("distance", digits=4, share=True)]
    part_exact: Annotated[Exact, Of("part")]
    user: Annotated[str, Head("furthest")]
    tasks: Annotated[dict[str, float], HIDDEN]
    tasks_exact: Annotated[dict[str, Exact] | None, Of("tasks"), HIDDEN]
    ignored: Annotated[list[str] | UnsetType, HIDDEN] = UNSET
