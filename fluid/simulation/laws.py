"""Laws of service times and of times between arrivals, by name and shape; their means come from the instance."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.jit import step

EXPONENTIAL, HYPEREXPONENTIAL, DETERMINISTIC, LOGNORMAL = 0, 1, 2, 3

NAMES = ("exponential", "hyper-exponential", "deterministic", "log-normal")
"""Laws by name, in the order of their numbers."""


@dataclass(frozen=True)
class Law:
    """A law of positive times up to its mean.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    scv : float
        Squared coefficient of variation, variance / mean^2; above 1 for the hyper-exponential law (two phases of
        balanced means), any positive number for the log-normal; of no meaning for the others.
    """

    name: str = "exponential"
    scv: float = 4.0

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InputError(f"law: expected one of {', '.join(NAMES)}, got {self.name!r}")
        if self.name == "hyper-exponential" and not self.scv > 1:
            raise InputError(f"scv: expected more than 1 for a hyper-exponential law, got {self.scv!r}")
        if not 0 < self.scv < 1e6:
            raise InputError(f"scv: expected a positive number up to a million, got {self.scv!r}")


class Times(NamedTuple):
    """Laws in the form of arrays: number of the law, and its parameters, for each type.

    Attributes
    ----------
    law : int64[J]
    shape : float64[J, 3]
        Mean; or probability of phase 1 and both means; or mean and deviation of the logarithm.
    """

    law: NDArray[np.int64]
    shape: NDArray[np.float64]


def times(law: Law, means: NDArray[np.float64]) -> Times:
    """Turn a law and the means of each type into arrays.

    Examples
    --------
    >>> service = times(Law("hyper-exponential", 3.0), np.array([2.0]))
    >>> p, first, second = service.shape[0]
    >>> float(round(p * first + (1 - p) * second, 12)), float(round(2 * (p * first**2 + (1 - p) * second**2), 12))
    (2.0, 16.0)
    """
    shape = np.zeros((len(means), 3))
    for j, mean in enumerate(means):
        if law.name == "hyper-exponential":
            p = (1 + sqrt((law.scv - 1) / (law.scv + 1))) / 2
            shape[j] = p, mean / (2 * p), mean / (2 * (1 - p))
        elif law.name == "log-normal":
            variance = log(1 + law.scv)
            shape[j] = (log(mean) - variance / 2 if 0 < mean < np.inf else mean), sqrt(variance), 0.0
        else:
            shape[j] = mean, 0.0, 0.0
    return Times(np.full(len(means), NAMES.index(law.name)), shape)


@step
def draw_time(times: Times, j: int, draws: Any) -> float:
    """Draw a time of type j."""
    law = times.law[j]
    if law == EXPONENTIAL:
        return float(draws.standard_exponential() * times.shape[j, 0])
    if law == HYPEREXPONENTIAL:
        phase = 1 if draws.random() < times.shape[j, 0] else 2
        return float(draws.standard_exponential() * times.shape[j, phase])
    if law == LOGNORMAL:
        return float(np.exp(times.shape[j, 0] + times.shape[j, 1] * draws.standard_normal()))
    return float(times.shape[j, 0])
