"""Every certificate that is written is accepted by the checker, with the budget that users have.

`tests/tools/attacks/written.py` does the same with larger instances, and compares the times of making and verifying.
"""

from __future__ import annotations

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
from theory.instance import Instance
from theory.partition import Law, bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster

ANY = instances(max_types=4, max_resources=3, max_pools=2, max_capacity=60) | explicit_instances()


@settings(max_examples=40)
@given(ANY, st.integers(1, 1000))
def test_of_assignments(instance: Instance, servers: int) -> None:
    solution = solve(instance)
    assert checker.check(assignment_certificate(solution))
    least = least_servers(instance, [servers * rho for rho in instance.workload])
    whole = (servers, greedy_placement(instance, servers), least)
    assert checker.check(assignment_certificate(solution, whole))


@settings(max_examples=30)
@given(ANY)
def test_of_regions(instance: Instance) -> None:
    intensity = CapacityProgram(instance).intensity()
    assert checker.check(region_certificate(instance, intensity))
    assert checker.check(region_certificate(instance, intensity, region_facets(instance)))


@settings(max_examples=20)
@given(ANY)
def test_of_worst_workloads(instance: Instance) -> None:
    worst = instance.with_workload(worst_workload(instance).workload)
    solution = solve(worst)
    assert checker.check(worst_certificate(solution, refutation(worst, solution.ratio)))


@settings(max_examples=100)
@given(clusters(max_users=5, max_servers=4, max_resources=3))
def test_of_shares(cluster: Cluster) -> None:
    for mechanism in MECHANISMS.values():
        assert checker.check(allocation_certificate(cluster, mechanism(cluster)))


@settings(max_examples=30)
@given(size_laws(), st.integers(1, 9))
def test_of_throughputs(law: Law, servers: int) -> None:
    assert checker.check(throughput_certificate(Sizes(law, servers), bracket(law), vqs_workload(law)))
