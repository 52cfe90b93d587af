"""A queue in continuous time as a document says it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fluid.simulation.continuous import ContinuousTable
from fluid.simulation.documents import ListedJobs, Times
from fluid.simulation.queue.model import QueueScenario
from theory.instance import Instance

TABLE = ContinuousTable


def scenario_of(
    instance: Instance, table: ContinuousTable, times: Times, listed: ListedJobs | None, **how: Any
) -> QueueScenario:
    """Make the scenario of a document."""
    table.initial.refuse_in_service()
    return QueueScenario(
        instance,
        *times,
        table.arrivals,
        table.service,
        None if listed is None else listed.arriving,
        present=listed.present if listed is not None and listed.initial else None,
        queue=table.initial.queue,
        tick=Fraction(1) if listed is None else listed.tick,
        **how,
    )
