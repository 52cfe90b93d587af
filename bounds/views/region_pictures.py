"""Pictures of capacity regions: configurations, the region, the workload on its ray, and what greedy serves of it."""

from __future__ import annotations

from itertools import combinations
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bounds.views.pictures import GREEDY, MARK, OPTIMAL, PALETTE, save
from theory.errors import InputError, TooLargeError
from theory.exact.configurations import count, feasible
from theory.greedy.assignment import global_greedy
from theory.instance import Instance
from theory.region.facets import Region, region_facets
from theory.region.membership import CapacityProgram, Intensity
from theory.region.slices import region_slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 4_000
"""Most configurations that are drawn one by one."""

PANELS = 6
"""Most slices on one picture."""


def picture_of_region(
    instance: Instance,
    intensity: Intensity,
    region: Region | None,
    path: str | Path,
    pair: tuple[int, int] | None = None,
) -> None:
    """Draw the region whole up to three types, and cut through the workload by pairs of types beyond.

    Parameters
    ----------
    instance : Instance
    intensity : Intensity
        Of its workload.
    region : Region or None
        Computed here where two or three types need it.
    path : str or Path
    pair : tuple of int, optional
        Draw only the slice by these two types.
    """
    from matplotlib.figure import Figure as NewFigure

    types = len(instance.types)
    made = NewFigure(figsize=(7.2, 6.2), layout="constrained")
    if pair is not None:
        draw_slice(made.subplots(), instance, *pair)
    elif types == 1:
        draw_line(made.subplots(), instance, intensity)
    elif types == 2:
        draw_plane(made.subplots(), instance, intensity, region or region_facets(instance))
    elif types == 3:
        draw_space(made, instance, intensity, region or region_facets(instance))
    else:
        made = _slices(instance, intensity)
    save(made, path)


def _slices(instance: Instance, intensity: Intensity) -> Figure:
    """Cut by every pair of the types that take most of the workload's worth, four types at most."""
    from matplotlib.figure import Figure as NewFigure

    worth = [price * load for price, load in zip(intensity.prices, instance.workload, strict=True)]
    chosen = sorted(sorted(range(len(worth)), key=lambda j: (-worth[j], -instance.workload[j]))[:4])
    pairs = list(combinations(chosen, 2))[:PANELS]
    made = NewFigure(figsize=(11.5, 3.7 * ceil(len(pairs) / 3)), layout="constrained")
    program = CapacityProgram(instance)
    for axes, (i, j) in zip(made.subplots(ceil(len(pairs) / 3), 3).flat, pairs, strict=False):
        draw_slice(axes, instance, i, j, program)
    made.suptitle(f"slices through the workload; traffic intensity {float(intensity.value):.4g}")
    return made


def configurations(instance: Instance) -> NDArray[Any] | None:
    """Return the configurations of the only pool, int64[n, J], if they are few enough to be drawn."""
    if len(instance.pools) > 1:
        return None
    space = instance.pools[0].space
    try:
        return feasible(space) if count(space, stop=DOTS + 1) <= DOTS else None
    except TooLargeError:
        return None


def draw_line(axes: Axes, instance: Instance, intensity: Intensity) -> None:
    """Draw the region of one type: an interval."""
    rho = float(instance.workload[0])
    end = float(intensity.boundary[0]) if intensity.boundary else float(region_facets(instance).outer[0].offset)
    axes.barh([0], [end], color=OPTIMAL, alpha=0.25, label="region")
    axes.plot([rho], [0], "o", color="black", label=_workload(intensity))
    axes.set(xlabel=f"{instance.names[0]}, jobs per server", yticks=[], xlim=(0, 1.1 * max(end, rho)))
    axes.legend(frameon=False)


