"""Lists of states: against enumeration and tables, with integers of any length, and with stated limits."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bounds import checker
from bounds.certificates.throughput import throughput_certificate
from theory.compiled import plain
from theory.errors import TooLargeError
from theory.exact.columns.cutting_stock import stock
from theory.exact.knapsack import greatest as knapsack
from theory.exact.knapsack import lists
from theory.exact.knapsack.configurations import Reduced
from theory.exact.knapsack.lists import ListSearch, search_states
from theory.files.sizes import Sizes
from theory.partition import vqs_workload
from theory.partition.bounding import bracket
from theory.partition.laws import Law, discrete


def drawn(seed: int) -> tuple[Reduced, list[int], list[int] | None]:
    """Draw a server, whole weights, and perhaps how many jobs of each type it may hold at most."""
    generator = random.Random(seed)
    capacity = generator.choice([12, 30, 60])
    sizes = [generator.randint(max(1, capacity // 8), capacity) for _ in range(generator.randint(1, 5))]
    most = [generator.randint(1, 4) for _ in sizes] if generator.random() < 0.5 else None
    small = Reduced(tuple(range(len(sizes))), (capacity,), tuple((size,) for size in sizes))
    return small, [generator.randint(0, 30) for _ in sizes], most


def greatest(small: Reduced, weights: list[int], most: list[int] | None) -> int:
    """Return the greatest weight by trying every configuration with as many jobs of the last type as fit."""
    (capacity,), (*sizes, last) = small.capacity, [size for (size,) in small.demands]
    limits = [capacity // size if most is None else min(capacity // size, most[j]) for j, size in enumerate(sizes)]
    best = 0
    for row in product(*(range(limit + 1) for limit in limits)):
        left = capacity - sum(s * k for s, k in zip(sizes, row, strict=True))
        if left >= 0:
            number = left // last if most is None else min(left // last, most[-1])
            best = max(best, sum(w * k for w, k in zip(weights, (*row, number), strict=True)))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1, 3**50], ids=["64 bits", "long"])
def test_the_heaviest_is_found_if_it_is_heavier_than_asked_for(factor: int) -> None:
    above = 0
    for seed in range(200):
        small, weights, most = drawn(seed)
        weights = [factor * w + (w % 3 if factor > 1 else 0) for w in weights]
        best = greatest(small, weights, most)
        search = ListSearch(small, most)
        for than in {0, best * 9 // 10, max(0, best - 1), best, best + 1}:
            answers = search.heavier(weights, than)
            assert bool(answers) == (best > than)
            for k in answers:
                above += 1
                assert sum(w * n for w, n in zip(weights, k, strict=True)) == best
                assert sum(s * n for (s,), n in zip(small.demands, k, strict=True)) <= small.capacity[0]
                assert most is None or all(n <= limit for n, limit in zip(k, most, strict=True))
    assert above > 300


def test_proposals_are_heavier_than_the_target_and_begin_with_the_heaviest() -> None:
    for seed in range(100):
        small, weights, most = drawn(seed)
        best = greatest(small, weights, most)
        rows = ListSearch(small, most).propose(weights, best // 2, 4)
        assert len(rows) <= 4
        assert bool(len(rows)) == (best > best // 2)
        worth = rows @ np.array(weights)
        assert (worth > best // 2).all()
        assert not len(rows) or worth[0] == worth.max() == best
        assert (rows @ np.array(small.demands)[:, 0] <= small.capacity[0]).all()


def test_python_runs_the_same_path() -> None:
    for seed in range(40):
        small, weights, _ = drawn(seed)
        order = np.argsort([-size for (size,) in small.demands], kind="stable")
        sizes, prices = np.array(small.demands)[order, 0], np.array(weights)[order]
        for endless in (False, True):
            arguments = (sizes, prices, small.capacity[0], endless, 5, 10**6)
            states, again = search_states(*arguments), plain(search_states)(*arguments)
            for a, b in zip(states, again, strict=True):
                assert np.array_equal(a, b)


@pytest.mark.slow
def test_tiny_items_beside_large_ones_are_bounded() -> None:
    """Items of less than a level of the capacity: with 5,000 units, those of up to 4."""
    small = Reduced((0, 1, 2), (5000,), ((2999,), (3,), (4,)))
    for weights, most in (([3000, 1, 0], None), ([3000, 1, 2], [1, 3, 2]), ([10, 1, 2], [1, 600, 600])):
        search, best = ListSearch(small, most), greatest(small, weights, most)
        assert search.heavier(weights, best) == []
        assert search.heavier(weights, best - 1)


def test_more_states_than_allowed_are_told() -> None:
    sizes, prices = np.array([7, 5, 3]), np.array([71, 50, 31])
    states = len(search_states(sizes, prices, 100, True, 100, 1000).item)
    assert search_states(sizes, prices, 100, True, 100, states).within
    assert not search_states(sizes, prices, 100, True, 100, states - 1).within


def program(seed: int) -> tuple[list[int], list[int], int]:
    """Draw a configuration program."""
    generator = random.Random(seed)
    capacity = generator.randint(20, 400)
    sizes = sorted(generator.sample(range(max(1, capacity // 12), capacity + 1), generator.randint(1, 12)))
    return sizes, [generator.randint(1, 6) for _ in sizes], capacity


@pytest.mark.parametrize("bounded", [False, True])
def test_lists_and_tables_solve_the_same_program(bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "PASSES", 10**9)  # no limit on the time
    monkeypatch.setattr(knapsack, "LISTED", 0)
    for seed in range(30):
        sizes, demand, capacity = program(seed)
        most = demand if bounded else None
        table = stock(sizes, demand, capacity, most)
        fine = [size * 10**7 for size in sizes]  # the same program on a fine grid, where capacity is to spare
        listed = stock(fine, demand, capacity * 10**7 + 10**6, most, cells=10**6)
        assert table is not None
        assert listed is not None
        assert listed.servers == table.servers
        assert sum(p * d for p, d in zip(listed.prices, demand, strict=True)) == table.servers


def fine_law(types: int, seed: int) -> Law:
    """Draw sizes of 10 to 70 % on a grid of a thousand million."""
    generator = random.Random(seed)
    weights = [generator.randint(1, 100) for _ in range(types)]
    sizes = generator.sample(range(10**8, 7 * 10**8), types)
    return discrete({Fraction(s, 10**9): Fraction(w, sum(weights)) for s, w in zip(sizes, weights, strict=True)})


def test_a_fine_grid_is_exact_and_its_certificate_is_checked() -> None:
    law = fine_law(40, 1)
    bounds = bracket(law, Fraction(0))
    assert bounds.gap == 0
    document = throughput_certificate(Sizes(law, 3), bounds, vqs_workload(law))
    assert document["evidence"]["above"]["grid"] * len(law.atoms) > checker.MAX_CELLS
    assert checker.check(document)["upper"] == document["claims"]["lower"]


@pytest.mark.slow
def test_limits_are_stated() -> None:
    law = fine_law(40, 1)
    assert bracket(law).gap > 0  # not asked for the exact value
    many = fine_law(110, 1)
    assert bracket(many, Fraction(0), most_cells=20, exact_cells=100).gap > 0
    sizes, share = [int(size * 10**9) for size, _ in law.atoms], [p for _, p in law.atoms]
    with pytest.raises(TooLargeError, match="more than 100 cells, of tables or lists of states: allow more"):
        stock(sizes, share, 10**9, [9] * len(sizes), cells=100)
    with pytest.raises(TooLargeError, match="expected at most 1,125,899,906,842,624"):
        stock([2**60 - 1, 2**59 + 3], [1, 1], 2**60, [1, 1])


def test_branch_and_bound_takes_over_where_a_list_is_too_long() -> None:
    law = fine_law(40, 1)
    sizes, share = [int(size * 10**9) for size, _ in law.atoms], [p for _, p in law.atoms]
    exact, short = stock(sizes, share, 10**9), stock(sizes, share, 10**9, cells=100)
    assert exact is not None
    assert short is not None
    assert short.servers == exact.servers
