"""Laws of job sizes, partitions of (0, 1], rounded virtual queues, and the workload that can be supported."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "bounding": ("Bracket", "bracket", "brackets"),
        "cuts": ("Partition", "by_cuts", "by_sets", "equal_probability"),
        "rounded": ("Supportable", "lower_rounded", "supportable", "upper_rounded"),
        "laws": ("Law", "Piece", "discrete", "empirical", "piecewise", "uniform"),
        "universal": (
            "Guaranteed",
            "least_J",
            "reduced_configurations",
            "universal_cells",
            "universal_partition",
            "vqs_workload",
        ),
        "guarantees": ("Guarantee", "best_partitions", "guarantee"),
    },
)
