"""Documents of about a megabyte, of every kind, each made to exhaust one part of the checker in time or memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bounds import checker
from tests.bounds.test_checker_limits import kind_of, signed, with_types

Document = dict[str, Any]
ONE_POOL = [{"name": "s", "share": "1", "capacity": {"cpu": "10"}}]


def region(types: list[Document], servers: list[Document], columns: list[Document], **more: Any) -> Document:
    """Return a certificate of a region with the given columns, whose prices are 0."""
    evidence = {"columns": columns, "prices": {t["name"]: "0" for t in types}, **more.pop("evidence", {})}
    claims = {"traffic_intensity": "0", "supportable": True, **more}
    return signed("region", {"server": servers, "type": types}, evidence, claims)


def columns_of_many_types() -> Document:
    """Thousands of columns, each of which has one of thousands of types."""
    types = [kind_of(f"t{j}", {"cpu": "1"}) for j in range(5000)]
    columns = [{"pool": "s", "configuration": {f"t{j}": 1}, "fraction": "1"} for j in range(5000)]
    return region(types, ONE_POOL, columns)


def columns_of_listed_configurations() -> Document:
    """Columns that fit none but the last of thousands of listed configurations."""
    tops = [[i, 4000 - i] for i in range(1, 60_000)]
    servers = [{"name": "s", "share": "1", "configurations": [[min(a, 2000), b] for a, b in tops if b > 0]}]
    types = [{"name": n, "reward": "1", "workload": "1", "service_rate": "1"} for n in "ab"]
    columns = [{"pool": "s", "configuration": {"a": 1900, "b": 2000 - i % 90}, "fraction": "1"} for i in range(12_000)]
    return region(types, servers, columns)


def facets_of_many_types() -> Document:
    """Coordinate facets whose normals have a thousand entries each."""
    names = [f"t{j}" for j in range(250)]
    types = [kind_of(n, {"cpu": "1"}, workload="0") for n in names]
    facets = [{"normal": {n: str(-(n == m)) for n in names}, "offset": "0"} for m in names]
    facets.append({"normal": dict.fromkeys(names, "1"), "offset": "10"})
    boundary = {"vertices": [{"s": {n: 10}} for n in names], "simplices": []}
    return region(types, ONE_POOL, [], facets=facets, evidence={"boundary": boundary})


def walls_of_many_types() -> Document:
    """No facets of ten thousand types."""
    types = [kind_of(f"t{j}", {"cpu": "1"}, workload="0") for j in range(12_000)]
    return region(types, ONE_POOL, [], facets=[], evidence={"boundary": {"vertices": [], "simplices": []}})


def plane(capacity: int) -> tuple[list[Document], list[Document]]:
    """Return two types and a server of two resources, one for each type."""
    types = [kind_of("a", {"x": "1"}, workload="0"), kind_of("b", {"y": "1"}, workload="0")]
    return types, [{"name": "s", "share": "1", "capacity": {"x": str(capacity), "y": str(capacity)}}]


def vertices_of_a_plane() -> Document:
    """Tens of thousands of vertices, facets and simplices in the plane."""
    n = 9000
    types, servers = plane(n)
    normals = [("-1", "0", "0"), ("0", "-1", "0")] + [("1", str(q), str(n * (1 + q))) for q in range(1, 6000)]
    facets = [{"normal": {"a": a, "b": b}, "offset": c} for a, b, c in normals]
    vertices = [{"s": {"a": n, "b": b}} for b in range(n, 0, -1)]
    boundary = {"vertices": vertices, "simplices": [[0, i] for i in range(1, n)]}
    return region(types, servers, [], facets=facets, evidence={"boundary": boundary})


def many_simplices() -> Document:
    """As many simplices as there may be, all on one facet."""
    types, servers = plane(400)
    facets = [({"a": "-1", "b": "0"}, "0"), ({"a": "0", "b": "-1"}, "0"), ({"a": "1", "b": "1"}, "800")]
    vertices = [{"s": {"a": 400, "b": 400}}] + [{"s": {"a": 400, "b": b}} for b in range(399, 0, -1)]
    simplices = [[i, j] for i in range(400) for j in range(i + 1, 400)]
    boundary = {"vertices": vertices, "simplices": simplices[:80_000]}
    listed = [{"normal": normal, "offset": offset} for normal, offset in facets]
    return region(types, servers, [], facets=listed, evidence={"boundary": boundary})


def many_resources() -> Document:
    """Thousands of resources, types and pools, each of which names one of the others."""
    types = [kind_of(f"t{j}", {f"r{j}": "1"}) for j in range(4000)]
    room = {f"r{j}": "1" for j in range(4000)}
    servers = [{"name": f"s{i}", "share": "1/4000", "capacity": room if not i else {"r0": "1"}} for i in range(4000)]
    return with_types(types, servers)


def thousands_of_types() -> Document:
    """Types of equal rewards, all sets of which have to be decided."""
    return with_types([kind_of(f"t{j}", {"cpu": str(1 + j % 7)}) for j in range(9000)], ONE_POOL)


def types_and_pools() -> Document:
    """Thousands of types in thousands of pools."""
    servers = [{"name": f"s{i}", "share": "1/4000", "capacity": {"cpu": "9"}} for i in range(4000)]
    return with_types([kind_of(f"t{j}", {"cpu": "1"}) for j in range(4000)], servers)


def long_configurations() -> Document:
    """Listed configurations of numbers with thousands of digits."""
    draw = random.Random(2)
    tops = [[draw.getrandbits(13_000) for _ in range(15)] for _ in range(16)]
    types = [
        {"name": f"t{j}", "reward": str(draw.getrandbits(13_000)), "workload": "1", "service_rate": "1"}
        for j in range(15)
    ]
    return with_types(types, [{"name": "s", "share": "1", "configurations": tops}])


def long_demands() -> Document:
    """Resources and demands of numbers with thousands of digits."""
    draw = random.Random(3)
    types = [
        kind_of(f"t{j}", {f"r{r}": str(draw.getrandbits(3000)) for r in range(20)}, str(draw.getrandbits(3000)))
        for j in range(45)
    ]
    return with_types(types, [{"name": "s", "share": "1", "capacity": {f"r{r}": str(2**3003) for r in range(20)}}])


def hard_knapsack(types: int, bits: int, digits: int) -> Document:
    """A server of four resources whose configurations of nearly equal rewards no bound tells apart."""
    draw = random.Random(types)
    rows = [[draw.randrange(2**bits, 2 ** (bits + 1)) for _ in range(4)] for _ in range(types)]
    kinds = [
        kind_of(f"t{j}", {f"r{r}": str(d) for r, d in enumerate(row)}, str(10**digits * sum(row) + draw.randrange(9)))
        for j, row in enumerate(rows)
    ]
    return with_types(
        kinds, [{"name": "s", "share": "1", "capacity": {f"r{r}": str(9 * 2**bits + 1) for r in range(4)}}]
    )


def hard_configurations() -> Document:
    """Branches by the million that no bound cuts."""
    return hard_knapsack(40, 40, 0)


def hard_configurations_of_long_numbers() -> Document:
    """The same with rewards of a thousand digits."""
    return hard_knapsack(24, 30, 1000)


def many_orders() -> Document:
    """All orders of exhaustion of seven types that have a resource each: greedy is optimal, and the claim is true."""
    types = [kind_of(f"t{j}", {f"r{j}": "2"}, workload=str(j // 6)) for j in range(7)]
    servers = [{"name": "s", "share": "1", "capacity": {f"r{j}": "1000001" for j in range(7)}}]

    def orders(left: list[int], ended: list[int]) -> Document:
        ends = left if len(left) > 1 else []
        after = {f"t{j}": orders([i for i in left if i != j], [*ended, j]) for j in ends}
        return {"prices": {f"t{j}": "1" for j in ended}, "after": after}

    instance = {"server": servers, "type": types}
    columns = [{"pool": "s", "configuration": {"t6": 1}, "fraction": "1"}]
    permutation = [f"t{j}" for j in range(7)]
    evidence = {"permutation": permutation, "columns": columns, "orders": orders(list(range(7)), [])}
    return signed("worst", instance, evidence, {"ratio": "1"})


def cluster(users: int, servers: int, resources: int, mechanism: str, stages: list[Document] | None) -> Document:
    """Return a certificate of a share in which no user has a task."""
    room = {f"r{r}": "1" for r in range(resources)}
    need = {f"r{r}": "1/9" for r in range(resources)}
    names = [f"u{n}" for n in range(users)]
    instance = {
        "server": [{"name": f"s{i}", "capacity": room, "count": 1} for i in range(servers)],
        "user": [{"name": n, "demand": need, "weight": "1"} for n in names],
    }
    evidence: Document = {"allocation": {n: {} for n in names}, **({} if stages is None else {"stages": stages})}
    return signed("allocation", instance, evidence, {"mechanism": mechanism, "tasks": dict.fromkeys(names, "0")})


def users_and_servers() -> Document:
    """Thousands of users on thousands of servers."""
    return cluster(4000, 4000, 1, "ps-dsf", None)


def users_and_servers_in_time() -> Document:
    """Hundreds of users on hundreds of servers of hundreds of resources, which take turns."""
    return cluster(330, 330, 100, "ps-dsf-tdm", None)


def users_of_resources() -> Document:
    """Thousands of users of one server with thousands of resources."""
    document = cluster(8000, 1, 1, "drf", None)
    document["instance"]["server"][0]["capacity"] = {f"r{r}": "1" for r in range(20_000)}
    return signed("allocation", document["instance"], document["evidence"], document["claims"])


def many_stages() -> Document:
    """Thousands of users, each alone on a server and at the level of all others, with a stage each."""
    number = range(2800)
    instance = {
        "server": [{"name": f"s{i}", "capacity": {"r": "1"}, "count": 1} for i in number],
        "user": [{"name": f"u{i}", "demand": {"r": "1"}, "weight": "1", "servers": [f"s{i}"]} for i in number],
    }
    stages = [{"prices": {f"s{i}": {"r": "1"}}, "values": {f"u{i}": "1"}} for i in number]
    evidence = {"allocation": {f"u{i}": {f"s{i}": "1"} for i in number}, "stages": stages}
    return signed("allocation", instance, evidence, {"mechanism": "cdrf", "tasks": {f"u{i}": "1" for i in number}})


def throughput(law: Document, below: Document, above: Document) -> Document:
    """Return a certificate of a throughput whose lower bound is 0."""
    claims = {"lower": "0", "upper": "0", "vqs": "0", "vqs_lost": "0", "J": 2}
    return signed("throughput", {"sizes": {"servers": 1, **law}}, {"below": below, "above": above, "vqs": {}}, claims)


EMPTY = {"cells": [["1/2", "0"]], "columns": []}


def large_grid() -> Document:
    """A grid of tens of millions of points, in a document of half a kilobyte."""
    law = {"uniform": ["1/4", "1/2"]}
    below = {"cells": [["1/4", "1/4"]], "columns": []}
    return throughput(law, below, {"grid": 19_000_000, "points": [[1, "0"], [9_500_000, "1/2"]]})


def large_grid_of_long_prices() -> Document:
    """A grid of millions of points, with prices of hundreds of digits."""
    law = {"uniform": ["1/4", "1/2"]}
    below = {"cells": [["1/4", "1/4"]], "columns": []}
    points = [[1, f"1/{3**570}"], [2_300_000, f"1/{2**900}"], [4_600_000, "1/3"]]
    return throughput(law, below, {"grid": 9_300_000, "points": points})


def many_atoms() -> Document:
    """Tens of thousands of sizes, of which the lower bound has a column each."""
    n = 9000
    law = {"discrete": {f"{i}/{n + 1}": f"1/{n}" for i in range(1, n + 1)}}
    cells = [[f"{i}/{n + 1}", "0"] for i in range(1, n + 1)]
    columns = [{"slots": {str(i): 1}, "fraction": "1"} for i in range(n)]
    return throughput(law, {"cells": cells, "columns": columns}, {"grid": 1, "points": []})


def many_pieces() -> Document:
    """Thousands of uniform pieces and points of prices."""
    n = 6007
    law = {"piecewise": [[str(Fraction(i, n)), str(Fraction(i + 1, n)), f"1/{n}"] for i in range(n)]}
    below = {"cells": [[str(Fraction(i, n)), f"1/{n}"] for i in range(n)], "columns": []}
    return throughput(law, below, {"grid": n, "points": [[i, str(Fraction(i, n))] for i in range(n + 1)]})


def many_states(denominator: int) -> Document:
    """Sets of jobs by the million on a grid too fine for a table, at prices that are hardly too low for a refusal."""
    draw, grid, n = random.Random(7), 10**12 + 39, 61
    places = sorted(draw.sample(range(grid // 25, grid // 6), n))
    law = {"discrete": {str(Fraction(place, grid)): f"1/{n}" for place in places}}
    cells = [[str(Fraction(place, grid)), "0"] for place in places]
    prices = [Fraction(place * denominator * (10**15 + 1) // (grid * 10**15), denominator) for place in places]
    above = {"grid": grid, "points": [[p, str(price)] for p, price in zip(places, prices, strict=True)]}
    return throughput(law, {"cells": cells, "columns": []}, above)


def states_of_short_prices() -> Document:
    """Such sets, at prices of twenty digits."""
    return many_states(10**21 + 117)


def states_of_long_prices() -> Document:
    """Such sets, at prices of a thousand digits."""
    return many_states(10**1000 + 7)


def many_tables(size: int) -> str:
    """Return a text of tables with an entry each, which take thirty times its size where it is parsed."""
    table = '{"":0},'
    return f'{{"format":"packproof/2","a":[{table * (size // len(table))}0]}}'


def longest_text() -> str:
    """A text as long as is parsed."""
    return many_tables(checker.MAX_BYTES - 100)


def too_long_text() -> str:
    """Sixty megabytes, which would take 1.7 GB."""
    return many_tables(60_000_000)


TEXTS: list[Callable[[], str]] = [longest_text, too_long_text]
"""Texts that exhaust what parses them, which no document has that is written from memory."""

LARGE: list[Callable[[], Document]] = [
    columns_of_many_types,
    columns_of_listed_configurations,
    facets_of_many_types,
    walls_of_many_types,
    vertices_of_a_plane,
    many_simplices,
    many_resources,
    thousands_of_types,
    types_and_pools,
    long_configurations,
    long_demands,
    hard_configurations,
    hard_configurations_of_long_numbers,
    many_orders,
    users_and_servers,
    users_and_servers_in_time,
    users_of_resources,
    many_stages,
    large_grid,
    large_grid_of_long_prices,
    many_atoms,
    many_pieces,
    states_of_short_prices,
    states_of_long_prices,
]
