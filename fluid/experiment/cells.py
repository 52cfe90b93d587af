"""What one cell computes, by the model of its policy."""

from __future__ import annotations

import time

from fluid.experiment.grid import Cell
from fluid.experiment.numbers import loss_numbers, queue_numbers
from fluid.files.cell_scenarios import scene_of
from fluid.simulation.loss.model import run_loss
from fluid.simulation.policy_names import policy
from theory.errors import InputError


def run_cell(cell: Cell) -> tuple[dict[str, float | None], float]:
    """Run a cell; return its numbers, which depend on its content alone, and the seconds that it took."""
    begin = time.perf_counter()
    found = policy(cell.document["policy"])
    scene = scene_of(cell.document, found.model)
    try:
        if found.model == "loss":
            numbers = loss_numbers(run_loss(found, scene, cell.seed()))
        else:
            numbers = queue_numbers(scene, scene.run(found, cell.seed()))
    except InputError as error:  # here a policy is a field of the grid, and its run a cell
        place = ", ".join(f"{name} = {value}" for name, value in cell.varied.items() if name != "policy")
        where = f" [{place}{', ' if place else ''}replication {cell.replication}]"
        raise type(error)(str(error).removeprefix("--") + where) from None
    return numbers, time.perf_counter() - begin
