"""The non-preemptive scheduling paper on regions and oracles: claims that need no dynamics, and Table 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from bounds import checker
from bounds.certificates.region import region_certificate
from bounds.claims import Evidence, Outcome, Refutes, Verdict, claim
from bounds.results.instances.drawn import additive_space, fits_everywhere, random_instance, random_instances
from bounds.results.nonpreemptive.settings import BOUNDARY, EC2_SERVER, EC2_TYPES
from bounds.results.nonpreemptive.settings import table_1 as ec2
from bounds.results.reproduction import drawing, reproduction
from bounds.views.panels import Cells, Chart, Curve, Panel
from theory.errors import InputError, expect_number
from theory.exact.knapsack import max_weight, maximal, weight
from theory.instance import Additive, Explicit, Instance, Pool, additive, maximal_generators, pooled
from theory.numbers import text, total
from theory.region.facets import region_facets
from theory.region.membership import CapacityProgram
from theory.region.oracles import lemma_6_1, oracle
from theory.region.slices import region_slice
from theory.region.subset import kept_fraction, single_types
from theory.region.worst_case import worst_weights

FOUR_AND_ONE = additive([6], [[4], [1]], workload=["1/4", "1/4"])  # jobs of 4 and of 1 on a server of 6

NOT_EMPTY = tuple((a, b) for a in range(2) for b in range(7) if 0 < 4 * a + b <= 6)
"""Its configurations but the empty one."""


def _servers(count: int, seed: int) -> list[Instance]:
    """Draw servers of one pool that every type fits."""
    return random_instances(np.random.default_rng(seed), count, fits_everywhere)


@claim(
    "region-2",
    "Equation (2) must include the empty configuration",
    "The supportable workloads are the interior of C as (2) prints it, with conv of the configurations other than the "
    "empty one: types of sizes 4 and 1 on a server of capacity 6, workload (1/4, 1/4). Every such configuration has at "
    "least one job, so every point of that hull has at least one job; the empty configuration must belong to it. "
    "Perhaps a misprint, or a loss of the text at hand.",
    source="Equation (2)",
    printed="C of (2) over configurations other than 0; the supportable workloads are its interior",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.number,
    controls={"the empty configuration belongs to the hull": {"configurations": ((0, 0), *NOT_EMPTY)}},
)
def region_2(
    workload: tuple[Fraction, ...] = (Fraction(1, 4), Fraction(1, 4)),
    *,
    configurations: tuple[tuple[int, ...], ...] = NOT_EMPTY,
) -> Outcome:
    """Compare what is supportable with the interior of the hull: the part of C with the least number of jobs."""
    if len(workload) != 2 or min(workload) <= 0:
        raise InputError("workload", f"expected two numbers above 0, got {len(workload)}")
    z, jobs = CapacityProgram(FOUR_AND_ONE).intensity(workload).value, total(workload)
    least = min(map(sum, configurations))
    computed = f"traffic intensity {text(z)}, jobs {text(jobs)}, least number in the hull {least}"
    return Outcome(computed, (z < 1) == (z < 1 and jobs > least))


@claim(
    "maximal-same-hull",
    "Maximal configurations can have a smaller hull",
    "The set of maximal configurations has the same convex hull as the set of all: sizes 4 and 1 on capacity 6. Its "
    "hull is the segment from (1, 2) to (0, 6), which misses (1, 0). True is that it has the same greatest weights.",
    source="Section 6.1",
    printed="the maximal configurations have the same convex hull as all",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.boundary,
    controls={"only functions that grow with every job separate": {"sign": -1}},
)
def maximal_same_hull(*, sign: int = 1) -> Outcome:
    """Find a configuration that a linear function separates from the maximal ones.

    The least number of jobs of a maximal configuration against that of all but the empty one.
    """
    tops = [tuple(map(int, k)) for k in maximal(FOUR_AND_ONE.pools[0].space)]
    assert sorted(tops) == [(0, 6), (1, 2)]
    least = [min(sign * sum(k) for k in rows) for rows in (tops, NOT_EMPTY)]
    computed = f"least jobs: {least[0]} over the maximal {tops}, {least[1]} over all but the empty"
    return Outcome(computed, least[0] == least[1])


@claim(
    "max-weight",
    "Both searches find the greatest weight, on samples",
    "Both ways of Section 6.1 find the greatest weight: the search of maximal configurations, and the recursion "
    "G[u] = max_j G[u - w_j] + Q_j written out as printed, on random servers and queues.",
    source="Section 6.1",
    printed="search the maximal configurations, or G[u] = max_j {G[u - w_j] + Q_j}: r = 1",
    evidence=Evidence.certified,
    full={"count": 400},
    controls={
        "the recursion stops one unit of the first resource early": {"early": 1},
        "the queue of the last type is left out": {"left_out": 1},
    },
)
def max_weight_two_ways(count: int = 40, *, early: int = 0, left_out: int = 0) -> Outcome:
    expect_number(count, "count", 1)
    generator, wrong, servers = np.random.default_rng(61), 0, _servers(count, 61)
    for instance in servers:
        space = additive_space(instance)
        rules = [oracle(space, name) for name in ("maximal", "dynamic-program")]
        queues = generator.integers(0, 50, len(instance.types)).tolist()
        best = weight(max_weight(space, queues), [Fraction(q) for q in queues])
        values = [int(rule(queues) @ np.array(queues)) for rule in rules]
        seen = [*queues[: len(queues) - left_out], *[0] * left_out]
        values.append(_printed_recursion(space, seen, (space.capacity[0] - early, *space.capacity[1:])))
        wrong += any(value != best for value in values)
    return Outcome(f"{len(servers)} servers, {wrong} answers below the greatest weight", wrong == 0)


def _printed_recursion(space: Additive, queues: list[int], capacity: tuple[int, ...]) -> int:
    """Return G[capacity]."""
    best: dict[tuple[int, ...], int] = {}
    for u in product(*(range(c + 1) for c in capacity)):
        before = [
            best[tuple(a - b for a, b in zip(u, demand, strict=True))] + q
            for demand, q in zip(space.demands, queues, strict=True)
            if all(a >= b for a, b in zip(u, demand, strict=True))
        ]
        best[u] = max(before, default=0)
    return best[capacity]


def _with_one_more(space: Additive) -> Fraction:
    """Return Lemma 6.1's ratio for one more job of each type than fit."""
    fits = min(space.most(j) for j in range(len(space.demands)))
    return lemma_6_1(space) / Fraction(fits, fits + 1) * Fraction(fits + 1, fits + 2)


