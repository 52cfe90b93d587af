"""Quantiles of delays from a histogram on a geometric scale: each within a stated relative error, exact at zero.

A delay d > 0 falls in bucket ceil(log d / log g) with g = (1 + e) / (1 - e); the middle of a bucket, 2 g^i / (1 + g),
is within e of every delay in it. The quantile at q is that of the delay of rank ceil(q n). Sketches of several runs are
added.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from theory.jit import step

RELATIVE_ERROR = 0.005
"""e: a quantile is off by at most this fraction of itself."""

_STEP = log((1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR))
_LOWEST = ceil(log(1e-9) / _STEP)
_BUCKETS = ceil(log(1e12) / _STEP) - _LOWEST + 2


def new_sketch() -> NDArray[np.int64]:
    """Make an empty sketch: zeros first, then the buckets from 1e-9 to 1e12."""
    return np.zeros(_BUCKETS, np.int64)


@step
def count_delay(sketch: NDArray[np.int64], delay: float) -> None:
    """Count one delay."""
    bucket = 0
    if delay > 1e-9:
        bucket = int(np.ceil(np.log(delay) / _STEP)) - _LOWEST + 1
        bucket = min(max(bucket, 1), len(sketch) - 1)
    sketch[bucket] += 1


def quantile(sketch: NDArray[np.int64], q: float) -> float:
    """Return the delay of rank ceil(q n), NaN of an empty sketch.

    Examples
    --------
    >>> sketch = new_sketch()
    >>> for delay in (0.0, 1.0, 2.0, 30.0): count_delay(sketch, delay)
    >>> quantile(sketch, 0.25), abs(quantile(sketch, 0.95) / 30 - 1) <= RELATIVE_ERROR
    (0.0, True)
    """
    total = int(sketch.sum())
    if not total:
        return float("nan")
    bucket = int(np.searchsorted(np.cumsum(sketch), max(1, ceil(q * total - 1e-9))))
    if bucket == 0:
        return 0.0
    middle = 2 / (1 + float(np.exp(_STEP)))
    return float(np.exp((bucket - 1 + _LOWEST) * _STEP) * middle)
