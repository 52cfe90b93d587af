"""What is measured while a queue runs: sums by bins of time (see `fluid.simulation.measures`), and a sketch of delays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.measures import by_bin
from fluid.simulation.sketch import new_sketch
from theory.jit import step

ARRIVAL, START, DEPARTURE, RING = 0, 1, 2, 3
"""Kinds of rows in the event log."""

KINDS = ("arrival", "start", "departure", "ring")
"""Their names."""


class QueueMeasures(NamedTuple):
    """Sums over B bins of time, for J types.

    Attributes
    ----------
    edges : float64[B + 1]
    now : float64[1]
        The time up to which all is counted.
    bin : int64[1]
    first : int64[1]
        The first bin after the warm-up.
    events : int64[1]
        Arrivals, departures and rings so far.
    waiting, jobs : float64[B, J]
        Integrals over time of the jobs that wait and that are in service.
    arrivals, starts, ends : int64[B, J]
        How many.
    delay : float64[B, J]
        Sum of the waiting times of the jobs that start.
    sketch : int64[N]
        Waiting times of the jobs that start after the warm-up.
    log : float64[N, 4]
        The first N rows (time, kind, type or clock, server).
    logged : int64[1]
    """

    edges: NDArray[np.float64]
    now: NDArray[np.float64]
    bin: NDArray[np.int64]
    first: NDArray[np.int64]
    events: NDArray[np.int64]
    waiting: NDArray[np.float64]
    jobs: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    delay: NDArray[np.float64]
    sketch: NDArray[np.int64]
    log: NDArray[np.float64]
    logged: NDArray[np.int64]


def new_measures(edges: NDArray[np.float64], first: int, types: int, log: int = 0) -> QueueMeasures:
    """Make empty measures over the given bins (`fluid.simulation.measures.bin_edges`)."""
    bins = len(edges) - 1
    return QueueMeasures(
        edges,
        np.zeros(1),
        np.zeros(1, np.int64),
        np.full(1, first),
        np.zeros(1, np.int64),
        **by_bin(bins, types, ("waiting", "jobs", "delay"), ("arrivals", "starts", "ends")),
        sketch=new_sketch(),
        log=np.zeros((log, 4)),
        logged=np.zeros(1, np.int64),
    )


@step
def advance(measures: QueueMeasures, state: Any, time: float) -> bool:
    """Count the state as it is up to a time; return whether that time is within the horizon."""
    now, b = measures.now[0], measures.bin[0]
    last = len(measures.edges) - 2
    if b > last:
        return False
    while True:
        end = measures.edges[b + 1]
        step = (time if time < end else end) - now
        for j in range(len(state.totals)):
            measures.waiting[b, j] += step * state.waiting[j]
            measures.jobs[b, j] += step * state.totals[j]
        if time < end:
            measures.now[0] = time
            return True
        now = end
        b += 1
        measures.bin[0] = b
        if b > last:
            measures.now[0] = end
            return False


@step
def note(measures: Any, kind: int, what: int, server: int) -> None:
    """Write a row of the event log while there is room."""
    row = measures.logged[0]
    if row < len(measures.log):
        measures.log[row, 0] = measures.now[0]
        measures.log[row, 1] = kind
        measures.log[row, 2] = what
        measures.log[row, 3] = server
        measures.logged[0] = row + 1