def _without_resources(space: Additive) -> Fraction:
    """Return Lemma 6.1's ratio without the number of resources."""
    fits = min(space.most(j) for j in range(len(space.demands)))
    return Fraction(fits, fits + 1)


@claim(
    "lemma-6.1",
    "A single type attains N/(R(N+1)) of maximum weight",
    "The best configuration of a single type has N / (R (N + 1)) of the greatest weight. Beside the theorem, the "
    "exact infimum over all weights for it, for the greedy rule by relative value and for its refinement, on random "
    "servers of up to three resources, each replayed at weights that come near to it and at random ones.",
    source="Lemma 6.1",
    printed="r = N_f / (R (N_f + 1))",
    evidence=Evidence.formal,
    tiny={"count": 100},
    full={"count": 20_000},
    controls={
        "one more job of each type is claimed to fit": {"bound": _with_one_more},
        "the number of resources is left out": {"bound": _without_resources},
    },
    theorems=("SingleType.single_type_keeps_printed",),
)
def lemma_6_1_holds(count: int = 300, *, bound: Callable[[Additive], Fraction] = lemma_6_1) -> Outcome:
    expect_number(count, "count", 1)
    least: dict[str, Fraction] = {}
    good, generator = True, np.random.default_rng(64)
    servers = _servers(count, 6)
    for instance in servers:
        space = additive_space(instance)
        r = bound(space)  # N / (R (N + 1))
        for name in ("single-type", "relative-value", "refined"):
            worst = worst_weights(space, name)
            good &= worst.ratio >= r and 0 <= _replayed(space, name, worst.weights()) - worst.ratio < Fraction(1, 10**4)
            some = tuple(generator.integers(1, 30, len(instance.types)).tolist())
            good &= _replayed(space, name, some) >= worst.ratio
            least[name] = min(least.get(name, worst.ratio / r), worst.ratio / r)
    computed = f"{len(servers)} servers, least infimum / r: " + ", ".join(
        f"{n} {float(x):.4f}" for n, x in least.items()
    )
    return Outcome(computed, good)


