"""Six types on one resource: the pairs by sampling, the layers by chains, and what the search leaves to the words."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bounds.adversary.by_size import LEAST_ON_ONE
from bounds.results.instances.families import one_resource_member
from bounds.results.packproof.five_types import best_rewards, lost_by
from bounds.results.packproof.potential import UNIT, added
from bounds.results.packproof.six_types import TANGENT, Boxes, is_attained, layers, pairs
from theory.greedy.optimal import solve
from theory.numbers import total

LOST = 1 - LEAST_ON_ONE[6]


def test_the_instance_attains_the_bound() -> None:
    assert solve(one_resource_member(4, 2)).ratio == LEAST_ON_ONE[6]
    assert is_attained(LOST)


def test_boxes_hold_and_the_last_pair_is_sharp() -> None:
    every = list(pairs())
    assert all(Boxes(pair, LOST).decided() for pair in every)
    assert not Boxes(every[-1], LOST - Fraction(1, 10**9)).decided()


@pytest.mark.slow
def test_pairs_bound_contents_with_these_numbers() -> None:
    """Sizes with n_5 = 3, n_4 = 7 and n_3 from 10 to 15, rewards near a_i = 1/n_i: no content loses more."""
    generator, worst, tried = np.random.default_rng(3), Fraction(0), 0
    capacity = 1_600
    for n3, _ in product((10, 12, 13, 14, 15), range(12)):
        sizes = [capacity // 2 + 1, capacity // 4 + 1, capacity // 8 + 1, capacity // (n3 + 1) + 1]
        room = capacity - sum(sizes)
        second = int(generator.integers(room // 2, room))
        sizes += [second, max(1, room - second)]
        values: list[int] = []
        for size in sizes:  # a job of a type that is exhausted sooner earns a little more for its size
            values.append(int(size * 1000 * (1 + 0.02 * len(values) * generator.random())))
        content = sizes[::-1], values[::-1]
        if sum(sizes) <= capacity:
            tried += 1
            worst = max(worst, lost_by(capacity, *content))
    assert tried > 40
    assert Fraction(1, 4) < worst <= LOST


@pytest.mark.slow
def test_layers_bound_chains_of_so_many_types() -> None:
    """Random chains of l types in half of a server add at most B_l: exact shares of random rewards."""
    tables = layers(16, 16, 6)
    generator, capacity = np.random.default_rng(5), 720
    for count in range(1, 6):
        for _ in range(40):
            sizes, room = [capacity // 2 + 1], capacity // 2 - 1
            for _ in range(count):
                size = max(1, min(room, room // int(generator.integers(1, 4)) + int(generator.integers(0, 2))))
                sizes.append(size)
                room -= size
                if room < 1:
                    break
            values = [max(1, int(100 * size * generator.uniform(0.9, 1.1))) for size in sizes]
            sizes, values = sizes[::-1], values[::-1]
            best, gain = best_rewards(capacity, sizes, values), 0
            for i in range(len(sizes) - 1):
                left = capacity - total(sizes[i + 1 :])
                gain += added(int(left // sizes[i]), Fraction(values[i], best[i]), TANGENT)
            assert gain <= tables[len(sizes) - 2].at(UNIT // 2) + UNIT // 10**9


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 5])
def test_more_types_add_more(count: int) -> None:
    tables = layers(16, 16, 6)
    if count < 5:
        assert tables[count - 1].lost() < tables[count].lost()
    assert tables[count - 1].lost() < Fraction(31, 100)
