"""Configurations filled with the largest jobs first: a good start of column generation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.jit import kernel

SERVED = 1e-9
"""Part of a type's jobs that may be left when it counts as served; the rounding of floats leaves some."""


@kernel
def filled_largest_first(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], wanted: NDArray[np.float64], most: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return configurations that serve what is wanted, each filled with the largest jobs that still wait and fit.

    Parameters
    ----------
    capacity : int64[R]
    demands : int64[n, R]
        Of the types from the largest to the smallest; each fits alone.
    wanted : float64[n]
        Positive.
    most : int64[n]
        Most jobs of each type in a configuration, positive.

    Returns
    -------
    int64[m, n]
        m is at most n: with every configuration another type is served to the end.

    Notes
    -----
    O(n^2 R).
    """
    n = len(demands)
    left = wanted.copy()
    waits = np.ones(n, np.bool_)
    rows = np.zeros((n, n), np.int64)
    m = 0
    while waits.any():
        free = capacity.copy()
        amount = np.inf
        for j in range(n):
            if not waits[j]:
                continue
            number = most[j]
            for r in range(free.size):
                if demands[j, r] > 0:
                    number = min(number, free[r] // demands[j, r])
            rows[m, j] = number
            if number > 0:
                free -= number * demands[j]
                amount = min(amount, left[j] / number)
        for j in range(n):
            if rows[m, j] > 0:
                left[j] -= amount * rows[m, j]
                waits[j] = left[j] > SERVED * wanted[j]
        m += 1
    return rows[:m]
