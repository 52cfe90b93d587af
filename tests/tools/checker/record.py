"""Write the corpus anew: ``python -m tests.tools.checker.record`` lets the solvers certify each input below.

The rest of this folder reads what stands in ``certificates.json`` and uses the checker and the standard library only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from bounds.adversary import refutation, worst_workload
from bounds.adversary.assignment import Numbers, judge_assignment
from bounds.adversary.division import Shape, judge_division
from bounds.adversary.items import Items, judge_items
from bounds.certificates import (
    allocation_certificate,
    assignment_certificate,
    attack_certificate,
    cost_certificate,
    fairness_certificate,
    region_certificate,
    throughput_certificate,
    worst_certificate,
)
from tests.checker.corpus import FILE
from theory.files.clusters import parse_cluster
from theory.files.instances import parse_instance
from theory.files.sizes import parse_sizes
from theory.greedy import Offer, cheapest_servers
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.partition import bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.judgement import given, judge_given
from theory.sharing.mechanisms import MECHANISMS

Document = dict[str, Any]


def types(*rows: tuple[Any, ...]) -> list[Document]:
    """Return types a, b, ... from rows (workload, reward, demand of r1, of r2, ...); a demand of 0 is left out."""
    return [
        {
            "name": "abcdef"[j],
            "workload": workload,
            "reward": reward,
            **({"demand": {f"r{i}": d for i, d in enumerate(demand, 1) if d}} if demand else {}),
        }
        for j, (workload, reward, *demand) in enumerate(rows)
    ]


def pool(name: str, share: Any, *capacity: Any) -> Document:
    """Return a pool with the capacities of r1, r2, ..."""
    return {"name": name, "share": share, "capacity": {f"r{i}": c for i, c in enumerate(capacity, 1)}}


ONE = {"server": [pool("s", 1, 12)], "type": types((1, 1, 5), (1, 1, 7))}
"""Greedy earns 3/2, the optimum is 2."""
TWO = {
    "server": [pool("wide", "2/3", 12, 8), pool("tall", "1/3", 6, 20)],
    "type": types((2, "7/3", 2, 1), ("5/4", 3, 1, 4), ("2/5", 6, 5, 0)),
}
SCALED = {
    "server": [pool("p", "1/4", "7/2", "10/3"), pool("q", "3/4", "9/2", "8/3")],
    "type": types(("5/3", "3/7", "1/2", "2/3"), (0, 2, "3/2", "1/3"), ("7/11", "9/4", "5/4", 1), ("1/6", 1, 0, 1)),
}
LISTED = {
    "server": [{"configurations": [[2, 0, 1], [0, 3, 0], [1, 1, 1]]}],
    "type": types(("3/2", 2), (1, 1), ("1/2", "5/2")),
}
MIXED = {
    "server": [pool("sum", "1/2", 7), {"name": "list", "share": "1/2", "configurations": [[2, 0], [1, 2]]}],
    "type": types(("3/2", 3, 3), ("4/3", 2, 2)),
}
FULL = {"server": [pool("s", 1, 10, 9)], "type": types((9, 5, 4, 3), (8, 3, 3, 2), (7, 2, 1, 2))}
"""More work than the servers hold: greedy ends when the servers do."""
TIES = {"server": [pool("s", 1, 2, 2)], "type": types((1, 1, 1, 0), (1, 1, 0, 1))}
"""Both types end together."""
IDLE = {"server": [pool("s", 1, 5)], "type": types((0, 1, 2), (0, 1, 3))}
LONG = {
    "server": [pool("s", 1, 9)],
    "type": types((f"{10**97 + 9}/{10**98 + 7}", f"{3**190}/{2**301 + 1}", 4), ("1/3", f"1/{7**110}", 3)),
}
"""Numbers of a hundred digits, whose work counts."""
BRANCHED = {
    "server": [pool("p", "1/2", 97, 113, 61), pool("q", "1/2", 53, 131, 89)],
    "type": types(
        (1, 41, 13, 17, 11), ("1/2", 29, 7, 16, 6), (2, 36, 11, 13, 12), ("1/3", 18, 5, 9, 4), (1, 23, 9, 5, 9)
    ),
}
"""Decisions by the hundred for one configuration, with rewards nearly proportional to demands."""
LEAST = {"server": [pool("big", "1/3", 8), pool("little", "2/3", 5)], "type": types((2, 1, 3), ("1/2", 2, 5))}

ASSIGNMENTS: dict[str, tuple[Document, int | None]] = {
    "one pool": (ONE, 10),
    "two pools": (TWO, 31),
    "scaled units": (SCALED, 7),
    "explicit configurations": (LISTED, 20),
    "both kinds of pools": (MIXED, 5),
    "overload": (FULL, 3),
    "types that end together": (TIES, None),
    "no work": (IDLE, 2),
    "long numbers": (LONG, None),
    "least servers": (LEAST, 6),
    "fewer servers than pools": (TWO, 1),
    "many servers": (TWO, 10**9 + 7),
    "many branches": (BRANCHED, 50),
}

REGIONS: dict[str, tuple[Document, bool]] = {
    "one pool": (FULL, True),
    "two pools": (TWO, True),
    "explicit configurations": (LISTED, True),
    "both kinds of pools": (MIXED, True),
    "one type": ({"server": [pool("s", 1, 5)], "type": types(("3/2", 1, 2))}, True),
    "without facets": (SCALED, False),
    "no work": (IDLE, True),
    "long numbers": (LONG, False),
    "cube": ({"server": [{"configurations": [[1, 1, 1]]}], "type": types(("1/2", 1), ("1/3", 1), ("1/5", 1))}, True),
    "square": ({"server": [{"configurations": [[2, 2]]}], "type": types(("1/2", 1), ("1/3", 1))}, True),
    "many branches": (BRANCHED, False),
    "many facets": ({"server": [pool("s", 1, 13)], "type": types((1, 1, 2), (1, 1, 3), (1, 1, 5), (1, 1, 7))}, True),
}

LAWS: dict[str, tuple[Document, str]] = {
    "atoms": ({"servers": 3, "discrete": {"2/5": "1/3", "3/5": "1/3", "1/7": "1/3"}}, "1/20"),
    "uniform": ({"servers": 2, "uniform": ["1/10", "9/10"]}, "1/5"),
    "to zero": ({"servers": 1, "uniform": ["0", "1/2"]}, "1/2"),
    "mixed": (
        {"servers": 20, "piecewise": [["1/10", "1/5", "1/2"], ["1/3", "1/2", "3/8"], ["7/10", "7/10", "1/8"]]},
        "1/10",
    ),
    "small atoms": ({"servers": 1, "discrete": {"1/17": "1/4", "1/16": "1/4", "1": "1/2"}}, "1/4"),
    "one atom": ({"servers": 7, "discrete": {"1/2": "1"}}, "0"),
}

CLUSTER = {
    "server": [
        {"name": "A", "capacity": {"cpu": 9, "ram": 12, "net": 100}},
        {"name": "B", "capacity": {"cpu": 12, "ram": 12}, "count": 1},
    ],
    "user": [
        {"name": "u", "demand": {"cpu": 1, "ram": 2, "net": 10}},
        {"name": "v", "demand": {"cpu": 1, "ram": 2, "net": 1}},
        {"name": "w", "demand": {"cpu": 1, "ram": 2}, "weight": 2},
    ],
}
CONSTRAINED = {
    "server": [
        {"name": "A", "capacity": {"cpu": 4, "ram": 10}, "count": 3},
        {"name": "B", "capacity": {"cpu": 7, "ram": 5}},
        {"name": "C", "capacity": {"ram": 8}, "count": 2},
    ],
    "user": [
        {"name": "u", "demand": {"cpu": 1, "ram": 2}, "servers": ["A"]},
        {"name": "v", "demand": {"cpu": 2, "ram": "1/2"}, "weight": "3/2"},
        {"name": "w", "demand": {"ram": 3}, "weight": "1/2", "servers": ["B", "C"]},
        {"name": "x", "demand": {"cpu": 3}, "servers": ["A", "B"]},
    ],
}
SINGLE = {
    "server": [{"name": "A", "capacity": {"cpu": 4, "ram": 6}, "count": 2}],
    "user": [{"name": "u", "demand": {"cpu": 1, "ram": 1}}, {"name": "v", "demand": {"ram": 2}, "servers": ["A"]}],
}
EFFECTIVE = {
    "server": [
        {"name": "A", "capacity": {"cpu": 4, "ram": 6}},
        {"name": "B", "capacity": {"cpu": 3, "ram": 3}, "count": 2},
    ],
    "user": [
        {"name": "u", "demand": {"cpu": 1, "ram": 1}, "effective": {"B": {"cpu": 6, "ram": 3}}},
        {"name": "v", "demand": {"cpu": 2, "ram": 1}, "weight": 2, "servers": ["A", "B"]},
        {"name": "w", "demand": {"cpu": 1}, "effective": {"A": {"cpu": "1/2", "ram": 6}}},
    ],
}
ALONE = {
    "server": [
        {"name": "A", "capacity": {"cpu": 20}, "count": 2},
        {"name": "B", "capacity": {"cpu": 15}},
        {"name": "C", "capacity": {"cpu": 18}, "count": 2},
    ],
    "user": [
        {"name": "u", "demand": {"cpu": 1}, "servers": ["A"]},
        {"name": "v", "demand": {"cpu": 4}, "servers": ["C"]},
    ],
}
"""Users who share no server are at one level, by a stage each."""
CLUSTERS = {"plain": CLUSTER, "constrained": CONSTRAINED, "effective": EFFECTIVE, "single": SINGLE, "alone": ALONE}

ONE_SERVER = {
    "server": [{"name": "A", "capacity": {"cpu": 1}}],
    "user": [{"name": "u", "demand": {"cpu": 1}}, {"name": "v", "demand": {"cpu": 1}}],
}
APART = {
    "server": [{"name": "A", "capacity": {"cpu": 1, "ram": 2}}, {"name": "B", "capacity": {"cpu": 3}}],
    "user": [{"name": "u", "demand": {"cpu": 1}, "servers": ["B"]}, {"name": "v", "demand": {"ram": 1}, "weight": 2}],
}
ALLOCATIONS: dict[str, tuple[Document, list[list[Any]]]] = {
    "one resource": (ONE_SERVER, [["3/4"], ["1/4"]]),
    "fair": (ONE_SERVER, [["1/2"], ["1/2"]]),
    "wasteful": (ONE_SERVER, [["1/2"], ["4999/10000"]]),
    "two resources": (APART, [["0", "3"], ["2", "0"]]),
    "too much": (APART, [["0", "7/2"], ["9/4", "0"]]),
    "too much of one": (APART, [["0", "3"], ["3", "0"]]),
    "on wrong servers": (APART, [["1/3", "0"], ["1", "1/5"]]),
}
"""Allocations that are judged, by the evidence that there is but one of."""

KINDS = {
    "server": [pool("little", "1/2", 4, 9), pool("big", "1/2", 10, 16)],
    "type": types((1, 1, 2, 3), (1, 1, 3, 1)),
}
COSTS: dict[str, tuple[Document, list[Offer], list[int], int]] = {
    "both kinds": (KINDS, [Offer(Fraction(4)), Offer(Fraction(9))], [4, 2], 0),
    "a limit": (KINDS, [Offer(Fraction("1/3")), Offer(Fraction(7), 9, 1)], [9, 30], 0),
    "some exist": (KINDS, [Offer(Fraction(4), 3, 2), Offer(Fraction("17/2"))], [5, 7], 1),
    "nothing to hold": (KINDS, [Offer(Fraction(4)), Offer(Fraction(9))], [0, 0], 2),
    "all exist": (KINDS, [Offer(Fraction(0)), Offer(Fraction(3), 4, 4)], [2, 3], 0),
    "explicit sets": (LISTED, [Offer(Fraction(5))], [3, 2, 4], 0),
}
"""Kinds of servers on offer, jobs, and how many of each kind that is used stay in reserve."""

WORST: dict[str, Document] = {
    "two types": {"server": [{"capacity": {"r1": 12}}], "type": types((1, 1, 5), (1, 1, 7))},
    "three types": {"server": [pool("s", 1, 12)], "type": types((1, "1/5", 3), (1, "1/12", 1), (1, "3/7", 7))},
    "two pools": {
        "server": [pool("wide", "2/3", 7), pool("tall", "1/3", 11)],
        "type": types((1, "5/3", 3), (1, "5/2", 4), (1, 2, 5)),
    },
    "explicit sets": {
        "server": [{"configurations": [[2, 0, 1], [0, 3, 0], [1, 1, 1]]}],
        "type": types((1, "4/5"), (1, "2/5"), (1, "1/2")),
    },
    "one type": {"server": [pool("s", 1, 5)], "type": types(("1/9", "1/4", 2))},
    "many branches": {
        "server": [pool("s", 1, 67)],
        "type": types((1, 29, 16), (1, 26, 13), (1, 18, 9), (1, 9, 5)),
    },
}
"""Instances whose types are certified at their worst workload."""
ELSEWHERE: dict[str, list[Any]] = {
    "two types": [1, "1/2"],
    "three types": [1, 1, 1],
    "two pools": [1, "1/2", "3/4"],
    "explicit sets": [1, 1, "1/2"],
}
"""Other workloads, at which greedy keeps more: certificates that claim to be of the worst are false."""


def one_a_bin(items: Any, capacity: Any) -> list[int]:
    """Put every item into a bin of its own."""
    del capacity
    return list(range(len(items)))


def next_fit(items: Any, capacity: Any) -> list[int]:
    """Keep one bin open."""
    bins, free = [0], list(capacity)
    for item in items:
        if any(s > c for s, c in zip(item, free, strict=True)):
            bins, free = [*bins, bins[-1] + 1], list(capacity)
        else:
            bins.append(bins[-1])
        free = [c - s for c, s in zip(free, item, strict=True)]
    return bins[1:]


def first_type(instance: Any) -> list[Any]:
    """Give all servers to the first type that has work."""
    j = next(j for j, rho in enumerate(instance.workload) if rho)
    most = instance.pools[0].space.most(j)
    return [(0, tuple(most if i == j else 0 for i in range(len(instance.types))), Fraction(1))]


def a_third(cluster: Any) -> list[list[Fraction]]:
    """Give every user a third of what it could run alone."""
    return [[x / len(cluster.users) for x in row] for row in cluster.monopoly]


RULES: dict[str, tuple[Any, Any]] = {
    "packing, halves": (Items(((3,), (3,), (3,), (3,)), (6,), (0, 0, 1, 1)), one_a_bin),
    "packing, next fit": (Items(((5,), (6,), (5,), (4,)), (10,), (0, 1, 0, 1)), next_fit),
    "packing, two resources": (Items(((3, 1), (1, 3), (3, 1)), (4, 4), (0, 0, 1)), one_a_bin),
    "packing, nothing": (Items(((2,), (0,), (2,)), (3,), (0, 0, 1)), next_fit),
    "packing, fifths": (Items(((2,),) * 3, (5,), (0, 0, 1)), one_a_bin),
    "rule, one type": (Numbers((12,), ((5,), (7,)), (3, 4), (2, 2), 1), first_type),
    "rule, two resources": (Numbers((6, 4), ((3, 1), (1, 2)), (2, 5), (3, 5), 2), first_type),
    "fair-share, two users": (Shape(((6,), (3,)), ((1,), (2,)), (1, 2), ((True, False), (True, True))), a_third),
    "fair-share, three users": (
        Shape(((4, 9), (2, 9)), ((1, 0), (2, 1), (1, 1)), (1, 1, 3), ((True, True), (False, True), (True, False))),
        a_third,
    ),
}
"""Instances, and what rules do with them."""
JUDGES: dict[type, Any] = {Numbers: judge_assignment, Items: judge_items, Shape: judge_division}


def documents() -> Iterator[tuple[str, Document]]:
    """Yield the names of the corpus and its certificates."""
    for name, (table, servers) in ASSIGNMENTS.items():
        instance = parse_instance(table)
        whole = None
        if servers is not None:
            jobs = [servers * rho for rho in instance.workload]
            whole = (servers, greedy_placement(instance, servers), least_servers(instance, jobs))
        yield f"assignment, {name}", assignment_certificate(solve(instance), whole)
    for name, (table, facets) in REGIONS.items():
        instance = parse_instance(table)
        region = region_facets(instance) if facets else None
        yield f"region, {name}", region_certificate(instance, CapacityProgram(instance).intensity(), region)
    for name, (table, gap) in LAWS.items():
        sizes = parse_sizes({"sizes": table})
        found = throughput_certificate(sizes, bracket(sizes.law, Fraction(gap)), vqs_workload(sizes.law))
        yield f"throughput, {name}", found
    for name, table in CLUSTERS.items():
        cluster = parse_cluster(table)
        for mechanism, allocate in MECHANISMS.items():
            yield f"{mechanism}, {name}", allocation_certificate(cluster, allocate(cluster))
    for name, (table, rows) in ALLOCATIONS.items():
        tasks = [[Fraction(x) for x in row] for row in rows]
        yield f"fairness, {name}", fairness_certificate(judge_given(given(parse_cluster(table), tasks)))
    for name, (table, offers, jobs, spare) in COSTS.items():
        instance = parse_instance(table)
        cheapest = cheapest_servers(instance, offers, [Fraction(n) for n in jobs], spare)
        yield f"cost, {name}", cost_certificate(instance, offers, cheapest, spare)
    for name, table in WORST.items():
        instance = parse_instance(table)
        instance = instance.with_workload(worst_workload(instance).workload)
        solution = solve(instance)
        yield f"worst, {name}", worst_certificate(solution, refutation(instance, solution.ratio))
    for name, (case, rule) in RULES.items():
        yield name, attack_certificate(case, JUDGES[type(case)](rule)(case))


def false_documents() -> Iterator[tuple[str, Document]]:
    """Yield certificates of the kind "worst" at workloads that are not the worst, with the prices for the worst."""
    for name, workload in ELSEWHERE.items():
        instance = parse_instance(WORST[name])
        least = worst_workload(instance).ratio
        solution = solve(instance.with_workload([Fraction(rho) for rho in workload]))
        assert solution.ratio > least
        yield f"worst, {name}", worst_certificate(solution, refutation(instance, least))


def main() -> None:
    """Write the file."""
    lines = []
    for name, document in documents():
        plain = json.loads(json.dumps(document))
        lines.append(json.dumps({"name": name, "certificate": plain}, separators=(",", ":")))
        print(name, len(lines[-1]), file=sys.stderr)
    for name, document in false_documents():
        lines.append(json.dumps({"name": name, "false": document}, separators=(",", ":")))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
