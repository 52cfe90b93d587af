"""Tables of tasks with any columns: a small table says which column is what.

.. code-block:: toml

    [simulation.arrivals]
    trace = "jobs.parquet"                     # CSV, JSON lines (.jsonl, .ndjson, .json) or Parquet
    columns = { time = "submit", end = "finished", cpu = "req_cpu", outcome = "status" }
    outcomes = { COMPLETED = "finish", NODE_FAIL = "fail" }
    unit = "1/1000"                            # seconds in a unit of time of the table

``time`` and one of ``duration`` and ``end`` are needed, and ``type`` or resources. Times are numbers or ISO 8601.
``start``, when service began, makes the duration together with ``end``; ``outcome`` is one of finish, kill, evict, fail
and censored, or what ``outcomes`` turns into one; ``attempt`` counts from 0; ``priority`` is a whole number, 0 to 11 as
in Google's trace of 2011. Every other name is a resource, and other columns are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from fluid.traces.model import MICROSECONDS, PLAIN, Outcome, Trace
from fluid.traces.typed_table import (
    EPOCH,
    NUMBERS,
    ZONED,
    Moments,
    Row,
    Schema,
    Tasks,
    fail,
    nonnegative,
    optional,
    rows,
    ticks,
    whole,
)
from theory.files.document import Fields
from theory.numbers import text

KNOWN = ("time", "duration", "start", "end", "type", "outcome", "attempt", "priority")
"""Names that are no resources."""

SINCE_1970 = 10**9 * MICROSECONDS
"""Times from here on, 2001 in microseconds, are taken for dates."""


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what.

    Attributes
    ----------
    column : tuple of (str, str)
        What (one of `KNOWN`, or a resource), and the name of its column.
    outcomes : tuple of (str, Outcome)
        Words of the table for outcomes, beside the names of `Outcome`.
    unit : Fraction
        Seconds in a unit of time of the table.
    scale : tuple of (str, Fraction)
        What the numbers of resources, and of the duration, are multiplied by where that is not 1.
    keeps_open : bool
        Whether rows without an end run on to the last moment of the table, rather than being dropped.
    """

    column: tuple[tuple[str, str], ...]
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    unit: Fraction = Fraction(1)
    scale: tuple[tuple[str, Fraction], ...] = ()
    keeps_open: bool = False

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the names of the resources."""
        return tuple(name for name, _ in self.column if name not in KNOWN)


def columns_of(fields: Fields) -> Columns | None:
    """Take ``columns``, ``outcomes`` and ``unit`` of a table; None where the columns are not named.

    Raises
    ------
    InputError
        Names that do not go together, or are missing.
    """
    if not fields.has("columns"):
        for name in ("outcomes", "unit"):
            if fields.peek(name) is not None:
                fields.fail(name, "expected it beside columns only")
        return None
    table = fields.table("columns", 'a table such as { time = "submit", duration = "runtime", cpu = "cores" }')
    named = tuple((name, table.text(name, "the name of a column")) for name in table.names())
    columns_named = {name for name, _ in named}
    if "time" not in columns_named:
        table.fail("time", "missing, expected the column of arrival times")
    if len(columns_named & {"duration", "end"}) != 1:
        table.fail("duration", "expected one of duration and end")
    if "start" in columns_named and "end" not in columns_named:
        table.fail("start", "expected end beside it")
    if {"type", "priority"} <= columns_named:
        table.fail("priority", "expected type or priority, got both: a job has one label")
    columns = Columns(named, unit=fields.optional_number("unit", Fraction(1), "seconds in a unit of time", strict=True))
    if not columns.resources and "type" not in columns_named:
        table.fail("type", "missing, expected type, or a resource")
    words: dict[str, Outcome] = {}
    if fields.has("outcomes"):
        inner = fields.table("outcomes", 'a table such as { COMPLETED = "finish" }')
        kinds = [one.name for one in Outcome]
        for word in inner.names():
            kind = inner.text(word, f"one of {', '.join(kinds)}")
            if kind not in kinds:
                inner.fail(word, f"expected one of {', '.join(kinds)}, got {kind!r}")
            words[word] = Outcome[kind]
    return replace(columns, outcomes=tuple(words.items()))


def read_mapped(path: str | Path, columns: Columns) -> Trace:
    """Read a table of tasks whose columns are named.

    Parameters
    ----------
    path : str or Path
        CSV, JSON lines or Parquet (`fluid.traces.typed_table`); rows in any order.
    columns : Columns

    Returns
    -------
    Trace
        The first arrival is time 0; labels are the types, or the priorities. Rows without an end are censored at the
        last moment of the table if their outcome says so, and dropped and counted if not.

    Raises
    ------
    InputError
        A column that is missing, fields that are no numbers, an end before the start, an unknown outcome: each names
        file, line and column.
    """
    place, column = Path(path), dict(columns.column)
    tasks = Tasks(place, columns.resources)
    labels: dict[str, int] = {}
    dropped = 0
    open_ended: list[int] = []
    last = 0
    moments = Moments(columns.unit)
    for row in rows(place, _schema(columns, moments), column):
        arrival, duration = _times(row, column)
        ended = Outcome.censored if duration is None and columns.keeps_open else Outcome.finish
        outcome = row["outcome"] if "outcome" in column else ended
        if duration is None and outcome is not Outcome.censored:
            dropped += 1
            continue
        demand = tuple(row[name] for name in columns.resources)
        tasks.check_demand(row.line, demand)
        if demand and not any(tasks.numbers[one] for one in demand):
            row.fail(columns.resources[0], "expected at least one positive demand")
        if duration is None:
            open_ended.append(len(tasks.line))
        last = max(last, arrival + (duration or 0))
        label = labels.setdefault(row["type"], len(labels)) if "type" in column else 0
        if "priority" in column:
            label = row["priority"]
        attempt = row["attempt"] if "attempt" in column else 0
        tasks.add(row.line, arrival, duration or 0, outcome, attempt, label, demand)
    if not tasks.line:
        fail(place, 1, "", "expected tasks below the header, found none with an end")
    first = tasks.begin_at_first_arrival()
    last -= first
    late = _late_note(tasks)
    for i in open_ended:
        tasks.duration[i] = last - tasks.arrival[i]
    notes = [f"the first arrival, {_shown(first, moments)}, is time 0"] if first else []
    notes += [f"{dropped:,} rows without an end dropped"] if dropped else []
    open_words = "have no end and run on to" if columns.keeps_open else "are censored at"
    notes += [f"{len(open_ended):,} rows {open_words} the last moment of the table"] if open_ended else []
    notes += late
    trace = tasks.trace(PLAIN, tuple(labels), notes)
    is_dated = moments.form not in ("", NUMBERS) or first >= SINCE_1970
    begins = first if is_dated else None
    return replace(trace, priorities="priority" in column, begins=begins, header=column.get("type", "type"))


def _late_note(tasks: Tasks) -> list[str]:
    """Return a note on rows that end longer after the last arrival than the log is long, such as in the year 9999."""
    span = max(tasks.arrival)
    ends = [time + stay for time, stay in zip(tasks.arrival, tasks.duration, strict=True)]
    late = [tasks.line[i] for i, end in enumerate(ends) if end > 2 * span > 0]
    if not late:
        return []
    day = 86400 * MICROSECONDS
    log, most = (
        f"{time / day:,.0f} days" if time >= day else f"{time / MICROSECONDS:,.0f} s"
        for time in (span, max(ends) - span)
    )
    return [
        f"{len(late):,} rows (the first: {min(late):,}) end up to {most} after the last arrival, in a log of {log}: "
        "is that when they ended?"
    ]


def _shown(first: int, moments: Moments) -> str:
    """Write the first arrival as the table has times."""
    if moments.form in ("", NUMBERS):
        return f"{text(Fraction(first, MICROSECONDS))} s"
    zone = "UTC" if moments.form == ZONED else "without a zone, which is taken as UTC"
    return f"{(EPOCH + timedelta(microseconds=first)).replace(tzinfo=None).isoformat()} {zone}"


def _schema(columns: Columns, moments: Moments) -> Schema:
    """Return how the cells of each named column are read; space around them does not count."""
    words = {one.name: one for one in Outcome} | dict(columns.outcomes)

    def outcome_of(word: str) -> Outcome:
        outcome = words.get(word, words.get(word.lower())) if word else Outcome.censored
        if outcome is None:
            expected = f"expected one of {', '.join(words)} (others: arrivals = {{ outcomes = {{ ... }} }})"
            raise ValueError(f"{expected}, got {word[:40]!r}")
        return outcome

    scale = dict(columns.scale)
    # a guessed duration has a unit of its own, by its header; a named one has that of all times
    stay = scale.get("duration", columns.unit)
    readers: Schema = {
        "time": moments,
        "duration": optional(partial(ticks, unit=stay)),
        "start": optional(moments),
        "end": optional(moments),
        "type": _name_of_type,
        "outcome": outcome_of,
        "attempt": lambda cell: whole(cell or "0"),
        "priority": whole,
    }

    def stripped(read: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda cell: read(cell.strip())

    def amount(factor: Fraction) -> Callable[[str], str]:
        return lambda cell: text(nonnegative(cell or "0") * factor)

    amounts = {name: amount(factor) for name, factor in scale.items()}
    readers = {**amounts, **readers}
    return {name: stripped(readers.get(name, lambda cell: cell or "0")) for name, _ in columns.column}


def _name_of_type(cell: str) -> str:
    if not cell:
        raise ValueError("expected the name of a type, got an empty cell")
    return cell


def _times(row: Row, column: Mapping[str, str]) -> tuple[int, int | None]:
    """Return arrival and duration in microseconds; None where there is no end."""
    arrival = row["time"]
    if "duration" in column:
        return arrival, row["duration"]
    end = row["end"]
    if end is None:
        return arrival, None
    start = row["start"] if "start" in column else None
    begun = arrival if start is None else start
    if not arrival <= begun <= end:
        row.fail("end", f"expected arrival <= start <= end, got {row.text('end').strip()!r}")
    return arrival, end - begun
