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

from pathlib import Path

import numpy as np

from fluid.reservation.model import Reservation, Vector
from fluid.reservation.path import state_of
from fluid.reservation.segment import State
from theory.errors import InputError
from theory.files.document import Fields, read_document
from theory.instance import Configuration


def read_start(path: str | Path, model: Reservation) -> tuple[State | None, list[tuple[float, Vector]]]:
    """Read a state and arrival rates.

    Returns
    -------
    state : State or None
        None where the file has no assignment.
    arrivals : list of (time, float64[J])
        lambda per server from each time on; empty where the file has none.

    Raises
    ------
    InputError
        With one line that names file, field and what was expected.
    """
    names = [t.name for t in model.instance.types]
    top = Fields(read_document(path), str(path))
    assignment: dict[Configuration, float] = {}
    if top.has("assignment"):
        for table in top.tables("assignment", "tables with configuration and fraction"):
            slots = table.table("configuration", "slots by type")
            configuration = tuple(slots.integer(name) if slots.has(name) else 0 for name in names)
            _finish(slots, names)
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
        raise InputError(f"{path}: assignment: missing, expected tables with configuration and fraction for the jobs")
    try:
        return (state_of(model, assignment, jobs) if assignment else None), arrivals
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _finish(table: Fields, names: list[str]) -> None:
    """Refuse what is no type."""
    for name in table.names():
        table.fail(name, f"unknown type, expected one of {', '.join(names)}")
