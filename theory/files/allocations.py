"""A stored allocation: the tasks that a JSON answer of ``packproof share`` states, read without losing a digit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from theory.files.document import Fields, read_document
from theory.sharing.model import Cluster, Matrix


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
    for user in table.names():
        if user not in users:
            table.fail(user, "expected a user of the cluster")
        row = table.table(user, "a table of servers")
        for server in row.names():
            if server not in servers:
                row.fail(server, "expected a server of the cluster")
            tasks[users[user]][servers[server]] = row.number(server, "a number of tasks, at least 0")
    return mechanism, tuple(map(tuple, tasks))
