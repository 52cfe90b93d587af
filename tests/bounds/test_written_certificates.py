"""Every certificate that is written is accepted by the checker.

`tests/tools/attacks/written.py` does the same with larger instances, and compares the times of making and verifying.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import checker
from bounds.adversary import refutation, worst_workload
from bounds.certificates import (
    allocation_certificate,
    assignment_certificate,
    region_certificate,
    throughput_certificate,
    worst_certificate,
)
from bounds.testing import clusters, explicit_instances, instances, size_laws
from theory.files.sizes import Sizes
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.instance import Instance, pooled
from theory.numbers import text
from theory.partition import Law, bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster

ANY = instances(max_types=4, max_resources=3, max_pools=2, max_capacity=60) | explicit_instances()


@pytest.mark.slow
@settings(max_examples=20)
@given(ANY, st.integers(1, 1000))
def test_of_assignments(instance: Instance, servers: int) -> None:
    solution = solve(instance)
    assert checker.check(assignment_certificate(solution))
    least = least_servers(instance, [servers * rho for rho in instance.workload])
    whole = (servers, greedy_placement(instance, servers), least)
    assert checker.check(assignment_certificate(solution, whole))


@st.composite
def few_servers(draw: st.DrawFn) -> tuple[Instance, int]:
    """Draw pools of very unlike shares and sizes, and a number of servers that leaves some pools without any."""
    pools = draw(st.lists(st.tuples(st.integers(1, 9), st.tuples(st.integers(1, 6))), min_size=2, max_size=4))
    largest = max(capacity for _, (capacity,) in pools)
    demands = draw(st.lists(st.tuples(st.integers(1, largest)), min_size=1, max_size=3))
    rewards, workload = (draw(st.tuples(*[st.integers(low, 9)] * len(demands))) for low in (1, 0))
    return pooled(pools, demands, rewards, workload), draw(st.integers(1, 6))


@pytest.mark.slow
@settings(max_examples=40)
@given(few_servers())
def test_of_pools_without_a_server(case: tuple[Instance, int]) -> None:
    """Placement may end with servers that are free, as no type that waits fits them; its reward is that of a replay."""
    instance, servers = case
    placement = greedy_placement(instance, servers)
    least = least_servers(instance, [servers * rho for rho in instance.workload])
    claims = checker.check(assignment_certificate(solve(instance), (servers, placement, least)))
    assert claims["servers"]["greedy"] == text(placement.reward)
    fitting = [
        rho
        for j, rho in enumerate(instance.workload)
        if any(pool.space.most(j) for pool, number in zip(instance.pools, placement.servers, strict=True) if number)
    ]
    assert (placement.reward > 0) == any(fitting), "what fits a server of a pool that has one is placed"


@settings(max_examples=30)
@given(ANY)
def test_of_regions(instance: Instance) -> None:
    intensity = CapacityProgram(instance).intensity()
    assert checker.check(region_certificate(instance, intensity))
    assert checker.check(region_certificate(instance, intensity, region_facets(instance)))


@pytest.mark.slow
@settings(max_examples=20)
@given(ANY)
def test_of_worst_workloads(instance: Instance) -> None:
    worst = instance.with_workload(worst_workload(instance).workload)
    solution = solve(worst)
    assert checker.check(worst_certificate(solution, refutation(worst, solution.ratio)))


@pytest.mark.slow
@settings(max_examples=40)
@given(clusters(max_users=5, max_servers=4, max_resources=3))
def test_of_shares(cluster: Cluster) -> None:
    for mechanism in MECHANISMS.values():
        assert checker.check(allocation_certificate(cluster, mechanism(cluster)))


@settings(max_examples=30)
@given(size_laws(), st.integers(1, 9))
def test_of_throughputs(law: Law, servers: int) -> None:
    assert checker.check(throughput_certificate(Sizes(law, servers), bracket(law), vqs_workload(law)))
