"""A loss system as a document says it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fluid.simulation.continuous import ContinuousTable
from fluid.simulation.documents import ListedJobs, Times
from fluid.simulation.loss.model import LossScenario
from theory.errors import InputError
from theory.instance import Instance

TABLE = ContinuousTable


def scenario_of(
    instance: Instance, table: ContinuousTable, times: Times, listed: ListedJobs | None, **how: Any
) -> LossScenario:
    """Make the scenario of a document.

    Tasks that run when a trace opens come at time 0, before all others, each for what was left of its service.
    """
    if table.initial.queue:
        raise InputError("simulation.initial", "queue: expected a policy of queues; in a loss system nobody waits")
    return LossScenario(
        instance,
        *times,
        table.arrivals,
        table.service,
        None if listed is None else listed.all,
        initial=table.initial.counts(times.servers, len(instance.types)),
        tick=Fraction(1) if listed is None else listed.tick,
        **how,
    )
