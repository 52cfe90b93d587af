"""Logs as planners have them: columns are guessed from common headers, and the guess is a note of the trace.

``created_at``, ``start`` or the like says when a VM came; ``deleted_at`` or ``end`` when it went, or ``duration`` how
long it stayed. Times are ISO 8601 or numbers, whose unit `fluid.traces.clocks` decides. ``num_instances`` or the like
is the number of VMs of a row, and ``state`` may say that it never ran; a note names the columns that are not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from fluid.traces.clocks import Clock, clock_of
from fluid.traces.mapped import trace_of
from fluid.traces.model import Doubt, Oddity, Trace
from fluid.traces.task_columns import QUANTITIES, TIMES, TaskColumns, named_columns
from theory.errors import InputError
from theory.files.cells import is_absent
from theory.files.formats import AMOUNT, DURATION, MOMENT, WHOLE, WORD, Column, Format, Records, records
from theory.files.headers import COUNT, RESOURCES, TIME, TYPE, columns_by_meaning, factor_of
from theory.files.open_table import opened
from theory.files.table import Table
from theory.numbers import text

CREATED = (
    "created_at", "created", "creation_time", "create_time", "creation_timestamp", "creation_date", "created_time",
    "submit_time", "submitted_at", "submitted_time", "submission_time", "submitted", "submit", "queued_at",
    "arrival_time", "arrival", "requested_at", "launch_time", "launched_at", "time", "timestamp",
)  # fmt: skip
STARTED = (
    "start", "start_time", "started_at", "started", "started_time", "start_date", "begin", "begin_time", "scheduled_at",
    "scheduled_time", "scheduled",
)  # fmt: skip
ENDED = (
    "deleted_at", "deleted", "deletion_time", "deletion_timestamp", "deleted_time", "delete_time", "end",
    "end_time", "ended_at", "ended", "end_date", "finish_time", "finished_time", "finished_at", "finished",
    "terminated_at", "termination_time", "stopped_at", "stop_time", "stop",
)  # fmt: skip
STAYED = ("duration", "lifetime", "runtime", "run_time", "elapsed", "uptime")
STATE = ("state", "status", "job_state", "job_status", "task_status", "vm_state", "vm_status", "phase")
IDS = ("id", "vm_id", "vmid", "instance_id", "server_id", "uuid", "vm_uuid", "instance_uuid")

GUESSED = Format(
    "a log with common headers",
    (
        Column("created", MOMENT, CREATED),
        Column("started", MOMENT, STARTED),
        Column("end", MOMENT, ENDED),
        Column("duration", DURATION, STAYED),
        Column("type", WORD, TYPE),
        Column("count", WHOLE, COUNT),
        Column("state", WORD, STATE),
        *(Column(name, AMOUNT, headers) for name, headers in RESOURCES.items()),
    ),
)


def guess_columns(path: str | Path) -> tuple[TaskColumns, str]:
    """Guess what the columns of a log are.

    Returns
    -------
    TaskColumns
        Rows without an end run on to the end of the log.
    str
        The guess in words.

    Raises
    ------
    InputError
        A table without a column for arrivals, for ends or durations, or for types or resources.
    """
    with opened(path) as table:
        found = _guessed(table)
    columns = found[1]
    return columns, in_words(columns)


def _guessed(table: Table, *, by_demand: bool = False) -> tuple[Records, TaskColumns]:
    """Read a log whose columns are guessed."""
    chosen = GUESSED.bind(table.header)
    if by_demand and set(chosen) & set(RESOURCES):
        chosen.pop("type", None)
    named = _named(table, chosen)
    ids = columns_by_meaning([cell for cell in table.header if cell not in named.values()], {"id": IDS})
    return read_named(table, named, ids)


def read_named(table: Table, named: Mapping[str, str], others: Mapping[str, str]) -> tuple[Records, TaskColumns]:
    """Read the columns of a log, by the names of `TaskColumns`, and `others`; units are those of their headers."""
    table.expect_columns(list(named.values()))
    for name in named:
        if name not in QUANTITIES:
            refuse_unknown_unit(table.place, table.first, name, named[name])
    headers = {**named, **others}
    found = records(table, named_columns(headers), headers)
    _refuse_units(found, [name for name in named if name in TIMES])
    columns = guessed_columns(named, clock_of(found, [name for name in named if name in TIMES]), tuple(others.values()))
    found.columns |= {column.name: column for column in columns.columns}
    return found, columns


def _refuse_units(found: Records, names: Sequence[str]) -> None:
    """Refuse a second row of the header, which has the units of the columns."""
    units = [found.text(name, 0).strip("()[]") for name in names] if len(found) else []
    if units and all(unit.lower() in TIME.units for unit in units):
        example = f"{found.headers[names[0]]} ({units[0]})"
        found.fail(
            0, names[0], f"expected a row of the table, found units: they stand in the header, such as {example}"
        )


def refuse_unknown_unit(place: Path, line: int, name: str, cell: str) -> None:
    """Refuse a header whose unit is not known, by its file and line."""
    try:
        factor_of(name, cell)
    except InputError as error:
        raise error.within(f"{place}:{line}") from error


def guessed_columns(named: Mapping[str, str], clock: Clock, unread: tuple[str, ...] = ()) -> TaskColumns:
    """Return columns whose units are those of their headers, with times as `clock` says; all rows are kept."""
    return TaskColumns(
        named_columns(named, dict(clock.scale)),
        keeps_open=True,
        is_guessed=True,
        written=clock.form,
        assumed=clock.assumed,
        apart=clock.apart,
        unread=unread,
    )


def _named(table: Table, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by the names of `TaskColumns`; a table in which one is missing is refused."""

    def refuse(expected: str) -> NoReturn:
        seen = ", ".join(table.header)[:120] or "no columns"
        table.fail(table.first, "", f"expected {expected}; found {seen}")

    arrival = chosen.get("created", chosen.get("started"))
    if arrival is None:
        refuse("a column for when each VM came, such as created_at or start")
    named = {"time": arrival}
    if "end" in chosen:
        named |= {"start": chosen["started"]} if "created" in chosen and "started" in chosen else {}
        named["end"] = chosen["end"]
    elif "duration" in chosen:
        named["duration"] = chosen["duration"]
    else:
        refuse("a column deleted_at, end or duration")
    named |= {name: chosen[name] for name in ("count", "state") if name in chosen}
    if "type" in chosen:
        return named | {"type": chosen["type"]}
    resources = {name: chosen[name] for name in RESOURCES if name in chosen}
    if not resources:
        refuse("a column of types, such as VM Size, or of resources, such as vCPU")
    return named | resources


