"""What theory says of the points of a grid: the reward of greedy in the fluid limit, and the optimal one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fluid.experiment.grid import Grid
from fluid.files.left_out import has_trace
from theory.files.instances import parse_instance
from theory.greedy.optimal import solve


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
