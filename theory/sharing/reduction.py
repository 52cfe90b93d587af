"""A cluster without copies: equal users and servers merged, in units and an order that do not depend on its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.numbers import total
from theory.sharing.model import Cluster, Matrix, Row

Pair = tuple[int, int]
"""A user and a server."""


@dataclass(frozen=True)
class Reduced:
    """Merged users and servers, and the way back to those of the cluster.

    Attributes
    ----------
    demand : tuple of tuple of Fraction, shape (N, R)
        Of one task, as a part of all there is of each resource; the largest entry of each row is 1.
    capacity : tuple of tuple of Fraction, shape (K, R)
        As a part of all there is.
    weights : tuple of Fraction, length N
        Sum 1.
    eligible : bool[N, K]
    seen : mapping from (user, server) to tuple of Fraction
        Capacity over effective capacity by resource, where they differ.
    user : tuple of (int, Fraction), one for each user of the cluster
        Its merged user, and the factor from the merged user's tasks to its own.
    server : tuple of (int, Fraction), one for each class of the cluster
        Its merged server, and the part of it that the class is.
    """

    demand: Matrix
    capacity: Matrix
    weights: Row
    eligible: NDArray[np.bool_]
    seen: Mapping[Pair, Row]
    user: tuple[tuple[int, Fraction], ...]
    server: tuple[tuple[int, Fraction], ...]

    def share(self, n: int, i: int) -> Row:
        """Return the share of each resource of server `i` that one task of user `n` takes, exactly, length R."""
        zero = Fraction(0)
        row = tuple(d / c if d else zero for d, c in zip(self.demand[n], self.capacity[i], strict=True))
        own = self.seen.get((n, i))
        return row if own is None else tuple(share * ratio for share, ratio in zip(row, own, strict=True))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Shares in floats, float64[K, N, R]; 0 where a user is not eligible."""
        demand = np.array([[float(d) for d in row] for row in self.demand])
        capacity = np.array([[float(c) for c in row] for row in self.capacity])
        inverse = np.divide(1.0, capacity, out=np.zeros_like(capacity), where=capacity > 0)
        made: NDArray[np.float64] = demand[None, :, :] * inverse[:, None, :]
        for (n, i), ratio in self.seen.items():
            made[i, n] *= [float(value) for value in ratio]
        made[~self.eligible.T] = 0.0
        return made

    def expand(self, tasks: Mapping[Pair, Fraction]) -> Matrix:
        """Return the tasks of the cluster's users on its classes from those of the merged users, zeros left out."""
        zero = Fraction(0)
        members: dict[int, list[tuple[int, Fraction]]] = {}
        for place, (i, part) in enumerate(self.server):
            members.setdefault(i, []).append((place, part))
        by_user: dict[int, list[tuple[int, Fraction]]] = {}
        for (n, i), x in tasks.items():
            by_user.setdefault(n, []).extend((place, x * part) for place, part in members[i])
        rows = []
        for n, factor in self.user:
            row = [zero] * len(self.server)
            for place, x in by_user.get(n, ()):
                row[place] = x * factor
            rows.append(tuple(row))
        return tuple(rows)


