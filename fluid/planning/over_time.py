"""A plan over time: when its servers are in use, and when jobs are refused or wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.experiment.replications import simulate_each
from fluid.planning.log import PlannedLog
from fluid.planning.needs import Trials, scenario_of
from fluid.simulation.policy_interface import Policy
from theory.greedy.pools import apportion
from theory.instance import Additive, Instance

PERIODS = 60
"""Equal periods into which the measured part of a log is cut."""


@dataclass(frozen=True)
class OverTime:
    """What a policy does on a number of servers in equal periods of a log.

    Attributes
    ----------
    edges : float64[B + 1]
        Ends of the periods, in seconds from the beginning of the log.
    arrivals, starts : int64[B]
        Jobs that came in each period, and that began their service.
    waiting : float64[B]
        Mean number of jobs that wait.
    in_use : mapping from str to float64[B]
        Mean share of each resource of all servers that jobs have.
    """

    edges: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    starts: NDArray[np.int64]
    waiting: NDArray[np.float64]
    in_use: Mapping[str, NDArray[np.float64]]


def over_time(policy: Policy, log: PlannedLog, servers: int, trials: Trials) -> OverTime:
    """Simulate a policy once more on its servers, and measure by periods.

    Notes
    -----
    The run is the one by which the number of servers was found: the same policy, log and seed.
    """
    scenario = scenario_of(policy, log, servers, bins=PERIODS)
    (run,) = simulate_each([(policy, scenario)], seed=trials.seed, engine=trials.engine, store=trials.store)
    measured = slice(run.first, None)
    return OverTime(
        run.measures.edges[measured],
        run.measures.arrivals[measured].sum(axis=1),
        run.measures.starts[measured].sum(axis=1),
        run.queue[measured],
        {name: run.jobs[measured] @ shares for name, shares in _shares(log.instance, servers).items()},
    )


def _shares(instance: Instance, servers: int) -> dict[str, NDArray[np.float64]]:
    """Return, by resource, the share of all servers' capacity that one job of each type has, float64[J]."""
    counts = apportion(servers, [pool.share for pool in instance.pools])
    capacity: dict[str, float] = {}
    demand: dict[str, NDArray[np.float64]] = {}
    for pool, count in zip(instance.pools, counts, strict=True):
        if not isinstance(pool.space, Additive):  # servers of a plan have capacities; lists name no resource
            return {}
        for r, name in enumerate(pool.space.resources):
            unit = float(pool.space.unit[r])
            capacity[name] = capacity.get(name, 0.0) + count * pool.space.capacity[r] * unit
            demand[name] = np.array([row[r] * unit for row in pool.space.demands])
    return {name: demand[name] / total for name, total in capacity.items() if total}
