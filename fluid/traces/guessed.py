"""Logs as planners have them: columns are guessed from common headers, and the guess is a note of the trace.

``created_at``, ``start`` or the like says when a VM came; ``deleted_at`` or ``end`` when it went, or ``duration`` how
long it stayed. Times are ISO 8601 or numbers, whose unit `fluid.traces.clocks` decides. ``num_instances`` or the like
is the number of VMs of a row, and ``state`` may say that it never ran; a note names the columns that are not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fluid.traces.clocks import Clock, clock_of
from fluid.traces.mapped import Columns, read_mapped
from fluid.traces.model import Doubt, Trace
from fluid.traces.typed_table import ABSENT, fail, opened
from theory.errors import InputError
from theory.files.headers import COUNT, RESOURCES, TYPE, columns_by_meaning, factor_of
from theory.numbers import text

CREATED = (
    "created_at",
    "created",
    "creation_time",
    "create_time",
    "creation_timestamp",
    "creation_date",
    "created_time",
    "submit_time",
    "submitted_at",
    "submitted_time",
    "submission_time",
    "submitted",
    "submit",
    "queued_at",
    "arrival_time",
    "arrival",
    "requested_at",
    "launch_time",
    "launched_at",
    "time",
    "timestamp",
)
STARTED = ("start", "start_time", "started_at", "started", "started_time", "start_date", "begin", "begin_time")
ENDED = (
    "deleted_at",
    "deleted",
    "deletion_time",
    "deletion_timestamp",
    "deleted_time",
    "delete_time",
    "end",
    "end_time",
    "ended_at",
    "ended",
    "end_date",
    "finish_time",
    "finished_time",
    "finished_at",
    "finished",
    "terminated_at",
    "termination_time",
    "stopped_at",
    "stop_time",
    "stop",
)
STAYED = ("duration", "lifetime", "runtime", "run_time", "elapsed", "uptime")

STATE = ("state", "status", "job_state", "job_status", "task_status", "vm_state", "vm_status", "phase")

IDS = ("id", "vm_id", "vmid", "instance_id", "server_id", "uuid", "vm_uuid", "instance_uuid")

MEANINGS = {
    "created": CREATED,
    "started": STARTED,
    "end": ENDED,
    "duration": STAYED,
    "type": TYPE,
    "count": COUNT,
    "state": STATE,
    **RESOURCES,
}

TIMES = ("time", "start", "end", "duration")
"""Names of `Columns` that are times."""


def guess_columns(path: str | Path) -> tuple[Columns, str]:
    """Guess what the columns of a log are.

    Returns
    -------
    Columns
        Rows without an end run on to the end of the log.
    str
        The guess in words.

    Raises
    ------
    InputError
        A table without a column for arrivals, for ends or durations, or for types or resources.
    """
    place = Path(path)
    with opened(place) as table:
        first, header = next(table, (1, []))
    header = [cell.strip() for cell in header]
    chosen = columns_by_meaning(header, MEANINGS)
    named = _named(place, first, header, chosen)
    for name in RESOURCES:
        if name in named:
            refuse_unknown_unit(place, first, name, named[name])
    clock = clock_of(place, first, {name: cell for name, cell in named.items() if name in TIMES})
    ids = columns_by_meaning([cell for cell in header if cell not in named.values()], {"id": IDS})
    columns = guessed_columns(named, clock, unread=tuple(ids.values()))
    return columns, in_words(columns)


def refuse_unknown_unit(place: Path, line: int, name: str, cell: str) -> None:
    """Refuse a header whose unit is not known, by its file and line."""
    try:
        factor_of(name, cell)
    except InputError as error:
        raise InputError(f"{place}:{line}: {error}") from error


def guessed_columns(named: Mapping[str, str], clock: Clock, *, unread: tuple[str, ...] = ()) -> Columns:
    """Return columns whose units are those of their headers, with times as `clock` says; all rows are kept."""
    return Columns(
        tuple(named.items()),
        scale=clock.scale,
        keeps_open=True,
        is_guessed=True,
        written=clock.form,
        assumed=clock.assumed,
        apart=clock.apart,
        unread=unread,
    )


def _named(place: Path, line: int, header: list[str], chosen: dict[str, str]) -> dict[str, str]:
    """Return the columns by the names of `Columns`; a table in which one is missing is refused."""
    seen = ", ".join(header)[:120] or "no columns"
    if len(header) == 1 and any(sign in header[0] for sign in ";\t|"):
        fail(place, line, "", f"expected columns with commas between them, found {seen!r}")
    arrival = chosen.get("created", chosen.get("started"))
    if arrival is None:
        fail(place, line, "", f"expected a column for when each VM came, such as created_at or start; found {seen}")
    named = {"time": arrival}
    if "end" in chosen:
        named |= {"start": chosen["started"]} if "created" in chosen and "started" in chosen else {}
        named["end"] = chosen["end"]
    elif "duration" in chosen:
        named["duration"] = chosen["duration"]
    else:
        fail(place, line, "", f"expected a column deleted_at, end or duration; found {seen}")
    named |= {name: chosen[name] for name in ("count", "state") if name in chosen}
    if "type" in chosen:
        return named | {"type": chosen["type"]}
    resources = {name: chosen[name] for name in RESOURCES if name in chosen}
    if not resources:
        fail(
            place, line, "", f"expected a column of types, such as VM Size, or of resources, such as vCPU; found {seen}"
        )
    return named | resources


def in_words(columns: Columns) -> str:
    """Return a guess in words."""
    shown = ", ".join(f"{name} = {json.dumps(cell, ensure_ascii=False)}" for name, cell in columns.column)
    times = "".join(f"; {name} times {text(factor)} s" for name, factor in columns.scale if factor != 1)
    factors = [(name, factor_of(name, cell)) for name, cell in columns.column if name in columns.resources]
    amounts = "".join(f"; {name} times {text(factor)}" for name, factor in factors if factor != 1)
    assumed = f"; {columns.assumed}" if columns.assumed else ""
    return f"columns guessed from the header: {shown}{times}{amounts}{assumed}"


def read_guessed(path: str | Path, *, drop_open: bool = False, strict: bool = False) -> Trace:
    """Read a log whose columns are guessed (`guess_columns`); see `fluid.traces.mapped.read_mapped`.

    With `drop_open`, rows without an end are dropped; otherwise they run on to the end of the log. With `strict`, rows
    that never ran are refused.
    """
    columns, guess = guess_columns(path)
    try:
        trace = read_mapped(path, replace(columns, keeps_open=not drop_open), strict=strict)
    except InputError as error:
        raise type(error)(f"{error} ({guess})") from error
    doubts = [note for note in trace.notes if isinstance(note, Doubt)]
    others = [note for note in trace.notes if not isinstance(note, Doubt)]
    return replace(trace, notes=(*doubts, guess, *others, *_note_on_repeated(Path(path))))


def _note_on_repeated(place: Path) -> list[str]:
    """Return a note on rows whose id an earlier row has, where a column has ids: a VM that began again, or a copy."""
    with opened(place) as table:
        header = [cell.strip() for cell in next(table, (1, []))[1]]
        column = columns_by_meaning(header, {"id": IDS}).get("id")
        if column is None:
            return []
        at, seen, repeated = header.index(column), set(ABSENT), 0
        for _, row in table:
            repeated += row[at] in seen and row[at].strip().lower() not in ABSENT
            seen.add(row[at])
    if not repeated:
        return []
    words = "row has" if repeated == 1 else "rows have"
    return [f"{repeated:,} {words} the {column} of an earlier row: each counts as a VM"]
