"""Fluid path and simulated paths of one system side by side: whether they meet as servers grow, and how fast.

`LIMITS` has the policies whose limit is known: a function from instance, horizon and times to jobs per server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation import Reservation, emptying_rates, fluid_path
from fluid.limits.reservation.regimes import DrainRates
from fluid.parallel import run_all
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy as policy_of
from fluid.statistics import Interval, slope
from theory.errors import ArgumentError
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.greedy.optimal import optimal_assignment
from theory.instance import Instance
from theory.shown import Shown

BINS = 1500
"""Spans of time over which both paths are averaged before they are compared."""

Curve = NDArray[np.float64]
Limit = Callable[[Instance, NDArray[np.float64]], Curve]


def reservation_limit(instance: Instance, times: NDArray[np.float64], rates: DrainRates = emptying_rates) -> Curve:
    """Return jobs per server under dynamic reservation from the empty system, float64[n, J]."""
    return fluid_path(Reservation(instance), float(times[-1]), rates=rates).jobs(times)


def static_limit(instance: Instance, times: NDArray[np.float64]) -> Curve:
    """Return jobs per server under static reservation from the empty system, float64[n, J].

    Each type fills its own slots, ``min(slots_j, rho_j (1 - exp(-mu_j t)))``.
    """
    slots = sum(float(c.fraction) * np.array(c.configuration, float) for c in optimal_assignment(instance).columns)
    workload = np.array([float(rho) for rho in instance.workload])
    service = np.array([float(t.service_rate) for t in instance.types])
    return np.asarray(np.minimum(slots, workload * (1 - np.exp(-np.outer(times, service)))))


LIMITS: dict[str, Limit] = {"dra": reservation_limit, "static": static_limit}
"""The policies whose limit is known, by the names of the command line."""


def limit_of(policy: str) -> Limit:
    """Return the fluid limit of a policy; InputError if it is not known."""
    if policy not in LIMITS:
        raise ArgumentError("policy", f"expected one with a known fluid limit ({', '.join(LIMITS)}), got {policy!r}")
    return LIMITS[policy]


@dataclass(frozen=True, repr=False)
class CrossCheck(Shown):
    """The fluid path beside simulated ones.

    Attributes
    ----------
    greedy : GreedyAssignment
        The limit of both for long times.
    edges : float64[B + 1]
        Ends of the bins of time.
    fluid : float64[B, J]
        Jobs per server.
    servers : tuple of int, length S
    simulated : float64[S, N, B, J]
        Jobs per server in N runs of each size, averaged over the bins.
    """

    instance: Instance
    greedy: GreedyAssignment
    edges: NDArray[np.float64]
    fluid: Curve
    servers: tuple[int, ...]
    simulated: NDArray[np.float64]

    @property
    def times(self) -> NDArray[np.float64]:
        """Middles of the bins, float64[B]."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    @property
    def distances(self) -> NDArray[np.float64]:
        """Supremum over bins and types of ``|Y_j / L - y_j|``, float64[S, N]."""
        return np.asarray(np.abs(self.simulated - self.fluid).max(axis=(2, 3)))

    @property
    def rate(self) -> Interval:
        """Slope of log distance on log L over all runs, with its interval."""
        # a distance of c L^s has slope s; the theory expects -1/2
        logs = np.repeat(np.log(self.servers), self.simulated.shape[1])
        return slope(logs, np.log(self.distances).ravel())

    def beside(self, limit: Limit) -> CrossCheck:
        """Return the same runs beside another path, such as a simplification that should fail."""
        return replace(self, fluid=_averaged(limit, self.instance, self.edges))

    def rewards(self, after: float) -> Curve:
        """Return the reward per server of each run, averaged over time from a time on, float64[S, N]."""
        late = self.times > after
        values = np.array([float(u) for u in self.instance.rewards])
        return np.asarray(self.simulated[:, :, late].mean(axis=2) @ values)

    def gap(self, after: float) -> Interval | None:
        """Return the slope, on log L, of the log of what a run lacks of the greedy reward from a time on.

        None where a run has more than the greedy reward.
        """
        lacks = float(self.greedy.reward) - self.rewards(after)
        if (lacks <= 0).any():
            return None
        return slope(np.repeat(np.log(self.servers), lacks.shape[1]), np.log(lacks).ravel())


def _averaged(limit: Limit, instance: Instance, edges: Curve) -> Curve:
    """Return jobs per server of a limit, averaged between edges of time by Simpson's rule, float64[B, J]."""
    points = np.sort(np.concatenate((edges, (edges[:-1] + edges[1:]) / 2)))
    curve = limit(instance, points)
    # Simpson's rule on [a, b] with the middle m: (f(a) + 4 f(m) + f(b)) / 6
    return np.asarray((curve[:-2:2] + 4 * curve[1::2] + curve[2::2]) / 6)


def _simulated(policy: str, scenario: LossScenario, seed: tuple[int, ...]) -> Curve:
    return np.asarray(run_once(policy_of(policy), scenario, np.random.SeedSequence(seed)).jobs / scenario.servers)


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
    workers: int = 1,
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
        Another path to compare with (see also `CrossCheck.beside`).
    workers : int
        Processes; -1: one a core.

    Raises
    ------
    InputError
        A policy whose limit is not known.
    """
    limit = limit_of(policy) if limit is None else limit
    edges = np.linspace(0.0, until, bins + 1)
    fluid = _averaged(limit, instance, edges)
    tasks = [
        (policy, LossScenario(instance, size, until, 0.0, options=options or {}, bins=bins), (seed, size, n))
        for size in servers
        for n in range(replications)
    ]
    runs = np.empty((len(tasks), bins, len(instance.types)))
    for i, run in run_all(_simulated, tasks, workers=workers):
        runs[i] = run
    shaped = runs.reshape(len(servers), replications, bins, len(instance.types))
    return CrossCheck(instance, global_greedy(instance), edges, fluid, tuple(servers), shaped)
