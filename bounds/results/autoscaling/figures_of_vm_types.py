"""Table 1 and Figure 2 of the auto-scaling paper: collections of VM types, and the workload scaled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bounds.results.autoscaling.vm_types import COLLECTIONS, random_solutions
from bounds.results.instances import LARGE, MEMORY, SERVER, SMALL, four_types
from bounds.results.reproduction import reproduction
from bounds.views.panels import Cells, Chart, Curve, Line, Panel
from theory.greedy.workload_scaling import scaling

PRINTED_RATIO = 0.86
"""The reward of dynamic reservation over the optimum with many servers, printed beside Figure 3."""


@reproduction(
    "autoscaling/table-1",
    "sizes of VM types, and what greedy keeps on random collections of them",
    printed="the grid; greedy is often identical to the optimum, close to it on average",
    lost="the range of the workloads, and the statistics",
    chosen="workloads in quarters, uniform on [0, 10] jobs per server",
    seed=COLLECTIONS,
    claims=("table-1",),
    tiny={"collections": 8},
    quick={"collections": 300},
    full={"collections": 2000},
)
def table_1(collections: int) -> Sequence[Panel]:
    """Return the grid, and how often which ratio comes out."""
    rows = [[f"{v * m} GB" for m in sorted(MEMORY)] for v in (*SMALL, *LARGE)]
    tones = [["good" if v * m <= SERVER[1] else "bad" for m in sorted(MEMORY)] for v in (*SMALL, *LARGE)]
    kinds = {1: "low", 2: "low", 4: "regular", 8: "high", 16: "high"}
    grid = Cells(
        [f"{m} GB/vCPU\n({kinds[m]})" for m in sorted(MEMORY)],
        [f"{v} vCPU" for v in (*SMALL, *LARGE)],
        rows,
        tones,
        f"green: fits a server of {SERVER[0]} vCPU and {SERVER[1]} GB",
    )
    ratios = np.sort([float(one.ratio) for one in random_solutions(collections)])
    share = np.arange(collections + 1) / collections
    optimal = float((ratios == 1).mean())
    chart = Chart(
        "greedy / optimal reward (1)",
        "collections (share)",
        [Curve("with at most this ratio", [float(ratios[0]), *ratios.tolist()], share.tolist(), look="steps")],
        [Line(f"mean ratio {ratios.mean():.4f}", float(ratios.mean()), upright=True)],
        f"{collections:,} collections; optimal in {optimal:.0%}",
        ylim=(0.0, 1.03),
    )
    return grid, chart


@reproduction(
    "autoscaling/figure-2",
    "greedy and optimal reward as the workload is scaled",
    printed="two critical points, outside of which both rewards are equal; 86 % at many servers (beside Figure 3)",
    lost="the workload, both points, and the least ratio",
    chosen="the exactly worst workload of the four printed VM types",
    claims=("figure-2", "figure-2-between", "figure-2-86-percent"),
)
def figure_2() -> Sequence[Panel]:
    """Return both rewards, and their ratio."""
    curve = scaling(four_types())
    scales = [0.0, *map(float, curve.scales), 1.15 * float(curve.saturated)]
    greedy, optimal = ([0.0, *map(float, v), float(v[-1])] for v in (curve.greedy, curve.optimal))
    points = [
        Line(f"first critical point {float(curve.full):.4g}", float(curve.full), upright=True),
        Line(f"second critical point {float(curve.saturated):.4g}", float(curve.saturated), upright=True),
    ]
    fine = np.unique(np.concatenate([np.linspace(a, b, 12) for a, b in pairwise(scales[1:])]))
    ratio = np.interp(fine, scales, greedy) / np.interp(fine, scales, optimal)
    rewards = Chart(
        "scale of the workload (1)",
        "reward (per server)",
        [Curve("optimal", scales, optimal), Curve("greedy", scales, greedy)],
        points,
        ylim=(0.0, None),
    )
    scale, least = curve.worst
    ratios = Chart(
        "scale of the workload (1)",
        "greedy / optimal (1)",
        [
            Curve("ratio", fine.tolist(), ratio.tolist(), look="plain"),
            Curve(f"least, {float(least):.4f}", [float(scale)], [float(least)], look="dots"),
        ],
        [Line("86 %", PRINTED_RATIO, printed=True)],
    )
    return rewards, ratios
