"""Fair sharing of servers: DRF and the mechanisms after it, their checkers, and the properties that they claim.

`mechanisms` has a record for each mechanism. `dominant` is DRF, also of groups of users. `maxmin`, `levels` and
`filling` compute max-min fair levels exactly, `numeric_levels` in floats; `per_server`, `rounds`, `turns` and
`reduction` are PS-DSF. `checks` and `group_checks` share no code with them; `groups` has what groups hold,
`properties` gives witnesses, `strategy` lies, `violation` how near an allocation is to a mechanism's, and `judgement`
what is true of one that somebody made.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "allocation": ("Allocation", "Stage", "WholeTasks", "jain_index", "nash_welfare", "whole_tasks"),
        "checks": (
            "corollary_1",
            "has_bottleneck",
            "infeasibility",
            "is_feasible_allocation",
            "is_max_min",
            "is_ps_dsf",
            "is_ps_dsf_tdm",
        ),
        "dominant": ("drf",),
        "group_checks": ("is_hierarchical_drf",),
        "groups": ("GroupShare", "group_shares"),
        "judgement": ("Judgement", "distance", "given", "judge_given"),
        "levels": ("LevelRule", "max_min_violation", "task_units"),
        "maxmin": ("c_drfh", "cdrf", "max_min_tasks", "tsf"),
        "mechanisms": ("MECHANISMS", "Mechanism", "Numeric", "is_certified", "level_mechanism"),
        "model": ("Cluster", "Group", "ServerClass", "User", "cluster"),
        "numeric_levels": ("numeric_max_min",),
        "properties": ("PROPERTIES", "Verdict", "decide"),
        "per_server": ("numeric_ps_dsf", "ps_dsf", "ps_dsf_tdm", "ps_dsf_tdm_rounds"),
        "strategy": ("search_lies", "strategy_proofness"),
        "violation": ("Violation", "ps_dsf_violation"),
    },
)
