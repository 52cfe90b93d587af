"""Tables of tasks with any columns: which column is what stands in a small table.

.. code-block:: toml

    [simulation.arrivals]
    trace = "jobs.parquet"                     # CSV, JSON lines (.jsonl, .ndjson, .json) or Parquet
    columns = { time = "submit", end = "finished", cpu = "req_cpu", outcome = "status" }
    outcomes = { COMPLETED = "finish", NODE_FAIL = "fail" }
    unit = "1/1000"                            # seconds in a unit of time of the table

``time`` and one of ``duration`` and ``end`` are needed, and ``type`` or resources. ``start``, when service began, makes
the duration together with ``end``; ``outcome`` is one of finish, kill, evict, fail and censored, or what ``outcomes``
turns into one; ``attempt`` counts from 0; ``priority`` is a whole number, 0 to 11 as in Google's trace of 2011. Every
other name is a resource, and other columns are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from fluid.traces.model import PLAIN, Outcome, Trace
from fluid.traces.rows import Tasks, fail, rows, ticks, whole
from theory.files.document import Fields
from theory.numbers import text

KNOWN = ("time", "duration", "start", "end", "type", "outcome", "attempt", "priority")
"""Names that are no resources."""


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
    """

    column: tuple[tuple[str, str], ...]
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    unit: Fraction = Fraction(1)

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
    words: Mapping[str, Outcome] = {}
    if fields.has("outcomes"):
        inner = fields.table("outcomes", 'a table such as { COMPLETED = "finish" }')
        kinds = [one.name for one in Outcome]
        words = {}
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
        CSV, JSON lines or Parquet (`fluid.traces.records`); rows in any order.
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
    place, at = Path(path), dict(columns.column)
    tasks = Tasks(place, columns.resources)
    labels: dict[str, int] = {}
    dropped = 0
    open_ended: list[int] = []
    words = {one.name: one for one in Outcome} | dict(columns.outcomes)
    wanted = list(dict.fromkeys(at.values()))
    ends = 0
    for line, row in rows(place, wanted):
        cells = dict(zip(wanted, (cell.strip() for cell in row), strict=True))
        fields = {name: cells[column] for name, column in at.items()}
        arrival, duration = _times(place, line, at, fields, columns.unit)
        outcome = _outcome(place, line, at, fields, words)
        if duration is None and outcome is not Outcome.censored:
            dropped += 1
            continue
        demand = tuple(fields[name] or "0" for name in columns.resources)
        tasks.check_demand(line, demand)
        if demand and not any(tasks.numbers[one] for one in demand):
            fail(place, line, at[columns.resources[0]], "expected at least one positive demand")
        if duration is None:
            open_ended.append(len(tasks.line))
        ends = max(ends, arrival + (duration or 0))
        label = labels.setdefault(fields["type"], len(labels)) if "type" in at else 0
        if "priority" in at:
            label = whole(place, line, at["priority"], fields["priority"])
        attempt = whole(place, line, at["attempt"], fields["attempt"] or "0") if "attempt" in at else 0
        tasks.add(line, arrival, duration or 0, outcome, attempt, label, demand)
    if not tasks.line:
        fail(place, 1, "", "expected tasks below the header, found none with an end")
    for i in open_ended:
        tasks.duration[i] = ends - tasks.arrival[i]
    first = min(tasks.arrival)
    tasks.arrival = [time - first for time in tasks.arrival]
    notes = [f"the first arrival, {text(Fraction(first, 1_000_000))} s, is time 0"] if first else []
    notes += [f"{dropped:,} rows without an end dropped"] if dropped else []
    notes += [f"{len(open_ended):,} rows are censored at the last moment of the table"] if open_ended else []
    trace = tasks.trace(PLAIN, tuple(labels), notes)
    return replace(trace, priorities="priority" in at)


def _times(
    place: Path, line: int, at: Mapping[str, str], given: Mapping[str, str], unit: Fraction
) -> tuple[int, int | None]:
    """Return arrival and duration in microseconds; None where there is no end."""

    def of(name: str) -> int:
        return ticks(place, line, at[name], given[name], unit)

    arrival = of("time")
    if "duration" in at:
        return arrival, of("duration") if given["duration"] else None
    if not given["end"]:
        return arrival, None
    begun = of("start") if given.get("start") else arrival
    end = of("end")
    if not arrival <= begun <= end:
        fail(place, line, at["end"], f"expected arrival <= start <= end, got {given['end']!r}")
    return arrival, end - begun


def _outcome(
    place: Path, line: int, at: Mapping[str, str], given: Mapping[str, str], words: Mapping[str, Outcome]
) -> Outcome:
    if "outcome" not in at:
        return Outcome.finish
    word = given["outcome"]
    if not word:
        return Outcome.censored
    outcome = words.get(word, words.get(word.lower()))
    if outcome is None:
        expected = f"expected one of {', '.join(words)} (others: arrivals = {{ outcomes = {{ ... }} }})"
        fail(place, line, at["outcome"], f"{expected}, got {word[:40]!r}")
    return outcome
