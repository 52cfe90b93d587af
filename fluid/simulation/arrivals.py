"""How jobs arrive and how long they are served: laws, streams drawn from them in chunks, and lists of given jobs.

A stream depends on its seed alone, not on the policy. Two policies run on the same stream therefore see the same jobs
(common random numbers), and the compiled and the plain loop read the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.ticks import rounded
from theory.errors import ArgumentTooLargeError, InputError

NAMES = ("exponential", "hyper-exponential", "deterministic", "log-normal")
"""Laws of positive times, by name."""

MOST = 1e13
"""Most jobs that a run may expect: they would take weeks to simulate."""

TOGETHER = 2**22
"""Most jobs of batches that are drawn together, on average."""

CHUNK = 1 << 15
"""Jobs drawn at a time. Part of what a seed means: another value gives other paths."""


@dataclass(frozen=True)
class Law:
    """A law of positive times up to its mean.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    scv : float
        Squared coefficient of variation, variance / mean^2. It is above 1 for the hyper-exponential law (two phases of
        balanced means), any positive number for the log-normal law, and of no meaning for the others.
    """

    name: str = "exponential"
    scv: float = 4.0

    def __post_init__(self) -> None:
        """Refuse unknown names and impossible shapes."""
        if self.name not in NAMES:
            raise InputError("law", f"expected one of {', '.join(NAMES)}, got {self.name!r}")
        if self.name == "hyper-exponential" and not self.scv > 1:
            raise InputError("scv", f"expected more than 1 for a hyper-exponential law, got {self.scv!r}")
        if not 0 < self.scv < 1e6:
            raise InputError("scv", f"expected a positive number up to a million, got {self.scv!r}")


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
        """Refuse batches of impossible sizes."""
        if not 1 <= self.batch <= 1e6 or (not self.geometric and self.batch != int(self.batch)):
            raise InputError("batch", f"expected a whole number (geometric sizes: any) from 1, got {self.batch!r}")

    @property
    def is_poisson(self) -> bool:
        """Whether single jobs arrive in Poisson streams."""
        return self.between.name == "exponential" and self.batch == 1


class JobList(NamedTuple):
    """Jobs in the order of their arrival: a whole list, or one chunk of a stream.

    Attributes
    ----------
    times : float64[N] or int64[N]
        Arrival times from 0 on, not decreasing, in ticks (`fluid.simulation.scenario.TypedScenario.tick`); slots, as
        whole numbers, in slotted models.
    types : int32[N]
        The type of each job; its size class in slotted models.
    durations : float64[N] or int64[N]
        Service time of each job.
    """

    times: NDArray[Any]
    types: NDArray[np.int32]
    durations: NDArray[Any]


Stream = Iterator[JobList]
"""Chunks one after another, without end or until the jobs end; no chunk is empty."""


def joined(first: JobList, then: JobList) -> JobList:
    """Put one list of jobs behind another."""
    return JobList(*(np.concatenate(pair) for pair in zip(first, then, strict=True)))


def refuse_endless(jobs: float) -> None:
    """Raise TooLargeError where more than `MOST` jobs are expected: the run would take weeks."""
    if jobs > MOST:
        raise ArgumentTooLargeError(
            "until", f"{jobs:.3g} jobs are expected by then, more than {MOST:g}: take a shorter time or fewer servers"
        )


def stream_of(
    law: ArrivalLaw,
    service: Law,
    rates: NDArray[np.float64],
    service_rates: NDArray[np.float64],
    generator: np.random.Generator,
    jobs: JobList | None = None,
    *,
    whole: bool = False,
) -> Stream:
    """Return the stream of jobs with arrival and service times; a list of jobs replaces both laws.

    Times are rounded to whole numbers if they are to be `whole`, those of a list apart.
    """
    if jobs is not None:
        return listed(jobs)
    if law.between.name == "exponential":
        heads = poisson(rates / law.batch, service_rates, service, generator)
    else:
        heads = renewal(rates / law.batch, service_rates, law.between, service, generator, whole=whole)
    stream = heads if law.batch == 1 else _in_batches(heads, law, service, service_rates, generator)
    return _in_whole_times(stream) if whole else stream


def _in_whole_times(stream: Stream) -> Stream:
    for times, types, durations in stream:
        yield JobList(np.rint(times), types, np.rint(durations))


def _in_batches(
    heads: Stream, law: ArrivalLaw, service: Law, service_rates: NDArray[np.float64], generator: np.random.Generator
) -> Stream:
    """Follow each job by the rest of its batch: the same type and time, a service time of its own."""
    most = max(1, int(TOGETHER / law.batch))
    for chunk in heads:
        for first in range(0, len(chunk.times), most):
            time, head = chunk.times[first : first + most], chunk.types[first : first + most]
            equal = np.full(len(time), int(law.batch))
            sizes = generator.geometric(1 / law.batch, len(time)) if law.geometric else equal
            kind = np.repeat(head, sizes)
            yield JobList(np.repeat(time, sizes), kind, sample(service, generator, len(kind)) / service_rates[kind])


Rates = Sequence[float] | NDArray[np.float64]


def poisson(rates: Rates, services: Rates, service: Law, generator: np.random.Generator) -> Stream:
    """Draw Poisson arrivals of each type j, `rates`_j a unit of time, with work of mean 1 / `services`_j."""
    arriving, mean = np.asarray(rates, float), 1 / np.asarray(services, float)
    total = float(arriving.sum())
    if total <= 0:
        return
    steps = np.cumsum(arriving / total)
    now = 0.0
    while True:
        # one Poisson stream of the total rate, each of whose jobs is of type j with probability rates_j / total
        time = now + np.cumsum(generator.standard_exponential(CHUNK)) / total
        now = float(time[-1])
        kind = step_of(steps, generator.random(CHUNK))
        yield JobList(time, kind, sample(service, generator, CHUNK) * mean[kind])


def renewal(
    rates: Rates, services: Rates, between: Law, service: Law, generator: np.random.Generator, *, whole: bool = False
) -> Stream:
    """Draw an independent renewal process for each type, with interarrival times of a law (see `poisson`).

    The first interarrival time of each type is counted from time 0. If arrivals are to be `whole`, they are rounded
    before more is added to them, so that rounding does not add up.
    """
    arriving, mean = np.asarray(rates, float), 1 / np.asarray(services, float)
    live = np.flatnonzero(arriving > 0)
    if not len(live):
        return
    last, end, span = np.zeros(len(arriving)), 0.0, CHUNK / float(arriving.sum())
    drawn: list[NDArray[np.float64]] = [np.empty(0) for _ in arriving]
    while True:
        end += span
        times, kinds = [], []
        for j in live:
            while last[j] < end:
                more = rounded(last[j] + np.cumsum(sample(between, generator, 256)) / arriving[j], whole=whole)
                drawn[j] = np.concatenate([drawn[j], more])
                last[j] = more[-1]
            cut = int(np.searchsorted(drawn[j], end))
            times.append(drawn[j][:cut])
            kinds.append(np.full(cut, j, np.int32))
            drawn[j] = drawn[j][cut:]
        time, kind = np.concatenate(times), np.concatenate(kinds)
        if len(time):
            order = np.argsort(time, kind="stable")
            kind = kind[order]
            yield JobList(time[order], kind, sample(service, generator, len(kind)) * mean[kind])


def batches(
    rate: float,
    vectors: Sequence[Sequence[int]],
    probabilities: Sequence[float],
    services: Sequence[float],
    service: Law,
    generator: np.random.Generator,
) -> Stream:
    """Draw Poisson requests, `rate` a unit of time, each for a vector of jobs (non-preemptive paper, 5.2).

    `vectors` (V, J) are the jobs of each type in a request, served in their order, and `probabilities` (V,) those of
    the vectors; services as for `poisson`.
    """
    table = np.asarray(vectors, np.int64)
    mean = 1 / np.asarray(services, float)
    steps = np.cumsum(np.asarray(probabilities, float) / sum(probabilities))
    expanded = [np.repeat(np.arange(table.shape[1], dtype=np.int32), row) for row in table]
    lengths = table.sum(axis=1)
    if rate <= 0 or not lengths.any():
        return
    now = 0.0
    requests = max(1, CHUNK // max(1, int(lengths.max())))
    while True:
        time = now + np.cumsum(generator.standard_exponential(requests)) / rate
        now = float(time[-1])
        chosen = step_of(steps, generator.random(requests))
        if lengths[chosen].any():
            kind = np.concatenate([expanded[v] for v in chosen])
            work = sample(service, generator, len(kind)) * mean[kind]
            yield JobList(np.repeat(time, lengths[chosen]), kind, work)


def listed(jobs: JobList, kind: type[np.float64] | type[np.int64] = np.float64) -> Stream:
    """Give the jobs of a list in chunks; `kind` is the type of times and durations."""
    for first in range(0, len(jobs.times), CHUNK):
        times, types, durations = (array[first : first + CHUNK] for array in jobs)
        yield JobList(
            np.ascontiguousarray(times, kind),
            np.ascontiguousarray(types, np.int32),
            np.ascontiguousarray(durations, kind),
        )


def sample(law: Law, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Draw `count` times of a law with mean 1.

    >>> times = sample(Law("hyper-exponential", 4.0), np.random.default_rng(1), 200_000)
    >>> round(float(times.mean()), 1), round(float(times.var()))
    (1.0, 4)
    """
    if law.name == "exponential":
        return generator.standard_exponential(count)
    if law.name == "deterministic":
        return np.ones(count)
    if law.name == "log-normal":
        variance = log(1 + law.scv)
        return generator.lognormal(-variance / 2, sqrt(variance), count)
    # two phases of equal share of the mean: p / (2 p) = (1 - p) / (2 (1 - p)) = 1 / 2, and p by the variance
    p = (1 + sqrt((law.scv - 1) / (law.scv + 1))) / 2
    fast = generator.random(count) < p
    return generator.standard_exponential(count) / np.where(fast, 2 * p, 2 * (1 - p))


def step_of(steps: NDArray[np.float64], level: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return which step each level falls on, the last one for those beyond.

    >>> step_of(np.array([0.5, 0.5, 1.0]), np.array([0.1, 0.5, 1.0])).tolist()
    [0, 2, 2]
    """
    return np.minimum(np.searchsorted(steps, level, side="right"), len(steps) - 1).astype(np.int32)
