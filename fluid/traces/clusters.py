"""Two more published traces: instance events of Google's of 2019, and the batch tasks of Alibaba's of 2018.

Both readers follow the published schemas (``clusterdata_trace_format_v3.proto`` of google/cluster-data, ``schema.txt``
of cluster-trace-v2018 in alibaba/clusterdata) and were tried on small files made by hand, not on the traces themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from fluid.traces.google import AFTER, SCHEDULED, SUBMITTED, Event, follow, notes_of
from fluid.traces.model import ALIBABA_2018, GOOGLE_2019, Outcome, Trace
from fluid.traces.rows import Tasks, fail, header, opened, rows, ticks, whole

INSTANCE_EVENTS = ("time", "type", "collection_id", "instance_index")
"""Columns of the instance events of 2019 that no other format has together."""

REQUESTS = (("resource_request.cpus", "resource_request.memory"), ("cpus", "memory"))
"""What the two resources of a request are called: nested records flattened, or plain columns."""

TYPES = (
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING",
    "UPDATE_RUNNING",
)  # fmt: skip
"""Kinds of events by their number."""

_WHAT: dict[str, str | Outcome] = {
    "SUBMIT": SUBMITTED,
    "SCHEDULE": SCHEDULED,
    "EVICT": Outcome.evict,
    "FAIL": Outcome.fail,
    "FINISH": Outcome.finish,
    "KILL": Outcome.kill,
    "LOST": Outcome.kill,
}

TASK_FIELDS = 9
"""Columns of ``batch_task.csv`` of 2018, which has no header."""

STATUS = {
    "terminated": Outcome.finish,
    "failed": Outcome.fail,
    "cancelled": Outcome.kill,
    "interrupted": Outcome.kill,
    "running": Outcome.censored,
    "waiting": None,
    "ready": None,
}
"""Statuses of tasks that are known, in lower case; None: it has not run. The schema names no values."""

MOST_INSTANCES = 10_000_000
"""Most jobs that the tasks of an Alibaba trace are."""


def read_google_2019(path: str | Path) -> Trace:
    """Read the instance events of the Google cluster trace of 2019.

    Parameters
    ----------
    path : str or Path
        JSON lines as they are published, CSV with a header, or Parquet, each perhaps compressed: time, type (a number
        or a name), collection_id, instance_index, priority, collection_type, and the request as
        ``resource_request.cpus`` and ``resource_request.memory``, or ``cpus`` and ``memory``.

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
    request = next((pair for pair in REQUESTS if set(pair) <= set(columns)), REQUESTS[0])
    kinds = ["collection_type"] if "collection_type" in columns else []
    tasks = Tasks(place, ("cpu", "memory"))
    events: list[tuple[int, Event]] = []
    allocs = 0
    for line, row in rows(place, [*INSTANCE_EVENTS, "priority", *request, *kinds]):
        now = whole(place, line, "time", row[0])
        kind = row[1].upper() if not row[1].isdigit() else TYPES[int(row[1])] if int(row[1]) < len(TYPES) else ""
        if kind not in TYPES:
            fail(place, line, "type", f"expected a whole number from 0 to {len(TYPES) - 1} or a name, got {row[1]!r}")
        if kinds and row[7] in ("1", "ALLOC_SET"):
            allocs += kind == "SUBMIT"
            continue
        if now == AFTER:
            continue
        what = _WHAT.get(kind, "")
        priority = whole(place, line, "priority", row[4] or "0") if what == SUBMITTED else 0
        event = Event(place, line, now, (row[2], row[3]), what, priority, (row[5], row[6]))
        events.append((TYPES.index(kind), event))
    events.sort(key=lambda one: one[1].time)
    opens = next((event.time for _, event in events if event.time > 0), 0)
    dropped, last = follow(tasks, _ordered(events), opens)
    notes = [*notes_of(dropped, last, opens), f"{allocs:,} submissions of alloc instances dropped"]
    return tasks.trace(GOOGLE_2019, notes=notes)


