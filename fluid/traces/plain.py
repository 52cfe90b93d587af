"""Plain tables of arrivals."""

from __future__ import annotations

from pathlib import Path

from fluid.traces.model import MICROSECONDS, PLAIN, Outcome, Trace
from fluid.traces.rows import Tasks, fail, header, rows, ticks

PRESENT = "present"
"""In a plain table the time of a task that runs when the trace opens."""

HEADER = "a header with time, duration, and type or resources"


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
    place = Path(path)
    columns = header(place)
    resources = tuple(dict.fromkeys(name for name in columns if name not in {"time", "duration", "type"}))
    typed = "type" in columns
    if not {"time", "duration"} <= set(columns) or not (resources or typed):
        fail(place, 1, "", f"expected {HEADER}; found {', '.join(columns) or 'no columns'}")
    if "" in resources:
        fail(place, 1, "", f"expected a name for column {columns.index('') + 1}")
    tasks = Tasks(place, resources)
    labels: dict[str, int] = {}
    last = -1
    for line, row in rows(place, ["time", "duration", *(["type"] if typed else []), *resources]):
        arrival = -1 if row[0].strip() == PRESENT else ticks(place, line, "time", row[0])
        duration = ticks(place, line, "duration", row[1])
        if arrival < last:
            least = max(0, last) / MICROSECONDS
            fail(place, line, "time", f"expected a time of at least {least:g} s (sorted), got {row[0]}")
        last = arrival
        demand = tuple(row[3 if typed else 2 :])
        tasks.check_demand(line, demand)
        if resources and not any(tasks.numbers[text] for text in demand):
            fail(place, line, resources[0], "expected at least one positive demand")
        name = row[2].strip() if typed else ""
        tasks.add(line, arrival, duration, Outcome.finish, 0, labels.setdefault(name, len(labels)), demand)
    if not tasks.line:
        fail(place, 1, "", "expected tasks below the header, found none")
    there = tasks.arrival.count(-1)
    notes = [f'{there:,} tasks run when it opens: there at time 0 with initial = "trace"'] if there else []
    return tasks.trace(PLAIN, tuple(labels) if typed else (), notes)
