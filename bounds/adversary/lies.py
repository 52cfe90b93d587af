"""Lies that pay: a user of a cluster misreports its demand, or where it may run, and can run more tasks than before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from bounds.adversary.division import DivisionRule, DivisionSpace, Shape, changed, divided_by, without_user
from bounds.adversary.engine import Judged, Space, with_entry
from theory.numbers import text, texts
from theory.sharing.allocation import Allocation
from theory.sharing.strategy import utility_under


@dataclass(frozen=True)
class Misreport:
    """A cluster, a user of it, and what that user says of itself: the last row of `both`."""

    both: Shape
    liar: int

    def __str__(self) -> str:
        """Return the case on one line, as messages show it."""
        servers = ", ".join(f"s{i + 1}" for i, may in enumerate(self.both.eligible[-1]) if may)
        others = f" on {servers}" if self.both.eligible[-1] != self.truth.eligible[self.liar] else ""
        return f"{self.truth}; u{self.liar + 1} reports {texts(self.both.demand[-1])}{others}"

    @property
    def truth(self) -> Shape:
        """The cluster as it is."""
        return without_user(self.both, len(self.both.demand) - 1)

    @property
    def reported(self) -> Shape:
        """The cluster as the rule hears of it."""
        truth, n = self.truth, self.liar
        return replace(
            truth,
            demand=with_entry(truth.demand, n, self.both.demand[-1]),
            eligible=with_entry(truth.eligible, n, self.both.eligible[-1]),
        )

    @property
    def makes_sense(self) -> bool:
        """Whether the report differs from the truth, and every user can run somewhere."""
        return self.both.makes_sense and self.reported != self.truth


def outcome(rule: DivisionRule, case: Misreport, name: str) -> tuple[Allocation, Allocation, Fraction]:
    """Return the allocations of the truth and of the lie, and the tasks that the liar can run by lying."""
    truth, reported = case.truth.cluster(), case.reported.cluster()
    honest, lying = (
        Allocation(name, given, tuple(map(tuple, divided_by(rule, given, name, str(case)))))
        for given in (truth, reported)
    )
    return honest, lying, utility_under(truth, case.liar, reported.users[case.liar], lying)


def judge_lie(rule: DivisionRule, name: str = "the rule") -> Callable[[Misreport], Judged]:
    """Return the judge of a rule by lies: tasks by telling the truth over tasks by lying, at most 1, exact.

    The resources that the rule gives for the report are worth the tasks that the user can really run with them
    (`theory.sharing.strategy.utility_under`; formula (46) of the PS-DSF paper).
    """

    def judge(case: Misreport) -> Judged:
        honest, lying, tasks = outcome(rule, case, name)
        before = honest.totals[case.liar]
        names = [f"r{r + 1}" for r in range(len(case.both.capacity[0]))]
        said = dict(zip(names, map(str, case.both.demand[-1]), strict=True))
        servers = [f"s{i + 1}" for i, may in enumerate(case.both.eligible[-1]) if may]
        evidence = {
            "user": f"u{case.liar + 1}",
            "reported_demand": said,
            "reported_servers": servers,
            "tasks_by_truth": before,
            "tasks_by_lying": tasks,
            "factor": text(tasks / before) if before else None,
            "tasks": honest.tasks,
            "tasks_for_the_lie": lying.tasks,
        }
        return Judged(before / tasks if tasks > before else Fraction(1), True, evidence)

    return judge


class LieSpace(Space[Misreport]):
    """Clusters as of `DivisionSpace`, with a user who lies.

    Parameters
    ----------
    users, servers, resources, largest : int
    """

    def __init__(self, users: int = 2, servers: int = 2, resources: int = 2, largest: int = 60) -> None:
        self.users = users
        self._inner = DivisionSpace(users + 1, servers, resources, largest)

    def draw(self, rng: np.random.Generator) -> Misreport:
        """Draw a cluster, and a report near the truth, or, seldom, any report."""
        while True:
            case = Misreport(self._inner.draw(rng), int(rng.integers(self.users)))
            if rng.random() < 0.5:  # lies pay more often where every user may run everywhere
                everywhere = tuple((True,) * len(row) for row in case.both.eligible)
                case = replace(case, both=replace(case.both, eligible=everywhere))
            if rng.random() < 0.9:
                case = self._near_truth(case, rng)
            if case.makes_sense:
                return case

    def move(self, case: Misreport, rng: np.random.Generator) -> Misreport:
        """Change the cluster or the report, begin again near the truth, or let another user lie."""
        what = rng.random()
        if what < 0.7:
            moved = replace(case, both=self._inner.move(case.both, rng))
        elif what < 0.9:
            moved = self._near_truth(case, rng)
        else:
            moved = replace(case, liar=int(rng.integers(self.users)))
        return moved if moved.makes_sense else case

    def _near_truth(self, case: Misreport, rng: np.random.Generator) -> Misreport:
        """Let the liar ask for more of some resources, up to twice what makes them as scarce as its dominant one.

        Of one resource at least; now and then it leaves a server out, or adds one, as well.
        """
        truth, n = case.truth, case.liar
        users, servers, resources = truth.size
        capacity = [sum(column) for column in zip(*truth.capacity, strict=True)]
        shares = [Fraction(d, c) for d, c in zip(truth.demand[n], capacity, strict=True) if c]
        dominant = max(shares, default=Fraction(0))
        both, first = with_report(truth, n, truth.demand[n]), int(rng.integers(resources))
        for r in range(resources):
            if r == first or rng.random() < 0.3:
                # a quarter of the dominant share, up to twice it
                report = ceil(dominant * capacity[r] * int(rng.integers(1, 9)) / 4)
                report = min(self._inner.largest, max(truth.demand[n][r], report))
                both = replace(both, demand=changed(both.demand, users, r, report))
        if rng.random() < 0.1:
            i = int(rng.integers(servers))
            both = replace(both, eligible=changed(both.eligible, users, i, not truth.eligible[n][i]))
        return replace(case, both=both)

    def shrinks(self, case: Misreport) -> Iterator[Misreport]:
        """Drop a user who does not lie; then what shrinks a cluster."""
        for n in range(len(case.both.demand) - 1):
            if n != case.liar:
                yield Misreport(without_user(case.both, n), case.liar - (n < case.liar))
        for both in self._inner.shrinks(case.both):
            simpler = replace(case, both=both)
            if len(both.demand) == len(case.both.demand) and simpler.makes_sense:
                yield simpler


def with_report(truth: Shape, n: int, demand: tuple[int, ...]) -> Shape:
    """Return a cluster and, in the last row, the demand that user `n` reports, with its own servers."""
    return replace(
        truth,
        demand=(*truth.demand, demand),
        weight=(*truth.weight, truth.weight[n]),
        eligible=(*truth.eligible, truth.eligible[n]),
    )


def first_lies(truth: Shape) -> list[Misreport]:
    """Return lies to begin a search with: every user asks for twice as much of one resource, or for one unit."""
    lies = [
        Misreport(with_report(truth, n, with_entry(need, r, 2 * amount or 1)), n)
        for n, need in enumerate(truth.demand)
        for r, amount in enumerate(need)
    ]
    return [lie for lie in lies if lie.makes_sense]
