"""Every figure and table of the papers' evaluations, computed anew and drawn beside what is printed.

A result is one function that returns panels (`bounds.views.panels`), registered with what is printed, what is lost in
the text at hand, what was chosen here, and its parameters at each size. `RESULTS` says which file has which result;
`model.py` is the registry, `run.py` computes, draws and stores.
"""

from theory.doors import doors

RESULTS: dict[str, dict[str, tuple[str, ...]]] = {
    "autoscaling": {
        "vm_types": ("table-1", "figure-2"),
        "reservation": ("figure-1", "figure-3", "figure-4"),
        "spikes": ("figure-5", "figure-6"),
    },
    "throughput": {
        "sizes": ("figure-1", "figure-2"),
        "queues": ("figure-3a", "figure-3b", "figure-4a", "figure-4b", "figure-5"),
    },
    "ps-dsf": {
        "allocations": ("figure-1", "figures-2-3", "figure-4", "figure-5", "figure-6"),
        "tables": ("table-1", "table-4"),
    },
    "nonpreemptive": {
        "examples": ("example-1", "example-2", "table-1"),
        "scaling": ("figure-5", "figure-6"),
        "google": ("figure-7", "figure-8"),
    },
    "admission": {
        "policies": ("figure-1", "figure-2", "table-2", "figure-9"),
    },
}
"""By paper: the file that holds each result, in the order in which they are listed."""

__getattr__, __all__ = doors(
    __name__,
    {
        "model": ("Effort", "Reproduction", "WithoutData", "reproduction", "reproductions"),
        "run": ("Done", "reproduce", "reproduce_all"),
    },
)
