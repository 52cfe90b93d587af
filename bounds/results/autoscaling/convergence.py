"""Claims of the auto-scaling paper on dynamic reservation as servers grow: Theorem 4.1 and Proposition 5.4.

A break that names a variant of the policy (no migration, another reservation) runs that variant; `VARIANTS` says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import e
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.decisions import FRESH_SEED, THIRD_FRESH_SEED, Decisions
from bounds.results.instances import (
    WITHOUT_38,
    at_worst,
    full_of_the_first,
    limited_by_draining,
    not_limited_by_draining,
    tight_family,
)
from fluid.limits.convergence import crosscheck
from fluid.limits.reservation import Reservation, fluid_path, minimum_rates
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.options import Expression
from fluid.simulation.policy_names import policy
from fluid.statistics import Interval
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import Instance, additive, explicit

SEED = FRESH_SEED

VARIANTS: Mapping[str, dict[str, Any]] = {
    "no migration": {"migration": False},
    "g = 0": {"reservation": 0},
    "g = 1": {"reservation": 1},
    "g = 3": {"reservation": 3},
    "g = L / 5": {"reservation": Expression("L / 5")},
}
"""Variants of dynamic reservation for which the theorem is not stated, by the name of the break."""

RESERVED = {"four VM types, 6 times": "4 * (log L)^2"}  # g where (log L)^2 is no more than the jobs that a server holds

SLOPES = (-1.0, -0.2)  # a distance that falls like L^-1/2, with g/L and the largest of many fluctuations on top


def slots_are_scarce() -> Instance:
    """Return jobs of sizes 1 and 3 on servers of 3: the small jobs fill the servers that hold no large one.

    A slot for a large job is made by three departures of small ones, so the reservation and the migrations both matter:
    with a constant g a constant part of the large jobs finds no slot, and without migration drained servers hardly
    empty.
    """
    return additive([3], [[1], [3]], rewards=[1, 7], workload=[6, "3/4"])


@claim(
    "theorem-4.1",
    "The stationary reward of dynamic reservation, g(L) = (log L)^1.5, tends to the greedy reward: at the largest L "
    "it is within 2 % of it, closer than at the smallest, and above 1 - 1/e of the optimum, both from empty servers "
    "and from servers full of jobs of the first type. Systems: small jobs that fill what large ones leave; three "
    "types without the monotone greedy property at their worst workload, unequal service rates (full: and the tight "
    "family of three types).",
    source="Theorem 4.1",
    printed=(
        "the reward of DRA over the optimum tends to U(g) / U* >= 1/2 at least; 1 - 1/e by Def. 3.8 (statement lost; "
        "from the proof in Appendix J)"
    ),
    evidence=Evidence.statistical,
    breaks=("the policy is power of two choices", *VARIANTS),
)
def theorem_4_1(level: Level, broken: str) -> Outcome:
    quick = level is Level.quick
    sizes, until = ((50, 1600), 20.0) if quick else ((50, 25_600), 60.0)
    systems = {"scarce slots": slots_are_scarce(), "no Def. 3.8": at_worst(explicit(WITHOUT_38, [8, 3, 10]))}
    if not quick:
        systems["tight"] = at_worst(tight_family(3))
    runs = {"scarce slots": (40, 22), "no Def. 3.8": (40, 12)} if quick else dict.fromkeys(systems, (200, 20))
    if broken:  # one system and smaller sizes are enough to see a variant fail
        systems, sizes = {"scarce slots": slots_are_scarce()}, (50, 1600)
    decisions, good, shown = Decisions(2 * 2 * len(systems)), True, []
    name_of_policy = "power-of-d" if broken.startswith("the policy") else "dra"
    for name, instance in systems.items():
        limit, best = float(global_greedy(instance).reward), float(solve(instance).optimal.reward)
        for start in ("empty", "full"):
            rewards = []
            for servers, count in zip(sizes, runs[name], strict=True):
                full = full_of_the_first(instance, servers) if start == "full" else None
                options = VARIANTS.get(broken, {})
                scenario = LossScenario(instance, servers, until, until / 2, initial=full, bins=4, options=options)
                seeds = [
                    np.random.SeedSequence((THIRD_FRESH_SEED, servers, start == "full", run)) for run in range(count)
                ]
                rewards.append([run_once(policy(name_of_policy), scenario, seed).mean_reward for seed in seeds])
            small, last = decisions.mean(rewards[0]), decisions.mean(rewards[1])
            good &= 0.98 * limit < last.low and last.high < 1.02 * limit
            good &= small.high < last.low and last.low > (1 - 1 / e) * best
            shown.append(f"{name}, {start}: {small.mean / limit:.4f}, then {_part(last, limit)} of greedy")
    counts = ", then ".join(str(runs[name]) for name in systems)
    computed = (
        f"at L = {sizes[0]} and {sizes[1]:,}: {'; '.join(shown)}; {counts} runs, {decisions}, seed {THIRD_FRESH_SEED}"
    )
    return Outcome(computed, bool(good))


def _part(reward: Interval, limit: float) -> str:
    return f"{reward.mean / limit:.4f} [{reward.low / limit:.4f}, {reward.high / limit:.4f}]"


@claim(
    "prop-5.4",
    "Scaled paths of dynamic reservation converge to the fluid limit: the supremum over [0, 10] and all types of "
    "|Y_j/L - y_j| falls with a power of L near -1/2 (the interval of the slope lies in [-1, -0.2]), where draining "
    "limits the path and where it does not; quick: an instance of each kind, full: six of each.",
    source="Proposition 5.4",
    printed="scaled paths converge to Lipschitz fluid limits (no rate)",
    evidence=Evidence.statistical,
    breaks=("the limit with the simplified drain rates", "no migration", "g = 3", "g = L / 5"),
)
def proposition_5_4(level: Level, broken: str) -> Outcome:
    sizes, runs = ([250, 1000, 4000], 18) if level is Level.quick else ([500, 2000, 8000, 32000], 12)
    instances = not_limited_by_draining() | limited_by_draining()
    if level is Level.quick:
        instances = {name: instances[name] for name in ("two types", "drains two types")}
    if broken:
        instances, sizes, runs = {"drains two types": instances["drains two types"]}, [500, 2000, 8000], 6
    decisions, shown, good = Decisions(len(instances)), [], True
    for name, instance in instances.items():
        options = {"reservation": Expression(RESERVED.get(name, "(log L)^2"))} | VARIANTS.get(broken, {})
        check = crosscheck(instance, sizes, 10.0, runs, options=options, seed=SEED, bins=300)
        if broken.startswith("the limit"):
            check = check.beside(_simplified)
        logs = np.repeat(np.log(sizes), runs)
        rate = decisions.slope(logs, np.log(check.distances).ravel())  # -1/2 but for g/L and fluctuations
        good &= SLOPES[0] <= rate.low and rate.high <= SLOPES[1]
        shown.append(f"{name}: {check.distances[-1].mean():.4f}, {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]")
    computed = f"distance at L = {sizes[-1]}, slope over L = {sizes}: {'; '.join(shown)}; {runs} runs each, {decisions}"
    return Outcome(f"{computed}, seed {SEED}", good)


def _simplified(instance: Instance, times: np.ndarray) -> np.ndarray:
    return fluid_path(Reservation(instance), float(times[-1]), rates=minimum_rates).jobs(times)
