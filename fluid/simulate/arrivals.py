"""Arrivals of any law: a renewal stream for each type, single or in batches, or a trace with a duration for every job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulate.laws import Law, Times, draw_time, times
from theory.compiled import step
from theory.errors import InputError


@dataclass(frozen=True)
class ArrivalLaw:
    """How jobs arrive.

    Attributes
    ----------
    between : Law
        Times between arrivals of a type; exponential: Poisson arrivals.
    batch : float
        Mean jobs in a batch; the rate of batches is that of jobs divided by it.
    geometric : bool
        Whether batches have geometric sizes 1, 2, ...; otherwise `batch` is a whole number and all are equal.
    """

    between: Law = Law()
    batch: float = 1.0
    geometric: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= 1e6 or (not self.geometric and self.batch != int(self.batch)):
            raise InputError(f"batch: expected a whole number (geometric sizes: any) from 1, got {self.batch!r}")

    @property
    def is_poisson(self) -> bool:
        """Whether single jobs arrive in Poisson streams."""
        return self.between.name == "exponential" and self.batch == 1


class Trace(NamedTuple):
    """Jobs that arrive at given times.

    Attributes
    ----------
    times : float64[N]
        Not decreasing, from 0 on.
    types : int32[N]
    durations : float64[N]
        Service time of each job.
    """

    times: NDArray[np.float64]
    types: NDArray[np.int32]
    durations: NDArray[np.float64]


NO_TRACE = Trace(np.zeros(0), np.zeros(0, np.int32), np.zeros(0))


class Arrivals(NamedTuple):
    """The streams in the form of arrays, and where they are.

    Attributes
    ----------
    between_law, between_shape :
        See `fluid.simulate.laws.Times`.
    batch : float64[2]
        Mean size, and 1 where sizes are geometric.
    upcoming : float64[J]
        Time of the next batch of each type.
    pending : int64[2]
        Type of the batch that is arriving, and how many of it are still to come.
    trace_times, trace_types, trace_durations :
        See `Trace`; empty where there is none.
    position : int64[1]
        Next row of the trace.
    """

    between_law: NDArray[np.int64]
    between_shape: NDArray[np.float64]
    batch: NDArray[np.float64]
    upcoming: NDArray[np.float64]
    pending: NDArray[np.int64]
    trace_times: NDArray[np.float64]
    trace_types: NDArray[np.int32]
    trace_durations: NDArray[np.float64]
    position: NDArray[np.int64]


def new_arrivals(law: ArrivalLaw, rates: NDArray[np.float64], draws: Any, trace: Trace | None = None) -> Arrivals:
    """Start the streams at time 0: rates in jobs per unit time of each type; a trace replaces them."""
    quiet = rates <= 0 if trace is None else np.ones(len(rates), bool)
    with np.errstate(divide="ignore"):
        means = np.where(quiet, np.inf, law.batch / np.where(quiet, 1.0, rates))
    between = times(law.between, means)
    upcoming = np.full(len(rates), np.inf)
    for j in np.flatnonzero(~quiet):
        upcoming[j] = draw_time(between, int(j), draws)
    rows = NO_TRACE if trace is None else trace
    batch = np.array([law.batch, float(law.geometric)])
    return Arrivals(
        between.law, between.shape, batch, upcoming, np.zeros(2, np.int64), *rows, np.zeros(1, np.int64)
    )


@step
def next_arrival(arrivals: Arrivals, now: float) -> float:
    """Return the time of the next arrival, infinite if there is none."""
    if arrivals.pending[1] > 0:
        return now
    if len(arrivals.trace_times) > 0:
        row = arrivals.position[0]
        return float(arrivals.trace_times[row]) if row < len(arrivals.trace_times) else np.inf
    soonest = np.inf
    for j in range(len(arrivals.upcoming)):
        if arrivals.upcoming[j] < soonest:
            soonest = arrivals.upcoming[j]
    return soonest


@step
def arriving_type(arrivals: Arrivals, draws: Any) -> int:
    """Return the type of the job that arrives next, and move the streams on (not the trace: see `duration_of`)."""
    if arrivals.pending[1] > 0:
        arrivals.pending[1] -= 1
        return int(arrivals.pending[0])
    if len(arrivals.trace_times) > 0:
        return int(arrivals.trace_types[arrivals.position[0]])
    first = 0
    for j in range(1, len(arrivals.upcoming)):
        if arrivals.upcoming[j] < arrivals.upcoming[first]:
            first = j
    gap = draw_time(Times(arrivals.between_law, arrivals.between_shape), first, draws)
    arrivals.upcoming[first] += gap
    size = int(arrivals.batch[0])
    if arrivals.batch[1] > 0:
        size = 1
        while draws.random() * arrivals.batch[0] >= 1.0:
            size += 1
    arrivals.pending[0] = first
    arrivals.pending[1] = size - 1
    return first


@step
def duration_of(arrivals: Arrivals, service: Times, j: int, draws: Any) -> float:
    """Return the service time of the job that has just arrived: the trace's, or one drawn."""
    row = arrivals.position[0]
    if len(arrivals.trace_times) > 0:
        arrivals.position[0] = row + 1
        return float(arrivals.trace_durations[row])
    return float(draw_time(service, j, draws))
