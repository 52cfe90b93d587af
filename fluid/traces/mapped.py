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
in Google's trace of 2011; ``count`` is the number of tasks that a row stands for; ``state`` may say that a row never
ran. Every other name is a resource; a note names the columns that are not used.

Rows that never ran are dropped and counted: those without an arrival or a start, with -1 for a time, with an end before
the start, with a state such as ``PENDING``. If most rows are such, the columns are not what they seem, and the table
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from fluid.traces.model import MICROSECONDS, PLAIN, Doubt, Outcome, Trace
from fluid.traces.typed_table import (
    ABSENT,
    EPOCH,
    NUMBERS,
    ORDER,
    ZONED,
    Dropped,
    Moments,
    NeverRanError,
    Row,
    Schema,
    Tasks,
    fail,
    header,
    number_of,
    rows,
    ticks,
    whole,
)
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.headers import Amounts, factor_of, unit_of, unused_columns
from theory.numbers import text

KNOWN = ("time", "duration", "start", "end", "type", "outcome", "attempt", "priority", "count", "state")
"""Names that are no resources."""

SINCE_1970 = 10**9 * MICROSECONDS
"""Times from here on, 2001 in microseconds, are taken for dates."""

FARTHEST = 10**11 * MICROSECONDS
"""Times from here on, the year 5138, are no seconds: their unit is finer."""

MOST_TASKS = 10_000_000
"""Most tasks that the rows of a table stand for."""

OPEN = 2**62
"""More than every time: a duration of a start less it has no end yet."""

FAR = 10
"""A stay of this many times the log puts its columns, or their units, in doubt."""

NEVER_RAN = frozenset({"pending", "queued", "waiting", "rejected", "refused", "denied", "unschedulable", "not_started"})
"""States, in lower case, of rows that never ran."""

