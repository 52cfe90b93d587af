"""Laws of job sizes in the whole units in which slotted queues are simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import CHUNK, JobList, Stream, joined, step_of
from theory.errors import InputError, TooLargeError
from theory.partition.laws import Law, Piece

GRID = Fraction(1, 10**6)
"""Unit in which continuous laws of sizes are drawn, as a part of the server."""

FINEST = 2**40
"""Most units of a server: sums of the sizes of millions of jobs still fit a machine word."""

CLASSES = 2**22
"""Most sizes of a law."""


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
        return step_of(steps, generator.random(count) * steps[-1])


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
        raise InputError("sizes", "expected sizes from more than 0 to the capacity with nonnegative probabilities")
    return SizeLaw(np.array([int(s / unit) for s in order]), int(capacity / unit), weights / weights.sum())


def uniform(low: Fraction, high: Fraction, grid: Fraction = GRID) -> SizeLaw:
    """Make the uniform law on [low, high], parts of a server, on a grid: low, low + grid, ..., high.

    >>> law = uniform(Fraction(1, 10), Fraction(9, 10))
    >>> len(law.sizes), law.mean
    (800001, 0.5)
    """
    if not 0 < low <= high <= 1 or grid <= 0 or any((x / grid).denominator != 1 for x in (low, high, Fraction(1))):
        raise InputError("sizes", f"expected 0 < low <= high <= 1 in steps of {grid}, got {low}, {high}")
    return SizeLaw(np.arange(int(low / grid), int(high / grid) + 1), int(1 / grid), np.zeros(0))


def size_law(law: Law, grid: Fraction = GRID) -> SizeLaw:
    """Turn a law of sizes into classes of whole units.

    Parameters
    ----------
    law : Law
    grid : Fraction
        Pieces are drawn from equal steps of at most so much, both ends included (0 excepted); atoms stay as they are.

    Returns
    -------
    SizeLaw
        Sizes in increasing order, each once. The mean of a piece is exact, but for one that begins at 0: its mean is
        half a step larger.

    Raises
    ------
    TooLargeError
        Sizes whose common unit is less than 1 / `FINEST` of a server, or more than `CLASSES` of them.

    Examples
    --------
    >>> from theory.partition.laws import discrete, uniform
    >>> made = size_law(discrete({"2/5": "1/4", "3/5": "3/4"}))
    >>> made.sizes.tolist(), made.capacity, made.probabilities.tolist()
    ([2, 3], 5, [0.25, 0.75])
    >>> len(size_law(uniform("1/3", "2/3")).sizes)
    333335
    """
    steps = [_number_of_steps(piece, grid) for piece in law.pieces]
    atoms = [size for size, _ in law.atoms]
    if len(atoms) + sum(steps) + len(steps) > CLASSES:
        raise TooLargeError("sizes", f"expected at most {CLASSES:,} sizes: draw the pieces from a coarser grid")
    lengths = [(piece.upper - piece.lower) / n for piece, n in zip(law.pieces, steps, strict=True)]
    below = [x.denominator for x in (*atoms, *(piece.lower for piece in law.pieces), *lengths)]
    capacity = 1
    for denominator in set(below):
        capacity = lcm(capacity, denominator)
        if capacity > FINEST:
            raise TooLargeError("sizes", f"expected sizes in a common unit of at least 1/{FINEST:,}: round them")
    sizes = [np.array([int(size * capacity) for size in atoms], np.int64)]
    weights = [np.array([float(p) for _, p in law.atoms])]
    for piece, n, length in zip(law.pieces, steps, lengths, strict=True):
        points = int(piece.lower * capacity) + int(length * capacity) * np.arange(n + 1)
        points = points[points > 0]
        sizes.append(points)
        weights.append(np.full(len(points), float(piece.probability) / len(points)))
    if len(steps) == 1 and not atoms:
        return SizeLaw(sizes[1], capacity, np.zeros(0))
    values, place = np.unique(np.concatenate(sizes), return_inverse=True)
    probabilities = np.bincount(place.reshape(-1), weights=np.concatenate(weights)).astype(float)
    return SizeLaw(values, capacity, probabilities)


def _number_of_steps(piece: Piece, grid: Fraction) -> int:
    return ceil((piece.upper - piece.lower) / grid)


INVERTED = 1 / 3
"""Probability below which numpy draws geometric numbers by inversion."""

NEVER = 2**61
"""A slot, or a number of slots, beyond every horizon; two of them still add up."""


def whole_slots(chunks: Stream) -> Stream:
    """Carry the jobs of the last slot of each chunk over to the next: the jobs of a slot are never divided."""
    last_slot: JobList | None = None
    for chunk in chunks:
        jobs = chunk if last_slot is None else joined(last_slot, chunk)
        cut = int(np.searchsorted(jobs.times, jobs.times[-1]))
        last_slot = JobList(*(array[cut:] for array in jobs))
        if cut:
            yield JobList(*(array[:cut] for array in jobs))
    if last_slot is not None:
        yield last_slot


def service_slots(
    rates: NDArray[np.float64], classes: NDArray[np.int32], *, fixed: bool, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Draw slots in service, geometric on 1, 2, ... with mean 1/rate, or, if `fixed`, the whole number next to it.

    `rates` hold one entry for all classes, or one for each. ``Generator.geometric`` inverts the distribution function
    where rates are less than 1/3: an exponential number over -log(1 - rate), rounded up. Here this is done for all jobs
    at once, in half the time: the numbers are the same.

    >>> one, twin = np.random.default_rng(1), np.random.default_rng(1)
    >>> work = service_slots(np.array([0.01]), np.zeros(9, np.int32), fixed=False, generator=one)
    >>> (work == twin.geometric(0.01, 9)).all()
    np.True_
    """

    def of_jobs(values: NDArray[Any]) -> Any:
        return values[classes] if len(values) > 1 else values[0]

    if fixed:
        slots = of_jobs(np.clip(np.rint(1 / rates), 1, NEVER).astype(np.int64))
        return np.broadcast_to(slots, len(classes)).copy()
    if rates.max() >= INVERTED:
        return np.minimum(generator.geometric(of_jobs(rates), len(classes)), NEVER)
    work = generator.standard_exponential(len(classes))
    work /= of_jobs(np.array([-log1p(-rate) for rate in rates]))
    return np.minimum(np.ceil(work, out=work), float(NEVER), out=work).astype(np.int64)


