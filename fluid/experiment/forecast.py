"""How long an experiment will take: events of its cells, and the pace of those that the store holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluid.experiment.grid import Cell, Grid, scenario_of
from fluid.experiment.store import Store
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.scenario import Scenario
from fluid.simulation.slotted.model import SlottedScenario

PACE = 1e6
"""Events a second on one processor where the store holds no cell of the policy: an order of magnitude."""

SLOTS_PACE = 2e5
"""Slots a second, likewise."""


@dataclass(frozen=True)
class Forecast:
    """What is left of an experiment.

    Attributes
    ----------
    cells : int
        That the store does not hold.
    events : float
        Expected events of these cells: arrivals, and as many departures. In slotted models, slots and arrivals.
    seconds : float
        Of one processor, without compilation.
    measured : bool
        Whether the pace is that of cells in the store, for every policy; else it is a guess within a factor of ten.
    """

    cells: int
    events: float
    seconds: float
    measured: bool


def forecast(grid: Grid, store: Store | None) -> Forecast:
    """Return what is left of an experiment, and about how long it takes on one processor."""
    pace = paces(grid, store)
    stored = set() if store is None else store.known(cell.key for cell in grid.cells)
    remaining = list({cell.key: cell for cell in grid.cells if cell.key not in stored}.values())
    events = {place: _expected(cell) for place, cell in {_point(cell): cell for cell in remaining}.items()}
    total = seconds = 0.0
    measured = True
    for cell in remaining:
        name = cell.document["policy"]
        slotted = policy(name).model == "slotted"
        number = events[_point(cell)]
        total += number
        seconds += number / pace.get(name, SLOTS_PACE if slotted else PACE)
        measured &= name in pace
    return Forecast(len(remaining), total, seconds, measured and bool(remaining))


def paces(grid: Grid, store: Store | None) -> dict[str, float]:
    """Return expected events a second by policy, from the cells of the grid that the store holds.

    The median over cells, as the first of a policy may have been compiled.
    """
    if store is None:
        return {}
    seconds = store.seconds(cell.key for cell in grid.cells)
    done: dict[str, list[float]] = {}
    expected: dict[str, float] = {}
    for cell in grid.cells:
        if seconds.get(cell.key):
            number = expected.setdefault(_point(cell), _expected(cell))
            done.setdefault(cell.document["policy"], []).append(number / seconds[cell.key])
    return {name: float(np.median(rates)) for name, rates in done.items() if np.median(rates) > 0}


def _point(cell: Cell) -> str:
    return repr(sorted(cell.varied.items()))


def _expected(cell: Cell) -> float:
    """Return the expected events of a cell."""
    return expected_events(scenario_of(cell.document, policy(cell.document["policy"])))


def expected_events(scenario: Scenario) -> float:
    """Return the arrivals that a scenario expects, twice, as those that are served depart; slots count besides.

    Examples
    --------
    >>> from fluid.simulation.loss.model import LossScenario
    >>> from theory.instance import additive
    >>> expected_events(LossScenario(additive([2], [[1]], workload=[3]), servers=10, until=5.0, warmup=1.0))
    300.0
    """
    slots = scenario.until if scenario.model == "slotted" else 0.0
    if scenario.jobs is not None:
        return 2.0 * float(np.searchsorted(scenario.jobs.times, scenario.until)) + slots
    if isinstance(scenario, SlottedScenario):
        return 2.0 * scenario.rate * scenario.until + slots
    assert isinstance(scenario, LossScenario | QueueScenario)
    rates = [scenario.servers * float(t.workload * t.service_rate) for t in scenario.instance.types]
    return 2.0 * sum(rates) * scenario.until + slots
