"""Figures 7 and 8 of the non-preemptive scheduling paper: the Google trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bounds.results.nonpreemptive.trace import POLICIES, SERVERS, WINDOW, run_on_window, trace_queues
from bounds.results.reproduction import WithoutData, reproduction
from bounds.results.simulated_queues import SEED, real_window
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.statistics import mean_interval
from fluid.traces.model import MICROSECONDS, Trace

PRINTED_RATE = 1e6 / (1.5 * 24 * 60)
"""Arrivals a minute: a million in 1.5 days."""


def _window() -> Trace:
    trace = real_window()
    if isinstance(trace, str):
        raise WithoutData(trace)
    return trace


@reproduction(
    "nonpreemptive/figure-7",
    "arrivals over time in the Google trace",
    printed="variable traffic; a million arrivals in about 1.5 days, in windows of 20 minutes",
    lost="the curve",
    chosen="the completed tasks of the first 84 minutes, and windows of a minute beside those of 20",
    claims=("figure-7",),
    columns=1,
)
def figure_7() -> Sequence[Panel]:
    """Return the rate of arrivals."""
    times = _window().arrival
    curves = []
    for width, name in ((WINDOW // 20, "windows of a minute"), (WINDOW, "windows of 20 minutes")):
        whole = int(times.max()) // width
        counts = np.bincount(times[times < whole * width] // width, minlength=whole)
        edges = np.arange(whole + 1) * width / (60 * MICROSECONDS)
        rates = counts / (width / (60 * MICROSECONDS))
        curves.append(Curve(name, edges.tolist(), [*rates.tolist(), float(rates[-1])], look="steps"))
    mean = Line(f"a million in 1.5 days, {PRINTED_RATE:.0f} a minute", PRINTED_RATE, printed=True)
    return (Chart("time (minutes)", "arrivals (per minute)", curves, [mean], ylim=(0.0, None)),)


@reproduction(
    "nonpreemptive/figure-8",
    "mean queue against the number of servers on the Google trace",
    printed="Algorithm 1 has the best overall performance in the whole range, 800 to 1250 servers",
    lost="the curves; the printed window is a million tasks in 1.5 days",
    chosen="the first 84 minutes (37,702 completed tasks), so fewer servers; both readings of M14; G16's sampling",
    seed=SEED,
    claims=("figure-8",),
    tiny={"servers": (1000,), "runs": 2},
    quick={"servers": SERVERS[::2], "runs": 3},
    full={"servers": SERVERS, "runs": 10},
    columns=1,
    height=2.9,
)
def figure_8(servers: Sequence[int], runs: int) -> Sequence[Panel]:
    """Return mean queues; only G16 draws, so that the others are facts of these jobs."""
    instance, jobs = trace_queues(_window())
    curves = []
    for name in POLICIES:
        found = [run_on_window(name, instance, number, jobs, runs) for number in servers]
        means = [float(np.mean([run.mean_queue for run in one.runs])) for one in found]
        low: list[float] = []
        high: list[float] = []
        if name == "G16" and runs > 1:
            intervals = [mean_interval([run.mean_queue for run in one.runs]) for one in found]
            low, high = [max(0.0, i.low) for i in intervals], [i.high for i in intervals]
        curves.append(Curve(name, servers, means, low, high))
    return (Chart("servers (number)", "mean queue (jobs)", curves, xscale="log", yscale="symlog"),)
