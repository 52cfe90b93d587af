"""``packproof region``: what was found of a capacity region, its text and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import atan2, ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bounds.answers.record import HIDDEN, Answer, Exact, Fields, Head, encode, named
from bounds.answers.region import FacetRow, RegionAnswer
from bounds.views.assignment import bounds_of
from bounds.views.checked import as_float
from bounds.views.panels import Bars, Chart, Curve
from bounds.views.pictures import (
    GREEDY,
    MARK,
    OPTIMAL,
    PAGE,
    PALETTE,
    drawn,
    figure,
    finish,
    legend_above,
    save,
    styled,
)
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many, short
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import count, count_maximal, feasible
from theory.greedy.assignment import global_greedy
from theory.greedy.servers import LeastServers
from theory.instance import Instance, Space
from theory.numbers import text
from theory.region.facets import Facet, Region, region_facets
from theory.region.membership import CapacityProgram, Intensity, stable_servers
from theory.region.slices import Slice, region_slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COUNTED = 100_000_000  # where configurations can only be counted one by one, counting ends here


@dataclass(frozen=True)
class Found:
    """All that ``region`` found out about an instance; None for what was not asked for or not possible."""

    instance: Instance
    intensity: Intensity
    region: Region | None
    facets_reason: str | None
    headroom: tuple[Fraction, ...] | None
    headroom_reason: str | None
    slice: Slice | None = None
    on_servers: tuple[int, LeastServers] | None = None


def counted(space: Space) -> tuple[int | None, int | None]:
    """Return the numbers of feasible and of maximal configurations of a server, None where they cannot be counted."""
    try:
        number = count(space, stop=COUNTED)
    except TooLargeError:
        return None, count_maximal(space)
    return None if number == COUNTED else number, count_maximal(space)


def _sum(numbers: Sequence[int | None]) -> int | None:
    return None if None in numbers else sum(number for number in numbers if number is not None)


def region_answer(found: Found) -> RegionAnswer:
    """Return what was found as the answer of ``region``."""
    instance, intensity, region = found.instance, found.intensity, found.region
    names, sizes = instance.names, [counted(pool.space) for pool in instance.pools]
    pools = [
        Fields(pool, configurations=feasible, maximal=maximal)
        for pool, (feasible, maximal) in zip(instance.pools, sizes, strict=True)
    ]
    needed: dict[str, Any] = {}
    if found.on_servers is not None:
        servers, least = found.on_servers
        needed = {
            "servers": servers,
            "supportable": stable_servers(intensity.value, servers),
            "at_once": bounds_of(least),
        }
    return encode(
        RegionAnswer,
        found,
        intensity,
        names=names,
        configurations=_sum([feasible for feasible, _ in sizes]),
        maximal=_sum([maximal for _, maximal in sizes]),
        pools=named(instance.pools, pools),
        facets=region and region.facets,
        vertices=region and (*region.vertices, (0,) * len(names)),  # the origin, which is a vertex of every region
        traffic_intensity=intensity.value,
        price_support=intensity.support,
        columns=[
            Fields(pool=instance.pools[p].name, configuration=k, fraction=amount) for p, k, amount in intensity.columns
        ],
        servers_needed=Fields(per_server=intensity.value, **needed),
        slice=found.slice and cut_answer(instance, found.slice),
    )


def cut_answer(instance: Instance, cut: Slice) -> Fields:
    """Return a slice as it stands in the answer."""
    pair = [instance.names[j] for j in cut.types]
    others = {name: load for name, load in zip(instance.names, cut.workload, strict=True) if name not in pair}
    edges = [Fields(names=pair, normal=normal, offset=offset) for normal, offset in cut.edges]
    return Fields(cut, names=pair, types=pair, workload=others, edges=edges)


class Facets(Answer):
    """The facets of a region alone, which a notebook shows and no command prints: types are x1, x2 and so on."""

    facets: Annotated[list[FacetRow], Head("facets, beside those at 0")]
    vertices: Annotated[list[dict[str, Exact]], HIDDEN]


def facets_answer(region: Region) -> Facets:
    """Return the facets and vertices of a region, of which types have no names, as an answer."""
    names = [f"x{j}" for j in range(1, len(region.vertices[0]) + 1)]
    return encode(Facets, names=names, facets=region.outer, vertices=[list(map(text, v)) for v in region.vertices])


def sentence(answer: RegionAnswer | Facets) -> str:
    """Return the answer in a sentence."""
    if isinstance(answer, Facets):
        corners = len(answer.vertices) + 1  # the origin is one, too
        facets = many(len(answer.facets), "facet")
        return f"The region of jobs per server has {facets} beside x >= 0, and {corners:,} vertices."
    intensity = f"{as_float(answer.traffic_intensity):.6g}"
    if answer.supportable:
        return f"The servers can carry this workload: its traffic intensity is {intensity}, which is below 1."
    if as_float(answer.traffic_intensity) == 1:
        return "This workload is on the boundary of the region: its traffic intensity is 1, and queues are not stable."
    return f"The servers cannot carry this workload: its traffic intensity is {intensity}, which is above 1."


def tables(answer: RegionAnswer | Facets) -> list[Table]:
    """Return the tables: numbers, prices and room by type, the servers that carry the workload, and facets."""
    if isinstance(answer, Facets):
        return tables_of(answer)
    # that no workload is negative is a facet of every region
    facets = answer.facets and [facet for facet in answer.facets if facet.offset != "0"]
    numbers, *others = tables_of(replace(answer, facets=facets))
    if any(price != "0" for price in answer.prices.values()):
        # the prices prove the intensity: what the workload is worth over the most that a server can hold
        worth = short(Fraction(answer.traffic_intensity) * Fraction(answer.price_support))
        numbers.rows.append(["what the workload of a server is worth at these prices", worth])
    return [numbers, *others]


def pictures(answer: RegionAnswer | Facets) -> list[Picture]:
    """Return the traffic intensity beside its limit; of facets alone, the outline of a region of two types."""
    if isinstance(answer, Facets):
        corners = [[as_float(x) for x in vertex.values()] for vertex in answer.vertices]
        if len(corners[0]) != 2:
            return []
        # from the first axis to the second, as the region is convex and has the origin
        ordered = [[0.0, 0.0], *sorted(corners, key=lambda v: atan2(v[1], v[0])), [0.0, 0.0]]
        x, y = map(list, zip(*ordered, strict=True))
        labels = ("x1 (jobs per server)", "x2 (jobs per server)")
        chart = Chart(*labels, [Curve("region", x, y, look="plain")], xlim=(0, None), ylim=(0, None))
        return [Picture("The region of jobs per server.", chart)]
    lengths = [as_float(answer.traffic_intensity), 1.0]
    bars = Bars("traffic intensity", ["this workload", "limit"], [("", lengths)])
    return [Picture("Traffic intensity of the workload, and the limit.", bars)]


def evidence(answer: RegionAnswer) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("traffic intensity and facets", "certified")]


DOTS, DOTS_IN_SPACE = 4_000, 600  # most configurations that are drawn one by one, in two dimensions and in three
PANELS = 6  # most slices on one picture
LABEL_LETTERS = 24  # most of a name beside an axis


@styled
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
    types = len(instance.types)
    if pair is None and types > 3:
        save(_slices(instance, intensity), path)
        return
    if pair is None and types == 3:
        save(_space(instance, intensity, region or region_facets(instance)), path)
        return
    picture, axes = figure(4.6, 4.4)
    if pair is not None:
        draw_slice(axes, instance, *pair)
    elif types == 1:
        draw_line(axes, instance, intensity)
    else:
        draw_plane(axes, instance, intensity, region or region_facets(instance))
    save(picture, path)


def _slices(instance: Instance, intensity: Intensity) -> Figure:
    """Cut by every pair of the types that take most of the workload's worth, four types at most."""
    # a type whose price is 0 does not bind at the traffic intensity
    worth = [price * load for price, load in zip(intensity.prices, instance.workload, strict=True)]
    chosen = sorted(sorted(range(len(worth)), key=lambda j: (-worth[j], -instance.workload[j]))[:4])
    # four types have six pairs, two rows of three
    pairs = list(combinations(chosen, 2))[:PANELS]
    rows = ceil(len(pairs) / 3)
    picture, places = figure(PAGE, 2.4 * rows, 3, rows)
    program = CapacityProgram(instance)
    for axes, (i, j) in zip(places.flat, pairs, strict=False):
        draw_slice(axes, instance, i, j, program)
    picture.suptitle(f"slices through the workload; traffic intensity {float(intensity.value):.4g}")
    return picture


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
    finish(axes, xlabel=_label(instance, 0), yticks=[], xlim=(0, 1.1 * max(end, rho)))


