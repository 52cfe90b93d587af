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

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np

from fluid.traces.model import MICROSECONDS, PLAIN, Doubt, Oddity, Outcome, ReadColumn, Reading, Trace
from fluid.traces.task_columns import NO_RESOURCES, TIMES, TaskColumns
from fluid.traces.tasks import Tasks
from theory.files.cells import COMPACT, EPOCH, NUMBERS, SERIAL, ZONED, is_absent, nonnegative, whole
from theory.files.columns import Flags, Integers, whole_numbers
from theory.files.formats import ORDER, Column, Records, Times, records
from theory.files.headers import Amounts, factor_of, unit_of, unused_columns
from theory.files.open_table import opened
from theory.files.table import fail
from theory.numbers import many, text

SINCE_1970 = 10**9 * MICROSECONDS
"""Times from here on, 2001 in microseconds, are taken for dates."""

FARTHEST = 10**11 * MICROSECONDS
"""Times from here on, the year 5138, are no seconds: their unit is finer."""

MOST_TASKS = 10_000_000
"""Most tasks that the rows of a table stand for."""

FAR = 10
"""A stay of this many times the log puts its columns, or their units, in doubt."""

NEVER_RAN = frozenset({"pending", "queued", "waiting", "rejected", "refused", "denied", "unschedulable", "not_started"})
"""States, in lower case, of rows that never ran."""

UNITS_OF_TIME = {
    Fraction(1, 10**9): "ns", Fraction(1, 10**6): "us", Fraction(1, 1000): "ms", Fraction(1): "s", Fraction(60): "min",
    Fraction(3600): "h", Fraction(86400): "d", Fraction(7 * 86400): "w",
}  # fmt: skip
UNITS_OF_AMOUNTS = {"cpu": "cores", "memory": "GiB", "disk": "GiB", "gpu": "GPUs"}
"""Units in words, where a header states none."""


