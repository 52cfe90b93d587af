"""The mechanisms of fair sharing, one record each: what a mechanism is and can do is in its record.

A seventh mechanism is one more record in `MECHANISMS`: the command line, the checks and the attacks take it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_max_min, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.dominant import drf
from theory.sharing.group_checks import is_hierarchical_drf
from theory.sharing.levels import C_DRFH, CDRF, TSF, LevelRule, max_min_violation
from theory.sharing.maxmin import max_min
from theory.sharing.model import Cluster
from theory.sharing.numeric_levels import LEAST_TOLERANCE, MOST_PAIRS, numeric_max_min, refuse_too_many_pairs
from theory.sharing.per_server import LEAST_VIOLATION, numeric_ps_dsf, ps_dsf, ps_dsf_tdm
from theory.sharing.pooled import Ignored, ignored_as_one
from theory.sharing.violation import Violation, ps_dsf_violation

Tasks = Sequence[Sequence[Fraction]]
Prices = Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class Numeric:
    """What a mechanism does in floats, for clusters too large for exact shares.

    Attributes
    ----------
    allocate : callable
        ``(cluster, tolerance, say=)`` to an `Allocation` that is feasible exactly and has a ``violation``.
    violation : callable
        ``(cluster, tasks, prices)`` to a `Violation`, from these alone.
    least_tolerance : float
        That may be asked of ``allocate``.
    has_prices : bool
        Whether prices come with the tasks, and prove the violation; otherwise ``violation`` is given none.
    """

    allocate: Callable[..., Allocation]
    violation: Callable[[Cluster, Tasks, Prices], Violation]
    least_tolerance: float
    has_prices: bool


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of fair sharing. Calling it divides a cluster.

    Attributes
    ----------
    name : str
        On the command line, in answers and in certificates.
    allocate : callable
        From a cluster to its `Allocation`.
    check : callable
        From an exact allocation to whether it is what the mechanism defines; it shares no code with ``allocate``.
    conditions : str
        What ``check`` decides and violations are of, in words.
    division : {"resource", "time"}
    pools_servers : bool
        Whether it divides the cluster as one server, so that its allocation says nothing about single servers.
    updates_by_server : bool
        Whether each server can update its own part as users come and go (Algorithm I); otherwise the whole cluster is
        divided anew.
    numeric : Numeric, optional
        None where exact shares are made at any size.
    most_pairs : int, optional
        Most pairs of user and server class that it divides; any number where left out.
    takes_caps : bool
        Whether it is defined for users that want no more than a number of tasks (``most_tasks``).
    takes_groups : bool
        Whether it is defined for groups of users with weights.
    has_certificate : bool
        Whether ``packproof check`` knows the mechanism.
    properties : frozenset of str
        Those of `theory.sharing.PROPERTIES` that its allocations have on every cluster without groups.
    """

    name: str
    allocate: Callable[[Cluster], Allocation]
    check: Callable[[Allocation], bool]
    conditions: str
    division: str = "resource"
    pools_servers: bool = False
    updates_by_server: bool = False
    numeric: Numeric | None = None
    most_pairs: int | None = None
    takes_caps: bool = False
    takes_groups: bool = False
    has_certificate: bool = False
    properties: frozenset[str] = frozenset()

    def __call__(self, cluster: Cluster) -> Allocation:
        """Divide a cluster; InputError for one that is too large, or has caps or groups that it does not take."""
        self.refuse_unsuited(cluster)
        return self.allocate(cluster)

    def ignored(self, cluster: Cluster) -> tuple[Ignored, ...]:
        """Return the parts of a cluster that the mechanism does not use."""
        return ignored_as_one(cluster) if self.pools_servers else ()

    def refuse_unsuited(self, cluster: Cluster, file: str = "") -> None:
        """Refuse, by an InputError that names the file, groups and caps that it does not take, and too many pairs."""
        what = f"{file}: shares by {self.name}" if file else f"shares by {self.name}"
        if not self.takes_groups:
            cluster.refuse_groups(what)
        if not self.takes_caps:
            cluster.refuse_caps(what)
        if self.most_pairs is not None:
            refuse_too_many_pairs(cluster, self.name, self.most_pairs)


