"""What claims about simulations share: runs of queues with one seed, how intervals are written, the real window."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bounds.claims import Outcome
from bounds.claims.data import data_folder
from fluid.simulation.driver import simulate
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import QueueResult, Run
from fluid.simulation.scenario import Scenario
from fluid.statistics import Interval
from fluid.traces.google import read_google_table
from fluid.traces.model import Trace
from fluid.traces.preprocess import completed, single_resource

SEED = 4417
"""Of all simulated queues. None of the runs by which systems and loads were chosen had this seed."""
WINDOW = "google2011_part0_attempts.csv.gz"


def simulated(policy: Policy | str, scenario: Scenario, replications: int, seed: int = SEED) -> QueueResult[Any]:
    """Simulate with the seed of the claims; equal scenarios see the same jobs."""
    result = simulate(policy, scenario, replications=replications, seed=seed)
    assert isinstance(result, QueueResult)
    if result.interrupted:  # a claim is decided on all of its replications, or not at all
        raise KeyboardInterrupt
    return result


def whole(run: Run) -> Run:
    """Return a run that reached its end; Ctrl-C, which ends a run early, ends a claim too."""
    if run.interrupted:
        raise KeyboardInterrupt
    return run


def shown(number: Interval) -> str:
    """Write an interval."""
    return f"{number.mean:.4g} [{number.low:.3g}, {number.high:.3g}]"


@cache
def real_table() -> Trace | str:
    """Return all tasks of the real window; or why there are none."""
    path = data_folder() / WINDOW
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
