"""Max-min fairness in one number a user, its level: in what levels are measured, and how far tasks are from fair ones.

Tasks below 0, tasks where a user may run none and the loads of the servers are computed exactly, as for PS-DSF
(`theory.sharing.violation`). Levels and costs are floats, and the bound counts their rounding. No code is shared with
what makes allocations, but for the model and the units of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import fsum, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.numbers import total
from theory.sharing.model import Cluster, Row, eligibility
from theory.sharing.violation import ROUNDING, Violation, as_floats, overload_of, placed, shares_of


@dataclass(frozen=True)
class LevelRule:
    """The number in which a mechanism is max-min fair: the level x_n / unit_n of user n.

    Attributes
    ----------
    name : str
        Of the mechanism.
    units : callable
        From a cluster to unit_n > 0 of each user, a tuple of Fraction of length N.
    float_units : callable, optional
        The same in floats, float64[N], where exact units would take too long on millions of pairs.
    """

    name: str
    units: Callable[[Cluster], Row]
    float_units: Callable[[Cluster], NDArray[np.float64]] | None = None


def _dominant_units(cluster: Cluster) -> Row:
    """Return phi_n over the global dominant share of a task, formula (5)."""
    totals = [total(column) for column in zip(*cluster.capacity, strict=True)]
    return tuple(
        user.weight / max(d / c for d, c in zip(user.demand, totals, strict=True) if d) for user in cluster.users
    )


def _units_by_tasks_alone(cluster: Cluster, *, placement: bool) -> Row:
    """Return phi_n h_n, h_n the tasks that a user could run alone, with placement constraints or without."""
    alone = cluster.monopoly if placement else cluster.reach
    return tuple(weight * total(row) for weight, row in zip(cluster.weights, alone, strict=True))


def _float_units_by_tasks_alone(cluster: Cluster, *, placement: bool) -> NDArray[np.float64]:
    may, share = eligibility(cluster, placement=placement), shares_of(cluster)
    alone = np.zeros(len(cluster.users))
    for i in range(len(cluster.servers)):
        largest = share(i).max(axis=1)  # of the shares that a task takes: one over the tasks of the user alone
        alone += np.divide(1.0, largest, out=np.zeros_like(alone), where=may[:, i])
    return as_floats(cluster.weights) * alone


C_DRFH = LevelRule("c-drfh", _dominant_units)
CDRF = LevelRule(
    "cdrf", partial(_units_by_tasks_alone, placement=True), partial(_float_units_by_tasks_alone, placement=True)
)
TSF = LevelRule(
    "tsf", partial(_units_by_tasks_alone, placement=False), partial(_float_units_by_tasks_alone, placement=False)
)
RULES = {rule.name: rule for rule in (C_DRFH, CDRF, TSF)}


def rule_of(mechanism: str | LevelRule) -> LevelRule:
    """Return the rule of a mechanism by its name, or the rule itself."""
    return RULES[mechanism] if isinstance(mechanism, str) else mechanism


def task_units(cluster: Cluster, mechanism: str | LevelRule) -> Row:
    """Return the unit_n, length N, for which a mechanism is max-min fair in x_n / unit_n.

    phi_n h_n for ``tsf`` and ``cdrf``; for ``c-drfh`` phi_n over the global dominant share of a task.
    """
    return rule_of(mechanism).units(cluster)


def level_units(cluster: Cluster, mechanism: str | LevelRule) -> NDArray[np.float64]:
    """Return the same in floats, float64[N]."""
    rule = rule_of(mechanism)
    return as_floats(rule.units(cluster)) if rule.float_units is None else rule.float_units(cluster)


WHOLE = 2.0**60
"""The sum of all prices is divided into this number of parts; worth is a whole number of them, so sums are exact."""

HALVINGS = 100
"""Steps of the bisection for each user."""


def max_min_violation(
    cluster: Cluster,
    tasks: Sequence[Sequence[Fraction]],
    mechanism: str | LevelRule,
    prices: Sequence[NDArray[np.float64]],
) -> Violation:
    """Return how far tasks are from being max-min fair, as prices prove it.

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)
    mechanism : {"c-drfh", "cdrf", "tsf"} or LevelRule
        It says in what unit a user's level is measured.
    prices : sequence of float64[K, R]
        Of the whole of each resource of each class, at least 0; several lists of prices, one for each stage.

    Returns
    -------
    Violation
        Its ``bottleneck`` is the least eps, rounded up, for which the prices prove of every user: in every feasible
        allocation in which no user of level at most 1 + eps times its own has fewer tasks than here, the user has at
        most 1 + eps times its tasks here. With eps = 0 that is the definition of max-min fairness. Infinite for a user
        whose tasks cost nothing in every list of prices.

    Raises
    ------
    InputError
        Prices below 0, all 0, not finite or of another shape; a cluster with caps.

    Notes
    -----
    Let y be prices that sum to Y, c_n the least cost of a task of user n at a server that it may use, and A the users
    of level at most 1 + eps times that of n, itself among them. In a feasible allocation x' no resource is used beyond
    its whole, so sum over A of c_m x'_m <= Y (weak duality). If x'_m >= x_m for all others in A, then
    c_n (x'_n - x_n) <= Y - sum over A of c_m x_m; where that is at most eps c_n x_n, the gain of n is at most eps x_n.
    The left side falls and the right side grows with eps, so the least eps is found by bisection, for each list of
    prices. The bound is above it by rounding only: the least c_n x_n / Y times the result is right to about
    N 2^-60 + 2^-45. O(N K R) for each list. Derived for this project, from the prices of `theory.sharing.maxmin`.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> pair = cluster([[3], [1]], [[1], [1]])
    >>> prices = [np.array([[0.75], [0.25]])]
    >>> max_min_violation(pair, [[2, 0], [1, 1]], "tsf", prices).value < 1e-12
    True
    >>> round(max_min_violation(pair, [[2, 0], [1, Fraction(1, 2)]], "tsf", prices).value, 6)
    0.333333
    """
    cluster.refuse_caps_and_groups("a tolerance")
    shape = len(cluster.servers), len(cluster.resources)
    for stage_prices in prices:
        ok = stage_prices.shape == shape and np.isfinite(stage_prices).all() and stage_prices.min() >= 0
        if not (ok and stage_prices.sum() > 0):
            raise InputError("prices", "expected finite numbers of at least 0, some above 0, by server and resource")
    may = eligibility(cluster)
    tasks_by_user = placed(cluster, tasks, may)
    if isinstance(tasks_by_user, Violation):
        return tasks_by_user
    overload = overload_of(cluster, tasks_by_user, "resource")
    totals = as_floats([total(x for _, x in row) for row in tasks_by_user])
    level = totals / level_units(cluster, mechanism)
    uncertain = 4 * (len(cluster.servers) + 16) * 2.0**-53  # of the quotient of two levels
    least = np.full(len(totals), inf)
    for stage_prices in prices:
        normal = stage_prices / stage_prices.sum()
        cost = _least_costs(cluster, may, normal)
        worth = np.floor(totals * cost * (1 - 4 * ROUNDING) * WHOLE)
        least = np.minimum(least, _least_eps(level, worth, fsum(normal.ravel()) * (1 + ROUNDING), uncertain))
    n = int(least.argmax())
    return Violation(overload, nextafter(float(least[n]), inf), cluster.users[n].name, None)


def _least_costs(cluster: Cluster, may: NDArray[np.bool_], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least cost of a task of each user, float64[N]."""
    share = shares_of(cluster)
    cost = np.full(len(may), inf)
    for i, server_prices in enumerate(prices):
        np.minimum(cost, np.where(may[:, i], share(i) @ server_prices, inf), out=cost)
    return cost


def _least_eps(
    level: NDArray[np.float64], worth: NDArray[np.float64], whole: float, uncertain: float
) -> NDArray[np.float64]:
    """Return the least eps of each user for one list of prices, rounded up; infinity where its tasks cost nothing.

    Levels and the worth of the tasks, in parts of 1 / `WHOLE`, are float64[N]; `whole` is the sum of the prices, about
    1, and `uncertain` the relative error of a quotient of two levels.
    """
    order = np.argsort(level, kind="stable")
    ordered = level[order]
    # gap[k] = Y - sum of c_m x_m over the k users of least level, the set A of one of the users
    spent = np.concatenate([[0], np.cumsum(worth[order].astype(np.int64))])
    gap = (int(whole * WHOLE) - spent).astype(np.float64)

    def holds(eps: NDArray[np.float64]) -> NDArray[np.bool_]:
        below = np.searchsorted(ordered, level * ((1 + eps) * (1 - uncertain)), side="right")
        return gap[below] <= eps * worth * (1 - ROUNDING)

    # at that eps A holds every user, and the whole gap is at most eps times the worth of the user alone
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.maximum(level.max() / level, np.maximum(gap[-1], 0) / worth) * (1 + 2.0**-20) + 2.0**-20
    low = np.zeros_like(high)
    high[~np.isfinite(high)] = inf
    high[np.isfinite(high)] = np.where(holds(np.where(np.isfinite(high), high, 0.0)), high, inf)[np.isfinite(high)]
    for _ in range(HALVINGS):  # invariant: the condition holds at high, if that is finite, and not below low
        middle = np.where(np.isfinite(high), (low + high) / 2, 0.0)
        good = holds(middle)
        high = np.where(good & np.isfinite(high), middle, high)
        low = np.where(good, low, middle)
    return np.asarray(high, np.float64)
