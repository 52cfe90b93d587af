"""Whether greedy keeps a ratio at every workload: against the exactly worst workload, for choices of types at once."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.adversary.keeping import Keeping
from bounds.adversary.workload import worst_workload
from bounds.results.autoscaling import scenarios
from bounds.results.instances.papers import tight_family_additive
from bounds.testing import instances
from theory.errors import TooLargeError
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import Instance, additive

SLIGHTLY = Fraction(1, 10**9)


@pytest.mark.slow
@settings(max_examples=30)
@given(instances(max_pools=1))
def test_it_is_kept_up_to_the_exactly_worst_ratio(instance: Instance) -> None:
    ratio, everything = worst_workload(instance).ratio, range(len(instance.types))
    assert Keeping(instance, ratio).decide(everything)
    assert Keeping(instance, ratio - SLIGHTLY).decide(everything)
    assert ratio == 1 or not Keeping(instance, ratio + SLIGHTLY).decide(everything)


@pytest.mark.slow
@settings(max_examples=15)
@given(instances(max_pools=1), st.fractions(Fraction(1, 2), 1, max_denominator=30))
def test_prices_of_other_choices_do_not_mislead(instance: Instance, ratio: Fraction) -> None:
    everything = range(len(instance.types))
    keeping = Keeping(instance, ratio)
    for number in (*reversed(everything), len(everything)):
        for types in combinations(everything, number):
            if types:
                assert keeping.decide(types) == (worst_workload(instance.reordered(types)).ratio >= ratio)


@pytest.mark.slow
@settings(max_examples=30)
@given(instances(max_pools=1))
def test_more_types_answer_for_fewer(instance: Instance) -> None:
    ratio = worst_workload(instance).ratio
    for left_out in range(len(instance.types)):
        types = [j for j in range(len(instance.types)) if j != left_out]
        if types:
            assert worst_workload(instance.reordered(types)).ratio >= ratio


@pytest.mark.parametrize("types", [2, 3, 4])
def test_the_tight_family(types: int) -> None:
    instance, bound = tight_family_additive(types), 1 - (1 - Fraction(1, types)) ** types
    assert Keeping(instance, bound).decide(range(types))
    assert not Keeping(instance, bound + SLIGHTLY).decide(range(types))


def test_wrong_prices_show_nothing() -> None:
    keeping = Keeping(additive([12], [[5], [7]]), Fraction(4, 5))
    for price in (0, 1, 10**3, 10**6):
        keeping.remembered[frozenset([0])] = [{0: price}]
        assert not keeping.decide([0, 1])


def test_rewards_too_fine_for_words_are_refused() -> None:
    with pytest.raises(TooLargeError, match="62 bits"):
        Keeping(additive([12], [[5], [7]], [Fraction(1, 2**60), Fraction(1, 3**20)]), Fraction(3, 4))


@pytest.mark.parametrize(("number", "chosen", "together"), [(6, 2, 3), (9, 3, 4), (7, 3, 3)])
def test_coverings_contain_every_choice(number: int, chosen: int, together: int) -> None:
    types = [(v, v) for v in range(number)]
    groups = scenarios.coverings(types, chosen, together)
    assert all(any(set(choice) <= set(group) for group in groups) for choice in combinations(types, chosen))
    assert all(len(group) == together for group in groups)


def test_the_worst_collections_by_hand() -> None:
    """Both fill the 80 vCPUs and earn 72 + 48. The dense type alone fills the memory, earns 120, and wins the tie.

    So greedy uses it up on 2/5 of the servers, and the flat VM earns 72 on the rest.
    """
    for collection in scenarios.worst_collections()[::1500]:
        instance = scenarios.at_worst(collection)
        assert global_greedy(instance).reward == Fraction(2, 5) * 120 + Fraction(3, 5) * 72
        assert solve(instance).optimal.reward == 120
