"""Figures 5 and 6 of the non-preemptive scheduling paper: more servers, and more traffic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bounds.results.nonpreemptive.queues import INTERVALS, runs_of
from bounds.results.nonpreemptive.settings import NAMES, table_1
from bounds.results.reproduction import reproduction
from bounds.results.simulated_queues import SEED
from bounds.results.throughput.figures_of_queues import mean_queues_chart
from bounds.views.panels import Panel
from fluid.simulation.arrivals import Law

LAWS = {"Poisson arrivals": Law(), "log-normal interarrival times": INTERVALS}
TITLES = dict(zip(NAMES, ("Algorithm 1", "M14", "G16"), strict=True))


def _panels(
    points: Sequence[tuple[float, Any, int]], xlabel: str, events: float, runs: int, options: dict[str, Any]
) -> list[Panel]:
    """Return a panel a law; a point is its place on the axis, its instance and its servers."""
    panels: list[Panel] = []
    for title, law in LAWS.items():
        found = [runs_of(instance, servers, law, events, options, replications=runs) for _, instance, servers in points]
        results = {TITLES[name]: [one[name] for one in found] for name in NAMES}
        panels.append(mean_queues_chart(results, [x for x, *_ in points], xlabel, title))
    return panels


@reproduction(
    "nonpreemptive/figure-5",
    "mean queue against the number of servers, types of Table 1 at intensity 0.89",
    printed="Algorithm 1 and M14 perform better as servers increase, unlike G16",
    lost="the curves, the variance of the log-normal law",
    chosen="a squared coefficient of variation of 4; runs of equal length for all policies",
    seed=SEED,
    claims=("figure-5",),
    tiny={"servers": (4, 8), "events": 2e3, "runs": 2},
    quick={"servers": (20, 50, 100, 200), "events": 2e5, "runs": 6},
    full={"servers": (20, 40, 60, 80, 100, 125, 150, 175, 200), "events": 1e6, "runs": 12},
    height=2.9,
)
def figure_5(servers: Sequence[int], events: float, runs: int) -> Sequence[Panel]:
    """Return mean queues; a quarter of each run is dropped, as printed."""
    points = [(float(number), table_1(Fraction(89, 100)), number) for number in servers]
    return _panels(points, "servers (number)", events, runs, {})


@reproduction(
    "nonpreemptive/figure-6",
    "mean queue against traffic intensity, types of Table 1 on 20 servers",
    printed="M14 deteriorates at higher traffic and G16 at lower traffic",
    lost="the curves, the variance of the log-normal law",
    chosen="a squared coefficient of variation of 4; runs of equal length for all policies",
    seed=SEED,
    claims=("figure-6",),
    tiny={"intensities": ("0.8", "0.95"), "events": 2e3, "runs": 2},
    quick={"intensities": ("0.8", "0.85", "0.9", "0.95"), "events": 2e5, "runs": 6},
    full={"intensities": ("0.8", "0.83", "0.86", "0.89", "0.92", "0.95"), "events": 1e6, "runs": 16},
    height=2.9,
)
def figure_6(intensities: Sequence[str], events: float, runs: int) -> Sequence[Panel]:
    """Return mean queues with beta = 0.98, as printed."""
    points = [(float(z), table_1(Fraction(z)), 20) for z in intensities]
    return _panels(points, "traffic intensity (1)", events, runs, {"beta": Fraction(98, 100)})