def outline(region: Region) -> NDArray[Any]:
    """Return the origin and the vertices of a region of two types, float[n, 2], from the first axis to the second.

    The region is convex and has the origin, so that its vertices are in order by their angle seen from there.
    """
    corners = sorted(region.vertices, key=lambda v: atan2(v[1], v[0]))
    return np.array([(0.0, 0.0), *((float(x), float(y)) for x, y in corners if x or y)])


def _points(instance: Instance, intensity: Intensity) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
    """Return the workload, where its ray leaves the region, and what greedy serves of it, float[J] each."""
    end = None if intensity.boundary is None else np.array(intensity.boundary, float)
    return np.array(instance.workload, float), end, np.array(global_greedy(instance).served, float)


def draw_plane(axes: Axes, instance: Instance, intensity: Intensity, region: Region) -> None:
    """Draw the region of two types with its configurations, the workload on its ray, and what greedy serves."""
    corners = outline(region)
    _outline(axes, corners)
    dots = configurations(instance)
    if dots is not None:
        axes.plot(dots[:, 0], dots[:, 1], ".", color=MARK, markersize=4, clip_on=False, label="configurations")
    rho, end, served = _points(instance, intensity)
    if end is not None:
        axes.plot(*np.array([0 * rho, end if intensity.holds else rho]).T, "--", color="black", linewidth=0.9)
        axes.plot(*end, "D", color=OPTIMAL, markersize=6, label="the ray leaves the region")
    axes.plot(*rho, "o", color="black", label=_workload(intensity))
    axes.plot(*served, "s", color=GREEDY, markersize=7, fillstyle="none", label="served by greedy")
    top = np.max([*corners, rho], axis=0) * 1.08
    finish(axes, xlim=(0, top[0]), ylim=(0, top[1]), xlabel=_label(instance, 0), ylabel=_label(instance, 1))


