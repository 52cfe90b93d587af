"""Instances and clusters of packproof's own: families and witnesses on which a claim rests."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from bounds.results.instances.drawn import additive_space, dynamic_instance, with_rates
from bounds.results.instances.papers import four_types
from theory.errors import expect_number
from theory.instance import Instance, additive
from theory.numbers import total
from theory.sharing.model import Cluster, cluster

if TYPE_CHECKING:
    pass
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import Matrix
from theory.sharing.per_server import ps_dsf

Mechanism = Callable[[Cluster], Allocation]


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
    t, earned = _small_types(powers, small)
    unit = t[-1]
    demands = [unit // (each + 1) for each in t[-2::-1]] + [unit >> k for k in range(powers, 0, -1)]
    rewards = [*earned[-2::-1], *(Fraction(1, 2**k) for k in range(powers, 0, -1))]
    return additive([unit - 1], [[demand] for demand in demands], rewards, [1] * (powers + small))


def one_resource_limit(powers: int, small: int = 6) -> tuple[Fraction, Fraction]:
    """Return two numbers that have c(p) between them, the limit of the shares of `one_resource_member` for large m.

    c(p) = 1 - (1/3 + 1/7 + .. + 1/(2^p - 1) + sum of 1/t_i over i >= 1) / (2 (1 + sum of 1/T_i over i >= 2)). No member
    attains it, and c(5) is the least of all (the claim ``packproof/one-resource-general``).

    Parameters
    ----------
    powers : int
        p, at least 1.
    small : int, optional
        m, at least 1: the terms of both sums that are added.

    Returns
    -------
    tuple of Fraction, length 2
        They differ by less than 3/2^(p 2^m).

    Raises
    ------
    InputError
        One of them is less than 1.

    Notes
    -----
    After the first m terms the rest of both sums is at most 3/2 times the next term, since t_{i+1} >= 3 t_i and
    T_{i+1} >= 3 T_i for i >= 2. The exact numbers have more than p 2^m bits.

    Examples
    --------
    >>> low, high = one_resource_limit(5)
    >>> float(low), high - low < Fraction(3, 2**320)
    (0.6966399940587026, True)
    >>> min(range(1, 9), key=one_resource_limit)
    5
    """
    expect_number(powers, "powers", 1)
    expect_number(small, "small", 1)
    t, earned = _small_types(powers, small)
    stages = total(Fraction(1, 2**k - 1) for k in range(2, powers + 1)) + total(Fraction(1, each) for each in t[:-1])
    optimum = 1 + total(earned[1:-1])
    more, worth = Fraction(3, 2 * t[-1]), Fraction(3, 2) * earned[-1]
    return 1 - (stages + more) / (2 * optimum), 1 - stages / (2 * (optimum + worth))


def _small_types(powers: int, small: int) -> tuple[list[int], list[Fraction]]:
    """Return t_i and 1/T_i of the general member, for i = 1, .., m + 1."""
    t, earned = [2**powers], [Fraction(1, 2**powers)]
    for _ in range(small):
        earned.append(earned[-1] / t[-1])
        t.append(t[-1] * (t[-1] + 1))
    return t, earned


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


def unfair_family(size: int) -> Cluster:
    """Return two users who share a unit server, equally hungry for its memory, beside one of `size` that neither uses.

    Fair is half and half. The first user also needs bandwidth, which only the unit server has, the second may not use
    the large server, yet TSF and C-DRFH count it as the second user's (its share looks small): they give the first user
    1 / (2 + size). So no constant bounds their unfairness.

    >>> from theory.sharing import c_drfh, ps_dsf, tsf
    >>> family = unfair_family(8)
    >>> [str(mechanism(family).totals[0]) for mechanism in (tsf, c_drfh, ps_dsf)]
    ['1/10', '1/10', '1/2']
    """
    return cluster([[1, 1], [size, 0]], [[1, 1], [1, 0]], eligible=[[True, True], [True, False]])


def idle_family(resources: int, users: int) -> Cluster:
    """Return one server on which PS-DSF (there: DRF) leaves all resources but one nearly idle.

    One user demands all resources, the others only the first: PS-DSF gives every user 1 / users, a mean utilisation of
    (1 + (resources - 1) / users) / resources, where 1 is possible. Nothing is worse than 1 / resources: wherever
    anybody can run, Theorem 1 saturates a resource.

    >>> from bounds.adversary.sharing import greatest_utilisation, mean_utilisation
    >>> from theory.sharing import ps_dsf
    >>> mean_utilisation(ps_dsf(idle_family(2, 10))), greatest_utilisation(idle_family(2, 10))
    (Fraction(11, 20), Fraction(1, 1))
    """
    first = [1] + [0] * (resources - 1)
    return cluster([[1] * resources], [[1] * resources] + [first] * (users - 1))


def price_family(k: int, weight: int = 1) -> Cluster:
    """Return k unit servers with one user tied to each, and k^2 - k users who may use all of them.

    The users who may use all servers have the weight given, those who are tied have weight 1. With equal weights time
    division keeps (2 k - 1)/k^2 of the greatest sum of parts.

    >>> from bounds.adversary.sharing import greatest_sum_of_parts, sum_of_parts
    >>> from theory.sharing import ps_dsf_tdm
    >>> sum_of_parts(ps_dsf_tdm(price_family(2))), greatest_sum_of_parts(price_family(2))
    (Fraction(3, 2), Fraction(2, 1))
    """
    users = k * k
    eligible = [[n >= k or n == i for i in range(k)] for n in range(users)]
    return cluster([[1]] * k, [[1]] * users, [1] * k + [weight] * (users - k), eligible)


def endless_cluster() -> Cluster:
    """Return the smallest cluster found on which Algorithm I never ends.

    Two unit servers, one resource, three users of equal weight, the third on both. Let b be what the third holds on the
    second server after a round: serving the first leaves it (1 - b) / 2 there, serving the second (1 + b) / 4 here. The
    limit is 1/3; from the start 1/2 the distance is divided by 4 for ever, so the last-round flag never stays up.
    """
    return cluster([[1], [1]], [[1], [1], [1]], eligible=[[True, False], [False, True], [True, True]])


def cycling_cluster() -> Cluster:
    """Return the smallest cluster found on which Algorithm I cycles: three equal users, two servers, three resources.

    From its own start it enters a cycle of two rounds, between totals (1/3, 5/9, 1) and (1/3, 6/7, 1), although a
    PS-DSF allocation exists: rows (6/19, 1/57), (32/57, 2/19), (1/19, 18/19).
    """
    return cluster([[1, 2, 1], [2, 1, 1]], [[0, 1, 3], [1, 3, 0], [2, 0, 1]])


def overshooting_family(m: int) -> Cluster:
    """Return a cluster on which a round of Algorithm I goes past its goal by about m times the distance, m >= 3.

    Three equal users and two servers, as in `cycling_cluster`. With larger m servers must go a smaller part of their
    way, so no part is small enough for all m.

    >>> from theory.sharing import ps_dsf
    >>> [str(x) for x in ps_dsf(overshooting_family(8)).totals]
    ['1/6', '1/3', '1/3']
    """
    return cluster([[1, 2, 1], [2, 1, 1]], [[0, 1, m], [1, m, 0], [m, 0, 1]])


def two_allocations() -> tuple[Cluster, Matrix, Matrix]:
    """Return a cluster and two allocations, both PS-DSF under resource division, with different totals.

    Algorithm I reaches the one or the other as the servers take turns in one order or the other.
    """
    instance = cluster([[1, 1, 2], [1, 2, 1]], [[0, 2, 1], [2, 0, 1], [1, 2, 2]])
    rows = (("1/4 3/5", "3/8 1/20", "1/4 7/40"), ("1/6 7/10", "1/3 1/10", "1/3 1/10"))
    first, second = (tuple(tuple(map(Fraction, row.split())) for row in table) for table in rows)
    return instance, first, second


def table_1_witnesses() -> dict[str, tuple[Mechanism, Cluster, str]]:
    """Return for each "no" of Table I the mechanism, a small cluster, and the property that fails there."""
    figure_1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    uneven = cluster([[1, 2], [2, 1]], [[0, 1], [3, 2]], eligible=[[False, True], [True, True]])
    three = cluster([[1, 2], [1, 4]], [[2, 1], [1, 2], [1, 3]], eligible=[[True] * 2, [True] * 2, [True, False]])
    two = cluster([[4, 3, 2], [2, 2, 2]], [[2, 4, 1], [4, 2, 4]])
    return {
        "c-drfh sharing incentive": (c_drfh, uneven, "sharing_incentive"),
        "c-drfh bottleneck fairness": (c_drfh, figure_1, "bottleneck_fairness"),
        "tsf bottleneck fairness": (tsf, figure_1, "bottleneck_fairness"),
        "ps-dsf strategy proofness": (ps_dsf, two, "strategy_proofness"),
        "ps-dsf pareto optimality": (ps_dsf, three, "pareto_optimality"),
    }
