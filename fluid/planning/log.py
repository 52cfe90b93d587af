"""The log of a plan: its jobs by type, the workload over time, its busiest window, and other logs made from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList
from fluid.traces.file import TraceFile
from fluid.traces.jobs import typed_jobs
from fluid.traces.model import MICROSECONDS
from theory.errors import InputError
from theory.instance import Instance

HOUR, DAY = 3600.0, 86400.0
PARTS = 10
"""Parts of a log that are drawn for a resampled one."""

SAMPLES = 20_000
"""Instants at which the jobs in service are counted for means by hour and day."""


@dataclass(frozen=True)
class PlannedLog:
    """Jobs of a log from time 0 to `until`, in seconds, and the types that they have.

    Attributes
    ----------
    instance : Instance
        Servers and types; its workload is not read.
    jobs : JobList
        By arrival; jobs in service at time 0 come then, each for what was left of its service.
    until : float
        The last arrival.
    begins : float or None
        Seconds from 1970 to time 0 where the log has dates.
    notes : tuple of str
        What was guessed, dropped and assumed.
    uncounted : tuple of str
        Resources of the types that no server names.
    """

    instance: Instance
    jobs: JobList
    until: float
    begins: float | None
    notes: tuple[str, ...]
    uncounted: tuple[str, ...] = ()

    @property
    def warmup(self) -> float:
        """Return when measuring begins: a fifth of the log, as in ``packproof simulate``."""
        return self.until / 5

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Return the mean number of jobs in service of each type from `warmup` to `until`, if none is refused."""
        times, types, durations = self.jobs
        inside = np.clip(times + durations, self.warmup, self.until) - np.clip(times, self.warmup, self.until)
        busy = np.bincount(types, weights=inside, minlength=len(self.instance.types))
        return np.asarray(busy / (self.until - self.warmup))

    def in_service(self, at: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the jobs of each type in service at instants, int64[J, len(at)]."""
        times, types, durations = self.jobs
        counts = []
        for j in range(len(self.instance.types)):
            of_type = types == j
            came = np.searchsorted(times[of_type], at, side="right")
            went = np.searchsorted(np.sort(times[of_type] + durations[of_type]), at, side="right")
            counts.append(came - went)
        return np.array(counts, np.int64)

    def profile(self, period: float, parts: int) -> list[float] | None:
        """Return the mean jobs in service in each part of a period, after `warmup`; None for less than two periods.

        Parts count from midnight, of weeks from Monday, in UTC where the log has dates, and else from its beginning.
        """
        span = self.until - self.warmup
        if span < 2 * period:
            return None
        at = self.warmup + (np.arange(SAMPLES) + 0.5) * span / SAMPLES
        # 1 January 1970 was a Thursday
        offset = 0.0 if self.begins is None else self.begins + 3 * DAY * (parts == 7)
        part = ((at + offset) % period * parts / period).astype(np.int64)
        total = self.in_service(at).sum(axis=0)
        return [float(total[part == i].mean()) for i in range(parts)]


def planned_log(
    file: TraceFile, instance: Instance, notes: tuple[str, ...] = (), uncounted: tuple[str, ...] = ()
) -> PlannedLog:
    """Read the log of a plan; `notes` come before those of the trace.

    Raises
    ------
    InputError
        A log with fewer than ten arrivals, or all of them at one time.
    """
    traced = typed_jobs(file, instance)
    jobs = traced.all
    until = float(jobs.times[-1])
    if len(jobs.times) < PARTS or until <= 0:
        raise InputError(f"{file.path}: expected at least {PARTS} arrivals over some time, got {len(jobs.times)}")
    begins = None if file.trace.begins is None else file.trace.begins / MICROSECONDS
    return PlannedLog(instance, jobs, until, begins, (*notes, *traced.notes), uncounted)


def window(log: PlannedLog, most: int) -> tuple[PlannedLog, float]:
    """Return the busiest part of a log with a number of arrivals, and when it begins; the whole log if it has no more.

    The busiest part is the one of the most work in the VMs that arrive; VMs in service as it begins come at its time 0.
    """
    times, types, durations = log.jobs
    if len(times) <= most:
        return log, 0.0
    work = np.concatenate([[0.0], np.cumsum(durations)])
    spans = np.maximum(times[most - 1 :] - times[: len(times) - most + 1], 1e-9)
    first = int(np.argmax((work[most:] - work[:-most]) / spans))
    begin = float(times[first])
    there = np.flatnonzero(times[:first] + durations[:first] > begin)
    chosen = np.concatenate([there, np.arange(first, first + most)])
    ends = times[chosen] + durations[chosen]
    moved = np.maximum(times[chosen] - begin, 0.0)
    part = JobList(moved, types[chosen], ends - begin - moved)
    begins = None if log.begins is None else log.begins + begin
    return PlannedLog(log.instance, part, float(moved[-1]), begins, log.notes), begin


def resampled(log: PlannedLog, rng: np.random.Generator) -> PlannedLog:
    """Return a log made of parts of another one, drawn with replacement, so that it has other busy and quiet times.

    Parts are the arrivals of whole days where there are five or more, so that hours keep their place, and else of ten
    equal spans of time. What comes after the last whole day stays.
    """
    times, types, durations = log.jobs
    parts = int(log.until // DAY) if log.until >= 5 * DAY else PARTS
    length = DAY if log.until >= 5 * DAY else log.until / PARTS
    # jobs that are there at time 0 stay, too
    edges = np.searchsorted(times, np.arange(parts + 1) * length, side="left")
    edges[0] = np.searchsorted(times, 0.0, side="right")
    order, moved = [np.arange(edges[0])], [times[: edges[0]]]
    for place, part in enumerate(rng.integers(parts, size=parts).tolist()):
        chosen = np.arange(edges[part], edges[part + 1])
        order.append(chosen)
        moved.append(times[chosen] + (place - part) * length)
    order.append(np.arange(edges[-1], len(times)))
    moved.append(times[edges[-1] :])
    every = np.concatenate(order)
    jobs = JobList(np.maximum(np.concatenate(moved), 0.0), types[every], durations[every])
    return PlannedLog(log.instance, jobs, log.until, log.begins, log.notes)


def grown(log: PlannedLog, growth: float, rng: np.random.Generator) -> PlannedLog:
    """Return a log with more arrivals: copies of jobs that are drawn, each moved by up to a hundredth of the log."""
    times, types, durations = log.jobs
    copies = np.sort(rng.integers(len(times), size=round(growth * len(times))))
    shift = rng.uniform(-0.01, 0.01, len(copies)) * log.until
    moved = np.where(times[copies] > 0, np.clip(times[copies] + shift, 0.0, log.until), 0.0)
    every = np.concatenate([times, moved])
    order = np.argsort(every, kind="stable")
    jobs = JobList(
        every[order],
        np.concatenate([types, types[copies]])[order],
        np.concatenate([durations, durations[copies]])[order],
    )
    return PlannedLog(log.instance, jobs, log.until, log.begins, log.notes)
