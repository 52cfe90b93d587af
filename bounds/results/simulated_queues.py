"""What claims about simulations share: runs of queues with one seed, and how intervals and runs are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from bounds.results.decisions import Decisions
from fluid.simulation.driver import simulate
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import QueueResult
from fluid.simulation.scenario import Scenario
from fluid.statistics import Interval

SEED = 4417  # of all simulated queues; no run by which systems and loads were chosen had it


def simulated(policy: Policy | str, scenario: Scenario, replications: int, seed: int = SEED) -> QueueResult[Any]:
    """Simulate with the seed of the claims; equal scenarios see the same jobs."""
    result = simulate(policy, scenario, replications=replications, seed=seed)
    assert isinstance(result, QueueResult)
    if result.interrupted:  # a claim is decided on all of its replications, or not at all
        raise KeyboardInterrupt
    return result


def shown(number: Interval, digits: int = 4) -> str:
    """Write an interval, its mean with the given number of digits."""
    return f"{number.mean:.{digits}g} [{number.low:.3g}, {number.high:.3g}]"


def spent(decisions: Decisions, *results: QueueResult[Any], seed: int = SEED) -> str:
    """Say what the decisions rest on."""
    events = sum(run.events for result in results for run in result.runs)
    counts = {len(result.runs) for result in results}
    which = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{min(counts)}"
    return f"{decisions}, seed {seed}, {which} replications, {events:,} events"


def mean_queue(result: QueueResult[Any]) -> float:
    """Return the mean queue over all replications."""
    return float(np.mean([run.mean_queue for run in result.runs]))


def mean_queues(results: dict[str, QueueResult[Any]]) -> str:
    """Write mean queues side by side."""
    return ", ".join(f"{name} {mean_queue(result):.4g}" for name, result in results.items())
