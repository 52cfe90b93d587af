"""The instances that claims are checked on: named ones of the papers, families, and random draws."""

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
from theory.errors import expect_number
from theory.instance import Additive, Instance, additive, explicit, pooled
from theory.numbers import rational
from theory.region.membership import traffic_intensity
from theory.sharing.model import Cluster, ServerClass, User, cluster

if TYPE_CHECKING:
    from theory.partition.laws import Law

PRICE_RATIO = 8  # GB of memory priced like one vCPU (auto-scaling paper, Section 7.1)

SERVER = (80, 640)  # vCPUs and GB of the servers of Section 7.1

PRINTED_TYPES = ((1, 1), (4, 16), (2, 32), (32, 256))  # the four VM types (vCPU, GB) printed in Section 7.1

SMALL, LARGE, MEMORY = (2, 4, 8), (32, 64), (8, 16, 1, 2, 4)  # Table 1: vCPUs of small and large types, GB per vCPU


SMALL_TYPES, LARGE_TYPES = (
    tuple((v, v * m) for v in sizes for m in MEMORY if v * m <= SERVER[1]) for sizes in (SMALL, LARGE)
)
"""Table 1: the 15 small and 9 large types (vCPU, GB) that fit a server."""


def price(vcpu: int, memory: int) -> Fraction:
    """Return the reward of a VM type: 1 a vCPU, 1/8 a GB."""
    return vcpu + Fraction(memory, PRICE_RATIO)


def four_types(workload: tuple[Fraction | int | str, ...] = ("48/13", "18/13", 3, 2)) -> Instance:
    """Return the paper's four VM types; the workload it used is lost, the default is the worst one."""
    return additive(SERVER, PRINTED_TYPES, [price(*t) for t in PRINTED_TYPES], workload)


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


def tight_family(types: int) -> Instance:
    """Return Prop. 3.10's instance for J types in exact numbers: generators J e_j and (1,..,1,J)."""
    expect_number(types, "types", 2)
    j_all = range(types)
    rows = [[types if i == j else 0 for i in j_all] for j in range(types - 1)]
    rows.append([1] * (types - 1) + [types])
    rewards = [Fraction(types ** (types - j) * (types - 1) ** (j - 1)) for j in range(1, types)]
    rewards.append(Fraction((types - 1) ** (types - 1)))
    return explicit(rows, rewards, [1] * (types - 1) + [types])


def tight_family_additive(types: int) -> Instance:
    """Return the same instance with additive resources: one for every interval of the first J-1 types, and one more."""
    expect_number(types, "types", 2)
    m = types
    intervals = [(a, p) for a in range(1, types) for p in range(a, types)]
    unit = types * m  # capacity 1 of each resource, in units that make every demand whole
    demands = [[m if a <= j <= p else 0 for a, p in intervals] + [0] for j in range(1, types)]
    demands.append([types - (p - a + 1) for a, p in intervals] + [types])
    tight = tight_family(types)
    return additive([unit] * (len(intervals) + 1), demands, tight.rewards, tight.workload)


def sizes_of(instance: Instance) -> list[Fraction]:
    """Return the largest share of a resource that a job of each type takes."""
    space = additive_space(instance)
    return [max(Fraction(d, c) for d, c in zip(row, space.capacity, strict=True) if c) for row in space.demands]


def one_resource_family(types: int) -> Instance:
    """Return the family on one resource for `types` job types, of which greedy keeps the least share for J <= 4.

    With n = J - 1 a server has 4^n + 2^n - 1 units; type 1 takes 2^n and earns 2^-n, type j >= 2 takes
    2^(j-2) (2^n + 1) and earns 2^(j-2-n); the workload is one job of each type per server.
    Greedy, ties by Definition 2.2, keeps 1 - (2^-n + 1/3 + 1/7 + ... + 1/(2^n - 1)) / 2 of the optimum, which falls to
    0.69665 (the claim ``packproof/one-resource-family``).

    Parameters
    ----------
    types : int
        J, at least 2.

    Raises
    ------
    InputError
        Fewer than two types.

    Examples
    --------
    >>> from theory.greedy.optimal import solve
    >>> [str(solve(one_resource_family(types)).ratio) for types in (2, 3, 4)]
    ['3/4', '17/24', '235/336']
    """
    expect_number(types, "types", 2)
    return one_resource_member(types - 1, 1)