def draw_plane(axes: Axes, instance: Instance, intensity: Intensity, region: Region) -> None:
    """Draw the region of two types with its configurations, the workload on its ray, and what greedy serves."""
    corners = [(0.0, 0.0), *(tuple(map(float, v)) for v in sorted(region.vertices, reverse=True))]
    _outline(axes, np.array(corners))
    dots = configurations(instance)
    if dots is not None:
        axes.plot(dots[:, 0], dots[:, 1], ".", color=MARK, markersize=4, clip_on=False, label="configurations")
    rho = [float(load) for load in instance.workload]
    if intensity.boundary is not None:
        end = [float(x) for x in intensity.boundary]
        far = end if intensity.holds else rho
        axes.plot([0, far[0]], [0, far[1]], "--", color="black", linewidth=0.9)
        axes.plot(*end, "D", color=OPTIMAL, markersize=6, label="the ray leaves the region")
    axes.plot(*rho, "o", color="black", label=_workload(intensity))
    served = [float(y) for y in global_greedy(instance).served]
    axes.plot(*served, "s", color=GREEDY, markersize=7, fillstyle="none", label="served by greedy")
    top = np.max([*corners, rho], axis=0) * 1.08
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), **_labels(instance, 0, 1))
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def draw_slice(axes: Axes, instance: Instance, i: int, j: int, program: CapacityProgram | None = None) -> None:
    """Draw the slice by two types through the workload, which stands in it with its head-room."""
    axes.set(**_labels(instance, i, j))
    try:
        cut = region_slice(instance, i, j, program=program)
    except InputError:
        axes.text(0.5, 0.5, "the other types alone\nexceed the region", ha="center", transform=axes.transAxes)
        return
    corners = np.array([(0.0, 0.0), *((float(s), float(t)) for s, t in cut.vertices)])
    _outline(axes, corners)
    s, t = instance.workload[i], instance.workload[j]
    if cut.holds(s, t):
        for axis in (0, 1):
            room = min((c - a[0] * s - a[1] * t) / a[axis] for a, c in cut.edges if a[axis])
            end = (s + room, t) if axis == 0 else (s, t + room)
            if room:
                axes.annotate(
                    "",
                    (float(end[0]), float(end[1])),
                    (float(s), float(t)),
                    arrowprops={"arrowstyle": "->", "color": GREEDY, "shrinkA": 3, "shrinkB": 0},
                )
    axes.plot([float(s)], [float(t)], "o", color="black", clip_on=False)
    top = np.max([*corners, (float(s), float(t))], axis=0) * 1.08
    axes.set(xlim=(0, top[0] or 1), ylim=(0, top[1] or 1))


def draw_space(made: Figure, instance: Instance, intensity: Intensity, region: Region) -> None:
    """Draw the region of three types: its outer facets, configurations, the workload's ray, what greedy serves."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes: Any = made.add_subplot(projection="3d")
    polygons = [_polygon(region, number) for number in range(len(region.outer))]
    axes.add_collection3d(
        Poly3DCollection(
            polygons,
            facecolors=[PALETTE[n % len(PALETTE)] for n in range(len(polygons))],
            edgecolors="black",
            linewidths=0.8,
            alpha=0.35,
        )
    )
    dots = configurations(instance)
    corners = np.array([[float(x) for x in v] for v in region.vertices])
    if dots is not None and len(dots) <= 600:
        axes.scatter(*dots.T, s=5, color=MARK, depthshade=True, label="configurations")
    axes.scatter(*corners.T, s=22, color=OPTIMAL, depthshade=False, label="vertices")
    rho = np.array([float(load) for load in instance.workload])
    if intensity.boundary is not None:
        end = np.array([float(x) for x in intensity.boundary])
        far = end if intensity.holds else rho
        axes.plot(*np.array([0 * rho, far]).T, "--", color="black", linewidth=1)
        axes.scatter(*end, s=40, marker="D", color=OPTIMAL, depthshade=False, label="the ray leaves the region")
    axes.scatter(*rho, s=40, color="black", depthshade=False, label=_workload(intensity))
    served = [float(y) for y in global_greedy(instance).served]
    axes.scatter(
        *served, s=50, marker="s", facecolors="none", edgecolors=GREEDY, depthshade=False, label="served by greedy"
    )
    top = np.max([*corners, rho], axis=0) * 1.05
    names = [f"{name}, jobs per server" for name in instance.names]
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]), xlabel=names[0], ylabel=names[1], zlabel=names[2])
    axes.view_init(elev=24, azim=38)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _polygon(region: Region, number: int) -> NDArray[Any]:
    """Return the corners of an outer facet of a region of three types, in order around it."""
    facet = region.outer[number]
    corners = np.array([[float(x) for x in v] for v in region.vertices if facet.value(v) == facet.offset])
    normal = np.array(facet.normal, float)
    middle = corners.mean(axis=0)
    across = np.cross(normal, corners[0] - middle)
    spokes = corners - middle
    turn = np.arctan2(spokes @ _unit(across), spokes @ _unit(spokes[0]))
    order = np.argsort(turn)
    around: NDArray[Any] = corners[[*order, order[0]]]  # closed: the library leaves out the last edge of some
    return around


def _unit(vector: NDArray[Any]) -> NDArray[Any]:
    scaled: NDArray[Any] = vector / np.linalg.norm(vector)
    return scaled


def _outline(axes: Axes, corners: NDArray[Any]) -> None:
    axes.fill(corners[:, 0], corners[:, 1], color=OPTIMAL, alpha=0.15)
    axes.plot(corners[1:, 0], corners[1:, 1], color=OPTIMAL, linewidth=2)
    axes.plot(corners[1:, 0], corners[1:, 1], "o", color=OPTIMAL, markersize=5, clip_on=False, label="vertices")


def _labels(instance: Instance, i: int, j: int) -> dict[str, str]:
    return {"xlabel": f"{instance.names[i]}, jobs per server", "ylabel": f"{instance.names[j]}, jobs per server"}


def _workload(intensity: Intensity) -> str:
    return f"workload, traffic intensity {float(intensity.value):.4g}"
