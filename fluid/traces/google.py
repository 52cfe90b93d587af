"""The Google cluster traces: the table of task attempts and the original task events of 2011, instance events of 2019.

The reader of 2019 follows the published schema (``clusterdata_trace_format_v3.proto`` of google/cluster-data) and was
tried on small files made by hand, not on the trace itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fluid.traces.model import GOOGLE, GOOGLE_2019, MICROSECONDS, Outcome, Trace
from fluid.traces.readings import reading_of
from fluid.traces.tasks import Integers, Tasks
from theory.errors import InputError
from theory.files.cells import nonnegative, one_of, whole
from theory.files.columns import whole_numbers
from theory.files.formats import AMOUNT, ORDER, WHOLE, Column, Format, Records, absent

OPENS = 600 * MICROSECONDS
"""When the Google trace of 2011 opens: earlier events have the time 0."""

AFTER = 2**63 - 1
"""The time of its events after its end."""

ATTEMPTS = Format(
    "the table of attempts of Google 2011",
    (
        *(Column(name, WHOLE) for name in ("attempt", "submit_us", "schedule_us", "end_us", "priority")),
        Column("outcome"),
        Column("cpu", AMOUNT, ("cpu_req",)),
        Column("memory", AMOUNT, ("mem_req",)),
    ),
    needed=("submit_us",),
    drop={"never scheduled": absent("schedule_us"), "without a request": absent("cpu", "memory")},
)

OF_EVENTS = (
    *(Column(name, WHOLE) for name in ("time", "priority")),
    Column("cpu", AMOUNT, ("resource_request.cpus", "cpus", "cpu")),
    Column("memory", AMOUNT, ("resource_request.memory", "memory")),
)
"""Columns that events of both years have."""

EVENTS = Format(
    "the original events of Google 2011",
    (*OF_EVENTS, Column("job"), Column("task"), Column("event")),
    header=("time", "missing", "job", "task", "machine", "event", "user", "class", "priority", "cpu", "memory", "disk",
            "different machine"),
)  # fmt: skip

INSTANCE_EVENTS = Format(
    "the instance events of Google 2019",
    (
        *OF_EVENTS,
        Column("job", synonyms=("collection_id",)),
        Column("task", synonyms=("instance_index",)),
        Column("event", synonyms=("type",)),
        Column("collection_type", optional=True),
    ),
    needed=("time", "type", "collection_id", "instance_index"),
    derive={"priority": lambda found: found.integers("priority", found.rows, whole_numbers, _priority)},
)


def _priority(text: str) -> int:
    return whole(text or "0")


UNITS = {
    **dict.fromkeys(("submit_us", "schedule_us", "end_us", "time"), "us"),
    **dict.fromkeys(("cpu", "memory"), "shares of the largest machine"),
}

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
    found = ATTEMPTS.read(path)
    _refuse_back(found, "submit_us", " (by submission)")
    submit = found["submit_us"]
    values, codes = found.words("outcome", one_of({outcome.name.upper(): int(outcome) for outcome in Outcome}))
    outcome = np.array([*values, 0], np.int64)[codes]
    with_end = found.cells["end_us"].where(str.isdigit, found.rows)
    last = int(found.read("end_us", with_end).max()) if with_end.any() else OPENS
    left_out = found.leave_out(ATTEMPTS.drop)
    is_open = (outcome == Outcome.censored) & found.is_absent("end_us")
    end = np.where(is_open, last, found.read("end_us", found.rows & ~is_open))
    rows = np.flatnonzero(found.rows)
    columns = (submit, found["schedule_us"], end, outcome, found["attempt"])
    attempts = Attempts(rows, *(values[rows] for values in columns))
    trace = _trace(found, attempts, notes_of(left_out, last), GOOGLE, strict=strict)
    return replace(trace, reading=reading_of(ATTEMPTS.name, found, ATTEMPTS.columns, UNITS, left_out))


def _refuse_back(found: Records, name: str, why: str = "") -> None:
    """Refuse times that go back."""
    rows = np.flatnonzero(found.rows)
    times = found[name][rows]
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        i = int(back[0])
        problem = f"expected a time of at least {times[i]}{why}, got {times[i + 1]}"
        found.fail(int(rows[i + 1]), name, problem)


# ---- attempts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempts:
    """Attempts of tasks: the row of their submission, when they were submitted, scheduled and ended, how, and which.

    All are int64[n]; `schedule` is -1 where there was none.
    """

    row: Integers
    submit: Integers
    schedule: Integers
    end: Integers
    outcome: Integers
    number: Integers

    def only(self, chosen: Integers) -> Attempts:
        """Return some of them."""
        return Attempts(*(getattr(self, name)[chosen] for name in vars(self)))


def _trace(
    found: Records, attempts: Attempts, notes: Sequence[str], source: str, opens: int = OPENS, *, strict: bool
) -> Trace:
    """Return the attempts that were submitted, scheduled and ended in this order as a trace that opens at a time."""
    is_such = (attempts.submit <= attempts.schedule) & (attempts.schedule <= attempts.end)
    wrong = np.flatnonzero(~is_such)
    if len(wrong):
        i = int(wrong[np.argmin(attempts.row[wrong])])
        times = f"{attempts.submit[i]}, {attempts.schedule[i]}, {attempts.end[i]}"
        problem = f"expected submission <= schedule <= end, got {times}"
        found.dropped.add(ORDER, len(wrong), (int(found.lines[attempts.row[i]]), "end", problem))
    ran = attempts.only(np.flatnonzero(is_such))
    found.dropped.refuse_many(found.place, len(ran.row), strict=strict)
    found.rows = np.isin(np.arange(len(found)), ran.row)
    present = (ran.submit < opens) & (ran.schedule <= opens)
    tasks = Tasks(
        np.where(present, -1, np.maximum(0, ran.submit - opens)),
        np.where(present, np.maximum(0, ran.end - opens), ran.end - ran.schedule),
        ran.outcome,
        ran.number,
        found["priority"][ran.row],
        found.lines[ran.row],
    )
    for name in ("cpu", "memory"):
        numbers, unit = found.amounts(name, nonnegative)
        tasks.demand[name] = numbers[ran.row], unit
    return tasks.trace(source, notes=[*found.notes, *notes, *found.dropped.notes], lines=not found.places)


class Event(NamedTuple):
    """What happened to a task: `what` is `SUBMITTED`, `SCHEDULED`, or how its stay ended."""

    row: int
    time: int
    task: tuple[str, str]
    what: str | Outcome


def follow(events: Iterable[Event]) -> tuple[Attempts, int]:
    """Turn events in the order of time into attempts, and return when the last event was.

    Attempts that run then are censored. Of events other than submission, schedule and ends only the time counts.
    """
    closed: list[tuple[int, ...]] = []
    open_attempts: dict[tuple[str, str], tuple[int, int, int]] = {}  # row, time and number of the submission
    schedules: dict[tuple[str, str], int] = {}
    numbers: dict[tuple[str, str], int] = {}  # of the last attempt of each task
    last = 0

    def close(task: tuple[str, str], end: int, outcome: Outcome) -> None:
        row, submit, number = open_attempts.pop(task)
        closed.append((row, submit, schedules.pop(task, -1), end, outcome, number))

    for row, time, task, what in events:
        last = time
        if what == SUBMITTED:
            numbers[task] = numbers.get(task, -1) + 1
            open_attempts[task] = row, time, numbers[task]
            schedules.pop(task, None)
        elif what == SCHEDULED and task in open_attempts:
            schedules[task] = time
        elif isinstance(what, Outcome) and task in open_attempts:
            close(task, time, what)
    for task in list(open_attempts):
        close(task, last, Outcome.censored)
    table = np.array(closed, np.int64).reshape(len(closed), 6)
    return Attempts(*table.T), last


def _trace_of_events(
    found: Records, events: Sequence[Event], opens: int, source: str, more: Sequence[str] = (), *, strict: bool
) -> Trace:
    """Return the trace of events in the order of time; `more` are notes on what else was left out."""
    attempts, last = follow(events)
    found.rows = np.isin(np.arange(len(found)), [event.row for event in events if event.what == SUBMITTED])
    found["priority"]  # all submissions are well formed
    there = found.rows & ~absent("cpu", "memory")(found)
    found.rows = there
    for name in ("cpu", "memory"):
        found.amounts(name, nonnegative)
    scheduled, with_request = attempts.schedule >= 0, there[attempts.row]
    left_out = {
        "never scheduled": int((~scheduled).sum()),
        "without a request": int((scheduled & ~with_request).sum()),
    }
    attempts = attempts.only(np.flatnonzero(scheduled & with_request))
    notes = [*notes_of(left_out, last, opens), *more]
    trace = _trace(found, attempts, notes, source, opens, strict=strict)
    form = EVENTS if source == GOOGLE else INSTANCE_EVENTS
    return replace(trace, reading=reading_of(f"{form.name} (a row an event)", found, form.columns, UNITS, left_out))


def notes_of(dropped: dict[str, int], ends: int, opens: int = OPENS) -> list[str]:
    """Return the notes on the attempts left out and on the time that the trace is seen."""
    span = (ends - opens) / MICROSECONDS
    return [
        f"the trace is seen for {span:.2f} s; stays that end later are right-censored there",
        *(f"{count:,} attempts {reason} dropped" for reason, count in dropped.items()),
    ]


# ---- events of 2011 --------------------------------------------------------------------------------------------------


def read_google_events(paths: str | Path | Sequence[str | Path], *, strict: bool = False) -> Trace:
    """Read original ``task_events`` files of the Google cluster trace of 2011, part 0 first.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV or gzip without header, with the 13 columns of `EVENTS`.
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
    files = [paths] if isinstance(paths, str | Path) else paths
    if not files:
        raise InputError("paths", "expected at least one file")
    found = EVENTS.read(*files)
    found.rows = found["time"] != AFTER
    _refuse_back(found, "time")
    kinds, codes = found.words("event", _kind_of_event)
    rows = np.flatnonzero(found.rows)
    events = _events(found, rows, [kinds[i] for i in codes[rows].tolist()])
    return _trace_of_events(found, events, OPENS, GOOGLE, strict=strict)