def _ordered(made: list[tuple[int, Event]]) -> Iterator[Event]:
    """Put events of one task at one time in the order in which they can have happened.

    A task that is there and is submitted again has ended in between; otherwise kinds follow each other by their number.
    """
    there: set[tuple[str, str]] = set()
    for _, group in groupby(made, key=lambda one: one[1].time):
        together = list(group)
        again = {event.task for _, event in together if event.what == SUBMITTED} & there
        together.sort(key=lambda one: (one[1].task not in again or not isinstance(one[1].what, Outcome), one[0]))
        for _, event in together:
            if event.what == SUBMITTED:
                there.add(event.task)
            elif isinstance(event.what, Outcome):
                there.discard(event.task)
            yield event


def read_alibaba_2018(path: str | Path) -> Trace:
    """Read the batch tasks (``batch_task.csv``) of the Alibaba cluster trace of 2018.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip without header, 9 columns: task name, number of instances, job name, task type, status, start,
        end (seconds), plan_cpu (100 is one core), plan_mem (parts of a hundred of the largest memory).

    Returns
    -------
    Trace
        Resources cpu (cores) and memory (parts of a hundred). Each task counts as so many jobs as it has instances, all
        from its start to its end, as the table has no times of single instances.

    Raises
    ------
    InputError
        Another number of fields, an unknown status, numbers that are none, more than ten million instances.

    Notes
    -----
    The first start is time 0. Tasks that have not run, without a request, or with an end before their start (or a time
    of 0, for one outside of the trace) are dropped and counted. Tasks that run as it ends are censored then.
    """
    place = Path(path)
    tasks = Tasks(place, ("cpu", "memory"))
    dropped = {"have not run": 0, "have no request": 0, "have no start and end in this order": 0}
    running: list[int] = []
    ends = 0
    for line, number, status, start, end, demand in _batch_tasks(place):
        outcome = STATUS[status]
        if outcome is None:
            dropped["have not run"] += 1
        elif not all(demand):
            dropped["have no request"] += 1
        elif start == 0 or (end < start and outcome is not Outcome.censored):
            dropped["have no start and end in this order"] += 1
        else:
            ends = max(ends, start, end)
            cores = (f"{demand[0]}e-2", demand[1])
            tasks.check_demand(line, cores)
            if len(tasks.line) + number > MOST_INSTANCES:
                fail(place, line, "instance_num", f"expected at most {MOST_INSTANCES:,} instances in all")
            for _ in range(number):
                if outcome is Outcome.censored:
                    running.append(len(tasks.line))
                tasks.add(line, start, end - start, outcome, 0, 0, cores)
    for i in running:
        tasks.duration[i] = ends - tasks.arrival[i]
    first = min(tasks.arrival, default=0)
    tasks.arrival = [time - first for time in tasks.arrival]
    notes = [
        "the first start is time 0",
        "each task counts as so many jobs as it has instances, all from its start to its end",
        *(f"{count:,} tasks {reason}: dropped" for reason, count in dropped.items()),
    ]
    return tasks.trace(ALIBABA_2018, notes=notes)


def _batch_tasks(place: Path) -> Iterator[tuple[int, int, str, int, int, tuple[str, str]]]:
    with opened(place) as table:
        for line, row in table:
            if len(row) != TASK_FIELDS:
                fail(place, line, "", f"expected {TASK_FIELDS} fields, got {len(row)}")
            _, number, _, _, status, start, end, cpu, memory = (cell.strip() for cell in row)
            if status.lower() not in STATUS:
                fail(place, line, "status", f"expected one of {', '.join(STATUS)}, got {status!r}")
            times = [ticks(place, line, name, text or "0") for name, text in (("start_time", start), ("end_time", end))]
            count = whole(place, line, "instance_num", number.removesuffix(".0"))
            yield line, count, status.lower(), times[0], times[1], (cpu, memory)


def is_google_2019(first: list[str]) -> bool:
    """Return whether a header is that of instance events of 2019."""
    return set(INSTANCE_EVENTS) <= set(first)


def is_alibaba_2018(first: list[str]) -> bool:
    """Return whether a first row is one of ``batch_task.csv``."""
    return len(first) == TASK_FIELDS and first[1].removesuffix(".0").isdigit() and first[4].isalpha()