def one_resource_inserted(types: int) -> Instance:
    """Return a second family on one resource, of which greedy keeps less than of the first for five types or more.

    The first family for J - 1 types leaves room for jobs of a small type. With N = 2^(J-2) and K = N^2 + N + 1 a server
    has N (N + 1) K - 1 units; type 1 takes N (N + 1), type 2 takes N K and type j >= 3 takes 2^(j-3) (N + 1) K. They
    earn 1, N and 2^(j-3) N in units of 1/N^2; the workload is one job of each type per server. Greedy keeps
    1 - N^2/(N^2 + 1) (1/(N (N + 1)) + 1/N + sum of 1/(2^k - 1), k = 2..J-2) / 2 of the optimum (the claim
    ``packproof/one-resource-inserted``).

    Parameters
    ----------
    types : int
        J, at least 3.

    Raises
    ------
    InputError
        Fewer than three types.

    Examples
    --------
    >>> from theory.greedy.optimal import solve
    >>> [str(solve(one_resource_inserted(types)).ratio) for types in (4, 5)]
    ['179/255', '571/819']
    """
    expect_number(types, "types", 3)
    return one_resource_member(types - 2, 2)


def one_resource_member(powers: int, small: int) -> Instance:
    """Return an instance on one resource, of which greedy keeps little: halves, quarters, .., and small types.

    With t_1 = T_1 = 2^p, t_{i+1} = t_i (t_i + 1) and T_{i+1} = T_i t_i, in units of L = t_{m+1} a server has 1 - 1/L.
    The types i = m, .., 1 take 1/(t_i + 1) and earn 1/T_i, then the types k = p, .., 1 take and earn 2^-k; the workload
    is one job of each type per server. Greedy, ties by Definition 2.2, keeps
    1 - (1/3 + 1/7 + .. + 1/(2^p - 1) + 1/t_1 + .. + 1/t_m) / (2 (1 + 1/T_2 + .. + 1/T_m)) of the optimum (the claim
    ``packproof/one-resource-general``).

    Parameters
    ----------
    powers, small : int
        p and m, at least 1; there are p + m types. L has more than p 2^m bits.

    Raises
    ------
    InputError
        One of them is less than 1.

    Examples
    --------
    >>> from theory.greedy.optimal import solve
    >>> [str(solve(one_resource_member(*member)).ratio) for member in ((3, 1), (3, 2), (1, 3))]
    ['235/336', '571/819', '159/217']
    """
    expect_number(powers, "powers", 1)
    expect_number(small, "small", 1)
    t, earned = [2**powers], [Fraction(1, 2**powers)]
    for _ in range(small):
        earned.append(earned[-1] / t[-1])
        t.append(t[-1] * (t[-1] + 1))
    unit = t[-1]
    demands = [unit // (each + 1) for each in t[-2::-1]] + [unit >> k for k in range(powers, 0, -1)]
    rewards = [*earned[-2::-1], *(Fraction(1, 2**k) for k in range(powers, 0, -1))]
    return additive([unit - 1], [[demand] for demand in demands], rewards, [1] * (powers + small))


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


def not_limited_by_draining() -> dict[str, Instance]:
    """Return six instances on whose fluid path from the empty system freed servers keep up with the greedy map."""
    two = additive([4], [[1], [2]], rewards=[3, 2], workload=[1, 3])
    changing = additive([1, 1], [[1, 0], [0, 1]], rewards=[1, 1], workload=["3/5", "3/2"])
    return {
        "four VM types": four_types(),
        "two types": with_rates(two, (1, "1/2")),
        "order changes": with_rates(changing, (2, "1/2")),
        **{f"random {seed}": dynamic_instance(seed) for seed in (32, 59, 136)},
    }


DRAINING = ("drains one type", "drains two types", "drains three types", "drains two at once")
"""The named instances of `limited_by_draining`."""


def limited_by_draining() -> dict[str, Instance]:
    """Return six instances on whose fluid path from the empty system it matters how fast draining servers empty."""
    four = four_types()
    return {
        "drains one type": additive([3], [[1], [3]], rewards=[1, 7], workload=[6, "3/2"]),
        "drains two types": additive([3, 3], [[1, 0], [0, 1], [3, 3]], rewards=[1, 1, 7], workload=[6, 6, "3/2"]),
        "drains three types": additive(
            [2, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 2, 2]], rewards=[1, 1, 1, 8], workload=[4, 4, 4, "3/2"]
        ),
        "drains two at once": with_rates(
            additive([6], [[2], [3], [6]], rewards=[2, "31/10", 10], workload=[5, 2, "3/2"]), (1, "5/4", "3/4")
        ),
        "random 153": dynamic_instance(153),
        "four VM types, 6 times": four.with_workload([6 * rho for rho in four.workload]),
    }


