"""Configurations, listed and searched for the heaviest; `tests/reference` says what these functions return.

`configurations` lists them. `greatest` searches for the heaviest: by one table over all levels of the resources
(`tables`), by a list of undominated states where one resource is too fine for a table or jobs are limited in number
(`lists`), or by branch and bound where there are several resources (`search`, compiled in `branching`).

The search without a table (`search`) loads a solver, so it is imported where it is used.
"""

from theory.exact.knapsack.configurations import count, count_maximal, feasible, maximal, reduced
from theory.exact.knapsack.greatest import max_reward, max_weight, weight
from theory.exact.knapsack.tables import add_best_within, add_type, best_by_levels, fill_table

__all__ = [
    "add_best_within", "add_type", "best_by_levels", "count", "count_maximal", "feasible", "fill_table", "max_reward",
    "max_weight", "maximal", "reduced", "weight",
]  # fmt: skip
