"""What is known of an experiment before it is run: about how long it takes, and the rewards that theory gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fluid.experiment.grid import Grid
from fluid.experiment.pace import Forecast, guessed_pace
from fluid.experiment.store import Store
from fluid.files.given_by_trace import has_trace
from fluid.simulation.policy_names import policy
from theory.files.instances import parse_instance
from theory.greedy.optimal import solve


def forecast(grid: Grid, store: Store | None) -> Forecast:
    """Return what is left of an experiment, and about how long it takes on one processor."""
    pace = paces(grid, store)
    stored = set() if store is None else store.known(cell.key for cell in grid.cells)
    remaining = {cell.key: cell for cell in grid.cells if cell.key not in stored}.values()
    events: dict[str, float] = {}
    for cell in remaining:
        name = cell.document["policy"]
        events[name] = events.get(name, 0.0) + cell.events
    seconds = sum(
        number / (pace[name] if name in pace else guessed_pace(policy(name).model == "slotted"))
        for name, number in events.items()
    )
    measured = bool(events) and events.keys() <= pace.keys()
    return Forecast(len(remaining), sum(events.values()), seconds, measured)


def paces(grid: Grid, store: Store | None) -> dict[str, float]:
    """Return expected events a second by policy, from the cells of the grid that the store holds.

    The median over cells, as the first of a policy may have been compiled.
    """
    if store is None:
        return {}
    seconds = store.seconds(cell.key for cell in grid.cells)
    done: dict[str, list[float]] = {}
    for cell in grid.cells:
        if seconds.get(cell.key):
            done.setdefault(cell.document["policy"], []).append(cell.events / seconds[cell.key])
    return {name: float(np.median(rates)) for name, rates in done.items() if np.median(rates) > 0}


@dataclass(frozen=True)
class Reference:
    """Rewards per server to which those of a loss system compare.

    Attributes
    ----------
    greedy : float
        Of the greedy assignment: what dynamic reservation earns in the fluid limit.
    optimum : float
        Of the optimal assignment: in the long run no policy earns more.
    """

    greedy: float
    optimum: float


def references(grid: Grid) -> dict[tuple[Any, ...], Reference]:
    """Return the references by the values of the parameters of a point.

    Points without one are left out: laws of sizes, and jobs from a trace, whose workload is not that of the instance.

    Notes
    -----
    One linear program for each instance; points that differ in other fields share it.
    """
    reference_of: dict[str, Reference] = {}
    references: dict[tuple[Any, ...], Reference] = {}
    for cell in grid.cells:
        point, document = tuple(cell.varied[name] for name in grid.parameters), cell.document
        if point in references or "type" not in document or has_trace(document["simulation"]):
            continue
        what = {name: document[name] for name in ("server", "type")}
        key = json.dumps(what, sort_keys=True)
        if key not in reference_of:
            reference_of[key] = _reference(what)
        references[point] = reference_of[key]
    return references


def _reference(document: Mapping[str, Any]) -> Reference:
    solution = solve(parse_instance(document))
    return Reference(float(solution.greedy.reward), float(solution.optimal.reward))
