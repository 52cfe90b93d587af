"""Figures 3 to 5 of the high-throughput paper: queues of its policies, in slots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bounds.results.reproduction import WithoutData, reproduction
from bounds.results.simulated_queues import SEED, real_window, simulated
from bounds.results.throughput.growth import waiting_size
from bounds.results.throughput.queues import (
    FIRST,
    LARGE_JOBS,
    SMALL_JOBS,
    first_example,
    second_example,
    uniform_queue,
)
from bounds.results.throughput.traces import mean_queue_on_window
from bounds.views.panels import Chart, Curve, Panel
from fluid.simulation.results import QueueResult
from fluid.simulation.slotted.model import SlottedScenario

NAMES = {"bf-js": "BF-J/S", "vqs-bf": "VQS-BF", "vqs": "VQS", "fifo-ff": "FIFO-FF"}

SURE = 0.999
"""Level of the interval that must lie above 0 where a queue is marked as growing."""


def _sizes_over_time(scenario: SlottedScenario, runs: int, slope: float) -> Panel:
    """Return the size of all waiting jobs over time, and the growth that follows from the printed rates."""
    curves = []
    for name in FIRST:
        at, mean, low, high = simulated(name, scenario, runs).curve_of(waiting_size)
        low = low.clip(min=0.0)
        curves.append(Curve(NAMES[name], at.tolist(), mean.tolist(), low.tolist(), high.tolist()))
    until = float(scenario.until)
    curves.append(Curve(f"growth of {slope:.5f} a slot", [0.0, until], [0.0, slope * until], look="plain"))
    return Chart("time (slots)", "size of waiting jobs (servers)", curves, ylim=(0.0, None))


@reproduction(
    "throughput/figure-3a",
    "queue over time, sizes 0.4 and 0.6 at 0.014 jobs a slot",
    printed="VQS is unstable above 2/3 of the supportable 0.02; BF-J/S and VQS-BF are stable",
    lost="the curves",
    chosen="the growth of 0.00032 servers a slot follows from the printed rates",
    seed=SEED,
    claims=("vii-a-1", "figure-3", "example-vqs"),
    tiny={"slots": 50_000, "runs": 2},
    quick={"slots": 1_000_000, "runs": 12},
    full={"slots": 4_000_000, "runs": 20},
    columns=1,
)
def figure_3a(slots: int, runs: int) -> Sequence[Panel]:
    """Return the queues of Section VII-A.1."""
    return (_sizes_over_time(first_example(0.014, slots), runs, 0.00032),)


@reproduction(
    "throughput/figure-3b",
    "queue over time, sizes 2 and 5 on 10 at 0.0306 jobs a slot",
    printed="VQS is stable; BF-J/S and VQS-BF are not: arrivals (0.0204, 0.0102) against departures (0.02, 0.01)",
    lost="the curves",
    chosen="the growth of 0.00018 servers a slot, once caught in (2, 1), follows from the printed rates",
    seed=SEED,
    claims=("vii-a-2", "figure-3", "example-best-fit"),
    tiny={"slots": 100_000, "runs": 2},
    quick={"slots": 4_000_000, "runs": 8},
    full={"slots": 16_000_000, "runs": 20},
    columns=1,
)
def figure_3b(slots: int, runs: int) -> Sequence[Panel]:
    """Return the queues of Section VII-A.2; a mean over paths, of which not all are caught."""
    return (_sizes_over_time(second_example(0.0306, slots, slots // 10), runs, 0.00018),)


def mean_queues_chart(results: dict[str, list[QueueResult[Any]]], x: Sequence[float], xlabel: str, title: str) -> Chart:
    """Return mean queues with intervals by policy, points at which they grow beyond doubt marked."""
    curves = []
    for name, found in results.items():
        queues = [one.queue() for one in found]
        means, low, high = ([getattr(i, end) for i in queues] for end in ("mean", "low", "high"))
        grows = [bool(one.growth(SURE).low > 0) for one in found]
        curves.append(Curve(name, x, means, [max(0.0, value) for value in low], high, grows=grows))
    return Chart(xlabel, "mean queue (jobs)", curves, title=title, yscale="log")


def _against_intensity(law: tuple[Fraction, Fraction], intensities: Sequence[float], slots: int, runs: int) -> Panel:
    results = {
        title: [uniform_queue(name, *law, intensity, slots, runs) for intensity in intensities]
        for name, title in NAMES.items()
    }
    low, high = map(float, law)
    return mean_queues_chart(results, intensities, "traffic intensity (1)", f"sizes uniform on [{low:g}, {high:g}]")


FIGURE_4: dict[str, Any] = {
    "lost": "the curves, the length of the runs",
    "chosen": "lengths and replications; FIFO-FF beside the paper's three; sizes in steps of 1e-4",
    "seed": SEED,
    "tiny": {"intensities": (0.85, 0.95), "slots": 4000, "runs": 2},
    "columns": 1,
}


@reproduction(
    "throughput/figure-4a",
    "mean queue against traffic intensity, small jobs",
    printed="VQS is worse; BF-J/S and VQS-BF look comparable up to 0.95, then BF-J/S has an advantage",
    claims=("figure-4a",),
    quick={"intensities": (0.85, 0.9, 0.95, 0.99), "slots": 200_000, "runs": 6},
    full={"intensities": (0.85, 0.88, 0.91, 0.93, 0.95, 0.97, 0.99), "slots": 1_000_000, "runs": 16},
    **FIGURE_4,
)
def figure_4a(intensities: Sequence[float], slots: int, runs: int) -> Sequence[Panel]:
    """Return mean queues for sizes on [0.01, 0.19]."""
    return (_against_intensity(SMALL_JOBS, intensities, slots, runs),)


@reproduction(
    "throughput/figure-4b",
    "mean queue against traffic intensity, large jobs",
    printed="VQS and VQS-BF have particularly worse delays when sizes are large",
    claims=("figure-4b",),
    quick={"intensities": (0.85, 0.9, 0.95, 0.99), "slots": 400_000, "runs": 6},
    full={"intensities": (0.85, 0.88, 0.91, 0.93, 0.95, 0.97, 0.99), "slots": 4_000_000, "runs": 16},
    **FIGURE_4,
)
def figure_4b(intensities: Sequence[float], slots: int, runs: int) -> Sequence[Panel]:
    """Return mean queues for sizes on [0.1, 0.9]."""
    return (_against_intensity(LARGE_JOBS, intensities, slots, runs),)


@reproduction(
    "throughput/figure-5",
    "mean queue against traffic scaling on the Google trace",
    printed="BF-J/S and VQS-BF have a clear advantage; VQS-BF is slightly better at high traffic (1000 servers)",
    lost="the curves; the printed window is a million tasks in 1.5 days",
    chosen="the first 84 minutes (37,702 completed tasks) on 300 servers; one path, nothing is drawn",
    claims=("figure-5", "figure-5-vqs-bf"),
    tiny={"servers": 300, "scalings": (1.6,)},
    quick={"servers": 300, "scalings": (1.0, 1.2, 1.4, 1.6)},
    full={"servers": 300, "scalings": (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)},
    columns=1,
)
def figure_5(servers: int, scalings: Sequence[float]) -> Sequence[Panel]:
    """Return mean queues on the window."""
    trace = real_window()
    if isinstance(trace, str):
        raise WithoutData(trace)
    curves = [
        Curve(title, scalings, [mean_queue_on_window(name, Fraction(str(x)), servers) for x in scalings])
        for name, title in NAMES.items()
    ]
    return (Chart("traffic scaling (1)", "mean queue (jobs)", curves, yscale="log"),)
