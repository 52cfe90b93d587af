"""``packproof experiment``: the summary as a document and as lines."""

from __future__ import annotations

from typing import Any

from bounds.views.simulation.lines import aligned, shown
from fluid.experiment import Grid, Store, comparisons, summary
from fluid.experiment.summary import headline
from fluid.simulation.results import as_json


def answer_of(grid: Grid, store: Store) -> dict[str, Any]:
    """Return the summary of an experiment as a JSON document."""
    groups = summary(grid, store)
    return {
        "cells": len(grid.cells),
        "finished": sum(group.replications for group in groups),
        "parameters": list(grid.parameters),
        "groups": [
            {
                "parameters": group.parameters,
                "replications": group.replications,
                "numbers": {name: as_json(number) for name, number in group.numbers.items()},
                "settled": group.settled,
                "traffic_intensity": group.intensity,
            }
            for group in groups
        ],
        "comparisons": [
            {
                "parameters": one.parameters,
                "first": one.first,
                "second": one.second,
                "number": one.number,
                "difference": as_json(one.difference),
            }
            for one in comparisons(grid, store)
        ],
    }


def lines_of(answer: dict[str, Any]) -> list[str]:
    """Return the summary as lines of text."""
    table = [[*answer["parameters"], "n", "mean [95 %]"]]
    for group in answer["groups"]:
        what = headline(group["numbers"])
        number = "-" if what is None else f"{what} {shown(group['numbers'][what], least=0.0)}"
        table.append([*map(str, group["parameters"].values()), str(group["replications"]), number + _notes(group)])
    lines = [f"{answer['finished']:,} of {answer['cells']:,} cells", "", *aligned(table)]
    if answer["comparisons"]:
        lines += ["", "paired differences (the same jobs)"]
    pairs = []
    for one in answer["comparisons"]:
        place = ", ".join(f"{name} = {value}" for name, value in one["parameters"].items())
        pairs.append([f"  {one['first']} - {one['second']}", f"{one['number']} {shown(one['difference'])}", place])
    return lines + aligned(pairs)


def unstable(grid: Grid) -> str | None:
    """Return a line on the points of a grid where no policy is stable; None where there is none."""
    points = {tuple(cell.varied.values()): cell.intensity for cell in grid.cells}
    beyond = [z for z in points.values() if _is_unstable(z)]
    if not beyond:
        return None
    return (
        f"{len(beyond):,} of {len(points):,} points are unstable under every policy: traffic intensity up to "
        f"{max(z for z in beyond if z is not None):.6g}; at 1 or more the queue grows without bound"
    )


def _is_unstable(intensity: float | None) -> bool:
    return intensity is not None and intensity >= 1


def _notes(group: dict[str, Any]) -> str:
    if _is_unstable(group["traffic_intensity"]):
        return f"   (unstable: traffic intensity {group['traffic_intensity']:.6g})"
    return "" if group["settled"] else "   (drifts: the warm-up looks short)"