def per_server_mechanism(
    name: str, allocate: Callable[[Cluster], Allocation], division: str, properties: frozenset[str]
) -> Mechanism:
    """Return the record of PS-DSF under a division of the servers."""
    is_fair = is_ps_dsf if division == "resource" else is_ps_dsf_tdm
    numeric = Numeric(
        lambda cluster, tolerance, say=None: numeric_ps_dsf(cluster, division, tolerance, say=say),
        lambda cluster, tasks, _: ps_dsf_violation(cluster, tasks, division),
        LEAST_VIOLATION,
        has_prices=False,
    )
    return Mechanism(
        name,
        allocate,
        lambda allocation: is_fair(allocation.cluster, allocation.tasks),
        f"the conditions of Theorem {1 if division == 'resource' else 2}",
        division,
        updates_by_server=True,
        numeric=numeric,
        has_certificate=True,
        properties=properties,
    )


def level_mechanism(
    rule: LevelRule,
    *,
    takes_caps: bool = False,
    has_certificate: bool = False,
    properties: frozenset[str] = frozenset(),
) -> Mechanism:
    """Return the record of the mechanism that is max-min fair in the level of a rule.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> equal_tasks = level_mechanism(LevelRule("equal tasks", lambda cluster: cluster.weights))
    >>> list(map(str, equal_tasks(cluster([[9, 18]], [[1, 4], [3, 1]])).totals))
    ['9/4', '9/4']
    """
    numeric = Numeric(
        lambda cluster, tolerance, say=None: numeric_max_min(cluster, rule, tolerance, say=say),
        lambda cluster, tasks, prices: max_min_violation(cluster, tasks, rule, prices),
        LEAST_TOLERANCE,
        has_prices=True,
    )
    return Mechanism(
        rule.name,
        partial(max_min, rule=rule),
        lambda made: is_max_min(made.cluster, made.tasks, rule.units(made.cluster), made.stages),
        "max-min fairness",
        numeric=numeric,
        most_pairs=MOST_PAIRS,
        takes_caps=takes_caps,
        has_certificate=has_certificate,
        properties=properties,
    )


PARETO = frozenset({"pareto_optimality"})
ENVY_FREE = frozenset({"envy_freeness"})
PER_SERVER = frozenset({"sharing_incentive", "envy_freeness", "bottleneck_fairness", "single_resource_fairness"})
"""Properties of PS-DSF under both divisions, by Theorem 3 of its paper."""

MECHANISMS: dict[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        # the whole cluster is one server of DRF, and on one server PS-DSF is DRF, so Theorem 1 decides it; of groups,
        # all stops of their users do
        Mechanism(
            "drf",
            drf,
            lambda allocation: (is_hierarchical_drf if allocation.cluster.grouped else is_ps_dsf)(
                allocation.cluster, allocation.tasks
            ),
            "the conditions of Theorem 1 on one server",
            pools_servers=True,
            takes_caps=True,
            takes_groups=True,
            has_certificate=True,
            properties=PER_SERVER | PARETO,
        ),
        # max-min fair in a level, so no user can gain without a loss to another; with placement constraints users can
        # envy others under CDRF
        level_mechanism(C_DRFH, takes_caps=True, has_certificate=True, properties=PARETO | ENVY_FREE),
        level_mechanism(CDRF, has_certificate=True, properties=PARETO),
        level_mechanism(TSF, takes_caps=True, has_certificate=True, properties=PARETO | ENVY_FREE),
        # under resource division all users can be short at once, so PS-DSF is not Pareto optimal there
        per_server_mechanism("ps-dsf", ps_dsf, "resource", PER_SERVER),
        per_server_mechanism("ps-dsf-tdm", ps_dsf_tdm, "time", PER_SERVER | PARETO),
    )
}
"""The mechanisms by the names of the command line."""


def is_certified(allocation: Allocation, mechanism: Mechanism | None = None) -> bool:
    """Decide whether an allocation is what its mechanism defines; False for an allocation that is not exact.

    PS-DSF by Theorems 1 and 2, DRF by Theorem 1 on its one server (where PS-DSF is DRF), or for groups by the stops of
    their users, the mechanisms that are max-min fair in one number by the prices they carry.

    Parameters
    ----------
    allocation : Allocation
    mechanism : Mechanism, optional
        The one that `MECHANISMS` has under the name of the allocation, where left out.

    Examples
    --------
    >>> from theory.sharing import cluster, tsf
    >>> is_certified(tsf(cluster([[3], [1]], [[1], [1]])))
    True
    """
    return allocation.exact and (mechanism or MECHANISMS[allocation.mechanism]).check(allocation)
