"""Rules of great weight: feasible, never empty, never below the proven ratio, and the exact worst weights."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.testing import instances
from theory.compiled import bound, kernel, plain
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack.configurations import feasible
from theory.exact.knapsack.greatest import max_weight
from theory.instance import Additive, Instance, additive, explicit
from theory.region.oracles import RULES, lemma_6_1, oracle, server_table
from theory.region.subset import kept_fraction, single_types
from theory.region.worst_case import worst_weights

APPROXIMATE = ("single-type", "relative-value", "refined")


def space_of(instance: Instance) -> Additive:
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    return space


def value(weights: list[int] | tuple[int, ...], k: list[int] | tuple[int, ...]) -> int:
    return sum(w * n for w, n in zip(weights, k, strict=True))


@pytest.mark.slow
@given(instances(), st.data())
def test_rules_keep_their_ratio(instance: Instance, data: st.DataObject) -> None:
    space, width = space_of(instance), len(instance.types)
    weights = data.draw(st.lists(st.integers(0, 60), min_size=width, max_size=width))
    best = max(value(weights, k) for k in feasible(space).tolist())
    found = {}
    for name in RULES:
        made = oracle(space, name)
        k = made(weights).tolist()
        assert space.holds(k)
        assert any(k)
        found[name] = value(weights, k)
        assert found[name] >= made.ratio * best
    assert found["maximal"] == found["dynamic-program"] == best
    assert found["refined"] >= found["relative-value"]
    assert found["single-type"] >= found["relative-value"]
    assert oracle(space, "maximal")(weights).tolist() == list(max_weight(space, weights)) or not any(weights)


@pytest.mark.slow
@given(instances(max_types=3, max_resources=2, max_capacity=9))
def test_worst_weights_are_the_worst(instance: Instance) -> None:
    space, width = space_of(instance), len(instance.types)
    grid = [w for w in product(range(5), repeat=width) if any(w)]
    rows = feasible(space)
    for name in APPROXIMATE:
        rule, worst = oracle(space, name), worst_weights(space, name)
        assert worst.ratio >= rule.ratio
        for w in grid:
            assert Fraction(value(w, rule(w).tolist()), int((rows @ np.array(w)).max())) >= worst.ratio
        near = worst.weights()
        ratio = Fraction(value(near, rule(near).tolist()), value(near, max_weight(space, near)))
        assert worst.ratio <= ratio <= worst.ratio + Fraction(1, 10**4)
    assert worst_weights(space, "single-type").ratio == kept_fraction(instance, single_types(instance)).fraction


def test_lemma_6_1_by_hand() -> None:
    # sizes just above 1/2 and 1/3 beside one that fills the rest: (1, 1, .) weighs 1 + 1/2 + 1/6 when each fits 1, 2, 6
    space = space_of(additive([420], [[211], [141], [61]]))
    assert lemma_6_1(space) == Fraction(1, 2)
    assert worst_weights(space, "single-type").ratio == Fraction(3, 5)
    assert worst_weights(space, "single-type").best == (1, 1, 1)
    # the rule by relative value takes the first type alone and leaves almost half a server
    assert worst_weights(space_of(additive([420], [[211], [210]])), "refined").ratio == Fraction(211, 420)


def test_lemma_6_1_counts_the_resources() -> None:
    """Jobs of (3, 1) and (1, 3) on (6, 6): each fits twice, and both resources can bind, so r = 2 / (2 * 3)."""
    assert lemma_6_1(space_of(additive([6, 6], [[3, 1], [1, 3]]))) == Fraction(1, 3)


def test_rules_are_kernels_with_one_signature() -> None:
    space = space_of(additive([10, 10], [[3, 1], [2, 5], [9, 9]]))
    weights, configuration = np.array([4, 5, 1]), np.full(3, 99)
    for name in RULES:
        made = oracle(space, name)
        made.rule(weights, made.table, configuration)
        assert configuration.tolist() == made(weights).tolist()


@kernel
def _choose(weights: Any, table: Any, configuration: Any) -> None:
    configuration[:] = weights[0] + table[0, 0]


@kernel
def _jobs(weights: Any, table: Any) -> int:
    configuration = np.zeros(weights.size, np.int64)
    _choose(weights, table, configuration)
    return int(configuration.sum())


def test_a_loop_runs_over_any_rule() -> None:
    space = space_of(additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]))
    weights = np.array([9, 48, 48, 512])
    for name in RULES:
        made = oracle(space, name)
        expected = int(made(weights).sum())
        assert bound(_jobs, _choose=made.rule)(weights, made.table) == expected
        if name != "dynamic-program":
            assert plain(_jobs, _choose=made.rule)(weights, made.table) == expected


def test_types_that_do_not_fit_are_left_out() -> None:
    space = Additive(("r",), (10,), ((3,), (11,)), (Fraction(1),))
    for name in RULES:
        assert oracle(space, name)([1, 1000]).tolist() == [3, 0]
    assert server_table(space).tolist() == [[3, 0, 0], [1, 3, 1], [0, 0, 0]]


def test_bad_questions() -> None:
    listed = explicit([[2, 0], [0, 1]]).pools[0].space
    assert oracle(listed, "maximal")([1, 3]).tolist() == [0, 1]
    with pytest.raises(InputError, match="oracle: refined needs"):
        oracle(listed, "refined")
    space = space_of(additive([100], [[n] for n in range(10, 19)]))
    with pytest.raises(InputError, match="expected one of"):
        oracle(space, "best")
    with pytest.raises(InputError, match="worst weights"):
        worst_weights(space, "maximal")
    with pytest.raises(TooLargeError, match="at most 8"):
        worst_weights(space, "refined")
    with pytest.raises(TooLargeError, match="common unit"):
        server_table(Additive(("a", "b"), (10**10 + 19, 10**10 + 33), ((3, 1), (1, 3)), (Fraction(1),) * 2))