def reduce(cluster: Cluster) -> Reduced:
    """Merge users with proportional demands and equal servers, then servers with proportional capacities; order them.

    Notes
    -----
    As `theory.sharing.occupation.merge`, whose pairs of user and server are all exact; here only users and servers are,
    O((N + K) R) rational operations, so clusters of millions of pairs can be reduced. Quantities are parts of all there
    is. The order is by weight and demand, and by capacity, greatest first; what is equal in these by the users that may
    use a server, and by the servers that a user may use; what is equal in these too keeps file order.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> made = reduce(cluster([[1], [2]], [[1], [3]]))
    >>> made.user, made.server
    (((0, Fraction(3, 2)), (0, Fraction(1, 2))), ((0, Fraction(1, 3)), (0, Fraction(2, 3))))
    """
    one, zero = Fraction(1), Fraction(0)
    everything = [total(column) for column in zip(*cluster.capacity, strict=True)]
    units = [one / value if value else zero for value in everything]
    may = _eligible(cluster)
    seen = _effective(cluster, may)
    by_user: dict[int, list[tuple[int, Row]]] = {}
    for (n, i), ratio in seen.items():
        by_user.setdefault(n, []).append((i, ratio))
    users: dict[tuple[object, ...], list[tuple[int, Fraction]]] = {}
    for n, one_user in enumerate(cluster.users):
        row = [d * unit for d, unit in zip(one_user.demand, units, strict=True)]
        scale = max(row) or one
        key = (tuple(d / scale for d in row), may[n].tobytes(), tuple(by_user.get(n, ())))
        users.setdefault(key, []).append((n, scale))
    first = [members[0][0] for members in users.values()]
    heavy = [total(cluster.weights[n] for n, _ in members) for members in users.values()]
    demands = [key[0] for key in users]
    place_of = {n: m for m, n in enumerate(first)}
    by_server: dict[int, list[tuple[int, Row]]] = {}
    for (n, i), ratio in seen.items():
        if n in place_of:
            by_server.setdefault(i, []).append((place_of[n], ratio))
    merged = may[first]
    servers: dict[tuple[object, ...], list[tuple[int, Fraction]]] = {}
    for i, capacity in enumerate(cluster.capacity):
        row = [c * unit for c, unit in zip(capacity, units, strict=True)]
        scale = max(row) or one  # a server without anything is one that nobody may use
        key = (tuple(c / scale for c in row), merged[:, i].tobytes(), tuple(by_server.get(i, ())))
        servers.setdefault(key, []).append((i, scale))
    sizes = [total(scale for _, scale in members) for members in servers.values()]
    capacities = [tuple(c * size for c in key[0]) for key, size in zip(servers, sizes, strict=True)]  # type: ignore[attr-defined]
    merged = merged[:, [members[0][0] for members in servers.values()]]
    user_order, server_order = _order(list(zip(heavy, demands, strict=True)), capacities, merged)
    whole = total(heavy)
    new_user = {m: place for place, m in enumerate(user_order)}
    new_server = {j: place for place, j in enumerate(server_order)}
    user: list[tuple[int, Fraction]] = [(0, zero)] * len(cluster.users)
    for m, members in enumerate(users.values()):
        for n, scale in members:
            user[n] = (new_user[m], cluster.weights[n] / heavy[m] / scale)
    server: list[tuple[int, Fraction]] = [(0, zero)] * len(cluster.servers)
    home: dict[int, int] = {}
    for j, members in enumerate(servers.values()):
        home[members[0][0]] = new_server[j]
        for i, scale in members:
            server[i] = (new_server[j], scale / sizes[j])
    return Reduced(
        tuple(demands[m] for m in user_order),  # type: ignore[misc]
        tuple(capacities[j] for j in server_order),
        tuple(heavy[m] / whole for m in user_order),
        np.ascontiguousarray(merged[user_order][:, server_order]),
        {(new_user[place_of[n]], home[i]): ratio for (n, i), ratio in seen.items() if n in place_of and i in home},
        tuple(user),
        tuple(server),
    )


def _eligible(cluster: Cluster) -> NDArray[np.bool_]:
    """Return where gamma_{n,i} > 0 in formula (7), bool[N, K]."""
    need = np.array([[d > 0 for d in user.demand] for user in cluster.users])
    lacking = np.array([[c <= 0 for c in server.capacity] for server in cluster.servers])
    may: NDArray[np.bool_] = ~(need.astype(np.float32) @ lacking.T.astype(np.float32) > 0)
    place = {server.name: i for i, server in enumerate(cluster.servers)}
    for n, user in enumerate(cluster.users):
        if user.servers is not None:
            listed = np.zeros(len(place), np.bool_)
            listed[[place[name] for name in user.servers if name in place]] = True
            may[n] &= listed
        for name, own in user.effective.items():
            may[n, place[name]] &= all(c > 0 for c, d in zip(own, user.demand, strict=True) if d)
    return may


def _effective(cluster: Cluster, may: NDArray[np.bool_]) -> dict[Pair, Row]:
    """Return capacity over effective capacity of the resources that a user demands, where they differ."""
    place = {server.name: i for i, server in enumerate(cluster.servers)}
    one = Fraction(1)
    seen: dict[Pair, Row] = {}
    for n, user in enumerate(cluster.users):
        for i, own in sorted((place[name], own) for name, own in user.effective.items()):
            if may[n, i]:
                rows = zip(user.demand, cluster.servers[i].capacity, own, strict=True)
                ratio = tuple(c / e if d else one for d, c, e in rows)
                if any(value != 1 for value in ratio):
                    seen[n, i] = ratio
    return seen


def _order(
    users: list[tuple[Fraction, object]], servers: list[Row], may: NDArray[np.bool_]
) -> tuple[list[int], list[int]]:
    """Return the order of merged users and servers."""
    rank = {key: place for place, key in enumerate(sorted(set(users), reverse=True))}
    ranks = np.array([rank[key] for key in users])
    by_server = [np.sort(ranks[may[:, j]]).tolist() for j in range(len(servers))]
    servers_in_order = sorted(range(len(servers)), key=lambda j: ([-c for c in servers[j]], by_server[j]))
    turned = may[:, servers_in_order]
    users_in_order = sorted(range(len(users)), key=lambda m: (ranks[m], (~turned[m]).tobytes()))
    return users_in_order, servers_in_order
