"""Claims of the auto-scaling paper that hold at every event of dynamic reservation, on every path.

An observer is called after every admission and departure of runs in plain Python, and computes the quantities of the
paper from the servers and their jobs alone: the stages of Algorithm 1, effective servers (21), the deficit Psi (22),
ranks, the reject group. Each check is in whole numbers; the runs are samples, each of their events is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.autoscaling.greedy import STAGES_MATTER
from bounds.results.instances.drawn import dynamic_instance
from bounds.results.instances.families import limited_by_draining
from bounds.results.instances.papers import four_types
from bounds.results.reproduction import reproduction
from bounds.views.panels import Panel, Span, Spans
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.slot_lists import CONFIGURATION, OLDER
from fluid.simulation.measures import ARRIVAL, DEPARTURE, MIGRATION, REFUSAL
from fluid.simulation.policy_names import policy
from theory.errors import InputError, expect_number
from theory.exact.knapsack import maximal
from theory.greedy.assignment import MaxRewards, greedy_configurations
from theory.greedy.servers import greedy_placement, max_jobs
from theory.instance import Configuration, Instance, additive

SEED = 184


@dataclass(frozen=True)
class Sight:
    """The quantities of the paper after one event."""

    kind: int  # the event, its type and its server, as in the log
    job_type: int
    server: int
    moves: list[tuple[int, int, int]]  # migrations at this event: type, from, to
    order: dict[Configuration, list[int]]  # servers of each configuration, newest first
    jobs: list[list[int]]  # int[L, J]
    plan: dict[Configuration, int]  # servers that Algorithm 1 gives to each configuration
    rejects: frozenset[int]  # the reject group: index 1, and a rank beyond the first unmatched stage
    beyond: frozenset[int]  # all servers of such a rank

    def effective(self, k: Configuration) -> int:
        """X^e of (21)."""
        return min(len(self.order.get(k, ())), self.plan.get(k, 0))

    def totals(self) -> list[int]:
        """Y_j of (3)."""
        return [sum(column) for column in zip(*self.jobs, strict=True)]

    def deficits(self, listed: list[Configuration], reserve: int) -> list[list[int]]:
        """Psi_j^(i) of (22), by place in the list of greedy configurations."""
        total = [0] * len(self.jobs[0])
        jobs, rows = self.totals(), []
        for k in listed:
            x = self.effective(k)
            total = [t + slots * x for t, slots in zip(total, k, strict=True)]
            rows.append([t - y - reserve for t, y in zip(total, jobs, strict=True)])
        return rows


@dataclass
class Observer:
    """Records every event of a run: call it as the ``watch`` of the run."""

    instance: Instance
    reserve: int
    rewards: MaxRewards = field(init=False)
    seen: list[Sight] = field(default_factory=list)
    row: int = 0

    def __post_init__(self) -> None:
        self.rewards = MaxRewards(self.instance)

    def __call__(self, state: Any, _jobs: Any, measures: Any) -> None:
        """Record the state after an event."""
        rows = measures.log[self.row : int(measures.logged[0]), 1:5].astype(int).tolist()
        self.row = int(measures.logged[0])
        kind, job_type, server, _ = rows[0]
        moves = [(j, source, target) for what, j, source, target in rows[1:] if what == MIGRATION]
        order: dict[Configuration, list[int]] = {}
        for c, row in enumerate(state.configurations.tolist()):
            member = int(state.newest[c])  # the list of a configuration goes from its newest server to its oldest
            while member >= 0:
                assert state.rows[member, CONFIGURATION] == c
                order.setdefault(tuple(row), []).append(member)
                member = int(state.rows[member, OLDER])
        jobs = state.counts.tolist()
        plan = self.placed([sum(column) for column in zip(*jobs, strict=True)], len(jobs))
        beyond = self.beyond(order, plan)
        newest_of = {servers[0] for servers in order.values()}
        self.seen.append(Sight(kind, job_type, server, moves, order, jobs, plan, frozenset(beyond & newest_of), beyond))

    def placed(self, jobs: list[int], servers: int) -> dict[Configuration, int]:
        """Run Algorithm 1 on the jobs and the reservation (19)."""
        workload = [Fraction(n + self.reserve, servers) for n in jobs]
        stages = greedy_placement(self.instance.with_workload(workload), servers, self.rewards).stages
        return {stage.configurations[0]: stage.servers[0] for stage in stages}

    def beyond(self, order: dict[Configuration, list[int]], plan: dict[Configuration, int]) -> frozenset[int]:
        """Return the servers of rank beyond the first unmatched stage, none where every stage is matched."""
        rank = {s: len(plan) + 1 for servers in order.values() for s in servers}
        unmatched = None
        for i, (k, wanted) in enumerate(plan.items(), 1):
            servers = order.get(k, [])
            for s in servers[max(0, len(servers) - wanted) :]:
                rank[s] = i
            if len(servers) < wanted and unmatched is None:
                unmatched = i
        return frozenset(s for s, r in rank.items() if unmatched is not None and r > unmatched)


@lru_cache(maxsize=8)
def watched(
    instance: Instance, servers: int, events: float, reserve: int, seed: int, *, full: bool, migration: bool
) -> Observer:
    """Run dynamic reservation for about `events` events, from empty or full servers, and return the observer.

    The claims of this file look at the same runs, which are cached as far as one round of them needs it.
    """
    rate = servers * sum(float(t.workload * t.service_rate) for t in instance.types)
    row = maximal(instance.pools[0].space)[-1].astype(np.int32)
    initial = np.tile(row, (servers, 1)) if full else None
    options, until = {"reservation": reserve, "migration": migration}, events / (2 * rate)
    scenario = LossScenario(instance, servers, until, 0.0, initial=initial, bins=1, log=10**5, options=options)
    observer = Observer(instance, reserve)
    run_once(policy("dra"), scenario, seed, python=True, watch=observer)
    return observer


RESERVATIONS = (1, 3, 8, 60)
"""The reservations g of the runs that are watched, in turn."""


def _runs(rounds: int, events: int, reservations: Sequence[int], *, migration: bool = True) -> Iterator[Observer]:
    """Yield watched runs: random instances and three by name, from empty and from full servers, in rounds of eight."""
    expect_number(rounds, "rounds", 1)
    expect_number(events, "events", 1)
    if not reservations:
        raise InputError("reservations", "expected a whole number or more, got none")
    drawn = [dynamic_instance(seed) for seed in (3, 8, 17, 32, 59)]
    named = [limited_by_draining()["drains two types"], four_types(), STAGES_MATTER]
    for n, instance in enumerate([*drawn, *named] * rounds):
        reserve = reservations[n % len(reservations)]
        yield watched(instance, 20 + n % 20, events, reserve, SEED + n, full=n % 2 == 1, migration=migration)


@claim(
    "remark-2",
    "The reject group stays small in watched runs",
    "At every event of watched runs: the reject group has at most one server of each configuration; arriving jobs are "
    "placed in the accept group; a departure pulls at most one job, of its type, from the reject group into the slot "
    "that it freed in the accept group, and none where it leaves the reject group.",
    source="Remark 2",
    printed=(
        "at most one server per configuration in the Reject Group; admissions and migrations go to the Accept Group"
    ),
    evidence=Evidence.certified,
    full={"rounds": 10},
    tiny={"events": 100},
    controls={
        "servers of every index are rejected": {"rejected": attrgetter("beyond")},
        "the groups are those after the event": {"groups_after": True},
        "no migration": {"migration": False},
    },
)
def remark_2(
    rounds: int = 1,
    events: int = 600,
    reservations: tuple[int, ...] = RESERVATIONS,
    *,
    rejected: Callable[[Sight], frozenset[int]] = attrgetter("rejects"),
    groups_after: bool = False,
    migration: bool = True,
) -> Outcome:
    """Compare every event with the groups before it (`groups_after`: after it)."""
    count = placed = moved = crowded = wrong = 0
    for observer in _runs(rounds, events, reservations, migration=migration):
        for before, after in pairwise(observer.seen):
            count += 1
            groups = after if groups_after else before
            rejects = rejected(groups)
            crowded += any(len(rejects.intersection(servers)) > 1 for servers in groups.order.values())
            if after.kind == ARRIVAL:
                placed += 1
                wrong += after.server in rejects
            for job_type, source, target in after.moves:
                moved += 1
                wrong += (job_type, target) != (after.job_type, after.server)  # into the slot that was freed
                wrong += source not in rejects or target in rejects
            wrong += len(after.moves) > (after.kind == DEPARTURE)
            if after.kind == DEPARTURE and after.server not in rejects and not after.moves:
                wrong += any(before.jobs[s][after.job_type] for s in rejects)
    computed = (
        f"{count:,} events, {placed:,} placements, {moved:,} migrations: {crowded} times two rejected servers of one "
        f"configuration, {wrong} steps that the groups do not allow"
    )
    return Outcome(computed, not crowded and not wrong and moved > 0)


@reproduction(
    "figure-1",
    "servers, their slots and their group under classification and reassignment",
    printed="an illustration of the state of the algorithm",
    lost="the picture",
    chosen="12 servers of 6 units, two types (2 and 3 units), g = 1, the state after some 300 events",
    seed=2005_13744,
    claims=("remark-2",),
    quick={"servers": 12, "events": 300.0, "reserve": 1},
    columns=1,
    height=3.2,
)
def figure_1_panels(servers: int, events: float, reserve: int) -> Sequence[Panel]:
    """Return the slots of each server: jobs, and empty slots."""
    instance = additive([6], [[2], [3]], rewards=["5/2", 3], workload=["9/5", "1/2"])
    observer = watched(instance, servers, events, reserve, 2005_13744, full=True, migration=True)
    # the last state with servers of both groups
    sight = next((one for one in reversed(observer.seen) if one.rejects), observer.seen[-1])
    names, units = ("type 1 (2 units)", "type 2 (3 units)"), (2, 3)
    down: list[str] = []
    spans: list[Span] = []
    for k in sorted(sight.order, reverse=True):
        for index, server in enumerate(sight.order[k], 1):
            effective = index > len(sight.order[k]) - sight.effective(k)
            group = "reject group" if server in sight.rejects else "accept group"
            what = f"{k}, index {index}{', effective' if effective else ''}, {group}"
            at = 0
            for j, slots in enumerate(k):
                for n in range(slots):
                    filled = n < sight.jobs[server][j]
                    spans.append(
                        Span(len(down), at, at + units[j], "job" if filled else "empty", names[j] if filled else "")
                    )
                    at += units[j]
            down.append(what)
    return (Spans("capacity of the server (units)", down, spans, ylabel="server by configuration (name)"),)


def certainly_admitted(most: int, configurations: int, reserve: int) -> int:
    """Return the least Psi at which an arrival is certainly admitted: ``K C - g``."""
    return most * configurations - reserve


def deficit_of_the_reservation(most: int, _configurations: int, reserve: int) -> int:
    """Return a threshold that is too small: ``-g - K``."""
    return -reserve - most


@claim(
    "remark-4",
    "Psi stays within its bounds in watched runs",
    "At every event of watched runs: Psi <= K - 1 (22); and a job whose type has Psi >= K C - g at some place in the "
    "list of C greedy configurations just before it arrives is admitted (Psi >= 0 is enough where g >= K C; the "
    "printed bound is lost, this one derived).",
    source="Remark 4",
    printed="Psi is at most K - 1; an arrival is certainly admitted when Psi is at least a bound (formula lost)",
    evidence=Evidence.certified,
    full={"rounds": 10},
    tiny={"events": 200},
    controls={
        "the reservation is left out of Psi": {"subtracted": 0},
        "a deficit of the whole reservation is allowed": {"enough": deficit_of_the_reservation},
    },
)
def remark_4(
    rounds: int = 1,
    events: int = 600,
    reservations: tuple[int, ...] = RESERVATIONS,
    *,
    subtracted: int = 1,
    enough: Callable[[int, int, int], int] = certainly_admitted,
) -> Outcome:
    """Compute Psi, which subtracts g as often as `subtracted` says, before every event."""
    count = sure = refused = 0
    largest = -(10**9)
    for observer in _runs(rounds, events, reservations):
        listed = [k for k in greedy_configurations(observer.instance) if any(k)]
        most, reserve = max_jobs(observer.instance), subtracted * observer.reserve
        threshold = enough(most, len(listed) + 1, observer.reserve)  # the empty configuration is counted in C
        for before, after in pairwise(observer.seen):
            count += 1
            psi = before.deficits(listed, reserve)
            largest = max(largest, max(max(row) for row in psi) - (most - 1))
            if after.kind in (ARRIVAL, REFUSAL) and max(row[after.job_type] for row in psi) >= threshold:
                sure += 1
                refused += after.kind == REFUSAL
    computed = (
        f"{count:,} events: largest Psi is K - 1 {largest:+d}; {sure:,} arrivals with enough slots, {refused} refused"
    )
    return Outcome(computed, largest <= 0 and not refused and sure > 0)


@dataclass(frozen=True)
class _Change:
    """A change of the jobs that greedy placement is given: type j has `more_jobs` jobs more."""

    instance: Instance
    servers: int
    jobs: list[int]
    job_type: int
    more_jobs: int

    def of_stages(self) -> list[int]:
        """Return by how many servers each stage of greedy placement changes."""
        rewards = MaxRewards(self.instance)
        changed = list(self.jobs)
        changed[self.job_type] += self.more_jobs
        used = []
        for numbers in (self.jobs, changed):
            offered = self.instance.with_workload([Fraction(n, self.servers) for n in numbers])
            placed = greedy_placement(offered, self.servers, rewards)
            used.append({s.configurations[0]: s.servers[0] for s in placed.stages})
        places = [{k: i for i, k in enumerate(stages)} for stages in used]
        order = sorted({*used[0], *used[1]}, key=lambda k: max(place.get(k, -1) for place in places))
        return [abs(used[0].get(k, 0) - used[1].get(k, 0)) for k in order]


def _drawn_changes(systems: int, more_jobs: int) -> Iterator[_Change]:
    """Draw changes of `more_jobs` jobs more or less on 997 servers."""
    generator, servers = np.random.default_rng(SEED), 997
    for seed in range(systems):
        instance = dynamic_instance(seed % 40)
        jobs = [int(servers * rho * Fraction(int(generator.integers(20, 100)), 100)) + 2 for rho in instance.workload]
        job_type = int(generator.integers(len(jobs)))
        yield _Change(instance, servers, jobs, job_type, more_jobs * int(generator.choice([-1, 1])))


def powers_of_the_most_jobs(most: int, stage: int) -> int:
    """Return the bound of the change of a stage, counted from 1: ``(K + 1)^(i - 1)``."""
    return int((most + 1) ** (stage - 1))


def one_server(_most: int, _stage: int) -> int:
    """Return a bound that is too small: one server at every stage."""
    return 1


def _effective_changes(runs: Iterable[Observer]) -> tuple[int, Fraction, int]:
    """Return events watched, the largest change of X^e over (K+1)^J, and that of Psi less what X^e accounts for."""
    events, ratio, rest = 0, Fraction(0), -(10**9)
    for observer in runs:
        listed = [k for k in greedy_configurations(observer.instance) if any(k)]
        most, types = max_jobs(observer.instance), len(observer.instance.types)
        for before, after in pairwise(observer.seen):
            events += 1
            moved = [abs(after.effective(k) - before.effective(k)) for k in listed]
            ratio = max(ratio, Fraction(max(moved), (most + 1) ** types))
            psi = zip(before.deficits(listed, observer.reserve), after.deficits(listed, observer.reserve), strict=True)
            for i, (old, new) in enumerate(psi):
                jump = max(abs(a - b) for a, b in zip(old, new, strict=True))
                rest = max(rest, jump - (most * sum(moved[: i + 1]) + 1))
    return events, ratio, rest


@claim(
    "lemma-d.1",
    "One job changes greedy placement little, where tried",
    "One job more or less changes the servers that greedy placement gives to stage i by at most (K + 1)^(i - 1) (the "
    "printed constant is lost, this one derived): random systems, and one with (1,8,0) and (0,1,3) where stage 2 goes "
    "from 260 to 252. At every event of watched runs the effective servers X^e change by at most (K + 1)^J, and Psi "
    "by at most K times their changes and 1.",
    source="Lemma D.1",
    printed="a bounded change of greedy placement, of effective servers and of Psi at each event (constant lost)",
    evidence=Evidence.certified,
    full={"systems": 3000, "rounds": 10},
    tiny={"systems": 60, "events": 200},
    controls={
        "the bound of greedy placement is one server at every stage": {"bound": one_server},
        "two jobs come at once": {"more_jobs": 2},
    },
)
def lemma_d_1(
    systems: int = 150,
    rounds: int = 1,
    events: int = 600,
    reservations: tuple[int, ...] = RESERVATIONS,
    *,
    bound: Callable[[int, int], int] = powers_of_the_most_jobs,
    more_jobs: int = 1,
) -> Outcome:
    """Change one type by `more_jobs` jobs, and compare the change of every stage with the bound."""
    named = _Change(STAGES_MATTER, 1000, [30, 500, 2000], 0, more_jobs)
    changes = [named, *_drawn_changes(systems, more_jobs)]
    over, largest = 0, 0
    for change in changes:
        moved, most = change.of_stages(), max_jobs(change.instance)
        over += any(servers > bound(most, i) for i, servers in enumerate(moved, 1))
        largest = max(largest, *moved)
    count, ratio, rest = _effective_changes(_runs(rounds, events, reservations))
    computed = (
        f"{len(changes)} changes of greedy placement, the largest by {largest} servers, {over} beyond the bound, the "
        f"known one by {named.of_stages()}; {count:,} events: X^e within {float(ratio):.4f} of the bound, Psi "
        f"{rest:+d} of what X^e accounts for"
    )
    return Outcome(computed, not over and named.of_stages()[:2] == [1, 8] and ratio <= 1 and rest <= 0)
