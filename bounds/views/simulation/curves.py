"""Curves over time of several results, with bands over replications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bounds.views.pictures import PALETTE
from fluid.simulation.results import Replicated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curves(
    axes: Axes, results: Sequence[Replicated], names: Sequence[str], label: str, least: float = -np.inf
) -> None:
    """Draw the curve of each result with its 95 % band, not below `least`, and shade the warm-up."""
    for colour, result, name in zip(PALETTE, results, names, strict=False):
        at, mean, low, high = result.curve()
        axes.plot(at, mean, color=colour, linewidth=1.5, label=name)
        if len(result.apart) > 1:
            axes.fill_between(at, low.clip(min=least), high, color=colour, alpha=0.25, linewidth=0)
    run = results[0].runs[0]
    warmup, until = float(run.measures.edges[run.first]), float(run.measures.edges[-1])
    if warmup > 0:
        axes.axvspan(0, warmup, color="#DDDDDD", alpha=0.5, linewidth=0, label="warm-up")
    axes.set(xlabel="time", ylabel=label, xlim=(0, until), ylim=(0, None))
