"""Reading a trace of any known format, recognised by its first row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fluid.traces import alibaba, google
from fluid.traces.clocks import SINCE_2001
from fluid.traces.documents import read_document
from fluid.traces.guessed import GUESSED, read_guessed
from fluid.traces.known import format_of, read_known
from fluid.traces.model import MICROSECONDS, PLAIN, Outcome, Trace
from fluid.traces.readings import reading_of
from fluid.traces.tasks import Tasks
from theory.errors import InputError, TooLargeError
from theory.files.cells import compact_date, date_parts, is_date, nonnegative
from theory.files.formats import AMOUNT, DURATION, WORD, Column, records
from theory.files.headers import COUNT, columns_by_meaning
from theory.files.kinds import CSV, LINES
from theory.files.open_table import header_of_table, opened
from theory.files.places import kind_of_file
from theory.files.table import Table, fail
from theory.numbers import many

HEADER = "a header with time, duration, and type or resources"


def read_trace(path: str | Path, *, drop_open: bool = False, strict: bool = False, by_demand: bool = False) -> Trace:
    """Read a trace; the first row says which format it has.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip, JSON lines or Parquet (`theory.files.open_table`): a plain table (`read_plain`), the table of
        attempts or an original file of events of the Google trace of 2011 (`read_google_table`, `read_google_events`),
        instance events of Google's of 2019 (`read_google_2019`), the batch tasks of Alibaba's of 2018
        (`read_alibaba_2018`) or the pods of Alibaba's of 2023 (`read_alibaba`); a log of known origin
        (`fluid.traces.known`, `fluid.traces.documents`); or one whose columns are guessed from common headers
        (`fluid.traces.guessed`).
    drop_open : bool
        Whether rows of a log without an end are dropped; unless so, they run on to the end of the log.
    strict : bool
        Whether rows of a log that never ran are refused; unless so, they are dropped and counted.
    by_demand : bool
        Whether the resources of a log are read even where a column names the type.

    Raises
    ------
    InputError
        None of these, or what the reader of the format refuses.
    """
    trace = read_document(path, drop_open=drop_open, strict=strict)
    if trace is not None:
        return trace
    try:
        first = header_of_table(path)
    except InputError:
        refuse_other_kinds(Path(path))
        raise
    if google.ATTEMPTS.tells(first):
        return google.read_google_table(path, strict=strict)
    if len({"cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "scheduled_time", "qos"} & set(first)) > 2:
        return alibaba.read_alibaba(path, strict=strict)
    if google.INSTANCE_EVENTS.tells(first):
        return google.read_google_2019(path, strict=strict)
    if alibaba.is_alibaba_2018(first):
        return alibaba.read_alibaba_2018(path, strict=strict)
    if len(first) == len(google.EVENTS.header) and first[0].isdigit():
        return google.read_google_events(path, strict=strict)
    known = format_of(first)
    if known is not None:
        return read_known(path, known, drop_open=drop_open, strict=strict)
    is_dated = {"time", "duration"} <= set(first) and _has_dates(Path(path), first.index("time"))
    times = {"created", "started", "end", "duration"} & GUESSED.bind(first).keys()
    if is_dated or (len(times) > 1 and not {"time", "duration"} <= set(first)):
        return read_guessed(path, drop_open=drop_open, strict=strict, by_demand=by_demand)
    if {"time", "duration"} & set(first):
        return read_plain(path)
    refuse_other_kinds(Path(path))
    readable = "the table or original events of Google 2011, instance events of Google 2019, batch tasks of Alibaba "
    readable += "2018, pods of Alibaba 2023, a log with common headers (created_at, deleted_at, VM Size, vCPU), or any "
    readable += "table whose columns are named: arrivals = { columns = { ... } }"
    columns_found = ", ".join(first)[:120] or "no columns"
    raise InputError(f"{path}:1", "", f"expected {HEADER}, or {readable}; found {columns_found}")


def _has_dates(place: Path, column: int) -> bool:
    """Return whether the first time of a table is a date or counted from 1970: it is a log, and no plain table."""
    with opened(place) as table:
        _, row = next(table.rows(), (1, []))
    cell = row[column] if len(row) > column else ""
    try:
        is_dated = is_date(cell) or compact_date(cell) is not None or date_parts(cell) is not None
        return is_dated or float(cell) >= SINCE_2001
    except ValueError:
        return False


def refuse_other_kinds(place: Path, expected: str = f"a trace, {HEADER}") -> None:
    """Refuse what is no table, where its kind is known, before its first row is taken for a header."""
    kind = kind_of_file(place)
    if kind and kind not in (CSV, LINES) and place.suffix not in (".gz", ".parquet"):
        raise InputError(place, "", f"expected {expected}, found {kind}")


PRESENT = "present"
"""In a plain table the time of a task that runs when the trace opens."""


def read_plain(path: str | Path) -> Trace:
    """Read a plain table of arrivals.

    Parameters
    ----------
    path : str or Path
        CSV or gzip with a header: `time` and `duration` in seconds, `type` (a name), and every other column a resource;
        `type` may be left out, or all resources. Rows by time; first come the tasks that run at time 0, with
        ``present`` for a time and what is left of their service for a duration.

    Returns
    -------
    Trace
        Labels are the types; times are rounded to whole microseconds. Without resources `demand` has no column.

    Raises
    ------
    InputError
        Columns that are missing or stand twice; fields that are missing, negative, no numbers, or times that go back:
        each names file, line and column.
    """
    with opened(path) as table:
        resources = _resources(table)
        typed = "type" in table.header
        wanted = [Column("time", DURATION), Column("duration", DURATION), *([Column("type", WORD)] if typed else [])]
        table.expect_columns(["time", "duration"])
        wanted += [Column(name, AMOUNT) for name in resources]
        found = records(table, wanted)
    there = found.cells["time"].where(lambda cell: cell == PRESENT, found.rows, is_no_number=True)
    arrival = np.where(there, -1, found.read("time", ~there))
    back = np.flatnonzero(np.diff(arrival, prepend=-1) < 0)
    if len(back):
        row = int(back[0])
        least = max(0, int(arrival[row - 1])) / MICROSECONDS
        found.fail(row, "time", f"expected a time of at least {least:g} s (sorted), got {found.text('time', row)}")
    duration = found["duration"]
    try:
        demand = {name: found.amounts(name, nonnegative) for name in resources}
    except TooLargeError:
        raise
    except InputError as error:  # perhaps the column of the types has another name
        raise error.ending(": every column but time, duration and type is an amount of a resource") from error
    none = np.logical_and.reduce([numbers == 0 for numbers, _ in demand.values()]) if demand else ~found.rows
    if none.any():
        found.fail(int(np.argmax(none)), resources[0], "expected at least one positive demand")
    if not len(found):
        fail(found.place, found.first, "", "expected tasks below the header, found none")
    zeros = np.zeros(len(found), np.int64)
    labels, label = found.words("type", str) if typed else ([], zeros)
    tasks = Tasks(arrival, duration, zeros + Outcome.finish, zeros, label, found.lines, demand)
    number = int(there.sum())
    verb = "runs" if number == 1 else "run"
    opens = f'{many(number, "task")} {verb} when it opens: there at time 0 with initial = "trace"'
    trace = tasks.trace(PLAIN, labels, [*found.notes, *([opens] if number else [])])
    return replace(trace, reading=reading_of("a plain table", found, wanted, {}, {}))


def _resources(table: Table) -> tuple[str, ...]:
    """Return the resources of a plain table; a header that is none of one is refused."""
    header = table.header
    resources = tuple(dict.fromkeys(name for name in header if name not in {"time", "duration", "type"}))
    if not {"time", "duration"} <= set(header) or not (resources or "type" in header):
        table.fail(table.first, "", f"expected {HEADER}; found {', '.join(header) or 'no columns'}")
    if "" in resources:
        table.fail(table.first, "", f"expected a name for column {header.index('') + 1}")
    copies = columns_by_meaning(resources, {"count": COUNT}).get("count")
    if copies is not None:
        advice = "arrivals = { columns = { time = ..., count = ... } } names a column of how many tasks a row is"
        expected = "expected the name of a resource, as all columns but time, duration and type are"
        table.fail(table.first, copies, f"{expected}; {advice}")
    return resources
