"""Jobs for slotted queues.

Sizes from a law, arrivals in slots, service in whole slots; drawn in chunks of whole slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.streams import CHUNK
from theory.errors import InputError

GRID = Fraction(1, 10**6)
"""Unit in which continuous laws of sizes are drawn, as a part of the server."""


NEVER = 2**61
"""A slot, or a number of slots, beyond every horizon; two of them still add up."""


@dataclass(frozen=True)
class SizeLaw:
    """A law of job sizes, in whole units.

    Attributes
    ----------
    sizes : int64[n]
        Increasing.
    capacity : int
        Units of a server.
    probabilities : float64[n]
        Empty: all sizes are equally likely.
    """

    sizes: NDArray[np.int64]
    capacity: int
    probabilities: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean size as a part of the server."""
        weights = self.probabilities if len(self.probabilities) else None
        return float(np.average(self.sizes, weights=weights) / self.capacity)

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.int32]:
        """Draw classes: places in `sizes`."""
        if len(self.probabilities) == 0:
            return np.asarray(generator.integers(0, len(self.sizes), count, dtype=np.int32))
        steps = np.cumsum(self.probabilities)
        found = np.searchsorted(steps, generator.random(count) * steps[-1], side="right")
        return np.asarray(np.minimum(found, len(steps) - 1), np.int32)


def discrete(sizes: Mapping[Fraction, Fraction | float], capacity: Fraction | int = 1) -> SizeLaw:
    """Make a law of finitely many sizes and their probabilities (normalised).

    Examples
    --------
    >>> law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    >>> law.sizes.tolist(), law.capacity, law.mean
    ([2, 3], 5, 0.5)
    """
    order = sorted(sizes)
    unit = Fraction(1, lcm(*(Fraction(s).denominator for s in (*order, capacity))))
    weights = np.array([float(sizes[s]) for s in order])
    if not order or order[0] <= 0 or order[-1] > capacity or (weights < 0).any() or not weights.any():
        raise InputError("sizes: expected sizes from more than 0 to the capacity with nonnegative probabilities")
    return SizeLaw(np.array([int(s / unit) for s in order]), int(capacity / unit), weights / weights.sum())


def uniform(low: Fraction, high: Fraction, grid: Fraction = GRID) -> SizeLaw:
    """Make the uniform law on [low, high], parts of a server, on a grid: low, low + grid, ..., high.

    Examples
    --------
    >>> law = uniform(Fraction(1, 10), Fraction(9, 10))
    >>> len(law.sizes), law.mean
    (800001, 0.5)
    """
    if not 0 < low <= high <= 1 or grid <= 0 or any((x / grid).denominator != 1 for x in (low, high, Fraction(1))):
        raise InputError(f"sizes: expected 0 < low <= high <= 1 in steps of {grid}, got {low}, {high}")
    return SizeLaw(np.arange(int(low / grid), int(high / grid) + 1), int(1 / grid), np.zeros(0))


@dataclass(frozen=True)
class SlotChunk:
    """Jobs in the order of their arrival: slot int64[n], class int32[n], slots in service int64[n]."""

    slot: NDArray[np.int64]
    job_class: NDArray[np.int32]
    work: NDArray[np.int64]


SlotStream = Iterator[SlotChunk]
"""Chunks one after another; the jobs of a slot are never divided."""


def whole_slots(chunks: SlotStream) -> SlotStream:
    """Carry the jobs of the last slot of each chunk over to the next."""
    left: SlotChunk | None = None
    for chunk in chunks:
        joined = chunk if left is None else _joined(left, chunk)
        cut = int(np.searchsorted(joined.slot, joined.slot[-1]))
        left = SlotChunk(joined.slot[cut:], joined.job_class[cut:], joined.work[cut:])
        if cut:
            yield SlotChunk(joined.slot[:cut], joined.job_class[:cut], joined.work[:cut])
    if left is not None:
        yield left


def _joined(one: SlotChunk, two: SlotChunk) -> SlotChunk:
    return SlotChunk(
        np.concatenate([one.slot, two.slot]),
        np.concatenate([one.job_class, two.job_class]),
        np.concatenate([one.work, two.work]),
    )


def service_slots(
    rates: NDArray[np.float64], *, fixed: bool, generator: np.random.Generator, draws: int
) -> NDArray[np.int64]:
    """Draw slots in service: geometric on 1, 2, ... with mean 1/rate, or the whole number next to it."""
    if fixed:
        return np.clip(np.rint(1 / rates), 1, NEVER).astype(np.int64)
    return np.minimum(generator.geometric(rates, draws), NEVER)


def poisson_slots(
    rate: float, law: SizeLaw, service: float | Sequence[float], generator: np.random.Generator, *, fixed: bool = False
) -> SlotStream:
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
) -> SlotStream:
    now = 0.0
    while rate > 0 and now < NEVER:
        times = now + np.cumsum(generator.standard_exponential(CHUNK)) / rate
        now = float(times[-1])
        job_class = law.draw(generator, CHUNK)
        rates = np.broadcast_to(service, len(law.sizes))[job_class] if service.ndim else np.broadcast_to(service, CHUNK)
        work = service_slots(rates, fixed=fixed, generator=generator, draws=CHUNK)
        yield SlotChunk(np.minimum(times, float(NEVER)).astype(np.int64), job_class, work)


def bernoulli_slots(
    rate: float, law: SizeLaw, service: float | Sequence[float], generator: np.random.Generator, *, fixed: bool = False
) -> SlotStream:
    """Draw at most one job in each slot, with probability `rate` (see `poisson_slots`)."""
    return whole_slots(_bernoulli(rate, law, np.asarray(service, float), generator, fixed=fixed))


def _bernoulli(
    rate: float, law: SizeLaw, service: NDArray[np.float64], generator: np.random.Generator, *, fixed: bool
) -> SlotStream:
    now = -1.0
    while rate > 0 and now < NEVER:
        slots = now + np.cumsum(generator.geometric(rate, CHUNK).astype(float))
        now = float(slots[-1])
        job_class = law.draw(generator, CHUNK)
        rates = np.broadcast_to(service, len(law.sizes))[job_class] if service.ndim else np.broadcast_to(service, CHUNK)
        work = service_slots(rates, fixed=fixed, generator=generator, draws=CHUNK)
        yield SlotChunk(np.minimum(slots, float(NEVER)).astype(np.int64), job_class, work)


def listed_slots(slot: NDArray[np.int64], job_class: NDArray[np.int32], work: NDArray[np.int64]) -> SlotStream:
    """Give jobs of a trace, in the order of their arrival."""
    parts = (slice(first, first + CHUNK) for first in range(0, len(slot), CHUNK))
    return whole_slots(
        SlotChunk(slot[part].astype(np.int64), job_class[part].astype(np.int32), work[part].astype(np.int64))
        for part in parts
    )
