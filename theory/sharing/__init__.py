"""Fair sharing of servers: DRF and its heirs, checkers, and the properties they claim."""

from collections.abc import Callable

from theory.sharing.allocation import Allocation, Stage, WholeTasks, jain_index, nash_welfare, whole_tasks
from theory.sharing.checks import (
    corollary_1,
    has_bottleneck,
    is_feasible_allocation,
    is_max_min,
    is_ps_dsf,
    is_ps_dsf_tdm,
)
from theory.sharing.eisenberg import ps_dsf_tdm
from theory.sharing.maxmin import c_drfh, cdrf, drf, max_min_tasks, task_units, tsf
from theory.sharing.model import Cluster, ServerClass, User, cluster
from theory.sharing.properties import PROPERTIES, Verdict, decide
from theory.sharing.psdsf import ps_dsf, ps_dsf_tdm_rounds
from theory.sharing.strategy import search_lies, strategy_proofness
from theory.sharing.verify import is_certified

MECHANISMS: dict[str, Callable[[Cluster], Allocation]] = {
    "drf": drf,
    "c-drfh": c_drfh,
    "cdrf": cdrf,
    "tsf": tsf,
    "ps-dsf": ps_dsf,
    "ps-dsf-tdm": ps_dsf_tdm,
}
"""The mechanisms by the names of the command line."""

__all__ = [
    "MECHANISMS",
    "PROPERTIES",
    "Allocation",
    "Cluster",
    "ServerClass",
    "Stage",
    "User",
    "Verdict",
    "WholeTasks",
    "c_drfh",
    "cdrf",
    "cluster",
    "corollary_1",
    "decide",
    "drf",
    "has_bottleneck",
    "is_certified",
    "is_feasible_allocation",
    "is_max_min",
    "is_ps_dsf",
    "is_ps_dsf_tdm",
    "jain_index",
    "max_min_tasks",
    "nash_welfare",
    "ps_dsf",
    "ps_dsf_tdm",
    "ps_dsf_tdm_rounds",
    "search_lies",
    "strategy_proofness",
    "task_units",
    "tsf",
    "whole_tasks",
]
