"""Rules that divide a cluster among users, judged by shares, envy or utilisation (lies: `bounds.adversary.lies`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.adversary.answers import answer_of, is_short, most_of, shown
from bounds.adversary.choices import Measure
from bounds.adversary.engine import Judged, Row, Space, with_entry, without_entry
from bounds.adversary.sharing import fair_shares, greatest_utilisation, mean_utilisation
from theory.errors import ArgumentError, InputError
from theory.numbers import many, texts, total
from theory.sharing.allocation import Allocation
from theory.sharing.checks import infeasibility
from theory.sharing.model import Cluster, cluster
from theory.sharing.properties import worst_envy

DivisionRule = Callable[[Cluster], Sequence[Sequence[Fraction]]]  # to the tasks of each user on each server class
Measured = tuple[Fraction, dict[str, Any]]  # what a rule keeps, and the numbers behind it


@dataclass(frozen=True)
class Shape:
    """A cluster in whole numbers: capacity (I, R), demand (N, R), weight (N,), who may run where, eligible (N, I)."""

    capacity: tuple[tuple[int, ...], ...]
    demand: tuple[tuple[int, ...], ...]
    weight: tuple[int, ...]
    eligible: tuple[tuple[bool, ...], ...]

    def __str__(self) -> str:
        """Return the cluster on one line, as messages show it."""
        servers = [f"s{i} has {texts(row)}" for i, row in enumerate(self.capacity, 1)]
        users = [
            f"u{n} demands {texts(need)} at weight {weight} on "
            + " and ".join(f"s{i}" for i, may in enumerate(row, 1) if may)
            for n, (need, weight, row) in enumerate(zip(self.demand, self.weight, self.eligible, strict=True), 1)
        ]
        return "; ".join([*servers, *users])

    def cluster(self) -> Cluster:
        """Return the cluster."""
        return cluster(self.capacity, self.demand, self.weight, self.eligible)

    @property
    def size(self) -> tuple[int, int, int]:
        """Users, servers and resources."""
        return len(self.demand), len(self.capacity), len(self.capacity[0])

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


def judge_division(rule: DivisionRule, measure: str = "fair", name: str = "the rule") -> Callable[[Shape], Judged]:
    """Return the judge of a rule by a `Measure` other than ``lie``; all are exact.

    Raises
    ------
    InputError
        An unknown measure.
    """
    measured = measure_named(measure)

    def judge(shape: Shape) -> Judged:
        return shared_on(rule, shape.cluster(), measured, name, str(shape))

    return judge


def measure_named(measure: str) -> Callable[[Allocation], Measured]:
    """Return the function of a measure; an unknown one is refused."""
    measured = _MEASURED.get(measure)
    if measured is None:
        raise ArgumentError("measure", f"expected one of {', '.join(Measure)}, got {measure!r}")
    return measured


def shared_on(
    rule: DivisionRule,
    given: Cluster,
    measured: Callable[[Allocation], Measured],
    name: str = "the rule",
    about: str = "",
) -> Judged:
    """Return what a rule keeps on a cluster by a measure, exactly; `about` is said of it where the rule fails."""
    tasks = divided_by(rule, given, name, about)
    value, evidence = measured(Allocation(name, given, tuple(map(tuple, tasks))))
    return Judged(value, True, {"tasks": tasks, **evidence})


def divided_by(rule: DivisionRule, given: Cluster, name: str = "the rule", about: str = "") -> list[list[Fraction]]:
    """Return the tasks that a rule gives, exactly, shape (N, I); `about` is said of the cluster where it fails."""
    users, servers = len(given.users), len(given.servers)
    tasks = answer_of(
        lambda: [most_of(row, servers) for row in most_of(rule(given), users)], name, about, (InputError,)
    )
    if len(tasks) != users or any(len(row) != servers for row in tasks):
        raise InputError(name, f"expected tasks of {many(users, 'user')} on {many(servers, 'server')}")
    if any(type(x) not in (Fraction, int) or not is_short(x) for row in tasks for x in row):
        raise InputError(name, f"expected exact numbers of tasks (Fraction) of few digits, got {shown(tasks)}")
    exact = [[Fraction(x) for x in row] for row in tasks]
    # by a checker that shares no code with the mechanisms
    refused = infeasibility(given, exact)
    if refused is not None:
        raise InputError(name, f"the allocation is not feasible: {refused}")
    return exact


def least_fair_share(allocation: Allocation) -> Measured:
    """Return the least tasks over a fair share of the bottleneck resource, and these shares; 1 if there is none."""
    fair = fair_shares(allocation.cluster)
    if fair is None:
        return Fraction(1), {}
    return min(x / share for x, share in zip(allocation.totals, fair, strict=True) if share), {"fair": fair}


def least_equal_part(allocation: Allocation) -> Measured:
    """Return the least tasks over those of an equal part of every server, by weight, and these."""
    allocation.cluster.refuse_groups("equal parts of users", "their weights compare users of one group only")
    weights = total(allocation.cluster.weights)
    rows = zip(allocation.cluster.weights, allocation.cluster.monopoly, strict=True)
    parts = [weight / weights * total(row) for weight, row in rows]
    return min(x / part for x, part in zip(allocation.totals, parts, strict=True)), {"equal_parts": parts}


def utilisation_ratio(allocation: Allocation) -> Measured:
    """Return the mean utilisation over the greatest possible, and both."""
    used, most = mean_utilisation(allocation), greatest_utilisation(allocation.cluster)
    return used / most, {"utilisation": used, "greatest_utilisation": most}


def least_without_envy(allocation: Allocation) -> Measured:
    """Return the least tasks over those that a user could run with what another one holds, and who envies whom."""
    envy = worst_envy(allocation)
    if envy is None:
        return Fraction(1), {}
    n, m, other = envy
    users = allocation.cluster.users
    return allocation.totals[n] / other, {"user": users[n].name, "envies": users[m].name, "with_the_other": other}


_MEASURED = {
    "fair": least_fair_share,
    "equal-part": least_equal_part,
    "utilisation": utilisation_ratio,
    "envy": least_without_envy,
}


class DivisionSpace(Space[Shape]):
    """Clusters with numbers of users, servers and resources, in small whole numbers.

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
                tuple(tuple(self.entry(rng) for _ in range(self.resources)) for _ in range(self.servers)),
                tuple(tuple(self.entry(rng) for _ in range(self.resources)) for _ in range(self.users)),
                tuple(int(rng.integers(1, 4)) for _ in range(self.users)),
                tuple(tuple(bool(rng.random() < 0.75) for _ in range(self.servers)) for _ in range(self.users)),
            )
            if shape.makes_sense:
                return shape

    def entry(self, rng: np.random.Generator) -> int:
        """Draw a capacity or a demand: 0, or any order of magnitude equally often."""
        return 0 if rng.random() < 0.2 else min(self.largest, int(np.exp(rng.random() * np.log(self.largest + 1))))

    def move(self, case: Shape, rng: np.random.Generator) -> Shape:
        """Change a capacity, a demand, a weight, or whether a user may run on a server."""
        what = rng.random()
        n, i, r = (int(rng.integers(size)) for size in (self.users, self.servers, self.resources))
        if what < 0.4:
            moved = replace(case, capacity=changed(case.capacity, i, r, self.entry(rng)))
        elif what < 0.75:
            moved = replace(case, demand=changed(case.demand, n, r, self.entry(rng)))
        elif what < 0.85:
            moved = replace(case, weight=with_entry(case.weight, n, int(rng.integers(1, 10))))
        else:
            moved = replace(case, eligible=changed(case.eligible, n, i, not case.eligible[n][i]))
        return moved if moved.makes_sense else case

    def shrinks(self, case: Shape) -> Iterator[Shape]:
        """Drop a user, a server or a resource; let users run everywhere; halve numbers, and take 1 off them."""
        return (simpler for simpler in _smaller(case) if simpler.makes_sense)