def _events(found: Records, rows: Integers, kinds: Iterable[str | Outcome]) -> list[Event]:
    """Return the events in some rows, in their order."""
    (jobs, job), (tasks, task) = (found.words(name, str) for name in ("job", "task"))
    columns = (values[rows].tolist() for values in (found["time"], job, task))
    return [
        Event(row, time, (jobs[i], tasks[k]), kind)
        for row, time, i, k, kind in zip(rows.tolist(), *columns, kinds, strict=True)
    ]


def _kind_of_event(text: str) -> str | Outcome:
    if text not in _KINDS:
        raise ValueError(f"expected a whole number from 0 to 8, got {text!r}")
    return _KINDS[text]


# ---- 2019 ------------------------------------------------------------------------------------------------------------

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
    found = INSTANCE_EVENTS.read(path)
    kinds, codes = found.words("event", _number_of_type)
    kind, time = np.array(kinds, np.int64)[codes], found["time"]
    allocs = np.zeros(len(found), bool)
    if "collection_type" in found:
        allocs = found.cells["collection_type"].where(lambda cell: cell in ("1", "ALLOC_SET"), found.rows)
    rows = np.flatnonzero(~allocs & (time != AFTER))
    rows = rows[np.argsort(time[rows], kind="stable")]
    numbers = kind[rows].tolist()
    events = _events(found, rows, [TYPES[_NUMBERED[number]] for number in numbers])
    opens = next((event.time for event in events if event.time > 0), 0)
    more = [f"{int((allocs & (kind == 0)).sum()):,} submissions of alloc instances dropped"]
    in_order = list(_ordered(list(zip(numbers, events, strict=True))))
    return _trace_of_events(found, in_order, opens, GOOGLE_2019, more, strict=strict)


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
