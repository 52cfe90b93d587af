"""Forged intensities and facets that agree with themselves: each breaks one condition, and is refused for it."""

from __future__ import annotations

from typing import Any

from tests.checker.corpus import CERTIFICATES, GONE, Document, at, changed, document, refused, verdict


def region(
    capacity: dict[str, str], kinds: list[tuple[str, Any]], columns: Any, prices: list[str], z: str, can: bool
) -> Document:
    """Return a certificate of the intensity of types a, b, ... (workload, demand); columns are (slots, fraction)."""
    names = "abc"[: len(kinds)]
    listed = [
        {"name": name, "reward": "1", "workload": load, "service_rate": "1", "demand": demand}
        for name, (load, demand) in zip(names, kinds, strict=True)
    ]
    instance = {"server": [{"name": "s", "share": "1", "capacity": capacity}], "type": listed}
    rows = [
        {"pool": "s", "configuration": {n: k for n, k in zip(names, slots, strict=True) if k}, "fraction": fraction}
        for slots, fraction in columns
    ]
    evidence = {"columns": rows, "prices": dict(zip(names, prices, strict=True))}
    return document("region", instance, evidence, {"traffic_intensity": z, "supportable": can})


def test_intensities_that_are_not_right() -> None:
    """Types a and b have a resource each, so that one job of each fits; one a server and half of one are to be held."""
    apart = {"x": "1", "y": "1"}, [("1", {"x": "1"}), ("1/2", {"y": "1"})]
    half = [((1, 1), "1/2"), ((1, 0), "1/2")]
    assert not verdict(region(*apart, half, ["1", "0"], "1", False))
    refused(
        "claims.supportable is not whether the traffic intensity is below 1",
        region(*apart, half, ["1", "0"], "1", True),
    )
    refused("the columns use too many servers", region(*apart, half, ["0", "1"], "1/2", True))
    for columns in ([((1, 0), "1")], [((1, 1), "1")], [((1, 1), "1/4"), ((1, 0), "3/4")], [((1, 1), "1/2")]):
        refused("the columns do not carry just the workload", region(*apart, columns, ["1", "0"], "1", False))
    refused("the prices do not prove the traffic intensity", region(*apart, half, ["1", "0"], "2", False))
    refused("the prices do not prove the traffic intensity", region(*apart, half, ["1", "1"], "1", False))
    for prices in (["2", "0"], ["1/2", "0"], ["0", "0"]):
        refused("the prices are not coprime integers", region(*apart, half, prices, "1", False))
    refused("a price is less than 0", region(*apart, half, ["1", "-1"], "1", False))
    refused("claims.traffic_intensity is less than 0", region(*apart, half, ["1", "0"], "-1", True))
    idle = {"x": "1"}, [("1", {"x": "1"}), ("0", {"x": "1"})]
    assert not verdict(region(*idle, [((1, 0), "1")], ["1", "0"], "1", False))
    refused("a price without workload", region(*idle, [((1, 0), "1")], ["1", "1"], "1", False))
    none = {"x": "1"}, [("0", {"x": "1"})]
    assert not verdict(region(*none, [], ["0"], "0", True))
    refused("the prices are not coprime integers", region(*none, [], ["0"], "1/2", True))
    zero = [((1, 1), "1/2"), ((1, 0), "1/2"), ((0, 1), "0")]
    refused("a column is empty or not feasible", region(*apart, zero, ["1", "0"], "1", False))
    refused("a column is empty or not feasible", region(*apart, [*half, ((0, 0), "1/2")], ["1", "0"], "1", False))
    refused("a column is empty or not feasible", region(*apart, [((2, 1), "1/2")], ["1", "0"], "1", False))
    twice = [((1, 1), "1/4"), ((1, 1), "1/4"), ((1, 0), "1/2")]
    refused("the columns are not in order", region(*apart, twice, ["1", "0"], "1", False))
    refused("the columns are not in order", region(*apart, half[::-1], ["1", "0"], "1", False))


CUBE = "region, cube"
"""The region of configurations of at most one job of each of three types: its facets are those of a cube."""


def with_boundary(facets: Any, vertices: Any, simplices: Any) -> Document:
    """Return the certificate of the cube with other facets and evidence of them."""
    boundary = {"vertices": vertices, "simplices": simplices}
    return changed(CERTIFICATES[CUBE], (("claims", "facets"), facets), (("evidence", "boundary"), boundary))


def cube() -> tuple[list[Any], list[Any], list[Any]]:
    """Return the facets, vertices and simplices of the certificate of the cube."""
    evidence = CERTIFICATES[CUBE]["evidence"]["boundary"]
    return CERTIFICATES[CUBE]["claims"]["facets"], evidence["vertices"], evidence["simplices"]


def facet(normal: tuple[int, ...], offset: str) -> Document:
    return {"normal": {name: str(x) for name, x in zip("abc", normal, strict=True)}, "offset": offset}


