"""A stored allocation: the tasks of a JSON answer of ``packproof share``, without losing a digit, and its prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from theory.files.document import Fields, read_document
from theory.sharing.model import Cluster, Matrix

Places = tuple[str, Mapping[str, int]]
"""What names stand for, and where each stands."""


def read_allocation(path: str | Path, cluster: Cluster) -> tuple[str, Matrix]:
    """Read the mechanism and the tasks of an allocation of a cluster.

    Parameters
    ----------
    path : str or Path
        JSON or TOML with ``mechanism`` and the table ``allocation``, by user and server; what is left out is 0. Other
        fields, such as the totals of an answer, are not read.
    cluster : Cluster

    Returns
    -------
    mechanism : str
    tasks : tuple of tuple of Fraction, shape (N, K)
        A decimal means its decimal text.

    Raises
    ------
    InputError
        A missing field, a number below 0, a user or a server that the cluster does not have.
    """
    top = Fields(read_document(path), str(path))
    mechanism = top.text("mechanism", "the name of a mechanism")
    table = top.table("allocation", "a table of users")
    users = {user.name: n for n, user in enumerate(cluster.users)}
    servers = {server.name: i for i, server in enumerate(cluster.servers)}
    tasks = [[Fraction(0)] * len(servers) for _ in users]
    for n, i, number in _cells(table, ("user", users), ("server", servers), "a number of tasks, at least 0"):
        tasks[n][i] = number
    return mechanism, tuple(map(tuple, tasks))


def read_prices(path: str | Path, cluster: Cluster) -> list[NDArray[np.float64]]:
    """Read the prices that come with numeric shares of a mechanism that is max-min fair.

    Returns
    -------
    list of float64[K, R]
        Of the whole of each resource of each class; what is left out is 0.

    Raises
    ------
    InputError
        No prices, a number below 0, a server or a resource that the cluster does not have.
    """
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