def without_user(case: Shape, n: int) -> Shape:
    """Return the cluster without a user."""
    return Shape(
        case.capacity, without_entry(case.demand, n), without_entry(case.weight, n), without_entry(case.eligible, n)
    )


def changed(table: tuple[Row, ...], i: int, j: int, value: Any) -> tuple[Row, ...]:
    """Return a table with one entry changed."""
    return with_entry(table, i, with_entry(table[i], j, value))


def _smaller(case: Shape) -> Iterator[Shape]:
    users, servers, resources = len(case.demand), len(case.capacity), len(case.capacity[0])
    for n in range(users) if users > 1 else ():
        yield without_user(case, n)
    for i in range(servers) if servers > 1 else ():
        yield replace(
            case,
            capacity=without_entry(case.capacity, i),
            eligible=tuple(without_entry(row, i) for row in case.eligible),
        )
    for r in range(resources) if resources > 1 else ():
        capacity, demand = (tuple(without_entry(row, r) for row in table) for table in (case.capacity, case.demand))
        yield replace(case, capacity=capacity, demand=demand)
    for n, allowed in enumerate(case.eligible):
        for i, may in enumerate(allowed):
            if not may:
                yield replace(case, eligible=changed(case.eligible, n, i, True))
    for n, weight in enumerate(case.weight):
        if weight > 1:
            yield replace(case, weight=with_entry(case.weight, n, weight - 1))
    for number in ("zero", "half", "less"):
        yield from _lowered(case, number)


def _lowered(case: Shape, number: str) -> Iterator[Shape]:
    """Yield the cluster with one capacity or demand lowered."""
    for field in ("capacity", "demand"):
        table = getattr(case, field)
        for i, row in enumerate(table):
            for r, amount in enumerate(row):
                if amount:
                    lower = {"zero": 0, "half": amount // 2, "less": amount - 1}[number]
                    lowered: dict[str, Any] = {field: changed(table, i, r, lower)}
                    yield replace(case, **lowered)