def in_words(columns: TaskColumns) -> str:
    """Return a guess in words."""
    shown = ", ".join(f"{name} = {json.dumps(cell, ensure_ascii=False)}" for name, cell in columns.headers.items())
    times = "".join(f"; {one.name} times {text(one.unit)} s" for one in columns.columns if one.unit != 1)
    factors = [(name, factor_of(name, columns.headers[name])) for name in columns.resources]
    amounts = "".join(f"; {name} times {text(factor)}" for name, factor in factors if factor != 1)
    assumed = f"; {columns.assumed}" if columns.assumed else ""
    return f"columns guessed from the header: {shown}{times}{amounts}{assumed}"


def read_guessed(path: str | Path, *, drop_open: bool = False, strict: bool = False, by_demand: bool = False) -> Trace:
    """Read a log whose columns are guessed (`guess_columns`); see `fluid.traces.mapped.read_mapped`.

    With `drop_open`, rows without an end are dropped; otherwise they run on to the end of the log. With `strict`, rows
    that never ran are refused. With `by_demand`, resources are read even where a column names the type.
    """
    with opened(path) as table:
        found, columns = _guessed(table, by_demand=by_demand)
    guess = in_words(columns)
    try:
        trace = trace_of(found, replace(columns, keeps_open=not drop_open), strict=strict)
    except InputError as error:
        raise error.ending(f" ({guess})") from error
    doubts = [note for note in trace.notes if isinstance(note, Doubt)]
    others = [note for note in trace.notes if not isinstance(note, Doubt)]
    return replace(trace, notes=(*doubts, guess, *others, *_note_on_repeated(found)))


def _note_on_repeated(found: Records) -> Sequence[str]:
    """Return a note on rows whose id an earlier row has, where a column has ids: a VM that began again, or a copy."""
    repeated = found.cells["id"].repeated(is_absent) if "id" in found else 0
    if not repeated:
        return []
    words = "row has" if repeated == 1 else "rows have"
    return [Oddity(f"{repeated:,} {words} the {found.headers['id']} of an earlier row: each counts as a VM")]
