"""The Google cluster trace of 2011: its machines and requests as a cluster to share, its requests as a law of sizes."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from operator import itemgetter
from pathlib import Path

from theory.errors import InputError
from theory.files.places import open_input
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
        Resources cpu and memory, in parts of the largest machine.

    Raises
    ------
    InputError
        If a file is missing or has other columns.

    Notes
    -----
    Source: Reiss, Wilkes, Hellerstein, "Google cluster-usage traces: format + schema", 2011 (CC-BY 4.0). The users'
    names are the renumbered ones of the extract.
    """
    servers = []
    requests: dict[str, Counter[tuple[str, str]]] = {}
    place = Path(folder) / MACHINES
    try:
        with open_input(place) as content, io.TextIOWrapper(content, newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                name = f"{row['platform']}:{row['cpu_capacity']}x{row['mem_capacity']}"
                capacity = (rational(row["cpu_capacity"]), rational(row["mem_capacity"]))
                servers.append(ServerClass(name, capacity, int(row["count"])))
        place = Path(folder) / REQUESTS
        for name, cpu, memory in _requests(place, "user", "cpu_req", "mem_req"):
            if cpu and float(cpu) and float(memory):
                requests.setdefault(name, Counter())[cpu, memory] += 1
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror or error}") from None
    except (KeyError, ValueError, IndexError, csv.Error) as error:
        raise InputError(f"{place}: expected the columns of the extract, got {error}") from None
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
    place = Path(folder) / REQUESTS
    try:
        sizes: Counter[Fraction] = Counter()
        for cells, number in Counter(_requests(place, "cpu_req", "mem_req")).items():
            if all(cells[chosen]):  # each different request is read once
                sizes[max(map(rational, cells[chosen]))] += number
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror or error}") from None
    except (KeyError, ValueError, IndexError, csv.Error) as error:
        raise InputError(f"{place}: expected the columns of the extract, got {error}") from None
    return empirical({size: number for size, number in sizes.items() if size > 0})


def _requests(place: Path, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the named columns of the table of requests, of which there are at least two."""
    with open_input(place) as content, gzip.open(content, "rt", newline="", encoding="utf-8") as stream:
        table = csv.reader(stream)
        at = {name: i for i, name in enumerate(next(table, []))}
        yield from map(itemgetter(*(at[name] for name in names)), table)
