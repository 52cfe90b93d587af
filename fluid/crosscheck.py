"""Fluid path and simulated paths of one system side by side: do they meet as servers grow, and how fast?

A policy that has a limit stands in `LIMITS`: a function from instance, horizon and times to jobs per server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.policies import policy as policy_of
from fluid.reservation import Reservation, emptying_rates, fluid_path
from fluid.reservation.modes import DrainRates
from fluid.simulate.loss import Scenario, run_loss
from fluid.statistics import Interval, slope
from theory.errors import InputError
from theory.greedy import GreedyAssignment, global_greedy
from theory.instance import Instance

BINS = 1500
"""Spans of time over which both paths are averaged before they are compared."""

Curve = NDArray[np.float64]
Limit = Callable[[Instance, NDArray[np.float64]], Curve]


def reservation_limit(instance: Instance, times: NDArray[np.float64], rates: DrainRates = emptying_rates) -> Curve:
    """Return jobs per server under dynamic reservation from the empty system, float64[n, J]."""
    return fluid_path(Reservation(instance), float(times[-1]), rates=rates).jobs(times)


LIMITS: dict[str, Limit] = {"dra": reservation_limit}
"""The policies whose limit is known, by the names of the command line."""


@dataclass(frozen=True)
class CrossCheck:
    """The fluid path beside simulated ones.

    Attributes
    ----------
    greedy : GreedyAssignment
        The limit of both for long times.
    times : float64[B]
        Middles of the bins.
    fluid : float64[B, J]
        Jobs per server.
    servers : tuple of int, length S
    simulated : float64[S, N, B, J]
        Jobs per server in N runs of each size, averaged over the bins.
    """

    instance: Instance
    greedy: GreedyAssignment
    times: NDArray[np.float64]
    fluid: Curve
    servers: tuple[int, ...]
    simulated: NDArray[np.float64]

    @property
    def distances(self) -> NDArray[np.float64]:
        """Supremum over bins and types of |Y_j / L - y_j|, float64[S, N]."""
        return np.asarray(np.abs(self.simulated - self.fluid).max(axis=(2, 3)))

    @property
    def rate(self) -> Interval:
        """Slope of log distance on log L over all runs, with its interval."""
        logs = np.repeat(np.log(self.servers), self.simulated.shape[1])
        return slope(logs, np.log(self.distances).ravel())


def crosscheck(
    instance: Instance,
    servers: Sequence[int],
    until: float,
    replications: int,
    *,
    policy: str = "dra",
    options: dict[str, Any] | None = None,
    seed: int = 0,
    bins: int = BINS,
    limit: Limit | None = None,
) -> CrossCheck:
    """Compare a policy's fluid limit with simulations of growing size, from the empty system.

    Parameters
    ----------
    instance : Instance
    servers : sequence of int
        Sizes L.
    until : float
    replications : int
        Runs of each size, seeds independent.
    policy : str
        One of `LIMITS`, unless `limit` is given.
    options : dict, optional
        Of the policy.
    limit : callable, optional
        Another path to compare with, such as a simplification that should fail.

    Raises
    ------
    InputError
        A policy whose limit is not known.
    """
    if limit is None:
        if policy not in LIMITS:
            raise InputError(f"--policy: expected one with a known limit ({', '.join(LIMITS)}), got {policy!r}")
        limit = LIMITS[policy]
    edges = np.linspace(0.0, until, bins + 1)
    points = np.linspace(0.0, until, 2 * bins + 1)
    curve = limit(instance, points)
    fluid = (curve[:-2:2] + 4 * curve[1::2] + curve[2::2]) / 6  # Simpson's rule on each bin
    runs = np.empty((len(servers), replications, bins, len(instance.types)))
    for i, size in enumerate(servers):
        for n in range(replications):
            scenario = Scenario(instance, size, until, 0.0, options=options or {}, bins=bins)
            run = run_loss(policy_of(policy), scenario, np.random.SeedSequence((seed, size, n)))
            runs[i, n] = run.jobs / size
    middles = (edges[:-1] + edges[1:]) / 2
    return CrossCheck(instance, global_greedy(instance), middles, fluid, tuple(servers), runs)
