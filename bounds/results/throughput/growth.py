"""How the queues of a slotted scenario grow: what the simulated claims of this paper share.

A queue *grows* if the whole interval of its growth rate over replications lies above 0, and is *settled* if the whole
interval lies below a small bound that the claim states. All intervals are at the level that `Decisions` shares out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bounds.results.decisions import Decisions
from bounds.results.simulated_queues import SEED
from fluid.simulation.results import QueueResult, Run
from fluid.statistics import Interval, growth


def slopes(
    result: QueueResult[Any], decisions: Decisions, values: Callable[[Run], Any], runs: Sequence[Run] | None = None
) -> Interval:
    """Return the interval of the growth per slot of a quantity given by bins, over the replications after the warm-up.

    Parameters
    ----------
    result : QueueResult
    decisions : Decisions
        One of them is made.
    values : callable
        From a run to the averages of the quantity over its bins, float[B].
    runs : sequence of Run, optional
        The replications that count, at least two; all where left out.
    """
    first, edges = result.runs[0].first, result.runs[0].measures.edges
    curves = [np.asarray(values(run))[first:] for run in runs or result.runs]
    return growth(curves, (edges[first + 1 :] + edges[first:-1]) / 2, decisions.level())


def waiting_size(run: Run) -> Any:
    """Return the mean size of all waiting jobs together, by bins, as a part of one server."""
    return run.measures.load.sum(axis=1) / run.spans / run.scenario.law.capacity


def spent(decisions: Decisions, *results: QueueResult[Any], seed: int = SEED) -> str:
    """Say what the decisions rest on."""
    events = sum(run.events for result in results for run in result.runs)
    counts = {len(result.runs) for result in results}
    which = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{min(counts)}"
    return f"{decisions}, seed {seed}, {which} replications, {events:,} events"
