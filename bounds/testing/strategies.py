"""Strategies of what rules decide on: instances, lists of items, clusters, laws of sizes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from bounds.adversary.division import Shape
from bounds.adversary.items import Items, numbered
from theory.instance import Instance, explicit, pooled
from theory.numbers import total
from theory.partition.laws import Law, discrete
from theory.sharing.model import Cluster


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


@st.composite
def item_lists(
    draw: Any, *, max_bins: int = 3, max_items: int = 12, max_resources: int = 1, max_capacity: int = 30
) -> Items:
    """Draw lists of items, in the order in which a rule sees them, with a packing that holds them.

    Parameters
    ----------
    max_bins : int
        Bins of that packing; the optimum is at most their number.
    max_items, max_resources, max_capacity : int
        Items have whole sizes; some resource of each is positive.
    """
    capacity = (draw(st.integers(2, max_capacity)),) * draw(st.integers(1, max_resources))
    size = st.tuples(*(st.integers(0, limit) for limit in capacity)).filter(any)
    sizes, packing, free = [], [], []
    for _ in range(draw(st.integers(1, max_bins))):
        # each item is cut to what is free in its bin, so that the packing holds it
        free.append(list(capacity))
        for wanted in draw(st.lists(size, min_size=1, max_size=max(1, max_items // max_bins))):
            cut = tuple(min(amount, left) for amount, left in zip(wanted, free[-1], strict=True))
            if any(cut):
                sizes.append(cut)
                packing.append(len(free) - 1)
                free[-1] = [left - amount for left, amount in zip(free[-1], cut, strict=True)]
    order = draw(st.permutations(range(len(sizes))))
    return Items(tuple(sizes[i] for i in order), capacity, numbered([packing[i] for i in order]))


@st.composite
def clusters(
    draw: Any, *, max_users: int = 3, max_servers: int = 2, max_resources: int = 2, largest: int = 12
) -> Cluster:
    """Draw clusters in whole numbers, with weights, zero capacities and demands, and servers that users may not use.

    Parameters
    ----------
    max_users, max_servers, max_resources : int
    largest : int
        Capacity or demand at most; weights are at most 3.
    """
    resources = draw(st.integers(1, max_resources))
    servers = draw(st.integers(1, max_servers))
    row = st.tuples(*(st.integers(0, largest) for _ in range(resources))).filter(any)
    users = draw(st.integers(1, max_users))
    shape = Shape(
        tuple(draw(st.lists(row, min_size=servers, max_size=servers))),
        tuple(draw(st.lists(row, min_size=users, max_size=users))),
        tuple(draw(st.lists(st.integers(1, 3), min_size=users, max_size=users))),
        tuple(draw(st.tuples(*(st.booleans() for _ in range(servers))).filter(any)) for _ in range(users)),
    )
    assume(shape.makes_sense)
    return shape.cluster()


@st.composite
def size_laws(draw: Any, *, max_sizes: int = 4, max_denominator: int = 20) -> Law:
    """Draw laws of finitely many sizes in (0, 1], with rational probabilities.

    Parameters
    ----------
    max_sizes : int
    max_denominator : int
        All sizes are multiples of one unit, 1 over at most this.
    """
    units = draw(st.integers(1, max_denominator))
    sizes = draw(st.lists(st.integers(1, units), min_size=1, max_size=max_sizes, unique=True))
    weights = [Fraction(draw(st.integers(1, 6))) for _ in sizes]
    sum_of_weights = total(weights)
    return discrete(
        {Fraction(size, units): weight / sum_of_weights for size, weight in zip(sizes, weights, strict=True)}
    )
