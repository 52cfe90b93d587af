"""How fast capacity regions are, beside qhull (floats), PPL, lrs and cdd (exact) in one run, and how the time grows.

Run ``python -m benchmarks.region``; ``--peers`` prints the table of facets beside peers alone, ``--grids`` the
intensities on huge grids (``benchmarks/grids.py``). PPL is timed where pplpy is installed, lrs and cdd where their
programs are found (``tests/foreign/tools.py`` says where). Machines differ: trust the ratios.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.facets import facets_beside_peers
from benchmarks.greedy import exponent, say, seconds
from benchmarks.grids import intensities_on_fine_grids
from benchmarks.hulls import PRIMES, Inequalities, inequalities, ours, ppl, ppl_hull, qhull
from theory.exact.knapsack import count, feasible
from theory.instance import Instance, additive, pooled
from theory.region.membership import CapacityProgram
from theory.region.oracles import RULES, oracle


def facets_by_ppl(instance: Instance) -> Inequalities:
    """Return the facets that the Parma Polyhedra Library finds from all configurations of the only pool."""
    return inequalities(ppl_hull(feasible(instance.pools[0].space)))


def random_servers(number: int, seed: int) -> list[Instance]:
    """Draw servers of two to five types on one to three resources with at most 4,000 configurations."""
    generator = random.Random(seed)
    drawn: list[Instance] = []
    while len(drawn) < number:
        types, resources = generator.randint(2, 5), 1 + len(drawn) % 3
        capacity = [generator.randint(8, 40) for _ in range(resources)]
        demands = [[generator.randint(0, c // 2) for c in capacity] for _ in range(types)]
        if all(map(any, demands)):
            instance = additive(capacity, demands)
            if count(instance.pools[0].space) <= 4000:
                drawn.append(instance)
    return drawn


def compare(
    what: str, mine: Callable[[], object], float_peer: Callable[[], object], exact: Callable[[], object]
) -> None:
    """Time ours from the server's description, the peers from listed configurations."""
    time = seconds(mine)
    say(f"{what}: exact, complete", time, ("qhull (floats)", seconds(float_peer)))
    if ppl is not None:
        say(f"{what}: exact, complete", time, ("PPL", seconds(exact, 3)))


def one_resource(types: int, seed: int, pools: int = 1) -> Instance:
    """Draw sizes of 5 to 50 % of a capacity of about 1000, workloads from 0.01 to 1."""
    generator = random.Random(seed)
    sizes = generator.sample(range(50, 500), types)
    workload = [Fraction(generator.randint(1, 100), 100) for _ in sizes]
    capacities = [(1 + p % 3, [1000 - 7 * p]) for p in range(pools)]
    return pooled(capacities, [[size] for size in sizes], workload=workload)


def two_resources(types: int, seed: int, pools: int = 1) -> Instance:
    """Draw demands of 1 to 32 cores and 1 to 128 GB, servers of 32 to 96 cores and 128 to 384 GB."""
    generator = random.Random(seed)
    demands = [[generator.randint(1, 32), generator.randint(1, 128)] for _ in range(types)]
    capacities = [
        (1 + p % 3, [generator.choice([32, 48, 64, 96]), generator.choice([128, 256, 384])]) for p in range(pools)
    ]
    workload = [Fraction(generator.randint(1, 100), 100) for _ in demands]
    return pooled(capacities, demands, workload=workload)


def distinct_pools(types: int, seed: int, pools: int) -> Instance:
    """Draw demands as `two_resources` does, and servers of which no two pools are equal."""
    generator = random.Random(seed)
    demands = [[generator.randint(1, 32), generator.randint(1, 128)] for _ in range(types)]
    servers = generator.sample([(c, m) for c in range(32, 97, 8) for m in range(128, 385, 64)], pools)
    workload = [Fraction(generator.randint(1, 100), 100) for _ in demands]
    return pooled([(1 + p % 3, server) for p, server in enumerate(servers)], demands, workload=workload)


