"""Worst cases of fair sharing: unfairness, utilisation that is lost, and runs of Algorithm I that do not end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from theory.exact.programs import Bound, LinearProgram
from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import c_drfh, max_min_tasks, tsf
from theory.sharing.model import Cluster, Matrix, Row, cluster, occupation
from theory.sharing.per_server import ps_dsf
from theory.sharing.properties import bottleneck_resource
from theory.sharing.rounds import start

Mechanism = Callable[[Cluster], Allocation]


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


def fair_shares(instance: Cluster) -> Row | None:
    """Return the tasks, length N, of the weighted max-min fair division of the bottleneck resource, if there is one."""
    r = bottleneck_resource(instance)
    if r is None:
        return None
    tasks, _ = max_min_tasks(occupation(instance), [user.weight / user.demand[r] for user in instance.users])
    return tuple(map(total, tasks))


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


def mean_utilisation(allocation: Allocation) -> Fraction:
    """Return the utilisation averaged over the classes and their resources (those with none of a resource left out)."""
    parts = [
        allocation.utilisation(i, r)
        for i, row in enumerate(allocation.cluster.capacity)
        for r, capacity in enumerate(row)
        if capacity
    ]
    return total(parts) / len(parts)


def greatest_utilisation(instance: Cluster) -> Fraction:
    """Return the greatest mean utilisation of any feasible tasks (a linear program, exact)."""
    program = LinearProgram(_within_servers(instance))
    for _, column, largest in _uses(instance):
        in_units = {row: share / largest for row, share in column.items()}
        program.add_columns([total(in_units.values())], [in_units])
    parts = sum(1 for row in instance.capacity for capacity in row if capacity)
    return program.solve().objective / parts


def idle_family(resources: int, users: int) -> Cluster:
    """Return one server on which PS-DSF (there: DRF) leaves all resources but one nearly idle.

    One user demands all resources, the others only the first: PS-DSF gives every user 1 / users, a mean utilisation of
    (1 + (resources - 1) / users) / resources, where 1 is possible. Nothing is worse than 1 / resources: wherever
    anybody can run, Theorem 1 saturates a resource.

    >>> from theory.sharing import ps_dsf
    >>> mean_utilisation(ps_dsf(idle_family(2, 10))), greatest_utilisation(idle_family(2, 10))
    (Fraction(11, 20), Fraction(1, 1))
    """
    first = [1] + [0] * (resources - 1)
    return cluster([[1] * resources], [[1] * resources] + [first] * (users - 1))


def alone_everywhere(instance: Cluster) -> list[Fraction]:
    """Return the tasks of each user alone on all servers, the sum of gamma_{n,i} over i."""
    return [total(row) for row in instance.monopoly]


def sum_of_parts(allocation: Allocation) -> Fraction:
    """Return the sum over users of their tasks, each as a part of what the user could run alone on all servers."""
    alone = alone_everywhere(allocation.cluster)
    return total(x / most for x, most in zip(allocation.totals, alone, strict=True))


def greatest_sum_of_parts(instance: Cluster) -> Fraction:
    """Return the greatest `sum_of_parts` under time division: each server serves the user who gains most by it."""
    alone = alone_everywhere(instance)
    servers = range(len(instance.servers))
    return total(max(row[i] / most for row, most in zip(instance.monopoly, alone, strict=True)) for i in servers)


def price_family(k: int, weight: int = 1) -> Cluster:
    """Return k unit servers with one user tied to each, and k^2 - k users who may use all of them.

    The users who may use all servers have the weight given, those who are tied have weight 1. With equal weights time
    division keeps (2 k - 1)/k^2 of the greatest sum of parts.

    >>> from theory.sharing import ps_dsf_tdm
    >>> sum_of_parts(ps_dsf_tdm(price_family(2))), greatest_sum_of_parts(price_family(2))
    (Fraction(3, 2), Fraction(2, 1))
    """
    users = k * k
    eligible = [[n >= k or n == i for i in range(k)] for n in range(users)]
    return cluster([[1]] * k, [[1]] * users, [1] * k + [weight] * (users - k), eligible)


def everybody_gains(allocation: Allocation) -> Fraction:
    """Return the greatest z such that all users could have z times their tasks: 1 if that is not above one."""
    within = _within_servers(allocation.cluster)
    program = LinearProgram([*within, *[(0, None)] * len(allocation.totals)])
    # in units of what each user could run alone: the tasks of user n, less z times its own, are at least 0
    alone = [total(row) for row in allocation.cluster.monopoly]
    for n, column, _ in _uses(allocation.cluster):
        program.add_columns([0], [{row: share * alone[n] for row, share in column.items()} | {len(within) + n: 1}])
    program.add_columns([1], [{len(within) + n: -x / alone[n] for n, x in enumerate(allocation.totals)}])
    return program.solve().objective


def _within_servers(instance: Cluster) -> list[tuple[Bound, Bound]]:
    """Return a row of a linear program for each resource of each server: its shares sum to at most 1."""
    return [(None, 1)] * (len(instance.servers) * len(instance.resources))


def _uses(instance: Cluster) -> Iterator[tuple[int, dict[int, Fraction], Fraction]]:
    """Yield for each user and server of its the user, the shares that a task takes, by row, and the largest of them."""
    width = len(instance.resources)
    for n, shares in enumerate(occupation(instance).shares):
        for i, row in enumerate(shares):
            if row is not None:
                yield n, {i * width + r: share for r, share in enumerate(row) if share}, max(row)


def endless_cluster() -> Cluster:
    """Return the smallest cluster found on which Algorithm I never ends.

    Two unit servers, one resource, three users of equal weight, the third on both. Let b be what the third holds on the
    second server after a round: serving the first leaves it (1 - b) / 2 there, serving the second (1 + b) / 4 here. The
    limit is 1/3; from the start 1/2 the distance is divided by 4 for ever, so the last-round flag never stays up.
    """
    return cluster([[1], [1]], [[1], [1], [1]], eligible=[[True, False], [False, True], [True, True]])


def exact_rounds(instance: Cluster, rounds: int) -> list[Matrix]:
    """Return the tasks after the start and after each round of Algorithm I in rationals, until a round changes nothing.

    >>> [str(tasks[2][1]) for tasks in exact_rounds(endless_cluster(), 4)]
    ['1/2', '3/8', '11/32', '43/128', '171/512']
    """
    state = start(occupation(instance), exact=True)
    history = [state.exact_tasks()]
    for _ in range(rounds):
        if not state.round():
            break
        history.append(state.exact_tasks())
    return history


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


def exact_cycle(instance: Cluster, rounds: int) -> tuple[int, int] | None:
    """Return (first round, length) of a cycle of Algorithm I in rationals, or None if none closes within the rounds.

    The state after a round is all the algorithm remembers, so a state that comes back comes back for ever.

    >>> exact_cycle(cycling_cluster(), 10), exact_cycle(endless_cluster(), 10)
    ((2, 2), None)
    """
    seen: dict[Matrix, int] = {}
    for place, tasks in enumerate(exact_rounds(instance, rounds)):
        if tasks in seen:
            return seen[tasks], place - seen[tasks]
        seen[tasks] = place
    return None


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
