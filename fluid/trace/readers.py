"""Readers of the original formats; a field that is missing, negative or out of order names its file and line."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path
from typing import NoReturn

import numpy as np

from fluid.trace.model import MICROSECONDS, Outcome, Trace
from theory.errors import InputError
from theory.numbers import rational

OPENS = 600 * MICROSECONDS
"""When the Google trace of 2011 opens: earlier events have the time 0."""

AFTER = 2**63 - 1
"""The time of its events after its end."""

_GOOGLE = ("attempt", "submit_us", "schedule_us", "end_us", "outcome", "priority", "cpu_req", "mem_req")
_ALIBABA = (
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "qos",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
_RESOURCES = ("cpu", "memory")
_ENDS = {"2": Outcome.evict, "3": Outcome.fail, "4": Outcome.finish, "5": Outcome.kill, "6": Outcome.kill}
_SUBMIT, _SCHEDULE = "0", "1"


PRESENT = "present"
"""In a plain table the time of a task that runs when the trace opens."""


@dataclass
class _Attempt:
    """A run of a task in the making."""

    submit: int
    number: int
    priority: int
    demand: tuple[str, str]
    schedule: int = -1


@dataclass
class _Tasks:
    """Tasks as they are read, before they are arrays."""

    path: Path
    resources: tuple[str, ...]
    arrival: list[int] = field(default_factory=list)
    duration: list[int] = field(default_factory=list)
    outcome: list[int] = field(default_factory=list)
    attempt: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    demand: list[tuple[str, ...]] = field(default_factory=list)
    numbers: dict[str, Fraction] = field(default_factory=dict)

    def add(self, arrival: int, duration: int, outcome: int, attempt: int, label: int, demand: tuple[str, ...]) -> None:
        self.arrival.append(arrival)
        self.duration.append(duration)
        self.outcome.append(outcome)
        self.attempt.append(attempt)
        self.label.append(label)
        self.demand.append(demand)

    def check_demand(self, line: int, demand: tuple[str, ...]) -> None:
        """Read each new numeral once."""
        for name, text in zip(self.resources, demand, strict=True):
            if text not in self.numbers:
                self.numbers[text] = _rational(self.path, line, name, text)

    def trace(self, labels: Sequence[str] = (), notes: Sequence[str] = ()) -> Trace:
        """Sort by arrival (ties in the order of the file) and put demands on their largest common unit."""
        order = np.argsort(np.array(self.arrival, np.int64), kind="stable")
        columns, units = [], []
        for r in range(len(self.resources)):
            texts = [row[r] for row in self.demand]
            values = {text: self.numbers[text] for text in texts}
            below = lcm(*(v.denominator for v in values.values())) if values else 1
            above = gcd(*(int(v * below) for v in values.values())) if values else 1
            unit = Fraction(above or 1, below)
            whole = {text: int(v / unit) for text, v in values.items()}
            columns.append([whole[text] for text in texts])
            units.append(unit)
        demand = np.array(columns, np.int64).reshape(len(self.resources), len(order)).T

        def sorted_(column: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return np.array(column, np.int64)[order]

        return Trace(
            self.resources,
            tuple(units),
            sorted_(self.arrival),
            sorted_(self.duration),
            sorted_(self.outcome),
            sorted_(self.attempt),
            np.ascontiguousarray(demand[order]),
            sorted_(self.label),
            tuple(labels),
            tuple(notes),
        )


def read_google_table(path: str | Path) -> Trace:
    """Read the table of task attempts made from ``task_events`` of the Google cluster trace of 2011.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip with the columns attempt, submit_us, schedule_us, end_us, outcome, priority, cpu_req, mem_req:
        one row an attempt, by submission.

    Returns
    -------
    Trace
        Resources cpu and memory in parts of the largest machine; labels are priorities 0 to 11.

    Raises
    ------
    InputError
        Missing columns; fields that are missing, negative or out of order.

    Notes
    -----
    An attempt that was submitted before the trace opens (time 600 s) runs at time 0 if it was scheduled by then, and
    arrives at time 0 if not. Attempts that were never scheduled, or have no request, are dropped and counted.
    Source: Reiss, Wilkes, Hellerstein, "Google cluster-usage traces: format + schema", 2011.
    """
    place = Path(path)
    tasks = _Tasks(place, _RESOURCES)
    dropped = {"never scheduled": 0, "without a request": 0}
    last = 0
    kinds = {one.name.upper(): int(one) for one in Outcome}
    still = int(Outcome.censored)
    rows = list(_rows(place, _GOOGLE))
    ends = max((int(row[3]) for _, row in rows if row[3].isdigit()), default=OPENS)
    for line, (attempt, submit, schedule, end, outcome, priority, cpu, memory) in rows:
        came = _whole(place, line, "submit_us", submit)
        if came < last:
            _fail(place, line, "submit_us", f"expected a time of at least {last} (by submission), got {came}")
        last = came
        if outcome not in kinds:
            _fail(place, line, "outcome", f"expected one of {', '.join(kinds)}, got {outcome!r}")
        if not schedule:
            dropped["never scheduled"] += 1
            continue
        if not cpu or not memory:
            dropped["without a request"] += 1
            continue
        demand = (cpu, memory)
        tasks.check_demand(line, demand)
        kind = kinds[outcome]
        begun = _whole(place, line, "schedule_us", schedule)
        gone = ends if kind == still and not end else _whole(place, line, "end_us", end)
        arrival, stay = _stay(place, line, came, begun, gone)
        number = _whole(place, line, "attempt", attempt)
        tasks.add(arrival, stay, kind, number, _whole(place, line, "priority", priority), demand)
    return tasks.trace(notes=_google_notes(dropped, ends))


def read_google_events(paths: str | Path | Sequence[str | Path]) -> Trace:
    """Read original ``task_events`` files of the Google cluster trace of 2011, part 0 first.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV or gzip without header, 13 columns: time, missing, job, task, machine, event, user, class, priority, cpu,
        memory, disk, different machine.

    Returns
    -------
    Trace
        As `read_google_table` makes it: one task an attempt, from SUBMIT over SCHEDULE to EVICT, FAIL, FINISH, KILL or
        LOST (taken as killed). A request is the one at submission; updates are ignored.

    Raises
    ------
    InputError
        A line that has not 13 fields, an unknown event, times that are negative or go back.
    """
    files = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    tasks = _Tasks(files[0] if files else Path(), _RESOURCES)
    dropped = {"never scheduled": 0, "without a request": 0}
    running: dict[tuple[str, str], _Attempt] = {}
    attempts: dict[tuple[str, str], int] = {}
    last = 0
    line, place = 0, files[0] if files else Path()

    def close(one: _Attempt, end: int, outcome: Outcome) -> None:
        if one.schedule < 0:
            dropped["never scheduled"] += 1
        elif not all(one.demand):
            dropped["without a request"] += 1
        else:
            tasks.check_demand(line, one.demand)
            arrival, stay = _stay(place, line, one.submit, one.schedule, end)
            tasks.add(arrival, stay, outcome, one.number, one.priority, one.demand)

    for place in files:
        with _opened(place) as stream:
            for line, row in enumerate(csv.reader(stream), 1):
                if len(row) != 13:
                    _fail(place, line, "", f"expected 13 fields, got {len(row)}")
                time, job, task, event, priority = row[0], row[2], row[3], row[5], row[8]
                now = _whole(place, line, "time", time)
                if now < last:
                    _fail(place, line, "time", f"expected a time of at least {last}, got {now}")
                last = now if now != AFTER else last
                if now == AFTER:
                    continue
                key = (job, task)
                if event == _SUBMIT:
                    number = attempts[key] = attempts.get(key, -1) + 1
                    running[key] = _Attempt(now, number, _whole(place, line, "priority", priority), (row[9], row[10]))
                elif event == _SCHEDULE:
                    if key in running:
                        running[key].schedule = now
                elif event in _ENDS:
                    if key in running:
                        close(running.pop(key), now, _ENDS[event])
                elif event not in {"7", "8"}:
                    _fail(place, line, "event", f"expected a whole number from 0 to 8, got {event!r}")
    for one in running.values():
        close(one, last, Outcome.censored)
    return tasks.trace(notes=_google_notes(dropped, last))


def _stay(place: Path, line: int, submit: int, schedule: int, end: int) -> tuple[int, int]:
    """Return arrival and duration after the trace opens."""
    if not submit <= schedule <= end:
        _fail(place, line, "end", f"expected submission <= schedule <= end, got {submit}, {schedule}, {end}")
    if submit < OPENS and schedule <= OPENS:
        return -1, max(0, end - OPENS)
    return max(0, submit - OPENS), end - schedule


def _google_notes(dropped: dict[str, int], ends: int) -> list[str]:
    span = (ends - OPENS) / MICROSECONDS
    return [
        f"the trace is seen for {span:.2f} s; stays that end later are right-censored there",
        *(f"{count:,} attempts {reason} dropped" for reason, count in dropped.items()),
    ]


def read_alibaba(path: str | Path) -> Trace:
    """Read the pods of the Alibaba GPU cluster trace of 2023.

    Parameters
    ----------
    path : str or Path
        CSV or gzip with the columns cpu_milli, memory_mib, num_gpu, gpu_milli, qos, creation_time, deletion_time,
        scheduled_time (seconds).

    Returns
    -------
    Trace
        Resources cpu (vCPU), memory (MiB) and gpu (GPUs); labels are the qualities of service.

    Notes
    -----
    Arrival is the creation; the duration is deletion less the later of schedule and creation. Pods that were never
    scheduled are dropped. The first creation is time 0.
    """
    place = Path(path)
    tasks = _Tasks(place, ("cpu", "memory", "gpu"))
    labels: dict[str, int] = {}
    pending = 0
    for line, (cpu, memory, gpus, share, qos, created, deleted, scheduled) in _rows(place, _ALIBABA):
        came, gone = (
            _ticks(place, line, name, text) for name, text in (("creation_time", created), ("deletion_time", deleted))
        )
        if not scheduled:
            pending += 1
            continue
        begun = max(came, _ticks(place, line, "scheduled_time", scheduled))
        if gone < begun:
            _fail(place, line, "deletion_time", f"expected a time after the schedule, got {deleted}")
        thousandths = [_whole(place, line, name, text) for name, text in (("cpu_milli", cpu), ("gpu_milli", share))]
        many = _whole(place, line, "num_gpu", gpus)
        demand = (f"{thousandths[0]}/1000", memory, f"{many * thousandths[1]}/1000")
        tasks.check_demand(line, demand)
        tasks.add(came, gone - begun, Outcome.finish, 0, labels.setdefault(qos, len(labels)), demand)
    first = min(tasks.arrival, default=0)
    tasks.arrival = [time - first for time in tasks.arrival]
    return tasks.trace(tuple(labels), [f"{pending:,} pods never scheduled dropped", "the first creation is time 0"])


def header(path: str | Path) -> list[str]:
    """Return the names of the columns of a table."""
    with _opened(Path(path)) as stream:
        return next(csv.reader(stream), [])


def read_plain(path: str | Path) -> Trace:
    """Read a plain table of arrivals.

    Parameters
    ----------
    path : str or Path
        CSV or gzip with a header: `time` and `duration` in seconds, optionally `type` (a name); every other column is
        a resource. Rows by time; first come the tasks that run at time 0, with ``present`` for a time and what is left
        of their service for a duration.

    Returns
    -------
    Trace
        Labels are the types; times are rounded to whole microseconds.

    Raises
    ------
    InputError
        Fields that are missing, negative, no numbers, or times that go back: each names file, line and column.
    """
    place = Path(path)
    columns = header(place)
    resources = tuple(name for name in columns if name not in {"time", "duration", "type"})
    if not {"time", "duration"} <= set(columns) or not resources:
        _fail(place, 1, "", "expected a header with time, duration and at least one resource")
    typed = "type" in columns
    tasks = _Tasks(place, resources)
    labels: dict[str, int] = {}
    last = -1
    for line, row in _rows(place, ["time", "duration", *(["type"] if typed else []), *resources]):
        arrival = -1 if row[0].strip() == PRESENT else _ticks(place, line, "time", row[0])
        duration = _ticks(place, line, "duration", row[1])
        if arrival < last:
            least = max(0, last) / MICROSECONDS
            _fail(place, line, "time", f"expected a time of at least {least:g} s (sorted), got {row[0]}")
        last = arrival
        demand = tuple(row[3 if typed else 2 :])
        tasks.check_demand(line, demand)
        if not any(tasks.numbers[text] for text in demand):
            _fail(place, line, resources[0], "expected at least one positive demand")
        name = row[2] if typed else ""
        tasks.add(arrival, duration, Outcome.finish, 0, labels.setdefault(name, len(labels)), demand)
    there = tasks.arrival.count(-1)
    notes = [f"{there:,} tasks run at time 0, with what is left of their service"] if there else []
    return tasks.trace(tuple(labels) if typed else (), notes)


@contextmanager
def _opened(place: Path) -> Iterator[Iterator[str]]:
    try:
        with (
            gzip.open(place, "rt", newline="", encoding="utf-8")
            if place.suffix == ".gz"
            else open(place, newline="", encoding="utf-8") as stream
        ):
            yield stream
    except (OSError, EOFError) as error:
        raise InputError(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: expected UTF-8 text, found byte {error.object[error.start]:#04x}") from None


def _rows(place: Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and the named columns."""
    with _opened(place) as stream:
        reader = csv.reader(stream)
        header = next(reader, [])
        missing = [name for name in names if name not in header]
        if missing:
            _fail(place, 1, missing[0], f"expected a column of this name, found {', '.join(header) or 'an empty file'}")
        at = [header.index(name) for name in names]
        for row in reader:
            if len(row) != len(header):
                _fail(place, reader.line_num, "", f"expected {len(header)} fields, got {len(row)}")
            yield reader.line_num, [row[i] for i in at]


def _fail(place: Path, line: int, name: str, problem: str) -> NoReturn:
    where = f"{place}:{line}: {name}" if name else f"{place}:{line}"
    raise InputError(f"{where}: {problem}")


def _whole(place: Path, line: int, name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        _fail(place, line, name, f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def _rational(place: Path, line: int, name: str, text: str) -> Fraction:
    try:
        value = rational(text)
    except ValueError as error:
        _fail(place, line, name, f"expected a number, got {text!r} ({error})")
    if value < 0:
        _fail(place, line, name, f"expected a number of at least 0, got {text!r}")
    return value


def _ticks(place: Path, line: int, name: str, text: str) -> int:
    """Read seconds as whole microseconds."""
    value = round(_rational(place, line, name, text) * MICROSECONDS)
    if value >= 2**62:
        _fail(place, line, name, f"expected a time within 146,000 years, got {text!r}")
    return value
