"""Greedy reservation of an instance beside its optimum: in the limit of many servers, and on whole ones."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "assignment": (
            "GreedyAssignment",
            "global_greedy",
            "greedy_configurations",
            "is_global_greedy",
            "is_permutation_of_proposition_3_1",
            "sequential_greedy",
        ),
        "optimal": ("AssignmentProgram", "OptimalAssignment", "Solution", "optimal_assignment", "solve"),
        "servers": ("fewest_bins", "greedy_placement", "least_servers", "lemma_b1_bound"),
        "workload_scaling": ("Scaling", "scaling"),
    },
)
