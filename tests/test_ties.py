"""The tie rule of Definition 2.2 is repeated on purpose in several places (ARCHITECTURE.md): they agree.

Of the configurations of the greatest reward, MaxReward is the one with more slots of the first type that differs.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bounds import checker
from fluid.limits.reservation.model import Reservation
from fluid.simulation.oracle import heaviest
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.compiled import plain
from theory.exact.knapsack.configurations import feasible
from theory.exact.knapsack.greatest import max_reward, max_weight
from theory.files.instances import instance_document
from theory.greedy.assignment import MaxRewards
from theory.instance import Configuration, Instance, additive
from theory.region.oracles import oracle


@st.composite
def tied(draw: st.DrawFn) -> Instance:
    """Draw instances in which many configurations earn the same: few values of demands and rewards."""
    width = draw(st.integers(2, 4))
    demands = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=1), min_size=width, max_size=width))
    rewards = draw(st.lists(st.integers(1, 3), min_size=width, max_size=width))
    return additive([draw(st.integers(3, 9))], demands, rewards, [1] * width)


def by_definition(instance: Instance, weights: list[int], types: set[int]) -> Configuration:
    """Enumerate: by reward, then by the slots of the first type, the second, and so on."""
    rows = [tuple(map(int, k)) for k in feasible(instance.pools[0].space)]
    allowed = [k for k in rows if all(j in types or not slots for j, slots in enumerate(k))]
    return max(allowed, key=lambda k: (sum(w * slots for w, slots in zip(weights, k, strict=True)), k))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tied(), st.data())
def test_ties_are_broken_alike(instance: Instance, data: st.DataObject) -> None:
    width, space = len(instance.types), instance.pools[0].space
    types = data.draw(st.sets(st.integers(0, width - 1), min_size=1))
    weights = [int(u) for u in instance.rewards]
    expected = by_definition(instance, weights, types)
    members = sorted(types)
    assert max_reward(space, instance.rewards, members) == expected
    assert max_weight(space, weights, members) == expected
    assert MaxRewards(instance)(frozenset(types)).configurations[0] == expected
    model = checker.model(instance_document(instance))
    assert tuple(checker.max_reward(model.pools[0], model.rewards, members)) == expected
    mask = sum(1 << j for j in types)
    assert Reservation(instance).greedy(mask) == expected


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tied())
def test_rules_of_queues_break_ties_alike(instance: Instance) -> None:
    """With queues in place of rewards: the exact oracle of the simulators, and the exact rules for regions."""
    space, weights = instance.pools[0].space, [int(u) for u in instance.rewards]
    expected = by_definition(instance, weights, set(range(len(weights))))
    state = policy("nonpreemptive").prepare(Setting(instance, 1, {"oracle": "exact", "beta": Fraction(1, 2)}))
    state.waiting[:] = weights
    plain(heaviest)(state, 0)
    assert tuple(state.best_.tolist()) == expected
    for name in ("maximal", "dynamic-program"):
        assert tuple(oracle(space, name)(weights).tolist()) == expected
