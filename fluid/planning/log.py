"""The log of a plan: its jobs by type, the workload over time, and other logs made from it.

All times are whole microseconds, so that a VM that leaves at an instant has left for those that come at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fluid.planning.too_large import TooLarge
from fluid.simulation.arrivals import JobList
from fluid.simulation.ticks import in_ticks, in_units
from fluid.traces.file import TraceFile
from fluid.traces.jobs import TICK, jobs_of_types, typed_jobs
from fluid.traces.model import MICROSECONDS, Trace
from theory.errors import ArgumentError, InputError, listed, meant
from theory.instance import Instance

HOUR, DAY = 3600 * MICROSECONDS, 86400 * MICROSECONDS
PARTS = 10
"""Parts of a log that are drawn for a resampled one."""

SAMPLES = 20_000
"""Instants at which the jobs in service are counted for means by hour and day."""


@dataclass(frozen=True)
class PlannedLog:
    """Jobs of a log from time 0 to `until`, and the types that they have.

    Attributes
    ----------
    instance : Instance
        Servers and types; its workload is not read.
    jobs : JobList
        By arrival; jobs in service at time 0 come then, each for what was left of its service.
    until : int or float
        Just beyond the last arrival, so that every job is counted.
    begins : int or None
        Microseconds from 1970 to time 0 where the log has dates.
    notes : tuple of str
        What was guessed, dropped and assumed.
    uncounted : tuple of str
        Resources of the types that no server names.
    warmup : int or float
        When measuring begins: what comes before is simulated, and not counted.
    trace : Trace or None
        What was read, where the log is one of a file.
    growth : tuple of (str, Fraction)
        By how much types were made to grow (`with_growth`), all of them under an empty name.
    too_large : tuple of TooLarge
        Tasks that fit no server and are left out.
    """

    instance: Instance
    jobs: JobList
    until: float
    begins: float | None
    notes: tuple[str, ...]
    uncounted: tuple[str, ...] = ()
    warmup: float = 0
    trace: Trace | None = None
    growth: tuple[tuple[str, Fraction], ...] = ()
    too_large: tuple[TooLarge, ...] = ()

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

    @cached_property
    def sampled(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Instants of equal distance from `warmup` on, and the jobs in service then, float64[S] and int64[S]."""
        at = self.warmup + (np.arange(SAMPLES) + 0.5) * (self.until - self.warmup) / SAMPLES
        return at, self.in_service(at).sum(axis=0)

    def after_arrivals(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return jobs after which the number in service may be greatest, int64[N], and those in service, int32[J, N].

        What is before the end of the warm-up does not count. They are the last job that comes at each instant, and
        every job of duration 0, which is in service as it comes and has left for the next. A job and the numbers in
        service after it are in the same place of both arrays.
        """
        times, types, durations = self.jobs
        is_last = np.append(np.diff(times) > 0, True)
        is_instant = np.equal(durations, 0)
        chosen = np.flatnonzero(is_last | is_instant)
        # of those before the end of the warm-up the last stands for what is in service then
        chosen = chosen[max(int(np.searchsorted(times[chosen], self.warmup)) - 1, 0) :]
        at, is_early = np.maximum(times[chosen], self.warmup), times[chosen] < self.warmup
        # the place of the first chosen job that counts each job, and that of the first for which it has left
        is_chosen = np.zeros(len(times), np.int64)
        is_chosen[chosen] = 1
        comes = np.cumsum(is_chosen) - is_chosen
        leaves = np.searchsorted(at, times + durations, side="left")
        leaves[is_instant] = np.searchsorted(chosen + is_early, np.flatnonzero(is_instant), side="right")
        counts = np.zeros((len(self.instance.types), len(chosen)), np.int32)
        for j, row in enumerate(counts):
            of_type = np.flatnonzero(types == j)
            came, left = (np.bincount(first[of_type], minlength=len(chosen) + 1) for first in (comes, leaves))
            np.cumsum((came - left)[:-1], out=row)
        return chosen, counts

    def profile(self, period: float, parts: int) -> list[float] | None:
        """Return the mean jobs in service in each part of a period, from `warmup` on; None for less than two periods.

        Parts count from midnight, of weeks from Monday, in UTC where the log has dates, and else from its beginning.
        """
        span = self.until - self.warmup
        if span < 2 * period:
            return None
        at, total = self.sampled
        # 1 January 1970 was a Thursday
        offset = 0.0 if self.begins is None else self.begins + 3 * DAY * (parts == 7)
        part = ((at + offset) % period * parts / period).astype(np.int64)
        return [float(total[part == i].mean()) for i in range(parts)]


def planned_log(
    file: TraceFile,
    instance: Instance,
    notes: tuple[str, ...] = (),
    uncounted: tuple[str, ...] = (),
    warmup: float = 0.0,
    types: NDArray[np.int64] | None = None,
) -> PlannedLog:
    """Read the log of a plan; `notes` come before those of the trace, and `warmup` is in seconds.

    `types` are those of the tasks of the trace, where they are known; tasks with -1 are left out.

    Time 0 is the first arrival, or when the trace opens if jobs are in service then.

    Raises
    ------
    InputError
        A log with fewer than ten arrivals, or all of them at one time; a warm-up after which none arrives.
    """
    traced = typed_jobs(file, instance) if types is None else jobs_of_types(file, types)
    jobs = traced.all
    there = jobs.types >= 0
    if not there.all():
        jobs = JobList(jobs.times[there], jobs.types[there], jobs.durations[there])
    if len(jobs.times) < PARTS:
        raise InputError(file.path, "", f"expected at least {PARTS} arrivals over some time, got {len(jobs.times)}")
    first = int(jobs.times[0])
    times = jobs.times - first
    last = int(times[-1])
    if last <= 0:
        raise InputError(file.path, "", f"expected at least {PARTS} arrivals over some time, got {len(times)}")
    start = in_ticks(warmup, TICK)
    if not 0 <= start <= last:
        most = in_units(last, TICK)
        raise ArgumentError(
            "warmup", f"expected seconds from 0 to {most:.15g}, when the last VM arrives; got {warmup:.15g}"
        )
    begins = None if file.trace.begins is None else file.trace.begins + first
    moved = JobList(times, jobs.types, jobs.durations)
    return PlannedLog(instance, moved, last + 1, begins, (*notes, *traced.notes), uncounted, start, file.trace)


def resampled(log: PlannedLog, rng: np.random.Generator) -> PlannedLog:
    """Return a log made of parts of another one, drawn with replacement, so that it has other busy and quiet times.

    Parts are the arrivals of whole days where there are five or more, so that hours keep their place, and else of ten
    equal spans of time. What comes after the last whole day stays.
    """
    times, types, durations = log.jobs
    parts = int(log.until // DAY) if log.until >= 5 * DAY else PARTS
    length = DAY if log.until >= 5 * DAY else int(-(-log.until // PARTS))
    # jobs that are there at time 0 stay, too
    edges = np.searchsorted(times, np.arange(parts + 1) * length, side="left")
    edges[0] = np.searchsorted(times, 0, side="right")
    order, moved = [np.arange(edges[0])], [times[: edges[0]]]
    for place, part in enumerate(rng.integers(parts, size=parts).tolist()):
        chosen = np.arange(edges[part], edges[part + 1])
        order.append(chosen)
        moved.append(times[chosen] + (place - part) * length)
    order.append(np.arange(edges[-1], len(times)))
    moved.append(times[edges[-1] :])
    every = np.concatenate(order)
    jobs = JobList(np.maximum(np.concatenate(moved), 0), types[every], durations[every])
    return replace(log, jobs=jobs, until=max(log.until, jobs.times[-1] + 1))


def grown(log: PlannedLog, growth: float, rng: np.random.Generator) -> PlannedLog:
    """Return a log with more arrivals: copies of jobs that are drawn, each moved by up to a hundredth of the log."""
    copies = np.sort(rng.integers(len(log.jobs.times), size=round(growth * len(log.jobs.times))))
    return _with_copies(log, copies, rng)


def with_growth(log: PlannedLog, growth: Mapping[str, Fraction], rng: np.random.Generator) -> PlannedLog:
    """Return a log in which there are so many times the jobs of a type; of all types under an empty name.

    More jobs are copies of jobs that are drawn, each moved by up to a hundredth of the log; of fewer those that stay
    are drawn.

    Raises
    ------
    ArgumentError
        A name that is no type, a factor below 0, or factors that leave less than ten jobs.
    """
    strange = next((name for name in growth if name and name not in log.instance.names), None)
    if strange is not None:
        names = log.instance.names
        raise ArgumentError(
            "grow", f"{strange[:60]}: expected a type of the log, {listed(names)}{meant(strange, names)}"
        )
    chosen: list[NDArray[np.int64]] = []
    copies: list[NDArray[np.int64]] = []
    for j, name in enumerate(log.instance.names):
        factor = growth.get(name, growth.get("", Fraction(1)))
        if factor < 0:
            raise ArgumentError("grow", f"expected a factor of at least 0, got {factor}")
        of_type = np.flatnonzero(log.jobs.types == j)
        wanted = round(factor * len(of_type))
        chosen.append(rng.permutation(of_type)[:wanted])
        copies.append(rng.choice(of_type, max(wanted - len(of_type), 0)))
    stay, more = np.sort(np.concatenate(chosen)), np.sort(np.concatenate(copies))
    if len(stay) + len(more) < PARTS:
        raise ArgumentError("grow", f"expected at least {PARTS} VMs that are left, got {len(stay) + len(more)}")
    longer = _with_copies(log, more, rng, stay)
    return replace(longer, growth=tuple(growth.items()))


def _with_copies(
    log: PlannedLog, copies: NDArray[np.int64], rng: np.random.Generator, stay: NDArray[np.int64] | None = None
) -> PlannedLog:
    """Return a log with copies of jobs, each moved by up to a hundredth of the log, beside those that stay (all)."""
    times, types, durations = log.jobs
    shift = np.rint(rng.uniform(-0.01, 0.01, len(copies)) * log.until).astype(np.int64)
    moved = np.where(times[copies] > 0, np.clip(times[copies] + shift, 0, times[-1]), 0)
    rows = np.concatenate([np.arange(len(times)) if stay is None else stay, copies])
    every = np.concatenate([times if stay is None else times[stay], moved])
    order = np.argsort(every, kind="stable")
    jobs = JobList(every[order], types[rows][order], durations[rows][order])
    return replace(log, jobs=jobs)