def test_facets_that_are_none() -> None:
    facets, vertices, simplices = cube()
    assert [tuple(f["normal"].values()) for f in facets[3:]] == [("0", "0", "1"), ("0", "1", "0"), ("1", "0", "0")]
    idle = [*facets[:4], facet((0, 1, 0), "1"), facet((0, 1, 1), "2"), facets[5]]
    refused("a facet has no simplex", with_boundary(idle, vertices, simplices))
    wrong = "an offset is not the greatest value of its normal"
    for forged in (facet((1, 0, 0), "2"), facet((1, 0, 0), "1/2"), facet((1, 0, 0), "0")):
        refused(wrong, with_boundary([*facets[:5], forged], vertices, simplices))
    refused(wrong, with_boundary([*facets[:5], facet((1, 0, -1), "1")], vertices, simplices))
    # its value on the maximal configuration is 1, but without the third type a configuration is worth 2
    refused(wrong, with_boundary([*facets[:5], facet((2, 0, -1), "1")], vertices, simplices))
    refused(wrong, with_boundary([*facets[:3], facet((-1, -1, 0), "0"), *facets[3:]], vertices, simplices))
    coprime = "a normal is not of coprime integers"
    for forged in (facet((2, 0, 0), "2"), facet((0, 0, 0), "0")):
        refused(coprime, with_boundary([*facets[:5], forged], vertices, simplices))
    order = "the facets are not in order"
    for outer in (facets[3:][::-1], [facets[3], facets[5], facets[4]], [*facets[3:], facets[5]], []):
        refused(order, with_boundary([*facets[:3], *outer], vertices, simplices))
    walls = "the coordinate facets do not come first"
    for inner in ([facets[1], facets[0], facets[2]], [*facets[:2], facet((0, 0, -1), "1")], facets[:2]):
        refused(walls, with_boundary([*inner, *facets[3:]], vertices, simplices))


def test_facets_and_their_evidence_go_together() -> None:
    for path in (("claims", "facets"), ("evidence", "boundary")):
        refused("facets and their evidence do not go together", changed(CERTIFICATES[CUBE], (path, GONE)))
    assert not verdict(changed(CERTIFICATES[CUBE], (("claims", "facets"), GONE), (("evidence", "boundary"), GONE)))


def test_a_pool_that_holds_more_than_its_share() -> None:
    """Both pools are needed in full; half of the servers of one must not hold all."""
    table = CERTIFICATES["region, one type"]
    (server,) = at(table, ("instance", "server"))
    halves = [{**server, "name": name, "share": "1/2"} for name in ("s", "t")]
    job = {"a": 2}

    def held(first: str, second: str | None) -> Document:
        rows = [("s", first), ("t", second)]
        columns = [{"pool": p, "configuration": job, "fraction": part} for p, part in rows if part]
        claims = {"traffic_intensity": "3/4", "supportable": True}
        evidence = {"columns": columns, "prices": {"a": "1"}}
        return changed(table, (("instance", "server"), halves), (("evidence",), evidence), (("claims",), claims))

    assert not verdict(held("3/8", "3/8"))
    for first, second in (("1/2", "1/4"), ("1/4", "1/2"), ("3/4", None)):
        refused("the columns use too many servers", held(first, second))


def test_vertices_and_simplices_that_are_none() -> None:
    facets, vertices, simplices = cube()
    assert not verdict(with_boundary(facets, vertices, simplices))
    pool = next(iter(vertices[0]))
    last = vertices[-1][pool]
    assert last == {"c": 1}
    refused("a point listed as a vertex is none", middle())
    for bad in ({"a": 2}, {"a": 1, "b": 1, "c": 2}):
        refused("a vertex is not feasible", with_boundary(facets, [{pool: bad}, *vertices[1:]], simplices))
    renamed = [sorted({0: 1, 1: 0}.get(v, v) for v in simplex) for simplex in simplices]
    swapped = [vertices[1], vertices[0], *vertices[2:]]
    refused("the vertices are not in order", with_boundary(facets, swapped, sorted(renamed)))
    shifted = [[v + 1 for v in simplex] for simplex in simplices]
    refused("the vertices are not in order", with_boundary(facets, [vertices[0], *vertices], shifted))
    refused("the simplices are not in order", with_boundary(facets, vertices, simplices[::-1]))
    refused("the simplices are not in order", with_boundary(facets, vertices, [simplices[0], *simplices]))
    count = len(vertices)
    for beyond in (count, count + 1):
        ends = [*simplices[:-1], [*simplices[-1][:2], beyond]]
        refused("a simplex has a corner that is no vertex", with_boundary(facets, vertices, ends))
    for odd in ([0, 1], [0, 1, 1], [0, 2, 1], [0, 1, 2, 3]):
        forged = sorted([odd, *simplices[1:]])
        refused("a simplex has not J corners", with_boundary(facets, vertices, forged))
    refused(
        "a ridge is not in two simplices: the boundary is not closed", with_boundary(facets, vertices, simplices[:-1])
    )


def middle() -> Document:
    """Return a certificate of a square of side 2 that lists a point inside an edge as a vertex."""
    square = CERTIFICATES["region, square"]
    vertices = at(square, ("evidence", "boundary", "vertices"))
    pool = next(iter(vertices[0]))
    assert [v[pool] for v in vertices] == [{"a": 2, "b": 2}, {"a": 2}, {"b": 2}]
    return changed(square, (("evidence", "boundary", "vertices"), [*vertices, {pool: {"b": 1}}]))


def test_a_direction_in_two_cones() -> None:
    """The four triangles of both triangulations of a square close up, each ridge in two, and cover it twice."""
    facets, vertices, _ = cube()
    pool = next(iter(vertices[0]))
    square = [v for v in vertices if v[pool].get("a")]
    pillow = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    forged = with_boundary([*facets[:3], facets[5]], square, pillow)
    refused("a direction is in two cones", forged)
