"""Figures 5 and 6 of the auto-scaling paper: the Google trace, and spikes in demand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bounds.results.autoscaling.figures import SPIKES, spike_scenario, spiked
from bounds.results.autoscaling.traces import (
    SEED,
    WITHOUT_DATA,
    rewards_on_window,
    run_on_window,
    window,
)
from bounds.results.reproduction import WithoutData, reproduction
from bounds.results.simulated_queues import whole
from bounds.views.panels import Chart, Curve, Panel
from bounds.views.simulation import curve_of
from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import run_once
from fluid.simulation.policy_names import policy
from fluid.simulation.results import LossResult
from fluid.statistics import mean_interval
from fluid.traces.types import TaskSystem, upper_bound

POLICIES = {
    "dra-preemption": "reservation with preemption",
    "dra": "dynamic reservation",
    "power-of-d": "power of two choices",
}
"""The policies of both figures, as they are called there."""


def _window() -> TaskSystem:
    system = window()
    if system is None:
        raise WithoutData(WITHOUT_DATA.computed)
    return system


@reproduction(
    "autoscaling/figure-5",
    "reward against the number of servers on the Google trace",
    printed="reservation with preemption above plain reservation and above power of two choices, all below the bound",
    lost="the curves, the numbers of servers, the factors of the priorities, g(L)",
    chosen="the first 84 minutes of the trace, factors 1, 2, 4, g(L) = (log L)^1.5, mean over [1000, 5000] s",
    seed=SEED,
    claims=("figure-5-bound", "figure-5-order"),
    tiny={"servers": (50, 800), "runs": 2, "spans": 2},
    quick={"servers": (50, 100, 200, 300, 400, 600, 800, 1200), "runs": 2, "spans": 4},
    full={"servers": (50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 800, 1000, 1200), "runs": 8, "spans": 20},
    columns=1,
    height=2.9,
)
def figure_5(servers: Sequence[int], runs: int, spans: int) -> Sequence[Panel]:
    """Return the mean rewards; reservation draws nothing on listed jobs, so that only sampling has an interval."""
    system = _window()
    bound = [upper_bound(system, number, 1000.0, 5000.0, spans) for number in servers]
    curves = [Curve("no policy has more", servers, bound)]
    for name, title in POLICIES.items():
        if name == "power-of-d":
            found = [mean_interval(rewards_on_window(name, number, runs)) for number in servers]
            means, low, high = ([getattr(i, end) for i in found] for end in ("mean", "low", "high"))
            curves.append(Curve(title, servers, means, low, high))
        else:
            curves.append(Curve(title, servers, [rewards_on_window(name, number)[0] for number in servers]))
    return (Chart("servers (number)", "reward (per server)", curves, xscale="log", ylim=(0.0, None)),)


def _arrivals(system: JobList, sizes: np.ndarray, priority: np.ndarray, edges: np.ndarray) -> list[Curve]:
    """Return the size of the jobs that arrive in each span of time, a curve a priority."""
    curves = []
    for level in sorted(set(priority.tolist())):
        mine = priority[system.types] == level
        total, _ = np.histogram(system.times[mine], edges, weights=sizes[system.types[mine]])
        curves.append(Curve(f"priority {level}", edges[:-1].tolist(), (total / np.diff(edges)).tolist(), look="steps"))
    return curves


@reproduction(
    "autoscaling/figure-6",
    "reward over time on part of the trace, and around two spikes in demand",
    printed="preemption reacts to spikes better than the others; power of two choices can be better than reservation",
    lost="the part of the trace, the number of servers, the curves",
    chosen="300 servers on the first 84 minutes; spikes of our own on 100 servers",
    seed=SEED,
    claims=("figure-6-preemption", "figure-6-spike", "figure-6-window"),
    tiny={"servers": 300, "bins": 20, "lists": 2},
    quick={"servers": 300, "bins": 80, "lists": 6},
    full={"servers": 300, "bins": 80, "lists": 40},
    height=2.5,
)
def figure_6(servers: int, bins: int, lists: int) -> Sequence[Panel]:
    """Return rewards over time and arrivals by priority, on the trace and around spikes."""
    return (*_on_trace(servers, bins), *(_around_spikes(lists, service) for service in SPIKES))


def _on_trace(servers: int, bins: int) -> list[Panel]:
    system = _window()
    rewards = []
    for name, title in POLICIES.items():
        run = run_on_window(name, servers, bins=bins)
        rewards.append(curve_of(LossResult(policy(name), run.scenario, (run,)), title))
    sizes = np.array([float(row[0]) / 128 for row in system.instance.pools[0].space.demands])  # type: ignore[union-attr]
    priority = np.array([system.priority[name] for name in system.instance.names])
    arriving = _arrivals(system.jobs, sizes, priority, np.linspace(0.0, 5000.0, 51))
    return [
        Chart("time (s)", "reward (per server)", rewards, title=f"trace, {servers} servers", ylim=(0, None)),
        Chart("time (s)", "size of arrivals (servers per s)", arriving, title="trace, arrivals", ylim=(0, None)),
    ]


def _around_spikes(lists: int, service: int) -> Panel:
    """Return the reward around a spike of priority 0 over [20, 21] and one of priority 1 over [21, 22]."""
    spikes, until = SPIKES[service]
    drawn = [spiked(seed, 100, service, spikes) for seed in range(lists)]
    rewards = []
    for name, title in POLICIES.items():
        scenarios = [spike_scenario(service, jobs, warmup=0.0, bins=int(4 * until)) for jobs in drawn]
        one = policy(name)
        runs = [whole(run_once(one, each, np.random.SeedSequence((SEED, n)))) for n, each in enumerate(scenarios)]
        rewards.append(curve_of(LossResult(one, scenarios[0], tuple(runs)), title))
    return Chart(
        "time (lengths of a spike)",
        "reward (per server)",
        rewards,
        title=f"spikes, jobs last {service} times as long",
        xlim=(18.0, until),
        shaded=(("spike of priority 0", 20.0, 21.0), ("spike of priority 1", 21.0, 22.0)),
    )
