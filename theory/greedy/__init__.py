"""Greedy reservation of an instance beside its optimum: in the limit of many servers, and on whole ones.

`assignment` is greedy, `optimal` the optimum with its prices, `workload_scaling` both as the workload grows. `servers`
places whole servers and has the fewest bins of a list of items, by `counted` where one resource binds and `whole` for
whole bins. `cheapest` has the least cost of servers of several kinds, `offers` what they cost, and `cheapest_whole`
whole servers of them. `scheme` is greedy with an approximation scheme where one resource is too fine for exact search.
`divisible` has the best reward of a server in closed form where sizes divide each other.
"""

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
        "cheapest": ("CheapestServers", "cheapest_servers"),
        "divisible": ("divisible_reward",),
        "offers": ("Offer", "bought", "cost_of"),
        "optimal": ("AssignmentProgram", "OptimalAssignment", "Solution", "optimal_assignment", "solve"),
        "scheme": ("ApproximateSolution", "near_max_reward", "solve_approximately"),
        "servers": ("fewest_bins", "greedy_placement", "least_servers", "lemma_b1_bound"),
        "workload_scaling": ("Scaling", "scaling"),
    },
)
