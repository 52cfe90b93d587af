"""Jobs for slotted queues: sizes from a law, arrivals in slots, service in whole slots, drawn in chunks of whole slots.

Jobs are `fluid.simulation.arrivals.JobList` with slots for times, size classes for types, and whole numbers of slots
in service for durations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import CHUNK, JobList, Stream, joined, listed
from fluid.simulation.slotted.sizes import SizeLaw

NEVER = 2**61
"""A slot, or a number of slots, beyond every horizon; two of them still add up."""


def whole_slots(chunks: Stream) -> Stream:
    """Carry the jobs of the last slot of each chunk over to the next: the jobs of a slot are never divided."""
    left: JobList | None = None
    for chunk in chunks:
        jobs = chunk if left is None else joined(left, chunk)
        cut = int(np.searchsorted(jobs.times, jobs.times[-1]))
        left = JobList(*(array[cut:] for array in jobs))
        if cut:
            yield JobList(*(array[:cut] for array in jobs))
    if left is not None:
        yield left


def listed_slots(jobs: JobList) -> Stream:
    """Give the jobs of a list in chunks of whole slots."""
    return whole_slots(listed(jobs, np.int64))


def service_slots(
    rates: NDArray[np.float64], *, fixed: bool, generator: np.random.Generator, draws: int
) -> NDArray[np.int64]:
    """Draw slots in service: geometric on 1, 2, ... with mean 1/rate, or the whole number next to it."""
    if fixed:
        return np.clip(np.rint(1 / rates), 1, NEVER).astype(np.int64)
    return np.minimum(generator.geometric(rates, draws), NEVER)


def poisson_slots(
    rate: float, law: SizeLaw, service: float | Sequence[float], generator: np.random.Generator, *, fixed: bool = False
) -> Stream:
    """Draw a Poisson number of jobs in each slot.

    Parameters
    ----------
    rate : float
        Mean number of arrivals a slot.
    law : SizeLaw
    service : float or sequence, shape (n,)
        Probability that a job in service ends in a slot, of all classes or of each.
    generator : numpy.random.Generator
    fixed : bool
        Service of exactly the mean number of slots.
    """
    return whole_slots(_poisson(rate, law, np.asarray(service, float), generator, fixed=fixed))


def _poisson(
    rate: float, law: SizeLaw, service: NDArray[np.float64], generator: np.random.Generator, *, fixed: bool
) -> Stream:
    now = 0.0
    while rate > 0 and now < NEVER:
        times = now + np.cumsum(generator.standard_exponential(CHUNK)) / rate
        now = float(times[-1])
        job_class = law.draw(generator, CHUNK)
        rates = np.broadcast_to(service, len(law.sizes))[job_class] if service.ndim else np.broadcast_to(service, CHUNK)
        work = service_slots(rates, fixed=fixed, generator=generator, draws=CHUNK)
        yield JobList(np.minimum(times, float(NEVER)).astype(np.int64), job_class, work)


def bernoulli_slots(
    rate: float, law: SizeLaw, service: float | Sequence[float], generator: np.random.Generator, *, fixed: bool = False
) -> Stream:
    """Draw at most one job in each slot, with probability `rate` (see `poisson_slots`)."""
    return whole_slots(_bernoulli(rate, law, np.asarray(service, float), generator, fixed=fixed))


def _bernoulli(
    rate: float, law: SizeLaw, service: NDArray[np.float64], generator: np.random.Generator, *, fixed: bool
) -> Stream:
    now = -1.0
    while rate > 0 and now < NEVER:
        slots = now + np.cumsum(generator.geometric(rate, CHUNK).astype(float))
        now = float(slots[-1])
        job_class = law.draw(generator, CHUNK)
        rates = np.broadcast_to(service, len(law.sizes))[job_class] if service.ndim else np.broadcast_to(service, CHUNK)
        work = service_slots(rates, fixed=fixed, generator=generator, draws=CHUNK)
        yield JobList(np.minimum(slots, float(NEVER)).astype(np.int64), job_class, work)
