"""The model: a cluster of server classes that users share, and what one task takes of each server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from theory.errors import InputError, expect, quoted
from theory.numbers import rational, total
from theory.shown import Shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
        Number of such servers, at least 1.
    """

    name: str
    capacity: Row
    count: int = 1


@dataclass(frozen=True)
class Group:
    """A group of users, which shares a cluster with the other groups.

    Attributes
    ----------
    name : str
    weight : Fraction
        W_g > 0.
    """

    name: str
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class User:
    """A user who wants to run as many tasks as possible, all of them equal.

    Attributes
    ----------
    name : str
    demand : tuple of Fraction, length R
        Of one task; at least one is positive.
    weight : Fraction
        phi_n > 0; among the users of its group, where it is in one.
    servers : tuple of str, optional
        Names of the classes its tasks may run on; None for all.
    effective : mapping of str to tuple of Fraction, shape (R,)
        Capacity of one server as this user experiences it, where it differs (co-processors, channel quality).
    most_tasks : Fraction, optional
        Cap on its demand: the tasks that it wants to run, on all servers together; any number where left out.
    group : str, optional
        Name of its group; a user without one is a group of its own, of its own weight.
    """

    name: str
    demand: Row
    weight: Fraction = Fraction(1)
    servers: tuple[str, ...] | None = None
    effective: Mapping[str, Row] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    most_tasks: Fraction | None = None
    group: str | None = None

    def wanted(self, tasks: Fraction) -> Fraction:
        """Return the part of a number of tasks that this user wants: at most its cap."""
        return tasks if self.most_tasks is None else min(tasks, self.most_tasks)

    def is_at_cap(self, tasks: Fraction) -> bool:
        """Whether a number of tasks is its cap, so that it wants no more."""
        return tasks == self.most_tasks


