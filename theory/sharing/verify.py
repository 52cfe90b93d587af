"""The defining property of an allocation, decided by the checker of its mechanism."""

from __future__ import annotations

from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_max_min, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.maxmin import task_units


def is_certified(allocation: Allocation) -> bool:
    """Decide whether an allocation is what its mechanism defines.

    PS-DSF by Theorems 1 and 2, DRF by Theorem 1 on its one server (where PS-DSF is DRF), the mechanisms that are
    max-min fair in one number by the prices they carry. False for an allocation that is not exact.

    Examples
    --------
    >>> from theory.sharing import cluster, tsf
    >>> is_certified(tsf(cluster([[3], [1]], [[1], [1]])))
    True
    """
    instance, tasks = allocation.cluster, allocation.tasks
    if not allocation.exact:
        return False
    if allocation.mechanism == "ps-dsf-tdm":
        return is_ps_dsf_tdm(instance, tasks)
    if allocation.mechanism in {"ps-dsf", "drf"}:
        return is_ps_dsf(instance, tasks)
    return is_max_min(instance, tasks, task_units(instance, allocation.mechanism), allocation.stages)
