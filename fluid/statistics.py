"""Intervals for simulated numbers: replications, batch means, growth, fitted slopes, paired differences, warm-up.

Quantiles of Student's law come from `scipy.special`, which loads in a fraction of the time of `scipy.stats`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.shown import Shown

__all__ = [
    "Interval",
    "WarmUp",
    "band",
    "batch_means",
    "growth",
    "interval",
    "mean_interval",
    "paired",
    "ratio_interval",
    "slope",
    "student_quantile",
    "warm_up",
]


@dataclass(frozen=True, repr=False)
class Interval(Shown):
    """An estimate with a confidence interval.

    Attributes
    ----------
    mean : float
    low, high : float
        Infinite where a single value gives none.
    level : float
        Confidence, such as 0.95.
    samples : int
        Independent values, or batches taken for such.
    """

    mean: float
    low: float
    high: float
    level: float
    samples: int

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the interval."""
        return self.low <= value <= self.high


def student_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's law.

    Examples
    --------
    >>> round(student_quantile(0.975, 9), 4)
    2.2622
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def interval(mean: float, error: float, degrees: float, level: float = 0.95, samples: int | None = None) -> Interval:
    """Make the interval of an estimate from its standard error and degrees of freedom."""
    width = student_quantile((1 + level) / 2, degrees) * error if degrees > 0 else inf
    width = width if error > 0 or degrees <= 0 else 0.0
    return Interval(mean, mean - width, mean + width, level, int(degrees) + 1 if samples is None else samples)


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's interval.

    Examples
    --------
    >>> mean_interval([1.0, 2.0, 3.0]).mean, round(mean_interval([1.0, 2.0, 3.0]).half_width, 4)
    (2.0, 2.4841)
    """
    sample = np.asarray(values, float)
    n = len(sample)
    error = float(sample.std(ddof=1)) / sqrt(n) if n > 1 else 0.0
    return interval(float(sample.mean()), error, n - 1, level, n)


def batch_means(values: ArrayLike, level: float = 0.95, batches: int = 20) -> Interval:
    """Return the mean of a stationary series with an interval from means of long batches.

    Parameters
    ----------
    values : float[n]
        Averages over equal spans of time.
    level : float
    batches : int
        Batches are `n // batches` long; what is left over at the beginning is dropped.
    """
    series = np.asarray(values, float)
    length = len(series) // batches
    if length == 0:
        return mean_interval(series, level)
    return mean_interval(series[len(series) - length * batches :].reshape(batches, length).mean(axis=1), level)


def ratio_interval(numerators: ArrayLike, denominators: ArrayLike, level: float = 0.95) -> Interval:
    """Return a ratio of means, such as accepted over arrived, with an interval by linearisation.

    Parameters
    ----------
    numerators, denominators : float[n]
        Pairs from independent replications or batches.
    """
    a, b = np.asarray(numerators, float), np.asarray(denominators, float)
    total = float(b.sum())
    if total == 0:
        return Interval(float("nan"), -inf, inf, level, len(a))
    ratio = float(a.sum()) / total
    n = len(a)
    error = float(np.std(a - ratio * b, ddof=1)) * sqrt(n) / total if n > 1 else 0.0
    return interval(ratio, error, n - 1, level, n)


def paired(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean of ``first - second`` over pairs with common random numbers."""
    return mean_interval(np.asarray(first, float) - np.asarray(second, float), level)


def slope(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Interval:
    """Fit a line and return its slope with Student's interval (errors independent, of equal variance).

    Examples
    --------
    >>> fitted = slope([0, 1, 2, 3], [0.0, 1.1, 1.9, 3.0])
    >>> round(fitted.mean, 6), fitted.holds(1.0)
    (0.98, True)
    """
    at, value = np.asarray(x, float), np.asarray(y, float)
    n = len(at)
    centred = at - at.mean()
    square = float(centred @ centred)
    gradient = float(centred @ value) / square
    rest = value - value.mean() - gradient * centred
    error = sqrt(float(rest @ rest) / (n - 2) / square) if n > 2 else 0.0
    return interval(gradient, error, n - 2, level, n)


def growth(curves: ArrayLike, times: ArrayLike, level: float = 0.95, batches: int = 10) -> Interval:
    """Return the growth rate of a quantity over time with an interval.

    Parameters
    ----------
    curves : float[R, n] or float[n]
        The quantity at the given times, one row a replication. Several: a line is fitted to each and the slopes are
        averaged. One: its increments over equal spans are averaged, which is valid for a process that grows by
        stationary increments, and conservative for one that is stable (increments of a stable process are negatively
        correlated).
    times : float[n]
        Equally spaced.

    Notes
    -----
    A queue is called unstable only where the whole interval lies above 0.
    """
    rows = np.atleast_2d(np.asarray(curves, float))
    at = np.asarray(times, float)
    if len(rows) > 1:
        centred = at - at.mean()
        return mean_interval(rows @ centred / float(centred @ centred), level)
    picked = np.linspace(0, len(at) - 1, batches + 1).round().astype(int)
    return mean_interval(np.diff(rows[0, picked]) / np.diff(at[picked]), level)


@dataclass(frozen=True)
class WarmUp:
    """Whether a warm-up is long enough.

    Attributes
    ----------
    suggested : int
        Bins to drop by the rule of minimal standard error (MSER) on means of five.
    drift : Interval
        Second half minus first half of the measured part, with an interval of level 0.999.
    enough : bool
        Whether that interval holds 0.
    """

    suggested: int
    drift: Interval
    enough: bool


def warm_up(values: ArrayLike, dropped: int, batches: int = 10) -> WarmUp:
    """Check a warm-up: compare both halves of the measured part, and suggest where to cut.

    Parameters
    ----------
    values : float[n]
        Averages over bins of time, warm-up included.
    dropped : int
        Bins in the warm-up.
    batches : int
        Of each half; fewer than two bins a batch tell nothing, and the warm-up then passes.
    """
    series = np.asarray(values, float)
    if len(series) - dropped < 2 * batches:
        return WarmUp(dropped, Interval(0.0, -inf, inf, 0.999, 0), True)
    five = series[: len(series) // 5 * 5].reshape(-1, 5).mean(axis=1)
    tails: list[float] = [float(np.var(five[d:]) / (len(five) - d)) for d in range(max(1, len(five) // 2))]
    kept = series[dropped:]
    half = len(kept) // 2
    early, late = (batch_means(part, 0.999, batches) for part in (kept[:half], kept[half:]))
    error = sqrt(sum(_error(part) ** 2 for part in (early, late)))
    drift = interval(late.mean - early.mean, error, 2 * (batches - 1), 0.999)
    return WarmUp(5 * int(np.argmin(tails)), drift, drift.holds(0.0))


def _error(part: Interval) -> float:
    """The standard error behind an interval."""
    if part.samples < 2:
        return 0.0
    return part.half_width / student_quantile((1 + part.level) / 2, part.samples - 1)


def band(curves: Sequence[NDArray[Any]] | NDArray[Any], level: float = 0.95) -> tuple[NDArray[Any], ...]:
    """Return the mean curve of replications and the ends of its pointwise interval, float[n] each."""
    rows = np.asarray(curves, float)
    mean = rows.mean(axis=0)
    if len(rows) < 2:
        return mean, mean, mean
    width = student_quantile((1 + level) / 2, len(rows) - 1) * rows.std(axis=0, ddof=1) / sqrt(len(rows))
    return mean, mean - width, mean + width
