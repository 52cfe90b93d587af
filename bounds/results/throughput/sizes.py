"""Figures 1 and 2 of the high-throughput paper: requests of the trace, and the universal partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bounds.results.reproduction import WithoutData, reproduction
from bounds.results.simulated_queues import real_table
from bounds.results.throughput.traces import CPU, MEMORY
from bounds.views.panels import Chart, Curve, Line, Panel, Span, Spans
from theory.numbers import text
from theory.partition.universal import universal_cells


@reproduction(
    "throughput/figure-1",
    "distinct requests of memory and CPU in the Google trace",
    printed="more than 700 distinct memory and 400 distinct CPU requirements in a day",
    lost="the curves, and the day",
    chosen="the tasks of the first 84 minutes, and those that were there before",
    claims=("figure-1",),
)
def figure_1() -> Sequence[Panel]:
    """Return the distinct pairs, and how many distinct requests tasks have brought by their arrival."""
    trace = real_table()
    if isinstance(trace, str):
        raise WithoutData(trace)
    units = [float(unit) for unit in trace.unit]
    pairs = np.unique(trace.demand, axis=0) * np.array(units)
    order = np.argsort(trace.arrival, kind="stable")
    tasks = np.unique(np.geomspace(1, len(order), 120).astype(int))
    counts = []
    for r in (1, 0):
        _, first = np.unique(trace.demand[order, r], return_index=True)
        counts.append([int((first < n).sum()) for n in tasks])
    return (
        Chart(
            "CPU (share of the largest server)",
            "memory (share of the largest server)",
            [Curve(f"{len(pairs):,} distinct pairs", pairs[:, 0].tolist(), pairs[:, 1].tolist(), look="dots")],
        ),
        Chart(
            "tasks in order of arrival (number)",
            "distinct requests (number)",
            [
                Curve("memory", tasks.tolist(), counts[0], look="plain"),
                Curve("CPU", tasks.tolist(), counts[1], look="plain"),
            ],
            [Line(f"{MEMORY} memory in a day", MEMORY, printed=True), Line(f"{CPU} CPU in a day", CPU, printed=True)],
            xscale="log",
        ),
    )


@reproduction(
    "throughput/figure-2",
    "the universal partition of (1/2^J, 1]",
    printed="a picture of the partition (18)",
    lost="the picture",
    chosen="J = 1 to 4",
    claims=("prop-1",),
    quick={"deepest": 4},
    columns=1,
    height=2.6,
)
def figure_2(deepest: int) -> Sequence[Panel]:
    """Return the intervals for each J."""
    spans = []
    for row, depth in enumerate(range(1, deepest + 1)):
        for j, (low, high) in enumerate(universal_cells(depth)):
            label = f"$I_{{{j}}}$\n{text(low)}" if row + 1 == deepest else f"$I_{{{j}}}$"
            spans.append(Span(row, float(low), float(high), label, "even intervals" if j % 2 == 0 else "odd intervals"))
    down = [f"J = {depth}" for depth in range(1, deepest + 1)]
    ticks = [(2.0**-m, f"1/{2**m}" if m else "1") for m in range(deepest, -1, -1)]
    return (Spans("size (share of a server)", down, spans, xscale="log", ylabel="depth (J)", xticks=ticks),)
