"""What is measured while a slotted queue runs.

Sums by bins of slots, by group of job classes, and a sketch of delays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.measures import by_bin
from fluid.simulation.sketch import new_sketch
from theory.jit import step


class SlottedMeasures(NamedTuple):
    """Sums over B bins of slots, for G groups of classes.

    Attributes
    ----------
    edges : float64[B + 1]
        Slots at which bins begin and end.
    now : int64[1]
        The last slot that was simulated.
    bin, first, events : int64[1]
        The bin it lies in, the first after the warm-up, arrivals and departures so far.
    group : int32[n]
        The group of each class.
    inside : int64[4, G]
        Jobs that wait, jobs in service, and the sizes of both, now.
    waiting, jobs, load, busy : float64[B, G]
        Their integrals over time.
    arrivals, starts, ends : int64[B, G]
    delay : float64[B, G]
        Sum of the waiting times, in slots, of the jobs that start.
    sketch : int64[N]
        Waiting times of the jobs that start after the warm-up.
    log : float64[N, 4]
        The first N rows (slot, kind, class, server), kinds as in `fluid.simulation.queue.measures`.
    logged : int64[1]
    """

    edges: NDArray[np.float64]
    now: NDArray[np.int64]
    bin: NDArray[np.int64]
    first: NDArray[np.int64]
    events: NDArray[np.int64]
    group: NDArray[np.int32]
    inside: NDArray[np.int64]
    waiting: NDArray[np.float64]
    jobs: NDArray[np.float64]
    load: NDArray[np.float64]
    busy: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    delay: NDArray[np.float64]
    sketch: NDArray[np.int64]
    log: NDArray[np.float64]
    logged: NDArray[np.int64]


def new_measures(edges: NDArray[np.float64], first: int, group: NDArray[np.int32], log: int = 0) -> SlottedMeasures:
    """Make empty measures over the given bins."""
    bins, groups = len(edges) - 1, int(group.max()) + 1
    return SlottedMeasures(
        edges,
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.full(1, first),
        np.zeros(1, np.int64),
        group.astype(np.int32),
        inside=np.zeros((4, groups), np.int64),
        **by_bin(bins, groups, ("waiting", "jobs", "load", "busy", "delay"), ("arrivals", "starts", "ends")),
        sketch=new_sketch(),
        log=np.zeros((log, 4)),
        logged=np.zeros(1, np.int64),
    )


@step
def advance(measures: SlottedMeasures, slot: int) -> bool:
    """Count the system as it is up to a slot; return whether that slot is within the horizon."""
    b = measures.bin[0]
    last = len(measures.edges) - 2
    if b > last:
        return False
    now = float(measures.now[0])
    while True:
        end = measures.edges[b + 1]
        length = (slot if slot < end else end) - now
        if length > 0.0:
            for g in range(measures.inside.shape[1]):
                measures.waiting[b, g] += length * measures.inside[0, g]
                measures.jobs[b, g] += length * measures.inside[1, g]
                measures.load[b, g] += length * measures.inside[2, g]
                measures.busy[b, g] += length * measures.inside[3, g]
        if slot < end:
            measures.now[0] = slot
            return True
        now = end
        b += 1
        measures.bin[0] = b
        if b > last:
            return False
