"""Streams of jobs: when each comes, of which type, and how much work it brings, drawn in chunks outside the event loop.

A stream depends on its seed alone, not on the policy: two policies run on the same stream see the same jobs (common
random numbers), and the compiled and the plain loop read the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.laws import Law

CHUNK = 1 << 15
"""Jobs drawn at a time; part of what a seed means."""


@dataclass(frozen=True)
class Chunk:
    """Jobs in the order of their arrival.

    Attributes
    ----------
    time : float64[n]
    type : int32[n]
    work : float64[n]
        Time in service.
    """

    time: NDArray[np.float64]
    type: NDArray[np.int32]
    work: NDArray[np.float64]


Stream = Iterator[Chunk]
"""Chunks one after another, for ever or until the jobs end; none is empty."""


def poisson(rates: Sequence[float], services: Sequence[float], service: Law, generator: np.random.Generator) -> Stream:
    """Draw Poisson arrivals of each type.

    Parameters
    ----------
    rates : sequence of float, shape (J,)
        Arrivals per unit time, all servers together.
    services : sequence of float, shape (J,)
        Service rates; the mean work is their inverse.
    service : Law
    generator : numpy.random.Generator
    """
    arriving, mean = np.asarray(rates, float), 1 / np.asarray(services, float)
    total = float(arriving.sum())
    if total <= 0:
        return
    steps = np.cumsum(arriving / total)
    now = 0.0
    while True:
        time = now + np.cumsum(generator.standard_exponential(CHUNK)) / total
        now = float(time[-1])
        kind = _types(steps, generator.random(CHUNK))
        yield Chunk(time, kind, sample(service, generator, CHUNK) * mean[kind])


def renewal(
    rates: Sequence[float],
    services: Sequence[float],
    between: Law,
    service: Law,
    generator: np.random.Generator,
) -> Stream:
    """Draw an independent renewal process for each type, with interarrival times of a law (see `poisson`).

    Notes
    -----
    The first interarrival time of each type is a whole one, counted from time 0.
    """
    arriving, mean = np.asarray(rates, float), 1 / np.asarray(services, float)
    live = np.flatnonzero(arriving > 0)
    if not len(live):
        return
    last = np.zeros(len(arriving))
    span = CHUNK / float(arriving.sum())
    end = 0.0
    ahead: list[NDArray[np.float64]] = [np.empty(0) for _ in arriving]
    while True:
        end += span
        times, kinds = [], []
        for j in live:
            while last[j] < end:
                more = last[j] + np.cumsum(sample(between, generator, 256)) / arriving[j]
                ahead[j] = np.concatenate([ahead[j], more])
                last[j] = more[-1]
            cut = int(np.searchsorted(ahead[j], end))
            times.append(ahead[j][:cut])
            kinds.append(np.full(cut, j, np.int32))
            ahead[j] = ahead[j][cut:]
        time, kind = np.concatenate(times), np.concatenate(kinds)
        if len(time):
            order = np.argsort(time, kind="stable")
            kind = kind[order]
            yield Chunk(time[order], kind, sample(service, generator, len(kind)) * mean[kind])


def batches(
    rate: float,
    vectors: Sequence[Sequence[int]],
    probabilities: Sequence[float],
    services: Sequence[float],
    service: Law,
    generator: np.random.Generator,
) -> Stream:
    """Draw Poisson requests, each for a vector of jobs that arrive together, types in their order (paper 004, 5.2).

    Parameters
    ----------
    rate : float
        Requests per unit time.
    vectors : sequence, shape (V, J)
        Jobs of each type in a request.
    probabilities : sequence of float, shape (V,)
    services, service, generator
        As for `poisson`.
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
        chosen = _types(steps, generator.random(requests))
        if lengths[chosen].any():
            kind = np.concatenate([expanded[v] for v in chosen])
            work = sample(service, generator, len(kind)) * mean[kind]
            yield Chunk(np.repeat(time, lengths[chosen]), kind, work)


def listed(time: NDArray[np.float64], kind: NDArray[np.int32], work: NDArray[np.float64]) -> Stream:
    """Give jobs of a trace, in the order of their arrival."""
    for first in range(0, len(time), CHUNK):
        part = slice(first, first + CHUNK)
        yield Chunk(
            np.ascontiguousarray(time[part], float),
            np.ascontiguousarray(kind[part], np.int32),
            np.ascontiguousarray(work[part], float),
        )


def sample(law: Law, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Draw so many times of a law with mean 1.

    Examples
    --------
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
    p = (1 + sqrt((law.scv - 1) / (law.scv + 1))) / 2
    fast = generator.random(count) < p
    return generator.standard_exponential(count) / np.where(fast, 2 * p, 2 * (1 - p))


def _types(steps: NDArray[np.float64], level: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return which step each level in [0, 1) falls on."""
    return np.minimum(np.searchsorted(steps, level, side="right"), len(steps) - 1).astype(np.int32)
