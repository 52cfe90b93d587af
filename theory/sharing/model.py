"""The model: a cluster of server classes shared by users, and what one task takes of each server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from theory.numbers import rational, total

Row = tuple[Fraction, ...]
Matrix = tuple[Row, ...]


@dataclass(frozen=True)
class ServerClass:
    """A class of equal servers.

    Attributes
    ----------
    name : str
    capacity : tuple of Fraction, length R
        Of one server, in the order of the cluster's resources; 0 where it has none of a resource.
    count : int
        How many such servers, at least 1.
    """

    name: str
    capacity: Row
    count: int = 1


@dataclass(frozen=True)
class User:
    """A user who runs as many equal tasks as possible.

    Attributes
    ----------
    name : str
    demand : tuple of Fraction, length R
        Of one task; at least one is positive.
    weight : Fraction
        phi_n > 0.
    servers : tuple of str, optional
        Names of the classes its tasks may run on; None for all.
    effective : mapping of str to tuple of Fraction, shape (R,)
        Capacity of one server as this user experiences it, where it differs (co-processors, channel quality).
    """

    name: str
    demand: Row
    weight: Fraction = Fraction(1)
    servers: tuple[str, ...] | None = None
    effective: Mapping[str, Row] = field(default_factory=lambda: MappingProxyType({}), hash=False)


@dataclass(frozen=True)
class Cluster:
    """Servers and the users who share them.

    Attributes
    ----------
    resources : tuple of str, length R
    servers : tuple of ServerClass, length K
    users : tuple of User, length N

    Notes
    -----
    Resources are divisible and tasks real numbers. A class of ``count`` servers is one server of ``count`` times
    the capacity: the fair allocation of equal servers may always be taken equal on each. Source: PS-DSF paper, Section
    II; effective capacities: its Section IV.

    Examples
    --------
    >>> pair = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [[str(tasks) for tasks in row] for row in pair.monopoly]
    [['6', '0'], ['6', '0'], ['6', '6']]
    """

    resources: tuple[str, ...]
    servers: tuple[ServerClass, ...]
    users: tuple[User, ...]

    @cached_property
    def weights(self) -> Row:
        """Weights phi_n, length N."""
        return tuple(user.weight for user in self.users)

    @cached_property
    def capacity(self) -> Matrix:
        """Capacity of each class, all its servers together, shape (K, R)."""
        return tuple(tuple(server.count * c for c in server.capacity) for server in self.servers)

    def use(self, n: int, i: int) -> Row:
        """Return what one task of user `n` takes of each resource of class `i`, shape (R,).

        The demand; where the user's effective capacity is e instead of c, the share d / e of the resource, d c / e.
        """
        user, server = self.users[n], self.servers[i]
        own = user.effective.get(server.name)
        if own is None:
            return user.demand
        return tuple(d * c / e if d else d for d, c, e in zip(user.demand, server.capacity, own, strict=True))

    @cached_property
    def reach(self) -> Matrix:
        """Tasks a user could run alone on each class if no placement constraint held, shape (N, K)."""
        rows = []
        for user in self.users:
            row = []
            for server in self.servers:
                own = user.effective.get(server.name, server.capacity)
                alone = min(c / d if physical else Fraction(0) for c, d, physical in _demanded(own, user, server))
                row.append(server.count * alone)
            rows.append(tuple(row))
        return tuple(rows)

    @cached_property
    def monopoly(self) -> Matrix:
        """gamma_{n,i}: tasks a user can run alone on each class, 0 if it is not eligible, shape (N, K); formula (7)."""
        return tuple(
            tuple(
                tasks if user.servers is None or server.name in user.servers else Fraction(0)
                for tasks, server in zip(row, self.servers, strict=True)
            )
            for user, row in zip(self.users, self.reach, strict=True)
        )

    def with_user(self, n: int, user: User) -> Cluster:
        """Return the cluster with user `n` replaced."""
        return replace(self, users=(*self.users[:n], user, *self.users[n + 1 :]))

    def with_users(self, kept: Sequence[int]) -> Cluster:
        """Return the cluster with only the users at the given places, in that order."""
        return replace(self, users=tuple(self.users[n] for n in kept))

    def pooled(self) -> Cluster:
        """Return the cluster as one server ``pool`` that holds everything, without placement constraints.

        A cluster of one class keeps its server.
        """
        if len(self.servers) == 1:
            return self
        capacity = tuple(total(column) for column in zip(*self.capacity, strict=True))
        users = tuple(User(user.name, user.demand, user.weight) for user in self.users)
        return Cluster(self.resources, (ServerClass("pool", capacity),), users)


def _demanded(own: Row, user: User, server: ServerClass) -> list[tuple[Fraction, Fraction, Fraction]]:
    return [(c, d, physical) for c, d, physical in zip(own, user.demand, server.capacity, strict=True) if d]


Number = Fraction | int | float | str


def cluster(
    capacities: Sequence[Sequence[Number]],
    demands: Sequence[Sequence[Number]],
    weights: Sequence[Number] | None = None,
    eligible: Sequence[Sequence[bool]] | None = None,
    counts: Sequence[int] | None = None,
) -> Cluster:
    """Make a cluster from arrays; servers are named ``s1``, ``s2``, ..., users ``u1``, ..., resources ``r1``, ...

    Parameters
    ----------
    capacities : shape (K, R)
    demands : shape (N, R)
    weights : shape (N,), optional
        1 where left out.
    eligible : bool, shape (N, K), optional
        Placement constraints; all where left out.
    counts : shape (K,), optional

    Examples
    --------
    >>> cluster([["1/2"]], [[0.1]]).monopoly
    ((Fraction(5, 1),),)
    """
    names = [f"s{i + 1}" for i in range(len(capacities))]
    servers = tuple(
        ServerClass(name, tuple(map(rational, c)), 1 if counts is None else counts[i])
        for i, (name, c) in enumerate(zip(names, capacities, strict=True))
    )
    users = tuple(
        User(
            f"u{n + 1}",
            tuple(map(rational, demand)),
            Fraction(1) if weights is None else rational(weights[n]),
            None
            if eligible is None or all(eligible[n])
            else tuple(name for name, may in zip(names, eligible[n], strict=True) if may),
        )
        for n, demand in enumerate(demands)
    )
    return Cluster(tuple(f"r{r + 1}" for r in range(len(capacities[0]))), servers, users)
