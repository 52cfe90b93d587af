"""Instances from files, as the strategies draw them: what the kit and ``packproof attack --out`` write."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from bounds.adversary.documents import items_of
from bounds.adversary.items import Items
from bounds.testing.queueing import AnyQueue, Queue, SlottedQueue
from fluid.files.tables import Place, parse_slotted, parse_table
from fluid.simulation.continuous import ContinuousTable
from theory.errors import InputError
from theory.files.clusters import parse_cluster
from theory.files.document import read_document
from theory.files.instances import parse_instance
from theory.files.sizes import parse_sizes
from theory.instance import Instance
from theory.numbers import text
from theory.sharing.model import Cluster


def load(path: str | Path, *, servers: int = 1) -> Instance | Items | Cluster | AnyQueue:
    """Read an instance that a failing test or ``packproof attack --out`` wrote, for a test of its own.

    Parameters
    ----------
    path : str or Path
        TOML or JSON: types and servers, a list of items, a cluster with users, or one of these with the table
        ``[simulation]``: a queue.
    servers : int
        Of a queue in continuous time, whose file does not say it. The file of a slotted queue does.

    Returns
    -------
    Instance, Items, Cluster, Queue or SlottedQueue
        What `assert_keeps` takes.

    Raises
    ------
    InputError
        One line: a file of another kind, or one that asks for what the kit's queues do not have.

    Examples
    --------
    >>> load("examples/four_types.toml").names
    ('small', 'medium', 'memory', 'large')
    """
    document, source = read_document(path), str(path)
    if "items" in document:
        return items_of(document, source)
    if "user" in document:
        return parse_cluster(document, source)
    if "sizes" in document:
        return _slotted(document, source)
    simulation = document.get("simulation")
    instance = parse_instance({name: value for name, value in document.items() if name != "simulation"}, source)
    return instance if simulation is None else _queue(instance, simulation, source, servers)


def _queue(instance: Instance, simulation: Any, source: str, servers: int) -> Queue:
    """Return the queue of an instance file; what the kit's queues do not have is refused."""
    if isinstance(simulation, Mapping) and simulation.keys() not in (set(), {"arrivals", "service"}):
        # a service alone may be one in slots
        raise InputError(
            source,
            "simulation",
            f"expected arrivals and service alone, found {', '.join(simulation)}: packproof simulate reads it",
        )
    table = parse_table(ContinuousTable, simulation, instance, Place(source))
    if table.trace is not None:
        raise InputError(source, "simulation.arrivals", "expected a law, got a trace: packproof simulate reads it")
    return Queue(instance, servers, table.arrivals, table.service)


def _slotted(document: Mapping[str, Any], source: str) -> SlottedQueue:
    """Return the slotted queue of a law of sizes; its rate is left to the test, which asks for a share."""
    sizes = parse_sizes({name: value for name, value in document.items() if name != "simulation"}, source)
    if "simulation" not in document:
        raise InputError(source, "simulation", "missing, expected a table with the service of a slotted queue")
    simulation = document["simulation"]
    table = parse_slotted(simulation, source)
    unlike = sorted(set(simulation) - {"rate", "service_rate", "service"})
    if unlike:
        raise InputError(source, f"simulation.{unlike[0]}", "has no meaning for the queues of packproof.testing")
    if not sizes.law.atoms or sum((p for _, p in sizes.law.atoms), Fraction(0)) != 1:
        raise InputError(source, "sizes", "expected finitely many sizes")
    if (1 / table.service_rate).denominator != 1:
        raise InputError(
            source, "simulation.service_rate", f"expected 1 over a whole number, got {text(table.service_rate)}"
        )
    return SlottedQueue(sizes.law, sizes.servers, table.service_rate, table.fixed)
