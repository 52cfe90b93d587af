"""The clusters of the PS-DSF paper, as far as its text has kept them; what is rebuilt says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from theory.numbers import rational
from theory.sharing.model import Cluster, ServerClass, User, cluster


def figure_1(*, bandwidth: int = 10, weights: Sequence[int] = (1, 1, 2)) -> Cluster:
    """Return the cluster of Figure 1. PLAUSIBLE: weights and 24 GB of memory are printed, the rest fits them."""
    return cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, bandwidth], [1, 2, 1], [1, 2, 0]], weights=weights)


def figures_2_and_3(*, demand: str = "1/2") -> Cluster:
    """Return the cluster of Figures 2 and 3. PLAUSIBLE; `demand` is the memory of user 4."""
    return cluster([[9, 12, 100], [12, 12, 0]], [["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, demand, 0]])


def figure_4(rates: Sequence[Sequence[str]] = (("3/4", "3/2", "1/2"), ("1/4", "1", "1/2"))) -> Cluster:
    """Return the wireless channels of Figure 4 by their rates. PLAUSIBLE: one member of the family that fits."""
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
