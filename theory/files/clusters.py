"""Files of fair sharing: servers and users, also written back in the user's units; stored allocations with prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from theory.errors import listed
from theory.files.document import Fields, read_document, refuse_doubles, warn_if_alike
from theory.files.record import Expected, Placed, Range, Some, Tables, read_file
from theory.files.written import document_of
from theory.sharing.model import Cluster, Group, Matrix, Row, ServerClass, User, eligibility

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Amounts = Mapping[str, Annotated[Fraction, Range(0)]]
_Amount = Annotated[Fraction, Range(0, above=True)]


@dataclass(frozen=True)
class ServerTable(Placed):
    """A class of equal servers."""

    name: Annotated[str, Expected("a name"), "of its own"]
    capacity: Annotated[
        _Amounts,
        Expected("a table of resources"),
        Some("at least one positive capacity"),
        "units of each resource that one server has",
    ]
    count: Annotated[int, Range(1), "so many equal servers; tasks and allocations are totals over them"] = 1


@dataclass(frozen=True)
class UserTable(Placed):
    """A user, all of whose tasks are equal."""

    name: Annotated[str, Expected("a name"), "of its own"]
    demand: Annotated[
        _Amounts,
        Expected("a table of resources"),
        Some("at least one positive demand"),
        "units of each resource that a task takes",
    ]
    weight: Annotated[_Amount, "by which shares are compared"] = Fraction(1)
    servers: Annotated[
        tuple[Annotated[str, Expected("a server name")], ...] | None,
        Expected("a list of server names"),
        Some("a list of at least one server name"),
        "where its tasks may run; on all servers unless given",
    ] = None
    effective: Annotated[
        Mapping[str, Annotated[Mapping[str, _Amount], Expected("a table of resources")]] | None,
        Expected("a table of servers"),
        "capacity of one server of a class as this user experiences it, where it differs",
    ] = None
    most_tasks: Annotated[_Amount | None, "the tasks that it wants, a cap; any number unless given"] = None
    group: Annotated[
        str | None,
        Expected("the name of a group"),
        "its group, in which its weight counts; one of its own unless given",
    ] = None


@dataclass(frozen=True)
class GroupTable(Placed):
    """A group of users, which shares the cluster with the other groups."""

    name: Annotated[str, Expected("a name"), "of its own"]
    weight: Annotated[_Amount, "by which shares of groups are compared"] = Fraction(1)


@dataclass(frozen=True)
class ClusterFile:
    """A cluster that users share: what `share` reads."""

    SIGN: ClassVar = "user"

    server: Annotated[tuple[ServerTable, ...], Tables("at least one table [[server]]"), "classes of servers"]
    user: Annotated[tuple[UserTable, ...], Tables("at least one table [[user]]"), "who share them"]
    group: Annotated[
        tuple[GroupTable, ...] | None, Tables("at least one table [[group]]"), "groups of users; each shares as one"
    ] = None


def read_cluster(path: str | Path) -> Cluster:
    """Read a cluster from a TOML or JSON file.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    return parse_cluster(read_document(path), str(path))


def parse_cluster(document: Mapping[str, Any], source: str = "cluster") -> Cluster:
    """Turn a document with tables ``server``, ``user`` and ``group`` into a cluster; `source` names it in errors.

    Raises
    ------
    InputError
        Unknown or missing field, a number out of range, duplicate names, a server or a group that no table
        describes, a user whom no server can serve, no users, a group without users.

    Examples
    --------
    >>> cluster = parse_cluster({
    ...     "server": {"name": "A", "capacity": {"cpu": "1.5"}, "count": 4},
    ...     "user": {"name": "u", "demand": {"cpu": 0.5}}})
    >>> cluster.monopoly
    ((Fraction(12, 1),),)
    """
    file = read_file(ClusterFile, document, source)
    refuse_doubles([server.name for server in file.server], [server.at for server in file.server])
    resources = list(dict.fromkeys(resource for server in file.server for resource in server.capacity))
    servers = [ServerClass(one.name, _row(one.capacity, resources), one.count) for one in file.server]
    places = {server.name: i for i, server in enumerate(servers)}
    users = [_user(user, servers, places, resources) for user in file.user]
    refuse_doubles([user.name for user in users], [user.at for user in file.user])
    warn_if_alike(resources, source)
    cluster = Cluster(tuple(resources), tuple(servers), tuple(users), _groups(file))
    # shares are tasks divided by those that a user could run alone, which must not be 0
    for one, user, row in zip(file.user, users, eligibility(cluster), strict=True):
        if not row.any():
            allowed = "" if user.servers is None else f" among {listed(user.servers)}"
            one.at.fail(
                "", f"expected a server that can run a task of {user.name!r}, but none has its demands{allowed}"
            )
    return cluster


def _user(one: UserTable, servers: list[ServerClass], places: Mapping[str, int], resources: list[str]) -> User:
    _refuse_unknown(one, "demand", one.demand, resources)
    seen: set[str] = set()
    for name in one.servers or ():
        if name not in places:
            one.at.fail("servers", f"expected names of servers of this file ({listed(places)}), got {name!r}")
        if name in seen:
            one.at.fail("servers", f"expected each server once, got {name!r} again")
        seen.add(name)
    # the same text object for all users
    allowed = None if one.servers is None else tuple(servers[places[name]].name for name in one.servers)
    effective: dict[str, Row] = {}
    for name, own in (one.effective or {}).items():
        place = f"effective.{name}"
        if name not in places:
            one.at.fail(place, f"expected a server of this file ({listed(places)})")
        _refuse_unknown(one, place, own, resources)
        server = servers[places[name]]
        for resource in own:
            if not server.capacity[resources.index(resource)]:
                one.at.fail(f"{place}.{resource}", f"expected a resource that server {name!r} has")
        # where the user says nothing of a resource, the capacity of the server holds
        pairs = zip(resources, server.capacity, strict=True)
        effective[name] = tuple(own.get(resource, c) for resource, c in pairs)
    return User(one.name, _row(one.demand, resources), one.weight, allowed, effective, one.most_tasks, one.group)


