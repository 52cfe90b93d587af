"""Measures of a division of a cluster, and runs of Algorithm I in rationals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from theory.exact.programs import Bound, LinearProgram
from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import max_min_tasks
from theory.sharing.model import Cluster, Matrix, Row, occupation
from theory.sharing.properties import bottleneck_resource
from theory.sharing.rounds import start


def fair_shares(instance: Cluster) -> Row | None:
    """Return the tasks, length N, of the weighted max-min fair division of the bottleneck resource, if there is one."""
    r = bottleneck_resource(instance)
    if r is None:
        return None
    tasks, _ = max_min_tasks(occupation(instance), [user.weight / user.demand[r] for user in instance.users])
    return tuple(map(total, tasks))


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


def exact_rounds(instance: Cluster, rounds: int) -> list[Matrix]:
    """Return the tasks after the start and after each round of Algorithm I in rationals, until a round changes nothing.

    >>> from theory.sharing.model import cluster
    >>> endless = cluster([[1], [1]], [[1], [1], [1]], eligible=[[True, False], [False, True], [True, True]])
    >>> [str(tasks[2][1]) for tasks in exact_rounds(endless, 4)]
    ['1/2', '3/8', '11/32', '43/128', '171/512']
    """
    state = start(occupation(instance), exact=True)
    history = [state.exact_tasks()]
    for _ in range(rounds):
        if not state.round():
            break
        history.append(state.exact_tasks())
    return history


def exact_cycle(instance: Cluster, rounds: int) -> tuple[int, int] | None:
    """Return (first round, length) of a cycle of Algorithm I in rationals, or None if none closes within the rounds.

    The state after a round is all the algorithm remembers, so a state that comes back comes back for ever.

    >>> from theory.sharing.model import cluster
    >>> exact_cycle(cluster([[1, 2, 1], [2, 1, 1]], [[0, 1, 3], [1, 3, 0], [2, 0, 1]]), 10)
    (2, 2)
    """
    seen: dict[Matrix, int] = {}
    for place, tasks in enumerate(exact_rounds(instance, rounds)):
        if tasks in seen:
            return seen[tasks], place - seen[tasks]
        seen[tasks] = place
    return None
