"""A referee for dynamic reservation: the text of Algorithms 1 and 2 with sets and sorting, slow and literal.

It looks on after every event. It works out from its own records (order of assignment of every configuration, jobs on
every server) which servers the text allows at each choice, asserts that the policy took one of them, follows it, and
compares all it knows. Where the text says "any", the policy's choice stands; otherwise a single other path is a
failure.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any

import numpy as np

from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.slot_lists import CONFIGURATION, OLDER
from fluid.simulation.measures import ARRIVAL, DEPARTURE, MIGRATION, REFUSAL
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import Setting
from theory.exact.knapsack.greatest import max_reward
from theory.instance import Configuration, Instance

Server = int


def tally(wrong: Counter[str]) -> str:
    """Write in how many runs the text did not allow what (`Referee.follow`)."""
    shown = (f"{said} in {number}" for said, number in wrong.items() if said)
    return ", ".join(shown) or "every step is allowed"


def literal_in_pools(
    instance: Instance, jobs: list[float], servers: list[int]
) -> list[list[tuple[Configuration, int]]]:
    """The ascent in all pools at once, server by server: stage by stage, what each pool has then.

    The m-th of n servers of a pool comes up at time m / n with MaxReward of its pool and the types left. A type that
    has its slots is left out, as soon as that is so and some MaxReward still has slots of it, the first in the order of
    the file at a time. A pool that goes on with a configuration of an earlier stage counts it there.
    """
    types, residual = set(range(len(jobs))), list(jobs)
    times = sorted({Fraction(m, n) for n in servers for m in range(1, n + 1)})
    stages: list[list[tuple[Configuration, int]]] = []

    def leave() -> bool:
        """End the stage if a type has its slots."""
        offered = [j for j in sorted(types) if any(k[j] for (k, _), n in zip(stages[-1], servers, strict=True) if n)]
        done = [j for j in offered if residual[j] <= 0]
        if done:
            types.remove(done[0])
        return bool(done)

    def begin() -> None:
        stages.append([(max_reward(pool.space, instance.rewards, types), 0) for pool in instance.pools])

    begin()
    up = Fraction(0)
    while True:
        while leave():
            if not types or up == 1:
                return stages
            begin()
        if up == 1:
            return stages
        before, up = up, times.pop(0)
        for p, n in enumerate(servers):
            k, used = stages[-1][p]
            more = floor(up * n) - floor(before * n)
            stages[-1][p] = (k, used + more)
            residual = [r - more * slots for r, slots in zip(residual, k, strict=True)]


def joined(stages: list[list[tuple[Configuration, int]]]) -> list[dict[int, tuple[Configuration, int]]]:
    """Count what a pool has of one configuration at its first stage."""
    counted: list[dict[int, tuple[Configuration, int]]] = [{} for _ in stages]
    for i, stage in enumerate(stages):
        for p, (k, used) in enumerate(stage):
            first = next((e for e in range(i) if counted[e].get(p, (None, 0))[0] == k), None)
            if first is None:
                counted[i][p] = (k, used)
            else:
                counted[first][p] = (k, counted[first][p][1] + used)
    return counted


def literal_placement(instance: Instance, jobs: list[float], servers: int) -> list[tuple[Configuration, int]]:
    """Algorithm 1 on real numbers of jobs."""
    space, rewards = instance.pools[0].space, instance.rewards
    remaining, types, stages = servers, set(range(len(jobs))), []
    residual = list(jobs)
    while types:
        k = max_reward(space, rewards, types)
        need = {j: ceil(max(residual[j], 0) / k[j]) for j in sorted(types) if k[j]}
        used = min(remaining, *need.values())
        stages.append((k, used))
        residual = [r - used * slots for r, slots in zip(residual, k, strict=True)]
        remaining -= used
        types -= {min(need, key=lambda j: (need[j], j))}
    return stages


class Referee:
    """Follows one run from its beginning; call it as the `watch` of a plain loop."""

    def __init__(
        self,
        setting: Setting,
        reservation: float,
        *,
        period: int = 1,
        estimate: list[float] | None = None,
        migration: bool = True,
    ) -> None:
        assert isfinite(reservation)
        self.instance, self.reservation = setting.instance, reservation
        self.period, self.estimate, self.migration = period, estimate, migration
        self.updates = 0
        self.types = len(setting.instance.types)
        self.pool = setting.pool.tolist()
        self.sizes = list(setting.pool_sizes)
        self.order: dict[tuple[int, Configuration], list[Server]] = {}  # by pool and configuration, newest first
        self.jobs: list[list[int]] = []
        self.rank: dict[Server, int] = {}
        self.unmatched = [0] * len(self.sizes)
        self.row = 0
        self.migrations = 0

    def begin(self, state: Any) -> None:
        """Take over the initial state: configurations are the initial jobs, in any order; then CRA runs."""
        servers = range(len(state.rows))
        self.jobs = [state.counts[s].tolist() for s in servers]
        initial: dict[tuple[int, Configuration], list[Server]] = {}
        for server in servers:
            initial.setdefault((self.pool[server], tuple(self.jobs[server])), []).insert(0, server)
        self.order = initial
        self.classify(state)

    def follow(self, rule: Policy, scenario: LossScenario, seed: int) -> str:
        """Follow a run from the initial state; return what the text does not allow first, empty if it allows all."""
        try:
            self.begin(rule.prepare(scenario.setting()))
            run_once(rule, scenario, seed, python=True, watch=self)
        except AssertionError as reason:
            return str(reason).partition("\n")[0] or "the records differ"
        return ""

    def configuration(self, server: Server) -> tuple[int, Configuration]:
        """Return the pool and the configuration of a server."""
        return next(k for k, servers in self.order.items() if server in servers)

    def rejects(self) -> set[Server]:
        """Return the reject group: the newest server of a configuration, of a rank beyond the first unmatched stage."""
        heads = {servers[0] for servers in self.order.values() if servers}
        return {s for s in heads if self.rank[s] > self.unmatched[self.pool[s]]}

    def __call__(self, state: Any, _jobs: Any, measures: Any) -> None:
        """Check the event that has just happened."""
        rows = measures.log[self.row : int(measures.logged[0])]
        self.row = int(measures.logged[0])
        kind, job_type, server = (int(x) for x in rows[0, 1:4])
        rejects = self.rejects()
        if kind in (ARRIVAL, REFUSAL):
            assert len(rows) == 1
            slots = {s: k for (_, k), servers in self.order.items() for s in servers}
            open_to = [s for s in slots if s not in rejects and self.jobs[s][job_type] < slots[s][job_type]]
            if kind == REFUSAL:
                assert not open_to, "refused beside a free slot in the accept group"
            else:
                assert server in open_to, "placed outside the accept group or without a slot"
                assert self.rank[server] == min(self.rank[s] for s in open_to), "not the best rank"
                self.jobs[server][job_type] += 1
                self.update(state)
        else:
            assert kind == DEPARTURE
            self.jobs[server][job_type] -= 1
            holders = [s for s in rejects if self.jobs[s][job_type] > 0]
            if self.migration and server not in rejects and holders:
                assert len(rows) == 2, "no migration"
                moved, source, target = (int(x) for x in rows[1, 2:5])
                assert int(rows[1, 1]) == MIGRATION
                assert (moved, target) == (job_type, server)
                assert source in holders, "pulled from outside the reject group"
                assert self.rank[source] == max(self.rank[s] for s in holders), "not the highest rank"
                self.jobs[source][job_type] -= 1
                self.jobs[server][job_type] += 1
                self.migrations += 1
            else:
                assert len(rows) == 1, "a migration too many"
            self.update(state)
        self.compare(state)

    def update(self, state: Any) -> None:
        """Run CRA at every update time, or at the last of each period of them."""
        self.updates += 1
        if self.updates % self.period == 0:
            self.classify(state)

    def classify(self, state: Any) -> None:
        """CRA, following the policy in which empty server it took."""
        now = [tuple(state.configurations[state.rows[s, CONFIGURATION]].tolist()) for s in range(len(self.jobs))]
        jobs = self.estimate or [sum(on[j] for on in self.jobs) for j in range(self.types)]
        jobs = [number + self.reservation for number in jobs]
        self.rank = dict.fromkeys(range(len(self.jobs)), self.types + 1)
        self.unmatched = [self.types + 1] * len(self.sizes)
        for i, p, k, wanted in self.stages(jobs):
            members = self.order.setdefault((p, k), [])
            if len(members) <= wanted:
                newest = [s for s in self.listed(state, p, k) if s not in members]
                for server in reversed(newest):
                    assert self.pool[server] == p, "a server of another pool"
                    assert len(members) < wanted, "assigned beyond the target"
                    assert not any(self.jobs[server]), "reassigned a server with jobs"
                    assert self.rank[server] == self.types + 1, "reassigned a ranked server"
                    self.order[self.configuration(server)].remove(server)
                    members.insert(0, server)
                for server in members:
                    self.rank[server] = i
                if len(members) < wanted:
                    open_to = [s for s, r in self.rank.items() if r == self.types + 1 and self.pool[s] == p]
                    free = [s for s in open_to if not any(self.jobs[s])]
                    assert not free, "stopped short of the target beside an empty server"
                    self.unmatched[p] = min(self.unmatched[p], i)
            else:
                for server in members[len(members) - wanted :]:
                    self.rank[server] = i
        for server, k in enumerate(now):
            assert server in self.order[self.pool[server], k], "a server changed hands outside CRA"

    def stages(self, jobs: list[float]) -> list[tuple[int, int, Configuration, int]]:
        """What the placement wants: number of the stage, pool, configuration, servers."""
        if len(self.sizes) == 1:
            placed = literal_placement(self.instance, jobs, len(self.jobs))
            return [(i, 0, k, wanted) for i, (k, wanted) in enumerate(placed, 1)]
        pooled = joined(literal_in_pools(self.instance, jobs, self.sizes))
        return [(i, p, k, wanted) for i, stage in enumerate(pooled, 1) for p, (k, wanted) in sorted(stage.items())]

    def listed(self, state: Any, p: int, k: Configuration) -> list[Server]:
        """The policy's servers of a configuration, newest first, by its own links."""
        rows = np.flatnonzero((state.configurations == k).all(axis=1) & (state.owner == p))
        if not len(rows):
            return []
        servers, server = [], int(state.newest[int(rows[0])])
        while server >= 0:
            servers.append(server)
            server = int(state.rows[server, OLDER])
        return servers

    def compare(self, state: Any) -> None:
        """All that both know."""
        assert self.jobs == state.counts.tolist()
        pools = len(self.sizes)
        assert self.unmatched == [(row - 1) // pools + 1 for row in state.unmatched.tolist()]
        for (p, k), servers in self.order.items():
            if any(k) or servers:
                assert self.listed(state, p, k) == servers, f"another order of {k}"
        slots = [sum(k[j] * len(servers) for (_, k), servers in self.order.items()) for j in range(self.types)]
        assert slots == state.slots.tolist()
