"""What is in a trace: its span, stays, ties, distinct demands and peaks, and what looks wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fluid.traces.model import MICROSECONDS, Doubt, Oddity, Trace
from theory.numbers import many
from theory.rows import unique_rows

COMMON = 10
"""Demands that are shown: those that most tasks have."""

SHARE = 0.1
"""A tenth of all rows left out, or of all arrivals at the first instant, looks wrong."""

FEW = 10
"""So many such rows are few, whatever their share."""


@dataclass(frozen=True)
class Stays:
    """Stays in seconds; `at_once` counts those of 0, `unended` those that the end of the log cut off."""

    shortest: float
    longest: float
    mean: float
    median: float
    at_once: int
    unended: int


@dataclass(frozen=True)
class Ties:
    """Arrivals at the instant of another one, the most of one instant, and arrivals at which another task leaves.

    `step` is the largest unit of time, in seconds, in which all arrivals and stays are whole; 0 where all are 0.
    """

    arrivals: int
    most: int
    with_departure: int
    step: Fraction


@dataclass(frozen=True)
class Demand:
    """A demand by resource, or a type by its name, and the number of tasks that have it."""

    type: str
    demand: dict[str, Fraction]
    tasks: int


@dataclass(frozen=True)
class Peak:
    """The most of a resource in service at one instant, in seconds after the first arrival, its mean, and its largest.

    The mean is from the first arrival to the last; the largest is that of one task.
    """

    resource: str
    most: float
    at: float
    mean: float
    largest: float


@dataclass(frozen=True)
class Described:
    """What is in a trace; `span` is from its first arrival to its last, in seconds."""

    tasks: int
    span: float
    stays: Stays
    ties: Ties
    distinct: int
    common: tuple[Demand, ...]
    peaks: tuple[Peak, ...]
    doubts: tuple[str, ...]


def describe(trace: Trace) -> Described:
    """Describe a trace of at least one task.

    Notes
    -----
    Tasks that leave at an instant have left for those that come then; a task that stays for 0 seconds is in service as
    it comes, and has left for the next. O(n log n).
    """
    times, stays = np.maximum(trace.arrival, 0), trace.duration
    first, last = int(times.min()), int(times.max())
    distinct, common = _demands(trace)
    lengths = (stays.min(), stays.max(), stays.mean(dtype=float), np.median(stays))
    shortest, longest, mean, median = (float(x) / MICROSECONDS for x in lengths)
    at_once, unended = int((stays == 0).sum()), int(trace.censored.sum())
    lasting = Stays(shortest, longest, mean, median, at_once, unended)
    ties = _ties(times, stays)
    peaks = _peaks(trace, times - first, last - first)
    doubts = _doubts(trace, times, lasting)
    return Described(len(trace), (last - first) / MICROSECONDS, lasting, ties, distinct, common, peaks, doubts)


def _ties(times: NDArray[np.int64], stays: NDArray[np.int64]) -> Ties:
    in_order = np.sort(times)
    counts = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(in_order) > 0, [True]])))
    ends = np.append(np.sort((times + stays)[stays > 0]), -1)
    leaving = ends[np.searchsorted(ends[:-1], times)] == times  # the last is no time
    step = int(np.gcd(np.gcd.reduce(times - times.min()), np.gcd.reduce(stays)))
    together = int(counts[counts > 1].sum())
    return Ties(together, int(counts.max(initial=0)), int(leaving.sum()), Fraction(step, MICROSECONDS))


def _demands(trace: Trace) -> tuple[int, tuple[Demand, ...]]:
    """Return the number of distinct demands, or of types, and the most common ones."""
    rows = trace.demand if trace.resources else trace.label[:, None]
    distinct, _, codes = unique_rows(rows)
    counts = np.bincount(codes, minlength=len(distinct))
    order = np.argsort(-counts, kind="stable")[:COMMON]
    common = []
    for i in order.tolist():
        name, demand = "", {}
        if trace.resources:
            amounts = zip(trace.resources, distinct[i].tolist(), trace.unit, strict=True)
            demand = {resource: number * unit for resource, number, unit in amounts}
        elif trace.labels:
            name = trace.labels[int(distinct[i, 0])]
        common.append(Demand(name, demand, int(counts[i])))
    return len(distinct), tuple(common)


def _peaks(trace: Trace, times: NDArray[np.int64], span: int) -> tuple[Peak, ...]:
    """Return the peak of the number of tasks, and of each resource."""
    count, stays = len(times), trace.duration
    index = np.arange(count)
    # by time; departures before arrivals, but of a task that stays for no time right after its arrival
    coming = np.repeat(index, 1 + (stays == 0))
    is_end = np.diff(coming, prepend=-1) == 0
    tasks = np.concatenate([index[stays > 0], coming])
    leaves = np.concatenate([np.ones(int((stays > 0).sum()), bool), is_end])
    moments = times[tasks] + np.where(leaves, stays[tasks], 0)
    order = np.argsort(moments, kind="stable")
    sign = np.where(leaves, -1, 1)[order]
    inside = np.clip(times + stays, 0, span) - times
    columns = {"tasks": (np.ones(count, np.int64), Fraction(1))}
    for r, name in enumerate(trace.resources):
        columns[name] = trace.demand[:, r], trace.unit[r]
    peaks = []
    for name, (amounts, unit) in columns.items():
        in_service = np.cumsum(amounts[tasks][order] * sign)
        place = int(np.argmax(in_service))
        mean = float((amounts.astype(float) * inside).sum() / span) if span else float(amounts.sum())
        most, at = float(int(in_service[place]) * unit), float(moments[order[place]]) / MICROSECONDS
        peaks.append(Peak(name, most, at, mean * float(unit), float(int(amounts.max()) * unit)))
    return tuple(peaks)


def _doubts(trace: Trace, times: NDArray[np.int64], stays: Stays) -> tuple[str, ...]:
    """Return what looks wrong."""
    doubts = []
    ends = times + trace.duration
    reading = trace.reading
    if reading is not None:
        missing = sum(count for _, count in reading.left_out) - reading.parts
        if missing > SHARE * reading.rows and missing > FEW:
            doubts.append(f"{missing:,} of {reading.rows:,} rows are left out")
    at_first = int((times == times.min()).sum())
    if at_first > max(FEW, SHARE * len(times)):
        doubts.append(f"{at_first:,} of {len(times):,} tasks come at the first instant: were they there before?")
    at_last = int(((ends == ends.max()) & ~trace.censored).sum())
    if at_last > FEW:
        doubts.append(f"{at_last:,} tasks end at the last moment of all: did the log end before they did?")
    if stays.at_once:
        doubts.append(f"{many(stays.at_once, 'stay')} of 0 seconds: did these tasks run, or are times too coarse?")
    if stays.unended > SHARE * len(times):
        doubts.append(f"{stays.unended:,} of {len(times):,} tasks were still there when the log ended")
    noted = [note for note in trace.notes if isinstance(note, Oddity)]
    first, others = ([str(note) for note in noted if isinstance(note, Doubt) == is_first] for is_first in (True, False))
    return (*first, *doubts, *others)
