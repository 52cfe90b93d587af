"""From a log of VMs to a number of servers: its workload, its fullest instants, and what policies need."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "log": ("PlannedLog", "grown", "planned_log", "resampled", "with_growth"),
        "mixes": ("CheapestPlan", "Market", "MixNeed", "make_cheapest_plan", "with_mix"),
        "needs": ("Need", "Peak", "Target", "Trials", "least_for", "peak_servers"),
        "over_time": ("OverTime", "over_time"),
        "own_types": ("OwnTypes", "expect_resources", "types_of_log"),
        "plan": ("EFFORTS", "Effort", "Growth", "Plan", "PolicyNeed", "make_plan", "mean_jobs"),
        "too_large": ("TooLarge", "shortage"),
    },
)
