"""The Alibaba cluster traces: the pods of the GPU trace of 2023, and the batch tasks of 2018.

The reader of 2018 follows the published schema (``schema.txt`` of cluster-trace-v2018 in alibaba/clusterdata) and was
tried on small files made by hand, not on the trace itself.
"""

from __future__ import annotations

from pathlib import Path

from fluid.traces.model import ALIBABA, ALIBABA_2018, Outcome, Trace
from fluid.traces.typed_table import (
    ABSENT,
    ORDER,
    Dropped,
    NeverRanError,
    Row,
    Schema,
    Tasks,
    rows,
    rows_without_header,
    ticks,
    whole,
)

PODS: Schema = {
    "cpu_milli": whole,
    "memory_mib": str,
    "num_gpu": whole,
    "gpu_milli": whole,
    "qos": str,
    "creation_time": ticks,
    "deletion_time": ticks,
    "scheduled_time": ticks,
}
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
    place = Path(path)
    tasks = Tasks(place, ("cpu", "memory", "gpu"))
    labels: dict[str, int] = {}
    pending, never = 0, Dropped()
    ends: list[int] = []
    for row in rows(place, PODS):
        if not row.text("scheduled_time"):
            pending += 1
            continue
        try:
            created, begun, deleted = _times_of_pod(row)
        except NeverRanError as why:
            never.add(row.line, why)
            continue
        cpu, share, gpus = row["cpu_milli"], row["gpu_milli"], row["num_gpu"]
        demand = (f"{cpu}/1000", row["memory_mib"], f"{gpus * share}/1000")
        tasks.check_demand(row.line, demand)
        ends.append(deleted)
        label = labels.setdefault(row["qos"], len(labels))
        tasks.add(row.line, created, deleted - begun, Outcome.finish, 0, label, demand)
    never.refuse_many(place, len(tasks.line), strict=strict)
    last = max(ends, default=0)
    tasks.outcome = [Outcome.censored if end == last else Outcome.finish for end in ends]
    tasks.begin_at_first_arrival()
    notes = [
        f"{pending:,} pods never scheduled dropped",
        "the first creation is time 0",
        f"{tasks.outcome.count(Outcome.censored):,} pods are there to the last moment: right-censored there",
        *never.notes,
    ]
    return tasks.trace(ALIBABA, tuple(labels), notes)


def _times_of_pod(row: Row) -> tuple[int, int, int]:
    """Return when a pod was created, began to run and was deleted."""
    for name in ("creation_time", "scheduled_time", "deletion_time"):
        cell = row.text(name).strip()
        if cell.lower() in ABSENT or cell == "-1":
            raise NeverRanError(f"without {name}", name, f"expected a number of at least 0, got {cell!r}")
    created, scheduled, deleted = (row[name] for name in ("creation_time", "scheduled_time", "deletion_time"))
    begun = max(created, scheduled)
    if deleted < begun:
        problem = f"expected a time after the schedule, got {row.text('deletion_time')}"
        raise NeverRanError(ORDER, "deletion_time", problem)
    return created, begun, deleted


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


def _seconds(text: str) -> int:
    return ticks(text.strip() or "0")


BATCH_TASKS: Schema = {
    "task_name": str,
    "instance_num": lambda text: whole(text.strip().removesuffix(".0")),
    "job_name": str,
    "task_type": str,
    "status": _status,
    "start_time": _seconds,
    "end_time": _seconds,
    "plan_cpu": str.strip,
    "plan_mem": str.strip,
}
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
    place = Path(path)
    tasks = Tasks(place, ("cpu", "memory"))
    dropped = {"have not run": 0, "have no request": 0, "have no start and end in this order": 0}
    running: list[int] = []
    last = 0
    for row in rows_without_header(place, BATCH_TASKS):
        outcome, start, end, instances = (row[name] for name in ("status", "start_time", "end_time", "instance_num"))
        cpu, memory = row["plan_cpu"], row["plan_mem"]
        if outcome is None:
            dropped["have not run"] += 1
            if strict:
                row.fail("status", f"expected the status of a task that ran, got {row.text('status').strip()!r}")
        elif not (cpu and memory):
            dropped["have no request"] += 1
        elif start == 0 or (end < start and outcome is not Outcome.censored):
            dropped["have no start and end in this order"] += 1
            if strict:
                row.fail("end_time", f"expected 0 < start <= end, got {start / 10**6:g} and {end / 10**6:g}")
        else:
            last = max(last, start, end)
            demand = (f"{cpu}e-2", memory)
            tasks.check_demand(row.line, demand)
            if len(tasks.line) + instances > MOST_INSTANCES:
                row.fail("instance_num", f"expected at most {MOST_INSTANCES:,} instances in all")
            for _ in range(instances):
                if outcome is Outcome.censored:
                    running.append(len(tasks.line))
                tasks.add(row.line, start, end - start, outcome, 0, 0, demand)
    for i in running:
        tasks.duration[i] = last - tasks.arrival[i]
    tasks.begin_at_first_arrival()
    notes = [
        "the first start is time 0",
        "each task counts as so many jobs as it has instances, all from its start to its end",
        *(f"{count:,} tasks {reason}: dropped" for reason, count in dropped.items()),
    ]
    return tasks.trace(ALIBABA_2018, notes=notes)


def is_alibaba_2018(first: list[str]) -> bool:
    """Return whether a first row is one of ``batch_task.csv``."""
    return len(first) == len(BATCH_TASKS) and first[1].removesuffix(".0").isdigit() and first[4].isalpha()
