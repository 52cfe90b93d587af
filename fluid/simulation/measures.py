"""What is measured while a system runs: sums by bins of time, a sketch of delays, and the log of the first events.

The event loops write every array in place. A bin ends at each edge, and the end of the warm-up is an edge, so a time
average over [W, T] is a sum over whole bins. The same `Measures` serve every model; arrays that a model has no use for
have width 0.

Delays are counted on a geometric scale: a delay d > 0 falls in bucket ceil(log d / log g) with g = (1 + e) / (1 - e),
and the middle of a bucket, 2 g^i / (1 + g), is within a fraction e of every delay in it. The quantile at q is that of
the delay of rank ceil(q n). Sketches of several runs are added.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import Common
from fluid.simulation.ticks import in_units, ratio
from theory.compiled import step

KINDS = ("arrival", "refusal", "departure", "migration", "preemption", "start", "ring")
"""Kinds of events in the log, by number."""

ARRIVAL, REFUSAL, DEPARTURE, MIGRATION, PREEMPTION, START, RING = range(7)

SUMS = ("jobs", "slots", "waiting", "load", "busy", "delay")
"""Fields that are sums of floats, by bin and group."""

COUNTS = ("arrivals", "starts", "ends", "preempted")
"""Fields that are counts, by bin and group."""

BY_BIN = (*SUMS, *COUNTS, "migrations", "reassigned")
"""Fields with a row for each bin."""

ONE = Fraction(1)
"""The tick of a system that is simulated in its own unit of time."""


class Measures(NamedTuple):
    """Sums over B bins of time, for G groups of jobs: the types, or groups of size classes."""

    edges: NDArray[np.float64]  # [B + 1]: ends of the bins, increasing from 0 to T
    now: NDArray[np.float64]  # [1]: the time up to which everything is counted
    bin: NDArray[np.int64]  # [1]: the bin that this time lies in, B at the end
    first: NDArray[np.int64]  # [1]: the first bin after the warm-up
    tick: NDArray[np.float64]  # [2]: a tick, in units of time, is the first over the second; the delays of the sketch
    # are in units of time
    events: NDArray[np.int64]  # [1]: arrivals, departures and rings of a policy's clocks so far
    # [B, G], integrals over time: jobs in service, slots that a reserving policy holds ready, jobs that wait, and the
    # sizes of the jobs that wait and of those in service
    jobs: NDArray[np.float64]
    slots: NDArray[np.float64]
    waiting: NDArray[np.float64]
    load: NDArray[np.float64]
    busy: NDArray[np.float64]
    delay: NDArray[np.float64]  # [B, G]: sum of the waiting times of the jobs that start
    # [B, G]: jobs that came, began their service, left after it, and were stopped
    arrivals: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    preempted: NDArray[np.int64]
    migrations: NDArray[np.int64]  # [B]: jobs that moved
    reassigned: NDArray[np.int64]  # [B]: servers that were given another configuration
    sketch: NDArray[np.int64]  # [N]: waiting times of the jobs that start after the warm-up, by buckets
    group: NDArray[np.int32]  # [n]: the group of each size class
    inside: NDArray[np.int64]  # [4, G]: jobs that wait, jobs in service, and the sizes of both, now
    log: NDArray[np.float64]  # [N, 5], the first N events: time, kind, type (or class, or clock), server, other server
    logged: NDArray[np.int64]  # [1]: rows of the log that are written


def bin_edges(until: float, warmup: float, bins: int = 200) -> tuple[NDArray[np.float64], int]:
    """Cut [0, T] into bins with an edge at the warm-up; return float64[B + 1] and the first bin after the warm-up.

    >>> bin_edges(10.0, 2.0, 4)
    (array([ 0.,  2.,  4.,  6.,  8., 10.]), 1)
    """
    # bins of the warm-up are about as long as the others, but not more of them
    before = round(bins * warmup / (until - warmup)) if warmup > 0 else 0
    before = min(bins, max(1, before)) if warmup > 0 else 0
    early = np.linspace(0.0, warmup, before + 1)[:-1]
    return np.concatenate([early, np.linspace(warmup, until, bins + 1)]), before


def new_measures(
    until: float,
    warmup: float,
    bins: int,
    groups: int,
    fields: tuple[str, ...],
    *,
    log: int = 0,
    group: NDArray[np.int32] | None = None,
    tick: Fraction = ONE,
) -> Measures:
    """Make empty measures with `bins` equal bins of [warmup, until], for a number of groups and of logged events.

    ``fields`` are those of `SUMS` and `COUNTS` that the model measures; the others have width 0. ``group`` int32[n] is
    the group of each size class, and ``tick`` that in which times are counted, those of ``until`` and ``warmup`` too.
    """
    edges, first = bin_edges(until, warmup, bins)
    count = len(edges) - 1
    width = {name: groups if name in fields else 0 for name in (*SUMS, *COUNTS)}
    sums: dict[str, Any] = {name: np.zeros((count, width[name])) for name in SUMS}
    counts: dict[str, Any] = {name: np.zeros((count, width[name]), np.int64) for name in COUNTS}
    return Measures(
        edges,
        now=np.zeros(1),
        bin=np.zeros(1, np.int64),
        first=np.full(1, first),
        tick=np.array(ratio(tick)),
        events=np.zeros(1, np.int64),
        **sums,
        **counts,
        migrations=np.zeros(count, np.int64),
        reassigned=np.zeros(count, np.int64),
        sketch=new_sketch(),
        group=np.zeros(0, np.int32) if group is None else group.astype(np.int32),
        inside=np.zeros((4, groups), np.int64),
        log=np.zeros((log, 5)),
        logged=np.zeros(1, np.int64),
    )


def reached(measures: Measures) -> Measures:
    """Keep the bins that an interrupted run has reached; the last of them ends now."""
    bins, now = int(measures.bin[0]), measures.now
    edges = measures.edges[: bins + 1]
    if bins < len(measures.edges) - 1 and now[0] > edges[-1]:
        bins, edges = bins + 1, np.append(edges, now)
    return measures._replace(edges=edges, **{name: getattr(measures, name)[:bins] for name in BY_BIN})


def measures_in_units(measures: Measures, tick: Fraction, until: float, warmup: float) -> Measures:
    """Return the measures of a run in ticks with times in units, of which the horizon and the warm-up are given."""
    if tick == ONE:
        return measures
    edges = in_units(measures.edges, tick)
    # as the caller wrote them, not within rounding of it; an interrupted run ends earlier
    for place, time in ((int(measures.first[0]), warmup), (len(edges) - 1, until)):
        if place < len(edges) and np.isclose(edges[place], time, rtol=1e-12, atol=0.0):
            edges[place] = time
    times: dict[str, Any] = {name: in_units(getattr(measures, name), tick) for name in ("now", *SUMS)}
    log = measures.log.copy()
    log[:, 0] = in_units(log[:, 0], tick)
    return measures._replace(edges=edges, tick=np.ones(2), log=log, **times)


@step
def accumulate(measures: Measures, state: Common, b: int, length: float) -> None:
    """Add the state as it is, over a length of time, to bin b: each model's loop has its own."""


