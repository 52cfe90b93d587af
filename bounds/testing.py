"""The property-test kit: hypothesis strategies for authors of policies, and what any policy must satisfy.

Needs hypothesis (extra ``test``). No other room imports this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from theory.greedy.optimal import optimal_assignment
from theory.instance import Configuration, Instance, explicit, pooled

Heuristic = Callable[[Instance], Sequence[tuple[int, Configuration, Fraction]]]
"""A stranger's rule: from an instance to (pool, configuration, share of all servers)."""


def rationals(low: int = 0, high: int = 10, denominator: int = 4) -> st.SearchStrategy[Fraction]:
    """Draw rationals in [low, high] with small denominators, whole numbers often."""
    return st.builds(
        lambda n, d: Fraction(n, d) if n <= high * d else Fraction(high),
        st.integers(low, high * denominator),
        st.integers(1, denominator),
    ).map(lambda value: max(Fraction(low), value))


@st.composite
def instances(
    draw: Any, *, max_types: int = 4, max_resources: int = 3, max_pools: int = 1, max_capacity: int = 14
) -> Instance:
    """Draw instances with additive resources: zero demands, zero workloads and ties included.

    Parameters
    ----------
    max_types, max_resources, max_pools, max_capacity : int
        Bounds of what is drawn; every type fits some pool.
    """
    width = draw(st.integers(1, max_types))
    resources = draw(st.integers(1, max_resources))
    low = (max_capacity + 1) // 2
    pools = draw(
        st.lists(
            st.tuples(
                st.integers(1, 3), st.lists(st.integers(low, max_capacity), min_size=resources, max_size=resources)
            ),
            min_size=1,
            max_size=max_pools,
        )
    )
    demand = st.lists(st.integers(0, low), min_size=resources, max_size=resources).filter(any)
    demands = draw(st.lists(demand, min_size=width, max_size=width))
    positive = rationals(1, 9).filter(bool)
    rewards = draw(st.lists(positive, min_size=width, max_size=width))
    workload = draw(st.lists(rationals(0, 6), min_size=width, max_size=width))
    return pooled(pools, demands, rewards, workload)


@st.composite
def explicit_instances(draw: Any, *, max_types: int = 4, max_slots: int = 5) -> Instance:
    """Draw instances whose configurations are listed, so resources need not be additive."""
    width = draw(st.integers(1, max_types))
    row = st.lists(st.integers(0, max_slots), min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=1, max_size=4))
    rows.append([1] * width)
    rewards = draw(st.lists(rationals(1, 9).filter(bool), min_size=width, max_size=width))
    workload = draw(st.lists(rationals(0, 6), min_size=width, max_size=width))
    return explicit(rows, rewards, workload)


def reward_of(instance: Instance, assignment: Sequence[tuple[int, Configuration, Fraction]]) -> Fraction:
    """Return the reward of an assignment: slots that jobs can fill, at most the workload of each type.

    Raises
    ------
    AssertionError
        If a configuration is not feasible, a share is negative, or a pool is overfilled: the words say which.
    """
    slots = [Fraction(0)] * len(instance.types)
    used = [Fraction(0)] * len(instance.pools)
    for p, k, share in assignment:
        assert share >= 0, f"negative share {share}"
        assert instance.pools[p].space.holds(k), f"{k} is not feasible in {instance.pools[p].name}"
        used[p] += share
        slots = [have + share * number for have, number in zip(slots, k, strict=True)]
    for pool, amount in zip(instance.pools, used, strict=True):
        assert amount <= pool.share, f"{pool.name} is used {amount} of {pool.share}"
    served = (min(have, rho) for have, rho in zip(slots, instance.workload, strict=True))
    return sum((u * y for u, y in zip(instance.rewards, served, strict=True)), Fraction(0))


def check_heuristic(instance: Instance, heuristic: Heuristic, guarantee: Fraction = Fraction(0)) -> Fraction:
    """Require that a heuristic is feasible, keeps a guarantee, and is never above the optimum; return its ratio.

    Raises
    ------
    AssertionError
        With the numbers.
    """
    reward, best = reward_of(instance, heuristic(instance)), optimal_assignment(instance).reward
    assert reward <= best, f"reward {reward} is above the optimum {best}"
    assert reward >= guarantee * best, f"reward {reward} is below {guarantee} of the optimum {best}"
    return reward / best if best else Fraction(1)
