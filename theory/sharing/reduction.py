"""A cluster without copies: equal users and servers merged, in units and an order that do not depend on its file."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.numbers import total
from theory.sharing.model import Cluster, Matrix, Row, eligibility

Pair = tuple[int, int]
"""A user and a server."""

Members = list[tuple[int, Fraction]]
"""Places of users, or of servers, that were merged, and their size relative to the merged one's row."""


@dataclass(frozen=True)
class Reduced:
    """Merged users and servers, and the way back to those of the cluster."""

    # shape (N, R): of one task, as a part of the cluster's total of each resource, scaled to a largest entry of 1
    demand: Matrix
    capacity: Matrix  # shape (K, R): as a part of the cluster's total of each resource
    weights: Row  # sum 1
    eligible: NDArray[np.bool_]  # [N, K]
    seen: Mapping[Pair, Row]  # capacity over effective capacity by resource, where they differ
    # of each user of the cluster its merged user, and the factor from the merged user's tasks to its own
    user: tuple[tuple[int, Fraction], ...]
    server: tuple[tuple[int, Fraction], ...]  # of each class its merged server, and the part of it that the class is

    def share(self, n: int, i: int) -> Row:
        """Return the share of each resource of server `i` that one task of user `n` takes, exactly, length R."""
        zero = Fraction(0)
        row = tuple(d / c if d else zero for d, c in zip(self.demand[n], self.capacity[i], strict=True))
        ratios = self.seen.get((n, i))
        return row if ratios is None else tuple(share * ratio for share, ratio in zip(row, ratios, strict=True))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Shares in floats, float64[K, N, R]; 0 where a user is not eligible."""
        demand = np.array([[float(d) for d in row] for row in self.demand])
        capacity = np.array([[float(c) for c in row] for row in self.capacity])
        inverse = np.divide(1.0, capacity, out=np.zeros_like(capacity), where=capacity > 0)
        shares: NDArray[np.float64] = demand[None, :, :] * inverse[:, None, :]
        for (n, i), ratios in self.seen.items():
            shares[i, n] *= [float(ratio) for ratio in ratios]
        shares[~self.eligible.T] = 0.0
        return shares

    def expand(self, tasks: Mapping[Pair, Fraction]) -> Matrix:
        """Return the tasks of the cluster's users on its classes from those of the merged users, zeros left out."""
        zero = Fraction(0)
        classes: dict[int, Members] = {}
        for place, (i, part) in enumerate(self.server):
            classes.setdefault(i, []).append((place, part))
        by_user: dict[int, Members] = {}
        for (n, i), x in tasks.items():
            by_user.setdefault(n, []).extend((place, x * part) for place, part in classes[i])
        rows = []
        for n, factor in self.user:
            row = [zero] * len(self.server)
            for place, x in by_user.get(n, ()):
                row[place] = x * factor
            rows.append(tuple(row))
        return tuple(rows)

    def expand_floats(self, tasks: NDArray[np.float64]) -> Matrix:
        """Return the same of tasks in floats, float64[K, N]."""
        places = np.argwhere(tasks > 0).tolist()
        return self.expand({(n, i): Fraction(float(tasks[i, n])) for i, n in places})