def drawn_slots(
    rate: float,
    law: SizeLaw,
    service: float | Sequence[float],
    generator: np.random.Generator,
    *,
    fixed: bool = False,
    bernoulli: bool = False,
) -> Stream:
    """Draw a Poisson number of jobs in each slot, of mean `rate`; if `bernoulli`, at most one, with that probability.

    `service` is the probability that a job in service ends in a slot, of all classes or of each; if `fixed`, service
    takes exactly its mean number of slots. Jobs beyond `NEVER` come at `NEVER`.
    """
    rates = np.atleast_1d(np.asarray(service, float))
    arrivals = _bernoulli_times if bernoulli else _poisson_times

    def chunks() -> Stream:
        for times in arrivals(rate, generator):
            classes = law.draw(generator, len(times))
            work = service_slots(rates, classes, fixed=fixed, generator=generator)
            yield JobList(np.minimum(times, float(NEVER)).astype(np.int64), classes, work)

    return whole_slots(chunks())


def _poisson_times(rate: float, generator: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield times of a Poisson process: those from slot t up to t + 1 are the arrivals of slot t."""
    now = 0.0
    while rate > 0 and now < NEVER:
        times = generator.standard_exponential(CHUNK)
        np.cumsum(times, out=times)
        times /= rate
        times += now
        now = float(times[-1])
        yield times


def _bernoulli_times(rate: float, generator: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield slots with an arrival: the slots from one to the next have a geometric law."""
    now = -1.0
    while rate > 0 and now < NEVER:
        slots = now + np.cumsum(generator.geometric(rate, CHUNK).astype(float))
        now = float(slots[-1])
        yield slots


def in_slots(jobs: JobList, ticks: Fraction) -> JobList:
    """Put jobs in the first slot of so many ticks that begins when they come or later, for at least one slot."""
    when, work = _slots(jobs.times, ticks), np.maximum(1, _slots(jobs.durations, ticks))
    return JobList(when, jobs.types.astype(np.int32), work)


def _slots(times: NDArray[np.int64], size: Fraction) -> NDArray[np.int64]:
    """Round whole ticks up to slots, exactly."""
    if max(int(times.max(initial=0)) * size.denominator, size.numerator) >= 2**62:  # no machine word holds it
        return np.array([-(-time * size.denominator // size.numerator) for time in times.tolist()], np.int64)
    return np.asarray(-(-times * size.denominator // size.numerator))
