"""The Google cluster traces: the table of task attempts and the original task events of 2011, instance events of 2019.

The reader of 2019 follows the published schema (``clusterdata_trace_format_v3.proto`` of google/cluster-data) and was
tried on small files made by hand, not on the trace itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from fluid.traces.model import GOOGLE, GOOGLE_2019, MICROSECONDS, Outcome, Trace
from fluid.traces.typed_table import (
    ORDER,
    Dropped,
    NeverRanError,
    Schema,
    Tasks,
    header,
    one_of,
    rows,
    rows_without_header,
    whole,
)

OPENS = 600 * MICROSECONDS
"""When the Google trace of 2011 opens: earlier events have the time 0."""

AFTER = 2**63 - 1
"""The time of its events after its end."""

TABLE: Schema = {
    "attempt": whole,
    "submit_us": whole,
    "schedule_us": whole,
    "end_us": whole,
    "outcome": one_of({outcome.name.upper(): int(outcome) for outcome in Outcome}),
    "priority": whole,
    "cpu_req": str,
    "mem_req": str,
}
"""Columns of the table that are read."""

_RESOURCES = ("cpu", "memory")
SUBMITTED, SCHEDULED = "submitted", "scheduled"

_KINDS: dict[str, str | Outcome] = {
    "0": SUBMITTED,
    "1": SCHEDULED,
    "2": Outcome.evict,
    "3": Outcome.fail,
    "4": Outcome.finish,
    "5": Outcome.kill,
    "6": Outcome.kill,
    "7": "",
    "8": "",
}
"""Kinds of events of 2011 by their number; 7 and 8 are updates, which are ignored."""


def _kind_of_event(text: str) -> str | Outcome:
    if text not in _KINDS:
        raise ValueError(f"expected a whole number from 0 to 8, got {text!r}")
    return _KINDS[text]


EVENTS: Schema = {
    "time": whole,
    "missing": str,
    "job": str,
    "task": str,
    "machine": str,
    "event": _kind_of_event,
    "user": str,
    "class": str,
    "priority": whole,
    "cpu": str,
    "memory": str,
    "disk": str,
    "different machine": str,
}
"""Columns of an original file of events, which has no header."""


def read_google_table(path: str | Path, *, strict: bool = False) -> Trace:
    """Read the table of task attempts made from ``task_events`` of the Google cluster trace of 2011.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip with the columns attempt, submit_us, schedule_us, end_us, outcome, priority, cpu_req, mem_req:
        one row an attempt, by submission.
    strict : bool
        Whether attempts that end before they start are refused, rather than dropped and counted.

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
    dropped, never = {"never scheduled": 0, "without a request": 0}, Dropped()
    last = 0
    still = int(Outcome.censored)
    attempts = list(rows(place, TABLE))
    ends = max((int(text) for row in attempts if (text := row.text("end_us")).isdigit()), default=OPENS)
    for row in attempts:
        submit = row["submit_us"]
        if submit < last:
            row.fail("submit_us", f"expected a time of at least {last} (by submission), got {submit}")
        last = submit
        outcome = row["outcome"]
        demand = (row.text("cpu_req"), row.text("mem_req"))
        if not row.text("schedule_us"):
            dropped["never scheduled"] += 1
        elif not all(demand):
            dropped["without a request"] += 1
        else:
            tasks.check_demand(row.line, demand)
            schedule = row["schedule_us"]
            end = ends if outcome == still and not row.text("end_us") else row["end_us"]
            try:
                arrival, stay = _stay(submit, schedule, end)
            except NeverRanError as why:
                never.add(row.line, why)
                continue
            tasks.add(row.line, arrival, stay, outcome, row["attempt"], row["priority"], demand)
    never.refuse_many(place, len(tasks.line), strict=strict)
    return tasks.trace(GOOGLE, notes=[*notes_of(dropped, ends), *never.notes])


