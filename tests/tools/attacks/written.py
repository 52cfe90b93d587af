"""Certificates of random instances, clusters and laws: the checker must accept all that is written, within its limits.

Verifying may not take longer than making, beyond what starting takes: a certificate that is dear to verify convinces
nobody.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any

from bounds import checker
from bounds.adversary import refutation, worst_workload
from bounds.certificates import (
    allocation_certificate,
    assignment_certificate,
    cost_certificate,
    fairness_certificate,
    region_certificate,
    throughput_certificate,
    worst_certificate,
)
from tests.tools.attacks.report import Report
from theory.errors import TooLargeError
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
Case = tuple[str, Callable[[], Document]]
START = 2.0
"""Seconds that verifying may take beyond making, which starts a process of its own and loads its libraries."""
SIMPLICES = 4000
"""Most simplices for which facets are made."""


def random_instance(draw: random.Random, most: int) -> Document:
    """Return an instance of up to `most` types and three resources, with rewards of three kinds."""
    width = draw.randint(1, 3)
    capacity = [draw.choice(sizes) for sizes in ((48, 64, 80, 96, 128), (192, 256, 384, 512, 640), (100, 375, 1000))]
    part, kind = draw.choice([2, 3, 4, 6]), draw.randrange(3)
    types = []
    for j in range(draw.randint(1, most)):
        demand = [draw.randint(1, capacity[r] // part) for r in range(width)]
        if width > 1 and draw.random() < 0.2:
            demand[draw.randrange(width)] = 0
        proportional = sum(Fraction(d, c) for d, c in zip(demand, capacity, strict=False))
        reward = (draw.randint(1, 50), Fraction(draw.randint(1, 200), draw.randint(1, 20)), proportional)[kind]
        workload = Fraction(draw.randint(0, 20), draw.randint(1, 6))
        needs = {f"r{r}": d for r, d in enumerate(demand) if d}
        types.append({"name": f"t{j}", "reward": str(reward), "workload": str(workload), "demand": needs})
    pools = draw.choice([1, 1, 2, 3])
    rooms = [{f"r{r}": c * (p + 1) for r, c in enumerate(capacity[:width])} for p in range(pools)]
    servers: list[Document] = [
        {"name": f"s{p}", "share": f"1/{pools}", "capacity": room} for p, room in enumerate(rooms)
    ]
    if pools > 1 and draw.random() < 0.3:
        tops = [[draw.randint(0, 4) for _ in types] for _ in range(draw.randint(1, 6))]
        servers[-1] = {"name": "list", "share": f"1/{pools}", "configurations": [*tops, [1] * len(types)]}
    return {"server": servers, "type": types}


def instance_cases(draw: random.Random, most: int, few: int) -> Iterator[Case]:
    """Yield the certificates of one random instance of up to `most` types; facets and orders where they are `few`."""
    instance = parse_instance(random_instance(draw, most))
    servers = draw.choice([1, 7, 100, 1000])

    def on_servers() -> Document:
        whole = (
            servers,
            greedy_placement(instance, servers),
            least_servers(instance, [servers * rho for rho in instance.workload]),
        )
        return assignment_certificate(solve(instance), whole)

    def of_worst() -> Document:
        at_worst = instance.with_workload(worst_workload(instance).workload)
        solution = solve(at_worst)
        return worst_certificate(solution, refutation(at_worst, solution.ratio))

    def of_region(facets: bool) -> Document:
        boundary = region_facets(instance, limit=SIMPLICES) if facets else None
        return region_certificate(instance, CapacityProgram(instance).intensity(), boundary)

    offers = [
        Offer(Fraction(draw.randint(1, 40), draw.randint(1, 3)), None, draw.choice([0, 0, 2])) for _ in instance.pools
    ]
    jobs, spare = [Fraction(draw.randint(0, 40)) for _ in instance.types], draw.choice([0, 0, 1])

    def of_cost() -> Document:
        return cost_certificate(instance, offers, cheapest_servers(instance, offers, jobs, spare), spare)

    yield "cost", of_cost
    yield "assignment", lambda: assignment_certificate(solve(instance))
    yield "assignment on servers", on_servers
    yield "region", lambda: of_region(False)
    if len(instance.types) <= few:
        yield "region with facets", lambda: of_region(True)
        yield "worst", of_worst


def cluster_cases(draw: random.Random) -> Iterator[Case]:
    """Yield the certificates of all mechanisms on one random cluster, and of allocations that no mechanism made."""
    width, classes = draw.randint(1, 3), draw.randint(1, 5)
    servers: list[Document] = [
        {"name": f"s{i}", "capacity": {f"r{r}": draw.randint(2, 30) for r in range(width)}, "count": draw.randint(1, 3)}
        for i in range(classes)
    ]
    users = []
    for n in range(draw.randint(1, 6)):
        demand = {f"r{r}": draw.randint(0, 6) for r in range(width)}
        demand["r0"] = demand["r0"] or int(not any(demand.values()))
        user: Document = {"name": f"u{n}", "demand": demand, "weight": draw.choice([1, 1, 2, "3/2"])}
        if draw.random() < 0.5:
            user["servers"] = [f"s{i}" for i in sorted(draw.sample(range(classes), draw.randint(1, classes)))]
        users.append(user)
    cluster = parse_cluster({"server": servers, "user": users})
    for name, mechanism in MECHANISMS.items():
        yield name, lambda mechanism=mechanism: allocation_certificate(cluster, mechanism(cluster))  # type: ignore[misc]
    fair = MECHANISMS["tsf"](cluster).tasks
    for name, least, most in (("a fair one", 1, 1), ("tasks that fit", 0, 1), ("tasks beyond capacity", 0, 3)):
        tasks = [[x * Fraction(draw.randint(6 * least, 6 * most), 6) for x in row] for row in fair]
        yield name, lambda tasks=tasks: fairness_certificate(judge_given(given(cluster, tasks)))  # type: ignore[misc]


def law_cases(draw: random.Random) -> Iterator[Case]:
    """Yield the certificate of one random law of sizes."""
    grid, n = draw.choice([20, 97, 1000]), draw.randint(1, 12)
    low = draw.randint(1, grid // 4)
    if draw.random() < 0.3:
        table: Document = {"uniform": [str(Fraction(low, grid)), str(Fraction(draw.randint(grid // 2, grid), grid))]}
    else:
        sizes = [Fraction(draw.randint(low, grid), grid) for _ in range(n)]
        table = {"discrete": {str(x): str(Fraction(sizes.count(x), n)) for x in sizes}}
    given = parse_sizes({"sizes": {**table, "servers": draw.randint(1, 9)}})
    gap = draw.choice([Fraction(0), Fraction(1, 100), Fraction(1, 10)]) if not given.law.pieces else Fraction(1, 20)
    yield "throughput", lambda: throughput_certificate(given, bracket(given.law, gap), vqs_workload(given.law))


def attack_written(small: bool, seed: int, seconds: float | None = None, most: int = 10**9) -> Report:
    """Write certificates until the time is up, and let the checker verify them within the limits that users have.

    Parameters
    ----------
    small : bool
        40 seconds in place of ten minutes, and facets and orders of fewer types: some take minutes to make.
    seed : int
        Of the instances; how many there are depends on the machine.
    seconds : float, optional
        Another time.
    most : int
        Certificates after which it ends, too.
    """
    draw, report = random.Random(seed), Report()
    end = time.monotonic() + (seconds or (40 if small else 600))
    for i in count():
        kinds = (
            lambda: instance_cases(draw, 8, 5 if small else 7),
            lambda: cluster_cases(draw),
            lambda: law_cases(draw),
        )
        for kind, make in kinds[i % 3]():
            if time.monotonic() > end or report.outcomes["accepted"] >= most:
                return report
            start = time.process_time()
            try:
                document = make()
            except TooLargeError:
                report.outcomes["not made"] += 1
                continue
            made, what = time.process_time() - start, f"{kind}, case {i}"
            start = time.process_time()
            try:
                checker.check(document)
            except Exception as reason:
                report.wrong.append(f"{what}: {type(reason).__name__}: {reason}"[:300])
            else:
                report.outcomes["accepted"] += 1
            verified = time.process_time() - start
            report.took(verified, what)
            if verified > made + START:
                report.wrong.append(f"{what}: verified in {verified:.1f} s, made in {made:.1f} s")
    raise AssertionError("the count never ends")
