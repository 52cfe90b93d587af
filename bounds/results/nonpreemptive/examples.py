"""Examples 1 and 2 and Table 1 of the non-preemptive scheduling paper."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from bounds.results.nonpreemptive.settings import (
    BOUNDARY,
    EC2_SERVER,
    EC2_TYPES,
    NAMES,
    example_1,
    example_2,
)
from bounds.results.nonpreemptive.settings import table_1 as ec2
from bounds.results.reproduction import reproduction
from bounds.results.simulated_queues import SEED, simulated
from bounds.views.panels import Cells, Chart, Curve, Panel
from bounds.views.simulation import curve_of
from fluid.simulation.queue.model import QueueScenario
from theory.region.slices import region_slice

ALGORITHM_1, M14, G16 = NAMES

INTENSITY = Fraction(89, 100)


def _queues(scenario: QueueScenario, policies: dict[str, str], runs: int) -> list[Curve]:
    return [curve_of(simulated(name, scenario, runs), title) for title, name in policies.items()]


SIZES: dict[str, Any] = {
    "tiny": {"until": 60.0, "runs": 2},
    "quick": {"until": 1000.0, "runs": 5},
    "full": {"until": 4000.0, "runs": 16},
}


@reproduction(
    "nonpreemptive/example-1",
    "queue over time, a server of 6 with jobs of 4 and 1 at intensity 0.89 (Figure 3)",
    printed="the queues of M14 go to infinity, Algorithm 1 keeps them stable",
    lost="the curves, the time",
    chosen="the time; the slope of 3.56 - 2 = 1.56 follows from the printed rates",
    seed=SEED,
    claims=("example-1", "example-1-queues"),
    columns=1,
    **SIZES,
)
def example_one(until: float, runs: int) -> Sequence[Panel]:
    """Return the queue of Algorithm 1 and of M14."""
    scenario = QueueScenario(example_1(INTENSITY), 1, until, until / 10, bins=100)
    curves = _queues(scenario, {"Algorithm 1": ALGORITHM_1, "M14": M14}, runs)
    curves.append(Curve("growth of 1.56 per service time", [0.0, until], [0.0, 1.56 * until], look="plain"))
    return (Chart("time (mean service times)", "queue (jobs)", curves, ylim=(0.0, None)),)


@reproduction(
    "nonpreemptive/example-2",
    "queue over time, servers and jobs of 1, 2, 4 and 8 at intensity 0.89 (Figure 4)",
    printed="G16 performs poorly although it converges; Algorithm 1 performs much better",
    lost="the curves, the time",
    chosen="the time, and how often G16 samples (option intervals)",
    seed=SEED,
    claims=("example-2", "example-2-queues"),
    columns=1,
    **SIZES,
)
def example_two(until: float, runs: int) -> Sequence[Panel]:
    """Return the queue of Algorithm 1 and of G16."""
    scenario = QueueScenario(example_2(INTENSITY), 4, until, until / 10, bins=100)
    curves = _queues(scenario, {"Algorithm 1": ALGORITHM_1, "G16": G16}, runs)
    return (Chart("time (mean service times)", "queue (jobs)", curves, ylim=(0.0, None)),)


@reproduction(
    "nonpreemptive/table-1",
    "the EC2 types, and their region cut through the printed workload",
    printed="types and servers; the workload [2/3, 11/3, 2/3] is on the boundary",
    claims=("table-1",),
    height=2.2,
)
def table_1() -> Sequence[Panel]:
    """Return the table, and the three slices through the workload."""
    names = ("standard", "high-memory", "high-CPU")
    rows = [[f"{m / 10:g} GB", f"{c / 10:g} EC2", f"{s:,} GB"] for m, c, s in (*EC2_TYPES, EC2_SERVER)]
    panels: list[Panel] = [Cells(["memory", "CPU", "storage"], [*names, "server"], rows)]
    instance = ec2(1)
    for i, j in combinations(range(3), 2):
        cut = region_slice(instance, i, j)
        x, y = ([float(point[axis]) for point in cut.vertices] for axis in (0, 1))
        workload = Curve("printed workload", [float(BOUNDARY[i])], [float(BOUNDARY[j])], look="stars")
        chart = Chart(
            f"{names[i]} (jobs per server)",
            f"{names[j]} (jobs per server)",
            [Curve("boundary of the region", x, y), workload],
            xlim=(0.0, None),
            ylim=(0.0, None),
        )
        panels.append(chart)
    return panels
