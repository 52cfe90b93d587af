"""The admission policies as thresholds: zeroth, first and second moment (Definitions 4.1, 4.2 and 4.4).

Each policy accepts a deployment if a number, after acceptance, lies below its threshold at every time ahead: the active
cores; the sum of expected sizes; Cantelli's bound of the probability that the capacity is exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.law.cluster import Priors
from fluid.admission.law.moments import Moments, composed_moments, joint_moments

POLICIES = ("zeroth", "first", "second")
"""The policies, by the number of moments that they use."""


@dataclass(frozen=True)
class Thresholds:
    """The thresholds above which the policies accept."""

    zeroth: float  # active cores after acceptance
    first: float  # largest expected number of active cores over the horizons
    second: float  # largest bound of Cantelli; 1 where the expected cores reach the capacity: no threshold accepts


def cantelli(mean: NDArray[np.float64], variance: NDArray[np.float64], capacity: float) -> NDArray[np.float64]:
    """Return V / (V + (c - E)^2), the bound of Pr[size >= c] by Cantelli's inequality (18); 1 where E >= c.

    Examples
    --------
    >>> cantelli(np.array([6.0, 12.0]), np.array([4.0, 1.0]), 10.0).tolist()
    [0.2, 1.0]
    """
    room = np.maximum(capacity - mean, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        bound = variance / (variance + room**2)
    return np.where(room > 0, bound, 1.0)


def thresholds(
    priors: Priors,
    capacity: int,
    active: Sequence[int],
    arriving: int,
    horizons: NDArray[np.float64],
    moments: Callable[[Priors, int, float], Moments] = joint_moments,
) -> Thresholds:
    """Return the thresholds above which the policies accept, for deployments known by their size alone.

    Parameters
    ----------
    priors : Priors
    capacity : int
    active : sequence of int
        Cores of each deployment in the cluster.
    arriving : int
        Cores of the deployment that asks to enter.
    horizons : float64[H]
        Hours ahead.
    moments : callable
        Of one deployment by priors, size and time: `joint_moments`, or `composed_moments` for the paper's.

    Notes
    -----
    O(H) evaluations for each distinct size.
    """
    sizes = [*active, arriving]
    mean, variance = np.zeros(len(horizons)), np.zeros(len(horizons))
    for size in sorted(set(sizes)):
        sums = [moments(priors, size, float(t)) for t in horizons]
        mean += sizes.count(size) * np.array([one.mean for one in sums])
        variance += sizes.count(size) * np.array([one.variance for one in sums])
    return Thresholds(float(sum(sizes)), float(mean.max()), float(cantelli(mean, variance, capacity).max()))


def both_thresholds(
    priors: Priors, capacity: int, active: Sequence[int], arriving: int, horizons: NDArray[np.float64]
) -> tuple[Thresholds, Thresholds]:
    """Return the thresholds with exact moments of M (O + N), and with the paper's composition."""
    arguments = (priors, capacity, active, arriving, horizons)
    return thresholds(*arguments), thresholds(*arguments, moments=composed_moments)
