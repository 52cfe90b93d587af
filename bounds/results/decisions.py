"""The statistical decisions of a claim, which share a false-alarm rate of 1e-6.

A claim that rests on simulation says beforehand how many decisions it will make. Each gets an equal part of `ALARM`
(Bonferroni's inequality), so that the outcome on record, where it is true, is missed with a probability of at most
`ALARM`, whatever the dependence between the decisions.

Two kinds of decision are offered. Student's interval of a mean over replications is exact for normal values; averages
over long runs are close to normal, and its quantiles widen as replications become few (4.9 standard errors with very
many values, 11.6 with ten, 49 with five), so that a decision on few replications needs a clear difference. The sign
test assumes nothing of the values but independence; it needs 20 replications for a single decision. Bootstrap
intervals are not offered: they cannot reach such levels with tens of replications.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fluid.simulation.results import QueueResult
from fluid.statistics import Interval, interval, mean_interval, paired, slope

ALARM = 1e-6

FRESH_SEED = 20261122
"""Of the claims whose samples were made smaller after their outcome under an earlier seed was known."""

SECOND_FRESH_SEED = 20261123
"""Of those that were made smaller once more."""

THIRD_FRESH_SEED = 20261126
"""Of those that were made smaller a third time."""

FOURTH_FRESH_SEED = 20261127
"""Of those that were made smaller a fourth time."""


class Decisions:
    """The decisions of one claim.

    Parameters
    ----------
    planned : int
        How many will be made; making more is an error.

    Examples
    --------
    >>> decisions = Decisions(4)
    >>> bool(decisions.mean([1.0, 1.1, 0.9, 1.0, 1.05]).low > 0), decisions.made
    (False, 1)
    """

    def __init__(self, planned: int) -> None:
        self.planned = planned
        self.made = 0

    def level(self) -> float:
        """Return the confidence of the next decision, and count it.

        Raises
        ------
        RuntimeError
            More decisions than were planned.
        """
        self.made += 1
        if self.made > self.planned:
            raise RuntimeError(f"a claim that planned {self.planned} decisions makes another")
        return 1 - ALARM / self.planned

    def mean(self, values: ArrayLike) -> Interval:
        """Return Student's interval of the mean of independent values."""
        return mean_interval(values, self.level())

    def paired(self, first: ArrayLike, second: ArrayLike) -> Interval:
        """Return Student's interval of the mean difference of pairs."""
        return paired(first, second, self.level())

    def queue_order(self, longer: QueueResult[Any], shorter: QueueResult[Any]) -> Interval:
        """Return the interval of the difference of two mean queues on the same jobs."""
        return self.paired([run.mean_queue for run in longer.runs], [run.mean_queue for run in shorter.runs])

    def slope(self, x: ArrayLike, y: ArrayLike) -> Interval:
        """Return Student's interval of a fitted slope (errors independent and of equal variance)."""
        return slope(x, y, self.level())

    def estimate(self, mean: float, error: float, degrees: float) -> Interval:
        """Return the interval of an estimate with a known standard error and its degrees of freedom."""
        return interval(mean, error, degrees, self.level())

    def growth(self, result: QueueResult[Any]) -> Interval:
        """Return the interval of the rate at which a queue grows, over replications."""
        return result.growth(self.level())

    def mostly_positive(self, values: ArrayLike) -> bool:
        """Decide by the sign test whether the median of independent values is positive.

        Returns
        -------
        bool
            Whether so many values are positive that chance gives as many, where the median is not positive, with a
            probability of at most this decision's part of `ALARM`.
        """
        part = 1 - self.level()
        signs = np.asarray(values, float) > 0
        n, positive = len(signs), int(signs.sum())
        return sum(comb(n, k) for k in range(positive, n + 1)) <= part * 2.0**n

    def __str__(self) -> str:
        """Say how many decisions share which rate."""
        each = "one decision" if self.planned == 1 else f"{self.planned} decisions together"
        return f"{each} at a false-alarm rate of {ALARM:g}"
