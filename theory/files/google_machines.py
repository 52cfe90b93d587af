"""The Google cluster trace of 2011: its machines and requests as a cluster to share, its requests as a law of sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from theory.files.cells import nonnegative, whole
from theory.files.open_table import opened
from theory.numbers import rational
from theory.partition.laws import Law, empirical
from theory.sharing.model import Cluster, ServerClass, User

MACHINES, REQUESTS = "google2011_machines_t0.csv", "google2011_part0_attempts.csv.gz"


def google_cluster(folder: str | Path, users: int = 20) -> Cluster:
    """Read the machine mix at time 0, and the users of the trace with the most requests.

    Parameters
    ----------
    folder : str or Path
        Holds `MACHINES` and `REQUESTS`.
    users : int
        How many users; each demands its most frequent request, its weight is 1.

    Returns
    -------
    Cluster
        Resources cpu and memory, in parts of the largest machine. A class is named by what its machines have of them;
        those of different platforms that have the same are one class.

    Raises
    ------
    InputError
        If a file is missing or has other columns.

    Notes
    -----
    Source: Reiss, Wilkes, Hellerstein, "Google cluster-usage traces: format + schema", 2011 (CC-BY 4.0). The users'
    names are the renumbered ones of the extract.
    """
    machines: Counter[tuple[str, str]] = Counter()
    with opened(Path(folder) / MACHINES) as table:
        names = ("cpu_capacity", "mem_capacity", "count")
        table.expect_columns(names)
        at = [table.header.index(name) for name in names]
        for line, row in table.rows():
            cpu, memory, count = (row[i] for i in at)
            table.read(line, names[0], nonnegative, cpu)
            table.read(line, names[1], nonnegative, memory)
            machines[cpu, memory] += table.read(line, names[2], whole, count)
    servers = [
        ServerClass(f"{cpu}/{memory}", (rational(cpu), rational(memory)), count)
        for (cpu, memory), count in machines.items()
    ]
    requests: dict[str, Counter[tuple[str, str]]] = {}
    for name, cpu_text, memory_text in _requests(Path(folder) / REQUESTS, "user", "cpu_req", "mem_req"):
        if cpu_text and float(cpu_text) and float(memory_text):
            requests.setdefault(name, Counter())[cpu_text, memory_text] += 1
    # by falling number of requests; of equal users the one with the smaller number
    chosen = sorted(requests, key=lambda name: (-requests[name].total(), int(name)))[:users]
    return Cluster(
        ("cpu", "memory"),
        tuple(servers),
        tuple(
            User(f"user {name}", (rational(cpu), rational(memory)), Fraction(1))
            for name in chosen
            for cpu, memory in [requests[name].most_common(1)[0][0]]
        ),
    )


def google_law(folder: str | Path, resource: str) -> Law:
    """Read the requests of the trace for one resource as an empirical law, in parts of the largest machine.

    ``larger`` takes the larger of cpu and memory, the single resource of the high-throughput paper, Section VII-B.
    Attempts without a request, or with a request of 0, are left out.
    """
    chosen = {"cpu": slice(0, 1), "memory": slice(1, 2), "larger": slice(0, 2)}[resource]
    sizes: Counter[Fraction] = Counter()
    for cells, number in Counter(_requests(Path(folder) / REQUESTS, "cpu_req", "mem_req")).items():
        if all(cells[chosen]):  # each different request is read once
            sizes[max(map(rational, cells[chosen]))] += number
    return empirical({size: number for size, number in sizes.items() if size > 0})


def _requests(place: Path, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the named columns of the table of requests; what asks for numbers is a number."""
    with opened(place) as table:
        table.expect_columns(names)
        at = [(name, table.header.index(name)) for name in names]
        known = {""}
        for line, row in table.rows():
            for name, i in at:
                if row[i] not in known and name != "user":
                    table.read(line, name, nonnegative, row[i])
                    known.add(row[i])
            yield tuple(row[i] for _, i in at)
