"""Logs as planners have them: columns are guessed from common headers, and the guess is a note of the trace.

``created_at``, ``start`` or the like says when a VM came; ``deleted_at`` or ``end`` when it went, or ``duration`` how
long it stayed. Times are numbers (seconds, or milliseconds and finer where they are too large) or ISO 8601.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from fluid.traces.mapped import Columns, read_mapped
from fluid.traces.model import Trace
from fluid.traces.typed_table import ABSENT, Cells, fail, opened
from theory.errors import InputError
from theory.files.headers import RESOURCES, TYPE, columns_by_meaning, factor_of
from theory.numbers import rational, text

CREATED = (
    "created_at",
    "created",
    "creation_time",
    "create_time",
    "creation_timestamp",
    "creation_date",
    "submit_time",
    "submitted_at",
    "submitted",
    "submit",
    "arrival_time",
    "arrival",
    "requested_at",
    "launch_time",
    "launched_at",
    "time",
    "timestamp",
)
STARTED = ("start", "start_time", "started_at", "started", "start_date", "begin", "begin_time")
ENDED = (
    "deleted_at",
    "deleted",
    "deletion_time",
    "delete_time",
    "end",
    "end_time",
    "ended_at",
    "ended",
    "end_date",
    "finish_time",
    "finished_at",
    "finished",
    "terminated_at",
    "termination_time",
    "stopped_at",
    "stop_time",
    "stop",
)
STAYED = ("duration", "lifetime", "runtime", "run_time", "elapsed", "uptime")

IDS = ("id", "vm_id", "vmid", "instance_id", "server_id", "uuid", "vm_uuid", "instance_uuid")

MEANINGS = {
    "created": CREATED,
    "started": STARTED,
    "end": ENDED,
    "duration": STAYED,
    "type": TYPE,
    **RESOURCES,
}

FINER = ((10**17, Fraction(1, 10**9)), (10**14, Fraction(1, 10**6)), (10**11, Fraction(1, 1000)))
"""Seconds in the unit of times from a number on: 10^11 s is the year 5138, and 10^11 ms was in 1973."""

LOOK = 1000
"""Rows that are looked at for a time."""


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
        unit = time_unit(table, header.index(named["time"]), named["time"])
    factors = {name: factor_of(name, cell) for name, cell in named.items() if name in RESOURCES}
    if "duration" in named:
        factors["duration"] = factor_of("duration", named["duration"])
    scale = tuple((name, factor) for name, factor in factors.items() if factor != 1 or name == "duration")
    columns = Columns(tuple(named.items()), unit=unit, scale=scale, keeps_open=True)
    return columns, in_words(columns)


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
    if "type" in chosen:
        return named | {"type": chosen["type"]}
    resources = {name: chosen[name] for name in RESOURCES if name in chosen}
    if not resources:
        fail(
            place, line, "", f"expected a column of types, such as VM Size, or of resources, such as vCPU; found {seen}"
        )
    return named | resources


def time_unit(table: Cells, at: int, header: str) -> Fraction:
    """Return the seconds in a unit of time of a column, by its header or else by how large its first number is."""
    times = (row[at].strip() for (_, row), _ in zip(table, range(LOOK), strict=False) if len(row) > at)
    cell = next((cell for cell in times if cell.lower() not in ABSENT), "")
    stated = factor_of("time", header)
    try:
        value = abs(rational(cell))
    except ValueError:
        return stated
    return next((unit for least, unit in FINER if value >= least), Fraction(1)) if stated == 1 else stated


def in_words(columns: Columns) -> str:
    """Return a guess in words."""
    shown = ", ".join(f"{name} = {json.dumps(cell, ensure_ascii=False)}" for name, cell in columns.column)
    times = "" if columns.unit == 1 else f"; a unit of time is {text(columns.unit)} s"
    factors = "".join(f"; {name} times {text(factor)}" for name, factor in columns.scale if factor != 1)
    return f"columns guessed from the header: {shown}{times}{factors}"


def read_guessed(path: str | Path, *, drop_open: bool = False) -> Trace:
    """Read a log whose columns are guessed (`guess_columns`); see `fluid.traces.mapped.read_mapped`.

    With `drop_open`, rows without an end are dropped; otherwise they run on to the end of the log.
    """
    columns, guess = guess_columns(path)
    try:
        trace = read_mapped(path, replace(columns, keeps_open=not drop_open))
    except InputError as error:
        raise type(error)(f"{error} ({guess})") from None
    return replace(trace, notes=(guess, *trace.notes, *_note_on_repeated(Path(path))))


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
    return [f"{repeated:,} rows have the {column} of an earlier row: each counts as a VM"] if repeated else []
