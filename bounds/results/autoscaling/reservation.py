"""Figures 1, 3 and 4 of the auto-scaling paper: dynamic reservation on the four VM types."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.results.autoscaling.event_by_event import watched
from bounds.results.autoscaling.figures import SEED, full_of_the_smallest, runs_of
from bounds.results.autoscaling.figures_of_vm_types import PRINTED_RATIO
from bounds.results.instances import four_types
from bounds.results.reproduction import reproduction
from bounds.views.panels import Chart, Curve, Line, Panel, Span, Spans
from bounds.views.simulation import curve_of
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.results import LossResult
from theory.greedy.optimal import solve
from theory.instance import additive


def _references() -> list[Line]:
    """Return the limit, the optimum, and what is printed of the one over the other."""
    solution = solve(four_types())
    best = float(solution.optimal.reward)
    return [
        Line("greedy, many servers", float(solution.greedy.reward)),
        Line("optimal", best),
        Line("86 % of the optimum", PRINTED_RATIO * best, printed=True),
    ]


@reproduction(
    "autoscaling/figure-1",
    "servers, their slots and their group under classification and reassignment",
    printed="an illustration of the state of the algorithm",
    lost="the picture",
    chosen="12 servers of 6 units, two types (2 and 3 units), g = 1, the state after some 300 events",
    seed=SEED,
    claims=("remark-2",),
    quick={"servers": 12, "events": 300.0, "reserve": 1},
    columns=1,
    height=3.2,
)
def figure_1(servers: int, events: float, reserve: int) -> Sequence[Panel]:
    """Return the slots of each server: jobs, and empty slots."""
    instance = additive([6], [[2], [3]], rewards=["5/2", 3], workload=["9/5", "1/2"])
    observer = watched(instance, servers, events, reserve, SEED, full=True, migration=True)
    # the last state in which servers of both groups are there, so that there is something to see
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


@reproduction(
    "autoscaling/figure-3",
    "reward of dynamic reservation against the number of servers",
    printed="approaches the global greedy reward, and 86 % of the optimum, as servers become many",
    lost="the workload, g(L), the numbers of servers, the curve",
    chosen="the worst workload of the four VM types, g(L) = (log L)^1.5; the exactly worst ratio is 0.8718",
    seed=SEED,
    claims=("figure-3", "theorem-4.1"),
    tiny={"servers": (20, 60), "runs": 3, "until": 6.0},
    quick={"servers": (25, 50, 100, 200, 400, 800, 1600), "runs": 6, "until": 16.0},
    full={"servers": (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800), "runs": 12, "until": 30.0},
    columns=1,
    height=2.9,
)
def figure_3(servers: Sequence[int], runs: int, until: float) -> Sequence[Panel]:
    """Return the mean reward with its interval at each number of servers, from empty and from full servers."""
    instance, one = four_types(), policy("dra")
    curves = []
    for start in ("empty", "full of the smallest type"):
        found = []
        for number in servers:
            initial = full_of_the_smallest(instance, number) if start != "empty" else None
            scenario = LossScenario(instance, number, until, until / 2, initial=initial, bins=4)
            found.append(LossResult(one, scenario, tuple(runs_of(one, scenario, runs))).reward())
        means, low, high = ([getattr(i, end) for i in found] for end in ("mean", "low", "high"))
        curves.append(Curve(f"dynamic reservation, from {start}", servers, means, low, high))
    return (Chart("servers (number)", "reward (per server)", curves, _references(), xscale="log"),)


@reproduction(
    "autoscaling/figure-4",
    "reward of dynamic reservation over time",
    printed="converges to the global greedy reward",
    lost="the workload, g(L), the number of servers",
    chosen="the worst workload of the four VM types, g(L) = (log L)^1.5, 800 servers",
    seed=SEED,
    claims=("figure-4", "theorem-6.1"),
    tiny={"servers": 40, "runs": 3, "until": 6.0},
    quick={"servers": 800, "runs": 6, "until": 12.0},
    full={"servers": 800, "runs": 30, "until": 12.0},
    columns=1,
    height=2.9,
)
def figure_4(servers: int, runs: int, until: float) -> Sequence[Panel]:
    """Return the reward over time from empty and from full servers."""
    instance, one = four_types(), policy("dra")
    curves = []
    for start, initial in (("empty", None), ("full of the smallest type", full_of_the_smallest(instance, servers))):
        scenario = LossScenario(instance, servers, until, 0.0, initial=initial, bins=60)
        result = LossResult(one, scenario, tuple(runs_of(one, scenario, runs)))
        curves.append(curve_of(result, f"from {start}"))
    return (Chart("time (mean service times)", "reward (per server)", curves, _references(), ylim=(0.0, None)),)