def draw_slice(axes: Axes, instance: Instance, i: int, j: int, program: CapacityProgram | None = None) -> None:
    """Draw the slice by two types through the workload, with its head-room as arrows."""
    axes.set(xlabel=_label(instance, i), ylabel=_label(instance, j))
    try:
        cut = region_slice(instance, i, j, program=program)
    except InputError:
        axes.text(0.5, 0.5, "the other types alone\nexceed the region", ha="center", transform=axes.transAxes)
        return
    corners = np.array([(0.0, 0.0), *((float(s), float(t)) for s, t in cut.vertices)])
    _outline(axes, corners)
    s, t = instance.workload[i], instance.workload[j]
    here = (float(s), float(t))
    if cut.holds(s, t):
        arrow = {"arrowstyle": "->", "color": GREEDY, "shrinkA": 3, "shrinkB": 0}
        for axis in (0, 1):
            # an edge a . x <= c leaves (c - a . x) / a_axis along an axis
            headroom = min((c - a[0] * s - a[1] * t) / a[axis] for a, c in cut.edges if a[axis])
            end = (float(s + headroom), here[1]) if axis == 0 else (here[0], float(t + headroom))
            if headroom:
                axes.annotate("", end, here, arrowprops=arrow)
    axes.plot(*here, "o", color="black", clip_on=False)
    top = np.max([*corners, here], axis=0) * 1.08
    axes.set(xlim=(0, top[0] or 1), ylim=(0, top[1] or 1))


