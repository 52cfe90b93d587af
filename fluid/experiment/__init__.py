"""Experiments that can be left alone: cells (parameters x replications), a store that survives kills, resuming.

`grid` reads a grid of cells, `run` runs those that the `store` lacks, `replications` keeps single runs, `summaries` and
`forecast` say what came out and what theory says of the points.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "forecast": ("Reference", "forecast", "references"),
        "pace": ("Forecast",),
        "grid": ("GridCell", "Grid", "read_grid"),
        "run": ("Progress", "run_experiment"),
        "store": ("Store",),
        "summaries": ("Comparison", "Group", "comparisons", "rows", "summary", "summary_table"),
        "replications": ("simulate_stored",),
    },
)
