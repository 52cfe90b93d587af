"""What the admission policies compare with their thresholds (Definitions 4.1, 4.2, 4.4 and 6.1).

Each policy accepts a deployment if a number, after acceptance, lies below its threshold at every time ahead: the active
cores; the sum of expected sizes; Cantelli's bound of the probability that the capacity is exceeded. `needed_over` is
that number for all who ask: a single decision, the simulator, and exact chains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluid.admission.choices import PolicyName
from theory.compiled import plain, step

POLICIES = tuple(name.value for name in PolicyName)
"""The policies, by the number of moments that they use."""

ZEROTH, FIRST, SECOND = range(3)
"""Their places in `POLICIES`."""


@step
def cantelli_at(mean: float, variance: float, capacity: float) -> float:
    """Return the bound of Pr[size >= c] at one time, V / (V + (c - E)^2); 1 where E >= c, so no threshold accepts."""
    free = capacity - mean
    return variance / (variance + free * free) if free > 0 else 1.0


_cantelli_at = np.vectorize(plain(cantelli_at), otypes=[float])


def cantelli(mean: NDArray[np.float64], variance: NDArray[np.float64], capacity: float) -> NDArray[np.float64]:
    """Return V / (V + (c - E)^2), the bound of Pr[size >= c] by Cantelli's inequality (18); 1 where E >= c.

    Examples
    --------
    >>> cantelli(np.array([6.0, 12.0]), np.array([4.0, 1.0]), 10.0).tolist()
    [0.2, 1.0]
    """
    return np.asarray(_cantelli_at(mean, variance, capacity))


@step
def needed_over(
    policy: int,
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    own: NDArray[np.float64],
    capacity: float,
    marginal: float,
) -> float:
    """Return the number that the first- or second-moment policy compares with its threshold.

    `mean` and `variance`, float64[T], are of all cores at T times ahead after acceptance, and `own` is the mean of the
    arrival's: times at which it is below `marginal` do not count (Definition 6.1).
    """
    needed = 0.0
    for n in range(len(mean)):
        if own[n] < marginal:
            continue
        value = mean[n]
        if policy == SECOND:
            value = cantelli_at(value, variance[n], capacity)
        needed = max(needed, value)
    return needed