def _space(instance: Instance, intensity: Intensity, region: Region) -> Figure:
    """Draw the region of three types: its outer facets, configurations, the workload's ray, what greedy serves."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    picture, axes = figure(4.6, 4.4, subplot_kw={"projection": "3d"})
    polygons = [_polygon(region, facet) for facet in region.outer]
    colours = [PALETTE[n % len(PALETTE)] for n in range(len(polygons))]
    axes.add_collection3d(
        Poly3DCollection(polygons, facecolors=colours, edgecolors="black", linewidths=0.8, alpha=0.35)
    )
    dots, corners = configurations(instance), np.array(region.vertices, float)
    if dots is not None and len(dots) <= DOTS_IN_SPACE:
        axes.scatter(*dots.T, s=5, color=MARK, depthshade=True, label="configurations")
    axes.scatter(*corners.T, s=22, color=OPTIMAL, depthshade=False, label="vertices")
    rho, end, served = _points(instance, intensity)
    if end is not None:
        axes.plot(*np.array([0 * rho, end if intensity.holds else rho]).T, "--", color="black", linewidth=1)
        axes.scatter(*end, s=40, marker="D", color=OPTIMAL, depthshade=False, label="the ray leaves the region")
    axes.scatter(*rho, s=40, color="black", depthshade=False, label=_workload(intensity))
    hollow = {"marker": "s", "facecolors": "none", "edgecolors": GREEDY}
    axes.scatter(*served, s=50, **hollow, depthshade=False, label="served by greedy")
    top = np.max([*corners, rho], axis=0) * 1.05
    axes.set(**{f"{axis}lim": (0, top[j]) for j, axis in enumerate("xyz")})
    axes.set(**{f"{axis}label": _label(instance, j) for j, axis in enumerate("xyz")})
    axes.view_init(elev=24, azim=38)
    axes.locator_params(nbins=5)
    axes.set_box_aspect(None, zoom=0.82)  # labels of three dimensions have no part in the layout
    legend_above(axes)
    return picture


def _polygon(region: Region, facet: Facet) -> NDArray[Any]:
    """Return the corners of an outer facet of a region of three types, in order around it."""
    corners = np.array([v for v in region.vertices if facet.value(v) == facet.offset], float)
    spokes = corners - corners.mean(axis=0)
    # the angle of each spoke from the first one, in the plane of the facet
    across = np.cross(np.array(facet.normal, float), spokes[0])
    turn = np.arctan2(spokes @ _unit(across), spokes @ _unit(spokes[0]))
    order = np.argsort(turn)
    around: NDArray[Any] = corners[[*order, order[0]]]  # closed: the library leaves out the last edge of some
    return around


def _unit(vector: NDArray[Any]) -> NDArray[Any]:
    scaled: NDArray[Any] = vector / np.linalg.norm(vector)
    return scaled


def _outline(axes: Axes, corners: NDArray[Any]) -> None:
    axes.fill(*corners.T, color=OPTIMAL, alpha=0.15)
    axes.plot(*corners[1:].T, color=OPTIMAL, linewidth=1.4)
    axes.plot(*corners[1:].T, "o", color=OPTIMAL, markersize=5, clip_on=False, label="vertices")


def _label(instance: Instance, j: int) -> str:
    name = drawn(instance.names[j], LABEL_LETTERS)
    return f"{name}{chr(10) if len(name) > LABEL_LETTERS // 2 else ' '}(jobs per server)"


def _workload(intensity: Intensity) -> str:
    return f"workload, traffic intensity {float(intensity.value):.4g}"
