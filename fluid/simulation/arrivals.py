"""How the jobs of a loss system arrive: the law, and the stream of jobs that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.laws import Law
from fluid.simulation.streams import Chunk, Stream, listed, poisson, renewal, sample
from theory.errors import InputError, TooLargeError

MOST = 1e13
"""Most jobs that a run may expect: weeks of work."""


TOGETHER = 2**22
"""Most jobs of batches that are drawn together, on average."""


def refuse_endless(jobs: float) -> None:
    """Refuse a run that nobody would see the end of.

    Raises
    ------
    TooLargeError
        More than `MOST` jobs are expected.
    """
    if jobs > MOST:
        raise TooLargeError(
            f"--until: {jobs:.3g} jobs are expected by then, more than {MOST:g}: take a shorter time or fewer servers"
        )


@dataclass(frozen=True)
class ArrivalLaw:
    """How jobs arrive.

    Attributes
    ----------
    between : Law
        Times between arrivals of a type; exponential: Poisson arrivals.
    batch : float
        Mean jobs in a batch of one type; the rate of batches is that of jobs divided by it.
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


class JobList(NamedTuple):
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


def joined(first: JobList, then: JobList) -> JobList:
    """Put one list of jobs behind another."""
    return JobList(
        np.concatenate([first.times, then.times]),
        np.concatenate([first.types, then.types]),
        np.concatenate([first.durations, then.durations]),
    )


def stream_of(
    law: ArrivalLaw,
    service: Law,
    rates: NDArray[np.float64],
    service_rates: NDArray[np.float64],
    draws: np.random.Generator,
    jobs: JobList | None = None,
) -> Stream:
    """Return the stream of jobs with arrival and service times; a list of jobs stands instead of both laws."""
    if jobs is not None:
        return listed(jobs.times, jobs.types, jobs.durations)
    if law.is_poisson:
        return poisson(rates.tolist(), service_rates.tolist(), service, draws)
    batches = (rates / law.batch).tolist()
    if law.between.name == "exponential":
        heads = poisson(batches, service_rates.tolist(), service, draws)
    else:
        heads = renewal(batches, service_rates.tolist(), law.between, service, draws)
    return heads if law.batch == 1 else _in_batches(heads, law, service, service_rates, draws)


def _in_batches(
    heads: Stream, law: ArrivalLaw, service: Law, service_rates: NDArray[np.float64], draws: np.random.Generator
) -> Stream:
    """Follow each job by the rest of its batch: the same type and time, a service time of its own."""
    most = max(1, int(TOGETHER / law.batch))
    for chunk in heads:
        for first in range(0, len(chunk.time), most):
            time, head = chunk.time[first : first + most], chunk.type[first : first + most]
            sizes = draws.geometric(1 / law.batch, len(time)) if law.geometric else np.full(len(time), int(law.batch))
            kind = np.repeat(head, sizes)
            yield Chunk(np.repeat(time, sizes), kind, sample(service, draws, len(kind)) / service_rates[kind])
