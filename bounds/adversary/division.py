"""Rules that divide a cluster among users, judged by what the least favoured user keeps, or by the utilisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.adversary.engine import Judged, Space
from bounds.adversary.sharing import fair_shares, greatest_utilisation
from theory.errors import InputError
from theory.numbers import total
from theory.sharing.checks import is_feasible_allocation
from theory.sharing.model import Cluster, cluster

DivisionRule = Callable[[Cluster], Sequence[Sequence[Fraction]]]
"""From a cluster to the tasks of each user on each server class."""

MEASURES = ("fair-share", "equal-part", "utilisation")
"""``fair-share``: least tasks of a user over its weighted max-min fair share of the bottleneck resource (1 where no
resource is the bottleneck of all). ``equal-part``: least tasks over those that the user's weight's part of every server
would run (sharing incentive). ``utilisation``: mean utilisation of the resources over the greatest possible."""


@dataclass(frozen=True)
class Shape:
    """A cluster in whole numbers.

    Attributes
    ----------
    capacity : tuple of tuple of int, shape (I, R)
    demand : tuple of tuple of int, shape (N, R)
    weight : tuple of int, shape (N,)
    eligible : tuple of tuple of bool, shape (N, I)
    """

    capacity: tuple[tuple[int, ...], ...]
    demand: tuple[tuple[int, ...], ...]
    weight: tuple[int, ...]
    eligible: tuple[tuple[bool, ...], ...]

    def cluster(self) -> Cluster:
        """Return the cluster."""
        return cluster(self.capacity, self.demand, self.weight, self.eligible)

    @property
    def makes_sense(self) -> bool:
        """Whether every user needs something, and may use a server that has what it needs."""
        return all(
            any(need)
            and any(
                may and all(c or not d for d, c in zip(need, room, strict=True))
                for may, room in zip(row, self.capacity, strict=True)
            )
            for need, row in zip(self.demand, self.eligible, strict=True)
        )


def judge_division(
    rule: DivisionRule, measure: str = "fair-share", name: str = "the rule"
) -> Callable[[Shape], Judged]:
    """Return the judge of a rule by one of `MEASURES`; all are exact.

    Raises
    ------
    InputError
        An unknown measure.
    """
    if measure not in MEASURES:
        raise InputError(f"--measure: expected one of {', '.join(MEASURES)}, got {measure!r}")

    def judge(shape: Shape) -> Judged:
        given = shape.cluster()
        tasks = divided_by(rule, given, name)
        return Judged(_value(given, tasks, measure), True, {"tasks": tasks})

    return judge


def divided_by(rule: DivisionRule, given: Cluster, name: str = "the rule") -> list[list[Fraction]]:
    """Return the tasks that a rule gives, shape (N, I), exactly.

    Raises
    ------
    InputError
        The rule fails, gives another shape or inexact numbers, or more than the servers hold.
    """
    try:
        tasks = [list(row) for row in rule(given)]
    except Exception as error:
        raise InputError(f"{name}: {type(error).__name__}: {error}") from error
    if len(tasks) != len(given.users) or any(len(row) != len(given.servers) for row in tasks):
        raise InputError(f"{name}: expected tasks of {len(given.users)} users on {len(given.servers)} servers")
    if any(type(x) not in (Fraction, int) for row in tasks for x in row):
        raise InputError(f"{name}: expected exact numbers of tasks (Fraction), got {tasks!r:.80}")
    exact = [[Fraction(x) for x in row] for row in tasks]
    if not is_feasible_allocation(given, exact):
        raise InputError(f"{name}: {tasks!r:.120} is not feasible")
    return exact


def _value(given: Cluster, tasks: list[list[Fraction]], measure: str) -> Fraction:
    totals = [total(row) for row in tasks]
    if measure == "fair-share":
        fair = fair_shares(given)
        return Fraction(1) if fair is None else min(x / share for x, share in zip(totals, fair, strict=True) if share)
    if measure == "equal-part":
        weights = total(user.weight for user in given.users)
        parts = [user.weight / weights * total(row) for user, row in zip(given.users, given.monopoly, strict=True)]
        return min(x / part for x, part in zip(totals, parts, strict=True))
    return _utilisation(given, tasks) / greatest_utilisation(given)


def _utilisation(given: Cluster, tasks: list[list[Fraction]]) -> Fraction:
    """Return the utilisation averaged over the classes and their resources (those with none of a resource left out)."""
    parts = [
        total(row[i] * user.demand[r] for row, user in zip(tasks, given.users, strict=True)) / (s.count * s.capacity[r])
        for i, s in enumerate(given.servers)
        for r in range(len(given.resources))
        if s.capacity[r]
    ]
    return total(parts) / len(parts)


class DivisionSpace(Space[Shape]):
    """Clusters with so many users, servers and resources, in small whole numbers.

    Parameters
    ----------
    users, servers, resources : int
    largest : int
        Capacity or demand at most.
    """

    def __init__(self, users: int = 2, servers: int = 2, resources: int = 2, largest: int = 60) -> None:
        self.users, self.servers, self.resources, self.largest = users, servers, resources, largest

    def draw(self, rng: np.random.Generator) -> Shape:
        """Draw capacities and demands, some of them 0, and who may run where."""
        while True:
            shape = Shape(
                tuple(tuple(self._entry(rng) for _ in range(self.resources)) for _ in range(self.servers)),
                tuple(tuple(self._entry(rng) for _ in range(self.resources)) for _ in range(self.users)),
                tuple(int(rng.integers(1, 4)) for _ in range(self.users)),
                tuple(tuple(bool(rng.random() < 0.75) for _ in range(self.servers)) for _ in range(self.users)),
            )
            if shape.makes_sense:
                return shape

    def _entry(self, rng: np.random.Generator) -> int:
        return 0 if rng.random() < 0.2 else min(self.largest, int(np.exp(rng.random() * np.log(self.largest + 1))))

    def move(self, case: Shape, rng: np.random.Generator) -> Shape:
        """Change a capacity, a demand, a weight, or whether a user may run on a server."""
        what = rng.random()
        n, i, r = (int(rng.integers(size)) for size in (self.users, self.servers, self.resources))
        if what < 0.4:
            made = replace(case, capacity=_with(case.capacity, i, r, self._entry(rng)))
        elif what < 0.75:
            made = replace(case, demand=_with(case.demand, n, r, self._entry(rng)))
        elif what < 0.85:
            weight = int(rng.integers(1, 10))
            made = replace(case, weight=(*case.weight[:n], weight, *case.weight[n + 1 :]))
        else:
            made = replace(case, eligible=_with(case.eligible, n, i, not case.eligible[n][i]))
        return made if made.makes_sense else case

    def shrinks(self, case: Shape) -> Iterator[Shape]:
        """Drop a user, a server or a resource; let users run everywhere; halve numbers, and take 1 off them."""
        for made in _smaller(case):
            if made.makes_sense:
                yield made


def _with(table: tuple[tuple[Any, ...], ...], i: int, j: int, value: Any) -> tuple[tuple[Any, ...], ...]:
    """Return a table with one entry changed."""
    row = (*table[i][:j], value, *table[i][j + 1 :])
    return (*table[:i], row, *table[i + 1 :])


def _smaller(case: Shape) -> Iterator[Shape]:
    users, servers, resources = len(case.demand), len(case.capacity), len(case.capacity[0])
    for n in range(users) if users > 1 else ():
        yield Shape(case.capacity, _drop(case.demand, n), _drop(case.weight, n), _drop(case.eligible, n))
    for i in range(servers) if servers > 1 else ():
        yield replace(case, capacity=_drop(case.capacity, i), eligible=tuple(_drop(row, i) for row in case.eligible))
    for r in range(resources) if resources > 1 else ():
        capacity, demand = (tuple(_drop(row, r) for row in table) for table in (case.capacity, case.demand))
        yield replace(case, capacity=capacity, demand=demand)
    for n, allowed in enumerate(case.eligible):
        for i, may in enumerate(allowed):
            if not may:
                yield replace(case, eligible=_with(case.eligible, n, i, True))
    for n, weight in enumerate(case.weight):
        if weight > 1:
            yield replace(case, weight=(*case.weight[:n], weight - 1, *case.weight[n + 1 :]))
    for number in ("zero", "half", "less"):
        yield from _lowered(case, number)


def _lowered(case: Shape, number: str) -> Iterator[Shape]:
    """Yield the cluster with one capacity or demand lowered."""
    for i, room in enumerate(case.capacity):
        for r, amount in enumerate(room):
            if amount:
                yield replace(case, capacity=_with(case.capacity, i, r, _lower(amount, number)))
    for n, need in enumerate(case.demand):
        for r, amount in enumerate(need):
            if amount:
                yield replace(case, demand=_with(case.demand, n, r, _lower(amount, number)))


def _lower(amount: int, number: str) -> int:
    return {"zero": 0, "half": amount // 2, "less": amount - 1}[number]


def _drop(row: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    return (*row[:i], *row[i + 1 :])
