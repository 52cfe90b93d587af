"""An allocation and what is measured on it: utilisation, Jain's index, Nash welfare; whole tasks and decimals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, floor, log
from typing import TYPE_CHECKING

from theory.numbers import ceiling, total
from theory.sharing.model import Cluster, Matrix, Row
from theory.shown import Shown

if TYPE_CHECKING:
    from theory.sharing.violation import Violation


@dataclass(frozen=True)
class Stage:
    """Why the users of one level of a max-min fair allocation cannot rise.

    Attributes
    ----------
    prices : tuple of tuple of Fraction, shape (K, R)
        Of the whole of each resource of each class, y >= 0.
    value : tuple of Fraction, length N
        Of a task of each user, q >= 0: no task costs less than its value, q_n <= sum_r y_{i,r} share_{n,i,r} at every
        eligible class, so no feasible tasks are worth more than the sum of prices, which the allocation attains. Empty
        in numeric shares, whose check takes the least cost of a task.

    Notes
    -----
    If q is 0 on all users above the level, no user with q > 0 can gain without a loss to another who is no better off.
    """

    prices: Matrix
    value: Row


@dataclass(frozen=True, repr=False)
class Allocation(Shown):
    """Tasks of users on server classes.

    Attributes
    ----------
    mechanism : str
    cluster : Cluster
        The cluster it divides (for DRF the pooled one).
    tasks : tuple of tuple of Fraction, shape (N, K)
        x_{n,i}, totals over the servers of a class.
    division : {"resource", "time"}
        Feasible by (9), or by (10).
    exact : bool
        Whether the defining property was verified in rationals; if not, the tasks are rational roundings of floats.
    rounds : int, optional
        Rounds of Algorithm I that were run.
    damped : bool
        Whether servers went part of their way only in the last of them: the algorithm as printed found no limit.
    interrupted : bool
        Whether Ctrl-C ended the rounds.
    violation : Violation, optional
        Of an allocation of a large cluster that is not exact: how far it is from the conditions of its mechanism.
    stages : tuple of Stage
        Proof of max-min fairness, for the mechanisms that are max-min fair in one number a user.
    """

    mechanism: str
    cluster: Cluster
    tasks: Matrix
    division: str = "resource"
    exact: bool = True
    rounds: int | None = None
    damped: bool = False
    interrupted: bool = False
    violation: Violation | None = None
    stages: tuple[Stage, ...] = ()

    @cached_property
    def totals(self) -> Row:
        """Tasks x_n of each user, length N."""
        return tuple(total(row) for row in self.tasks)

    @cached_property
    def used(self) -> Matrix:
        """Amount of each resource in use on each class, shape (K, R)."""
        rows = [[Fraction(0)] * len(self.cluster.resources) for _ in self.cluster.servers]
        for n, row in enumerate(self.tasks):
            for i, x in enumerate(row):
                if x:
                    for r, need in enumerate(self.cluster.use(n, i)):
                        rows[i][r] += x * need
        return tuple(map(tuple, rows))

    def utilisation(self, i: int, r: int) -> Fraction:
        """Return the share of resource `r` of class `i` that is in use; 0 where there is none."""
        capacity = self.cluster.capacity[i][r]
        return self.used[i][r] / capacity if capacity else Fraction(0)

    @cached_property
    def shares(self) -> Row:
        """Share of what it could run alone, by weight: x_n / (phi_n sum_i gamma_{n,i}), length N.

        With groups phi_n is the user's part of the weight of its group.
        """
        rows = zip(self.totals, self.cluster.overall_weights, self.cluster.monopoly, strict=True)
        return tuple(x / (weight * total(row)) for x, weight, row in rows)


def jain_index(shares: Row) -> Fraction:
    """Return Jain's fairness index (sum s)^2 / (N sum s^2): 1 if all are equal, 1/N if one has everything.

    Examples
    --------
    >>> jain_index((Fraction(1), Fraction(3)))
    Fraction(4, 5)
    """
    squares = total(s * s for s in shares)  # 0 only if no user has anything: all are equal then
    return total(shares) ** 2 / (len(shares) * squares) if squares else Fraction(1)


def nash_welfare(allocation: Allocation) -> float:
    """Return the weighted geometric mean of x_n / sum_i gamma_{n,i}: what the fraction of a monopoly is worth.

    With groups a user has its part of the weight of its group.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> one = Fraction(1)
    >>> nash_welfare(Allocation("drf", cluster([[4]], [[1], [1]]), ((one,), (one,))))
    0.25
    """
    weights = allocation.cluster.overall_weights
    rows = zip(allocation.totals, allocation.cluster.monopoly, strict=True)
    shares = [x / total(row) for x, row in rows]
    if not all(shares):
        return 0.0
    return exp(sum(float(w) * log(s) for w, s in zip(weights, shares, strict=True)) / float(total(weights)))


def feasible_decimals(cluster: Cluster, tasks: Sequence[Sequence[Fraction]], division: str) -> Matrix:
    """Return tasks as shortest decimals of floats, scaled down server by server until no load is above 1, exactly."""
    zero = Fraction(0)
    by_server: list[list[tuple[int, Fraction]]] = [[] for _ in cluster.servers]
    for n, row in enumerate(tasks):
        for i, x in enumerate(row):
            if x:
                by_server[i].append((n, x))
    rows: list[dict[int, Fraction]] = [{} for _ in cluster.users]
    for i, placed in enumerate(by_server):
        shares = {
            n: [use / c if use else zero for use, c in zip(cluster.use(n, i), cluster.capacity[i], strict=True)]
            for n, _ in placed
        }
        scale = 1.0
        while True:
            decimals = [(n, Fraction(repr(float(x) * scale))) for n, x in placed]
            if division == "time":
                load = total(x * max(shares[n]) for n, x in decimals)
            else:
                load = max(total(x * shares[n][r] for n, x in decimals) for r in range(len(cluster.resources)))
            if load <= 1:
                break
            scale *= (1 - 2.0**-51) / float(load)  # a little less, so that rounding cannot keep the load above 1
        for n, x in decimals:
            rows[n][i] = x
    return tuple(tuple(row.get(i, zero) for i in range(len(cluster.servers))) for row in rows)


@dataclass(frozen=True)
class WholeTasks:
    """An allocation rounded to whole tasks.

    Attributes
    ----------
    tasks : tuple of tuple of int, shape (N, K)
        Totals over the servers of a class, placed on single servers.
    lost : tuple of Fraction, length N
        x_n minus the whole tasks; negative where a user gained from capacity that others left.
    """

    tasks: tuple[tuple[int, ...], ...]
    lost: Row


def whole_tasks(allocation: Allocation) -> WholeTasks:
    """Round an allocation to whole tasks on single servers, and fill what stays free in order of need.

    Parameters
    ----------
    allocation : Allocation
        Under resource division.

    Notes
    -----
    Every server of a class takes the floor of its equal part; then, again and again, the user furthest below its tasks
    (relative to its goal) puts an eighth of what it lacks where it fits, servers in order, until no user below its
    tasks fits anywhere, or wants one whole task more. A heuristic: the best rounding is a bin packing problem. Servers
    of a class with equal contents are counted together, so the cost does not grow with the counts.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> half = Fraction(5, 2)
    >>> whole_tasks(Allocation("drf", cluster([[5]], [[1], [1]]), ((half,), (half,)))).tasks
    ((3,), (2,))
    """
    cluster = allocation.cluster
    zero = Fraction(0)
    placed = [[0] * len(cluster.servers) for _ in cluster.users]
    groups: list[dict[Row, int]] = []  # for each class: the number of servers by their free capacity
    for i, server in enumerate(cluster.servers):
        free = list(server.capacity)
        for n in range(len(cluster.users)):
            each = floor(allocation.tasks[n][i] / server.count)
            if each:
                placed[n][i] = each * server.count
                free = [f - each * use for f, use in zip(free, cluster.use(n, i), strict=True)]
        groups.append({tuple(free): server.count})
    goal = allocation.totals
    waiting = set(range(len(cluster.users)))
    placed_in_all = [sum(row) for row in placed]
    while waiting:
        # the user furthest below its goal, relative to it; ties in file order
        n = min(waiting, key=lambda n: (placed_in_all[n] / goal[n] if goal[n] else Fraction(1), n))
        batch = -(-ceiling(goal[n] - placed_in_all[n]) // 8)
        batch = min(batch, floor(cluster.users[n].wanted(Fraction(placed_in_all[n] + batch))) - placed_in_all[n])
        place = _place(cluster, groups, n, batch) if batch > 0 else None
        if place is None:
            waiting.discard(n)
            continue
        i, number = place
        placed[n][i] += number
        placed_in_all[n] += number
    return WholeTasks(tuple(map(tuple, placed)), tuple(x - sum(row, zero) for x, row in zip(goal, placed, strict=True)))


def _place(cluster: Cluster, groups: list[dict[Row, int]], n: int, most: int) -> tuple[int, int] | None:
    """Put up to `most` tasks of a user on the first group of equal servers where one fits; return (class, number)."""
    for i, servers_by_free in enumerate(groups):
        if not cluster.monopoly[n][i]:
            continue
        use = cluster.use(n, i)
        for free, servers in servers_by_free.items():
            each = min(floor(f / u) for f, u in zip(free, use, strict=True) if u)
            if each <= 0:
                continue
            number = min(most, each * servers)
            full, rest = divmod(number, each)
            # the group divides into servers that stay as they are, full ones, and one with the rest of the tasks
            del servers_by_free[free]
            for count, tasks in ((servers - full - bool(rest), 0), (full, each), (1 if rest else 0, rest)):
                if count:
                    still_free = tuple(f - tasks * u for f, u in zip(free, use, strict=True))
                    servers_by_free[still_free] = servers_by_free.get(still_free, 0) + count
            return i, number
    return None
