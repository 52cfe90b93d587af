"""The Google cluster trace of 2011: the table of task attempts, and the original task events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fluid.traces.model import GOOGLE, MICROSECONDS, Outcome, Trace
from fluid.traces.rows import Tasks, fail, opened, rows, whole

OPENS = 600 * MICROSECONDS
"""When the Google trace of 2011 opens: earlier events have the time 0."""

AFTER = 2**63 - 1
"""The time of its events after its end."""

TABLE = ("attempt", "submit_us", "schedule_us", "end_us", "outcome", "priority", "cpu_req", "mem_req")
"""Columns of the table that are read."""

EVENT_FIELDS = 13
"""Columns of an original file of events, which has no header."""

_RESOURCES = ("cpu", "memory")
_ENDS = {"2": Outcome.evict, "3": Outcome.fail, "4": Outcome.finish, "5": Outcome.kill, "6": Outcome.kill}
SUBMITTED, SCHEDULED = "submitted", "scheduled"
_WHAT: dict[str, str | Outcome] = {"0": SUBMITTED, "1": SCHEDULED, **_ENDS}
_EVENTS = {str(number) for number in range(9)}
"""SUBMIT, SCHEDULE, five ends, and two updates (7 and 8), which are ignored."""


@dataclass
class _Attempt:
    """A run of a task in the making."""

    line: int
    submit: int
    number: int
    priority: int
    demand: tuple[str, str]
    schedule: int = -1


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
    tasks = Tasks(place, _RESOURCES)
    dropped = {"never scheduled": 0, "without a request": 0}
    last = 0
    kinds = {one.name.upper(): int(one) for one in Outcome}
    still = int(Outcome.censored)
    attempts = list(rows(place, TABLE))
    ends = max((int(row[3]) for _, row in attempts if row[3].isdigit()), default=OPENS)
    for line, (attempt, submit, schedule, end, outcome, priority, cpu, memory) in attempts:
        came = whole(place, line, "submit_us", submit)
        if came < last:
            fail(place, line, "submit_us", f"expected a time of at least {last} (by submission), got {came}")
        last = came
        if outcome not in kinds:
            fail(place, line, "outcome", f"expected one of {', '.join(kinds)}, got {outcome!r}")
        if not schedule:
            dropped["never scheduled"] += 1
            continue
        if not cpu or not memory:
            dropped["without a request"] += 1
            continue
        demand = (cpu, memory)
        tasks.check_demand(line, demand)
        kind = kinds[outcome]
        begun = whole(place, line, "schedule_us", schedule)
        gone = ends if kind == still and not end else whole(place, line, "end_us", end)
        arrival, stay = _stay(place, line, came, begun, gone)
        number = whole(place, line, "attempt", attempt)
        tasks.add(line, arrival, stay, kind, number, whole(place, line, "priority", priority), demand)
    return tasks.trace(GOOGLE, notes=notes_of(dropped, ends))


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
    tasks = Tasks(files[0] if files else Path(), _RESOURCES)
    dropped, last = follow(tasks, _events(files), OPENS)
    return tasks.trace(GOOGLE, notes=notes_of(dropped, last), lines=len(files) == 1)


class Event(NamedTuple):
    """What happened to a task: `what` is `SUBMITTED`, `SCHEDULED`, or how its stay ended."""

    place: Path
    line: int
    time: int
    task: tuple[str, str]
    what: str | Outcome
    priority: int
    demand: tuple[str, str]


def _events(files: Sequence[Path]) -> Iterator[Event]:
    """Give the events of original files that matter: updates and what comes after the end are left out."""
    last = 0
    for place in files:
        with opened(place) as table:
            for line, row in table:
                if len(row) != EVENT_FIELDS:
                    fail(place, line, "", f"expected {EVENT_FIELDS} fields, got {len(row)}")
                now, event = whole(place, line, "time", row[0]), row[5]
                if now < last:
                    fail(place, line, "time", f"expected a time of at least {last}, got {now}")
                last = now if now != AFTER else last
                if event not in _EVENTS:
                    fail(place, line, "event", f"expected a whole number from 0 to 8, got {event!r}")
                what = _WHAT.get(event, "")
                if now != AFTER:
                    priority = whole(place, line, "priority", row[8]) if what == SUBMITTED else 0
                    yield Event(place, line, now, (row[2], row[3]), what, priority, (row[9], row[10]))


def follow(tasks: Tasks, events: Iterator[Event], opens: int) -> tuple[dict[str, int], int]:
    """Turn events in the order of time into tasks, one an attempt.

    Parameters
    ----------
    tasks : Tasks
        Takes them.
    events : iterator of Event
        Of other kinds than submission, schedule and ends only the time counts.
    opens : int
        When the trace opens.

    Returns
    -------
    dropped : dict
        How many attempts were left out, by reason.
    last : int
        When the trace ends: attempts that run then are censored.
    """
    dropped = {"never scheduled": 0, "without a request": 0}
    running: dict[tuple[str, str], _Attempt] = {}
    attempts: dict[tuple[str, str], int] = {}
    last = 0

    def close(one: _Attempt, end: int, outcome: Outcome) -> None:
        if one.schedule < 0:
            dropped["never scheduled"] += 1
        elif not all(one.demand):
            dropped["without a request"] += 1
        else:
            arrival, stay = _stay(tasks.path, one.line, one.submit, one.schedule, end, opens)
            tasks.add(one.line, arrival, stay, outcome, one.number, one.priority, one.demand)

    for event in events:
        tasks.path, last = event.place, event.time
        if event.what == SUBMITTED:
            number = attempts[event.task] = attempts.get(event.task, -1) + 1
            if all(event.demand):
                tasks.check_demand(event.line, event.demand)
            running[event.task] = _Attempt(event.line, event.time, number, event.priority, event.demand)
        elif event.what == SCHEDULED and event.task in running:
            running[event.task].schedule = event.time
        elif isinstance(event.what, Outcome) and event.task in running:
            close(running.pop(event.task), event.time, event.what)
    for one in running.values():
        close(one, last, Outcome.censored)
    return dropped, last


def _stay(place: Path, line: int, submit: int, schedule: int, end: int, opens: int = OPENS) -> tuple[int, int]:
    """Return arrival and duration after the trace opens."""
    if not submit <= schedule <= end:
        fail(place, line, "end", f"expected submission <= schedule <= end, got {submit}, {schedule}, {end}")
    if submit < opens and schedule <= opens:
        return -1, max(0, end - opens)
    return max(0, submit - opens), end - schedule


def notes_of(dropped: dict[str, int], ends: int, opens: int = OPENS) -> list[str]:
    """Return what there is to say of attempts and of the time that the trace is seen."""
    span = (ends - opens) / MICROSECONDS
    return [
        f"the trace is seen for {span:.2f} s; stays that end later are right-censored there",
        *(f"{count:,} attempts {reason} dropped" for reason, count in dropped.items()),
    ]
