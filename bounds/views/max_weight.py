"""Pictures of max-weight: how two queues fall, where the region turns the flow, and the length of queues over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bounds.views.drawing import draw
from bounds.views.panels import Chart, Curve
from bounds.views.pictures import MARK, PAGE, PALETTE, drawn, figure, legend_above, save, share_legend, styled
from bounds.views.region import region_panel
from bounds.views.text import UNIT_OF_THE_FILE
from fluid.limits.decay import decay_rate, escape_velocity, norm
from fluid.limits.drift import Algorithm1
from fluid.limits.max_weight import MaxWeight, QueuePath, queue_path
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
    lengths = [norm(instance, start) for start in starts]
    until = 1.12 * max(lengths) / float(rate) if rate else 20.0
    paths = [queue_path(model, list(start), until) for start in starts]
    picture, (left, middle, right) = figure(PAGE, 2.9, 3)
    _draw_flow(left, model, region, paths)
    draw(middle, region_panel(instance, region), beside=False)
    curves = [*_along(instance, paths, until), *_simulated(instance, beta, starts[0], scales, runs, until)]
    if rate is not None:
        sure = f"guaranteed rate {float(rate):.4f}"
        curves.append(Curve(sure, [0.0, max(lengths) / float(rate)], [max(lengths), 0.0], look="reference"))
    title = f"length over time, β = {beta}"
    if rate is None:
        title += f", grows by {norm(instance, [float(v) for v in escape_velocity(instance)]):.4f}"
    time, length = f"time / n ({UNIT_OF_THE_FILE})", "length of queues, √(2V) / n (jobs)"
    chart = Chart(time, length, curves, title=title, xlim=(0.0, until), ylim=(0.0, None))
    draw(right, chart, beside=False)
    share_legend(picture, [left, middle, right])
    save(picture, target)


def _draw_flow(axes: Axes, model: MaxWeight, region: Region, paths: Sequence[QueuePath]) -> None:
    """Draw the velocity as arrows, the rays of equal weights, and paths with their starts."""
    most = 1.05 * max(float(path.queues.max()) for path in paths)
    _arrows(axes, model, most)
    rays = [np.array(facet.normal) / max(facet.normal) * most for facet in region.outer if all(facet.normal)]
    for place, (x, y) in enumerate(rays):
        axes.plot([0, x], [0, y], color=MARK, ls="--", lw=1, label="" if place else "equal weights")
    for i, path in enumerate(paths):
        colour = PALETTE[i % len(PALETTE)]
        axes.plot(*path.queues.T, color=colour, lw=1.4)
        axes.plot(*path.queues[0], "o", color=colour, ms=5)
    xlabel, ylabel = (f"{drawn(name)}, waiting (jobs per server)" for name in model.instance.names)
    axes.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, most), ylim=(0, most), title="velocity and paths")
    legend_above(axes)


def _arrows(axes: Axes, model: MaxWeight, most: float) -> None:
    """Draw directions of the velocity on a grid that the rays hit seldom, darker where faster."""
    grid = (np.arange(ARROWS) + 0.5) / ARROWS * most
    points = np.array([(x, y) for x in grid for y in grid])
    velocities = np.array([model.velocity(q)[0] for q in points])
    speeds = np.linalg.norm(velocities, axis=1)
    # arrows of one length; their shade is the speed
    heads = velocities / np.maximum(speeds, 1e-12)[:, None]
    axes.quiver(*points.T, *heads.T, speeds, cmap="Greys", clim=(-speeds.max(), 1.4 * speeds.max()), width=0.003)


def _along(instance: Instance, paths: Sequence[QueuePath], until: float) -> Iterator[Curve]:
    """Yield the length of the queues along fluid paths."""
    times = np.linspace(0.0, until, 400)
    for path in paths:
        first, second = path.queues[0]
        lengths = [norm(instance, queues) for queues in path.at(times)]
        yield Curve(f"from ({first:.3g}, {second:.3g})", times.tolist(), lengths, look="plain")


def _simulated(
    instance: Instance, beta: Fraction, start: Sequence[float], scales: Sequence[int], runs: int, until: float
) -> Iterator[Curve]:
    """Yield the length of the queues in runs of Algorithm 1, time and queues divided by the scale."""
    system = Algorithm1(instance, 1, beta)
    for scale in scales:
        scenario = system.scenario([int(scale * q) for q in start], scale * until, bins=400)
        for run in range(runs):
            path = run_once(system.policy, scenario, np.random.SeedSequence((scale, run)))
            times = (path.measures.edges[:-1] + path.measures.edges[1:]) / (2 * scale)
            lengths = [norm(instance, queues / scale) for queues in path.waiting]
            name = f"Algorithm 1, n = {scale:,}"
            yield Curve(name, times.tolist(), lengths, look="plain", continues=run > 0)