@step
def advance(measures: Measures, state: Common, time: float) -> bool:
    """Count the state as it is up to a time; return whether that time is within the horizon."""
    now, b = measures.now[0], measures.bin[0]
    bins = len(measures.edges) - 1
    if b >= bins:
        return False
    # the state has been as it is since `now`: its integral is cut at every edge of a bin up to `time`
    while True:
        end = measures.edges[b + 1]
        accumulate(measures, state, b, (time if time < end else end) - now)
        if time < end:
            measures.now[0] = time
            return True
        now = end
        b += 1
        measures.bin[0] = b
        if b == bins:
            measures.now[0] = end
            return False


@step
def note(measures: Measures, kind: int, what: int, server: int, other: int) -> None:
    """Write a row of the event log while there are rows left."""
    row = measures.logged[0]
    if row < len(measures.log):
        measures.log[row, 0] = measures.now[0]
        measures.log[row, 1] = kind
        measures.log[row, 2] = what
        measures.log[row, 3] = server
        measures.log[row, 4] = other
        measures.logged[0] = row + 1


RELATIVE_ERROR = 0.005
"""e: a quantile of delays is off by at most this fraction of itself."""

_STEP = log((1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR))
_LOWEST = ceil(log(1e-9) / _STEP)
_BUCKETS = ceil(log(1e12) / _STEP) - _LOWEST + 2


def new_sketch() -> NDArray[np.int64]:
    """Make an empty sketch: zeros first, then the buckets from 1e-9 to 1e12."""
    return np.zeros(_BUCKETS, np.int64)


@step
def count_delay(sketch: NDArray[np.int64], delay: float) -> None:
    """Count one delay in its bucket."""
    bucket = 0
    if delay > 1e-9:
        bucket = int(np.ceil(np.log(delay) / _STEP)) - _LOWEST + 1
        bucket = min(max(bucket, 1), len(sketch) - 1)
    sketch[bucket] += 1


def quantile(sketch: NDArray[np.int64], q: float) -> float:
    """Return the delay of rank ceil(q n), NaN of an empty sketch.

    >>> sketch = new_sketch()
    >>> for delay in (0.0, 1.0, 2.0, 30.0): count_delay(sketch, delay)
    >>> quantile(sketch, 0.25), abs(quantile(sketch, 0.95) / 30 - 1) <= RELATIVE_ERROR
    (0.0, True)
    """
    total = int(sketch.sum())
    if not total:
        return float("nan")
    bucket = int(np.searchsorted(np.cumsum(sketch), max(1, ceil(q * total - 1e-9))))
    if bucket == 0:
        return 0.0
    # bucket i holds (g^(i-1), g^i], whose ends are both within a fraction e of 2 g^i / (1 + g)
    middle = 2 / (1 + float(np.exp(_STEP)))
    return float(np.exp((bucket - 1 + _LOWEST) * _STEP) * middle)
