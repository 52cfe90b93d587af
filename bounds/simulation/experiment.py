"""``packproof experiment``: the summary as a document and as lines."""

from __future__ import annotations

from typing import Any

from fluid.experiment import Grid, Store, comparisons, summary
from fluid.simulate.results import as_json


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
    what = "queue" if any("queue" in group["numbers"] for group in answer["groups"]) else "reward"
    lines = [f"{answer['finished']:,} of {answer['cells']:,} cells", ""]
    lines.append("  ".join([*(f"{name:>14}" for name in answer["parameters"]), f"{'n':>5}  {what} [95 %]"]))
    for group in answer["groups"]:
        number = group["numbers"].get("reward") or group["numbers"].get("queue") or {"mean": None, "ci95": [None, None]}
        values = [f"{str(value)[:14]:>14}" for value in group["parameters"].values()]
        note = "" if group["settled"] else "   (drifts: the warm-up looks short)"
        lines.append("  ".join([*values, f"{group['replications']:>5}  {_shown(number)}{note}"]))
    if answer["comparisons"]:
        lines += ["", "paired differences (the same jobs)"]
    for one in answer["comparisons"]:
        place = ", ".join(f"{name} = {value}" for name, value in one["parameters"].items())
        lines.append(f"  {one['first']} - {one['second']}  {_shown(one['difference'])}  {place}")
    return lines


def _shown(number: dict[str, Any]) -> str:
    low, high = number["ci95"]
    if number["mean"] is None:
        return "-"
    around = "" if low is None else f" [{low:.6g}, {high:.6g}]"
    return f"{number['mean']:.6g}{around}"
