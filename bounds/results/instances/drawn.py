"""Instances, laws and clusters that are drawn at random, listed on a grid, or made of others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bounds.adversary.workload import worst_workload
from bounds.results.instances.papers import LARGE_TYPES, SERVER, SMALL_TYPES, price
from theory.instance import Additive, Instance, additive, pooled
from theory.region.membership import traffic_intensity
from theory.sharing.model import Cluster, cluster

if TYPE_CHECKING:
    from theory.partition.laws import Law


def collection(generator: np.random.Generator, most: int = 10) -> Instance:
    """Draw a collection of Table 1: three small and three large types, distinct, each fitting a server.

    The range of the workload is lost in our text; it is drawn in quarters from 0 to `most` jobs per server.
    """
    chosen: list[tuple[int, int]] = []
    for fitting in (SMALL_TYPES, LARGE_TYPES):
        chosen += [fitting[i] for i in generator.permutation(len(fitting))[:3]]
    workload = [Fraction(int(w), 4) for w in generator.integers(0, 4 * most + 1, len(chosen))]
    return additive(SERVER, chosen, [price(*t) for t in chosen], workload)


def random_instance(generator: np.random.Generator, *, pools: int = 1, exact_fit: bool = False) -> Instance:
    """Draw a small instance: up to four types and three resources, some zero demands and workloads, many ties."""
    width, resources = int(generator.integers(1, 5)), int(generator.integers(1, 4))
    demands = generator.integers(0, 6, (width, resources))
    for row in demands:
        if not row.any():
            row[generator.integers(resources)] = 1
    capacities = generator.integers(5, 15, (pools, resources))
    shares = [(int(generator.integers(1, 4)), [int(c) for c in row]) for row in capacities]
    rewards = [Fraction(int(generator.integers(1, 10)), int(generator.integers(1, 4))) for _ in range(width)]
    if not exact_fit:
        workload = [Fraction(int(generator.integers(0, 9)), int(generator.integers(1, 5))) for _ in range(width)]
        return pooled(shares, demands.tolist(), rewards, workload)
    from theory.exact.knapsack import maximal

    empty = pooled(shares, demands.tolist(), rewards)
    workload = [Fraction(0)] * width
    for pool in empty.pools:  # a random assignment that uses every server: the workload fits exactly
        rows = maximal(pool.space)
        weights = generator.integers(0, 4, len(rows)) if len(rows) > 1 else np.array([1])
        weights[generator.integers(len(rows))] += 1
        for weight, k in zip(weights.tolist(), rows.tolist(), strict=True):
            share = pool.share * Fraction(weight, int(weights.sum()))
            workload = [w + share * slots for w, slots in zip(workload, k, strict=True)]
    return empty.with_workload(workload)


def random_instances(
    generator: np.random.Generator, count: int, accepted: Callable[[Instance], bool]
) -> list[Instance]:
    """Draw random instances until `count` are accepted, and return the accepted ones."""
    drawn: list[Instance] = []
    while len(drawn) < count:
        instance = random_instance(generator)
        if accepted(instance):
            drawn.append(instance)
    return drawn


def fits_everywhere(instance: Instance) -> bool:
    """Return whether every type fits the servers of the first pool."""
    return all(map(instance.pools[0].space.most, range(len(instance.types))))


def dynamic_instance(seed: int) -> Instance:
    """Draw an instance for dynamics: up to four types, one or two resources, unequal service rates."""
    generator = np.random.default_rng(seed)
    types, resources = int(generator.integers(1, 5)), int(generator.integers(1, 3))
    capacity = generator.integers(3, 9, resources)
    demands = np.minimum(generator.integers(0, 5, (types, resources)), capacity)
    for row in demands:
        if not row.any():
            row[generator.integers(resources)] = 1
    workload, rates = generator.integers(1, 17, types), generator.integers(2, 9, types)
    rewards = [Fraction(int(u), 7) for u in generator.integers(5, 40, types)]
    instance = additive(capacity.tolist(), demands.tolist(), rewards, [Fraction(int(w), 4) for w in workload])
    return with_rates(instance, [Fraction(int(r), 4) for r in rates])


def small_grid(types: int, capacity: int, rewards: int) -> Iterator[Instance]:
    """Yield every instance on one resource: demands 1..capacity, rewards 1..rewards, workloads 0, 1/2 and 1."""
    loads = (Fraction(0), Fraction(1, 2), Fraction(1))
    for demands in product(range(1, capacity + 1), repeat=types):
        for u in product(range(1, rewards + 1), repeat=types):
            base = additive([capacity], [[d] for d in demands], u)
            for workload in product(loads, repeat=types):
                yield base.with_workload(workload)


def with_rates(instance: Instance, rates: Sequence[Fraction | int | str]) -> Instance:
    """Return the instance with other service rates."""
    types = (replace(t, service_rate=Fraction(rate)) for t, rate in zip(instance.types, rates, strict=True))
    return replace(instance, types=tuple(types))


def additive_space(instance: Instance) -> Additive:
    """Return the configurations of an instance of one pool with additive resources."""
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    return space


def full_of_the_first(instance: Instance, servers: int) -> NDArray[np.int32]:
    """Return servers full of jobs of the first type, int32[L, J]."""
    row = [instance.pools[0].space.most(0)] + [0] * (len(instance.types) - 1)
    return np.tile(np.array(row, np.int32), (servers, 1))


def at_worst(instance: Instance) -> Instance:
    """Return the instance at its worst workload, with unequal service rates."""
    return with_rates(instance, (1, 2, "1/2")).with_workload(worst_workload(instance).workload)


def scaled(instance: Instance, load: Fraction) -> Instance:
    """Return the instance with its workload scaled to a traffic intensity."""
    z = traffic_intensity(instance)
    return instance.with_workload([rho * load / z for rho in instance.workload])


def loaded_instances(count: int, seed: int, *, fitting: bool = False) -> list[Instance]:
    """Draw instances with workload and unequal service rates, one pool and two (`fitting`: one, that all types fit)."""
    generator = np.random.default_rng(seed)
    drawn: list[Instance] = []
    while len(drawn) < count:
        instance = random_instance(generator, pools=1 if fitting else 1 + len(drawn) % 2)
        rates = [Fraction(int(generator.integers(1, 6)), 2) for _ in instance.types]
        if any(instance.workload) and (not fitting or fits_everywhere(instance)):
            drawn.append(with_rates(instance, rates))
    return drawn


def random_law(generator: random.Random, *, atoms: bool = True, least: int = 0) -> Law:
    """Draw a law of up to three uniform pieces and, where wanted, up to three atoms; sizes in twentieths."""
    from theory.partition.laws import piecewise

    ends = sorted(generator.sample(range(least, 21), 2 * generator.randint(1, 3)))
    sizes = generator.sample(range(max(1, least), 21), generator.randint(0, 3)) if atoms else []
    rows = [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)] + [(a, a) for a in sizes]
    weights = [generator.randint(1, 6) for _ in rows]
    share = [Fraction(w, sum(weights)) for w in weights]
    return piecewise([(Fraction(a, 20), Fraction(b, 20), p) for (a, b), p in zip(rows, share, strict=True)])


def random_cluster(
    generator: random.Random,
    users: int,
    servers: int,
    resources: int,
    *,
    largest: int = 6,
    weights: int = 3,
    zeros: float = 0.2,
    placement: float = 0.2,
    counts: int = 1,
) -> Cluster:
    """Draw a cluster with small integers, zero demands and capacities, weights and placement constraints.

    Capacities and demands lie in 1..largest where they are not zero: a demand is zero with the probability `zeros`, a
    capacity with half of it. A user may not use a class with the probability `placement`; a class has 1..counts
    servers.
    """

    def entry(chance: float) -> int:
        return 0 if generator.random() < chance else generator.randint(1, largest)

    while True:
        capacities = [[entry(zeros / 2) for _ in range(resources)] for _ in range(servers)]
        demands = [[entry(zeros) for _ in range(resources)] for _ in range(users)]
        eligible = [[generator.random() >= placement for _ in range(servers)] for _ in range(users)]
        for demand, row in zip(demands, eligible, strict=True):
            if not any(demand):
                demand[generator.randrange(resources)] = 1
            if not any(row):
                row[generator.randrange(servers)] = True
        drawn = cluster(
            capacities,
            demands,
            [generator.randint(1, weights) for _ in range(users)],
            eligible,
            [generator.randint(1, counts) for _ in range(servers)],
        )
        stranded = [n for n, row in enumerate(drawn.monopoly) if not any(row)]
        if not stranded:
            return drawn
        if all(any(row) for row in capacities) and len(stranded) < users:
            # give the stranded the demands and servers of somebody who can run
            able = next(n for n in range(users) if n not in stranded)
            for n in stranded:
                user = drawn.users[n]
                drawn = drawn.with_user(n, replace(drawn.users[able], name=user.name, weight=user.weight))
            return drawn
