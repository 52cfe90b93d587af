"""Lists of states: against tables and enumeration, ties that only long integers tell apart, and stated limits."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from bounds import checker
from bounds.certificates.throughput import throughput_certificate
from theory.compiled import plain
from theory.errors import TooLargeError
from theory.files.sizes import Sizes
from theory.partition import stock as module
from theory.partition import vqs_workload
from theory.partition.bounding import bracket
from theory.partition.laws import Law, discrete
from theory.partition.pricing import dearest, dearest_once
from theory.partition.states import jobs_of, undominated, various
from theory.partition.stock import stock


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Draw sizes, whole prices, a capacity, and whether items may be taken without end."""
    generator = random.Random(seed)
    capacity = generator.choice([12, 60, 3000])
    n = generator.randint(1, 7)
    sizes = np.array(sorted((generator.randint(1, capacity) for _ in range(n)), reverse=True), np.int64)
    return sizes, np.array([generator.randint(0, 30) for _ in sizes], np.int64), capacity, generator.random() < 0.5


@pytest.mark.parametrize("limbs", [0, 1, 3])
def test_the_last_set_is_the_most_valuable(limbs: int) -> None:
    above = 0
    for seed in range(300):
        sizes, price, capacity, endless = drawn(seed)
        n = len(sizes)
        words = np.zeros((n, limbs), np.int64)
        words[:, limbs // 2 :][:, :1] = price[:, None]
        best = (dearest if endless else dearest_once)(sizes, price.astype(float), capacity)[0]
        for target in (0.0, 0.9 * best, max(0.0, best - 0.5), best + 0.5):
            made = undominated(sizes, price.astype(float), words, capacity, endless, target, 10**6)
            assert made.within
            assert (np.diff(made.values) > 0).all()
            if best <= target:
                assert not (made.values > target).any()
                continue
            above += 1
            row = jobs_of(made, n)
            assert made.values[-1] == price @ row == best
            assert row @ sizes <= capacity
            assert endless or row.max() <= 1
            rows = various(made.state, made.item, made.parent, np.arange(n), n, 3)
            assert (rows[0] == row).all()
            assert (rows @ sizes <= capacity).all()
    assert above > 300


def test_python_runs_the_same_path() -> None:
    for seed in range(40):
        sizes, price, capacity, endless = drawn(seed)
        given = (sizes, price / 7, price[:, None] << 5, capacity, endless, 1.0, 10**6)
        for a, b in zip(undominated(*given), plain(undominated)(*given), strict=True):
            assert np.array_equal(a, b)


def test_integers_decide_where_floats_cannot() -> None:
    """Two jobs of one size, whose prices differ by 2^-70 of themselves: the dearer is taken, in either order."""
    for dearer in (0, 1):
        words = np.array([[1 << 20, 0], [1 << 20, 0]], np.int64)
        words[dearer, 1] = 1
        made = undominated(np.array([5, 5]), np.array([0.5, 0.5]), words, 11, True, 0.5, 1000)
        assert jobs_of(made, 2)[dearer] == 2


def test_more_states_than_allowed_are_told() -> None:
    sizes, price = np.array([7, 5, 3]), np.array([0.71, 0.5, 0.31])
    words = np.zeros((3, 0), np.int64)
    states = len(undominated(sizes, price, words, 100, True, 1.0, 1000).item)
    assert undominated(sizes, price, words, 100, True, 1.0, states).within
    assert not undominated(sizes, price, words, 100, True, 1.0, states - 1).within


def program(seed: int) -> tuple[list[int], list[int], int]:
    """Draw a configuration program."""
    generator = random.Random(seed)
    capacity = generator.randint(20, 400)
    sizes = sorted(generator.sample(range(max(1, capacity // 12), capacity + 1), generator.randint(1, 12)))
    return sizes, [generator.randint(1, 6) for _ in sizes], capacity


@pytest.mark.parametrize("bounded", [False, True])
def test_lists_and_tables_solve_the_same_program(bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PASSES", 10**9)  # no limit on the time
    for seed in range(30):
        sizes, demand, capacity = program(seed)
        most = demand if bounded else None
        table = stock(sizes, demand, capacity, most)
        fine = [size * 10**7 for size in sizes]  # the same program on a fine grid, where capacity is to spare
        lists = stock(fine, demand, capacity * 10**7 + 10**6, most, cells=10**6)
        assert table is not None
        assert lists is not None
        assert lists.servers == table.servers
        assert sum(p * d for p, d in zip(lists.prices, demand, strict=True)) == table.servers


def fine_law(types: int, seed: int) -> Law:
    """Draw sizes of 10 to 70 % on a grid of a thousand million."""
    generator = random.Random(seed)
    weights = [generator.randint(1, 100) for _ in range(types)]
    sizes = generator.sample(range(10**8, 7 * 10**8), types)
    return discrete({Fraction(s, 10**9): Fraction(w, sum(weights)) for s, w in zip(sizes, weights, strict=True)})


def test_a_fine_grid_is_exact_and_its_certificate_is_checked() -> None:
    law = fine_law(40, 1)
    found = bracket(law, Fraction(0))
    assert found.gap == 0
    document = throughput_certificate(Sizes(law, 3), found, vqs_workload(law))
    assert document["evidence"]["above"]["grid"] * len(law.atoms) > checker.MAX_CELLS
    assert checker.check(document)["upper"] == document["claims"]["lower"]


def test_limits_are_stated() -> None:
    law = fine_law(40, 1)
    assert bracket(law).gap > 0  # not asked for the exact value
    many = fine_law(110, 1)
    assert bracket(many, Fraction(0), most_cells=20, exact_cells=100).gap > 0
    sizes, share = [int(size * 10**9) for size, _ in law.atoms], [p for _, p in law.atoms]
    with pytest.raises(TooLargeError, match="more than 100 cells, of tables or lists of states: allow more"):
        stock(sizes, share, 10**9, cells=100)
    with pytest.raises(TooLargeError, match="expected at most 1,000,000 jobs"):
        stock([1, 3], [1, 1], 10**9)
