"""Certificates to export: true ones of every kind, and altered ones each of which states something false.

An alteration is chosen such that the statement is false by mathematics, not because a tool said so; the reason stands
beside it. The digest is made anew, so that the export takes the document.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from bounds import checker
from bounds.certificates import (
    allocation_certificate,
    assignment_certificate,
    region_certificate,
    throughput_certificate,
)
from bounds.results.instances.drawn import random_cluster, random_instance, random_law
from bounds.results.instances.papers import four_types
from theory.files.sizes import Sizes
from theory.greedy import solve
from theory.instance import explicit
from theory.partition import bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.mechanisms import MECHANISMS

Document = dict[str, Any]


def _plain(document: Document) -> Document:
    made: Document = json.loads(json.dumps(document))
    assert checker.check(made) == made["claims"]
    return made


@cache
def assignments() -> list[Document]:
    """Certificates with a positive optimum: one to three pools, sets that are listed, and the four VM types."""
    generator = np.random.default_rng(17)
    made = [four_types(), explicit([[3, 0], [1, 2], [0, 3]], rewards=[1, "3/2"], workload=[1, "5/4"])]
    while len(made) < 20:
        instance = random_instance(generator, pools=1 + len(made) % 3)
        if any(instance.workload):
            made.append(instance)
    return [_plain(assignment_certificate(solve(instance))) for instance in made]


@cache
def regions() -> list[Document]:
    """Certificates of regions with all their facets, in two dimensions or more, of workloads that are not 0."""
    generator = np.random.default_rng(18)
    made: list[Document] = []
    while len(made) < 20:
        instance = random_instance(generator, pools=1 + len(made) % 3)
        if any(instance.workload) and len(instance.types) > 1:
            intensity = CapacityProgram(instance).intensity()
            made.append(_plain(region_certificate(instance, intensity, region_facets(instance))))
    return made


@cache
def throughputs() -> list[Document]:
    """Certificates of laws of sizes with atoms and pieces."""
    generator = random.Random(19)
    laws = [random_law(generator) for _ in range(20)]
    found = [(law, bracket(law, Fraction(1, 20)), vqs_workload(law)) for law in laws]
    return [_plain(throughput_certificate(Sizes(law, 3), best, vqs)) for law, best, vqs in found]


@cache
def allocations() -> list[Document]:
    """Certificates of the mechanisms that carry prices."""
    made = []
    for seed in range(20):
        cluster = random_cluster(random.Random(seed), 5, 3, 3, counts=4)
        mechanism = checker.LEVELLED[seed % len(checker.LEVELLED)]
        made.append(_plain(allocation_certificate(cluster, MECHANISMS[mechanism](cluster))))
    return made


def signed(document: Document) -> Document:
    """Make the digest of an altered certificate anew."""
    return {**document, "digest": checker.digest(document)}


def _times(value: str, factor: Fraction) -> str:
    return str(Fraction(value) * factor)


def _doubled_rewards(document: Document) -> None:
    """The optimum is proportional to the rewards, and it is positive."""
    for kind in document["instance"]["type"]:
        kind["reward"] = _times(kind["reward"], Fraction(2))


def _more_optimum(document: Document) -> None:
    """A program has one optimum."""
    document["claims"]["optimal"] = _times(document["claims"]["optimal"], Fraction(10**6 + 1, 10**6))


def _less_optimum(document: Document) -> None:
    """A program has one optimum."""
    document["claims"]["optimal"] = _times(document["claims"]["optimal"], Fraction(10**6 - 1, 10**6))


def _more_greedy(document: Document) -> None:
    """The stages earn one reward; the ratio is altered too, so that it agrees."""
    for name in ("greedy", "ratio"):
        document["claims"][name] = _times(document["claims"][name], Fraction(10**6 + 1, 10**6))


def _longer_stage(document: Document) -> None:
    """The first stage already lasts until a type, or the servers, are exhausted."""
    stage = document["evidence"]["stages"][0]
    stage["fraction"] = _times(stage["fraction"], Fraction(1001, 1000))


def _smaller_stage(document: Document) -> None:
    """A configuration without one of its jobs earns less, and so is not MaxReward."""
    (pool, k), *_ = ((p, k) for p, k in document["evidence"]["stages"][0]["configurations"].items() if k)
    name = next(iter(k))
    document["evidence"]["stages"][0]["configurations"][pool] = {
        n: s - (n == name) for n, s in k.items() if s - (n == name)
    }


def _doubled_workload(document: Document) -> None:
    """The traffic intensity is proportional to the workload, and it is positive."""
    for kind in document["instance"]["type"]:
        kind["workload"] = _times(kind["workload"], Fraction(2))


def _more_intensity(document: Document) -> None:
    """A workload has one traffic intensity."""
    value = Fraction(document["claims"]["traffic_intensity"]) * Fraction(1001, 1000)
    document["claims"] |= {"traffic_intensity": str(value), "supportable": value < 1}


def _outer(document: Document) -> list[Document]:
    facets: list[Document] = document["claims"]["facets"]
    return facets[len(document["instance"]["type"]) :]


def _more_offset(document: Document) -> None:
    """An offset is the greatest value of its normal, so a greater one cuts nothing off there."""
    facet = _outer(document)[-1]
    facet["offset"] = _times(facet["offset"], Fraction(1001, 1000))


def _less_offset(document: Document) -> None:
    """An offset is the greatest value of its normal, so a smaller one cuts a vertex off."""
    facet = _outer(document)[0]
    facet["offset"] = _times(facet["offset"], Fraction(999, 1000))


def _facet_left_out(document: Document) -> None:
    """None of the facets is idle, so the polyhedron without one is larger."""
    document["claims"]["facets"].remove(_outer(document)[len(_outer(document)) // 2])


def _vertex_left_out(document: Document) -> None:
    """A vertex is not in the convex hull of the others."""
    vertices = document["evidence"]["boundary"]["vertices"]
    vertices.remove(vertices[len(vertices) // 2])


def _more_vqs(document: Document) -> None:
    """A program has one optimum."""
    document["claims"]["vqs"] = _times(document["claims"]["vqs"], Fraction(10**6 + 1, 10**6))


def _less_upper(document: Document) -> None:
    """The prices, which stay, prove one bound."""
    document["claims"]["upper"] = _times(document["claims"]["upper"], Fraction(999, 1000))


def _dearer_sizes(document: Document) -> None:
    """Twice the prices would prove half the bound, which is below the lower bound: the two are within 5 %."""
    above = document["evidence"]["above"]
    above["points"] = [[point, _times(price, Fraction(2))] for point, price in above["points"]]
    document["claims"]["upper"] = _times(document["claims"]["upper"], Fraction(1, 2))


def _doubled_values(document: Document) -> None:
    """All tasks of a level are worth 1, and 2 at twice the values."""
    values = document["evidence"]["stages"][0]["values"]
    document["evidence"]["stages"][0]["values"] = {user: _times(v, Fraction(2)) for user, v in values.items()}


Alteration = Callable[[Document], None]
PROGRAMS: dict[str, list[Alteration]] = {
    "assignment": [_more_optimum, _less_optimum, _doubled_rewards],
    "region": [_more_intensity, _doubled_workload, _more_offset, _less_offset],
    "throughput": [_more_vqs],
    "allocation": [_doubled_values],
}
QUERIES: dict[str, list[Alteration]] = {
    "assignment": [_more_optimum, _less_optimum, _doubled_rewards, _more_greedy, _longer_stage, _smaller_stage],
    "region": [_more_intensity, _doubled_workload, _more_offset, _less_offset],
    "throughput": [_less_upper, _dearer_sizes],
}
POLYHEDRA: dict[str, list[Alteration]] = {
    "region": [_more_offset, _less_offset, _facet_left_out, _vertex_left_out],
}
ALTERATIONS = {"smtlib": QUERIES, "lrs": POLYHEDRA, "lp": PROGRAMS}
"""By format and kind, what makes the exported statement false."""

MADE = {"assignment": assignments, "region": regions, "throughput": throughputs, "allocation": allocations}


def true_ones(form: str, count: int = 20) -> list[Document]:
    """Return certificates of all kinds that a format takes, in turn."""
    kinds = list(ALTERATIONS[form])
    return [MADE[kinds[i % len(kinds)]]()[i // len(kinds)] for i in range(count)]


def false_ones(form: str, count: int = 20) -> Iterator[tuple[str, Document]]:
    """Yield altered certificates, with what was altered: all alterations of the format in turn."""
    pairs = [(kind, change) for kind, changes in ALTERATIONS[form].items() for change in changes]
    for i in range(count):
        kind, change = pairs[i % len(pairs)]
        document = copy.deepcopy(MADE[kind]()[i % 20])
        change(document)
        yield f"{kind} {change.__name__.strip('_').replace('_', ' ')}", signed(document)
