"""Worst cases: the exactly worst workload, rewards driven to their worst, and one search against any rule.

Of greedy: `workload` has the worst workload of given types with the prices that prove it, `search` the worst rewards
of a run, `by_size` with `chains` and `realisation` the worst instance of a size. Of any rule: `engine` is the search,
`contained` runs it in a process that can be ended, `items`, `assignment`, `division` and `lies` are the spaces and
judges, `answers` reads what rules return, `rules` finds rules by name, `documents` writes instances as files, `games`
takes a search up again from a store. Of policies: `online`, with `traps` (jobs that do not leave) and `growth`
(whether work grows).
"""

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
