"""The Alibaba cluster traces: the pods of the GPU trace of 2023, and the batch tasks of 2018.

The reader of 2018 follows the published schema (``schema.txt`` of cluster-trace-v2018 in alibaba/clusterdata) and was
tried on small files made by hand, not on the trace itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from fluid.traces.model import ALIBABA, ALIBABA_2018, Outcome, Trace
from fluid.traces.readings import reading_of
from fluid.traces.tasks import Tasks, in_largest_units
from theory.errors import TooLargeError
from theory.files.cells import ABSENT, FARTHEST, nonnegative, ticks, whole
from theory.files.columns import Flags, Integers, decimals, scaled, whole_numbers
from theory.files.formats import AMOUNT, DURATION, ORDER, WHOLE, Column, Format, Records, absent

TIMES_OF_PODS = ("creation_time", "scheduled_time", "deletion_time")


def _gpus(found: Records) -> Integers:
    """Return thousandths of GPUs."""
    number, share = found["num_gpu"], found["gpu_milli"]
    if (number.astype(float) * share).max(initial=0) >= FARTHEST:
        raise TooLargeError(found.place, "gpu_milli", "expected fewer GPUs")
    return number * share


PODS = Format(
    "the pods of Alibaba 2023",
    (
        *(Column(name, WHOLE) for name in ("cpu_milli", "num_gpu", "gpu_milli")),
        Column("memory", AMOUNT, ("memory_mib",)),
        Column("qos"),
        *(Column(name, DURATION) for name in TIMES_OF_PODS),
    ),
    drop={"never scheduled": absent("scheduled_time")},
    derive={"gpu": _gpus},
)
"""Columns of the pods of 2023 that are read."""


def read_alibaba(path: str | Path, *, strict: bool = False) -> Trace:
    """Read the pods of the Alibaba GPU cluster trace of 2023.

    Parameters
    ----------
    path : str or Path
        CSV or gzip with the columns cpu_milli, memory_mib, num_gpu, gpu_milli, qos, creation_time, deletion_time,
        scheduled_time (seconds).
    strict : bool
        Whether pods that are deleted before they are scheduled, or have no such time, are refused.

    Returns
    -------
    Trace
        Resources cpu (vCPU), memory (MiB) and gpu (GPUs); labels are the qualities of service.

    Notes
    -----
    Arrival is the creation; the duration is deletion less the later of schedule and creation. Pods that were never
    scheduled, or deleted before, are dropped and counted. The first creation is time 0. A pod that is deleted at the
    last moment of all counts as censored: the trace ends there.
    """
    found = PODS.read(path)
    pending = found.leave_out(PODS.drop)["never scheduled"]
    for name in TIMES_OF_PODS:
        which = found.cells[name].where(_is_no_time, found.rows, is_no_number=True)
        found.drop(which, f"without {name}", name, _no_time(found, name))
    created, scheduled, deleted = (found[name] for name in TIMES_OF_PODS)
    begun = np.maximum(created, scheduled)
    late = "expected a time after the schedule, got {}"
    found.drop(deleted < begun, ORDER, "deletion_time", lambda row: late.format(found.text("deletion_time", row)))
    rows = found.rows
    found.dropped.refuse_many(found.place, int(rows.sum()), strict=strict)
    memory, unit = found.amounts("memory", nonnegative)
    demand = {
        "cpu": in_largest_units((found["cpu_milli"][rows], Fraction(1, 1000))),
        "memory": (memory[rows], unit),
        "gpu": in_largest_units((found["gpu"][rows], Fraction(1, 1000))),
    }
    labels, label = found.words("qos", str)
    ends = deleted[rows]
    outcome = np.where(ends == ends.max(initial=0), Outcome.censored, Outcome.finish).astype(np.int64)
    stay = (deleted - begun)[rows]
    tasks = Tasks(created[rows], stay, outcome, np.zeros_like(stay), label[rows], found.lines[rows], demand)
    tasks.begin_at_first_arrival()
    notes = [
        *found.notes,
        f"{pending:,} pods never scheduled dropped",
        "the first creation is time 0",
        f"{int((outcome == Outcome.censored).sum()):,} pods are there to the last moment: right-censored there",
        *found.dropped.notes,
    ]
    units = {"cpu_milli": "thousandths of a core", "memory": "MiB", "gpu_milli": "thousandths of a GPU"}
    reading = reading_of(PODS.name, found, PODS.columns, units, {"never scheduled": pending})
    return replace(tasks.trace(ALIBABA, labels, notes), reading=reading)


def _is_no_time(cell: str) -> bool:
    return cell.lower() in ABSENT or cell == "-1"


def _no_time(found: Records, name: str) -> Callable[[int], str]:
    return lambda row: f"expected a number of at least 0, got {found.text(name, row)!r}"


# ---- 2018 ------------------------------------------------------------------------------------------------------------

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


def _status(text: str) -> Outcome | None:
    if text.strip().lower() not in STATUS:
        raise ValueError(f"expected one of {', '.join(STATUS)}, got {text.strip()!r}")
    return STATUS[text.strip().lower()]


def _instances(text: str) -> int:
    return whole(text.removesuffix(".0"))


def _times(name: str) -> Callable[[Records], Integers]:
    """Make the reader of times in seconds, of which empty ones are 0."""
    return lambda found: found.integers(
        name, found.rows, lambda packed: scaled(decimals(packed), Fraction(10**6)), lambda text: ticks(text or "0")
    )


BATCH_TASKS = Format(
    "the batch tasks of Alibaba 2018",
    (
        Column("instance_num", WHOLE),
        Column("status"),
        *(Column(name, DURATION) for name in ("start_time", "end_time")),
        *(Column(name, AMOUNT) for name in ("plan_cpu", "plan_mem")),
    ),
    header=("task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu",
            "plan_mem"),
    derive={
        "instance_num": lambda found: found.integers("instance_num", found.rows, whole_numbers, _instances),
        "start_time": _times("start_time"),
        "end_time": _times("end_time"),
    },
)  # fmt: skip
"""Columns of ``batch_task.csv`` of 2018, which has no header."""


def read_alibaba_2018(path: str | Path, *, strict: bool = False) -> Trace:
    """Read the batch tasks (``batch_task.csv``) of the Alibaba cluster trace of 2018.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip without header, with the 9 columns `BATCH_TASKS`; times in seconds, plan_cpu 100 for one core,
        plan_mem in parts of a hundred of the largest memory.
    strict : bool
        Whether a table with tasks that have not run, or have no start and end in this order, is refused.

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
    found = BATCH_TASKS.read(path)
    statuses, codes = found.words("status", _status)
    has_run = np.array([status is not None for status in statuses], bool)[codes]
    outcome = np.array([Outcome.finish if one is None else one for one in statuses], np.int64)[codes]
    start, end, instances = (found[name] for name in ("start_time", "end_time", "instance_num"))
    is_running = outcome == Outcome.censored
    wrong = (start == 0) | ((end < start) & ~is_running)
    rules = {
        "have not run": ("status", ~has_run),
        "have no request": ("", absent("plan_cpu", "plan_mem")(found)),
        "have no start and end in this order": ("end_time", wrong),
    }
    left_out = {reason: _left_out(found, *rule, strict=strict) for reason, rule in rules.items()}
    rows = found.rows
    _refuse_many_instances(found, instances)
    cpu, memory = (found.amounts(name, nonnegative) for name in ("plan_cpu", "plan_mem"))
    last = int(np.maximum(start, end)[rows].max(initial=0))
    stay = np.where(is_running, last - start, end - start)[rows]
    zeros = np.zeros_like(stay)
    tasks = Tasks(start[rows], stay, outcome[rows], zeros, zeros, found.lines[rows])
    tasks.demand = {"cpu": (cpu[0][rows], cpu[1] / 100), "memory": (memory[0][rows], memory[1])}
    tasks.copies = instances[rows]
    tasks.begin_at_first_arrival()
    notes = [
        *found.notes,
        "the first start is time 0",
        "each task counts as so many jobs as it has instances, all from its start to its end",
        *(f"{count:,} tasks {reason}: dropped" for reason, count in left_out.items()),
    ]
    units = {"plan_cpu": "hundredths of a core", "plan_mem": "parts of a hundred of the largest memory"}
    reading = reading_of(BATCH_TASKS.name, found, BATCH_TASKS.columns, units, left_out)
    return replace(tasks.trace(ALIBABA_2018, notes=notes), reading=reading)