def _replayed(space: Additive, name: str, weights: tuple[int, ...]) -> Fraction:
    """Return the share of the greatest weight that a rule attains at given weights, -1 if its answer does not fit."""
    k = oracle(space, name)(weights).tolist()
    if not space.holds(k):
        return Fraction(-1)
    exact = [Fraction(w) for w in weights]
    return weight(k, exact) / weight(max_weight(space, weights), exact)


@claim(
    "refinement-same-guarantee",
    "Filling residual capacity does not improve the guarantee",
    "Filling the residual capacity does not change the guarantee of the greedy rule by relative value: its infimum "
    "comes as near to N / (R (N + 1)) as one likes, on servers with R resources of c units and types that take "
    "c / (N + 1) + 1 of all of them, or c / (N + 1) of one: N (1 + (N + 1) / c) / (R (N + 1)) exactly.",
    source="Section 6.1",
    printed="the refinement does not change the theoretical result",
    evidence=Evidence.certified,
    full={"scales": (20, 200, 1000)},
    controls={"the first type takes no more than the others, so that one more fits": {"more": 0}},
)
def refinement_same_guarantee(scales: tuple[int, ...] = (20, 200), *, more: int = 1) -> Outcome:
    """Compute the infimum for c = `scale` (N + 1); on three resources with small scales only, for the time it takes."""
    good, nearest = True, Fraction(2)
    for resources, fits, scale in product((1, 2, 3), (1, 2, 3), scales):
        expect_number(scale, "scales", 3)  # with less, fewer jobs of the first type fit
        if resources == 3 and scale > 20:
            continue
        unit = scale * (fits + 1)
        single = [[scale if s == r else 0 for s in range(resources)] for r in range(resources)]
        space = additive_space(additive([unit] * resources, [[scale + more] * resources, *single]))
        infimum = worst_weights(space, "refined").ratio
        r = Fraction(fits, resources * (fits + 1))
        good &= infimum == r * (1 + Fraction(fits + 1, unit)) and lemma_6_1(space) == r
        nearest = min(nearest, infimum / r)
    return Outcome(f"nearest infimum / r: {text(nearest)}", good)


def _with_one_fewer(instance: Instance) -> Instance:
    """Return the single-type configurations with one job fewer where two fit."""
    (pool,) = instance.pools
    rows = [[max(n - 1, min(n, 1)) for n in k] for k in maximal(single_types(instance).pools[0].space).tolist()]
    return Instance(instance.types, (Pool(pool.name, pool.share, Explicit(maximal_generators(rows))),))


