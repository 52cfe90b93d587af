"""What ``region`` answers: as JSON values and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bounds.certificates import facets_document
from bounds.views.assignment import named, packed, short
from theory.errors import TooLargeError
from theory.exact.configurations import count, count_maximal
from theory.greedy.servers import LeastServers
from theory.instance import Instance, Space
from theory.numbers import text
from theory.region.facets import Region
from theory.region.membership import Intensity, stable_servers
from theory.region.slices import Slice

COUNTED = 100_000_000
"""Where configurations can only be counted one by one, counting ends here."""


@dataclass(frozen=True)
class Answer:
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


def region_json(answer: Answer) -> dict[str, Any]:
    """Return the answer of ``region`` as DESIGN's JSON; numbers of configurations are sums over the pools."""
    instance, intensity, region = answer.instance, answer.intensity, answer.region
    sizes = [counted(pool.space) for pool in instance.pools]
    boundary = intensity.boundary
    result: dict[str, Any] = {
        "configurations": _sum([feasible for feasible, _ in sizes]),
        "maximal": _sum([maximal for _, maximal in sizes]),
        "pools": {
            pool.name: {"share": text(pool.share), "configurations": feasible, "maximal": maximal}
            for pool, (feasible, maximal) in zip(instance.pools, sizes, strict=True)
        },
        "facets": None if region is None else facets_document(instance, region),
        "facets_reason": answer.no_facets,
        "vertices": None
        if region is None
        else [named(instance, vertex) for vertex in (*region.vertices, (Fraction(0),) * len(instance.types))],
        "traffic_intensity": text(intensity.value),
        "traffic_intensity_float": float(intensity.value),
        "supportable": intensity.supportable,
        "boundary": None if boundary is None else named(instance, boundary),
        "prices": named(instance, intensity.prices),
        "price_support": text(intensity.support),
        "columns": [
            {
                "pool": instance.pools[p].name,
                "configuration": dict(zip(instance.names, k, strict=True)),
                "fraction": text(amount),
            }
            for p, k, amount in intensity.columns
        ],
        "headroom": None if answer.headroom is None else named(instance, answer.headroom),
        "headroom_reason": answer.no_headroom,
        "servers_needed": {"per_server": text(intensity.value)},
    }
    if answer.whole is not None:
        servers, least = answer.whole
        result["servers_needed"] |= {
            "servers": servers,
            "supportable": stable_servers(intensity.value, servers),
            "at_once": {"lower": least.lower, "upper": least.upper, "exact": least.lower == least.upper},
        }
    if answer.slice is not None:
        result["slice"] = slice_json(instance, answer.slice)
    return result


def slice_json(instance: Instance, cut: Slice) -> dict[str, Any]:
    """Return a slice: where it turns, its inequalities, and the workload of the other types."""
    pair = [instance.names[j] for j in cut.types]
    return {
        "types": pair,
        "workload": {
            name: text(load)
            for j, (name, load) in enumerate(zip(instance.names, cut.workload, strict=True))
            if j not in cut.types
        },
        "vertices": [dict(zip(pair, map(text, vertex), strict=True)) for vertex in cut.vertices],
        "edges": [
            {"normal": dict(zip(pair, map(text, normal), strict=True)), "offset": text(offset)}
            for normal, offset in cut.edges
        ],
    }


def _number(value: int | None) -> str:
    return "too many to count" if value is None else f"{value:,}" if value < 10**15 else f"{value:.3e}"


def region_lines(answer: Answer, result: dict[str, Any]) -> list[str]:
    """Return the answer of ``region`` as text; `result` is its JSON."""
    instance, intensity = answer.instance, answer.intensity
    verdict = "supportable" if intensity.supportable else "on the boundary" if intensity.holds else "not supportable"
    lines = [
        f"configurations     {_number(result['configurations'])}, {_number(result['maximal'])} of them maximal",
        f"traffic intensity  {short(intensity.value)}: {verdict}",
        f"servers needed     more than {short(intensity.value)} for each one there is",
    ]
    needed = result["servers_needed"]
    if answer.whole is not None:
        at_once = needed["at_once"]
        number = str(at_once["lower"]) if at_once["exact"] else f"{at_once['lower']} to {at_once['upper']}"
        lines.append(
            f"  of {needed['servers']} servers: {needed['supportable']} keep the queues bounded, "
            f"{number} hold all the jobs at once"
        )
    if any(intensity.prices):
        lines += [
            "",
            "why not less: at the prices",
            f"  {_inequality(instance.names, intensity.prices)}",
            f"  no average server holds more than {short(intensity.support)}",
            "why not more: the workload, on these amounts of servers for each one there is",
        ]
        several = len(instance.pools) > 1
        for p, k, amount in intensity.columns[:12]:
            where = f"{instance.pools[p].name}: " if several else ""
            lines.append(f"  {float(amount):9.4%}  {where}{packed(instance, k)}")
        if len(intensity.columns) > 12:
            lines.append(f"  and {len(intensity.columns) - 12} more")
    lines += ["", "head-room of each type alone, jobs per server"]
    if answer.headroom is None:
        lines.append(f"  {answer.no_headroom}")
    else:
        lines += [f"  {name}: {short(room)}" for name, room in zip(instance.names, answer.headroom, strict=True)]
    lines += ["", f"facets  {answer.no_facets or ''}".rstrip()]
    if answer.region is not None:
        outer = answer.region.outer
        lines[-1] = (
            f"facets  {len(outer)}, beside {len(instance.types)} x >= 0; {len(answer.region.vertices) + 1} vertices"
        )
        lines += [f"  {_inequality(instance.names, facet.normal)} <= {text(facet.offset)}" for facet in outer[:40]]
        if len(outer) > 40:
            lines.append(f"  and {len(outer) - 40} more (--json shows all)")
    if answer.slice is not None:
        pair = [instance.names[j] for j in answer.slice.types]
        lines += ["", f"slice by {pair[0]} and {pair[1]}, the others as they are"]
        lines += [f"  {_inequality(pair, normal)} <= {short(offset)}" for normal, offset in answer.slice.edges]
    return lines


def _inequality(names: Sequence[str], normal: Sequence[int]) -> str:
    terms = [name if a == 1 else f"{a} {name}" for name, a in zip(names, normal, strict=True) if a]
    return " + ".join(terms)
