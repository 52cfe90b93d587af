"""The configuration program of many sizes: against enumeration, by its own proof, and with floats that see nothing."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product
from math import inf, lcm

import pytest

from theory.exact.columns import cutting_stock, generation
from theory.exact.columns.cutting_stock import CuttingStock, Stock, bins, stock
from theory.exact.columns.pricing import Pricing
from theory.exact.knapsack.greatest import CELLS
from theory.exact.programs.linear import LinearProgram


def drawn(seed: int, most: int = 5) -> tuple[list[int], list[int], int]:
    generator = random.Random(seed)
    capacity = generator.randint(6, 30)
    sizes = sorted(generator.sample(range(1, capacity + 1), generator.randint(1, most)))
    return sizes, [generator.randint(1, 6) for _ in sizes], capacity


def triplets(seed: int, groups: int, capacity: int) -> tuple[list[int], list[int]]:
    """Draw jobs in threes that fill a server, each from a quarter to a half of it."""
    generator = random.Random(seed)
    jobs: list[int] = []
    while len(jobs) < 3 * groups:
        a, b = (generator.randint(capacity // 4 + 1, capacity // 2 - 1) for _ in range(2))
        if capacity // 4 < capacity - a - b < capacity // 2:
            jobs += [a, b, capacity - a - b]
    sizes = sorted(set(jobs))
    return sizes, [jobs.count(size) for size in sizes]


def is_proved(found: Stock, sizes: list[int], demand: list[int], capacity: int, most: list[int] | None) -> bool:
    """Decide optimality from the answer alone: the patterns carry the demand, and a table in integers bounds prices."""
    have = [Fraction(0)] * len(sizes)
    for pattern, amount in found.patterns:
        if amount < 0 or sum(sizes[j] * k for j, k in pattern) > capacity:
            return False
        if most is not None and any(k > most[j] for j, k in pattern):
            return False
        for j, k in pattern:
            have[j] += k * amount
    if any(a < d for a, d in zip(have, demand, strict=True)) or sum(x for _, x in found.patterns) != found.servers:
        return False
    unit = lcm(*(price.denominator for price in found.prices))
    best = [0] * (capacity + 1)
    for j, (size, price) in enumerate(zip(sizes, found.prices, strict=True)):
        number = capacity // size if most is None else min(most[j], capacity // size)
        worth = int(price * unit)
        for _ in range(number):
            for c in range(capacity, size - 1, -1):
                best[c] = max(best[c], best[c - size] + worth)
    value = sum(p * d for p, d in zip(found.prices, demand, strict=True))
    return min(found.prices) >= 0 and best[capacity] <= unit and value == found.servers


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_against_enumeration(seed: int, bounded: bool) -> None:
    sizes, demand, capacity = drawn(seed)
    most = demand if bounded else [capacity] * len(sizes)
    ranges = [range(min(capacity // size, number) + 1) for size, number in zip(sizes, most, strict=True)]
    program = LinearProgram([(d, None) for d in demand])
    for k in product(*ranges):
        if any(k) and sum(n * s for n, s in zip(k, sizes, strict=True)) <= capacity:
            program.add_columns([-1], [dict(enumerate(k))])
    found = stock(sizes, demand, capacity, demand if bounded else None)
    assert found is not None
    assert found.servers == -program.solve().objective
    assert is_proved(found, sizes, demand, capacity, demand if bounded else None)


@pytest.mark.parametrize("bounded", [False, True])
def test_many_sizes(bounded: bool) -> None:
    generator = random.Random(1)
    sizes = sorted(generator.sample(range(50, 500), 110))
    demand = [generator.randint(1, 5) for _ in sizes]
    found = stock(sizes, demand, 1000, demand if bounded else None)
    assert found is not None
    assert is_proved(found, sizes, demand, 1000, demand if bounded else None)


def test_triplets_fill_their_servers() -> None:
    sizes, demand = triplets(3, 40, 1000)
    pair = bins(sizes, demand, 1000)
    assert pair is not None
    assert [found.servers for found in pair] == [40, 40]


def cut(seed: int, servers: int, capacity: int) -> tuple[list[int], list[int]]:
    """Cut servers into three or four jobs each, all of different sizes where they can be."""
    generator = random.Random(seed)
    jobs: list[int] = []
    for _ in range(servers):
        ends = sorted(generator.sample(range(capacity // 9, 8 * capacity // 9), generator.randint(2, 3)))
        jobs += [b - a for a, b in pairwise([0, *ends, capacity])]
    sizes = sorted(set(jobs))
    return sizes, [jobs.count(size) for size in sizes]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_jobs_that_fill_servers_are_proved_by_the_bound_of_divisible_jobs(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, jobs = cut(seed, 40, 1500)
    monkeypatch.setattr(CuttingStock, "_add_heavier", lambda *_: pytest.fail("the bound is proof enough"))
    pair = bins(sizes, jobs, 1500)
    assert pair is not None
    for found, most in zip(pair, (None, jobs), strict=True):
        assert found.servers == 40
        assert found.prices == tuple(Fraction(size, 1500) for size in sizes)
        assert is_proved(found, sizes, jobs, 1500, most)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_floats_that_stop_near_the_bound_go_on_to_full_servers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, jobs = cut(seed, 40, 1500)
    costs = []
    charge = CuttingStock._charge

    def recorded(program: CuttingStock, empty_cost: int) -> None:
        costs.append(empty_cost)
        charge(program, empty_cost)

    monkeypatch.setattr(CuttingStock, "_charge", recorded)
    monkeypatch.setattr(CuttingStock, "_add_heavier", lambda *_: pytest.fail("the bound is proof enough"))
    monkeypatch.setattr(cutting_stock, "CLOSED", 1e-4)
    pair = bins(sizes, jobs, 1500)
    assert pair is not None
    assert costs[0] > 0
    assert costs.count(0) <= 1  # proper configurations begin with the costs of servers, and none goes back to them
    for found, most in zip(pair, (None, jobs), strict=True):
        assert found.servers == 40
        assert is_proved(found, sizes, jobs, 1500, most)


def test_what_servers_leave_empty_has_a_least_amount_whatever_columns_stayed() -> None:
    """With jobs of 3 and 5 in servers of 10, one type to a server, each leaves 1 empty for 3 jobs, and 0 for 2."""
    program = CuttingStock([3, 5], [2, 2], 10, CELLS)
    mixed = [column for (_, pattern), column in program._present.items() if len(pattern) > 1]
    program._program.keep_columns(mixed)
    program._renumber(mixed)
    program._charge(7)
    assert program.solve_float() / float(program._unit) == pytest.approx(-7 * 2 / 3)


def test_nothing_empty_is_enough_only_where_what_is_empty_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    program = CuttingStock([3, 5], [2, 2], 10, CELLS)
    enough: list[float] = []
    monkeypatch.setattr(program._program.solver, "stop_at", enough.append)
    program._charge(7)
    program._charge(0)
    assert -1e-6 < enough[0] < 0
    assert enough[1:] == [inf]


@pytest.mark.parametrize("empty_cost", [0, 7])
def test_a_program_without_an_optimum_in_floats_ends_without_an_answer(
    empty_cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = CuttingStock([3, 5], [2, 2], 10, CELLS)
    if empty_cost:
        program._charge(empty_cost)
    monkeypatch.setattr(cutting_stock, "SIMPLEX", 0)
    monkeypatch.setattr(program._program.solver, "run", lambda: False)
    monkeypatch.setattr(program, "_drop_worst", lambda _: pytest.fail("nothing is known of the columns"))
    assert program.solution() is None


def test_a_small_program_without_an_optimum_in_floats_is_solved_in_rationals(monkeypatch: pytest.MonkeyPatch) -> None:
    program = CuttingStock([3, 5], [2, 2], 10, CELLS)
    monkeypatch.setattr(program._program.solver, "run", lambda: False)
    solution = program.solution()
    assert solution is not None
    assert solution.servers == Fraction(5, 3)


def test_a_value_near_the_bound_of_divisible_jobs_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where floats stop at any value, the exact basis does not stand, and the columns go on to the optimum."""
    monkeypatch.setattr(cutting_stock, "CLOSED", 1.0)
    for seed in range(8):
        sizes, demand, capacity = drawn(seed)
        found = stock(sizes, demand, capacity)
        assert found is not None
        assert is_proved(found, sizes, demand, capacity, None)


