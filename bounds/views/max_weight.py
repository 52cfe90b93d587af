"""Pictures of max-weight: how two queues fall, where the region turns the flow, and the length of queues over time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bounds.views.pictures import GREEDY, MARK, OPTIMAL, PAGE, PALETTE, drawn, figure, finish, save, styled
from bounds.views.region import outline
from bounds.views.text import UNIT_OF_THE_FILE
from fluid.limits.decay import decay_rate, escape_velocity, norm
from fluid.limits.drift import Algorithm1
from fluid.limits.max_weight import MaxWeight, queue_path
from fluid.simulation.driver import run_once
from theory.errors import InputError
from theory.instance import Instance
from theory.region.facets import Region, region_facets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARROWS = 15  # arrows a side


@styled
def picture_of_flow(
    instance: Instance,
    starts: Sequence[Sequence[float]],
    target: str | Path,
    *,
    beta: Fraction = Fraction(15, 16),
    scales: Sequence[int] = (500, 10_000),
    runs: int = 3,
) -> None:
    """Draw the flow of two queues under max-weight, and the length of queues along fluid and simulated paths.

    Left: arrows of the velocity, paths from the given queues, and the rays along which two configurations weigh the
    same to max-weight, normals of facets. Middle: the region with the workload. Right: ``sqrt(2 V) = |q|`` over time,
    for the same paths, and for runs of Algorithm 1 on one server from n times the first queues, time and queues divided
    by n; the dotted line falls at the largest rate that is sure.

    Parameters
    ----------
    instance : Instance
        Two types.
    starts : sequence of (float, float)
        Queues per server.
    target : path
    beta : Fraction
        Of Algorithm 1.
    scales : sequence of int
        n.
    runs : int
        Simulated paths of each scale.

    Raises
    ------
    InputError
        Not two types.
    """
    if len(instance.types) != 2:
        raise InputError("picture", f"expected two types, got {len(instance.types)}")
    model, region = MaxWeight(instance), region_facets(instance)
    rate = decay_rate(instance, region)
    picture, (left, middle, right) = figure(PAGE, 2.6, 3)
    lengths = [norm(instance, start) for start in starts]
    until = 1.12 * max(lengths) / float(rate) if rate else 20.0
    paths = [queue_path(model, list(start), until) for start in starts]
    most = 1.05 * max(float(path.queues.max()) for path in paths)
    _arrows(left, model, most)
    for facet in region.outer:
        if all(facet.normal):
            along = np.array(facet.normal) / max(facet.normal) * most
            left.plot([0, along[0]], [0, along[1]], color=MARK, ls="--", lw=1)
    for i, path in enumerate(paths):
        colour = PALETTE[i % len(PALETTE)]
        left.plot(*path.queues.T, color=colour, lw=1.4)
        left.plot(*path.queues[0], "o", color=colour, ms=5)
        times = np.linspace(0.0, until, 400)
        right.plot(times, [norm(instance, q) for q in path.at(times)], color=colour, lw=1.4)
    names = [drawn(name) for name in instance.names]
    left.set(xlabel=f"queue of {names[0]} (per server)", ylabel=f"queue of {names[1]} (per server)")
    left.set(xlim=(0, most), ylim=(0, most), title="velocity and paths\n(dashed: equal weights)")
    _region(middle, instance, region)
    _simulated(right, instance, beta, starts[0], scales, runs, until)
    if rate is not None:
        right.plot([0, max(lengths) / float(rate)], [max(lengths), 0], color="black", ls=":", lw=1.5)
        right.plot([], [], color="black", ls=":", lw=1.5, label=f"largest sure rate {float(rate):.4f}")
    else:
        fastest = norm(instance, [float(v) for v in escape_velocity(instance)])
        right.plot([], [], " ", label=f"beyond the region: grows by {fastest:.4f}")
    right.plot([], [], color=PALETTE[0], lw=1.4, label="fluid paths, as on the left")
    time, length = f"time / n ({UNIT_OF_THE_FILE})", "√(2V) / n (jobs)"
    finish(
        right, xlabel=time, ylabel=length, xlim=(0, until), ylim=(0, None), title=f"length of the queues, β = {beta}"
    )
    save(picture, target)


def _arrows(axes: Axes, model: MaxWeight, most: float) -> None:
    """Draw directions of the velocity on a grid that the rays hit seldom, darker where faster."""
    grid = (np.arange(ARROWS) + 0.5) / ARROWS * most
    points = np.array([(x, y) for x in grid for y in grid])
    velocities = np.array([model.velocity(q)[0] for q in points])
    speeds = np.linalg.norm(velocities, axis=1)
    # arrows of one length; their shade is the speed
    heads = velocities / np.maximum(speeds, 1e-12)[:, None]
    axes.quiver(*points.T, *heads.T, speeds, cmap="Greys", clim=(-speeds.max(), 1.4 * speeds.max()), width=0.003)


def _region(axes: Axes, instance: Instance, region: Region) -> None:
    """Draw the region, its vertices and the workload."""
    corners = outline(region)
    axes.fill(*corners.T, color=OPTIMAL, alpha=0.15)
    axes.plot(*np.vstack([corners, corners[:1]]).T, color=OPTIMAL, lw=1.2)
    axes.plot(*corners[1:].T, "o", color=OPTIMAL, ms=4)
    for x, y in corners[1:].tolist():
        axes.annotate(f"({x:g}, {y:g})", (x, y), textcoords="offset points", xytext=(5, 5), fontsize=6, color=OPTIMAL)
    first, second = (float(x) for x in instance.workload)
    axes.plot([first], [second], "o", color=GREEDY, ms=5)
    axes.annotate(
        "workload", (first, second), textcoords="offset points", xytext=(-5, -3), ha="right", va="top", fontsize=7
    )
    tops = np.maximum(corners.max(axis=0), [first, second]) * 1.2
    intensity = float(region.intensity(instance.workload))
    axes.set(xlim=(0, tops[0]), ylim=(0, tops[1]), title=f"region, intensity {intensity:.4g}")
    axes.set(
        xlabel=f"jobs of {drawn(instance.names[0])} (per server)",
        ylabel=f"jobs of {drawn(instance.names[1])} (per server)",
    )


def _simulated(
    axes: Axes,
    instance: Instance,
    beta: Fraction,
    start: Sequence[float],
    scales: Sequence[int],
    runs: int,
    until: float,
) -> None:
    system = Algorithm1(instance, 1, beta)
    for scale, shade in zip(scales, ("#BBBBBB", "#555555", "black"), strict=False):
        scenario = system.scenario([int(scale * q) for q in start], scale * until, bins=400)
        for run in range(runs):
            path = run_once(system.policy, scenario, np.random.SeedSequence((scale, run)))
            times = (path.measures.edges[:-1] + path.measures.edges[1:]) / (2 * scale)
            values = [norm(instance, q / scale) for q in path.waiting]
            label = f"Algorithm 1, n = {scale:,}" if run == 0 else None
            axes.plot(times, values, color=shade, lw=0.9, zorder=0, label=label)
