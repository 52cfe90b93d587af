"""What share of each server one task takes: the one table that resource and time division have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.numbers import total
from theory.sharing.model import Cluster, Row

Shares = tuple[tuple[Row | None, ...], ...]


@dataclass(frozen=True)
class Occupation:
    """Users, servers of capacity one in every resource, and what one task takes.

    Attributes
    ----------
    shares : tuple, shape (N, K, R)
        Share of each resource of server i that one task of user n takes; None where n is not eligible at i.
    weights : tuple of Fraction, length N

    Notes
    -----
    gamma_{n,i} is one over the largest share. Time division (10) is resource division (9) with the single resource
    *time*, of which a task takes 1 / gamma_{n,i}: `in_time` returns that table, and every algorithm serves both.
    """

    shares: Shares
    weights: Row

    def monopoly(self, n: int, i: int) -> Fraction:
        """Return gamma_{n,i}, 0 if not eligible."""
        row = self.shares[n][i]
        return Fraction(0) if row is None else 1 / max(row)

    def in_time(self) -> Occupation:
        """Return the table of time division."""
        return Occupation(
            tuple(tuple(None if row is None else (max(row),) for row in rows) for rows in self.shares), self.weights
        )


def occupation(cluster: Cluster) -> Occupation:
    """Return the table of a cluster under resource division.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> occupation(cluster([[9, 12]], [[1, 2]])).shares
    (((Fraction(1, 9), Fraction(1, 6)),),)
    """
    zero = Fraction(0)
    table = []
    for n, gammas in enumerate(cluster.monopoly):
        rows: list[Row | None] = []
        for i, gamma in enumerate(gammas):
            if gamma:
                pairs = zip(cluster.use(n, i), cluster.capacity[i], strict=True)
                rows.append(tuple(use / c if use else zero for use, c in pairs))
            else:
                rows.append(None)
        table.append(tuple(rows))
    return Occupation(tuple(table), cluster.weights)


@dataclass(frozen=True)
class Merged:
    """A smaller table with the same fair allocations, and the way back.

    Attributes
    ----------
    occupation : Occupation
        Of merged users and servers, in canonical order.
    user : tuple of (int, Fraction), length N
        Merged user of each user, and the factor from its tasks to the user's.
    server : tuple of (int, Fraction), length K
        Merged server of each server, and the part of it that the server is.
    """

    occupation: Occupation
    user: tuple[tuple[int, Fraction], ...]
    server: tuple[tuple[int, Fraction], ...]

    def expand(self, tasks: Sequence[Sequence[Fraction]]) -> tuple[Row, ...]:
        """Return the tasks of the users on the servers, shape (N, K), from those of the merged table."""
        return tuple(tuple(tasks[m][j] * factor * part for j, part in self.server) for m, factor in self.user)


def merge(table: Occupation) -> Merged:
    """Merge users with proportional demands and equal servers, then servers with proportional capacities.

    Notes
    -----
    An allocation is PS-DSF in the merged table if and only if its proportional split is in the full one: levels at a
    server change by one common factor. The order is by quantities that do not change with units or with the order of
    the file (what is equal in all of them keeps file order), so neither does the result of an algorithm that goes by
    order. O(N K R log) exact operations.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> merged = merge(occupation(cluster([[1], [2]], [[1], [3]])))
    >>> merged.user, merged.server
    (((0, Fraction(3, 2)), (0, Fraction(1, 2))), ((0, Fraction(1, 3)), (0, Fraction(2, 3))))
    """
    zero = Fraction(0)
    scale = [max(max(row) for row in rows if row is not None) for rows in table.shares]
    groups: dict[tuple[Row | None, ...], list[int]] = {}
    for n, rows in enumerate(table.shares):
        unit = tuple(None if row is None else tuple(share / scale[n] for share in row) for row in rows)
        groups.setdefault(unit, []).append(n)
    user: list[tuple[int, Fraction]] = [(0, zero)] * len(table.weights)
    shares, weights = [], []
    for m, (unit, members) in enumerate(groups.items()):
        weight = total(table.weights[n] for n in members)
        for n in members:
            user[n] = (m, table.weights[n] / weight / scale[n])
        shares.append(unit)
        weights.append(weight)
    columns: list[tuple[Row | None, ...]] = []
    places: dict[tuple[Row | None, ...], int] = {}
    size: list[Fraction] = []
    server: list[tuple[int, Fraction]] = []
    for column in zip(*shares, strict=True):
        largest = max((max(row) for row in column if row is not None), default=Fraction(1))
        shape = tuple(None if row is None else tuple(share / largest for share in row) for row in column)
        j = places.setdefault(shape, len(places))
        if j == len(columns):
            columns.append(shape)
            size.append(zero)
        size[j] += 1 / largest
        server.append((j, 1 / largest))
    server = [(j, part / size[j]) for j, part in server]
    sized = [
        [
            None if row is None else tuple(share / size[j] for share in row)
            for j, row in enumerate(column[m] for column in columns)
        ]
        for m in range(len(weights))
    ]
    # tasks of merged users are measured so that each could run one alone, weights so that they sum to one
    alone = [total(1 / max(row) for row in rows if row is not None) for rows in sized]
    full = tuple(
        tuple(None if row is None else tuple(share * alone[m] for share in row) for row in rows)
        for m, rows in enumerate(sized)
    )
    everything = total(weights)
    return _ordered(
        Merged(
            Occupation(full, tuple(weight / everything for weight in weights)),
            tuple((m, factor * alone[m]) for m, factor in user),
            tuple(server),
        )
    )


def _ordered(merged: Merged) -> Merged:
    table = merged.occupation
    users, servers = range(len(table.weights)), range(len(table.shares[0]))
    gamma = [[table.monopoly(n, i) for i in servers] for n in users]
    mark = [
        [(table.weights[n], gamma[n][i], sorted(x * gamma[n][i] for x in table.shares[n][i] or ())) for i in servers]
        for n in users
    ]
    by_user = sorted(users, key=lambda n: sorted(mark[n]), reverse=True)
    by_server = sorted(servers, key=lambda i: sorted(mark[n][i] for n in users), reverse=True)
    new_user = {n: place for place, n in enumerate(by_user)}
    new_server = {i: place for place, i in enumerate(by_server)}
    return Merged(
        Occupation(
            tuple(tuple(table.shares[n][i] for i in by_server) for n in by_user),
            tuple(table.weights[n] for n in by_user),
        ),
        tuple((new_user[m], factor) for m, factor in merged.user),
        tuple((new_server[j], part) for j, part in merged.server),
    )
