"""Single steps of proofs in words, on instances: what greedy loses, and the fair division of one server."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bounds.results.instances import one_resource_family
from bounds.results.packproof.existence import divided
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


def test_a_server_is_divided_for_what_users_have_elsewhere() -> None:
    """Six tasks of one resource: user 1 has four elsewhere, so user 2 rises alone to four, then both to five."""
    pair = cluster([[6], [6]], [[1], [1]])
    assert divided(pair, [Fraction(4), Fraction(0)], 0) == [1, 5]
    assert divided(pair, [Fraction(9), Fraction(0)], 0) == [0, 6]


def test_a_user_goes_on_where_another_stops() -> None:
    """Users demand (1, 0), (1, 1) and (0, 1) of (2, 6): the first two stop at one task each, the third gets five."""
    three = cluster([[2, 6]], [[1, 0], [1, 1], [0, 1]], weights=[1, 1, 1])
    assert divided(three, [Fraction(0)] * 3, 0) == [1, 1, 5]
