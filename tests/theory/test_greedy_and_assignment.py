"""Greedy, the optimum, whole servers: definitions, metamorphic relations, and the theorems on random instances."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import ceil

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from bounds.certificates.assignment import assignment_certificate
from bounds.checker import check
from bounds.testing import explicit_instances, instances
from theory.errors import InputError
from theory.exact.columns import generation
from theory.exact.columns.cutting_stock import bins
from theory.exact.knapsack.configurations import feasible, maximal
from theory.exact.knapsack.greatest import max_reward
from theory.greedy.assignment import global_greedy, is_global_greedy, is_permutation_of_proposition_3_1
from theory.greedy.optimal import AssignmentProgram, optimal_assignment, solve
from theory.greedy.pools import apportion
from theory.greedy.servers import MOST_JOBS, greedy_placement, least_servers, lemma_b1_bound
from theory.greedy.workload_scaling import scaling
from theory.instance import Instance, additive, pooled

every_kind = instances(max_pools=3) | explicit_instances()


@given(every_kind)
def test_greedy_meets_its_definitions(instance: Instance) -> None:
    greedy = global_greedy(instance)
    valid = [p for p in permutations(range(len(instance.types))) if is_permutation_of_proposition_3_1(instance, p)]
    assert valid == [greedy.permutation]
    stages = [(stage.configurations, stage.fraction) for stage in greedy.stages]
    assert is_global_greedy(instance, stages)
    for j, served in enumerate(greedy.served):
        assert served == sum(
            f * pool.share * k[j] for ks, f in stages for pool, k in zip(instance.pools, ks, strict=True)
        )
    assert greedy.reward == sum(u * x for u, x in zip(instance.rewards, greedy.served, strict=True))
    if stages:
        assert not is_global_greedy(instance, [(k, f / 2) for k, f in stages])
        assert not is_global_greedy(instance, stages[1:]) or greedy.reward == 0


@given(every_kind)
def test_the_optimum_is_certified_and_greedy_keeps_its_guarantee(instance: Instance) -> None:
    solution = solve(instance)
    greedy, best, u = solution.greedy, solution.optimal, instance.rewards
    primal = sum(
        (c.fraction * sum(a * b for a, b in zip(u, c.configuration, strict=True)) for c in best.columns), Fraction(0)
    )
    dual = sum((a * r for a, r in zip(best.job_prices, instance.workload, strict=True)), Fraction(0))
    dual += sum((g * p.share for g, p in zip(best.server_prices, instance.pools, strict=True)), Fraction(0))
    assert primal == dual == best.reward
    for pool, price in zip(instance.pools, best.server_prices, strict=True):
        values = (sum(b * int(s) for b, s in zip(best.slot_prices, k, strict=True)) for k in feasible(pool.space))
        assert max(values) == price
    assert greedy.guarantee <= greedy.guarantee_stagewise <= solution.ratio <= 1
    n = max(1, len(greedy.stages))
    assert greedy.guarantee >= 1 - (1 - Fraction(1, n)) ** n
    if greedy.serves_all:
        assert solution.ratio == 1


@given(instances(max_pools=2))
def test_column_generation_is_enumeration(instance: Instance) -> None:
    with pytest.MonkeyPatch.context() as patch:
        listed = optimal_assignment(instance).reward
        patch.setattr(generation, "ENUMERATE_BELOW", 0)
        assert optimal_assignment(instance).reward == listed
        patch.setattr(generation.ConfigurationColumns, "_generate", lambda *_: None)  # exact pricing alone
        assert optimal_assignment(instance).reward == listed


@given(instances(max_pools=2))
def test_against_scipy(instance: Instance) -> None:
    width, columns = len(instance.types), [(p, k) for p, pool in enumerate(instance.pools) for k in maximal(pool.space)]
    rows = np.zeros((width + len(instance.pools), width + len(columns)))
    rows[:width, :width] = np.eye(width)
    for i, (p, k) in enumerate(columns):
        rows[:width, width + i] = -k
        rows[width + p, width + i] = 1
    right = np.array([0.0] * width + [float(pool.share) for pool in instance.pools])
    bounds = [(0.0, float(rho)) for rho in instance.workload] + [(0.0, None)] * len(columns)
    cost = [-float(u) for u in instance.rewards] + [0.0] * len(columns)
    peer = linprog(cost, rows, right, bounds=bounds)
    assert float(optimal_assignment(instance).reward) == pytest.approx(-peer.fun, abs=1e-7)


@given(instances(max_pools=2), st.integers(2, 5))
def test_scaling_rewards_and_duplicating_pools_change_nothing(instance: Instance, factor: int) -> None:
    solution = solve(instance)
    scaled = solve(instance.with_rewards([factor * u for u in instance.rewards]))
    assert scaled.ratio == solution.ratio
    halves = [
        (p.share / 2, list(p.space.capacity))
        for p in instance.pools
        for _ in range(2)  # type: ignore[union-attr]
    ]
    demands = instance.pools[0].space.demands  # type: ignore[union-attr]
    twice = solve(pooled(halves, demands, instance.rewards, instance.workload))
    assert twice.greedy.reward == solution.greedy.reward
    assert twice.optimal.reward == solution.optimal.reward


@given(instances(), st.data())
def test_the_optimum_ignores_the_order_of_types(instance: Instance, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(instance.types))))
    assert optimal_assignment(instance.reordered(order)).reward == optimal_assignment(instance).reward


@given(instances())
def test_the_optimum_ignores_the_names_of_types(instance: Instance) -> None:
    named = instance.with_names([f"kind {j}" for j in range(len(instance.types))])
    assert named.names == tuple(f"kind {j}" for j in range(len(instance.types)))
    assert named.with_names(instance.names) == instance
    assert optimal_assignment(named).reward == optimal_assignment(instance).reward


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_names_of_types_are_as_many_and_all_different(names: list[str]) -> None:
    with pytest.raises(InputError, match="names: expected 2 names, all different, got"):
        additive([12], [[5], [7]]).with_names(names)


@given(instances(max_types=3))
def test_warm_and_fresh_agree(instance: Instance) -> None:
    program = AssignmentProgram(instance)
    for factor in (Fraction(1, 3), Fraction(2), Fraction(1)):
        workload = [factor * rho for rho in instance.workload]
        best = optimal_assignment(instance.with_workload(workload)).reward
        assert program.solve(workload).reward == best
        assert program.approximate(workload) == pytest.approx(float(best), abs=1e-7)


def algorithm_1(instance: Instance, servers: int) -> list[tuple[tuple[int, ...], int]]:
    """GPA as the specification writes it, one pool."""
    space, types = instance.pools[0].space, set(range(len(instance.types)))
    left, free, stages = [servers * rho for rho in instance.workload], servers, []
    while types:
        k = max_reward(space, instance.rewards, types)
        need = {j: ceil(max(left[j], 0) / k[j]) for j in sorted(types) if k[j]}
        used = min(free, *need.values())
        left = [amount - used * slots for amount, slots in zip(left, k, strict=True)]
        free -= used
        types.remove(next(j for j in need if need[j] == min(need.values())))
        if used:
            stages.append((k, used))
    return stages


@given(instances() | explicit_instances(), st.integers(1, 60))
def test_greedy_placement_is_algorithm_1(instance: Instance, servers: int) -> None:
    stages = [(stage.configurations[0], stage.servers[0]) for stage in greedy_placement(instance, servers).stages]
    assert stages == algorithm_1(instance, servers)


@given(instances() | explicit_instances())
def test_the_loss_of_greedy_placement_is_bounded_by_lemma_b1(instance: Instance) -> None:
    servers, greedy = 10**6 + 3, global_greedy(instance)
    loss = servers * greedy.reward - greedy_placement(instance, servers).reward
    bound = lemma_b1_bound(instance, greedy)
    assert bound is not None
    assert loss <= bound


def test_greedy_placement_does_lose() -> None:
    instance = additive([12], [[5], [7]])
    greedy = global_greedy(instance)
    assert 7 * greedy.reward - greedy_placement(instance, 7).reward == Fraction(1, 2)
    assert lemma_b1_bound(instance, greedy) == 2 + 3 * 1  # U_1 + (K + 1) U_2, K = 2


@given(instances(max_pools=2, max_types=3), st.integers(1, 30))
def test_least_servers_carry_the_jobs(instance: Instance, servers: int) -> None:
    jobs = [servers * rho for rho in instance.workload]
    least = least_servers(instance, jobs)
    assert least.lower <= least.upper
    for j, amount in enumerate(jobs):
        assert sum(k[j] * n for _, k, n in least.columns) == ceil(amount)
    pools = apportion(least.upper, [pool.share for pool in instance.pools])
    assert all(sum(n for q, _, n in least.columns if q == p) <= have for p, have in enumerate(pools))


def least_bins(sizes: Sequence[int], capacity: int) -> int:
    """Return the least number of bins by trying every place of every item."""

    def placed(waiting: Sequence[int], free: tuple[int, ...]) -> bool:
        if not waiting:
            return True
        size, rest = waiting[0], waiting[1:]
        return any(
            placed(rest, tuple(sorted((*free[:b], free[b] - size, *free[b + 1 :]))))
            for b in range(len(free))
            if free[b] >= size and free[b] not in free[:b]
        )

    return next(n for n in range(len(sizes) + 1) if placed(sorted(sizes, reverse=True), (capacity,) * n))


@given(
    st.integers(14, 60).flatmap(
        lambda capacity: st.tuples(
            st.just(capacity),
            st.lists(st.integers(capacity // 9, capacity * 3 // 4), min_size=1, max_size=6, unique=True),
        )
    ),
    st.data(),
)
@example((29, [5, 6, 11, 14, 19]), None)
@example((50, [10, 16, 17, 25, 26]), None)
def test_least_servers_and_bins_of_counted_jobs_have_one_lower_bound(
    case: tuple[int, list[int]], data: st.DataObject | None
) -> None:
    """Both hold the exact optimum; in the examples a server with two equal jobs would make do with 2 of 3 servers."""
    capacity, sizes = case
    counts = [1] * len(sizes)
    if data is not None:
        counts = data.draw(st.lists(st.integers(1, 2), min_size=len(sizes), max_size=len(sizes)))
    least = least_servers(additive([capacity], [[size] for size in sizes]), [Fraction(n) for n in counts])
    counted = bins(sizes, counts, capacity)
    assert counted is not None
    assert least.lower == ceil(counted[1].servers)
    assert least.priced == ceil(counted[0].servers)
    jobs = [size for size, count in zip(sizes, counts, strict=True) for _ in range(count)]
    if len(jobs) <= 8:
        assert least.lower <= least_bins(jobs, capacity) <= least.upper
    if data is None:
        assert (least.priced, least.lower, least.upper) == (2, 3, 3)


def test_the_stronger_bound_needs_no_other_certificate() -> None:
    """`check` verifies the bound that prices prove over all configurations, which is what the certificate claims."""
    solution = solve(additive([29], [[size] for size in (5, 6, 11, 14, 19)], workload=[1] * 5))
    instance = solution.instance
    least = least_servers(instance, instance.workload)
    document = assignment_certificate(solution, (1, greedy_placement(instance, 1), least))
    assert (least.lower, document["claims"]["servers"]["least"]) == (3, 2)
    check(document)


def test_least_servers_state_their_limit() -> None:
    instance = additive([12], [[5], [7]])
    assert least_servers(instance, [Fraction(MOST_JOBS), Fraction(3)]).lower == MOST_JOBS // 2 + 2  # two jobs a server
    with pytest.raises(InputError, match="at most 100,000,000,000,000 jobs of a type"):
        least_servers(instance, [Fraction(MOST_JOBS + 1), Fraction(3)])


@given(instances(max_pools=2).filter(lambda i: any(i.workload)))
def test_scaling_curves(instance: Instance) -> None:
    curve = scaling(instance)
    for low, high in ((0, 1), (len(curve.scales) - 2, len(curve.scales) - 1)):
        if high < len(curve.scales) and low >= 0:
            middle = (curve.scales[low] + curve.scales[high]) / 2
            there = solve(instance.with_workload([middle * rho for rho in instance.workload]))
            assert there.optimal.reward == (curve.optimal[low] + curve.optimal[high]) / 2
            assert there.greedy.reward == (curve.greedy[low] + curve.greedy[high]) / 2
    assert curve.greedy[0] == curve.optimal[0]
    assert curve.greedy[-1] == curve.optimal[-1]
