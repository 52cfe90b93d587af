"""What is measured while a system runs: sums by bins of time, the source of averages, batch means and curves.

Every array is written by the event loop in place. A bin ends at each edge; the end of the warm-up is an edge, so a time
average over [W, T] is a sum of whole bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.state import Common
from theory.jit import step

ARRIVAL, REFUSAL, DEPARTURE, MIGRATION, PREEMPTION = 0, 1, 2, 3, 4
"""Kinds of rows in the event log."""

KINDS = ("arrival", "refusal", "departure", "migration", "preemption")
"""Their names."""


class Measures(NamedTuple):
    """Sums over B bins of time, for J types.

    Attributes
    ----------
    edges : float64[B + 1]
        Ends of the bins, increasing from 0 to T.
    now : float64[1]
        The time up to which all is counted.
    bin : int64[1]
        The bin that it lies in; B at the end.
    events : int64[1]
        Arrivals and departures so far.
    jobs, slots : float64[B, J]
        Integrals over time of the jobs in service and of the slots held ready.
    arrivals, accepted, preempted : int64[B, J]
        How many.
    migrations, reassigned : int64[B]
        How many.
    log : float64[N, 5]
        The first N rows (time, kind, type, server, other server).
    logged : int64[1]
        Rows written.
    """

    edges: NDArray[np.float64]
    now: NDArray[np.float64]
    bin: NDArray[np.int64]
    events: NDArray[np.int64]
    jobs: NDArray[np.float64]
    slots: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    accepted: NDArray[np.int64]
    preempted: NDArray[np.int64]
    migrations: NDArray[np.int64]
    reassigned: NDArray[np.int64]
    log: NDArray[np.float64]
    logged: NDArray[np.int64]


def bin_edges(until: float, warmup: float, bins: int = 200) -> tuple[NDArray[np.float64], int]:
    """Cut [0, T] into bins with an edge at the warm-up.

    Returns
    -------
    edges : float64[B + 1]
    first : int
        The first bin after the warm-up; `bins` of equal length follow.

    Examples
    --------
    >>> bin_edges(10.0, 2.0, 4)
    (array([ 0.,  2.,  4.,  6.,  8., 10.]), 1)
    """
    before = round(bins * warmup / (until - warmup)) if warmup > 0 else 0
    before = min(bins, max(1, before)) if warmup > 0 else 0
    early = np.linspace(0.0, warmup, before + 1)[:-1]
    return np.concatenate([early, np.linspace(warmup, until, bins + 1)]), before


def by_bin(bins: int, width: int, sums: Sequence[str], counts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Make empty arrays, a row a bin: sums of floats, and counts."""
    made: dict[str, NDArray[Any]] = {name: np.zeros((bins, width)) for name in sums}
    return made | {name: np.zeros((bins, width), np.int64) for name in counts}


def new_measures(edges: NDArray[np.float64], types: int, log: int = 0) -> Measures:
    """Make empty measures over the given bins."""
    bins = len(edges) - 1
    return Measures(
        edges,
        np.zeros(1),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        **by_bin(bins, types, ("jobs", "slots"), ("arrivals", "accepted", "preempted")),
        migrations=np.zeros(bins, np.int64),
        reassigned=np.zeros(bins, np.int64),
        log=np.zeros((log, 5)),
        logged=np.zeros(1, np.int64),
    )


@step
def advance(measures: Measures, state: Common, time: float) -> bool:
    """Count the state as it is up to a time; return whether that time is within the horizon."""
    now, b = measures.now[0], measures.bin[0]
    last = len(measures.edges) - 2
    while True:
        end = measures.edges[b + 1]
        step = (time if time < end else end) - now
        for j in range(len(state.totals)):
            measures.jobs[b, j] += step * state.totals[j]
            measures.slots[b, j] += step * state.slots[j]
        if time < end:
            measures.now[0] = time
            return True
        now = end
        if b == last:
            measures.now[0] = end
            return False
        b += 1
        measures.bin[0] = b


@step
def note(measures: Measures, kind: int, job_type: int, server: int, other: int) -> None:
    """Write a row of the event log while there is room."""
    row = measures.logged[0]
    if row < len(measures.log):
        measures.log[row, 0] = measures.now[0]
        measures.log[row, 1] = kind
        measures.log[row, 2] = job_type
        measures.log[row, 3] = server
        measures.log[row, 4] = other
        measures.logged[0] = row + 1