NO_DATE = ("0001-01-01", "0000-00-00")
"""How dates begin that programs write for none."""


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
        Seconds in a unit of the time, start, end and duration that have another one.
    keeps_open : bool
        Whether rows without an end run on to the last moment of the table, rather than being dropped.
    is_guessed : bool
        Whether resources have the units that their headers and cells say; otherwise numbers are taken as they are.
    written : str
        How times are written that are numbers and dates (`fluid.traces.typed_table.Moments`).
    assumed : str
        What was assumed of the units of times, in words.
    apart : bool
        Whether the duration may have another unit than the other times.
    unread : tuple of str
        Columns that are read otherwise, so that they are not named as unused.
    """

    column: tuple[tuple[str, str], ...]
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    unit: Fraction = Fraction(1)
    scale: tuple[tuple[str, Fraction], ...] = ()
    keeps_open: bool = False
    is_guessed: bool = False
    written: str = ""
    assumed: str = ""
    apart: bool = False
    unread: tuple[str, ...] = ()

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


def read_mapped(path: str | Path, columns: Columns, *, strict: bool = False) -> Trace:
    """Read a table of tasks whose columns are named.

    Parameters
    ----------
    path : str or Path
        CSV, JSON lines or Parquet (`fluid.traces.typed_table`); rows in any order.
    columns : Columns
    strict : bool
        Whether rows that never ran are refused, rather than dropped and counted.

    Returns
    -------
    Trace
        The first arrival is time 0; labels are the types by name, or the priorities. Tasks of one instant come in the
        order of their types. Rows without an end are censored at the last moment of the table if their outcome says
        so, and dropped and counted if not.

    Raises
    ------
    InputError
        A column that is missing, fields that are no numbers, an unknown outcome, a table most rows of which end before
        they start: each names file, line and column.
    """
    place, column = Path(path), dict(columns.column)
    _refuse_other_unit(place, columns)
    moments = Moments(columns.unit, columns.written)
    amounts = {name: Amounts(name, column[name]) for name in columns.resources if columns.is_guessed}
    read = _rows_of(place, columns, moments, amounts)
    tasks, dropped = read.tasks, read.dropped
    _drop_times_of_zero(tasks, dropped, column["time"])
    dropped.refuse_many(place, len(tasks.line), strict=strict)
    if not tasks.line:
        fail(place, 1, "", "expected tasks below the header, found none with an end")
    if sum(tasks.copies) > MOST_TASKS:
        fail(place, 1, column["count"], f"expected at most {MOST_TASKS:,} in all, got {sum(tasks.copies):,}")
    open_ended = [i for i, stay in enumerate(tasks.duration) if stay < 0]
    for i in open_ended:
        tasks.duration[i] = read.last - (tasks.duration[i] + OPEN)
    first = tasks.begin_at_first_arrival()
    if first >= FARTHEST and not columns.is_guessed:
        expected = 'expected times before the year 5138, or their unit, such as unit = "1/1000", beside columns'
        fail(place, 1, column["time"], f"{expected}: the first is {_shown(first, moments)}")
    doubts, others = _doubts(place, tasks, columns)
    notes = [
        *doubts,
        *unused_columns(header(place), [*column.values(), *columns.unread]),
        *_notes_of_rows(tasks, columns, read.states),
        *dropped.notes,
        *([f"the first arrival, {_shown(first, moments)}, is time 0"] if first else []),
        *([f"{number_of(read.without_end, 'row')} without an end dropped"] if read.without_end else []),
        *_open_note(len(open_ended), keeps_open=columns.keeps_open),
        *(note for reader in amounts.values() for note in reader.notes),
        *others,
    ]
    trace = tasks.trace(PLAIN, tuple(read.labels), notes, unordered=True)
    is_dated = moments.form not in ("", NUMBERS) or first >= SINCE_1970
    begins = first if is_dated else None
    return replace(trace, priorities="priority" in column, begins=begins, header=column.get("type", "type"))


@dataclass
class _Rows:
    """What was read of a table: tasks, whose durations are negative where they are not over (`OPEN`), and the rest."""

    tasks: Tasks
    labels: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)  # of rows that ran
    dropped: Dropped = field(default_factory=Dropped)
    without_end: int = 0  # rows that are dropped for it
    last: int = 0  # the last moment of all


def _rows_of(place: Path, columns: Columns, moments: Moments, amounts: Mapping[str, Amounts]) -> _Rows:
    """Read the rows of a table, by the columns and by how amounts are read."""
    column = dict(columns.column)
    read = _Rows(Tasks(place, columns.resources))
    tasks, labels = read.tasks, read.labels
    for row in rows(place, _schema(columns, moments, amounts), column):
        try:
            state = row["state"] if "state" in column else ""
            arrival, begun, duration = _times(row, column)
            copies = _copies(row, column) if "count" in column else 1
        except NeverRanError as why:
            read.dropped.add(row.line, why)
            continue
        ended = Outcome.censored if duration is None and columns.keeps_open else Outcome.finish
        outcome = row["outcome"] if "outcome" in column else ended
        if duration is None and outcome is not Outcome.censored:
            read.without_end += 1
            continue
        demand = tuple(row[name] for name in columns.resources)
        tasks.check_demand(row.line, demand)
        if demand and not any(tasks.numbers[amount] for amount in demand):
            row.fail(columns.resources[0], "expected at least one positive demand")
        stay = begun - OPEN if duration is None else duration
        read.last = max(read.last, begun + (duration or 0))
        label = labels.setdefault(row["type"], len(labels)) if "type" in column else 0
        if "priority" in column:
            label = row["priority"]
        attempt = row["attempt"] if "attempt" in column else 0
        tasks.add(row.line, arrival, stay, outcome, attempt, label, demand)
        if "count" in column:
            tasks.copies.append(copies)
        if "state" in column:
            read.states[state] = read.states.get(state, 0) + 1
    return read


def _refuse_other_unit(place: Path, columns: Columns) -> None:
    """Refuse a unit in the header of a time that is named, where it is not that of the table."""
    if columns.is_guessed:
        return
    for name, cell in columns.column:
        if name in ("time", "start", "end", "duration") and unit_of(name, cell):
            factor = factor_of(name, cell)
            if factor != columns.unit:
                expected = f'expected unit = "{text(factor)}" beside columns, as the header says'
                fail(place, 1, cell, f"{expected}, got {text(columns.unit)} s")


def _drop_times_of_zero(tasks: Tasks, dropped: Dropped, column: str) -> None:
    """Drop rows that arrive at 0 in a table whose other times are dates, or counted from 1970."""
    others = min((time for time in tasks.arrival if time > 0), default=0)
    if 0 not in tasks.arrival or others < SINCE_1970:
        return
    keep = [i for i, time in enumerate(tasks.arrival) if time != 0]
    problem = "expected a time as in the other rows, which are dates, got 0"
    for line, time in zip(tasks.line, tasks.arrival, strict=True):
        if time == 0:
            dropped.add(line, NeverRanError(f"with 0 for {column}", column, problem))
    for name in ("line", "arrival", "duration", "outcome", "attempt", "label", "demand", "copies"):
        values = getattr(tasks, name)
        setattr(tasks, name, [values[i] for i in keep] if values else values)


def _notes_of_rows(tasks: Tasks, columns: Columns, states: Mapping[str, int]) -> list[str]:
    """Return the notes on rows that stand for several tasks, and on states that are taken for rows that ran."""
    column, notes = dict(columns.column), []
    if tasks.copies:
        notes.append(
            f"each row counts as {column['count']} says: {sum(tasks.copies):,} in {number_of(len(tasks.line), 'row')}"
        )
    if states:
        shown = sorted(states)[:8]
        more = f" and {len(states) - len(shown):,} more" if len(states) > len(shown) else ""
        words = ", ".join(f"{states[word]:,} {word or 'empty'}" for word in shown)
        notes.append(f"{column['state']}: rows are taken to have run: {words}{more}")
    return notes


def _open_note(count: int, *, keeps_open: bool) -> list[str]:
    """Return the note on rows without an end that are kept."""
    several = count != 1
    if keeps_open:
        words = "have no end and run on to" if several else "has no end and runs on to"
    else:
        words = "are censored at" if several else "is censored at"
    return [f"{number_of(count, 'row')} {words} the last moment of the table"] if count else []


def _doubts(place: Path, tasks: Tasks, columns: Columns) -> tuple[list[Doubt], list[str]]:
    """Return what puts the stays of a log in doubt, and other notes on them; refused where a unit was assumed.

    Raises
    ------
    InputError
        A mean stay under a second, or, where the duration may have a unit of its own, one of ten times the log.
    """
    span, stays, lines = max(tasks.arrival), tasks.duration, tasks.line
    mean = sum(stays) / len(stays)
    is_short = mean < MICROSECONDS
    if columns.assumed and (is_short or (columns.apart and mean > FAR * span > 0)):
        wrong = "under a second" if is_short else f"more than ten times the log, {_lasting(span)}"
        stay = dict(columns.column).get("duration", "")
        expected = f"expected the unit in the header{f', such as {stay} (h)' if stay else ''}"
        fail(place, 1, stay, f"{expected}: {columns.assumed}, and the mean stay is then {_lasting(mean)}, {wrong}")
    doubts = [Doubt(f"the mean stay is {_lasting(mean)}, under a second")] if is_short else []
    ends = [time + stay for time, stay in zip(tasks.arrival, stays, strict=True)]
    late = [lines[i] for i, end in enumerate(ends) if end > 2 * span > 0]
    others = []
    if late:
        words = (
            f"{number_of(len(late), 'row')} (the first: {min(late):,}) "
            f"{'ends' if len(late) == 1 else 'end'} up to {_lasting(max(ends) - span)} after the last arrival, "
            f"in a log of {_lasting(span)}: is that when {'it' if len(late) == 1 else 'they'} ended?"
        )
        if max(stays) > FAR * span:
            doubts.append(Doubt(words))
        else:
            others.append(words)
    return doubts, others


def _lasting(ticks_of_time: float) -> str:
    """Return a span of microseconds in words."""
    seconds = ticks_of_time / MICROSECONDS
    return f"{seconds / 86400:,.0f} days" if seconds >= 86400 else f"{seconds:,.4g} s"


def _shown(first: int, moments: Moments) -> str:
    """Write the first arrival as the table has times."""
    if moments.form in ("", NUMBERS):
        return f"{text(Fraction(first, MICROSECONDS))} s"
    zone = "UTC" if moments.form == ZONED else "without a zone, which is taken as UTC"
    return f"{(EPOCH + timedelta(microseconds=first)).replace(tzinfo=None).isoformat()} {zone}"


def _schema(columns: Columns, moments: Moments, amounts: Mapping[str, Amounts]) -> Schema:
    """Return how the cells of each named column are read; space around them does not count."""
    words = {one.name: one for one in Outcome} | dict(columns.outcomes)

    def outcome_of(word: str) -> Outcome:
        outcome = words.get(word, words.get(word.lower())) if word else Outcome.censored
        if outcome is None:
            expected = f"expected one of {', '.join(words)} (others: arrivals = {{ outcomes = {{ ... }} }})"
            raise ValueError(f"{expected}, got {word[:40]!r}")
        return outcome

    def state_of(word: str) -> str:
        if word.lower().replace(" ", "_") in NEVER_RAN:
            name = column["state"]
            raise NeverRanError(f"with {name} {word}", name, f"expected the state of a row that ran, got {word!r}")
        return word

    column, scale = dict(columns.column), dict(columns.scale)
    times = {
        name: _or_never(Moments(scale.get(name, columns.unit), columns.written, moments), column.get(name, ""))
        for name in ("time", "start", "end")
    }
    readers: Schema = {
        **times,
        # a guessed duration has a unit of its own, by its header; a named one has that of all times
        "duration": _or_never(partial(ticks, unit=scale.get("duration", columns.unit)), column.get("duration", "")),
        "type": _name_of_type,
        "outcome": outcome_of,
        "attempt": lambda cell: whole(cell or "0"),
        "priority": whole,
        "state": state_of,
        "count": _number_of_tasks,
        **{name: _as_text(reader) for name, reader in amounts.items()},
    }

    def stripped(read: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda cell: read(cell.strip())

    return {name: stripped(readers.get(name, lambda cell: cell or "0")) for name, _ in columns.column}


def _as_text(read: Amounts) -> Callable[[str], str]:
    """Make a reader that gives an amount as text, by which tasks share their numbers."""
    texts: dict[Fraction, str] = {}

    def amount(cell: str) -> str:
        value = read(cell)
        if value not in texts:
            texts[value] = text(value)
        return texts[value]

    return amount


def _or_never(read: Callable[[str], int], column: str) -> Callable[[str], int | None]:
    """Make a reader of a time that gives None for an absent one, and tells rows with -1 for it."""

    def time_of(cell: str) -> int | None:
        if cell.lower() in ABSENT or cell.startswith(NO_DATE):
            return None
        if cell[:1] == "-" and cell in ("-1", "-1.0"):
            raise NeverRanError(f"with -1 for {column}", column, "expected a number of at least 0, got '-1'")
        return read(cell)

    return time_of


def _name_of_type(cell: str) -> str:
    if not cell:
        raise ValueError("expected the name of a type, got an empty cell")
    return cell


def _number_of_tasks(cell: str) -> int:
    return whole(cell.removesuffix(".0"))


def _copies(row: Row, column: Mapping[str, str]) -> int:
    """Return the number of tasks that a row stands for."""
    copies = int(row["count"])
    if copies == 0:
        raise NeverRanError(f"with 0 for {column['count']}", column["count"], "expected at least 1, got 0")
    return copies


def _times(row: Row, column: Mapping[str, str]) -> tuple[int, int, int | None]:
    """Return the arrival, the start of service and the duration in microseconds; None where there is no end."""
    arrival = row["time"]
    if arrival is None:
        raise _absent(row, "time", column)
    if "duration" in column:
        return arrival, arrival, _duration(row, column)
    end = row["end"]
    begun = row["start"] if "start" in column else arrival
    if begun is None:
        raise _absent(row, "start", column)
    if not arrival <= begun or (end is not None and begun > end):
        raise NeverRanError(ORDER, column["end"], f"expected arrival <= start <= end, got {row.text('end').strip()!r}")
    return arrival, begun, None if end is None else end - begun


def _duration(row: Row, column: Mapping[str, str]) -> int | None:
    try:
        duration = row["duration"]
    except InputError as error:
        cell = row.text("duration").strip()
        if cell.startswith("-") and cell[1:].replace(".", "", 1).isdigit():
            problem = f"expected a number of at least 0, got {cell[:40]!r}"
            raise NeverRanError(ORDER, column["duration"], problem) from error
        raise
    return None if duration is None else int(duration)


def _absent(row: Row, name: str, column: Mapping[str, str]) -> NeverRanError:
    cell = row.text(name).strip()
    words = f"{cell[:40]!r}" if cell else "an empty cell"
    problem = f"expected a time such as 2026-05-01T12:00:00Z, got {words}"
    return NeverRanError(f"without {column[name]}", column[name], problem)