def main() -> None:
    """Print every figure."""
    if "--grids" in sys.argv:
        folder = sys.argv[sys.argv.index("--against") + 1] if "--against" in sys.argv else None
        intensities_on_fine_grids(None if folder is None else Path(folder))
        return
    if ppl is None:
        print("pplpy is not installed: PPL is not timed (pip install pplpy)")
    facets_beside_peers()
    if "--peers" in sys.argv:
        return
    prime = additive([40], [[p] for p in PRIMES])
    points = feasible(prime.pools[0].space)
    assert len(ours(prime)) == qhull(points) == 17
    what = f"{len(points):,} configurations, 5 types"
    compare(what, lambda: ours(prime), lambda: qhull(points), lambda: ppl_hull(points))

    drawn = random_servers(50, 3)
    listed = [feasible(instance.pools[0].space) for instance in drawn]
    if ppl is not None:
        different = sum(ours(instance) != facets_by_ppl(instance) for instance in (*drawn, prime))
        print(f"50 random servers on 1 to 3 resources, and the one above: {different} differ from PPL")
    compare(
        f"50 random servers, {sum(map(len, listed)):,} configurations",
        lambda: [ours(instance) for instance in drawn],
        lambda: [qhull(rows) for rows in listed],
        lambda: [ppl_hull(rows) for rows in listed],
    )
    large = additive([1000], [[p] for p in PRIMES])
    say(f"{float(count(large.pools[0].space)):.1e} configurations, priced, not listed", seconds(lambda: ours(large), 3))
    pools = pooled([(1, [40]), (2, [29]), (3, [23])], [[p] for p in PRIMES])
    say(f"sum of three pools, 5 types: {len(ours(pools))} facets", seconds(lambda: ours(pools), 3))
    sizes = (3, 4, 5, 6, 7, 8)
    servers = [additive([60], [[p] for p in (2, 3, 5, 7, 11, 13, 17, 19)[:n]]) for n in sizes]
    times = [seconds(lambda i=i: ours(i), 3) for i in servers]
    print(f"growth of facets in the number of types (prime sizes, 60): J^{exponent(sizes, times):.2f}")
    number = (1, 2, 4, 8, 16)
    for types in (3, 5):
        sums = [pooled([(1 + p % 3, [20 + 3 * p]) for p in range(n)], [[p] for p in PRIMES[:types]]) for n in number]
        times = [seconds(lambda i=i: ours(i), 3) for i in sums]
        counts = ", ".join(str(len(ours(i))) for i in sums)
        print(
            f"growth of facets in the number of pools ({types} types; {counts} facets): P^{exponent(number, times):.2f}"
        )

    def intensity(instance: Instance) -> Fraction:
        return CapacityProgram(instance).intensity().value

    types = (25, 50, 100, 200, 400)
    times = []
    for n in types:
        times.append(seconds(lambda n=n: [intensity(one_resource(n, s)) for s in range(3)], 1) / 3)
        say(f"traffic intensity certified, {n} types on one resource (1000)", times[-1])
    print(f"growth of the intensity in the number of types: J^{exponent(types, times):.2f}")
    number = (1, 2, 4, 8, 16, 32)
    times = [seconds(lambda n=n: intensity(one_resource(20, 1, n)), 3) for n in number]
    print(f"growth of the intensity in the number of pools (20 types): P^{exponent(number, times):.2f}")
    for n, p in ((200, 20), (400, 20), (400, 40), (800, 20)):
        for what, drawn_by in (("", two_resources), (" of unequal servers", distinct_pools)):
            say(
                f"traffic intensity certified, {n} types, {p} pools{what}, two resources",
                seconds(lambda n=n, p=p, drawn_by=drawn_by: intensity(drawn_by(n, 1, p)), 1),
            )
        if n <= 400:
            say(
                f"traffic intensity certified, {n} types, {p} pools, one resource",
                seconds(lambda n=n, p=p: intensity(one_resource(n, 1, p)), 1),
            )
    intensities_on_fine_grids()
    generator = np.random.default_rng(1)
    space = additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]).pools[0].space
    queues = generator.integers(0, 1000, (1000, 4))
    for name in RULES:
        rule = oracle(space, name)
        time = seconds(lambda rule=rule: [rule(q) for q in queues], 3) / len(queues)
        say(f"rule {name} on (80, 640), four types, called from Python", time)


if __name__ == "__main__":
    main()
