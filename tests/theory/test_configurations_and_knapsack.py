"""Enumeration and MaxReward against brute force from the definition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import wraps
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.results.instances.papers import four_types
from bounds.testing import explicit_instances, instances
from theory.errors import TooLargeError
from theory.exact.columns.pricing import Pricing
from theory.exact.columns.starts import largest_first
from theory.exact.knapsack import greatest as knapsack
from theory.exact.knapsack.configurations import count, feasible, maximal, reduced
from theory.exact.knapsack.greatest import max_reward, max_weight, weight
from theory.exact.knapsack.search import greatest
from theory.exact.knapsack.tables import Grid, grids
from theory.instance import Additive, Instance, additive


def brute(instance: Instance) -> list[tuple[int, ...]]:
    space = instance.pools[0].space
    return [k for k in product(*(range(space.most(j) + 1) for j in range(len(instance.types)))) if space.holds(k)]


@given(instances() | explicit_instances())
def test_feasible_and_maximal(instance: Instance) -> None:
    space, every = instance.pools[0].space, brute(instance)
    assert feasible(space).tolist() == [list(k) for k in every]
    assert count(space) == len(every)
    known = set(every)
    top = [k for k in every if not any((*k[:j], k[j] + 1, *k[j + 1 :]) in known for j in range(len(k)))]
    assert maximal(space).tolist() == [list(k) for k in top]


@settings(max_examples=25)
@given(instances() | explicit_instances(), st.data())
def test_max_reward_is_the_greatest_of_definition_2_2(instance: Instance, data: st.DataObject) -> None:
    space, u = instance.pools[0].space, instance.rewards
    types = data.draw(st.sets(st.integers(0, len(u) - 1)))
    allowed = [k for k in brute(instance) if all(j in types for j, slots in enumerate(k) if slots)]
    assert max_reward(space, u, types) == max(allowed, key=lambda k: (weight(k, u), k))


@given(instances(), st.data())
def test_long_weights_and_branching_agree(instance: Instance, data: st.DataObject) -> None:
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    big = st.integers(0, 3).flatmap(lambda n: st.integers(0, 2 ** (70 * n)))
    weights = data.draw(st.lists(big, min_size=len(instance.types), max_size=len(instance.types)))
    best = max(brute(instance), key=lambda k: (sum(w * s for w, s in zip(weights, k, strict=True)), k))
    assert max_weight(space, weights) == best
    small = reduced(space)
    slots = (
        dict(zip(small.types, greatest(small, [weights[j] for j in small.types]), strict=True)) if small.types else {}
    )
    assert tuple(slots.get(j, 0) for j in range(len(weights))) == best


@pytest.mark.parametrize("nodes", [0, 3, 2000])
def test_a_table_is_made_where_branching_gives_way(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties included: three types of equal value for room, of which Definition 2.2 wants the first."""
    space = additive([60, 40], [[4, 2], [6, 3], [10, 5], [7, 9]]).pools[0].space
    expected = max_weight(space, [4, 6, 10, 11])
    made = []
    monkeypatch.setattr(knapsack, "SMALL_TABLE", 0)
    monkeypatch.setattr(knapsack, "FEW_NODES", nodes)
    table = knapsack._by_table
    monkeypatch.setattr(knapsack, "_by_table", lambda *inputs: made.append(1) or table(*inputs))
    assert max_weight(space, [4, 6, 10, 11]) == expected
    assert bool(made) == (nodes < 2000)


