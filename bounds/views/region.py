"""``packproof region``: what was found of a capacity region, its text and its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import atan2, ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from bounds.views.answers import Answer, Exact, named
from bounds.views.assignment import Bounds, bounds_of
from bounds.views.pictures import GREEDY, MARK, OPTIMAL, PAGE, PALETTE, legend_above, save, styled
from bounds.views.tables import aligned
from bounds.views.text import many, packed, short
from theory.errors import InputError, TooLargeError, quoted
from theory.exact.configurations import count, count_maximal, feasible
from theory.greedy.assignment import global_greedy
from theory.greedy.servers import LeastServers
from theory.instance import Instance, Space
from theory.numbers import text, total
from theory.region.facets import Region, region_facets
from theory.region.membership import CapacityProgram, Intensity, stable_servers
from theory.region.slices import Slice, region_slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COUNTED = 100_000_000
"""Where configurations can only be counted one by one, counting ends here."""


@dataclass(frozen=True)
class Found:
    """All that ``region`` found out about an instance; what was not asked for or not possible is None.

    Attributes
    ----------
    instance : Instance
    intensity : Intensity
    region : Region or None
    no_facets : str or None
        Why there are no facets.
    headroom : tuple of Fraction or None
    no_headroom : str or None
    slice : Slice or None
    whole : (servers, LeastServers) or None
    """

    instance: Instance
    intensity: Intensity
    region: Region | None
    no_facets: str | None
    headroom: tuple[Fraction, ...] | None
    no_headroom: str | None
    slice: Slice | None = None
    whole: tuple[int, LeastServers] | None = None


def counted(space: Space) -> tuple[int | None, int | None]:
    """Return the numbers of feasible and of maximal configurations of a server, None where they cannot be counted."""
    try:
        number = count(space, stop=COUNTED)
    except TooLargeError:
        return None, count_maximal(space)
    return None if number == COUNTED else number, count_maximal(space)


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


class PoolCount(Answer, frozen=True):
    """A pool and its numbers of configurations; null where they cannot be counted."""

    share: Exact
    configurations: int | None
    maximal: int | None


class FacetRow(Answer, frozen=True):
    """A facet: normal . x <= offset, the normal in coprime integers."""

    normal: dict[str, Exact]
    offset: Exact


class Column(Answer, frozen=True):
    """A configuration of a pool, and an amount of servers for each server there is."""

    pool: str
    configuration: dict[str, int]
    fraction: Exact


class ServersNeeded(Answer, frozen=True):
    """Servers for each one there is; of so many servers, how many keep queues bounded and hold all jobs at once."""

    per_server: Exact
    servers: int | UnsetType = UNSET
    supportable: int | UnsetType = UNSET
    at_once: Bounds | UnsetType = UNSET


class Cut(Answer, frozen=True):
    """A slice: where it turns, its inequalities, and the workload of the other types."""

    types: list[str]
    workload: dict[str, Exact]
    vertices: list[dict[str, Exact]]
    edges: list[FacetRow]


class RegionAnswer(Answer, frozen=True):
    """The answer of ``region``; numbers of configurations are sums over the pools, the empty one included."""

    configurations: int | None
    maximal: int | None
    pools: dict[str, PoolCount]
    facets: list[FacetRow] | None
    facets_reason: str | None
    vertices: list[dict[str, Exact]] | None
    traffic_intensity: Exact
    traffic_intensity_float: float
    supportable: bool
    boundary: dict[str, Exact] | None
    prices: dict[str, Exact]
    price_support: Exact
    columns: list[Column]
    headroom: dict[str, Exact] | None
    headroom_reason: str | None
    servers_needed: ServersNeeded
    slice: Cut | UnsetType = UNSET


def region_answer(found: Found) -> RegionAnswer:
    """Return what was found as the answer of ``region``."""
    instance, intensity, region = found.instance, found.intensity, found.region
    names, sizes = instance.names, [counted(pool.space) for pool in instance.pools]
    pools = [
        PoolCount.of(pool, configurations=feasible, maximal=maximal)
        for pool, (feasible, maximal) in zip(instance.pools, sizes, strict=True)
    ]
    needed = {}
    if found.whole is not None:
        servers, least = found.whole
        needed = {
            "servers": servers,
            "supportable": stable_servers(intensity.value, servers),
            "at_once": bounds_of(least),
        }
    return RegionAnswer.of(
        found,
        intensity,
        names=names,
        configurations=_sum([feasible for feasible, _ in sizes]),
        maximal=_sum([maximal for _, maximal in sizes]),
        pools=named(instance.pools, pools),
        facets=region and region.facets,
        facets_reason=found.no_facets,
        vertices=region and (*region.vertices, (0,) * len(names)),  # the origin, which is a vertex of every region
        traffic_intensity=intensity.value,
        price_support=intensity.support,
        columns=[
            Column.of(names=names, pool=instance.pools[p].name, configuration=k, fraction=amount)
            for p, k, amount in intensity.columns
        ],
        headroom_reason=found.no_headroom,
        servers_needed=ServersNeeded.of(per_server=intensity.value, **needed),
        slice=found.slice and cut_answer(instance, found.slice),
    )


def cut_answer(instance: Instance, cut: Slice) -> Cut:
    """Return a slice as it stands in the answer."""
    pair = [instance.names[j] for j in cut.types]
    others = {name: load for name, load in zip(instance.names, cut.workload, strict=True) if name not in pair}
    edges = [FacetRow.of(names=pair, normal=normal, offset=offset) for normal, offset in cut.edges]
    return Cut.of(cut, names=pair, types=pair, workload=others, edges=edges)


def _number(value: int | None) -> str:
    return "too many to count" if value is None else f"{value:,}" if value < 10**15 else f"{value:.3e}"


def region_lines(found: Found, result: RegionAnswer) -> list[str]:
    """Return the answer of ``region`` as text; `result` is its answer."""
    instance, intensity = found.instance, found.intensity
    verdict = "supportable" if intensity.supportable else "on the boundary" if intensity.holds else "not supportable"
    lines = [
        f"configurations     {_number(result.configurations)}, {_number(result.maximal)} of them maximal",
        f"traffic intensity  {short(intensity.value)}: the workload is {verdict}",
        f"servers needed     more than {short(intensity.value)} for each one there is, to keep the queues bounded",
    ]
    needed = result.servers_needed
    if found.whole is not None and (at_once := needed.at_once):
        number = str(at_once.lower) if at_once.exact else f"between {at_once.lower} and {at_once.upper}"
        table = [
            (f"the workload of {many(found.whole[0], 'server')} needs", "servers"),
            ("  for queues that stay bounded, at least", str(needed.supportable)),
            ("  to hold all its jobs at once, at least", number),
        ]
        lines += ["", *aligned(table, right=1)]
    if any(intensity.prices):
        worth = total(price * load for price, load in zip(intensity.prices, instance.workload, strict=True))
        lines += [
            "",
            "the traffic intensity is no less: priced by",
            f"  {_inequality(instance.names, intensity.prices)}",
            f"  the workload of a server is worth {short(worth)}, and what it can hold at most "
            f"{short(intensity.support)} on average",
            "and no more: the workload fits these amounts of servers, for each one there is",
        ]
        several = len(instance.pools) > 1
        for p, k, amount in intensity.columns[:12]:
            where = f"{quoted(instance.pools[p].name)}: " if several else ""
            lines.append(f"  {float(amount):9.4%}  {where}{packed(instance, k)}")
        if len(intensity.columns) > 12:
            lines.append(f"  and {len(intensity.columns) - 12} more")
    lines += ["", "head-room of each type alone, jobs per server"]
    if found.headroom is None:
        lines.append(f"  {found.no_headroom}")
    else:
        lines += [f"  {quoted(name)}: {short(room)}" for name, room in zip(instance.names, found.headroom, strict=True)]
    lines += ["", f"facets  {found.no_facets or ''}".rstrip()]
    if found.region is not None:
        outer = found.region.outer
        lines[-1] = (
            f"facets  {len(outer)}, beside {len(instance.types)} x >= 0; {len(found.region.vertices) + 1} vertices"
        )
        lines += [f"  {_inequality(instance.names, facet.normal)} <= {text(facet.offset)}" for facet in outer[:40]]
        if len(outer) > 40:
            lines.append(f"  and {len(outer) - 40} more (--json shows all)")
    if found.slice is not None:
        pair = [instance.names[j] for j in found.slice.types]
        lines += ["", f"slice by {quoted(pair[0])} and {quoted(pair[1])}, the others as they are"]
        lines += [f"  {_inequality(pair, normal)} <= {short(offset)}" for normal, offset in found.slice.edges]
    return lines


def _inequality(names: Sequence[str], normal: Sequence[int]) -> str:
    terms = [quoted(name) if a == 1 else f"{a} {quoted(name)}" for name, a in zip(names, normal, strict=True) if a]
    return " + ".join(terms)


DOTS = 4_000
"""Most configurations that are drawn one by one."""

PANELS = 6
"""Most slices on one picture."""


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
    from matplotlib.figure import Figure as NewFigure

    types = len(instance.types)
    made = NewFigure(figsize=(4.6, 4.4), layout="constrained")
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
    made = NewFigure(figsize=(PAGE, 2.4 * ceil(len(pairs) / 3)), layout="constrained")
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
    axes.set(xlabel=f"{instance.names[0]} (jobs per server)", yticks=[], xlim=(0, 1.1 * max(end, rho)))
    legend_above(axes)


def outline(region: Region) -> NDArray[Any]:
    """Return the origin and the vertices of a region of two types, float[n, 2], from the first axis to the second.

    The region is convex and has the origin, so that its vertices are in order by their angle seen from there.
    """
    corners = sorted(region.vertices, key=lambda v: atan2(v[1], v[0]))
    return np.array([(0.0, 0.0), *((float(x), float(y)) for x, y in corners if x or y)])


def draw_plane(axes: Axes, instance: Instance, intensity: Intensity, region: Region) -> None:
    """Draw the region of two types with its configurations, the workload on its ray, and what greedy serves."""
    corners = outline(region)
    _outline(axes, corners)
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
    legend_above(axes)


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
    names = [f"{name} (jobs per server)" for name in instance.names]
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]), xlabel=names[0], ylabel=names[1], zlabel=names[2])
    axes.view_init(elev=24, azim=38)
    axes.locator_params(nbins=5)
    axes.set_box_aspect(None, zoom=0.82)  # labels of three dimensions have no part in the layout
    legend_above(axes)


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
    axes.plot(corners[1:, 0], corners[1:, 1], color=OPTIMAL, linewidth=1.4)
    axes.plot(corners[1:, 0], corners[1:, 1], "o", color=OPTIMAL, markersize=5, clip_on=False, label="vertices")


def _labels(instance: Instance, i: int, j: int) -> dict[str, str]:
    return {"xlabel": f"{instance.names[i]} (jobs per server)", "ylabel": f"{instance.names[j]} (jobs per server)"}


def _workload(intensity: Intensity) -> str:
    return f"workload, traffic intensity {float(intensity.value):.4g}"
