"""The file of a state to start from, and of arrivals that change.

::

    [[assignment]]
    configuration = { small = 16, large = 1 }     # slots by type, types left out have none
    fraction = "1/2"

    [jobs]                                        # per server; all slots full where the table is left out
    small = 4

    [[arrivals]]                                  # from each time on; the instance's own from time 0 where left out
    time = 5
    workload = { small = 8 }                      # jobs per server; types left out keep their own
"""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np

from fluid.limits.reservation.model import Reservation, Vector
from fluid.limits.reservation.path import state_of
from fluid.limits.reservation.segment import State
from theory.errors import InputError, naming
from theory.files.document import Fields, read_document
from theory.instance import Configuration


def read_start(
    path: str | Path, model: Reservation, until: float = inf
) -> tuple[State | None, list[tuple[float, Vector]]]:
    """Read a state, and arrival rates from each time on as pairs of a time and lambda per server, float64[J].

    The state is None where the file has no assignment, and the list empty where it has no arrivals. InputError has one
    line that names file, field and what was expected.
    """
    names = [t.name for t in model.instance.types]
    top = Fields(read_document(path), str(path))
    if not {"assignment", "jobs", "arrivals"} & set(top.names()):
        top.refuse_other_kinds("a state of the fluid limit", "assignment", "jobs", "arrivals")
    assignment: dict[Configuration, float] = {}
    if top.has("assignment"):
        for table in top.tables("assignment", "tables with configuration and fraction"):
            slots = table.table("configuration", "slots by type")
            configuration = tuple(slots.integer(name) if slots.has(name) else 0 for name in names)
            _finish(slots, names)
            if not model.instance.pools[0].space.holds(configuration):
                table.fail("configuration", f"expected one that fits a server, got {_named(configuration, names)}")
            share = float(table.number("fraction", "a fraction of the servers"))
            table.finish()
            assignment[configuration] = assignment.get(configuration, 0.0) + share
    jobs = None
    if top.has("jobs"):
        table = top.table("jobs")
        jobs = [float(table.number(name)) if table.has(name) else 0.0 for name in names]
        _finish(table, names)
    arrivals: list[tuple[float, Vector]] = []
    if top.has("arrivals"):
        for table in top.tables("arrivals", "tables with time and workload"):
            time = float(table.number("time", "a time"))
            if arrivals and time <= arrivals[-1][0]:
                table.fail("time", f"expected times that increase, got {time:g} after {arrivals[-1][0]:g}")
            if time >= until:
                table.fail("time", f"expected less than the end of the path, {until:g}, got {time:g}")
            loads = table.table("workload", "jobs per server by type")
            workload = [
                float(loads.number(name)) if loads.has(name) else float(model.workload[j])
                for j, name in enumerate(names)
            ]
            _finish(loads, names)
            table.finish()
            arrivals.append((time, np.array(workload) * model.service))
        if arrivals[0][0] > 0:
            arrivals.insert(0, (0.0, model.workload * model.service))
    top.finish()
    if jobs is not None and not assignment:
        raise InputError(path, "assignment", "missing, expected tables with configuration and fraction for the jobs")
    with naming(path, ("assignment", "jobs")):
        return (state_of(model, assignment, jobs) if assignment else None), arrivals


def _named(configuration: Configuration, names: list[str]) -> str:
    return ", ".join(f"{n} {name}" for n, name in zip(configuration, names, strict=True) if n)


def _finish(table: Fields, names: list[str]) -> None:
    """Refuse what is no type."""
    for name in table.names():
        table.fail(name, f"unknown type, expected one of {', '.join(names)}")