@pytest.mark.parametrize("types", [[0], [0, 1, 2, 3], [1, 3]])
def test_a_short_table_is_left_to_python(types: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same configuration, without compiled code; a longer table takes it all the same."""
    instance = four_types()
    space, expected = instance.pools[0].space, max_reward(instance.pools[0].space, instance.rewards, types)
    calls: list[int] = []

    @wraps(knapsack.best_by_levels)
    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return table(*arguments)

    table = knapsack.best_by_levels
    monkeypatch.setattr(knapsack, "best_by_levels", counted)
    assert max_reward(space, instance.rewards, types, compiled=False) == expected
    assert not calls
    monkeypatch.setattr(knapsack, "SHORT_TABLE", 1)
    assert max_reward(space, instance.rewards, types, compiled=False) == expected
    assert calls


@given(instances(), st.data())
def test_long_weights_take_the_same_table_in_python(instance: Instance, data: st.DataObject) -> None:
    """Weights of 62 bits and their sums with small differences: branch and bound gives way to the table at once."""
    space = instance.pools[0].space
    near = st.builds(lambda n, d: n * 2**62 + d, st.integers(0, 3), st.integers(-1, 1)).map(abs)
    weights = data.draw(st.lists(near, min_size=len(instance.types), max_size=len(instance.types)))
    best = max(brute(instance), key=lambda k: (sum(w * s for w, s in zip(weights, k, strict=True)), k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "FEW_NODES", 0)
        assert max_weight(space, weights) == best


@given(instances(), st.data())
def test_proposals_of_a_table_are_the_best_with_each_type(instance: Instance, data: st.DataObject) -> None:
    """On servers of several sizes at once, some of which hold nothing: those share a table."""
    space, width = instance.pools[0].space, len(instance.types)
    assert isinstance(space, Additive)
    smaller = data.draw(st.lists(st.tuples(*(st.integers(0, c) for c in space.capacity)), max_size=3))
    spaces = [space, *(replace(space, capacity=capacity) for capacity in smaller)]
    prices = np.array(data.draw(st.lists(st.integers(0, 2**20), min_size=width, max_size=width)), float)
    every, servers = np.array(brute(instance)), np.zeros(len(spaces))
    proposed = Pricing(spaces).propose(prices, servers, width)
    for one, rows in zip(spaces, proposed, strict=True):
        assert all(one.holds(tuple(k)) for k in rows.tolist())
        feasible_here = every[[one.holds(tuple(k)) for k in every.tolist()]]
        for j in filter(one.most, range(width)):
            best = (feasible_here[feasible_here[:, j] > 0] @ prices).max()
            assert np.isclose(rows[rows[:, j] > 0] @ prices, best, rtol=1e-9, atol=1e-3).any()
    for rows, few in zip(proposed, Pricing(spaces).propose(prices, servers, 2), strict=True):
        assert few.tolist() == rows[:2].tolist()


def test_servers_share_a_table_where_that_is_less_work() -> None:
    alike = additive([9, 9], [[2, 1], [1, 2]]).pools[0].space
    assert isinstance(alike, Additive)
    crossed = [replace(alike, capacity=capacity) for capacity in ((40, 3), (3, 40))]
    for spaces, tables in (([alike, replace(alike, capacity=(8, 9))], 1), (crossed, 2)):
        assert [len(members) for members, _ in grids(tuple(spaces), 10**9)] == [len(spaces) // tables] * tables


def test_a_resource_that_keeps_a_type_out_of_some_pool_stays() -> None:
    """Where the type fits, the resource never binds; where it does not, the types that fit do not demand it."""
    wide = Additive(("r1", "r2"), (10, 100), ((1, 0), (1, 5)), (Fraction(1), Fraction(1)))
    proposed = Pricing([wide, replace(wide, capacity=(10, 1))]).propose(np.array([1.0, 9.0]), np.zeros(2), 2)
    assert [rows.tolist() for rows in proposed] == [[[0, 10], [1, 9]], [[10, 0]]]
    three = Additive(("r1", "r2", "r3"), (50, 100, 10), ((0, 3, 3), (1, 1, 1)), (Fraction(1),) * 3)
    assert Grid([three, replace(three, capacity=(0, 10, 100))]).demands.tolist() == [[0, 3, 3], [1, 1, 1]]


@given(instances(), st.data())
def test_filling_serves_every_divisible_job(instance: Instance, data: st.DataObject) -> None:
    space, width = instance.pools[0].space, len(instance.types)
    assert isinstance(space, Additive)
    need = [float(data.draw(st.integers(0, 1000))) if space.most(j) else 0.0 for j in range(width)]
    most = data.draw(st.lists(st.integers(1, 5), min_size=width, max_size=width))
    waiting = list(map(Fraction, need))
    for k, amount in zip(*(part.tolist() for part in largest_first(space, need, most, divisible=True)), strict=True):
        assert space.holds(k)
        assert all(waiting[j] > 0 and slots <= most[j] for j, slots in enumerate(k) if slots)
        for j in filter(space.most, range(width)):  # one more of a type that waits does not fit
            more = [slots + (i == j) for i, slots in enumerate(k)]
            assert waiting[j] < 1e-6 or k[j] == most[j] or not space.holds(more)
        exact = min(waiting[j] / slots for j, slots in enumerate(k) if slots)
        assert amount == pytest.approx(float(exact), rel=1e-9)
        waiting = [rest - exact * slots for rest, slots in zip(waiting, k, strict=True)]
    assert not any(waiting)


def first_fit_decreasing(capacity: int, sizes: list[int], need: list[int]) -> int:
    """Count the bins of First-Fit Decreasing, item by item."""
    free: list[int] = []
    for size in sorted((size for size, n in zip(sizes, need, strict=True) for _ in range(n)), reverse=True):
        place = next((b for b, room in enumerate(free) if room >= size), len(free))
        free += [capacity] if place == len(free) else []
        free[place] -= size
    return len(free)


@given(instances(), st.data())
def test_filling_holds_counted_jobs(instance: Instance, data: st.DataObject) -> None:
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    need = [data.draw(st.integers(0, 30)) if space.most(j) else 0 for j in range(len(instance.types))]
    configurations, servers = largest_first(space, need, divisible=False)
    assert all(space.holds(tuple(k)) for k in configurations.tolist())
    assert all(number >= 1 for number in servers.tolist())
    assert (servers @ configurations).tolist() == need


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6, unique=True), st.data())
def test_filling_of_one_resource_is_first_fit_decreasing(sizes: list[int], data: st.DataObject) -> None:
    need = data.draw(st.lists(st.integers(0, 12), min_size=len(sizes), max_size=len(sizes)))
    space = additive([20], [[size] for size in sizes]).pools[0].space
    assert isinstance(space, Additive)
    assert largest_first(space, need, divisible=False)[1].sum() == first_fit_decreasing(20, sizes, need)


def test_one_unit_beyond_64_bits_decides_a_tie() -> None:
    space, half = additive([2], [[2], [1]]).pools[0].space, 2**62 + 2**61 + 1
    for difference, best in ((-1, (0, 2)), (0, (1, 0)), (1, (1, 0))):
        assert max_weight(space, [2 * half + difference, half]) == best


def test_the_papers_four_types() -> None:
    space = four_types().pools[0].space
    assert count(space) == len(feasible(space)) == 12_574
    assert max_reward(space, four_types().rewards) == (16, 3, 10, 1)


def test_too_many_to_enumerate() -> None:
    space = additive([80, 640], [[i % 7 + 1, i] for i in range(1, 31)]).pools[0].space
    with pytest.raises(TooLargeError, match=r"4,716,930,745,311,843 feasible configurations"):
        feasible(space)
    with pytest.raises(TooLargeError, match="configurations"):
        maximal(space)


def test_a_table_too_large_goes_to_branch_and_bound() -> None:
    fine = [[1000 * a + 1, 1024 * b + 3] for a, b in ((1, 1), (4, 16), (2, 32), (32, 256))]
    space = additive([80_000, 655_360], fine).pools[0].space
    u = [Fraction(9, 8), Fraction(6), Fraction(6), Fraction(64)]
    best = max_reward(space, u)
    assert space.holds(best)
    # no single exchange improves it
    for i, j in product(range(4), repeat=2):
        other = list(best)
        other[i] += 1
        other[j] -= other[j] > 0
        assert not space.holds(other) or weight(other, u) <= weight(best, u)