@claim(
    "corollary-6.2",
    "Single-type configurations support fraction r of the region",
    "The region of the single-type configurations holds r C for the r of Lemma 6.1: the largest f with f C inside it "
    "is the worst ratio of the rule, which Lemma 6.1 bounds. Beside the proof, f is computed exactly, with the "
    "direction in which nothing more fits, on random servers; over several pools f is at least the least of theirs.",
    source="Corollary 6.2",
    printed="the region of the single-type configurations holds C_r",
    evidence=Evidence.proved,
    proof="regions.md#oracle",
    full={"count": 5_000},
    controls={"the subset has one job fewer where two fit": {"subset": _with_one_fewer}},
)
def corollary_6_2(count: int = 200, *, subset: Callable[[Instance], Instance] = single_types) -> Outcome:
    """Compute f by facets and the ratio by a knapsack."""
    expect_number(count, "count", 1)
    good, least = True, Fraction(9)
    for instance in _servers(count, 62):
        space = additive_space(instance)
        f = kept_fraction(instance, subset(instance)).fraction
        good &= f == worst_weights(space, "single-type").ratio and f >= lemma_6_1(space)
        least = min(least, f)
    generator = np.random.default_rng(63)
    for _ in range(count // 4):
        instance = random_instance(generator, pools=2)
        pools = [additive(p.space.capacity, p.space.demands) for p in instance.pools if isinstance(p.space, Additive)]
        kept = kept_fraction(instance, single_types(instance)).fraction
        good &= kept >= min(worst_weights(additive_space(pool), "single-type").ratio for pool in pools)
    return Outcome(f"{count} servers, least f {text(least)}", good)


@drawing(
    "A server of 6, jobs of 4 and 1: the region C and other hulls",
    "maximal-same-hull",
    "region-2",
    "corollary-6.2",
    height=3.2,
)
def hulls() -> Sequence[Panel]:
    f = kept_fraction(FOUR_AND_ONE, single_types(FOUR_AND_ONE)).fraction
    corners = sorted(region_facets(FOUR_AND_ONE).vertices, key=lambda corner: (corner[0], -corner[1]))

    def boundary(name: str, factor: Fraction | int) -> Curve:
        x, y = ([float(factor * corner[axis]) for corner in corners] for axis in (0, 1))
        return Curve(name, x, y, look="plain")

    large, small = zip((0, 0), *NOT_EMPTY, strict=True)
    curves = [
        Curve("configurations", large, small, look="dots"),
        boundary("outer boundary of C", 1),
        boundary(f"its multiple by f = {f}", f),
        Curve("single types alone", (0, 1), (6, 0), look="plain"),
        Curve("hull of the maximal ones", (0, 1), (6, 2), look="plain"),
        Curve("hull without (0, 0): its lower side", (0, 1), (1, 0), look="plain"),
        Curve("workload (1/4, 1/4)", (0.25,), (0.25,), look="stars"),
    ]
    return [Chart("jobs of size 4 (per server)", "jobs of size 1 (per server)", curves)]


@claim(
    "example-1",
    "Workload (1/2, 4) lies on Example 1's boundary",
    "Example 1, sizes 4 and 1 on capacity 6: (1/2, 4) is on the boundary of the region, as the average of (1, 2) and "
    "(0, 6); 0.89 of it is supportable; while the server holds (1, 2), the small jobs arrive faster than they leave.",
    source="Example 1",
    printed="0.89 x (0.5, 4), less than the average of (1, 2) and (0, 6)",
    evidence=Evidence.certified,
    controls={"the server has one unit more": {"capacity": 7}},
)
def example_1(intensity: Fraction = Fraction(89, 100), capacity: int = 6) -> Outcome:
    instance = additive([capacity], [[4], [1]], workload=["1/2", 4])
    program = CapacityProgram(instance)
    on = program.intensity()
    claims = checker.check(region_certificate(instance, on, region_facets(instance)))
    load = [intensity * rho for rho in instance.workload]
    reduced = program.intensity(load)
    average = sorted((k, x) for _, k, x in on.columns) == [((0, 6), Fraction(1, 2)), ((1, 2), Fraction(1, 2))]
    good = on.value == 1 and average and reduced.value == intensity and reduced.supportable and load[1] > 2
    computed = (
        f"intensity {claims['traffic_intensity']}, {len(claims['facets'])} facets; at {float(intensity):g}: "
        f"{text(reduced.value)}"
    )
    return Outcome(computed, good)


@claim(
    "example-2",
    "Example 2 has traffic intensity 0.89",
    "Example 2, one server each of 1, 2, 4 and 8 units and jobs of 1, 2, 4 and 8 in equal numbers: at load 0.89 the "
    "traffic intensity is 0.89, and at load 1 every job type fills its server.",
    source="Example 2",
    printed="servers and jobs of 1, 2, 4, 8 units, equal rates, traffic load 0.89",
    evidence=Evidence.certified,
    controls={"the server of 4 units has 3": {"capacities": (1, 2, 3, 8)}},
)
def example_2(
    intensity: Fraction = Fraction(89, 100),
    sizes: tuple[int, ...] = (1, 2, 4, 8),
    *,
    capacities: tuple[int, ...] | None = None,
) -> Outcome:
    """Compute the region of one server of each of `capacities`, by default the sizes of the jobs."""
    expect_number(len(sizes), "number of sizes", 1)
    servers, equal = sizes if capacities is None else capacities, Fraction(1, len(sizes))
    instance = pooled([(1, [c]) for c in servers], [[size] for size in sizes], workload=[equal] * len(sizes))
    program = CapacityProgram(instance)
    full = program.intensity()
    at = instance.with_workload([intensity * equal] * len(sizes))
    claims = checker.check(region_certificate(at, program.intensity(at.workload), region_facets(at)))
    units = [tuple(int(i == p) for i in range(len(sizes))) for p in range(len(sizes))]
    alone = len(full.columns) == len(units) and all(k == units[p] for p, k, _ in full.columns)
    good = full.value == 1 and alone and claims["traffic_intensity"] == text(intensity)
    computed = (
        f"intensity {claims['traffic_intensity']}, on the boundary {text(full.value)}; {len(claims['facets'])} facets"
    )
    return Outcome(computed, good)


@claim(
    "table-1",
    "Table 1's rates have traffic intensity exactly 1",
    "The EC2 types of Table 1: the rates [2/3, 11/3, 2/3] to which arrivals are proportional are themselves on the "
    "boundary, of traffic intensity exactly 1, an average of maximal configurations; facets certified.",
    source="Table 1",
    printed="arrival rates proportional to [2/3, 11/3, 2/3], traffic intensity 0.89",
    evidence=Evidence.certified,
    controls={"the server has room for a third job of 1690 GB": {"server": (*EC2_SERVER[:2], 5070)}},
)
def table_1(workload: tuple[Fraction, ...] = BOUNDARY, server: tuple[int, ...] = EC2_SERVER) -> Outcome:
    """Compute the region of `server`: tenths of a GB of memory, tenths of an EC2 unit, GB of storage."""
    instance = additive(server, EC2_TYPES, workload=workload)
    on = CapacityProgram(instance).intensity()
    region = region_facets(instance)
    claims = checker.check(region_certificate(instance, on, region))
    tops = {tuple(map(int, k)) for k in maximal(instance.pools[0].space)}
    good = on.value == 1 and {k for _, k, _ in on.columns} <= tops
    facets = "; ".join(f"{facet.normal} x <= {text(facet.offset)}" for facet in region.outer)
    return Outcome(f"intensity {claims['traffic_intensity']}; {facets}", good)


@reproduction(
    "table-1",
    "the EC2 types, and their region cut through the printed workload",
    printed="types and servers; the workload [2/3, 11/3, 2/3] is on the boundary",
    height=2.2,
)
def table_1_panels() -> Sequence[Panel]:
    names = ("standard", "high-memory", "high-CPU")
    rows = [[f"{m / 10:g} GB", f"{c / 10:g} EC2", f"{s:,} GB"] for m, c, s in (*EC2_TYPES, EC2_SERVER)]
    panels: list[Panel] = [Cells(["memory", "CPU", "storage"], [*names, "server"], rows)]
    instance = ec2(1)
    for i, j in combinations(range(3), 2):
        cut = region_slice(instance, i, j)
        x, y = ([float(point[axis]) for point in cut.vertices] for axis in (0, 1))
        workload = Curve("printed workload", [float(BOUNDARY[i])], [float(BOUNDARY[j])], look="stars")
        across, up = (f"{names[k]} (jobs per server)" for k in (i, j))
        curves = [Curve("boundary of the region", x, y), workload]
        panels.append(Chart(across, up, curves, xlim=(0.0, None), ylim=(0.0, None)))
    return panels