@pytest.mark.parametrize("bounded", [False, True])
def test_columns_that_leave_do_not_change_the_answer(bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(5)
    sizes = sorted(generator.sample(range(50, 400), 60))
    demand = [generator.randint(1, 5) for _ in sizes]
    most = demand if bounded else None
    kept = stock(sizes, demand, 1000, most)
    monkeypatch.setattr(generation, "STAYING", 1)
    found = stock(sizes, demand, 1000, most)
    assert kept is not None
    assert found is not None
    assert found.servers == kept.servers
    assert is_proved(found, sizes, demand, 1000, most)


@pytest.mark.parametrize("listed", [False, True], ids=["by a table", "by lists"])
def test_prices_that_floats_miss_are_found_exactly(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with floats that see no gain at all, the exact step alone must still reach the optimum."""
    sizes, demand = [3, 5, 7, 11], [7, 3, 5, 4]
    right = stock(sizes, demand, 24)
    monkeypatch.setattr(generation, "GAIN", 1e9)
    pricing = Pricing([CuttingStock(sizes, demand, 24, CELLS)._space], [24] * 4 if listed else None)
    assert bool(pricing._lists) == listed
    blind = CuttingStock(sizes, demand, 24, CELLS)
    blind._pricing = pricing
    priced = blind.solution()
    assert right is not None
    assert priced is not None
    assert priced.servers == right.servers
    monkeypatch.setattr(CuttingStock, "_add_heavier", lambda *_: False)
    unproved = stock(sizes, demand, 24)
    assert unproved is not None
    assert unproved.servers > right.servers
    assert not is_proved(unproved, sizes, demand, 24, None)
