"""What claims about queues share: growth and order of queues as tests with a stated error, and the real window.

A queue *grows* if the whole interval of its growth rate over independent replications lies above 0 (or above a bound),
and is *settled* if it lies below a small part of what an unstable queue would grow by; the level is 1 - 1e-6, so each
such statement is false with probability 1e-6 where the opposite is true (up to Student's approximation). Orders of
queues are paired differences on the same jobs, at the same level.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bounds.claims import Outcome
from fluid.simulation.policy_interface import Policy
from fluid.simulation.replicate import simulate
from fluid.simulation.results import QueueResult
from fluid.simulation.scenario import Scenario
from fluid.statistics import Interval, paired
from fluid.traces.google import read_google_table
from fluid.traces.model import Trace
from fluid.traces.preprocess import completed, single_resource

LEVEL = 1 - 1e-6
SEED = 1
WINDOW = "google2011_part0_attempts.csv.gz"


def simulated(policy: Policy | str, scenario: Scenario, replications: int) -> QueueResult[Any]:
    """Simulate with the seed of the claims; equal scenarios see the same jobs."""
    result = simulate(policy, scenario, replications=replications, seed=SEED)
    assert isinstance(result, QueueResult)
    return result


def difference(first: QueueResult[Any], second: QueueResult[Any]) -> Interval:
    """Return the mean queue of the first less that of the second, on the same jobs."""
    return paired([run.mean_queue for run in first.runs], [run.mean_queue for run in second.runs], LEVEL)


def shown(number: Interval) -> str:
    """Write an interval."""
    return f"{number.mean:.4g} [{number.low:.3g}, {number.high:.3g}]"


def cost(*results: QueueResult[Any]) -> str:
    """Say what was spent."""
    events = sum(run.events for result in results for run in result.runs)
    return f"level 1 - 1e-6, seed {SEED}, {len(results[0].runs)} replications, {events:,} events"


@cache
def real_table() -> Trace | str:
    """Return all tasks of the real window; or why there are none."""
    folder = Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parents[3] / "shared" / "data"))
    path = folder / WINDOW
    if not path.is_file():
        return f"no real data: {path.name} is not in PACKPROOF_DATA"
    return read_google_table(path)


@cache
def real_window() -> Trace | str:
    """Return the completed tasks that arrive in the real window, as sizes; or why there are none."""
    table = real_table()
    return table if isinstance(table, str) else single_resource(completed(table).arrivals)


def skipped(reason: str) -> Outcome:
    """Return the outcome where the data is absent."""
    return Outcome(reason, None)


def mean_queues(results: dict[str, QueueResult[Any]]) -> str:
    """Write mean queues side by side."""
    return ", ".join(f"{name} {np.mean([run.mean_queue for run in r.runs]):.4g}" for name, r in results.items())
