"""Result of packproof on PS-DSF: under resource division every cluster has an allocation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import cycling_cluster, two_allocations
from theory.errors import expect_number
from theory.numbers import total
from theory.sharing.checks import has_bottleneck
from theory.sharing.model import Cluster
from theory.sharing.per_server import ps_dsf


def divided(
    cluster: Cluster, elsewhere: Sequence[Fraction], i: int, *, alone: bool = False, all_stop: bool = False
) -> list[Fraction]:
    """Return the fair division of one server where users have tasks elsewhere, by filling it up.

    Parameters
    ----------
    cluster : Cluster
    elsewhere : sequence of Fraction, shape (N,)
        Tasks of each user on the other servers.
    i : int
        The server.
    alone, all_stop : bool
        Wrong versions: tasks on other servers do not count; all users stop at the first saturated resource.

    Returns
    -------
    list of Fraction, shape (N,)
        The tasks on the server: with them every eligible user has a bottleneck there.

    Notes
    -----
    The level rises from 0. A user who has not stopped has as many tasks as lift it to the level, if it is not above it;
    users stop when a resource that they demand is saturated. At most R + N events for each resource.
    """
    rate = [weight * row[i] for weight, row in zip(cluster.weights, cluster.monopoly, strict=True)]
    before = [Fraction(0)] * len(rate) if alone else list(elsewhere)
    needs = [cluster.use(n, i) for n in range(len(rate))]
    tasks = [Fraction(0)] * len(rate)
    rising = {n for n, gamma in enumerate(rate) if gamma > 0}
    while rising:
        ends = []
        for r, capacity in enumerate(cluster.capacity[i]):
            users = [n for n in rising if needs[n][r] > 0]
            free = capacity - total(needs[n][r] * tasks[n] for n in range(len(rate)) if n not in rising)
            if users:
                ends.append((_level(users, [needs[n][r] for n in users], before, rate, free), r))
        level, _ = min(ends)
        full = {r for end, r in ends if end == level}
        stopped = {n for n in rising if all_stop or any(needs[n][r] > 0 for r in full)}
        for n in stopped:
            tasks[n] = max(Fraction(0), rate[n] * level - before[n])
        rising -= stopped
    return tasks


def _level(
    users: Sequence[int],
    needs: Sequence[Fraction],
    before: Sequence[Fraction],
    rate: Sequence[Fraction],
    free: Fraction,
) -> Fraction:
    """Return the level at which users take what is free of a resource: sum of needs max(0, rate level - before)."""
    used = slope = start = Fraction(0)
    for begins, n, need in sorted((before[n] / rate[n], n, need) for n, need in zip(users, needs, strict=True)):
        if used + slope * (begins - start) > free:
            break
        used, start = used + slope * (begins - start), begins
        slope += need * rate[n]
    return start + (free - used) / slope


@claim(
    "resource-division-exists",
    "Under resource division a PS-DSF allocation exists",
    "Under resource division every cluster has a PS-DSF allocation: whatever the demands, weights and placement "
    "constraints, if every user may run somewhere. In the proof the division of one server is unique and continuous in "
    "the tasks that users have elsewhere, and Brouwer's theorem gives a fixed point of all servers. Beside it, on "
    "random clusters the division of one server, by filling, gives every user a bottleneck, and the exact allocations "
    "that packproof finds are fixed points.",
    source="packproof",
    printed="not in the paper, which describes an algorithm and leaves its convergence open",
    evidence=Evidence.proved,
    tiny={"count": 8},
    full={"count": 1000},
    controls={
        "tasks on other servers do not count": {"division": partial(divided, alone=True)},
        "all users stop at the first saturated resource": {"division": partial(divided, all_stop=True)},
    },
    proof="fairness.md#existence",
)
def exists(
    count: int = 30, *, division: Callable[[Cluster, Sequence[Fraction], int], list[Fraction]] = divided
) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(20261125)
    servers = fair = allocations = fixed = 0
    for _ in range(count):
        drawn = random_cluster(generator, 4, 3, 3)
        elsewhere = [Fraction(generator.randint(0, 8), generator.randint(1, 4)) for _ in drawn.users]
        for i in range(len(drawn.servers)):
            column = division(drawn, elsewhere, i)
            # the others' tasks stand on another server, which the test of this one does not look at
            tasks = [[Fraction(0)] * len(drawn.servers) for _ in drawn.users]
            for row, here, others in zip(tasks, column, elsewhere, strict=True):
                row[i], row[i - 1] = here, others
            servers += 1
            fair += all(gamma[i] == 0 or has_bottleneck(drawn, tasks, n, i) is not None
                        for n, gamma in enumerate(drawn.monopoly))  # fmt: skip
    clusters = [two_allocations()[0], cycling_cluster(), *(random_cluster(generator, 3, 2, 2) for _ in range(count))]
    allocated = [(one, ps_dsf(one)) for one in clusters]
    matrices: list[tuple[Cluster, Sequence[Sequence[Fraction]]]]
    matrices = [(one, allocation.tasks) for one, allocation in allocated if allocation.exact]
    matrices += [(two_allocations()[0], tasks) for tasks in two_allocations()[1:]]
    for one, matrix in matrices:
        allocations += 1
        fixed += all(
            division(one, [total(row) - row[i] for row in matrix], i) == [row[i] for row in matrix]
            for i in range(len(one.servers))
        )
    computed = (
        f"{fair} of {servers} servers divided with bottlenecks for all; {fixed} of {allocations} exact allocations are "
        "fixed points"
    )
    return Outcome(computed, fair == servers and fixed == allocations > count // 2)
