"""Claims of the auto-scaling paper on a real trace: Figures 5 and 6.

The paper's sample is the first million completed tasks of the Google trace; at hand are its first 84 minutes. Ours
are the reward factors 1, 2, 4 of the priority classes, g(L) = (log L)^1.5, the numbers of servers, and the span
[1000, 5000] s over which rewards are averaged. The load is some 270 servers; 0.6 % of it has priority 0 and can be
stopped.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bounds.claims import Evidence, Level, Outcome, Verdict, claim
from bounds.results.decisions import Decisions
from bounds.results.simulated_queues import WINDOW, real_table, whole
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.results import Run
from fluid.traces.types import FACTORS, TaskSystem, tasks_of, upper_bound

SEED = 2005_13744
SIZES = (50, 100, 200, 300, 400, 600, 800, 1200)
"""Numbers of servers from overload to idle."""


@cache
def window(factors: tuple[int, ...] = FACTORS) -> TaskSystem | None:
    """Return the real window under reward factors of the priority classes, None where there is no data."""
    table = real_table()
    return None if isinstance(table, str) else tasks_of(table, factors)


def run_on_window(
    name: str,
    servers: int,
    replication: int = 0,
    factors: tuple[int, ...] = FACTORS,
    trigger: str = "lost",
    bins: int = 10,
) -> Run:
    """Run a policy on the window, measured over [1000, 5000] s; only policies that draw differ by replication."""
    system = window(factors)
    assert system is not None
    given = {"priority": system.priority, "trigger": trigger}
    scenario = LossScenario(system.instance, servers, 5000.0, 1000.0, jobs=system.jobs, options=given, bins=bins)
    return whole(run_once(policy(name), scenario, np.random.SeedSequence(SEED, spawn_key=(servers, replication))))


@cache
def rewards_on_window(
    name: str, servers: int, count: int = 1, factors: tuple[int, ...] = FACTORS, trigger: str = "lost"
) -> list[float]:
    """Return the mean rewards of so many runs on the window."""
    return [run_on_window(name, servers, r, factors, trigger).mean_reward for r in range(count)]


WITHOUT_DATA = Outcome(f"no real data: PACKPROOF_DATA holds no {WINDOW}", None)


@claim(
    "figure-5-bound",
    "On the completed tasks of the trace's first 84 minutes no policy earns more than the assignment program with the "
    "jobs of a lossless system: dynamic reservation with and without preemption and power of two choices (full: and "
    "first-fit) on 50 to 800 servers (reward factors 1, 2, 4 are ours).",
    source="Figure 5",
    printed="an upper bound on any algorithm: the program with the jobs of an infinite system",
    evidence=Evidence.numeric,
    breaks=("the bound is for half of the servers",),
)
def figure_5_bound(level: Level, broken: str) -> Outcome:
    """Compare rewards with the bound."""
    system = window()
    if system is None:
        return WITHOUT_DATA
    sizes: tuple[int, ...] = (50, 800)
    names: tuple[str, ...] = ("dra", "dra-preemption", "power-of-d")
    if level is Level.full:
        sizes, names = (50, 100, 200, 300, 400, 600, 800), (*names, "first-fit")
    holds, shown = True, []
    for servers in sizes:
        scale = 0.5 if broken else 1.0
        bound = upper_bound(system, int(scale * servers), 1000.0, 5000.0, 10 if level is Level.quick else 100) * scale
        best = max(rewards_on_window(name, servers)[0] for name in names)
        holds &= best <= bound * (1 + 1e-6)
        shown.append(f"L = {servers}: best {best:.4f}, bound {bound:.4f}")
    return Outcome("; ".join(shown), bool(holds))


@claim(
    "figure-5-order",
    "On the trace's first 84 minutes dynamic reservation with preemption earns more than without, and more than power "
    "of two choices, at every number of servers from overload to idle (50 to 1,200; the window, the reward factors 1, "
    "2, 4 and g(L) are ours).",
    source="Figure 5",
    printed="DRA with preemptions is better than the default DRA and better than the power-of-d-choices",
    evidence=Evidence.statistical,
    verdict=Verdict.not_reproduced,
    breaks=(
        "only the numbers of servers at which the printed order holds",
        "only power of two choices is compared, at 300 to 600",
    ),
)
def figure_5_order(level: Level, broken: str) -> Outcome:
    """Compare rewards at every number of servers."""
    if window() is None:
        return WITHOUT_DATA
    sizes: tuple[int, ...] = SIZES
    if broken:
        sizes = (600,) if broken.startswith("only the") else (300, 400, 600)
    decisions = Decisions(len(sizes))
    count, held, shown = (10 if level is Level.quick else 40), [], []
    for servers in sizes:
        plain, stopping = rewards_on_window("dra", servers)[0], rewards_on_window("dra-preemption", servers)[0]
        sampled = decisions.mean(rewards_on_window("power-of-d", servers, count))
        ordered = stopping > sampled.high and (stopping > plain or broken.startswith("only power"))
        held += [servers] * ordered
        shown.append(f"{servers}: {stopping:.4f} {plain:.4f} {sampled.mean:.4f}")
    computed = (
        f"reward with preemption, without, of power of two at {'; '.join(shown)}; printed order at "
        f"{', '.join(map(str, held)) or 'none'} of {len(sizes)} ({decisions}, seed {SEED})"
    )
    return Outcome(computed, len(held) == len(sizes))


@claim(
    "figure-6-window",
    "On the window of Figure 5 dynamic reservation with preemption earns more than without at every number of servers "
    "from 50 to 1,200, whether the job for which others are stopped is lost or served. One path, no chance; 0.6 % of "
    "the load can be stopped there. Full: with reward factors 1, 10, 100 of the priority classes too.",
    source="Figure 6",
    printed="considering preemptions in DRA makes a great difference (rewards lost)",
    evidence=Evidence.numeric,
    verdict=Verdict.not_reproduced,
    breaks=("only numbers of servers at which jobs are refused all the time",),
)
def figure_6_window(level: Level, broken: str) -> Outcome:
    """Compare rewards on the same jobs."""
    if window() is None:
        return WITHOUT_DATA
    holds, shown = True, []
    for factors in (FACTORS,) if level is Level.quick else (FACTORS, (1, 10, 100)):
        system = window(factors)
        assert system is not None
        size = {t.name: float(t.reward) / factors[system.priority[t.name]] for t in system.instance.types}
        load = {t.name: float(t.workload) * size[t.name] for t in system.instance.types}
        low = sum(load[name] for name, p in system.priority.items() if p == 0) / sum(load.values())
        gains = []
        for servers in (50, 100) if broken else SIZES:
            plain = rewards_on_window("dra", servers, factors=factors)[0]
            lost, served = (
                rewards_on_window("dra-preemption", servers, factors=factors, trigger=t)[0] for t in ("lost", "served")
            )
            holds &= min(lost, served) > plain
            gains.append(f"{servers}: {plain:.4f} {lost / plain - 1:+.2%} {served / plain - 1:+.2%}")
        shown.append(
            f"factors {', '.join(map(str, factors))}, {low:.1%} of the load has priority 0: {'; '.join(gains)}"
        )
    return Outcome(f"reward without, gain where the trigger is lost, and served; {'; '.join(shown)}", bool(holds))
