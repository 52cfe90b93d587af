"""Greedy assignment: its guarantee on random instances, the worst on record, and whole servers."""

from __future__ import annotations

from dataclasses import replace
from math import e

import numpy as np

import packproof
from bounds.adversary import proven_bound
from bounds.results.instances import four_types, random_instance, tight_family, tight_family_additive
from bounds.views import ratios_on_record
from bounds.views.panels import Chart, Curve, Line
from examples import monotone_property, server_pools, worst_rewards
from examples import tight_family as tight_example
from generate.drawn import Drawing, draws

LEAST = Line("1 - 1/e", 1 - 1 / e)
TYPES = "job types J (number)"
RATIO = "greedy reward / optimum (1)"


@draws("packproof/one-resource-not-attained")
def one_resource() -> Drawing:
    """Draw the least ratios on record by number of types, for one resource and for more."""
    record = ratios_on_record()
    types = sorted({J for J, _ in record})
    bound = Curve("1 - (1 - 1/J)^J", types, [float(proven_bound(J)) for J in types], look="plain")
    curves = [
        Curve(
            f"R = {R}",
            [J for J in types if (J, R) in record],
            [float(r) for (_, K), r in sorted(record.items()) if K == R],
        )
        for R in sorted({R for _, R in record})
    ]
    about = "Least ratios on record, by number of types and of resources R"
    return Drawing(about, [Chart(TYPES, RATIO, [*curves, bound], xticks=[(J, str(J)) for J in types])])


def _cloud(title: str, **kind: object) -> Drawing:
    """Draw ratio against guarantee for 300 random instances: no point is below the diagonal."""
    generator = np.random.default_rng(9)
    points = []
    while len(points) < 300:
        solution = packproof.solve(random_instance(generator, **kind))  # type: ignore[arg-type]
        if solution.optimal.reward:
            greedy = solution.greedy
            points.append((float(max(greedy.guarantee, greedy.guarantee_stagewise)), float(solution.ratio)))
    x, y = zip(*sorted(points), strict=True)
    curves = [
        Curve("random instances", x, y, look="dots"),
        Curve("ratio = guarantee", (0.6, 1), (0.6, 1), look="plain"),
    ]
    chart = Chart("guarantee read off the greedy run (1)", RATIO, curves, [LEAST])
    return Drawing(title, [chart], height=2.9)


@draws("packproof/always-1-1/e", "autoscaling/thm-3.7")
def any_workload() -> Drawing:
    """Draw instances of one pool."""
    return _cloud("One pool, any workload: the ratio is at least the guarantee")


@draws("autoscaling/thm-3.9")
def exact_fit() -> Drawing:
    """Draw instances whose workload fits exactly."""
    return _cloud("One pool, workloads that fit the servers exactly", exact_fit=True)


@draws("packproof/pools")
def pools() -> Drawing:
    """Draw instances of three pools."""
    return _cloud("Three pools of servers, filled at once", pools=3)


@draws("autoscaling/prop-3.5", "autoscaling/corollary-3.6")
def whole_servers() -> Drawing:
    """Draw how far the ratio of integer placement is from that of the assignment, and how far it may be."""
    instance, sizes = four_types(("1/3", "2/7", 3, 2)), [10**n for n in range(1, 9)]
    solution, errors, allowed = packproof.solve(instance), [], []
    greedy, best = solution.greedy, solution.optimal.reward
    loss = packproof.lemma_b1_bound(instance, greedy)
    for servers in sizes:
        reward = packproof.greedy_placement(instance, servers).reward
        errors.append(float(abs(reward / (servers * best) - greedy.reward / best)))
        allowed.append(float(loss / (servers * best)))
    curves = [Curve("bound of Lemma B.1", sizes, allowed, look="plain"), Curve("four VM types", sizes, errors)]
    chart = Chart("servers L (number)", "difference of the ratios (1)", curves, xscale="log", yscale="log")
    return Drawing("Greedy placement on whole servers: its ratio tends to that of the assignment", [chart])


@draws("autoscaling/prop-3.10", "packproof/tight")
def tight() -> Drawing:
    """Draw the family of the example, and that of the paper."""
    types = range(2, 7)
    additive, printed = (
        [packproof.solve(family(J)).ratio for J in types] for family in (tight_family_additive, tight_family)
    )
    chart, ratios = tight_example.panel(additive), [float(one) for one in printed]
    curves = [*chart.curves, Curve("family of Proposition 3.10", types, ratios, look="marks")]
    return Drawing(tight_example.TITLE, [replace(chart, curves=curves)])


@draws("packproof/sequential-pools")
def one_after_another() -> Drawing:
    """Draw the rewards of the example."""
    return Drawing(server_pools.TITLE, [server_pools.panel()], height=1.2)


@draws("autoscaling/def-3.8-three-types")
def not_monotone() -> Drawing:
    """Draw the rewards of the example."""
    return Drawing(monotone_property.TITLE, [monotone_property.panel()])


@draws("packproof/worst-rewards")
def worst_rewards_too() -> Drawing:
    """Draw the ratios of the example."""
    return Drawing(worst_rewards.TITLE, [worst_rewards.panel()])