def _left_out(found: Records, column: str, which: Flags, *, strict: bool) -> int:
    """Leave rows out and return how many there were; refused if strict, where a column says so."""
    which = which & found.rows
    if strict and column and which.any():
        row = int(np.argmax(which))
        if column == "status":
            found.fail(row, column, f"expected the status of a task that ran, got {found.text(column, row)!r}")
        start, end = (int(found[name][row]) / 10**6 for name in ("start_time", "end_time"))
        found.fail(row, column, f"expected 0 < start <= end, got {start:g} and {end:g}")
    found.rows = found.rows & ~which
    return int(which.sum())


def _refuse_many_instances(found: Records, instances: Integers) -> None:
    so_far = np.cumsum(np.where(found.rows, np.minimum(instances, MOST_INSTANCES + 1), 0))
    if len(so_far) and so_far[-1] > MOST_INSTANCES:
        row = int(np.argmax(so_far > MOST_INSTANCES))
        found.fail(row, "instance_num", f"expected at most {MOST_INSTANCES:,} instances in all")


def is_alibaba_2018(first: list[str]) -> bool:
    """Return whether a first row is one of ``batch_task.csv``."""
    return len(first) == len(BATCH_TASKS.header) and first[1].removesuffix(".0").isdigit() and first[4].isalpha()
