"""Files with an allocation that somebody made: tasks by user and server class, as a table or a document."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory.errors import listed
from theory.files.clusters import tasks_of
from theory.files.document import Fields, read_document
from theory.files.open_table import is_table, opened
from theory.sharing.model import Cluster, Matrix

COLUMNS = ("user", "server", "tasks")
"""Columns of a table of tasks; others are named and not used."""

_TASKS = "a number of tasks, at least 0"


def read_tasks(path: str | Path, cluster: Cluster) -> Matrix:
    """Read the tasks, shape (N, K), of users on server classes; what is left out is 0.

    A table has the columns ``user``, ``server`` and ``tasks``, a row a pair. A document has the table ``allocation``,
    by user and server, as answers of ``packproof share`` have it; of a certificate it is that of its evidence. A
    decimal means its decimal text, and ``60/23`` a fraction.

    Raises
    ------
    InputError
        A name that the cluster lacks, a pair that stands twice, a number below 0.
    """
    return _of_table(path, cluster) if is_table(path) else tasks_of(_of_document(path), cluster)


def _of_document(path: str | Path) -> Fields:
    """Return the table of tasks of a document; fields beside it are named where it is no answer and no certificate."""
    document: Mapping[str, Any] = read_document(path)
    place = ""
    if "format" in document and isinstance(document.get("evidence"), Mapping):
        document, place = document["evidence"], "evidence"
    fields = Fields(document, str(path), place)
    table = fields.table("allocation", "a table of users")
    if not place and "mechanism" not in document and fields.names():
        print(f"{path}: not used: {listed(fields.names())}", file=sys.stderr)
    return table


def _of_table(path: str | Path, cluster: Cluster) -> Matrix:
    users = {user.name: n for n, user in enumerate(cluster.users)}
    servers = {server.name: i for i, server in enumerate(cluster.servers)}
    tasks = [[Fraction(0)] * len(servers) for _ in users]
    seen: set[tuple[str, str]] = set()
    with opened(path) as table:
        table.expect_columns(COLUMNS)
        if unused := [name for name in table.header if name not in COLUMNS]:
            print(f"{path}: not used: {listed(unused)}", file=sys.stderr)
        for line, row in table.rows():
            cells = Fields(dict(zip(table.header, row, strict=True)), f"{path}:{line}")
            user, server = cells.text("user"), cells.text("server")
            if user not in users:
                cells.fail("user", f"expected a user of the cluster ({listed(users)}), got {user!r}")
            if server not in servers:
                problem = f"expected a server of the cluster ({listed(servers)}), got {server!r}"
                cells.fail("server", f"{problem}: tasks are totals over a class of equal servers")
            if (user, server) in seen:
                problem = f"expected each pair of user and server once, got {user!r} on {server!r} again"
                cells.fail("", f"{problem}: add up the tasks on the servers of a class")
            seen.add((user, server))
            tasks[users[user]][servers[server]] = cells.number("tasks", _TASKS)
        if not seen:
            table.fail(table.first, "", "expected at least one row below the header")
    return tuple(map(tuple, tasks))
