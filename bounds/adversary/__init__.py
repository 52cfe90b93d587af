"""Worst cases: the exactly worst workload, rewards driven to their worst, and one search against any rule."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "assignment": ("AssignmentSpace", "by_stages", "judge_assignment"),
        "budget": ("Budget",),
        "contained": ("contained",),
        "division": ("DivisionSpace", "judge_division"),
        "engine": ("Found", "Judged", "Space", "attack"),
        "keeping": ("Keeping",),
        "lies": ("LieSpace", "judge_lie"),
        "items": ("ItemSpace", "estimate_items", "judge_items"),
        "online": ("OfferSpace", "break_policy"),
        "traps": ("Trap", "least_trap"),
        "by_size": ("WorstBySize", "worst_by_size"),
        "chains": ("Chain", "proven_bound"),
        "realisation": ("Realised", "realise"),
        "search": ("WorstInstance", "worst_instance"),
        "workload": ("Refutation", "WorstWorkload", "refutation", "worst_workload"),
    },
)