@dataclass(frozen=True, repr=False)
class Cluster(Shown):
    """Servers and the users who share them.

    Attributes
    ----------
    resources : tuple of str, length R
    servers : tuple of ServerClass, length K
    users : tuple of User, length N
    groups : tuple of Group
        Those that users name; empty where every user shares for itself.

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
    groups: tuple[Group, ...] = ()

    @staticmethod
    def expected(value: object) -> None:
        """Refuse an argument that is no cluster."""
        expect(value, Cluster, "cluster", "a Cluster (packproof.cluster makes one, packproof.read_cluster reads one)")

    @cached_property
    def weights(self) -> Row:
        """Weights phi_n, length N."""
        return tuple(user.weight for user in self.users)

    @cached_property
    def grouped(self) -> tuple[str, ...]:
        """Names of the groups that users are in; empty where every user shares for itself."""
        return tuple(dict.fromkeys(user.group for user in self.users if user.group is not None))

    @cached_property
    def members(self) -> tuple[tuple[Group, tuple[int, ...]], ...]:
        """The groups that share, each with the places of its users; a user without a group is one of its own.

        A group without users is left out.
        """
        declared = {group.name: group for group in self.groups}
        places: dict[tuple[bool, str], list[int]] = {}
        for n, user in enumerate(self.users):
            name = user.name if user.group is None else user.group
            if user.group is not None and name not in declared:
                raise InputError(f"user {quoted(user.name)}: expected a group of the cluster, got {quoted(name)}")
            places.setdefault((user.group is None, name), []).append(n)
        return tuple(
            (Group(name, self.users[users[0]].weight) if is_alone else declared[name], tuple(users))
            for (is_alone, name), users in places.items()
        )

    @cached_property
    def overall_weights(self) -> Row:
        """Weights of the users among all, length N: a user of a group has its part, by weight, of that of the group."""
        weights = list(self.weights)
        for group, users in self.members:
            within = total(self.users[n].weight for n in users)
            for n in users:
                weights[n] = group.weight * self.users[n].weight / within
        return tuple(weights)

    @cached_property
    def capacity(self) -> Matrix:
        """Capacity of each class, all its servers together, shape (K, R)."""
        return tuple(tuple(server.count * c for c in server.capacity) for server in self.servers)

    @cached_property
    def capped(self) -> tuple[str, ...]:
        """Names of the users with a cap on their demand."""
        return tuple(user.name for user in self.users if user.most_tasks is not None)

    def refuse_caps(self, what: str) -> None:
        """Refuse, by an InputError, a cluster whose users have caps (``most_tasks``), for what is not defined there."""
        if self.capped:
            more = f" and {len(self.capped) - 1:,} more" if len(self.capped) > 1 else ""
            raise InputError(
                f"{what}: expected users without most_tasks, got most_tasks of {quoted(self.capped[0])}{more}"
                " (drf, c-drfh and tsf take it, as exact shares)"
            )

    def refuse_groups(self, what: str, why: str = "drf takes them, as exact shares") -> None:
        """Refuse, by an InputError, a cluster whose users are in groups, for what is not defined there."""
        if self.grouped:
            more = f" and {len(self.grouped) - 1:,} more" if len(self.grouped) > 1 else ""
            raise InputError(f"{what}: expected users without group, got group {quoted(self.grouped[0])}{more} ({why})")

    def refuse_caps_and_groups(self, what: str) -> None:
        """Refuse, by an InputError, caps and groups, for what is defined with neither."""
        self.refuse_groups(what)
        self.refuse_caps(what)

    def use(self, n: int, i: int) -> Row:
        """Return what one task of user `n` takes of each resource of class `i`, shape (R,).

        The demand; where the user's effective capacity is e instead of c, the share d / e of the resource, d c / e.
        """
        user, server = self.users[n], self.servers[i]
        effective = user.effective.get(server.name)
        if effective is None:
            return user.demand
        # d / e of the resource is in use, as the user experiences it, so d c / e of the real capacity c
        return tuple(d * c / e if d else d for d, c, e in zip(user.demand, server.capacity, effective, strict=True))

    @cached_property
    def reach(self) -> Matrix:
        """Tasks a user could run alone on each class if no placement constraint held, shape (N, K)."""
        return tuple(tuple(_tasks_alone(user, server) for server in self.servers) for user in self.users)

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

    def with_users(self, places: Sequence[int]) -> Cluster:
        """Return the cluster with only the users at the given places, in that order."""
        return replace(self, users=tuple(self.users[n] for n in places))

    def pooled(self) -> Cluster:
        """Return the cluster as one server ``pool`` that holds everything, without placement constraints.

        A cluster of one class keeps its server.
        """
        if len(self.servers) == 1:
            return self
        # effective capacities belong to single servers, so the pooled users have none
        capacity = tuple(total(column) for column in zip(*self.capacity, strict=True))
        users = tuple(replace(user, servers=None, effective=MappingProxyType({})) for user in self.users)
        return Cluster(self.resources, (ServerClass("pool", capacity),), users, self.groups)


def _tasks_alone(user: User, server: ServerClass) -> Fraction:
    """Return the tasks that a user could run alone on the servers of a class: the least capacity over demand."""
    effective = user.effective.get(server.name, server.capacity)
    # an effective capacity of a resource that the server does not have counts as 0
    usable = zip(effective, user.demand, server.capacity, strict=True)
    return server.count * min(c / d if physical else Fraction(0) for c, d, physical in usable if d)


def eligibility(cluster: Cluster, *, placement: bool = True) -> NDArray[np.bool_]:
    """Return where users can run tasks: gamma_{n,i} > 0 in formula (7), bool[N, K].

    Without `placement`: where they could run tasks if no placement constraint held. O(N K R), without rationals.
    """
    import numpy as np  # here, since the command `check` reads clusters without numpy

    place = {server.name: i for i, server in enumerate(cluster.servers)}
    has = np.array([[c > 0 for c in server.capacity] for server in cluster.servers])
    may = np.zeros((len(cluster.users), len(place)), np.bool_)
    for n, user in enumerate(cluster.users):
        # gamma_{n,i} > 0 where the server has all that is demanded, the constraint allows it, and no effective
        # capacity of a demanded resource is 0
        needs = [r for r, d in enumerate(user.demand) if d]
        may[n] = has[:, needs].all(axis=1)
        if placement and user.servers is not None:
            listed = np.zeros(len(place), np.bool_)
            listed[[place[name] for name in user.servers if name in place]] = True
            may[n] &= listed
        for name, effective in user.effective.items():
            may[n, place[name]] &= all(effective[r] > 0 for r in needs)
    return may


@dataclass(frozen=True)
class Occupation:
    """The cluster as users and servers of capacity 1 in every resource: what share of each one task takes.

    gamma_{n,i} is one over the largest share. Time division (10) is resource division (9) with the single resource
    *time*, of which a task takes 1 / gamma_{n,i}: `in_time` returns that table, and every algorithm serves both.
    """

    shares: tuple[tuple[Row | None, ...], ...]  # shape (N, K, R); None where n is not eligible at i
    weights: Row
    most: tuple[Fraction | None, ...]  # length N; the tasks of a user with a cap

    @property
    def width(self) -> int:
        """Number of resources of the table: R, or 1 under time division."""
        return next(len(row) for rows in self.shares for row in rows if row is not None)

    def monopoly(self, n: int, i: int) -> Fraction:
        """Return gamma_{n,i}, 0 if not eligible."""
        row = self.shares[n][i]
        return Fraction(0) if row is None else 1 / max(row)

    def in_time(self) -> Occupation:
        """Return the table of time division."""
        return Occupation(
            tuple(tuple(None if row is None else (max(row),) for row in rows) for rows in self.shares),
            self.weights,
            self.most,
        )


def occupation(cluster: Cluster, division: str = "resource") -> Occupation:
    """Return the table of a cluster under resource division, or under time division."""
    zero = Fraction(0)

    def share(n: int, i: int) -> Row:
        return tuple(u / c if u else zero for u, c in zip(cluster.use(n, i), cluster.capacity[i], strict=True))

    rows = [[share(n, i) if gamma else None for i, gamma in enumerate(row)] for n, row in enumerate(cluster.monopoly)]
    table = Occupation(tuple(map(tuple, rows)), cluster.weights, tuple(user.most_tasks for user in cluster.users))
    return table.in_time() if division == "time" else table


Number = Fraction | int | float | str


def cluster(
    capacities: Sequence[Sequence[Number]],
    demands: Sequence[Sequence[Number]],
    weights: Sequence[Number] | None = None,
    eligible: Sequence[Sequence[bool]] | None = None,
    counts: Sequence[int] | None = None,
    most_tasks: Sequence[Number | None] | None = None,
    groups: Sequence[str | None] | None = None,
    group_weights: Mapping[str, Number] | None = None,
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
    most_tasks : shape (N,), optional
        Caps on demand, None for a user without one; none where left out.
    groups : shape (N,), optional
        Name of the group of each user, None for a user without one; none where left out.
    group_weights : mapping of str, optional
        Weights of groups by name; 1 where left out.

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
            most_tasks=None if most is None else rational(most),
            group=None if groups is None else groups[n],
        )
        for n, (demand, most) in enumerate(zip(demands, most_tasks or [None] * len(demands), strict=True))
    )
    named = dict.fromkeys(name for name in groups or () if name is not None)
    if unknown := [name for name in group_weights or () if name not in named]:
        raise InputError("group_weights", f"expected names of groups that users are in, got {quoted(unknown[0])}")
    weighted = tuple(Group(name, rational((group_weights or {}).get(name, 1))) for name in named)
    return Cluster(tuple(f"r{r + 1}" for r in range(len(capacities[0]))), servers, users, weighted)
