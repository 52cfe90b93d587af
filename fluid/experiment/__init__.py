"""Experiments that can be left alone: cells (parameters x replications), a store that survives kills, resuming."""

from fluid.experiment.grid import Cell, Grid, read_grid
from fluid.experiment.run import Progress, run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summary import Comparison, Group, comparisons, rows, summary

__all__ = [
    "Cell",
    "Comparison",
    "Grid",
    "Group",
    "Progress",
    "Store",
    "comparisons",
    "read_grid",
    "rows",
    "run_experiment",
    "summary",
]
