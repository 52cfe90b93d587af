"""Certificates of regions: accepted as made, refused when altered, with the digest recomputed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from bounds import checker
from bounds.certificates.region import region_certificate
from bounds.results.instances.drawn import random_instance
from bounds.testing import explicit_instances, instances
from theory.instance import Instance, additive, explicit, pooled
from theory.numbers import total
from theory.region.facets import region_facets
from theory.region.membership import CapacityProgram, Support


def certificate(instance: Instance, *, facets: bool = True) -> dict[str, Any]:
    region = region_facets(instance) if facets else None
    document: dict[str, Any] = region_certificate(instance, CapacityProgram(instance).intensity(), region)
    return json.loads(json.dumps(document))  # type: ignore[no-any-return]


@pytest.mark.slow
@given(instances(max_pools=3, max_capacity=10) | explicit_instances())
def test_what_is_made_is_accepted(instance: Instance) -> None:
    for facets in (True, False):
        document = certificate(instance, facets=facets)
        assert checker.check(document) == document["claims"]


def test_many_types_and_pools_are_certified() -> None:
    choose = random.Random(1)
    demands = [[choose.randint(1, 24), choose.randint(1, 48)] for _ in range(120)]
    workload = [Fraction(choose.randint(1, 100), 100) for _ in demands]
    pools = [(1 + p % 3, [24 + 2 * p, 64 - 4 * p]) for p in range(5)]
    document = certificate(pooled(pools, demands, workload=workload), facets=False)
    assert checker.check(document) == document["claims"]
    for wrong in ("999/1000", "1001/1000"):
        false = copy.deepcopy(document)
        false["claims"]["traffic_intensity"] = str(Fraction(wrong) * Fraction(document["claims"]["traffic_intensity"]))
        false["digest"] = checker.digest(false)
        with pytest.raises(checker.Refused):
            checker.check(false)


def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def altered(value: Any, choose: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        try:
            return str(Fraction(value) + choose.choice([1, -1, Fraction(-1, 2), Fraction(1, 1000), Fraction(value)]))
        except ValueError:
            return choose.choice(["t1", "pool1", value + "x"])
    if isinstance(value, int):
        return value + choose.choice([1, -1, 2])
    changed = copy.copy(value)
    if isinstance(changed, dict):
        if changed and choose.random() < 0.5:
            del changed[choose.choice(sorted(changed))]
        else:
            changed["t1"] = choose.choice([0, 1, "1/2"])
    elif changed and choose.random() < 0.6:
        choose.choice([changed.pop, lambda: changed.append(changed[0]), changed.reverse, lambda: changed.pop(0)])()
    else:
        changed.append(choose.choice([0, "t1", {}]))
    return changed


def is_another_proof(instance: Instance, prices: dict[str, str], intensity: str) -> bool:
    """Where a ray leaves the region at several facets, the prices of each prove the intensity."""
    try:
        beta = [Fraction(prices[name]) for name in instance.names]
    except (KeyError, ValueError):
        return False
    whole = min(beta) >= 0 and all(b.denominator == 1 for b in beta) and gcd(*map(int, beta)) == 1
    worth = total(b * rho for b, rho in zip(beta, instance.workload, strict=True))
    return whole and worth == Fraction(intensity) * Support(instance).value(beta)


@pytest.mark.slow
def test_alterations_are_refused() -> None:
    generator, choose = np.random.default_rng(9), random.Random(9)
    drawn = [random_instance(generator, pools=1 + i % 3) for i in range(40)]
    documents = [certificate(instance, facets=bool(i % 4)) for i, instance in enumerate(drawn)]
    count = other = 0
    while count < 600:
        number = choose.randrange(len(documents))
        document = copy.deepcopy(documents[number])
        part = choose.choice(["evidence", "claims"])
        path = choose.choice(list(places(document[part], (part,))))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        new = altered(holder[path[-1]], choose)
        if new == holder[path[-1]]:
            continue
        holder[path[-1]] = new
        count += 1
        with pytest.raises(checker.Refused, match="digest"):
            checker.check(document)
        document["digest"] = checker.digest(document)
        try:
            checker.check(document)
        except checker.Refused:
            continue
        claims, evidence = document["claims"], document["evidence"]
        assert claims == documents[number]["claims"]
        assert path[:2] == ("evidence", "prices"), f"accepted an alteration at {path}"
        assert is_another_proof(drawn[number], evidence["prices"], claims["traffic_intensity"])
        other += 1
    assert other < 6


def test_a_facet_left_out_is_refused() -> None:
    document = certificate(additive([40], [[p] for p in (2, 3, 5, 7, 11)]))
    assert len(document["claims"]["facets"]) == 17
    checker.check(document)
    points, simplices = document["evidence"]["boundary"].values()
    for number in range(17):
        wrong = copy.deepcopy(document)
        facet = wrong["claims"]["facets"].pop(number)
        boundary = wrong["evidence"]["boundary"]
        normal, offset = list(map(int, facet["normal"].values())), Fraction(facet["offset"])
        corners = [[vertex["pool1"].get(f"t{j + 1}", 0) for j in range(5)] for vertex in points]
        on = [sum(a * x for a, x in zip(normal, corner, strict=True)) == offset for corner in corners]
        boundary["simplices"] = [s for s in simplices if not all(on[v] for v in s)]
        wrong["digest"] = checker.digest(wrong)
        with pytest.raises(checker.Refused, match=r"ridge|coordinate"):
            checker.check(wrong)


def test_another_instance_is_accepted_only_if_the_claims_are_true_of_it() -> None:
    document = certificate(additive([6], [[4], [1]], workload=["1/2", 4]))
    document["instance"]["type"][0]["reward"] = "7"  # no claim speaks of it
    document["digest"] = checker.digest(document)
    checker.check(document)
    for change in ("capacity", "workload"):
        wrong = copy.deepcopy(document)
        if change == "capacity":
            wrong["instance"]["server"][0]["capacity"] = {"r1": "7"}
        else:
            wrong["instance"]["type"][1]["workload"] = "7/2"
        wrong["digest"] = checker.digest(wrong)
        with pytest.raises(checker.Refused):
            checker.check(wrong)


def test_too_many_simplices_are_not_attempted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_SIMPLICES", 3)
    with pytest.raises(checker.Unreadable, match="simplices"):
        checker.check(certificate(additive([40], [[p] for p in (2, 3, 5, 7, 11)])))


def test_a_pillow_is_refused() -> None:
    """Two triangulations of one square facet close up, each ridge in two simplices, and cover nothing else."""
    document = certificate(explicit([[1, 1, 1]], workload=["1/2", "1/2", "1/2"]))
    boundary, claims = document["evidence"]["boundary"], document["claims"]
    names = [t["name"] for t in document["instance"]["type"]]

    def at(vertex: dict[str, dict[str, int]]) -> tuple[int, ...]:
        (slots,) = vertex.values()
        return tuple(slots.get(name, 0) for name in names)

    square = [v for v in boundary["vertices"] if at(v)[0] == 1]
    order = {at(v): i for i, v in enumerate(square)}
    halves = [
        [(1, 0, 0), (1, 1, 0), (1, 1, 1)],
        [(1, 0, 0), (1, 0, 1), (1, 1, 1)],
        [(1, 0, 0), (1, 1, 0), (1, 0, 1)],
        [(1, 1, 0), (1, 0, 1), (1, 1, 1)],
    ]
    boundary["vertices"] = square
    boundary["simplices"] = sorted(sorted(order[k] for k in half) for half in halves)
    top = [f for f in claims["facets"] if f["offset"] == "0" or f["normal"][names[0]] == "1"]
    claims["facets"] = top
    document["digest"] = checker.digest(document)
    with pytest.raises(checker.Refused):
        checker.check(document)
