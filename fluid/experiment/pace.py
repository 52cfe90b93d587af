"""About how long runs take, before anything is known of them."""

from __future__ import annotations

from dataclasses import dataclass

from fluid.simulation.scenario import Scenario

PACE = 1e6
"""Events a second on one processor where the store holds no cell of the policy: an order of magnitude."""

SLOTS_PACE = 2e5
"""Slots a second, likewise."""

LONG = 30.0
"""Seconds of one processor from which commands give a forecast before they run."""


@dataclass(frozen=True)
class Forecast:
    """What is left of an experiment, or of replications.

    Attributes
    ----------
    cells : int
        That the store does not hold, or replications.
    events : float
        Expected events of these: arrivals, and as many departures. In slotted models, slots and arrivals.
    seconds : float
        Of one processor, without compilation.
    measured : bool
        Whether the pace is that of cells in the store, for every policy; else it is a guess within a factor of ten.
    """

    cells: int
    events: float
    seconds: float
    measured: bool


def forecast_runs(scenario: Scenario, replications: int) -> Forecast:
    """Return the expected events of replications, and about how long they take on one processor.

    Examples
    --------
    >>> from fluid.simulation.loss.model import LossScenario
    >>> from theory.instance import additive
    >>> scenario = LossScenario(additive([2], [[1]], workload=[3]), servers=10, until=1e6, warmup=0.0)
    >>> forecast_runs(scenario, 2)
    Forecast(cells=2, events=120000000.0, seconds=120.0, measured=False)
    """
    events = replications * scenario.expected_events
    return Forecast(replications, events, events / guessed_pace(scenario.model == "slotted"), False)


def guessed_pace(is_slotted: bool) -> float:
    """Return the events a second of a run of which nothing is known."""
    return SLOTS_PACE if is_slotted else PACE
