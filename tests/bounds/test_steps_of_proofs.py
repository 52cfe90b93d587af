"""Single steps of proofs in words, on instances: what greedy loses, and the fair division of one server."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bounds.results.instances import one_resource_family, one_resource_inserted
from bounds.results.packproof.existence import divided
from bounds.results.packproof.five_types import BY_HAND, Cases, lost_by, two_types_hold
from bounds.results.packproof.one_resource import is_in_a_case
from theory.greedy.optimal import solve
from theory.instance import additive
from theory.numbers import total
from theory.sharing.model import cluster


def test_what_greedy_loses_is_bounded_by_averages() -> None:
    """U* - U^(g) <= U_J (sum_i u_i y_i / U_i - 1) where each stage exhausts one type, on one resource or several."""
    generator, bounded = np.random.default_rng(3), 0
    instances = [one_resource_family(types) for types in (2, 3, 4)]
    for _ in range(150):
        types, resources = int(generator.integers(2, 5)), int(generator.integers(1, 3))
        capacity, demands = [24] * resources, generator.integers(3, 13, (types, resources)).tolist()
        rewards = [Fraction(int(generator.integers(80, 120)) * sum(row), 100) for row in demands]
        workload = [Fraction(int(generator.integers(1, 8)), 4) for _ in range(types)]
        instances.append(additive(capacity, demands, rewards, workload))
    for instance in instances:
        solution = solve(instance)
        greedy, optimal = solution.greedy, solution.optimal
        if greedy.serves_all or len(greedy.stages) < len(instance.types):
            continue
        averages = total(
            instance.rewards[j] * optimal.served[j] / stage.reward
            for j, stage in zip(greedy.permutation, greedy.stages, strict=True)
        )
        bounded += 1
        assert optimal.reward - greedy.reward <= greedy.stages[-1].reward * (averages - 1)
    assert bounded > 10


def test_a_content_outside_of_all_cases_is_noticed() -> None:
    assert is_in_a_case((4, 3, 1), (1, 1, 1))
    assert not is_in_a_case((3, 3, 1), (1, 1, 1))  # it takes more than a server


def test_what_one_server_loses_is_attained_and_never_more_than_proved() -> None:
    """Sizes and rewards at random, against the three numbers of the proof; the families attain them."""
    lost = {3: Fraction(7, 24), 4: Fraction(101, 336), 5: Fraction(248, 819)}
    family = {5: one_resource_inserted(5), 4: one_resource_family(4), 3: one_resource_family(3)}
    generator = np.random.default_rng(11)
    for types, most in lost.items():
        space = family[types].pools[0].space
        sizes = [row[0] for row in space.demands]
        values = [int(u / min(family[types].rewards)) for u in family[types].rewards]
        assert lost_by(space.capacity[0], sizes, values) == most
        assert lost_by(space.capacity[0] + 1, sizes, values) < most
        for _ in range(60):
            sizes = generator.integers(1, 2 ** (types + 1), types).tolist()
            values = [int(generator.integers(1, 2 * size + 2)) for size in sizes]
            assert lost_by(sum(sizes) + int(generator.integers(0, 3)), sizes, values) <= most


def test_what_one_server_loses_by_hand() -> None:
    """Sizes 2 and 3 of 5: one of each earns 2, two small ones earn 2, one large one earns 1: 1/2 + 1 - 1 of 2."""
    assert lost_by(5, [2, 3], [1, 1]) == Fraction(1, 4)


def test_cases_of_words_are_met_and_less_cannot_be_shown() -> None:
    search = Cases(4, Fraction(101, 336))
    assert search.decided()
    assert search.met == BY_HAND[4]
    assert not Cases(4, Fraction(59, 200)).decided()
    five = Cases(5, Fraction(248, 819))
    assert five.decided()
    assert five.met == BY_HAND[5]
    assert not Cases(4, Fraction(101, 336), smaller=2).decided()
    assert two_types_hold(4, Fraction(1, 3), Fraction(101, 224))
    assert not two_types_hold(4, Fraction(1, 3), Fraction(100, 224))


def test_a_server_is_divided_for_what_users_have_elsewhere() -> None:
    """Six tasks of one resource: user 1 has four elsewhere, so user 2 rises alone to four, then both to five."""
    pair = cluster([[6], [6]], [[1], [1]])
    assert divided(pair, [Fraction(4), Fraction(0)], 0) == [1, 5]
    assert divided(pair, [Fraction(9), Fraction(0)], 0) == [0, 6]


def test_a_user_goes_on_where_another_stops() -> None:
    """Users demand (1, 0), (1, 1) and (0, 1) of (2, 6): the first two stop at one task each, the third gets five."""
    three = cluster([[2, 6]], [[1, 0], [1, 1], [0, 1]], weights=[1, 1, 1])
    assert divided(three, [Fraction(0)] * 3, 0) == [1, 1, 5]
