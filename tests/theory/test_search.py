"""Pricing without a table: branch and bound against enumeration and tables, on grids that are huge or made so."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.testing import instances
from theory.compiled import bound, plain
from theory.errors import TooLargeError
from theory.exact.columns import generation as columns
from theory.exact.columns import pricing
from theory.exact.knapsack import branching, search
from theory.exact.knapsack import greatest as knapsack
from theory.exact.knapsack.configurations import reduced
from theory.exact.knapsack.greatest import max_weight, too_fine
from theory.exact.knapsack.search import allowing
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive, pooled
from theory.region.membership import CapacityProgram

long_weights = st.integers(0, 3).flatmap(lambda n: st.integers(0, 2 ** (40 * n)))
near_ties = st.integers(1, 3).flatmap(lambda n: st.integers(-2, 2).map(lambda d: n * 2**60 + d))


ADVANCE = bound(branching.advance)


def brute(space: Additive, types: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the configurations of some types, in their order."""
    part = replace(space, demands=tuple(space.demands[j] for j in types))
    every = product(*(range(part.most(j) + 1) for j in range(len(types))))
    return [k for k in every if part.holds(k)]


def refined(instance: Instance, generator: random.Random, factor: int = 10**9) -> Instance:
    """Return the same configurations on a grid that is `factor` times as fine and has no common unit.

    Demands grow by less than a tenth of a thousandth of the factor, capacities by what all jobs that fit may add.
    """

    def space(old: Additive) -> Additive:
        jobs = sum(old.most(j) for j in range(len(old.demands)))
        assert jobs * 10 < factor
        return replace(old, capacity=tuple(c * factor + 9 * jobs for c in old.capacity), demands=fine)

    first = instance.pools[0].space
    assert isinstance(first, Additive)
    fine = tuple(tuple(d * factor + generator.randint(0, 9) * bool(d) for d in row) for row in first.demands)
    pools = tuple(replace(p, space=space(p.space)) for p in instance.pools if isinstance(p.space, Additive))
    return replace(instance, pools=pools)


