"""Worst-case instances by optimisation: the exactly worst workload, and rewards driven to their worst."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "budget": ("Budget",),
        "by_size": ("WorstBySize", "worst_by_size"),
        "chains": ("Chain", "proven_bound"),
        "realise": ("Realised", "realise"),
        "refutation": ("Refutation", "refutation"),
        "search": ("WorstInstance", "worst_instance"),
        "workload": ("WorstWorkload", "worst_workload"),
    },
)
