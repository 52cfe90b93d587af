"""The configuration program of many sizes: against enumeration, against the other solver, and by its own proof."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product
from math import inf, lcm

import numpy as np
import pytest

from theory.compiled import plain
from theory.exact.linear import LinearProgram
from theory.partition import pricing, rounded
from theory.partition import stock as module
from theory.partition.pricing import dearest, dearest_once, long_dearest
from theory.partition.rounded import supportable
from theory.partition.stock import Stock, bins, stock


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


@pytest.mark.parametrize("seed", range(5))
def test_both_solvers_of_supportable_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(seed)
    numbers = sorted(generator.sample(range(1, 200), 30))
    sizes = [Fraction(0), *(Fraction(s, 200) for s in numbers)]
    weights = [generator.randint(0, 9) for _ in sizes]
    probabilities = [Fraction(w, sum(weights)) for w in weights]
    first = supportable(sizes, probabilities)
    monkeypatch.setattr(rounded, "MANY", 0)
    second = supportable(sizes, probabilities)
    assert first is not None
    assert second is not None
    assert first.workload == second.workload
    assert sum(x for _, x in second.columns) <= 1
    for j, p in enumerate(probabilities):
        slots = sum(k[j] * x for k, x in second.columns)
        assert slots == (second.workload * p if sizes[j] else 0)
    assert sum(p * y for p, y in zip(probabilities, second.prices, strict=True)) * second.workload == 1


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_long_and_short_tables_agree(seed: int, endless: bool) -> None:
    """Prices shifted by 130 bits are chosen as the prices themselves; Python runs the same path."""
    generator = np.random.default_rng(seed)
    weight = generator.integers(1, 20, 7)
    price = generator.integers(0, 50, 7)
    table = dearest if endless else dearest_once
    value, rows = table(weight, price.astype(float), 40)
    words = np.stack([np.zeros(7, np.int64), price << 6, np.zeros(7, np.int64)], axis=1)
    for run in (long_dearest, plain(long_dearest)):
        row = run(weight, words, 40, endless)
        assert price @ row == value
        assert weight @ row <= 40
        assert endless or row.max() <= 1
    assert (rows @ weight <= 40).all()
    again = plain(table)(weight, price.astype(float), 40)
    assert again[0] == value
    assert (again[1] == rows).all()


@pytest.mark.parametrize("blocks", [32, 5, 3])
@pytest.mark.parametrize("seed", range(6))
def test_sets_of_items_are_best_beside_their_blocks(seed: int, blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is worth as much as the best of all sets that have its item and no other of the block."""
    monkeypatch.setattr(pricing, "BLOCKS", blocks)
    generator = np.random.default_rng(seed)
    weight, price, capacity = generator.integers(1, 30, 9), generator.integers(0, 50, 9).astype(float), 45
    best, rows = plain(dearest_once)(weight, price, capacity)
    every = np.array(list(product((0, 1), repeat=9)))
    every = every[every @ weight <= capacity]
    assert best == (every @ price).max() == rows[-1] @ price
    assert (rows @ weight <= capacity).all()
    for j, row in enumerate(rows[:-1]):
        beside = [i for i in range(9) if i != j and i % blocks == j % blocks]
        fitting = every[(every[:, j] == 1) & (every[:, beside] == 0).all(axis=1)]
        assert row @ price == ((fitting @ price).max() if len(fitting) else 0)
        assert row[j] == (weight[j] <= capacity)