@pytest.fixture(params=[(1, 3), (256, 2_000_000)])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches stop at every row and at every third node, and as they do."""
    monkeypatch.setattr(search, "ROWS", request.param[0])
    monkeypatch.setattr(search, "SLICE", request.param[1])


def drawn(data: st.DataObject, instance: Instance) -> tuple[Additive, list[int], list[tuple[int, ...]]]:
    space, width = instance.pools[0].space, len(instance.types)
    assert isinstance(space, Additive)
    weights = data.draw(st.lists(long_weights | near_ties, min_size=width, max_size=width))
    return space, weights, brute(space, tuple(range(width)))


@pytest.mark.slow
@pytest.mark.usefixtures("steps")
@given(instances(), st.data())
def test_the_greatest_is_that_of_definition_2_2(instance: Instance, data: st.DataObject) -> None:
    space, weights, every = drawn(data, instance)
    small = reduced(space)
    if small.types:
        found = search.greatest(small, [weights[j] for j in small.types])
        best = max(every, key=lambda k: (sum(w * s for w, s in zip(weights, k, strict=True)), k))
        assert knapsack.widened(small, found, len(weights)) == best


@pytest.mark.slow
@pytest.mark.usefixtures("steps")
@settings(max_examples=30)
@given(instances(), st.data())
def test_heavier_ones_are_found_if_there_are_any(instance: Instance, data: st.DataObject) -> None:
    space, weights, every = drawn(data, instance)
    small = reduced(space)
    if not small.types:
        return
    chosen = [weights[j] for j in small.types]
    values = sorted({sum(w * s for w, s in zip(weights, k, strict=True)) for k in every})
    for than in {max(0, values[-1] + d) for d in (-1, 0, 1)} | set(values[-3:]) | {0}:
        found = search.heavier(small, chosen, than)
        worth = [sum(w * s for w, s in zip(chosen, k, strict=True)) for k in found]
        assert all(space.holds(knapsack.widened(small, k, len(weights))) for k in found)
        assert all(value > than for value in worth)
        assert worth == sorted(worth)
        assert bool(found) == (values[-1] > than)


@pytest.mark.slow
@given(instances(), st.data())
def test_short_searches_propose_a_configuration_with_each_type(instance: Instance, data: st.DataObject) -> None:
    space, weights, every = drawn(data, instance)
    small = reduced(space)
    if not small.types:
        return
    paid = [i for i, j in enumerate(small.types) if weights[j]]
    found = search.with_each(small, [weights[j] for j in small.types]) if paid else []
    assert len(found) == len(paid)
    assert all(knapsack.widened(small, k, len(weights)) in every for k in found)
    assert all(any(k[i] for k in found) for i in paid)


@pytest.mark.slow
@settings(max_examples=25)
@given(instances(max_pools=3, max_types=5), st.integers(0, 2**30))
def test_a_finer_grid_changes_nothing(instance: Instance, seed: int) -> None:
    """The same configurations on a grid of thousands of millions have the same answers, columns generated."""
    fine = refined(instance, random.Random(seed))
    for pool in fine.pools:
        assert isinstance(pool.space, Additive)
        small = reduced(pool.space)
        assert not small.types or too_fine(small) or len(small.types) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ENUMERATE_BELOW", 0)
        for given_ in (instance, instance.with_workload([2 * rho + 1 for rho in instance.workload])):
            same = fine.with_workload(given_.workload)
            listed, generated = CapacityProgram(given_), CapacityProgram(same)
            assert generated.intensity().value == listed.intensity().value
            assert generated.headroom() == listed.headroom()
            a, b = solve(given_), solve(same)
            assert a.greedy == b.greedy
            assert a.optimal.reward == b.optimal.reward


@pytest.mark.parametrize("resources", [1, 2, 3])
def test_branching_and_tables_agree(resources: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the middle ground, where both are possible: a dozen types, tens of thousands of levels."""
    generator = random.Random(resources)
    for _ in range(20):
        level = {1: 5000, 2: 200, 3: 35}[resources]
        demands = [[generator.randint(level // 20, level // 2) for _ in range(resources)] for _ in range(12)]
        space = additive([level] * resources, demands).pools[0].space
        weights = [sum(row) * 1000 + generator.randint(0, 999) for row in demands]
        with_ties = [sum(row) for row in demands]
        expected = [max_weight(space, weights), max_weight(space, with_ties)]
        with monkeypatch.context() as patch:
            patch.setattr(knapsack, "TABLE_LIMIT", 0)
            patch.setattr(knapsack, "_by_table", None)
            assert [max_weight(space, weights), max_weight(space, with_ties)] == expected
            worth = sum(w * s for w, s in zip(weights, expected[0], strict=True))
            assert not pricing.heavier(space, weights, worth)
            assert pricing.heavier(space, weights, worth - 1)
            assert pricing.greatest_weight(space, weights, [expected[1]]) == worth


def some_tree(seed: int) -> tuple[np.ndarray, branching.Tree]:
    """Draw a search whose demands have zeros, weights up to the largest allowed, and ties."""
    generator = random.Random(seed)
    n, width, level = generator.randint(1, 7), generator.randint(1, 4), generator.choice([12, 1000, 10**12])
    capacity = [generator.randint(level // 2, level) for _ in range(width)]
    demands = [[generator.randint(0, c // 3) for c in capacity] for _ in range(n)]
    for row, r in zip(demands, range(n), strict=True):
        row[r % width] = max(row[r % width], level // 12)
    top = generator.choice([3, 10**6, 2**branching.BITS // (n * 12 * 2)])
    weights = [generator.randint(0, top) for _ in range(n)]
    tree = branching.new_tree(np.array(capacity), np.array(demands), np.array(weights))
    return np.array(capacity), tree


def test_prices_bound_in_exact_arithmetic() -> None:
    """Every type from a place on costs at least its weight at every price remembered there, whatever was rounded."""
    remembered = 0
    for seed in range(200):
        capacity, tree = some_tree(seed)
        branching.begin(tree, capacity, -1)
        ADVANCE(tree, np.zeros((5000, len(tree.weights)), np.int64), 20_000, True)
        for i, number in enumerate(tree.number.tolist()):
            remembered += number
            for price in tree.prices[i, :number].tolist():
                for demand, weight in zip(tree.demands[i:].tolist(), tree.weights[i:].tolist(), strict=True):
                    assert sum(Fraction(p) * d for p, d in zip(price, demand, strict=True)) >= weight
    assert remembered > 800


def test_python_runs_the_same_path() -> None:
    for seed in range(60, 80):
        capacity, tree = some_tree(seed)
        if capacity.max() > 1000:
            continue
        for rising in (True, False):
            results = []
            for advance in (ADVANCE, plain(branching.advance)):
                _, again = some_tree(seed)
                branching.begin(again, capacity, int(tree.weights.max()))
                rows = np.zeros((40, len(tree.weights)), np.int64)
                results.append((advance(again, rows, 2000, rising), rows.tolist(), again.place.tolist()))
            assert results[0] == results[1]


def test_what_only_fills_resources_is_shown_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of 80 bits that are sums of priced demands: a great many configurations are worth just the bound."""
    generator = random.Random(5)
    demands = [[generator.randint(10, 300) for _ in range(3)] for _ in range(30)]
    small = reduced(additive([10_000, 10_000, 10_000], demands).pools[0].space)
    weights = [2**70 * a + 2**69 * b + 3**40 * c for a, b, c in small.demands]
    bound = 2**70 * small.capacity[0] + 2**69 * small.capacity[1] + 3**40 * small.capacity[2]
    monkeypatch.setattr(search._Search, "above", None)
    assert search.heavier(small, weights, bound) == []
    with pytest.raises(TypeError):
        search.heavier(small, weights, bound - 1)


def balanced(types: int, low: int, high: int, seed: int = 1, pools: int = 1) -> Instance:
    """Draw demands of three resources on servers of about 10,000 units of each, workloads from 0.01 to 1."""
    generator = random.Random(seed)
    demands = [[generator.randint(low, high) for _ in range(3)] for _ in range(types)]
    servers = [(1 + p, [10_000 - 700 * ((p + r) % 3) for r in range(3)]) for p in range(pools)]
    return pooled(servers, demands, workload=[Fraction(generator.randint(1, 100), 100) for _ in demands])


@pytest.mark.parametrize(("types", "low", "high", "pools"), [(15, 100, 3000, 1), (12, 10, 300, 1), (12, 700, 4000, 3)])
def test_answers_on_huge_grids_prove_themselves(types: int, low: int, high: int, pools: int) -> None:
    """Columns are feasible, carry the workload and take `value` servers; prices are as high as one server may hold."""
    instance = balanced(types, low, high, pools=pools)
    answer = CapacityProgram(instance).intensity()
    for p, pool in enumerate(instance.pools):
        assert sum(x for q, _, x in answer.columns if q == p) <= answer.value * pool.share
        assert all(pool.space.holds(k) for q, k, _ in answer.columns if q == p)
    for j, rho in enumerate(instance.workload):
        assert sum(x * k[j] for _, k, x in answer.columns) == rho
    average = sum(
        pool.share * sum(a * b for a, b in zip(answer.prices, max_weight(pool.space, answer.prices), strict=True))
        for pool in instance.pools
    )
    assert answer.support == average
    assert sum(a * rho for a, rho in zip(answer.prices, instance.workload, strict=True)) == answer.value * average


def test_what_is_beyond_the_nodes_is_refused_in_one_line() -> None:
    instance = balanced(30, 100, 3000)
    with allowing(1000), pytest.raises(TooLargeError, match=r"30 types .* gave up after 1,000 nodes; .* \(--nodes\)"):
        max_weight(instance.pools[0].space, [sum(row) for row in instance.pools[0].space.demands])
    with pytest.raises(TooLargeError, match="expected at most 4,611,686,018,427,387,904"):
        max_weight(additive([2**63, 2**64], [[3**39, 5**26], [7**21, 2**60 + 1]]).pools[0].space, [1, 1])
