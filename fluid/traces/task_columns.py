"""Which columns of a table make tasks: what each is, and how its cells are read.

A table whose columns are named (`fluid.traces.mapped`), guessed (`fluid.traces.guessed`) or those of a log of known
origin (`fluid.traces.known`) says it by the same record, `TaskColumns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fluid.traces.model import Outcome
from theory.files.document import Fields
from theory.files.formats import AMOUNT, DURATION, MOMENT, WHOLE, WORD, Column

NO_RESOURCES = ("time", "duration", "start", "end", "type", "outcome", "attempt", "priority", "count", "state")
"""Names that are no resources."""

TIMES = ("time", "start", "end", "duration")
"""Those of them that are times."""

QUANTITIES = {
    **dict.fromkeys(("time", "start", "end"), MOMENT),
    "duration": DURATION,
    **dict.fromkeys(("attempt", "priority", "count"), WHOLE),
    **dict.fromkeys(("type", "outcome", "state"), WORD),
}
"""Quantities of the columns of `NO_RESOURCES`; every other is an amount."""


def named_columns(headers: Mapping[str, str], units: Mapping[str, Fraction] | None = None) -> tuple[Column, ...]:
    """Return the columns of tasks, each with its one header.

    Parameters
    ----------
    headers : mapping of str to str
        The header of each column by what it is: one of `NO_RESOURCES`, or a resource.
    units : mapping of str to Fraction, optional
        Seconds in a unit of the time, start, end and duration; 1 unless given.

    Examples
    --------
    >>> [(one.name, one.quantity) for one in named_columns({"time": "submit", "end": "finished", "cpu": "req_cpu"})]
    [('time', 'moment'), ('end', 'moment'), ('cpu', 'amount')]
    """
    seconds = units or {}
    return tuple(
        Column(name, QUANTITIES.get(name, AMOUNT), (header,), seconds.get(name, Fraction(1)))
        for name, header in headers.items()
    )


@dataclass(frozen=True)
class TaskColumns:
    """Which column of a table is what, and how its rows are tasks.

    Attributes
    ----------
    columns : tuple of Column
        Each has one header, and the seconds in a unit of its times (`named_columns`).
    outcomes : tuple of (str, Outcome)
        Words of the table for outcomes, beside the names of `Outcome`.
    keeps_open : bool
        Whether rows without an end run on to the last moment of the table, rather than being dropped.
    is_guessed : bool
        Whether resources have the units that their headers and cells say; otherwise numbers are taken as they are.
    written : str
        How times are written that are numbers and dates (`theory.files.formats.Times`).
    assumed : str
        What was assumed of the units of times, in words.
    apart : bool
        Whether the duration may have another unit than the other times.
    unread : tuple of str
        Columns that are read otherwise, so that they are not named as unused.
    are_asked : bool
        Whether a resource of which no row asks anything is left out, and a note says so.
    """

    columns: tuple[Column, ...]
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    keeps_open: bool = False
    is_guessed: bool = False
    written: str = ""
    assumed: str = ""
    apart: bool = False
    unread: tuple[str, ...] = ()
    are_asked: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Return the header of each column by what it is."""
        return {one.name: one.header(()) for one in self.columns}

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the names of the resources."""
        return tuple(one.name for one in self.columns if one.name not in NO_RESOURCES)


OutcomeName = Literal["finish", "kill", "evict", "fail", "censored"]


def columns_of(
    columns: Mapping[str, str] | None, outcomes: Mapping[str, OutcomeName] | None, unit: Fraction | None, fields: Fields
) -> TaskColumns | None:
    """Return the columns that a document names, None where it names none; `fields` is its table, for errors.

    Raises
    ------
    InputError
        Names that do not go together, or are missing.
    """
    if columns is None:
        for name, value in (("outcomes", outcomes), ("unit", unit)):
            if value is not None:
                fields.fail(name, "expected it beside columns only")
        return None
    named = columns.keys()
    if "time" not in named:
        fields.fail("columns.time", "missing, expected the column of arrival times")
    if len(named & {"duration", "end"}) != 1:
        fields.fail("columns.duration", "expected one of duration and end")
    if "start" in named and "end" not in named:
        fields.fail("columns.start", "expected end beside it")
    if {"type", "priority"} <= named:
        fields.fail("columns.priority", "expected type or priority, got both: a job has one label")
    if not named - set(NO_RESOURCES) and "type" not in named:
        fields.fail("columns.type", "missing, expected type, or a resource")
    words = tuple((word, Outcome[kind]) for word, kind in (outcomes or {}).items())
    return TaskColumns(named_columns(columns, dict.fromkeys(columns, unit or Fraction(1))), words)