WITHOUT_38 = ((0, 1, 1), (0, 4, 0), (1, 2, 0))
"""Configurations of three types that have no monotone greedy property for rewards near (8, 3, 10)."""


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


def figure_1(*, bandwidth: int = 10, weights: Sequence[int] = (1, 1, 2)) -> Cluster:
    """Return the cluster of Figure 1, reconstructed: weights and 24 GB of memory are printed, the rest fits them."""
    return cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, bandwidth], [1, 2, 1], [1, 2, 0]], weights=weights)


def figures_2_and_3(*, demand: str = "1/2") -> Cluster:
    """Return the cluster of Figures 2 and 3, reconstructed; `demand` is the memory of user 4."""
    return cluster([[9, 12, 100], [12, 12, 0]], [["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, demand, 0]])


def figure_4(rates: Sequence[Sequence[str]] = (("3/4", "3/2", "1/2"), ("1/4", "1", "1/2"))) -> Cluster:
    """Return the wireless channels of Figure 4 by their rates, reconstructed: one member of the family that fits."""
    base = cluster([[1], [1], [1]], [[1], [1]])
    users = tuple(
        User(user.name, user.demand, effective={f"s{i + 1}": (rational(rate),) for i, rate in enumerate(row)})
        for user, row in zip(base.users, rates, strict=True)
    )
    return replace(base, users=users)


def table_4(*, user_2_cpu: str = "1/10", user_3_memory: str = "1/10", users: Sequence[int] = (0, 1, 2, 3)) -> Cluster:
    """Return the cluster of Figure 5 and Table IV: 120 servers in four classes, four users.

    Derived: counts sum to the printed 120, and the printed gamma table leaves no other demands except less CPU
    for users 2 and 4.
    """
    one, half, quarter = Fraction(1), Fraction(1, 2), Fraction(1, 4)
    classes = [("A", 8, one, one), ("B", 68, half, half), ("C", 33, half, quarter), ("D", 11, half, 3 * quarter)]
    servers = tuple(ServerClass(name, (cpu, ram), count) for name, count, cpu, ram in classes)
    demands = [("1/10", "1/10"), (user_2_cpu, "1/5"), ("1/5", user_3_memory), ("1/5", "3/10")]
    people = tuple(
        User(f"user {n + 1}", (Fraction(cpu), Fraction(ram)), Fraction(1), None if n < 2 else ("C", "D"))
        for n, (cpu, ram) in enumerate(demands)
    )
    return Cluster(("cpu", "memory"), servers, tuple(people[n] for n in users))
