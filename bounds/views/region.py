"""``packproof region``: what was found of a capacity region, its text and its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import atan2
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bounds.answers.record import HIDDEN, Answer, Exact, Fields, Head, encode, named
from bounds.answers.region import FacetRow, RegionAnswer
from bounds.views.assignment import bounds_of
from bounds.views.checked import as_float
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Panel
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many, short
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import count, count_maximal, feasible
from theory.greedy.assignment import global_greedy
from theory.greedy.servers import LeastServers
from theory.instance import Instance, Space
from theory.numbers import text
from theory.region.facets import Region, region_facets
from theory.region.membership import CapacityProgram, Intensity, stable_servers
from theory.region.slices import Slice, region_slice

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
        labels = ("type 1 (jobs per server)", "type 2 (jobs per server)")
        chart = Chart(*labels, [Curve("region", x, y, look="plain")], xlim=(0, None), ylim=(0, None))
        return [Picture("The region of jobs per server.", chart)]
    lengths = [as_float(answer.traffic_intensity), 1.0]
    bars = Bars("traffic intensity (share of the limit)", ["this workload", "limit"], [("", lengths)])
    return [Picture("Traffic intensity of the workload, and the limit.", bars)]


def evidence(answer: RegionAnswer) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("traffic intensity and facets", "certified")]


DOTS = 4_000  # most configurations that are drawn one by one
LABEL_LETTERS = 24  # most of a name beside an axis


def picture_of_region(
    instance: Instance,
    intensity: Intensity,
    region: Region | None,
    path: str | Path,
    pair: tuple[int, int] | None = None,
) -> None:
    """Draw the region whole up to two types, and cut through the workload by pairs of types beyond.

    Parameters
    ----------
    instance : Instance
    intensity : Intensity
        Of its workload.
    region : Region or None
        Computed here where two types need it.
    path : str or Path
    pair : tuple of int, optional
        Draw only the slice by these two types.
    """
    title = f"Traffic intensity of the workload: {float(intensity.value):.4g}"
    panels: list[Panel]
    if pair is not None:
        panels = [slice_panel(instance, *pair, CapacityProgram(instance))]
    elif len(instance.types) == 1:
        end = intensity.boundary[0] if intensity.boundary else region_facets(instance).outer[0].offset
        lengths = [float(end), float(instance.workload[0])]
        panels = [Bars(_label(instance, 0), ["the region ends at", "workload"], [("", lengths)])]
    elif len(instance.types) == 2:
        panels = [plane_panel(instance, intensity, region or region_facets(instance))]
    else:
        panels = _slices(instance, intensity)
    if pair is not None or len(instance.types) > 2:
        title = f"Traffic intensity {float(intensity.value):.4g}; other types at their workload"
    height = 2.4 if len(panels) > 1 else 1.3 if isinstance(panels[0], Bars) else 3.6
    picture_of_panels(panels, path, title, columns=3, height=height, alone=4.6)


def _slices(instance: Instance, intensity: Intensity) -> list[Panel]:
    """Cut by every pair of the types that take most of the workload's worth, four types at most."""
    # a type whose price is 0 does not bind at the traffic intensity
    worth = [price * load for price, load in zip(intensity.prices, instance.workload, strict=True)]
    chosen = sorted(sorted(range(len(worth)), key=lambda j: (-worth[j], -instance.workload[j]))[:4])
    # four types have six pairs, two rows of three
    program = CapacityProgram(instance)
    return [slice_panel(instance, i, j, program) for i, j in combinations(chosen, 2)]


def configurations(instance: Instance) -> NDArray[Any] | None:
    """Return the configurations of the only pool, int64[n, J], if they are few enough to be drawn."""
    if len(instance.pools) > 1:
        return None
    space = instance.pools[0].space
    try:
        return feasible(space) if count(space, stop=DOTS + 1) <= DOTS else None
    except TooLargeError:
        return None


def outline(region: Region) -> NDArray[Any]:
    """Return the origin and the vertices of a region of two types, float[n, 2], from the first axis to the second.

    The region is convex and has the origin, so that its vertices are in order by their angle seen from there.
    """
    corners = sorted(region.vertices, key=lambda v: atan2(v[1], v[0]))
    return np.array([(0.0, 0.0), *((float(x), float(y)) for x, y in corners if x or y)])


def plane_panel(instance: Instance, intensity: Intensity, region: Region) -> Chart:
    """Return the region of two types with its configurations, the workload on its ray, and what greedy serves."""
    workload, served = instance.workload, global_greedy(instance).served
    curves = [_curve("region", outline(region)[1:], "line")]
    dots = configurations(instance)
    if dots is not None:
        curves.append(_curve("configurations", dots, "dots"))
    if intensity.boundary is not None:
        curves.append(_curve("ray of the workload", [(0, 0), max(intensity.boundary, workload)], "reference"))
    curves += [_curve("workload", [workload], "point"), _curve("served by greedy", [served], "ring")]
    return Chart(_label(instance, 0), _label(instance, 1), curves)


def region_panel(instance: Instance, region: Region) -> Chart:
    """Return the region of two types with the workload."""
    curves = [_curve("region", outline(region)[1:], "line"), _curve("workload", [instance.workload], "point")]
    title = f"region, traffic intensity {float(region.intensity(instance.workload)):.4g}"
    return Chart(_label(instance, 0), _label(instance, 1), curves, title=title, xlim=(0.0, None), ylim=(0.0, None))


def _curve(name: str, points: Iterable[Sequence[Any]], look: str) -> Curve:
    x, y = zip(*((float(a), float(b)) for a, b in points), strict=True)
    return Curve(name, x, y, look=look)


def slice_panel(instance: Instance, i: int, j: int, program: CapacityProgram) -> Chart:
    """Return the slice by two types through the workload, with its head-room along both axes."""
    labels = (_label(instance, i), _label(instance, j))
    try:
        cut = region_slice(instance, i, j, program=program)
    except InputError:
        return Chart(*labels, [], title="no slice: the other types exceed the region")
    s, t = here = (instance.workload[i], instance.workload[j])
    curves = [_curve("border of the region", cut.vertices, "line")]
    if cut.holds(s, t):
        # an edge a . x <= c leaves (c - a . x) / a_axis along an axis
        first, second = (
            min((c - a[0] * s - a[1] * t) / a[axis] for a, c in cut.edges if a[axis]) for axis in (0, 1)
        )  # fmt: skip
        if first or second:
            curves.append(_curve("head-room", [(s + first, t), here, (s, t + second)], "reference"))
    return Chart(*labels, [*curves, _curve("workload", [here], "point")])


def _label(instance: Instance, j: int) -> str:
    name = drawn(instance.names[j], LABEL_LETTERS)
    return f"{name}{chr(10) if len(name) > LABEL_LETTERS // 2 else ' '}(jobs per server)"
