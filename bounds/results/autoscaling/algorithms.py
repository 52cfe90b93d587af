"""The auto-scaling paper's Algorithms 1 and 2 event by event, and what it says of CRA run seldom or on an estimate."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, Verdict, claim
from bounds.results.autoscaling.figures import reservation_runs
from bounds.results.autoscaling.referee import Referee, tally
from bounds.results.decisions import FRESH_SEED, Decisions
from bounds.results.instances import four_types, random_instance
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import DRA
from fluid.simulation.options import Expression
from theory.greedy.assignment import global_greedy
from theory.instance import explicit

SEED = 42

WORST, ONE_MORE, KEPT = "placement in the worst rank", "one more job of each type is reserved", "no migration"
WRONG: dict[str, dict[str, Any]] = {
    WORST: {"placement": "worst-ranked"},
    ONE_MORE: {"reservation": 3},
    KEPT: {"migration": False},
}
"""Options of dynamic reservation that make a step of the text wrong; the referee asks for a reservation of 2."""


@claim(
    "algorithm-2-as-printed",
    "The simulator's dynamic reservation is the paper's: on random instances of one to three pools, and on one where "
    "two stages are drained that share a type, with g = 2, every admission, refusal, migration and reassignment is "
    "one that the text of Algorithms 1 and 2 allows, and all that both know (configurations with their order, ranks, "
    "unmatched stages, jobs) is equal after every event. The text is followed by sets and sorting on its own records.",
    source="Algorithms 1 and 2",
    printed="GPA, CRA and DRA in pseudo-code; where the text says any, the policy's choice is followed",
    evidence=Evidence.certified,
    breaks=(WORST, ONE_MORE, KEPT),
)
def algorithm_2(level: Level, broken: str) -> Outcome:
    generator, systems = np.random.default_rng(SEED), 16 if level is Level.quick else 200
    events, migrations, wrong = 0, 0, Counter[str]()
    for number in range(systems):
        instance = random_instance(generator, pools=1 + number % 3)
        servers = int(generator.integers(3, 13))
        initial = None
        if number < 6:  # two stages behind the first that lacks servers hold jobs of the third type
            instance = explicit([[2, 0, 0], [0, 1, 1], [0, 0, 2]], [5, 3, 2], ["1/2", "3/10", "4/5"])
            initial = np.repeat(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 2]], np.int32), (6, 4, 4), axis=0)
            servers = len(initial)
        rate = servers * sum(float(t.workload * t.service_rate) for t in instance.types)
        if not rate:
            continue
        options = {"reservation": 2, **WRONG.get(broken, {})}
        scenario = LossScenario(
            instance, servers, 100.0 / rate, 0.0, initial=initial, options=options, log=10_000, bins=1
        )
        referee = Referee(scenario.setting(), 2.0)
        wrong[referee.follow(DRA, scenario, number)] += 1
        events += referee.row
        migrations += referee.migrations
    computed = f"{events:,} events of {systems} systems, {migrations} migrations: {tally(wrong)}"
    return Outcome(computed, not any(wrong))


def _late(options: dict[str, Any], level: Level, decisions: Decisions) -> tuple[list[str], list[Any]]:
    """Return the reward over the last third of the time as a part of the limit, from both starts."""
    limit, count, shown, parts = float(global_greedy(four_types()).reward), 10 if level is Level.quick else 40, [], []
    for start in ("empty", "full"):
        runs = reservation_runs(400, start, 12.0, 8.0, 4, count, options=options, seed=FRESH_SEED).runs
        part = decisions.mean([run.mean_reward / limit for run in runs])
        shown.append(f"{start}: {part.mean:.4f} in [{part.low:.4f}, {part.high:.4f}]")
        parts.append(part)
    return [*shown, f"{count} runs, {decisions}, seed {FRESH_SEED}"], parts


@claim(
    "periodic-cra",
    "CRA may run once in a period: with a period of L / 10 admissions and departures, on 400 servers of the four VM "
    "types, the reward of dynamic reservation is within 3 % of the global greedy reward after 8 mean service times, "
    "from empty servers and from servers full of the smallest type (the period is ours).",
    source="Section 4",
    printed="in practice CRA can make such updates periodically, by factoring in all arrivals and departures",
    evidence=Evidence.statistical,
    breaks=("the period is L", "g = 0"),
)
def periodic_cra(level: Level, broken: str) -> Outcome:
    period = {"period": Expression("L" if broken.startswith("the period") else "L / 10")}
    options = {**period, "reservation": 0} if broken == "g = 0" else period
    shown, parts = _late(options, level, Decisions(2))
    good = all(part.low > 0.97 and part.high < 1.03 for part in parts)
    return Outcome(f"reward over the limit, {'; '.join(shown)}", good)


@claim(
    "estimate-cra",
    "CRA on the true workload instead of the jobs in service brings the reward near to its limit sooner. Not in this "
    "setting (the four VM types on 400 servers, ours): over the first third of 12 mean service times the reward is on "
    "average no nearer to the global greedy reward than without an estimate, from empty servers and from servers full "
    "of the smallest type.",
    source="Section 8",
    printed="if a more accurate estimate of the workload is available, we can incorporate that ... to improve the "
    "convergence time",
    evidence=Evidence.statistical,
    verdict=Verdict.not_reproduced,
    breaks=("the limit is 4/5 of the global greedy reward",),
)
def estimate_cra(level: Level, broken: str) -> Outcome:
    instance, count, decisions = four_types(), 16 if level is Level.quick else 60, Decisions(2)
    limit = float(global_greedy(instance).reward) * (0.8 if broken else 1.0)
    estimate = dict(zip(instance.names, instance.workload, strict=True))
    shown, sooner = [], []
    for start in ("empty", "full"):
        distances = []
        for options in ({"estimate": estimate}, {}):
            runs = reservation_runs(400, start, 4.0, 0.0, 16, count, options=options, seed=FRESH_SEED).runs
            distances.append([float(np.abs(run.reward / limit - 1).mean()) for run in runs])
        gain = decisions.paired(distances[1], distances[0])  # positive where the estimate is nearer
        shown.append(f"{start}: nearer by {gain.mean:+.4f} in [{gain.low:+.4f}, {gain.high:+.4f}]")
        sooner.append(gain.low > 0)
    computed = f"mean distance to the limit, as a part of it, {'; '.join(shown)}; {count} pairs, {decisions}"
    return Outcome(f"{computed}, seed {FRESH_SEED}", any(sooner))