def _groups(file: ClusterFile) -> tuple[Group, ...]:
    """Return the groups of a file; those that no table describes, or no user is in, are refused."""
    tables = file.group or ()
    names = [group.name for group in tables]
    refuse_doubles(names, [group.at for group in tables])
    for user in file.user:
        if user.group is not None and user.group not in names:
            described = f"of this file ({listed(names)})" if names else "that a table [[group]] of this file describes"
            user.at.fail("group", f"expected a group {described}, got {user.group!r}")
        if user.group is None and user.name in names:
            user.at.fail("name", f"expected a name that no group has, as this user is in none, got {user.name!r}")
    used = {user.group for user in file.user}
    for group in tables:
        if group.name not in used:
            group.at.fail("name", f"expected a group that users are in, got {group.name!r}")
    return tuple(Group(group.name, group.weight) for group in tables)


def _refuse_unknown(one: UserTable, place: str, amounts: Iterable[str], resources: Sequence[str]) -> None:
    for resource in amounts:
        if resource not in resources:
            one.at.fail(f"{place}.{resource}", f"expected a resource of some server ({listed(resources)})")


def _row(values: Mapping[str, Fraction], resources: list[str]) -> Row:
    return tuple(values.get(resource, Fraction(0)) for resource in resources)


def cluster_document(cluster: Cluster) -> dict[str, Any]:
    """Return the JSON form of a cluster: the fields of the file, numbers as exact text.

    Examples
    --------
    >>> from theory.sharing import model
    >>> cluster_document(model.cluster([[3, 0]], [["1/2", 0]]))["user"]
    [{'name': 'u1', 'demand': {'r1': '1/2'}, 'weight': '1'}]
    """

    def amounts(row: Row) -> dict[str, Fraction]:
        return {name: value for name, value in zip(cluster.resources, row, strict=True) if value}

    servers = []
    for place, server in enumerate(cluster.servers):
        capacity = amounts(server.capacity)  # a capacity of 0 is left out
        if place == 0:  # the first table names every resource, so that their order survives
            capacity = dict(zip(cluster.resources, server.capacity, strict=True))
        servers.append(ServerTable(server.name, capacity, server.count))
    users = (
        UserTable(
            user.name,
            amounts(user.demand),
            user.weight,
            user.servers,
            {name: amounts(row) for name, row in user.effective.items()} or None,
            user.most_tasks,
            user.group,
        )
        for user in cluster.users
    )
    groups = tuple(GroupTable(group.name, group.weight) for group in cluster.groups)
    return document_of(ClusterFile(tuple(servers), tuple(users), groups or None))


# ---- stored allocations ----------------------------------------------------------------------------------------------

Places = tuple[str, Mapping[str, int]]
"""What names stand for, and where each stands."""


def read_allocation(path: str | Path, cluster: Cluster) -> tuple[str, Matrix]:
    """Read the mechanism and the tasks, shape (N, K), of an allocation of a cluster.

    The file has ``mechanism`` and the table ``allocation``, by user and server; what is left out is 0, and a decimal
    means its decimal text. Other fields, such as the totals of an answer, are not read.
    """
    top = Fields(read_document(path), str(path))
    mechanism = top.text("mechanism", "the name of a mechanism")
    return mechanism, tasks_of(top.table("allocation", "a table of users"), cluster)


def tasks_of(table: Fields, cluster: Cluster) -> Matrix:
    """Read tasks, shape (N, K), from a table by user and server; what is left out is 0."""
    users = {user.name: n for n, user in enumerate(cluster.users)}
    servers = {server.name: i for i, server in enumerate(cluster.servers)}
    tasks = [[Fraction(0)] * len(servers) for _ in users]
    for n, i, number in _cells(table, ("user", users), ("server", servers), "a number of tasks, at least 0"):
        tasks[n][i] = number
    return tuple(map(tuple, tasks))


def read_prices(path: str | Path, cluster: Cluster) -> list[NDArray[np.float64]]:
    """Read the prices that come with numeric shares of a max-min fair mechanism: float64[K, R] for each stage.

    A price is that of the whole of a resource of a class of servers; what is left out is 0.
    """
    import numpy as np  # here, since the command `check` reads clusters without numpy

    top = Fields(read_document(path), str(path))
    servers = {server.name: i for i, server in enumerate(cluster.servers)}
    resources = {resource: r for r, resource in enumerate(cluster.resources)}
    stages = []
    for stage in top.tables("prices", "the prices that --tolerance writes, by server and resource, one list a stage"):
        prices = np.zeros((len(servers), len(resources)))
        for i, r, number in _cells(stage, ("server", servers), ("resource", resources), "a price, at least 0"):
            prices[i, r] = float(number)
        stages.append(prices)
    return stages


def _cells(table: Fields, outer: Places, inner: Places, expected: str) -> Iterator[tuple[int, int, Fraction]]:
    """Yield the numbers of a table of tables, with the places of both names."""
    (kind, rows), (inner_kind, columns) = outer, inner
    for name in table.names():
        if name not in rows:
            table.fail(name, f"expected a {kind} of the cluster")
        row = table.table(name, f"a table of {inner_kind}s")
        for column in row.names():
            if column not in columns:
                row.fail(column, f"expected a {inner_kind} of the cluster")
            yield rows[name], columns[column], row.number(column, expected)