def reduce(cluster: Cluster) -> Reduced:
    """Merge users with proportional demands and equal servers, then servers with proportional capacities; order them.

    An allocation of the merged cluster is PS-DSF if and only if its proportional split is PS-DSF in the cluster: the
    levels at a server change by one common factor. The order is by weight and demand, and by capacity, greatest first;
    ties are decided by the users that may use a server, and by the servers that a user may use; what is equal in these
    too keeps file order. So neither units nor the order of the file change the result of an algorithm that goes through
    users and servers in order. O((N + K) R) rational operations, so clusters of millions of pairs can be reduced.
    InputError for users with caps, which nothing that runs on a merged cluster knows.

    >>> from theory.sharing.model import cluster
    >>> reduced = reduce(cluster([[1], [2]], [[1], [3]]))
    >>> reduced.user, reduced.server
    (((0, Fraction(3, 2)), (0, Fraction(1, 2))), ((0, Fraction(1, 3)), (0, Fraction(2, 3))))
    """
    cluster.refuse_caps_and_groups("numeric shares and PS-DSF")
    unit = Fraction(1)
    totals = [total(column) for column in zip(*cluster.capacity, strict=True)]
    units = [unit / value if value else Fraction(0) for value in totals]  # each resource as a part of its total
    may = eligibility(cluster)
    seen = _effective(cluster, may)
    demands, merged_users = _merged(
        [_in_units(user.demand, units) for user in cluster.users],
        [(row.tobytes(), ratios) for row, ratios in zip(may, _by_first(seen, len(may)), strict=True)],
    )
    # Servers are compared by the first of each group of merged users: the others see them alike.
    user_of = {members[0][0]: m for m, members in enumerate(merged_users)}
    seen = {(user_of[n], i): ratios for (n, i), ratios in seen.items() if n in user_of}
    may = may[list(user_of)]
    turned = {(i, m): ratios for (m, i), ratios in seen.items()}
    shapes, merged_servers = _merged(
        [_in_units(capacity, units) for capacity in cluster.capacity],
        [(column.tobytes(), ratios) for column, ratios in zip(may.T, _by_first(turned, len(may.T)), strict=True)],
    )
    server_of = {members[0][0]: j for j, members in enumerate(merged_servers)}
    sizes = [total(size for _, size in members) for members in merged_servers]
    capacities = [tuple(c * size for c in shape) for shape, size in zip(shapes, sizes, strict=True)]
    may = may[:, list(server_of)]
    weights = [total(cluster.weights[n] for n, _ in members) for members in merged_users]
    by_user, by_server = _order(list(zip(weights, demands, strict=True)), capacities, may)
    new_user = {m: place for place, m in enumerate(by_user)}
    new_server = {j: place for place, j in enumerate(by_server)}
    # A user has its part of the merged weight, in tasks of its own size; a class is its part of the merged capacity.
    user = {
        n: (new_user[m], cluster.weights[n] / weights[m] / size)
        for m, members in enumerate(merged_users)
        for n, size in members
    }
    server = {i: (new_server[j], size / sizes[j]) for j, members in enumerate(merged_servers) for i, size in members}
    all_weights = total(weights)
    return Reduced(
        tuple(demands[m] for m in by_user),
        tuple(capacities[j] for j in by_server),
        tuple(weights[m] / all_weights for m in by_user),
        np.ascontiguousarray(may[by_user][:, by_server]),
        {(new_user[m], new_server[server_of[i]]): ratios for (m, i), ratios in seen.items() if i in server_of},
        tuple(user[n] for n in range(len(user))),
        tuple(server[i] for i in range(len(server))),
    )


def _in_units(row: Row, units: Sequence[Fraction]) -> Row:
    return tuple(x * unit for x, unit in zip(row, units, strict=True))


def _merged(rows: Sequence[Row], others: Sequence[Hashable]) -> tuple[list[Row], list[Members]]:
    """Group places whose rows are proportional, and which are equal in what else counts.

    Returns the shape of each group, its largest entry 1, and the members with their sizes: a member's row is its size
    times the shape. A server without anything has size 1: no user may use it.
    """
    groups: dict[tuple[Row, Hashable], Members] = {}
    for place, (row, other) in enumerate(zip(rows, others, strict=True)):
        size = max(row) or Fraction(1)
        # proportional rows have one shape: the row over its largest entry
        groups.setdefault((tuple(x / size for x in row), other), []).append((place, size))
    return [shape for shape, _ in groups], list(groups.values())


def _by_first(seen: Mapping[Pair, Row], count: int) -> list[tuple[tuple[int, Row], ...]]:
    """Return, for each of `count` first places of pairs, the second places and what the mapping has there."""
    rows: list[list[tuple[int, Row]]] = [[] for _ in range(count)]
    for (first, second), ratios in seen.items():
        rows[first].append((second, ratios))
    return list(map(tuple, rows))


def _effective(cluster: Cluster, may: NDArray[np.bool_]) -> dict[Pair, Row]:
    """Return capacity over effective capacity of the resources that a user demands, where they differ."""
    place = {server.name: i for i, server in enumerate(cluster.servers)}
    unit = Fraction(1)
    seen: dict[Pair, Row] = {}
    for n, user in enumerate(cluster.users):
        for i, effective in sorted((place[name], row) for name, row in user.effective.items()):
            if may[n, i]:
                # a task takes d / e = (d / c) (c / e) of the resource; what is not demanded does not matter
                rows = zip(user.demand, cluster.servers[i].capacity, effective, strict=True)
                ratios = tuple(c / e if d else unit for d, c, e in rows)
                if any(ratio != 1 for ratio in ratios):
                    seen[n, i] = ratios
    return seen


def _order(
    users: list[tuple[Fraction, Row]], servers: list[Row], may: NDArray[np.bool_]
) -> tuple[list[int], list[int]]:
    """Return the order of merged users and servers."""
    # users by weight and demand; equal ones are told apart by the servers that they may use, once these are in order
    rank = {key: place for place, key in enumerate(sorted(set(users), reverse=True))}
    ranks = np.array([rank[key] for key in users])
    ranks_there = [np.sort(ranks[may[:, j]]).tolist() for j in range(len(servers))]
    by_server = sorted(range(len(servers)), key=lambda j: ([-c for c in servers[j]], ranks_there[j]))
    turned = may[:, by_server]
    by_user = sorted(range(len(users)), key=lambda m: (ranks[m], (~turned[m]).tobytes()))
    return by_user, by_server
