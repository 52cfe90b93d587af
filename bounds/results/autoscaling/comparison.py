"""What the auto-scaling paper's evaluation compares, event by event: preemption, and policies without reservation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.autoscaling.referee import Referee, tally
from bounds.results.instances import additive_space, random_instance
from fluid.simulation.driver import run_once, sequence
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.preemption import DRA_PREEMPTION
from fluid.simulation.measures import ARRIVAL, PREEMPTION, REFUSAL
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.greedy.optimal import optimal_assignment
from theory.instance import Additive, Instance
from theory.numbers import total

SEED = 43

LARGEST, ONE_JOB = "the largest jobs are stopped first", "jobs of the size of one job are stopped"


def sizes_of(instance: Instance) -> list[Fraction]:
    """Return the largest share of a resource that a job of each type takes."""
    space = additive_space(instance)
    return [max(Fraction(d, c) for d, c in zip(row, space.capacity, strict=True) if c) for row in space.demands]


class StoppingReferee(Referee):
    """A referee for dynamic reservation with preemption: it follows the jobs that are stopped, too."""

    def __init__(self, setting: Setting, reservation: int, priority: list[int], broken: str) -> None:
        super().__init__(setting, float(reservation))
        self.priority, self.sizes_of, self.stops = priority, sizes_of(self.instance), 0
        self.factor = 1 if broken == ONE_JOB else reservation
        self.sign = -1 if broken == LARGEST else 1

    def __call__(self, state: Any, jobs: Any, measures: Any) -> None:
        """Check the event that has just happened."""
        rows = measures.log[self.row : int(measures.logged[0]), 1:4].astype(int).tolist()
        stops = [(job_type, server) for kind, job_type, server in rows if kind == PREEMPTION]
        refused = rows[-1][1] if rows[-1][0] == REFUSAL else -1
        if not stops:
            super().__call__(state, jobs, measures)
            assert refused < 0 or not self.priority[refused] or not self.victims(), "a refused job stopped none"
            return
        self.row = int(measures.logged[0])
        assert refused >= 0, "jobs are stopped, but none is refused"
        assert self.priority[refused] > 0, "a job of priority 0 stopped others"
        wanted, stopped, rejects = self.factor * self.sizes_of[refused], Fraction(0), self.rejects()
        for job_type, server in stops:
            assert stopped < wanted, "stopped more than g times the size of the job"
            assert job_type == self.victims()[0], "another type is stopped first"
            holders = [s for s in rejects if self.jobs[s][job_type]]
            assert not holders or server in holders, "stopped outside the reject group"
            assert not holders or self.rank[server] == max(self.rank[s] for s in holders), "not the highest rank"
            self.jobs[server][job_type] -= 1
            stopped += self.sizes_of[job_type]
        assert stopped >= wanted or not self.victims(), "stopped too little"
        self.stops += len(stops)
        self.classify(state)
        self.compare(state)

    def victims(self) -> list[int]:
        """Return the types of priority 0 in service, in the order in which they are stopped."""
        present = [j for j, p in enumerate(self.priority) if p == 0 and any(on[j] for on in self.jobs)]
        return sorted(present, key=lambda j: (self.sign * self.sizes_of[j], j))


@claim(
    "preemption-as-printed",
    "The simulator's dynamic reservation with preemption is the paper's: on random instances, with g = 2, jobs are "
    "stopped just where a job of priority above 0 is refused, smallest type first, out of the reject group as jobs "
    "migrate, until their total size reaches g times that of the refused job or none of priority 0 is left; other "
    "steps are checked as in algorithm-2-as-printed. The refused job stays lost and CRA runs once, after all stops.",
    source="Section 7.2",
    printed="it preempts jobs of priority 0 from the smallest size on, until their total size is g times its size",
    evidence=Evidence.certified,
    breaks=(LARGEST, ONE_JOB),
)
def preemption_as_printed(level: Level, broken: str) -> Outcome:
    generator, systems = np.random.default_rng(SEED), 16 if level is Level.quick else 200
    events, stops, drawn, wrong = 0, 0, 0, Counter[str]()
    while drawn < systems:
        instance = random_instance(generator)
        servers, names = int(generator.integers(3, 9)), instance.names
        rate = servers * sum(float(t.workload * t.service_rate) for t in instance.types)
        if not rate or len(names) < 3:
            continue
        drawn += 1
        priority = [0, 0, *[1] * (len(names) - 2)]
        options = {"reservation": 2, "priority": dict(zip(names, priority, strict=True))}
        scenario = LossScenario(instance, servers, 80.0 / rate, 0.0, options=options, log=10_000, bins=1)
        referee = StoppingReferee(scenario.setting(), 2, priority, broken)
        wrong[referee.follow(DRA_PREEMPTION, scenario, drawn)] += 1
        events, stops = events + referee.row, stops + referee.stops
    computed = f"{events:,} events of {systems} systems, {stops} jobs stopped: {tally(wrong)}"
    return Outcome(computed, not any(wrong) and stops > 0)


EMPTIEST, LAST, FEWER = "the emptiest server is tried", "the last server with room is taken", "a slot less of each type"


class Unreserved:
    """Follows a run of a policy without reservation, and counts the events that its rule does not allow."""

    def __init__(self, name: str, setting: Setting, broken: str) -> None:
        self.name, self.setting, self.broken, self.wrong, self.row = name, setting, broken, 0, 0
        self.spaces = [setting.instance.pools[p].space for p in setting.pool]
        self.jobs = [[0] * len(setting.instance.types) for _ in self.spaces]
        self.draws = np.random.default_rng(sequence(1).spawn(3)[1])  # what the policy draws in a run of seed 1
        self.slots = _optimal_slots(setting) if name == "static" else []

    def __call__(self, _state: Any, _jobs: Any, measures: Any) -> None:
        """Check the event that has just happened."""
        row, self.row = self.row, int(measures.logged[0])
        ((kind, j, server),) = measures.log[row : self.row, 1:4].astype(int).tolist()
        if kind not in (ARRIVAL, REFUSAL):
            self.jobs[server][j] -= 1
            return
        allowed = self.allowed(j)
        self.wrong += server not in allowed if kind == ARRIVAL else bool(allowed)
        if kind == ARRIVAL:
            self.jobs[server][j] += 1

    def allowed(self, j: int) -> list[int]:
        """Return the servers that the rule allows for a job of type j."""
        servers = list(range(len(self.jobs)))
        fitting = [s for s in servers if self.fits(s, j)]
        if self.name == "static":
            free = sum(on[j] for on in self.jobs) < self.slots[j] - (self.broken == FEWER)
            return fitting if free else []
        if self.name == "first-fit":
            return fitting[-1:] if self.broken == LAST else fitting[:1]
        sign = -1 if self.broken == EMPTIEST else 1
        if self.name == "best-fit":
            loads = [sign * self.load(s) for s in fitting]
            return [s for s, load in zip(fitting, loads, strict=True) if load == max(loads)]
        sampled = [int(self.draws.random() * len(servers)) for _ in range(2)]
        tried = min(sampled, key=lambda s: sign * self.load(s))
        return [tried] if tried in fitting else []

    def fits(self, s: int, j: int) -> bool:
        """Return whether a server can hold one more job of type j."""
        return bool(self.spaces[s].holds([n + (i == j) for i, n in enumerate(self.jobs[s])]))

    def load(self, s: int) -> Fraction:
        """Return the share of a server that is in use, averaged over its resources."""
        space = self.spaces[s]
        assert isinstance(space, Additive)
        uses = zip(*space.demands, strict=True)
        shares = [
            Fraction(sum(n * d for n, d in zip(self.jobs[s], column, strict=True)), c)
            for column, c in zip(uses, space.capacity, strict=True)
            if c
        ]
        return total(shares) / len(shares)


def _optimal_slots(setting: Setting) -> list[int]:
    """Return the slots of each type in the optimal assignment, in whole servers by largest remainders."""
    slots = [0] * len(setting.instance.types)
    for p, (pool, servers) in enumerate(zip(setting.instance.pools, setting.pool_sizes, strict=True)):
        columns = [c for c in optimal_assignment(setting.instance).columns if c.pool == p]
        exact = [(c.configuration, servers * c.fraction / pool.share) for c in columns]
        exact.append(((0,) * len(slots), servers - total(x for _, x in exact)))  # those that the optimum leaves idle
        numbers = [int(x) for _, x in exact]
        rewards = [total(a * b for a, b in zip(k, setting.instance.rewards, strict=True)) for k, _ in exact]
        order = sorted(range(len(exact)), key=lambda i: (numbers[i] - exact[i][1], rewards[i], exact[i][0]))
        for i in order[: servers - sum(numbers)]:
            numbers[i] += 1
        slots = [n + sum(k[j] * m for (k, _), m in zip(exact, numbers, strict=True)) for j, n in enumerate(slots)]
    return slots


@claim(
    "comparison-policies",
    "Power of two choices is that of the text, and First-Fit, Best-Fit (the fullest server by mean load) and static "
    "reservation (the slots of the optimal assignment in whole servers by largest remainders, of equals the least "
    "reward) are what their names say: on random instances of up to two pools every job is placed where the rule "
    "allows and refused only where it allows no server, by counts of jobs in lists and shares in fractions.",
    source="Section 7.2",
    printed="it picks d servers and attempts to schedule the job in the least loaded server if it fits",
    evidence=Evidence.certified,
    breaks=(EMPTIEST, LAST, FEWER),
)
def comparison_policies(level: Level, broken: str) -> Outcome:
    generator, systems = np.random.default_rng(SEED), 12 if level is Level.quick else 200
    events, wrong, drawn = 0, dict.fromkeys(("power-of-d", "first-fit", "best-fit", "static"), 0), 0
    while drawn < systems:
        instance = random_instance(generator, pools=1 + drawn % 2)
        servers = int(generator.integers(3, 9))
        rate = servers * sum(float(t.workload * t.service_rate) for t in instance.types)
        if not rate:
            continue
        drawn += 1
        for name in wrong:
            scenario = LossScenario(instance, servers, 80.0 / rate, 0.0, log=10_000, bins=1)
            watch = Unreserved(name, Setting(instance, servers, {}), broken)
            run_once(policy(name), scenario, 1, python=True, watch=watch)
            events, wrong[name] = events + watch.row, wrong[name] + watch.wrong
    shown = ", ".join(f"{name} {number}" for name, number in wrong.items())
    return Outcome(
        f"{events:,} events in {systems} systems; steps that the rule does not allow: {shown}", not any(wrong.values())
    )
