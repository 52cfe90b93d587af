"""The Alibaba GPU cluster trace of 2023."""

from __future__ import annotations

from pathlib import Path

from fluid.traces.model import ALIBABA, Outcome, Trace
from fluid.traces.rows import Tasks, fail, rows, ticks, whole

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
