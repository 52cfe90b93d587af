"""Files of fair sharing: servers and users, also written back in the user's units; stored allocations with prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory import numbers
from theory.errors import listed
from theory.files.document import Fields, read_document, refuse_doubles, warn_if_alike
from theory.sharing.model import Cluster, Matrix, Row, ServerClass, User, eligibility

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RESOURCE = "a number of at least 0"


def read_cluster(path: str | Path) -> Cluster:
    """Read a cluster from a TOML or JSON file.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    return parse_cluster(read_document(path), str(path))


def parse_cluster(document: Mapping[str, Any], source: str = "cluster") -> Cluster:
    """Turn a document with ``server`` and ``user`` tables into a cluster; `source` names it in errors.

    Raises
    ------
    InputError
        Unknown or missing field, a number out of range, duplicate names, a server that no server table describes, a
        user whom no server can serve, no users.

    Examples
    --------
    >>> cluster = parse_cluster({
    ...     "server": {"name": "A", "capacity": {"cpu": "1.5"}, "count": 4},
    ...     "user": {"name": "u", "demand": {"cpu": 0.5}}})
    >>> cluster.monopoly
    ((Fraction(12, 1),),)
    """
    top = Fields(document, source)
    top.refuse_other_kinds("a cluster that is shared", "server", "user")
    server_tables = top.tables("server", "at least one table [[server]]")
    user_tables = top.tables("user", "at least one table [[user]]")
    top.finish()
    raw = [_server(fields) for fields in server_tables]
    refuse_doubles([name for name, _, _ in raw], server_tables)
    resources = list(dict.fromkeys(resource for _, capacity, _ in raw for resource in capacity))
    servers = [ServerClass(name, _row(capacity, resources), count) for name, capacity, count in raw]
    places = {server.name: i for i, server in enumerate(servers)}
    users = [_user(fields, servers, places, resources) for fields in user_tables]
    refuse_doubles([user.name for user in users], user_tables)
    warn_if_alike(resources, source)
    cluster = Cluster(tuple(resources), tuple(servers), tuple(users))
    # shares are tasks divided by those that a user could run alone, which must not be 0
    for fields, user, row in zip(user_tables, users, eligibility(cluster), strict=True):
        if not row.any():
            allowed = "" if user.servers is None else f" among {listed(user.servers)}"
            fields.fail(
                "", f"expected a server that can run a task of {user.name!r}, but none has its demands{allowed}"
            )
    return cluster


def _server(fields: Fields) -> tuple[str, dict[str, Fraction], int]:
    name = fields.text("name")
    table = fields.table("capacity", "a table of resources")
    capacity = {resource: table.number(resource, _RESOURCE) for resource in table.names()}
    if not any(capacity.values()):
        table.fail("", "expected at least one positive capacity")
    count = fields.integer("count", "a whole number of at least 1", least=1) if fields.has("count") else 1
    fields.finish()
    return name, capacity, count


def _user(fields: Fields, servers: list[ServerClass], places: Mapping[str, int], resources: list[str]) -> User:
    name = fields.text("name")
    demand = _resource_table(fields.table("demand", "a table of resources"), resources, _RESOURCE)
    if not any(demand.values()):
        fields.fail("demand", "expected at least one positive demand")
    weight = fields.optional_number("weight", Fraction(1), "a number greater than 0", strict=True)
    allowed = _names(fields, servers, places) if fields.has("servers") else None
    effective: dict[str, Row] = {}
    if fields.has("effective"):
        table = fields.table("effective", "a table of servers")
        for server_name in table.names():
            own = _resource_table(table.table(server_name), resources, "a number greater than 0", strict=True)
            if server_name not in places:
                table.fail(server_name, f"expected a server of this file ({listed(places)})")
            server = servers[places[server_name]]
            for resource in own:
                if not server.capacity[resources.index(resource)]:
                    table.fail(f"{server_name}.{resource}", f"expected a resource that server {server_name!r} has")
            # where the user says nothing of a resource, the capacity of the server holds
            pairs = zip(resources, server.capacity, strict=True)
            effective[server_name] = tuple(own.get(resource, c) for resource, c in pairs)
    fields.finish()
    return User(name, _row(demand, resources), weight, allowed, effective)


def _names(fields: Fields, servers: list[ServerClass], places: Mapping[str, int]) -> tuple[str, ...]:
    names = fields.take("servers", "a list of server names")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        fields.fail("servers", "expected a list of at least one server name")
    seen: set[str] = set()
    for name in names:
        if name not in places:
            fields.fail("servers", f"expected names of servers of this file ({listed(places)}), got {name!r}")
        if name in seen:
            fields.fail("servers", f"expected each server once, got {name!r} again")
        seen.add(name)
    return tuple(servers[places[name]].name for name in names)  # the same text object for all users


def _resource_table(table: Fields, resources: list[str], expected: str, *, strict: bool = False) -> dict[str, Fraction]:
    values = {}
    for resource in table.names():
        values[resource] = table.number(resource, expected, strict=strict)
        if resource not in resources:
            table.fail(resource, f"expected a resource of some server ({listed(resources)})")
    return values


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

    def table(row: Row) -> dict[str, str]:
        return {name: numbers.text(value) for name, value in zip(cluster.resources, row, strict=True) if value}

    servers = []
    for place, server in enumerate(cluster.servers):
        capacity = table(server.capacity)  # a capacity of 0 is left out
        if place == 0:  # the first table names every resource, so that their order survives
            pairs = zip(cluster.resources, server.capacity, strict=True)
            capacity = {name: numbers.text(value) for name, value in pairs}
        servers.append({"name": server.name, "capacity": capacity, "count": server.count})
    users = []
    for user in cluster.users:
        document: dict[str, Any] = {
            "name": user.name,
            "demand": table(user.demand),
            "weight": numbers.text(user.weight),
        }
        if user.servers is not None:
            document["servers"] = list(user.servers)
        if user.effective:
            document["effective"] = {name: table(row) for name, row in user.effective.items()}
        users.append(document)
    return {"server": servers, "user": users}


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
