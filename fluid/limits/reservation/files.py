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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from fluid.limits.reservation.model import Reservation, Vector
from fluid.limits.reservation.path import state_of
from fluid.limits.reservation.segment import State
from theory.errors import InputError, naming
from theory.files.document import Fields, read_document
from theory.files.record import Expected, Placed, Range, Tables, read_file
from theory.instance import Configuration

_NotNegative = Annotated[float, Range(0)]


@dataclass(frozen=True)
class AssignmentTable(Placed):
    """Servers of one configuration."""

    configuration: Annotated[
        Mapping[str, Annotated[int, Range(0)]], Expected("slots by type"), "slots by type; types left out have none"
    ]
    fraction: Annotated[_NotNegative, Expected("a fraction of the servers"), "of all servers"]


@dataclass(frozen=True)
class ArrivalsTable(Placed):
    """The workload from a time on."""

    time: Annotated[_NotNegative, Expected("a time"), "from which on"]
    workload: Annotated[
        Mapping[str, _NotNegative],
        Expected("jobs per server by type"),
        "jobs per server; types left out have that of the instance",
    ]


@dataclass(frozen=True)
class StartFile(Placed):
    """A state of the fluid limit to start from, and arrivals that change: what `fluid --from` reads."""

    SIGN: ClassVar = "assignment"

    assignment: Annotated[
        tuple[AssignmentTable, ...], Tables("tables with configuration and fraction"), "the configurations of servers"
    ] = ()
    jobs: Annotated[Mapping[str, _NotNegative] | None, "per server; all slots full where the table is left out"] = None
    arrivals: Annotated[
        tuple[ArrivalsTable, ...],
        Tables("tables with time and workload"),
        "those of the instance where left out",
    ] = ()


def read_start(
    path: str | Path, model: Reservation, until: float = inf
) -> tuple[State | None, list[tuple[float, Vector]]]:
    """Read a state, and arrival rates from each time on as pairs of a time and lambda per server, float64[J].

    The state is None where the file has no assignment, and the list empty where it has no arrivals. InputError has one
    line that names file, field and what was expected.
    """
    names = [t.name for t in model.instance.types]
    file = read_file(StartFile, read_document(path), str(path))
    assignment: dict[Configuration, float] = {}
    for table in file.assignment:
        _expect_types(table.at, "configuration", table.configuration, names)
        configuration = tuple(table.configuration.get(name, 0) for name in names)
        if not model.instance.pools[0].space.holds(configuration):
            table.at.fail("configuration", f"expected one that fits a server, got {_named(configuration, names)}")
        assignment[configuration] = assignment.get(configuration, 0.0) + table.fraction
    _expect_types(file.at, "jobs", file.jobs or (), names)
    jobs = None if file.jobs is None else [file.jobs.get(name, 0.0) for name in names]
    arrivals: list[tuple[float, Vector]] = []
    for row in file.arrivals:
        if arrivals and row.time <= arrivals[-1][0]:
            row.at.fail("time", f"expected times that increase, got {row.time:g} after {arrivals[-1][0]:g}")
        if row.time >= until:
            row.at.fail("time", f"expected less than the end of the path, {until:g}, got {row.time:g}")
        _expect_types(row.at, "workload", row.workload, names)
        workload = [row.workload.get(name, float(model.workload[j])) for j, name in enumerate(names)]
        arrivals.append((row.time, np.array(workload) * model.service))
    if arrivals and arrivals[0][0] > 0:
        arrivals.insert(0, (0.0, model.workload * model.service))
    if jobs is not None and not assignment:
        raise InputError(path, "assignment", "missing, expected tables with configuration and fraction for the jobs")
    with naming(path, ("assignment", "jobs")):
        return (state_of(model, assignment, jobs) if assignment else None), arrivals


def _named(configuration: Configuration, names: list[str]) -> str:
    return ", ".join(f"{n} {name}" for n, name in zip(configuration, names, strict=True) if n)


def _expect_types(table: Fields, place: str, given: Iterable[str], names: list[str]) -> None:
    """Refuse what is no type."""
    for name in given:
        if name not in names:
            table.fail(f"{place}.{name}", f"unknown type, expected one of {', '.join(names)}")
