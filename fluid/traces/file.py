"""The table ``arrivals = { trace = ... }``: a file of tasks, and what is done to them before they are jobs.

.. code-block:: toml

    arrivals = { trace = "jobs.csv" }               # a file beside this one, of any format of `fluid.traces.read_trace`
    arrivals = { trace = "jobs.csv", stretch = 0.8 }            # times multiplied by 0.8: traffic divided by it
    arrivals = { trace = "google.csv.gz", completed = true }    # only what finished at its first attempt
    arrivals = { trace = "google.csv.gz", types = "powers-of-half" }    # how a task finds its type, see below
    arrivals = { trace = "log.csv", drop_open = true }          # a log of VMs, without those that have no end
    arrivals = { trace = "log.csv", strict = true }             # refused if a row never ran, rather than dropped
    arrivals = { trace = "own.jsonl", columns = { time = "submit", ... } }      # any table, see `fluid.traces.mapped`
    arrivals = { trace = "pods.csv", capacity = { cpu = 96, memory = 393216, gpu = 8 } }    # of one server, for sizes

A task finds its type by the column ``type`` of a plain table, or else by its demand, which must be that of one type
exactly. With ``types = "powers-of-half"`` its size, the largest share of a server that it asks of any resource, is
rounded up to a power of 1/2, and the type has that share of its one resource (non-preemptive
paper, Section 7.3); with ``types = "priority-classes"`` the type is, besides, that of the task's priority class by its
name: ``pC/N`` with C from 0 to 2 and size 1/N (auto-scaling paper, Section 7.2; `fluid.traces.types` makes such an
instance). Shares are of ``capacity``; where it is left out, the numbers of the trace are shares themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal

from fluid.traces.mapped import read_mapped
from fluid.traces.model import Trace
from fluid.traces.preprocess import completed, stretched
from fluid.traces.readers import read_trace
from fluid.traces.task_columns import OutcomeName, TaskColumns, columns_of
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.places import digest_of_file, note_input
from theory.files.record import Expected, Range, read

POWERS, PRIORITIES = "powers-of-half", "priority-classes"
"""Values of ``types``."""
FINDING = Expected(f"{POWERS} or {PRIORITIES}")


@dataclass(frozen=True)
class TraceFile:
    """A trace that stands for arrivals and service.

    Attributes
    ----------
    path : Path
        Of any format of `fluid.traces.read_trace`.
    stretch : Fraction
        Arrival times are multiplied by it, so traffic is divided (throughput paper, VII-B).
    digest : str
        SHA-256 that the file must have; empty for any.
    completed : bool
        Whether only tasks count that finished at their first attempt.
    types : str
        How a task finds its type: by name or demand (empty), or one of `POWERS`, `PRIORITIES`.
    drop_open : bool
        Whether rows of a log without an end are dropped; unless so, they run on to the end of the log.
    strict : bool
        Whether rows of a log that never ran are refused; unless so, they are dropped and counted.
    by_demand : bool
        Whether the resources of a log are read even where a column names the type.
    columns : TaskColumns or None
        Which column is what, of a table of no known format.
    capacity : tuple of (str, Fraction)
        Of one server by resource, to take sizes from; empty where the trace has shares.
    """

    path: Path
    stretch: Fraction = Fraction(1)
    digest: str = ""
    completed: bool = False
    types: str = ""
    capacity: tuple[tuple[str, Fraction], ...] = ()
    columns: TaskColumns | None = None
    drop_open: bool = False
    strict: bool = False
    by_demand: bool = False

    @cached_property
    def trace(self) -> Trace:
        """What is in it, read once.

        Raises
        ------
        InputError
            A file that is no trace, or another one than the digest says.
        """
        stored = replace(self, stretch=Fraction(1))  # one reading for grids of many factors
        trace = _kept(stored) if self.digest else _read(stored)
        return trace if self.stretch == 1 else stretched(trace, self.stretch)


@dataclass(frozen=True)
class TraceTable:
    """The table ``arrivals`` of a trace (`TraceFile`)."""

    trace: Annotated[str, Expected("the name of a file"), "the file of the trace"]
    stretch: Annotated[
        Fraction, Range(0, above=True), Expected("a factor greater than 0"), "factor of the times of arrivals"
    ] = Fraction(1)
    digest: Annotated[str, Expected("the SHA-256 of the file"), "the SHA-256 that the file must have"] = ""
    completed: Annotated[bool, "whether only tasks count that finished at their first attempt"] = False
    types: Annotated[
        Literal["powers-of-half", "priority-classes"] | None,
        FINDING,
        "how a task finds its type, if not by its name or its demand",
    ] = None
    capacity: Annotated[
        Mapping[str, Fraction] | None,
        Range(0, above=True),
        Expected("a number greater than 0"),
        "what one server has, by resource",
    ] = None
    columns: Annotated[Mapping[str, str] | None, Expected("the name of a column"), "columns by what they hold"] = None
    outcomes: Annotated[Mapping[str, OutcomeName] | None, "outcomes by words of the table"] = None
    unit: Annotated[
        Fraction | None, Range(0, above=True), Expected("seconds in a unit of time"), "seconds in a unit of its times"
    ] = None
    drop_open: Annotated[bool, "whether rows of a log without an end are dropped"] = False
    strict: Annotated[bool, "whether rows of a log that never ran are refused"] = False


def trace_of(fields: Fields, folder: Path | None) -> TraceFile | None:
    """Take ``arrivals`` if it is a table with the field ``trace``: a file, and how it is read.

    Parameters
    ----------
    fields : Fields
        Of the table ``[simulation]``.
    folder : Path, optional
        Where a relative name starts; the working directory unless given.
    """
    value = fields.peek("arrivals")
    if not isinstance(value, Mapping) or "trace" not in value:
        return None
    table = fields.table("arrivals")
    given = read(TraceTable, table)
    return TraceFile(
        (folder or Path()) / given.trace,
        given.stretch,
        given.digest,
        given.completed,
        given.types or "",
        tuple((given.capacity or {}).items()),
        columns_of(given.columns, given.outcomes, given.unit, table),
        given.drop_open,
        given.strict,
    )


def on_file(
    reading: TraceFile | None, path: Path | None, *, drop_open: bool = False, strict: bool = False
) -> TraceFile | None:
    """Return how a trace is read with another file in its place; the same where there is none."""
    if path is not None:
        reading = TraceFile(path) if reading is None else replace(reading, path=path, digest="")
    if reading is None:
        return None
    return replace(reading, drop_open=reading.drop_open or drop_open, strict=reading.strict or strict)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    note_input(path)
    return digest_of_file(path)


@lru_cache(maxsize=4)
def _kept(file: TraceFile) -> Trace:
    if digest_of(file.path) != file.digest:
        raise InputError(file.path, "", "it has changed since the experiment was read; run it again")
    return _read(file)


def _read(file: TraceFile) -> Trace:
    if file.columns is None:
        trace = read_trace(file.path, drop_open=file.drop_open, strict=file.strict, by_demand=file.by_demand)
    else:
        trace = read_mapped(file.path, file.columns, strict=file.strict)
    return completed(trace) if file.completed else trace
