"""How far an allocation is from PS-DSF: one number from the allocation alone, for clusters of millions of pairs.

Tasks below 0, tasks where a user may run none and the loads of the servers are computed exactly. Only levels are
floats, and the bound counts their rounding. No code but the model is shared with what makes allocations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from theory.errors import InputError
from theory.numbers import text, total
from theory.sharing.model import Cluster, eligibility

ROUNDING = 2.0**-47
"""Bound of the relative error of a quotient of two levels: each level is made by at most 8 roundings of 2^-53."""

FAR = 1e75
"""Quantities beyond it, or below its inverse, as parts of the totals, are refused: products might overflow."""


@dataclass(frozen=True)
class Violation:
    """How far tasks are from the conditions of their mechanism.

    Attributes
    ----------
    overload : float
        The greatest load of a server less 1, at least 0, rounded up: 0 means feasible, exactly.
    bottleneck : float
        Of PS-DSF: the least eps, rounded up, for which every user has a bottleneck up to eps at every server that it
        may use: a resource that it demands, of load at least 1 - eps, whose holders are at most at 1 + eps times its
        own level. Of mechanisms that are max-min fair: the eps of `theory.sharing.levels.max_min_violation`.
    user, server : str or None
        Where the bottleneck is furthest away; of max-min fairness, the user who might gain most.
    reason : str or None
        In words, what no tolerance excuses: tasks below 0, or where their user can run none. Both numbers are infinite
        then.
    """

    overload: float
    bottleneck: float
    user: str | None = None
    server: str | None = None
    reason: str | None = None

    @property
    def value(self) -> float:
        """The greater of the two numbers."""
        return max(self.overload, self.bottleneck)


def ps_dsf_violation(cluster: Cluster, tasks: Sequence[Sequence[Fraction]], division: str = "resource") -> Violation:
    """Return how far tasks are from being PS-DSF.

    Parameters
    ----------
    cluster : Cluster
    tasks : rational, shape (N, K)
    division : {"resource", "time"}
        Theorem 1, or Theorem 2: then the time of a server is its one resource, and every user demands it.

    Raises
    ------
    InputError
        Where capacities, demands or weights differ by more than `FAR`, and for a cluster with caps.

    Notes
    -----
    With value 0 the allocation is PS-DSF; the number says how nearly the conditions hold, not how near a PS-DSF
    allocation is, since those are not unique. It is an upper bound, and above the exact least eps by at most
    (1 + eps) 2^-46. O(N K R) operations on floats and O(R) on rationals for each pair with tasks; memory
    O(N K) bytes. Source: PS-DSF paper, Definition 6, Theorems 1 and 2.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> ps_dsf_violation(figure1, [[3, 0], [3, 0], [0, 6]]).value < 1e-14
    True
    >>> short = ps_dsf_violation(figure1, [[3, 0], [3, 0], [0, Fraction(11, 2)]])
    >>> round(short.value, 9), short.user, short.server
    (0.090909091, 'u3', 's1')
    """
    cluster.refuse_caps_and_groups("PS-DSF")
    may = eligibility(cluster)
    tasks_by_user = placed(cluster, tasks, may)
    if isinstance(tasks_by_user, Violation):
        return tasks_by_user
    load = _loads(cluster, tasks_by_user, division)
    share = shares_of(cluster)
    totals = as_floats([total(x for _, x in row) for row in tasks_by_user])
    scaled = totals / as_floats(cluster.weights)
    holders_of: list[list[int]] = [[] for _ in cluster.servers]
    for n, row in enumerate(tasks_by_user):
        for i, _ in row:
            holders_of[i].append(n)
    worst, place = 0.0, None
    for i, holders in enumerate(holders_of):
        rows = np.where(may[:, i, None], share(i), 0.0)
        level = scaled * rows.max(axis=1)  # s_{n,i} / phi_n = x_n / (phi_n gamma_{n,i})
        short = _shortfall(rows if division == "resource" else rows.max(axis=1)[:, None], level, holders, load[i])
        n = int(short.argmax())
        if short[n] > worst:
            worst, place = float(short[n]), (n, i)
    names = (None, None) if place is None else (cluster.users[place[0]].name, cluster.servers[place[1]].name)
    return Violation(_overload(load), nextafter(worst, inf), *names)


Placed = list[list[tuple[int, Fraction]]]
"""For each user the servers where it has tasks, and their number."""


def placed(cluster: Cluster, tasks: Sequence[Sequence[Fraction]], may: NDArray[np.bool_]) -> Placed | Violation:
    """Return where users have tasks, the only pairs that rationals are computed for, or what no tolerance excuses.

    Users can run tasks where `may`, bool[N, K], says so.
    """
    tasks_by_user = [[(i, Fraction(x)) for i, x in enumerate(row) if x] for row in tasks]
    for n, row in enumerate(tasks_by_user):
        for i, x in row:
            if x < 0 or not may[n, i]:
                user, server = cluster.users[n].name, cluster.servers[i].name
                expected = "expected 0 or more" if x < 0 else "where that user can run none"
                return Violation(inf, inf, user, server, f"{text(x)} tasks of {user!r} on {server!r}, {expected}")
    return tasks_by_user


def overload_of(cluster: Cluster, tasks_by_user: Placed, division: str) -> float:
    """Return the greatest load of a server less 1, at least 0, rounded up."""
    return _overload(_loads(cluster, tasks_by_user, division))


def _overload(load: list[list[Fraction]]) -> float:
    return _rounded_up(max(Fraction(0), *(value - 1 for row in load for value in row)))


def _loads(cluster: Cluster, tasks_by_user: Placed, division: str) -> list[list[Fraction]]:
    """Return the load of each resource of each server, exactly, shape (K, R); of its time, shape (K, 1)."""
    zero = Fraction(0)
    parts: list[list[list[Fraction]]] = [[[] for _ in cluster.resources] for _ in cluster.servers]
    for n, row in enumerate(tasks_by_user):
        for i, x in row:
            pairs = zip(cluster.use(n, i), cluster.capacity[i], strict=True)
            shares = [x * use / c if use else zero for use, c in pairs]
            if division == "time":
                parts[i][0].append(max(shares))
                continue
            for r, share in enumerate(shares):
                if share:
                    parts[i][r].append(share)
    width = 1 if division == "time" else len(cluster.resources)
    return [[total(resource) for resource in server[:width]] for server in parts]


def shares_of(cluster: Cluster) -> Callable[[int], NDArray[np.float64]]:
    """Return a function from a server to the shares of its resources that a task of each user takes, float64[N, R].

    Shares are right to 4 roundings where the user may use the server, and mean nothing where it may not
    (`eligibility`).
    """
    totals = [total(column) or Fraction(1) for column in zip(*cluster.capacity, strict=True)]

    def parts(rows: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
        return as_floats([x / whole for row in rows for x, whole in zip(row, totals, strict=True)]).reshape(
            len(rows), -1
        )

    demand = parts([user.demand for user in cluster.users])
    capacity = parts(cluster.capacity)
    inverse = np.divide(1.0, capacity, out=np.zeros_like(capacity), where=capacity > 0)
    place = {server.name: i for i, server in enumerate(cluster.servers)}
    other: dict[int, list[int]] = {}
    for n, user in enumerate(cluster.users):
        for name in user.effective:
            other.setdefault(place[name], []).append(n)

    def share(i: int) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = demand * inverse[i]
        for n in other.get(i, ()):
            pairs = zip(cluster.users[n].demand, cluster.users[n].effective[cluster.servers[i].name], strict=True)
            shares[n] = as_floats([d / (e * cluster.servers[i].count) if d and e else Fraction(0) for d, e in pairs])
        return shares

    return share


def _shortfall(
    shares: NDArray[np.float64], level: NDArray[np.float64], holders: list[int], load: list[Fraction]
) -> NDArray[np.float64]:
    """Return for each user the least eps for which it has a bottleneck at one server, rounded up; 0 if not eligible."""
    demanded = shares > 0
    top = np.zeros(shares.shape[1])  # of each resource, the highest level among its holders
    for n in holders:
        top = np.maximum(top, np.where(demanded[n], level[n], 0.0))
    lacking = np.array([_rounded_up(max(1 - value, Fraction(0))) for value in load])  # of saturation
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(top > 0, top / level[:, None], 1.0)  # infinite for users without tasks
    above = np.maximum(ratio * (1 + ROUNDING) - 1, 0.0)
    eps = np.where(demanded, np.maximum(above, lacking), np.inf).min(axis=1)
    return np.where(demanded.any(axis=1), eps, 0.0)


def as_floats(values: Sequence[Fraction]) -> NDArray[np.float64]:
    """Return the nearest floats; InputError where one that is not 0 is beyond `FAR`, or its inverse."""
    try:
        floats = np.array([float(value) for value in values])
    except OverflowError:
        floats = np.array([inf])
    size = np.abs(floats[[bool(value) for value in values]])
    if not ((size > 1 / FAR) & (size < FAR)).all():
        raise InputError("expected capacities, demands, weights and tasks within a factor of 1e75, for numeric shares")
    return floats


def _rounded_up(value: Fraction) -> float:
    """Return a float that is at least the value, 0 for 0."""
    return nextafter(float(value), inf) if value else 0.0
