"""The waiting jobs in the order of arrival, searched for the first whose class is low enough.

A tree of maxima (`trees`) has a leaf for each job, new ones behind all others; its value is minus the class of the job.
A job that starts leaves a gap. When all leaves have been used, the jobs that are left close up, and the tree becomes as
small or as large as they need: each job has moved a few times at most on average, and a small queue has a small tree.
Where there are few classes, there is no tree: the first jobs of their lines are compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.slotted.trees import NOTHING, first_at_least, set_leaf
from theory.jit import routine, step

LEAST = 32
"""Leaves of the smallest tree."""

FEW_CLASSES = 8
"""Classes up to which lines are compared."""

USED, LEAVES = 0, 1
"""Places in ``reach``."""


def _leaves_for(jobs: int) -> int:
    """Return how many leaves so many jobs need: twice as many, so that there are few occasions to close up."""
    leaves = LEAST
    while leaves < 2 * jobs:
        leaves *= 2
    return leaves


def new_arrivals(most: int, classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make memory for at most so many waiting jobs of so many classes, none there.

    Returns
    -------
    arrived : int64[2P]
        The tree, and behind it what is not in use; of two dimensions, and empty, for at most `FEW_CLASSES`.
    reach : int64[2]
        Leaves that have been used, and leaves of the tree, more than 0.

    Examples
    --------
    >>> arrived, reach = new_arrivals(10, 20)
    >>> for waiting, job_class in enumerate((5, 3, 4)): append(arrived, reach, job_class, waiting)
    >>> leaf = first_below(arrived, reach, 0, 5)
    >>> take_out(arrived, reach, leaf), first_below(arrived, reach, 0, 5), first_below(arrived, reach, 0, 3)
    (3, 2, -1)
    """
    arrived = np.full(2 * _leaves_for(most), NOTHING) if classes > FEW_CLASSES else np.zeros((0, 0), np.int64)
    return arrived, np.array([0, LEAST])


def with_more(arrived: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Copy a tree into memory for more waiting jobs."""
    more = np.full(max(len(arrived), 2 * _leaves_for(most)), NOTHING)
    more[: len(arrived)] = arrived
    return more


@routine
def append(arrived: NDArray[np.int64], reach: NDArray[np.int64], job_class: int, waiting: int) -> None:
    """Put a job behind all others, which are so many."""
    if reach[USED] == reach[LEAVES]:
        _close_up(arrived, reach, waiting)
    set_leaf(arrived[: 2 * reach[LEAVES]], reach[USED], -job_class)
    reach[USED] += 1


@step
def _close_up(arrived: NDArray[np.int64], reach: NDArray[np.int64], waiting: int) -> None:
    """Move the jobs that are left to the first leaves of a tree of the size that they need."""
    before, leaves = reach[LEAVES], LEAST
    while leaves < 2 * waiting:
        leaves *= 2
    at = leaves  # of a smaller tree never beyond what has been read, of a larger one never within what has not
    for leaf in range(before, 2 * before):
        if arrived[leaf] != NOTHING:
            arrived[at] = arrived[leaf]
            at += 1
    for leaf in range(at, 2 * leaves):
        arrived[leaf] = NOTHING
    for node in range(leaves - 1, 0, -1):
        low, high = arrived[2 * node], arrived[2 * node + 1]
        arrived[node] = low if low >= high else high
    reach[USED] = waiting
    reach[LEAVES] = leaves


@step
def first_below(arrived: NDArray[np.int64], reach: NDArray[np.int64], start: int, bound: int) -> int:
    """Return the first leaf from `start` on with a job of a class below a bound, -1 if there is none."""
    return int(first_at_least(arrived[: 2 * reach[LEAVES]], start, 1 - bound))


@step
def take_out(arrived: NDArray[np.int64], reach: NDArray[np.int64], leaf: int) -> int:
    """Remove the job of a leaf; return its class."""
    job_class = -arrived[leaf + reach[LEAVES]]
    set_leaf(arrived[: 2 * reach[LEAVES]], leaf, NOTHING)
    return int(job_class)