def read_mapped(path: str | Path, columns: TaskColumns, *, strict: bool = False) -> Trace:
    """Read a table of tasks whose columns are named.

    Parameters
    ----------
    path : str or Path
        CSV, JSON lines or Parquet (`theory.files.open_table`); rows in any order.
    columns : TaskColumns
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
    with opened(path) as table:
        table.expect_columns(list(columns.headers.values()))
        _refuse_other_unit(table.place, columns)
        found = records(table, columns.columns, columns.headers)
    return trace_of(found, columns, strict=strict)


def trace_of(found: Records, columns: TaskColumns, *, strict: bool) -> Trace:
    """Return the tasks that the rows of a table are (see `read_mapped`)."""
    place, dropped = found.place, found.dropped
    found.times = Times(columns.written)
    copies, arrival, begun, stay = _times(found)
    outcome = _outcomes(found, columns, stay < 0)
    no_end = found.rows & (stay < 0) & (outcome != Outcome.censored)
    found.rows = found.rows & ~no_end
    last = int((begun + np.maximum(stay, 0))[found.rows].max(initial=0))
    _drop_times_of_zero(found, arrival)
    dropped.refuse_many(place, int(found.rows.sum()), strict=strict)
    if not found.rows.any():
        fail(place, found.first, "", "expected tasks below the header, found none with an end")
    is_open = found.rows & (stay < 0)
    amounts = {name: Amounts(name, found.headers[name]) for name in columns.resources if columns.is_guessed}
    tasks, labels = _tasks(found, columns, amounts, arrival, np.where(is_open, last - begun, stay), outcome)
    unasked = _without_unasked(tasks) if columns.are_asked else []
    tasks.copies = copies[found.rows] if "count" in found else None
    if tasks.copies is not None and tasks.copies.sum(dtype=float) > MOST_TASKS:
        total = sum(tasks.copies.tolist())
        fail(place, found.first, found.headers["count"], f"expected at most {MOST_TASKS:,} in all, got {total:,}")
    first = tasks.begin_at_first_arrival()
    if first >= FARTHEST and not columns.is_guessed:
        expected = 'expected times before the year 5138, or their unit, such as unit = "1/1000", beside columns'
        problem = f"{expected}: the first is {_shown(first, found.times)}"
        fail(place, found.first, found.headers["time"], problem)
    doubts, others = _doubts(found, tasks, columns)
    notes = [
        *doubts,
        *found.notes,
        *unused_columns(found.header, [*found.headers.values(), *columns.unread]),
        *_notes_of_rows(found, tasks),
        *unasked,
        *dropped.notes,
        *([f"the first arrival, {_shown(first, found.times)}, is time 0"] if first else []),
        *([f"{many(int(no_end.sum()), 'row')} without an end dropped"] if no_end.any() else []),
        *_open_note(int(is_open.sum()), keeps_open=columns.keeps_open),
        *(note for reader in amounts.values() for note in reader.notes),
        *others,
    ]
    trace = tasks.trace(PLAIN, labels, notes, unordered=True)
    is_dated = found.times.form not in ("", NUMBERS) or first >= SINCE_1970
    return replace(
        trace,
        priorities="priority" in found,
        begins=first if is_dated else None,
        header=found.headers.get("type", "type"),
        reading=_reading(found, columns, int(no_end.sum())),
    )


def _without_unasked(tasks: Tasks) -> list[str]:
    """Leave out resources of which no task asks anything, and return the notes on them."""
    none = [name for name, (numbers, _) in tasks.demand.items() if not numbers.any()]
    for name in none:
        del tasks.demand[name]
    return [f"no row asks for {name}: it is not counted" for name in none]


def _stated_unit(name: str, header: str) -> str:
    """Return the unit that a header states, as it is spelt there."""
    unit = unit_of(name, header)
    at = header.lower().rfind(unit)
    return header[at : at + len(unit)] if unit and at >= 0 else unit


def _reading(found: Records, columns: TaskColumns, without_end: int) -> Reading:
    """Return how the columns of a table were read."""
    written = {COMPACT: "dates as numbers such as 20260501", SERIAL: "dates of a spreadsheet, in days"}
    form = written.get(columns.written) or {NUMBERS: "numbers", "": ""}.get(found.times.form, "dates")

    def unit(one: Column) -> str:
        if one.name in TIMES:
            is_dated = form.startswith("dates") and one.name != "duration"
            return "date" if is_dated else UNITS_OF_TIME.get(one.unit, "stated")
        if one.name in NO_RESOURCES:
            return ""
        quantity = UNITS_OF_AMOUNTS.get(one.name) if columns.is_guessed else None
        return (_stated_unit(one.name, one.header(())) or quantity) if quantity else "as it is"

    read = tuple(ReadColumn(one.header(()), one.name, unit(one)) for one in columns.columns)
    left_out = [*found.dropped.reasons.items(), *([("without an end", without_end)] if without_end else [])]
    unused = tuple(name for name in found.header if name and name not in (*found.headers.values(), *columns.unread))
    words = "a log with common headers" if columns.is_guessed else "a table whose columns are named"
    return Reading(words, read, unused, len(found), tuple(left_out), form)


def _tasks(
    found: Records,
    columns: TaskColumns,
    amounts: Mapping[str, Amounts],
    arrival: Integers,
    stay: Integers,
    outcome: Integers,
) -> tuple[Tasks, list[str]]:
    """Return the tasks of the rows that are left, and the names of their types."""
    rows, demand = found.rows, {}
    labels: list[str] = []
    label = attempt = np.zeros(len(found), np.int64)
    for name in columns.resources:
        numbers, unit = found.amounts(name, amounts.get(name, lambda cell: nonnegative(cell or "0")))
        demand[name] = numbers, unit
    if demand:
        none = np.logical_and.reduce([numbers == 0 for numbers, _ in demand.values()])
        if (none & rows).any():
            found.fail(int(np.argmax(none & rows)), columns.resources[0], "expected at least one positive demand")
    if "type" in found:
        labels, label = found.words("type", _name_of_type)
    elif "priority" in found:
        label = found["priority"]
    if "attempt" in found:
        attempt = found.integers("attempt", rows, whole_numbers, lambda cell: whole(cell or "0"))
    arrival, stay, outcome = arrival[rows], stay[rows], outcome[rows]
    tasks = Tasks(arrival, stay, outcome, attempt[rows], label[rows], found.lines[rows])
    tasks.demand = {name: (numbers[rows], unit) for name, (numbers, unit) in demand.items()}
    return tasks, labels


# ---- rows that never ran ---------------------------------------------------------------------------------------------


def _times(found: Records) -> tuple[Integers, Integers, Integers, Integers]:
    """Return copies, arrivals, starts and stays of the rows that ran, -1 for a stay without an end; drop the others."""
    if "state" in found:
        _drop_states(found)
    _drop_minus_one(found, "time")
    _drop_absent(found, "time")
    arrival = begun = found["time"]
    if "duration" in found:
        _drop_minus_one(found, "duration")
        stay = _stays(found)
    else:
        _drop_minus_one(found, "end")
        if "start" in found:
            _drop_minus_one(found, "start")
            _drop_absent(found, "start")
            begun = found["start"]
        is_open = found.cells["end"].where(is_absent, found.rows, is_no_number=True)
        end = found.read("end", found.rows & ~is_open)
        found.drop(
            (arrival > begun) | ((begun > end) & ~is_open),
            ORDER,
            "end",
            lambda row: f"expected arrival <= start <= end, got {found.text('end', row)!r}",
        )
        stay = np.where(is_open, -1, end - begun)
    copies = np.ones(len(found), np.int64)
    if "count" in found:
        read = lambda cell: whole(cell.removesuffix(".0"))  # noqa: E731
        copies = found.integers("count", found.rows, whole_numbers, read)
        found.drop(copies == 0, f"with 0 for {found.headers['count']}", "count", "expected at least 1, got 0")
    return copies, arrival, begun, stay


def _stays(found: Records) -> Integers:
    """Return durations, -1 where there is none; rows with another negative number are dropped."""
    is_open = found.cells["duration"].where(is_absent, found.rows, is_no_number=True)
    found.drop(
        found.cells["duration"].where(_is_negative, found.rows, is_no_number=True),
        ORDER,
        "duration",
        lambda row: f"expected a number of at least 0, got {found.text('duration', row)[:40]!r}",
    )
    return np.where(is_open, -1, found.read("duration", found.rows & ~is_open))


def _is_negative(cell: str) -> bool:
    return cell.startswith("-") and cell[1:].replace(".", "", 1).isdigit()


def _drop_states(found: Records) -> None:
    words, codes = found.words("state", str)
    for i, word in enumerate(words):
        if word.lower().replace(" ", "_") in NEVER_RAN:
            problem = f"expected the state of a row that ran, got {word!r}"
            found.drop(codes == i, f"with {found.headers['state']} {word}", "state", problem)


def _drop_minus_one(found: Records, name: str) -> None:
    which = found.cells[name].where(lambda cell: cell in ("-1", "-1.0"), found.rows, is_no_number=True)
    found.drop(which, f"with -1 for {found.headers[name]}", name, "expected a number of at least 0, got '-1'")


def _drop_absent(found: Records, name: str) -> None:
    def problem(row: int) -> str:
        cell = found.text(name, row)
        words = f"{cell[:40]!r}" if cell else "an empty cell"
        return f"expected a time such as 2026-05-01T12:00:00Z, got {words}"

    which = found.cells[name].where(is_absent, found.rows, is_no_number=True)
    found.drop(which, f"without {found.headers[name]}", name, problem)


def _drop_times_of_zero(found: Records, arrival: Integers) -> None:
    """Drop rows that arrive at 0 in a table whose other times are dates, or counted from 1970."""
    others = int(arrival[found.rows & (arrival > 0)].min(initial=2**62))
    if SINCE_1970 <= others < 2**62:
        problem = "expected a time as in the other rows, which are dates, got 0"
        found.drop(arrival == 0, f"with 0 for {found.headers['time']}", "time", problem)


def _outcomes(found: Records, columns: TaskColumns, is_open: Flags) -> Integers:
    """Return how each stay ended, by the words of the table or by whether it has an end."""
    if "outcome" not in found:
        ended = Outcome.censored if columns.keeps_open else Outcome.finish
        return np.where(is_open, ended, Outcome.finish).astype(np.int64)
    words = {one.name: one for one in Outcome} | dict(columns.outcomes)

    def outcome_of(word: str) -> Outcome:
        outcome = words.get(word, words.get(word.lower())) if word else Outcome.censored
        if outcome is None:
            expected = f"expected one of {', '.join(words)} (others: arrivals = {{ outcomes = {{ ... }} }})"
            raise ValueError(f"{expected}, got {word[:40]!r}")
        return outcome

    values, codes = found.words("outcome", outcome_of)
    return np.array([*values, Outcome.finish], np.int64)[codes]


def _name_of_type(cell: str) -> str:
    if not cell:
        raise ValueError("expected the name of a type, got an empty cell")
    return cell


# ---- what is said ----------------------------------------------------------------------------------------------------


def _refuse_other_unit(place: Path, columns: TaskColumns) -> None:
    """Refuse a unit in the header of a time that is named, where it is not that of the table."""
    if columns.is_guessed:
        return
    for one in columns.columns:
        cell = one.header(())
        if one.name in TIMES and unit_of(one.name, cell):
            factor = factor_of(one.name, cell)
            if factor != one.unit:
                expected = f'expected unit = "{text(factor)}" beside columns, as the header says'
                fail(place, 1, cell, f"{expected}, got {text(one.unit)} s")


def _notes_of_rows(found: Records, tasks: Tasks) -> list[str]:
    """Return the notes on rows that stand for several tasks, and on states that are taken for rows that ran."""
    notes = []
    if tasks.copies is not None:
        total = f"{int(tasks.copies.sum()):,} in {many(len(tasks.line), 'row')}"
        notes.append(f"each row counts as {found.headers['count']} says: {total}")
    if "state" in found:
        words, codes = found.words("state", str)
        states = dict(zip(words, np.bincount(codes[codes >= 0]).tolist(), strict=True))
        shown = sorted(states)[:8]
        more = f" and {len(states) - len(shown):,} more" if len(states) > len(shown) else ""
        listed = ", ".join(f"{states[word]:,} {word or 'empty'}" for word in shown)
        notes.append(f"{found.headers['state']}: rows are taken to have run: {listed}{more}")
    return notes


def _open_note(count: int, *, keeps_open: bool) -> list[str]:
    """Return the note on rows without an end that are kept."""
    several = count != 1
    if keeps_open:
        words = "have no end and run on to" if several else "has no end and runs on to"
    else:
        words = "are censored at" if several else "is censored at"
    return [f"{many(count, 'row')} {words} the last moment of the table"] if count else []


def _doubts(found: Records, tasks: Tasks, columns: TaskColumns) -> tuple[list[Doubt], list[str]]:
    """Return what puts the stays of a log in doubt, and other notes on them; refused where a unit was assumed.

    Raises
    ------
    InputError
        A mean stay under a second, or, where the duration may have a unit of its own, one of ten times the log.
    """
    span, stays = int(tasks.arrival.max()), tasks.duration
    mean = float(stays.sum(dtype=float)) / len(stays)
    is_short = mean < MICROSECONDS
    if columns.assumed and (is_short or (columns.apart and mean > FAR * span > 0)):
        wrong = "under a second" if is_short else f"more than ten times the log, {_lasting(span)}"
        stay = found.headers.get("duration", "")
        expected = f"expected the unit in the header{f', such as {stay} (h)' if stay else ''}"
        problem = f"{expected}: {columns.assumed}, and the mean stay is then {_lasting(mean)}, {wrong}"
        fail(found.place, found.first, stay, problem)
    doubts = [Doubt(f"the mean stay is {_lasting(mean)}, under a second")] if is_short else []
    ends = tasks.arrival + stays
    late = tasks.line[ends > 2 * span] if span > 0 else tasks.line[:0]
    others: list[str] = []
    if len(late):
        one = len(late) == 1
        words = (
            f"{many(len(late), 'row')} (the first: {int(late.min()):,}) {'ends' if one else 'end'} up to "
            f"{_lasting(int(ends.max()) - span)} after the last arrival, in a log of {_lasting(span)}: "
            f"is that when {'it' if one else 'they'} ended?"
        )
        if stays.max() > FAR * span:
            doubts.append(Doubt(words))
        else:
            others.append(Oddity(words))
    return doubts, others


def _lasting(ticks_of_time: float) -> str:
    """Return a span of microseconds in words."""
    seconds = ticks_of_time / MICROSECONDS
    return f"{seconds / 86400:,.0f} days" if seconds >= 86400 else f"{seconds:,.4g} s"


def _shown(first: int, times: Times) -> str:
    """Write the first arrival as the table has times."""
    if times.form in ("", NUMBERS):
        return f"{text(Fraction(first, MICROSECONDS))} s"
    zone = "UTC" if times.form == ZONED else "without a zone, which is taken as UTC"
    return f"{(EPOCH + timedelta(microseconds=first)).replace(tzinfo=None).isoformat()} {zone}"