def cut(seed: int, servers: int, capacity: int) -> tuple[list[int], list[int]]:
    """Cut servers into three or four jobs each, all of different sizes where they can be."""
    generator = random.Random(seed)
    jobs: list[int] = []
    for _ in range(servers):
        ends = sorted(generator.sample(range(capacity // 9, 8 * capacity // 9), generator.randint(2, 3)))
        jobs += [b - a for a, b in pairwise([0, *ends, capacity])]
    sizes = sorted(set(jobs))
    return sizes, [jobs.count(size) for size in sizes]


@pytest.mark.parametrize("seed", range(3))
def test_jobs_that_fill_servers_are_proved_by_the_bound_of_divisible_jobs(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, jobs = cut(seed, 60, 5000)
    monkeypatch.setattr(module._Program, "price_exactly", lambda *_: pytest.fail("the bound is proof enough"))
    pair = bins(sizes, jobs, 5000)
    assert pair is not None
    for found, most in zip(pair, (None, jobs), strict=True):
        assert found.servers == 60
        assert found.prices == tuple(Fraction(size, 5000) for size in sizes)
        assert is_proved(found, sizes, jobs, 5000, most)


@pytest.mark.parametrize("seed", range(3))
def test_floats_that_stop_near_the_bound_go_on_to_full_servers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, jobs = cut(seed, 60, 5000)
    costs = []
    charge = module._Program._charge

    def recorded(program: module._Program, empty_cost: int) -> None:
        costs.append(empty_cost)
        charge(program, empty_cost)

    monkeypatch.setattr(module._Program, "_charge", recorded)
    monkeypatch.setattr(module._Program, "price_exactly", lambda *_: pytest.fail("the bound is proof enough"))
    monkeypatch.setattr(module, "CLOSED", 1e-4)
    pair = bins(sizes, jobs, 5000)
    assert pair is not None
    assert costs[0] > 0
    assert costs.count(0) <= 1  # proper configurations begin with the costs of servers, and none goes back to them
    for found, most in zip(pair, (None, jobs), strict=True):
        assert found.servers == 60
        assert is_proved(found, sizes, jobs, 5000, most)


def test_what_servers_leave_empty_has_a_least_amount_whatever_columns_stayed() -> None:
    """With jobs of 3 and 5 in servers of 10, one type to a server, each leaves 1 empty for 3 jobs, and 0 for 2."""
    program = module._Program([3, 5], [2, 2], 10, None, module.CELLS)
    mixed = [i for i, pattern in enumerate(program.patterns) if len(pattern) > 1]
    program.linear.keep_columns(mixed)
    program._keep(mixed)
    program._charge(7)
    assert program.linear.solve_float()[0] / float(program.unit) == pytest.approx(-7 * 2 / 3)


def test_nothing_empty_is_enough_only_where_what_is_empty_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    program = module._Program([3, 5], [2, 2], 10, None, module.CELLS)
    enough: list[float] = []
    monkeypatch.setattr(program.linear.solver, "stop_at", enough.append)
    program._charge(7)
    program._charge(0)
    assert -1e-6 < enough[0] < 0
    assert enough[1:] == [inf]


@pytest.mark.parametrize("empty_cost", [0, 7])
def test_a_program_without_an_optimum_in_floats_ends_without_an_answer(
    empty_cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module._Program([3, 5], [2, 2], 10, None, module.CELLS)
    if empty_cost:
        program._charge(empty_cost)
    monkeypatch.setattr(program.linear.solver, "run", lambda: False)
    monkeypatch.setattr(program, "_tidy", lambda _: pytest.fail("nothing is known of the columns"))
    assert program.solve() is None


def test_a_value_near_the_bound_of_divisible_jobs_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where floats stop at any value, the exact basis does not stand, and the columns go on to the optimum."""
    monkeypatch.setattr(module, "CLOSED", 1.0)
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
    monkeypatch.setattr(module, "KEPT", 1)
    found = stock(sizes, demand, 1000, most)
    assert kept is not None
    assert found is not None
    assert found.servers == kept.servers
    assert is_proved(found, sizes, demand, 1000, most)


@pytest.mark.parametrize("unit", [1, 10**8], ids=["by a table", "by lists"])
def test_prices_that_floats_miss_are_found_exactly(unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with floats that see no gain at all, the exact step alone must still reach the optimum."""
    right = stock([3, 5, 7, 11], [7, 3, 5, 4], 24)
    sizes, demand, capacity = [size * unit for size in (3, 5, 7, 11)], [7, 3, 5, 4], 24 * unit
    monkeypatch.setattr(module, "NEAR", 1e9)
    blind = stock(sizes, demand, capacity)
    assert right is not None
    assert blind is not None
    assert blind.servers == right.servers
    monkeypatch.setattr(module._Program, "price_exactly", lambda *_: False)
    unproved = stock(sizes, demand, capacity)
    assert unproved is not None
    assert unproved.servers > right.servers
    assert unit > 1 or not is_proved(unproved, sizes, demand, capacity, None)
