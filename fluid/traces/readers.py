"""Reading a trace of any known format, recognised by its first row."""

from __future__ import annotations

from pathlib import Path

from fluid.traces import clusters, google
from fluid.traces.model import ALIBABA, MICROSECONDS, PLAIN, Outcome, Trace
from fluid.traces.rows import Tasks, fail, header, rows, ticks, whole
from theory.errors import InputError
from theory.files.kinds import CSV, LINES, kind_of_file


def read_trace(path: str | Path) -> Trace:
    """Read a trace; the first row says which format it has.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip, JSON lines or Parquet (`fluid.traces.records`): a plain table (`read_plain`), the table of
        attempts or an original file of events of the Google trace of 2011 (`read_google_table`, `read_google_events`),
        instance events of Google's of 2019 and batch tasks of Alibaba's of 2018 (`fluid.traces.clusters`), the pods of
        Alibaba's of 2023 (`read_alibaba`).

    Raises
    ------
    InputError
        None of these, or what the reader of the format refuses.
    """
    try:
        first = header(path)
    except InputError:
        _refuse_other_kinds(Path(path))
        raise
    if "submit_us" in first:
        return google.read_google_table(path)
    if {"creation_time", "cpu_milli"} & set(first):
        return read_alibaba(path)
    if clusters.is_google_2019(first):
        return clusters.read_google_2019(path)
    if clusters.is_alibaba_2018(first):
        return clusters.read_alibaba_2018(path)
    if len(first) == google.EVENT_FIELDS and first[0].isdigit():
        return google.read_google_events(path)
    if not {"time", "duration"} & set(first):
        _refuse_other_kinds(Path(path))
        readable = (
            "the table or original events of Google 2011, instance events of Google 2019, batch tasks of Alibaba "
        )
        readable += "2018, pods of Alibaba 2023, or any table whose columns are named: arrivals = { columns = { ... } }"
        fail(Path(path), 1, "", f"expected {HEADER}, or {readable}; found {', '.join(first)[:120] or 'no columns'}")
    return read_plain(path)


def _refuse_other_kinds(place: Path) -> None:
    """Refuse what is no table, where its kind is known, before its first row is taken for a header."""
    kind = kind_of_file(place)
    if kind and kind not in (CSV, LINES) and place.suffix not in (".gz", ".parquet"):
        raise InputError(f"{place}: expected a trace, {HEADER}, found {kind}")


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
        try:
            tasks.check_demand(line, demand)
        except InputError as error:  # perhaps the column of the types has another name
            raise InputError(f"{error}: every column but time, duration and type is an amount of a resource") from None
        if resources and not any(tasks.numbers[text] for text in demand):
            fail(place, line, resources[0], "expected at least one positive demand")
        name = row[2].strip() if typed else ""
        tasks.add(line, arrival, duration, Outcome.finish, 0, labels.setdefault(name, len(labels)), demand)
    if not tasks.line:
        fail(place, 1, "", "expected tasks below the header, found none")
    there = tasks.arrival.count(-1)
    notes = [f'{there:,} tasks run when it opens: there at time 0 with initial = "trace"'] if there else []
    return tasks.trace(PLAIN, tuple(labels) if typed else (), notes)


COLUMNS = (
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "qos",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
"""Columns that are read."""


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
    scheduled are dropped. The first creation is time 0. A pod that is deleted at the last moment of all counts as
    censored: the trace ends there.
    """
    place = Path(path)
    tasks = Tasks(place, ("cpu", "memory", "gpu"))
    labels: dict[str, int] = {}
    pending = 0
    started: list[int] = []
    for line, (cpu, memory, gpus, share, qos, created, deleted, scheduled) in rows(place, COLUMNS):
        came, gone = (
            ticks(place, line, name, text) for name, text in (("creation_time", created), ("deletion_time", deleted))
        )
        if not scheduled:
            pending += 1
            continue
        begun = max(came, ticks(place, line, "scheduled_time", scheduled))
        if gone < begun:
            fail(place, line, "deletion_time", f"expected a time after the schedule, got {deleted}")
        thousandths = [whole(place, line, name, text) for name, text in (("cpu_milli", cpu), ("gpu_milli", share))]
        many = whole(place, line, "num_gpu", gpus)
        demand = (f"{thousandths[0]}/1000", memory, f"{many * thousandths[1]}/1000")
        tasks.check_demand(line, demand)
        started.append(begun)
        tasks.add(line, came, gone - begun, Outcome.finish, 0, labels.setdefault(qos, len(labels)), demand)
    first = min(tasks.arrival, default=0)
    ends = max((begun + stay for begun, stay in zip(started, tasks.duration, strict=True)), default=0)
    for i, begun in enumerate(started):
        if begun + tasks.duration[i] == ends:
            tasks.outcome[i] = Outcome.censored
    tasks.arrival = [time - first for time in tasks.arrival]
    notes = [
        f"{pending:,} pods never scheduled dropped",
        "the first creation is time 0",
        f"{tasks.outcome.count(Outcome.censored):,} pods are there to the last moment: right-censored there",
    ]
    return tasks.trace(ALIBABA, tuple(labels), notes)
