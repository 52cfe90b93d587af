"""PS-DSF in motion: servers update on their own clocks while users come and go."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.files.document import read_document
from theory.files.record import Expected, Placed, Range, Tables, read_file
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster, occupation
from theory.sharing.rounds import start
from theory.shown import Shown

MAX_PERIODS = 10**6
"""Longest run."""

_Positive = Annotated[Fraction, Range(0, above=True)]


@dataclass(frozen=True)
class EventTable(Placed):
    """A user comes or goes; one whose first event is an arrival is away at the start."""

    time: Annotated[Fraction, Range(0), "when, in order"]
    user: Annotated[str, Expected("a name"), "of the cluster"]
    action: Annotated[Literal["arrive", "leave"], Expected("arrive or leave"), "what it does"]


@dataclass(frozen=True)
class EventsFile:
    """Users who come and go while every server updates on its own clock: what `share --events` reads."""

    SIGN: ClassVar = "event"

    until: Annotated[_Positive, "the end"]
    event: Annotated[tuple[EventTable, ...], Tables("at least one table [[event]]"), "in order of time"]
    period: Annotated[_Positive, "in which each server updates once"] = Fraction(1)

    def __post_init__(self) -> None:
        if self.until / self.period > MAX_PERIODS:
            raise InputError("until", f"expected at most {MAX_PERIODS} periods")
        if self.until < self.period:
            raise InputError("period", f"expected at most until, {self.until}, got {self.period}")


@dataclass(frozen=True)
class Event:
    """A user arrives or leaves."""

    time: Fraction
    user: int
    arrives: bool


@dataclass(frozen=True)
class Schedule:
    """Users coming and going, and the clocks of the servers."""

    events: tuple[Event, ...]  # in order of time
    until: Fraction
    period: Fraction = Fraction(1)  # each server updates once a period, the servers evenly spread over it

    def present_at_start(self, users: int) -> NDArray[np.bool_]:
        """Return which users are there at time 0: all but those whose first event is an arrival."""
        here = np.ones(users, dtype=bool)
        for event in reversed(self.events):
            here[event.user] = not event.arrives
        return here


@dataclass(frozen=True, repr=False)
class History(Shown):
    """What happened: one row a period, at its end."""

    time: NDArray[np.float64]  # [T]
    tasks: NDArray[np.float64]  # [T, N, K]
    utilisation: NDArray[np.float64]  # [T, K, R]
    present: NDArray[np.bool_]  # [T, N]


def read_schedule(path: str | Path, cluster: Cluster) -> Schedule:
    """Read users arriving and leaving from a TOML or JSON file.

    Raises
    ------
    InputError
    """
    return parse_schedule(read_document(path), cluster, str(path))


def parse_schedule(document: Mapping[str, Any], cluster: Cluster, source: str = "events") -> Schedule:
    """Turn a document into a schedule (see `read_schedule`); `source` names it in errors."""
    file = read_file(EventsFile, document, source)
    names = [user.name for user in cluster.users]
    events: list[Event] = []
    state: dict[int, bool] = {}
    for one in file.event:
        if one.user not in names:
            one.at.fail("user", f"expected a user of the cluster ({', '.join(names)}), got {one.user!r}")
        if events and one.time < events[-1].time:
            one.at.fail("time", "expected events in order of time")
        user, arrives = names.index(one.user), one.action == "arrive"
        if state.get(user, not arrives) == arrives:
            other, where = ("leave", "here") if arrives else ("arrive", "away")
            one.at.fail("action", f"expected {other}: {one.user!r} is {where} already")
        state[user] = arrives
        events.append(Event(one.time, user, arrives))
    return Schedule(tuple(events), file.until, file.period)


def run_schedule(
    cluster: Cluster, schedule: Schedule, *, division: str = "resource", order: Sequence[int] = ()
) -> History:
    """Let every server run its part of Algorithm I on its own clock while users come and go.

    Parameters
    ----------
    cluster : Cluster
    schedule : Schedule
    division : {"resource", "time"}
    order : sequence of int, optional
        Order of the servers within a period; file order where left out.

    Returns
    -------
    History
        Floats.

    Notes
    -----
    A server sees its own tasks and the totals of the users, nothing of the other servers (Section III-D of the PS-DSF
    paper). A user that leaves frees its resources at once; they are taken up as servers update. One update costs
    O(N^2 R) at worst.

    Examples
    --------
    >>> from theory.sharing import cluster
    >>> away = Schedule((Event(Fraction(1), 1, False),), Fraction(3))
    >>> run_schedule(cluster([[4]], [[1], [1]]), away).tasks[:, 0, 0].tolist()
    [2.0, 4.0, 4.0]
    """
    cluster.refuse_caps_and_groups("PS-DSF")
    state = start(occupation(cluster, division), exact=False)
    users, servers = state.tasks.shape
    here = schedule.present_at_start(users)
    state.tasks[~here] = 0
    state.totals = state.tasks.sum(axis=1)
    use = np.array([[[float(v) for v in cluster.use(n, i)] for i in range(servers)] for n in range(users)])
    capacity = np.array([[float(c) for c in row] for row in cluster.capacity])
    sequence = list(order) or list(range(servers))
    # every time is a whole number of ticks; of what happens at one time, the look at the end of a period comes first,
    # then users, then servers
    times_of = (schedule.period / servers, *(event.time for event in schedule.events))
    tick = Fraction(1, lcm(*(time.denominator for time in times_of)))
    period = int(schedule.period / tick)
    queue: list[tuple[int, int, int]] = [(int(event.time / tick), 0, e) for e, event in enumerate(schedule.events)]
    queue += [(period // servers * place, 1, i) for place, i in enumerate(sequence)]
    queue.append((period, -1, 0))
    heapq.heapify(queue)
    times, tasks, used, present = [], [], [], []
    last = floor(schedule.until / tick)
    while queue and queue[0][0] <= last:
        now, kind, item = heapq.heappop(queue)
        if kind == 0:
            event = schedule.events[item]
            here[event.user] = event.arrives
            if not event.arrives:
                state.tasks[event.user] = 0
                state.totals[event.user] = 0
            continue
        if kind == 1:
            state.serve(item, here)
        else:
            state.totals = state.tasks.sum(axis=1)  # no rounding error survives a period
            times.append(float(now * tick))
            tasks.append(state.tasks.copy())
            amounts = (state.tasks[:, :, None] * use).sum(axis=0)
            used.append(np.divide(amounts, capacity, out=np.zeros_like(amounts), where=capacity > 0))
            present.append(here.copy())
        heapq.heappush(queue, (now + period, kind, item))
    return History(np.array(times), np.array(tasks), np.array(used), np.array(present))


def run_at_once(cluster: Cluster, schedule: Schedule, mechanism: Callable[[Cluster], Allocation]) -> History:
    """Let a mechanism divide the cluster anew, at once, whenever users come or go, once for each set of users.

    The mechanism's allocation is by the servers of the cluster (all of `theory.sharing.mechanisms` but ``drf``). The
    history is that at the ends of the periods: what happens at such a time shows in the next period.

    >>> from theory.sharing import cluster, tsf
    >>> away = Schedule((Event(Fraction(1), 1, False),), Fraction(3))
    >>> run_at_once(cluster([[4]], [[1], [1]]), away, tsf).tasks[:, 0, 0].tolist()
    [2.0, 4.0, 4.0]
    """
    users, servers, width = len(cluster.users), len(cluster.servers), len(cluster.resources)
    here = schedule.present_at_start(users).tolist()
    by_presence: dict[tuple[bool, ...], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    times, states, waiting = [], [], list(schedule.events)
    for n in range(1, int(schedule.until / schedule.period) + 1):
        while waiting and waiting[0].time < n * schedule.period:
            event = waiting.pop(0)
            here[event.user] = event.arrives
        times.append(float(n * schedule.period))
        states.append(tuple(here))
        # the mechanism depends on who is present alone, so it runs once for each such set
        if states[-1] not in by_presence:
            tasks, used = np.zeros((users, servers)), np.zeros((servers, width))
            present = [n for n, there in enumerate(here) if there]
            if present:
                allocation = mechanism(cluster.with_users(present))
                tasks[present] = [[float(x) for x in row] for row in allocation.tasks]
                used[:] = [[float(allocation.utilisation(i, r)) for r in range(width)] for i in range(servers)]
            by_presence[states[-1]] = tasks, used
    tasks, used = (np.array([by_presence[state][k] for state in states]) for k in (0, 1))
    return History(np.array(times), tasks, used, np.array(states))
