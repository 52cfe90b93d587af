"""The universal partition (18) of paper 001 and its reduced configurations (19), in exact integers."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError


def depth(sizes: NDArray[np.int64], capacity: int) -> int:
    """Return the least J >= 2 with all sizes greater than capacity / 2^J.

    Examples
    --------
    >>> depth(np.array([1, 7]), 20)
    5
    """
    levels = 2
    while int(sizes[0]) << levels <= capacity:
        levels += 1
    return levels


def virtual_queues(sizes: NDArray[np.int64], capacity: int, levels: int) -> NDArray[np.int32]:
    """Return the virtual queue of each size: 2m for (2/3 2^-m, 2^-m], 2m + 1 for (1/2 2^-m, 2/3 2^-m], of the capacity.

    Sizes of at most 2^-J go to the last one, 2J - 1.

    Examples
    --------
    >>> virtual_queues(np.array([1, 2, 3, 4, 5, 6, 8, 9, 12]), 12, 2).tolist()
    [3, 3, 3, 3, 2, 2, 1, 0, 0]
    """
    if levels < 2:
        raise InputError(f"simulation.partition: expected J of at least 2, got {levels}")
    ends = [Fraction(capacity, 2**m) * part for m in range(levels) for part in (Fraction(1), Fraction(2, 3))]
    at_most = np.array([floor(end) for end in ends[1:]])
    return np.asarray(np.sum(sizes[:, None] <= at_most[None, :], axis=1), np.int32)


def reduced_configurations(levels: int) -> NDArray[np.int64]:
    """Return the 4J - 4 configurations of K_RED as rows (k_1, queue, number in it).

    A row ``(1, q, n)`` is one job of queue 1 and n of queue q; ``(0, q, n)`` is n jobs of queue q alone.

    Examples
    --------
    >>> reduced_configurations(2).tolist()
    [[0, 0, 1], [0, 2, 2], [0, 3, 3], [1, 3, 1]]
    """
    rows = [(0, 2 * m, 2**m) for m in range(levels)]
    rows += [(0, 2 * m + 1, 3 * 2 ** (m - 1)) for m in range(1, levels)]
    rows += [(1, 2 * m, 2**m // 3) for m in range(2, levels)]
    rows += [(1, 2 * m + 1, 2 ** (m - 1)) for m in range(1, levels)]
    return np.array(rows, np.int64)