def read_google_events(paths: str | Path | Sequence[str | Path], *, strict: bool = False) -> Trace:
    """Read original ``task_events`` files of the Google cluster trace of 2011, part 0 first.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV or gzip without header, with the 13 columns `EVENTS`.
    strict : bool
        As for `read_google_table`.

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
    never = Dropped()
    dropped, last = follow(tasks, _events(files), OPENS, never)
    never.refuse_many(tasks.path, len(tasks.line), strict=strict)
    return tasks.trace(GOOGLE, notes=[*notes_of(dropped, last), *never.notes], lines=len(files) == 1)


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
    """Give the events of original files, without those after the end of the trace."""
    last = 0
    for place in files:
        for row in rows_without_header(place, EVENTS):
            now = row["time"]
            if now < last:
                row.fail("time", f"expected a time of at least {last}, got {now}")
            last = now if now != AFTER else last
            what = row["event"]
            if now != AFTER:
                priority = row["priority"] if what == SUBMITTED else 0
                task, demand = (row.text("job"), row.text("task")), (row.text("cpu"), row.text("memory"))
                yield Event(place, row.line, now, task, what, priority, demand)


def follow(tasks: Tasks, events: Iterator[Event], opens: int, never: Dropped) -> tuple[dict[str, int], int]:
    """Turn events in the order of time into tasks, one an attempt; the trace opens at `opens`.

    Attempts that end before they start are counted in `never`.

    Returns the number of attempts that are left out, by reason, and when the trace ends: attempts that run then are
    censored. Of events other than submission, schedule and ends only the time counts.
    """
    dropped = {"never scheduled": 0, "without a request": 0}
    submissions: dict[tuple[str, str], Event] = {}  # of the attempts that wait or run
    schedules: dict[tuple[str, str], int] = {}
    numbers: dict[tuple[str, str], int] = {}  # of the last attempt of each task
    last = 0

    def close(task: tuple[str, str], end: int, outcome: Outcome) -> None:
        submission, schedule = submissions.pop(task), schedules.pop(task, None)
        if schedule is None:
            dropped["never scheduled"] += 1
        elif not all(submission.demand):
            dropped["without a request"] += 1
        else:
            try:
                arrival, stay = _stay(submission.time, schedule, end, opens)
            except NeverRanError as why:
                never.add(submission.line, why)
                return
            tasks.add(submission.line, arrival, stay, outcome, numbers[task], submission.priority, submission.demand)

    for event in events:
        tasks.path, last = event.place, event.time
        if event.what == SUBMITTED:
            numbers[event.task] = numbers.get(event.task, -1) + 1
            if all(event.demand):
                tasks.check_demand(event.line, event.demand)
            submissions[event.task] = event
            schedules.pop(event.task, None)
        elif event.what == SCHEDULED and event.task in submissions:
            schedules[event.task] = event.time
        elif isinstance(event.what, Outcome) and event.task in submissions:
            close(event.task, event.time, event.what)
    for task in list(submissions):
        close(task, last, Outcome.censored)
    return dropped, last


def _stay(submit: int, schedule: int, end: int, opens: int = OPENS) -> tuple[int, int]:
    """Return arrival and duration after the trace opens."""
    if not submit <= schedule <= end:
        problem = f"expected submission <= schedule <= end, got {submit}, {schedule}, {end}"
        raise NeverRanError(ORDER, "end", problem)
    if submit < opens and schedule <= opens:
        return -1, max(0, end - opens)
    return max(0, submit - opens), end - schedule


def notes_of(dropped: dict[str, int], ends: int, opens: int = OPENS) -> list[str]:
    """Return the notes on the attempts left out and on the time that the trace is seen."""
    span = (ends - opens) / MICROSECONDS
    return [
        f"the trace is seen for {span:.2f} s; stays that end later are right-censored there",
        *(f"{count:,} attempts {reason} dropped" for reason, count in dropped.items()),
    ]


# ---- 2019 ------------------------------------------------------------------------------------------------------------

REQUESTS = (("resource_request.cpus", "resource_request.memory"), ("cpus", "memory"))
"""What the two resources of a request are called: nested records flattened, or plain columns."""

TYPES: dict[str, str | Outcome] = {
    "SUBMIT": SUBMITTED,
    "QUEUE": "",
    "ENABLE": "",
    "SCHEDULE": SCHEDULED,
    "EVICT": Outcome.evict,
    "FAIL": Outcome.fail,
    "FINISH": Outcome.finish,
    "KILL": Outcome.kill,
    "LOST": Outcome.kill,
    "UPDATE_PENDING": "",
    "UPDATE_RUNNING": "",
}
"""Kinds of events by their name, in the order of their numbers; those without a meaning here are ignored."""

_NUMBERED = tuple(TYPES)


def _number_of_type(text: str) -> int:
    """Read the number or the name of a kind of events."""
    if text.isdecimal() and int(text) < len(TYPES):
        return int(text)
    if text.upper() not in TYPES:
        raise ValueError(f"expected a whole number from 0 to {len(TYPES) - 1} or a name, got {text!r}")
    return _NUMBERED.index(text.upper())


INSTANCE_EVENTS: Schema = {"time": whole, "type": _number_of_type, "collection_id": str, "instance_index": str}
"""Columns of the instance events of 2019 that no other format has together."""


def read_google_2019(path: str | Path, *, strict: bool = False) -> Trace:
    """Read the instance events of the Google cluster trace of 2019.

    Parameters
    ----------
    path : str or Path
        JSON lines as they are published, CSV with a header, or Parquet, each perhaps compressed: time, type (a number
        or a name), collection_id, instance_index, priority, collection_type, and the request as
        ``resource_request.cpus`` and ``resource_request.memory``, or ``cpus`` and ``memory``.
    strict : bool
        As for `read_google_table`.

    Returns
    -------
    Trace
        Resources cpu and memory, normalised; labels are priorities. One task an attempt, from SUBMIT over SCHEDULE to
        an end, as of 2011. Instances of alloc sets are left out and counted.

    Raises
    ------
    InputError
        Missing columns, an unknown type, times that are no whole numbers.

    Notes
    -----
    Events are sorted by time, as the published files are not. Events at time 0 came before the trace opens, which is
    taken to be at the first later event; the greatest time of all stands for events after its end.
    """
    place = Path(path)
    columns = header(place)
    cpu, memory = next((pair for pair in REQUESTS if set(pair) <= set(columns)), REQUESTS[0])
    schema: Schema = {**INSTANCE_EVENTS, "priority": lambda text: whole(text or "0"), cpu: str, memory: str}
    if "collection_type" in columns:
        schema = {**schema, "collection_type": str}
    tasks = Tasks(place, _RESOURCES)
    events: list[tuple[int, Event]] = []
    allocs = 0
    for row in rows(place, schema):
        now, kind = row["time"], row["type"]
        what = TYPES[_NUMBERED[kind]]
        if "collection_type" in schema and row["collection_type"] in ("1", "ALLOC_SET"):
            allocs += what == SUBMITTED
        elif now != AFTER:
            priority = row["priority"] if what == SUBMITTED else 0
            task, demand = (row["collection_id"], row["instance_index"]), (row[cpu], row[memory])
            events.append((kind, Event(place, row.line, now, task, what, priority, demand)))
    events.sort(key=lambda one: one[1].time)
    opens = next((event.time for _, event in events if event.time > 0), 0)
    never = Dropped()
    dropped, last = follow(tasks, _ordered(events), opens, never)
    never.refuse_many(place, len(tasks.line), strict=strict)
    notes = [*notes_of(dropped, last, opens), f"{allocs:,} submissions of alloc instances dropped", *never.notes]
    return tasks.trace(GOOGLE_2019, notes=notes)


def _ordered(events: list[tuple[int, Event]]) -> Iterator[Event]:
    """Put events of one task at one time in the order in which they can have happened.

    A task that is there and is submitted again has ended in between; otherwise kinds follow each other by their number.
    """
    there: set[tuple[str, str]] = set()
    for _, group in groupby(events, key=lambda one: one[1].time):
        together = list(group)
        again = {event.task for _, event in together if event.what == SUBMITTED} & there
        together.sort(key=lambda one: (one[1].task not in again or not isinstance(one[1].what, Outcome), one[0]))
        for _, event in together:
            if event.what == SUBMITTED:
                there.add(event.task)
            elif isinstance(event.what, Outcome):
                there.discard(event.task)
            yield event


def is_google_2019(first: list[str]) -> bool:
    """Return whether a header is that of instance events of 2019."""
    return set(INSTANCE_EVENTS) <= set(first)
