"""Sizes that divide each other: contents listed one by one, greedy by hand, and the steps of the proof."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from bounds.results.instances.families import one_resource_family
from bounds.results.packproof.divisible_sizes import (
    E_LOW,
    TAIL,
    climbed,
    closed_form_is_exact,
    kept_of_powers,
    least_slack,
    lost_bound,
    multiples_are_optimal,
    numbers_of_the_proof,
    powers_of_two,
)
from theory.errors import InputError
from theory.greedy.divisible import divisible_reward
from theory.greedy.optimal import solve


def test_the_closed_form_by_listing_all_contents() -> None:
    for sizes in ((1, 3), (2, 4, 12), (1, 2, 4), (3, 3, 6)):
        for capacity in range(sizes[-1], 2 * sizes[-1] + 3):
            for rewards in ((1, 2, 3), (3, 1, 9), (2, 7, 10)):
                used = rewards[: len(sizes)]
                contents = (
                    k
                    for k in product(*(range(capacity // s + 1) for s in sizes))
                    if sum(n * s for n, s in zip(k, sizes, strict=True)) <= capacity
                )
                most = max(sum(n * u for n, u in zip(k, used, strict=True)) for k in contents)
                assert divisible_reward(capacity, sizes, used) == most
                assert divisible_reward(capacity, sizes[::-1], used[::-1]) == most


def test_fractions_and_refusals() -> None:
    assert divisible_reward(7, [2, 4], [Fraction(1, 3), Fraction(1, 2)]) == 1
    assert divisible_reward(0, [2], [5]) == 0
    with pytest.raises(InputError, match="divide each other, got 2 and 3"):
        divisible_reward(6, [3, 2], [1, 1])
    with pytest.raises(InputError, match="at least 1, got 0"):
        divisible_reward(6, [0, 2], [1, 1])


def test_two_sizes_by_hand() -> None:
    """Sizes 1 and 3 on 5, workload (2, 1): two fifths of the servers are full of ones, the others hold a three."""
    instance = powers_of_two(2, 3)
    assert instance.workload == (2, 1)
    assert solve(instance).ratio == kept_of_powers(2, 3) == (2 + Fraction(3, 5) * 3) / 5 == Fraction(19, 25)


def test_shares_fall_to_those_of_the_family() -> None:
    for types in range(2, 12):
        limit = solve(one_resource_family(types)).ratio if types < 8 else None
        wide = kept_of_powers(types, 2**40)
        n = types - 1
        family = 1 - (Fraction(1, 2**n) + sum(Fraction(1, 2**k - 1) for k in range(2, n + 1))) / 2
        assert limit in (None, family)
        assert 0 < wide - family < Fraction(1, 2**38)


def test_the_constant_by_another_series() -> None:
    """E is also the sum of the numbers of divisors of n over 2^n."""
    divisors = [sum(n % d == 0 for d in range(1, n + 1)) for n in range(1, 70)]
    other = sum(Fraction(d, 2**n) for n, d in enumerate(divisors, 1))
    assert abs(float(other - E_LOW)) < 1e-16
    assert Fraction(1, 10**20) > TAIL


def test_a_step_by_hand() -> None:
    """On 5 with one 1 and one 3: U = 5 and 3 in the order of sizes, 1/5 + 1 - 1 of 3 is lost of 4."""
    assert lost_bound(5, (1, 3), (1, 3), (1, 1)) == Fraction(3, 20)
    # in the other order a 3 is exhausted first, and the 1s that are left fill a server: 3/5 + 1/5 - 1 is negative
    assert lost_bound(5, (3, 1), (3, 1), (1, 1)) == -Fraction(1, 4)


def test_checks_notice_what_is_wrong() -> None:
    assert not numbers_of_the_proof()
    assert numbers_of_the_proof(Fraction(7, 10))
    assert closed_form_is_exact(20)
    assert not closed_form_is_exact(20, 1)
    assert multiples_are_optimal(8)
    assert not multiples_are_optimal(40, 1)
    assert 0 < least_slack(2_000) < 0.01
    assert climbed(3, 50) < 1 - Fraction(17, 24)
    assert math.isclose(float(E_LOW), 1.6066951524152917)
