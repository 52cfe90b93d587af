"""Fair sharing of servers: DRF and the mechanisms after it, their checkers, and the properties that they claim."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "allocation": ("Allocation", "Stage", "WholeTasks", "jain_index", "nash_welfare", "whole_tasks"),
        "checks": (
            "corollary_1",
            "has_bottleneck",
            "is_certified",
            "infeasibility",
            "is_feasible_allocation",
            "is_max_min",
            "is_ps_dsf",
            "is_ps_dsf_tdm",
        ),
        "maxmin": ("c_drfh", "cdrf", "drf", "max_min_tasks", "task_units", "tsf"),
        "mechanisms": ("MECHANISMS",),
        "model": ("Cluster", "ServerClass", "User", "cluster"),
        "numeric": ("numeric_ps_dsf",),
        "numeric_levels": ("numeric_max_min",),
        "properties": ("PROPERTIES", "Verdict", "decide"),
        "per_server": ("ps_dsf", "ps_dsf_tdm", "ps_dsf_tdm_convex", "ps_dsf_tdm_rounds"),
        "raising": ("max_min_violation",),
        "strategy": ("search_lies", "strategy_proofness"),
        "violation": ("Violation", "ps_dsf_violation"),
    },
)
