"""The instances and clusters of the papers: printed ones, and families that a proof constructs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from theory.errors import expect_number
from theory.instance import Instance, additive, explicit
from theory.numbers import rational
from theory.sharing.model import Cluster, ServerClass, User, cluster

if TYPE_CHECKING:
    pass


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
