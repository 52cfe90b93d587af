"""The engines against their references: what they return is what trying everything returns."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.testing import instances
from tests.reference import column_generation, knapsacks, linear_programs
from theory.exact.columns import generation
from theory.exact.columns.cutting_stock import bins
from theory.exact.columns.pricing import heavier
from theory.exact.knapsack.configurations import count, feasible, maximal, reduced
from theory.exact.knapsack.greatest import max_weight
from theory.exact.knapsack.lists import ListSearch
from theory.exact.programs.linear import InfeasibleError, LinearProgram
from theory.instance import Additive, Instance, additive
from theory.region.membership import CapacityProgram


@pytest.mark.parametrize("seed", range(40))
def test_programs(seed: int) -> None:
    generator = random.Random(seed)
    n, m = generator.randint(1, 3), generator.randint(1, 3)

    def drawn() -> Fraction:
        return Fraction(generator.randint(-6, 9), generator.randint(1, 3))

    costs, matrix = [drawn() for _ in range(n)], [[drawn() for _ in range(n)] for _ in range(m)]
    rows = [[(None, b), (-b, b), (b, b), (-b, None)][generator.randrange(4)] for b in (abs(drawn()) for _ in range(m))]
    bounds = [(generator.choice([0, -2]), generator.randint(1, 4)) for _ in range(n)]
    program = LinearProgram(rows)
    entries = [{i: matrix[i][j] for i in range(m)} for j in range(n)]
    program.add_columns(costs, entries, *map(list, zip(*bounds, strict=True)))
    expected = linear_programs.greatest_objective(
        costs, [(a, *pair) for a, pair in zip(matrix, rows, strict=True)], bounds
    )
    if expected is None:
        with pytest.raises(InfeasibleError):
            program.solve()
    else:
        assert program.solve().objective == expected


@pytest.mark.slow
@given(instances(max_types=4), st.data())
def test_knapsack(instance: Instance, data: st.DataObject) -> None:
    space, width = instance.pools[0].space, len(instance.types)
    assert isinstance(space, Additive)
    every = list(knapsacks.configurations(space))
    assert list(map(tuple, feasible(space).tolist())) == every
    assert count(space) == len(every)
    assert list(map(tuple, maximal(space).tolist())) == knapsacks.maximal_configurations(space)
    weights = data.draw(
        st.lists(st.integers(0, 2 ** data.draw(st.sampled_from([5, 40, 90]))), min_size=width, max_size=width)
    )
    best = knapsacks.heaviest(space, weights)
    assert max_weight(space, weights) == best
    bound = knapsacks.value(weights, best) - data.draw(st.integers(0, 3))
    if bound >= 0:
        answers = heavier(space, weights, bound)
        above = knapsacks.heavier_than(space, weights, bound, [10**9] * width)
        assert set(answers) <= set(above)
        assert bool(answers) == bool(above)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4, unique=True), st.integers(30, 60), st.data())
def test_lists(sizes: list[int], capacity: int, data: st.DataObject) -> None:
    space = additive([capacity], [[size] for size in sizes]).pools[0].space
    assert isinstance(space, Additive)
    most = data.draw(st.lists(st.integers(1, 4), min_size=len(sizes), max_size=len(sizes)))
    weights = data.draw(st.lists(st.integers(0, 50), min_size=len(sizes), max_size=len(sizes)))
    bound = data.draw(st.integers(0, 150))
    above = knapsacks.heavier_than(space, weights, bound, most)
    answers = ListSearch(reduced(space), most).heavier(weights, bound)
    assert bool(answers) == bool(above)
    assert all(tuple(k) in above for k in answers)


@pytest.mark.slow
@given(instances(max_types=3, max_pools=2))
def test_columns_of_pools(instance: Instance) -> None:
    spaces = [pool.space for pool in instance.pools if isinstance(pool.space, Additive)]
    shares = [pool.share for pool in instance.pools]
    expected = column_generation.least_servers(spaces, shares, instance.workload)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generation, "ENUMERATE_BELOW", 0)
        assert CapacityProgram(instance).intensity().value == expected


@pytest.mark.parametrize("seed", range(15))
def test_columns_of_counted_jobs(seed: int) -> None:
    generator = random.Random(seed)
    capacity = generator.randint(6, 30)
    sizes = sorted(generator.sample(range(1 + capacity // 8, capacity + 1), generator.randint(1, 4)))
    jobs = [generator.randint(1, 6) for _ in sizes]
    space = additive([capacity], [[size] for size in sizes]).pools[0].space
    assert isinstance(space, Additive)
    space = replace(space, capacity=(capacity,), demands=tuple((size,) for size in sizes))
    pair = bins(sizes, jobs, capacity)
    assert pair is not None
    for found, most in zip(pair, (None, jobs), strict=True):
        assert found.servers == column_generation.least_servers([space], [Fraction(1)], jobs, most)
