"""Is an allocation what it claims to be? Decided by rational arithmetic on the definitions, without an algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.numbers import text
from theory.sharing.allocation import Stage
from theory.sharing.model import Cluster

Tasks = Sequence[Sequence[Fraction]]
"""Tasks x_{n,i} of user n on class i, shape (N, K)."""


def is_feasible_allocation(cluster: Cluster, tasks: Tasks, *, division: str = "resource") -> bool:
    """Decide whether tasks fit the servers; O(N K R) rational operations, no tolerance.

    False also where a number of tasks is negative, or positive on a server that its user may not use, or where a user
    has more tasks than it wants.

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)
    division : {"resource", "time"}
        Constraint (9), or (10).

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> both = cluster([[4, 1]], [[2, 0], [0, 1]])
    >>> is_feasible_allocation(both, [[2], [1]]), is_feasible_allocation(both, [[2], [1]], division="time")
    (True, False)
    """
    return infeasibility(cluster, tasks, division=division) is None


def infeasibility(cluster: Cluster, tasks: Tasks, *, division: str = "resource") -> str | None:
    """Return in words the first constraint that tasks violate; None where they fit the servers.

    Parameters and complexity are those of `is_feasible_allocation`.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> infeasibility(cluster([[4]], [[2], [1]]), [[1], [3]])
    'the tasks take 5 of r1 on server s1, which has 4'
    """
    for user, row, alone in zip(cluster.users, tasks, cluster.monopoly, strict=True):
        for server, x, most in zip(cluster.servers, row, alone, strict=True):
            if x < 0:
                return f"{text(x)} tasks of user {user.name} on server {server.name}, expected 0 or more"
            if x > 0 and most == 0:
                return f"{text(x)} tasks of user {user.name} on server {server.name}, where that user can run none"
    for user, row in zip(cluster.users, tasks, strict=True):
        if user.most_tasks is not None and sum(row) > user.most_tasks:
            return f"{text(sum(row))} tasks of user {user.name}, who wants {text(user.most_tasks)}"
    for i, server in enumerate(cluster.servers):
        if division == "time":
            parts = (Fraction(row[i]) / cluster.monopoly[n][i] for n, row in enumerate(tasks) if row[i])
            time = sum(parts, Fraction(0))
            if time > 1:
                return f"the tasks take {text(time)} of the time of server {server.name}"
            continue
        for resource, amount, c in zip(cluster.resources, _used(cluster, tasks, i), cluster.capacity[i], strict=True):
            if amount > c:
                return f"the tasks take {text(amount)} of {resource} on server {server.name}, which has {text(c)}"
    return None


def has_bottleneck(cluster: Cluster, tasks: Tasks, n: int, i: int) -> int | None:
    """Return a bottleneck resource of user `n` at the eligible class `i` (Definition 6), or None.

    It demands the resource, the resource is saturated, and no user who holds some of it there has a greater weighted
    virtual dominant share (12).
    """
    used = _used(cluster, tasks, i)
    need = cluster.use(n, i)
    level = _level(cluster, tasks, n, i)
    for r, c in enumerate(cluster.capacity[i]):
        if need[r] > 0 and used[r] == c:
            holders = [p for p, row in enumerate(tasks) if row[i] > 0 and cluster.use(p, i)[r] > 0]
            if all(level >= _level(cluster, tasks, p, i) for p in holders):
                return r
    return None


def is_ps_dsf(cluster: Cluster, tasks: Tasks) -> bool:
    """Decide by Theorem 1 whether an allocation is PS-DSF under resource division.

    It is if it is feasible and every user has a bottleneck at every eligible class.

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)

    Notes
    -----
    O(N K R) rational operations: at each class and resource only the greatest level among the holders matters. A user
    that has all the tasks that it wants needs no bottleneck: on one server that is max-min fairness, so it decides DRF
    with caps; the literature defines no PS-DSF with caps. Source: PS-DSF paper, (12) and Theorem 1.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> is_ps_dsf(figure1, [[3, 0], [3, 0], [0, 6]]), is_ps_dsf(figure1, [[2, 0], [2, 0], [2, 6]])
    (True, False)
    """
    cluster.refuse_groups("PS-DSF")
    if not is_feasible_allocation(cluster, tasks):
        return False
    totals = [sum(row, Fraction(0)) for row in tasks]
    for i in range(len(cluster.servers)):
        used = _used(cluster, tasks, i)
        eligible = [n for n in range(len(totals)) if cluster.monopoly[n][i] > 0]
        level = {n: totals[n] / (cluster.monopoly[n][i] * cluster.weights[n]) for n in eligible}
        needs = {n: cluster.use(n, i) for n in eligible}
        served = {n for n in eligible if cluster.users[n].is_at_cap(totals[n])}
        for r, c in enumerate(cluster.capacity[i]):
            if c == 0 or used[r] != c:
                continue
            # Definition 6: r is a bottleneck of the users that demand it and are at or above its highest holder
            greatest = max(level[p] for p in eligible if tasks[p][i] > 0 and needs[p][r] > 0)
            served |= {n for n in eligible if needs[n][r] > 0 and level[n] >= greatest}
        if len(served) < len(eligible):
            return False
    return True


def is_ps_dsf_tdm(cluster: Cluster, tasks: Tasks) -> bool:
    """Decide by Theorem 2 whether an allocation is PS-DSF under time division.

    It is if all time of every class that some user can use is given out, and at each class every eligible user's
    weighted virtual dominant share is at least that of each user served there (13).

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)

    Notes
    -----
    O(N K) rational operations. Source: PS-DSF paper, Theorem 2.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> is_ps_dsf_tdm(cluster([[2, 1]], [[2, 0], [0, 1]]), [[Fraction(1, 2)], [Fraction(1, 2)]])
    True
    """
    cluster.refuse_groups("PS-DSF")
    if not is_feasible_allocation(cluster, tasks, division="time"):
        return False
    totals = [sum(row, Fraction(0)) for row in tasks]
    for i in range(len(cluster.servers)):
        eligible = [n for n in range(len(totals)) if cluster.monopoly[n][i] > 0]
        if not eligible:
            continue
        if sum(tasks[n][i] / cluster.monopoly[n][i] for n in eligible) != 1:  # (10) with equality
            return False
        level = {n: totals[n] / (cluster.monopoly[n][i] * cluster.weights[n]) for n in eligible}
        if min(level.values()) < max(level[n] for n in eligible if tasks[n][i] > 0):
            return False
    return True


def is_max_min(cluster: Cluster, tasks: Tasks, unit: Sequence[Fraction], stages: Sequence[Stage]) -> bool:
    """Decide whether the stages prove that the totals are weighted max-min fair in x_n / unit_n.

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)
        Under resource division.
    unit : sequence of Fraction, shape (N,)
        Positive.
    stages : sequence of Stage
        For each user below its cap one that gives its tasks a value, and none to users with a greater x_n / unit_n.

    Notes
    -----
    Weak duality: with prices y and values q as in `Stage`, every feasible x' has sum q x' <= sum y = sum q x;
    so a user with q > 0 can only gain if another with q > 0 loses. O(stages N K R).
    """
    if not is_feasible_allocation(cluster, tasks):
        return False
    totals = [sum(row, Fraction(0)) for row in tasks]
    unproved = {n for n, x in enumerate(totals) if not cluster.users[n].is_at_cap(x)}
    for stage in stages:
        if min(map(min, stage.prices)) < 0 or min(stage.value) < 0:
            return False
        for n, value in enumerate(stage.value):  # no task costs less than its value, at any eligible class
            for i, gamma in enumerate(cluster.monopoly[n]):
                pairs = zip(stage.prices[i], cluster.use(n, i), cluster.capacity[i], strict=True)
                if gamma and value > sum(y * use / c for y, use, c in pairs if use):
                    return False
        if sum(map(sum, stage.prices)) != sum(q * x for q, x in zip(stage.value, totals, strict=True)):
            return False
        # the stage is tight, so it proves the level of the highest users to whose tasks it gives a value
        blocking = {n for n, value in enumerate(stage.value) if value}
        top = max((totals[n] / unit[n] for n in blocking), default=Fraction(0))
        unproved -= {n for n in blocking if totals[n] / unit[n] == top}
    return not unproved


def corollary_1(cluster: Cluster, tasks: Tasks, i: int, r: int, waiting: Sequence[int]) -> list[int]:
    """Return the users among `waiting` for whom Corollary 1 makes resource `r` a bottleneck at class `i`.

    Those with d_{n,r} > 0 (15), if `r` is saturated and no holder's level exceeds the least level in `waiting` (14);
    else none.

    Parameters
    ----------
    waiting : sequence of int
        The set N_i: users for whom no bottleneck is known yet.

    Notes
    -----
    (14) is read with "at most", over all holders: with equality it would fail where the holders are users already
    removed, whose levels are lower.
    """
    if not waiting or cluster.capacity[i][r] == 0 or _used(cluster, tasks, i)[r] != cluster.capacity[i][r]:
        return []
    holders = [p for p, row in enumerate(tasks) if row[i] > 0 and cluster.use(p, i)[r] > 0]
    least = min(_level(cluster, tasks, n, i) for n in waiting)
    if any(_level(cluster, tasks, p, i) > least for p in holders):
        return []
    return [n for n in waiting if cluster.use(n, i)[r] > 0]


def _level(cluster: Cluster, tasks: Tasks, n: int, i: int) -> Fraction:
    """Return the weighted virtual dominant share s_{n,i} / phi_n."""
    return sum(tasks[n], Fraction(0)) / (cluster.monopoly[n][i] * cluster.weights[n])


def _used(cluster: Cluster, tasks: Tasks, i: int) -> list[Fraction]:
    used = [Fraction(0)] * len(cluster.resources)
    for n, row in enumerate(tasks):
        if row[i]:
            for r, need in enumerate(cluster.use(n, i)):
                used[r] += row[i] * need
    return used
