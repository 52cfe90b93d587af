"""PS-DSF: Algorithm I with its limit made exact; large clusters go to `theory.sharing.large`."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.checks import is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.finish import exact_tasks
from theory.sharing.large import large_ps_dsf
from theory.sharing.model import Cluster, Matrix
from theory.sharing.occupation import Merged, Occupation, merge, occupation
from theory.sharing.rounds import State, start

PLAIN = 64
"""Rounds of Algorithm I after which a change that does not shrink is taken for a cycle."""

DAMPED = 0.75
"""Part of its way that a server goes once a cycle was seen."""

LARGE = 2_000
"""Pairs of user and server class beyond which a cluster counts as large."""

FEW_ROUNDS = 1024
"""Rounds after which time division goes to the convex program; of 300 random clusters none took more than 128."""

CLOSE = 1e-6
"""Largest relative change of a user's tasks from the float limit to the exact allocation."""


def ps_dsf(cluster: Cluster, *, rounds: int = 16384) -> Allocation:
    """Return the PS-DSF allocation that Algorithm I approaches, exactly.

    Parameters
    ----------
    cluster : Cluster
    rounds : int
        Most rounds of Algorithm I.

    Returns
    -------
    Allocation
        ``exact`` where Theorem 1 was verified in rationals; else the last round, scaled down to be feasible.
        ``damped`` where the rounds as printed found no limit.

    Notes
    -----
    Algorithm I need not end: often it halves the distance to its limit for ever. So it runs in floats, and its limit
    is found by solving for the allocation with the same structure (`exact_tasks`) and verified by `is_ps_dsf`. Rarely
    it cycles and has no limit: where a round's change has not shrunk by a tenth while the rounds doubled, every server
    goes three quarters of its way only from then on (`DAMPED`), which has ended all cycles seen; on large clusters that
    is the usual case. Neither convergence nor the existence of a PS-DSF allocation is proved in general.

    That is for small clusters. Beyond `LARGE` pairs of user and class, `large_ps_dsf` runs the same rounds as
    water-filling and finds the exact allocation by elimination.

    PS-DSF allocations under resource division are not unique, and the one that is reached depends on the order of the
    servers. So proportional users and servers are merged and the rest is put in an order that does not depend on the
    file or on units (`merge`): permuting, scaling or splitting changes nothing. A round costs O(N^2 K R) at worst.
    Source: PS-DSF paper, Algorithm I.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> [str(x) for x in ps_dsf(figure1).totals]
    ['3', '3', '6']
    """
    if _is_large(cluster):
        return large_ps_dsf(cluster, "resource", rounds=rounds)
    return _limit(cluster, merge(occupation(cluster)), "ps-dsf", "resource", rounds)


def ps_dsf_tdm_rounds(cluster: Cluster, *, rounds: int = 16384) -> Allocation:
    """Return the PS-DSF allocation under time division by the simplified algorithm, exactly.

    Algorithm I with the single resource *time* (`Occupation.in_time`); totals are unique here.
    """
    if _is_large(cluster):
        return large_ps_dsf(cluster, "time", rounds=rounds)
    return _limit(cluster, merge(occupation(cluster).in_time()), "ps-dsf-tdm", "time", rounds)


def _is_large(cluster: Cluster) -> bool:
    return len(cluster.users) * len(cluster.servers) > LARGE


def finished(
    cluster: Cluster, merged: Merged, state: State, division: str, tolerances: tuple[float, ...] = (1e-7, 1e-9, 1e-5)
) -> Matrix | None:
    """Return the exact allocation that a float state is close to, verified by the independent checker, or None."""
    verify = is_ps_dsf if division == "resource" else is_ps_dsf_tdm
    for tolerance in tolerances:
        exact = exact_tasks(merged.occupation, state, tolerance)
        if exact is None:
            continue
        moved = max(abs(float(total(row)) / x - 1) if x else 1.0 for row, x in zip(exact, state.totals, strict=True))
        if moved > CLOSE:
            continue
        tasks = merged.expand(exact)
        if verify(cluster, tasks):
            return tasks
    return None


def _limit(cluster: Cluster, merged: Merged, mechanism: str, division: str, rounds: int) -> Allocation:
    state = start(merged.occupation, exact=False)
    attempt, done = 8, 0
    damped, change = False, float("inf")
    while done < rounds:
        before = state.totals
        moved = state.round(DAMPED if damped else 1)
        done += 1
        if moved and done < attempt:
            continue
        attempt *= 2
        last, change = change, float((abs(state.totals - before) / state.totals).max())
        tasks = finished(cluster, merged, state, division)
        if tasks is not None:
            return Allocation(mechanism, cluster, tasks, division, rounds=done, damped=damped)
        if not moved:
            break
        damped = damped or (done >= PLAIN and change > 0.9 * last)
    tasks = feasible(cluster, merged.expand(rounded(state)), division)
    return Allocation(mechanism, cluster, tasks, division, exact=False, rounds=done, damped=damped)


def rounded(state: State) -> Matrix:
    """Return the tasks of a float state as rationals with short denominators."""
    return tuple(tuple(Fraction(float(x)).limit_denominator(10**12) for x in row) for row in state.tasks)


def feasible(cluster: Cluster, tasks: Matrix, division: str) -> Matrix:
    """Scale tasks down, class by class, by the least that makes them feasible."""
    if is_feasible_allocation(cluster, tasks, division=division):
        return tasks
    draft = Allocation("", cluster, tasks)
    factors = []
    for i in range(len(cluster.servers)):
        if division == "time":
            load = total(row[i] / gamma[i] for row, gamma in zip(tasks, cluster.monopoly, strict=True) if row[i])
        else:
            load = max(draft.utilisation(i, r) for r in range(len(cluster.resources)))
        factors.append(min(Fraction(1), 1 / load) if load else Fraction(1))
    return tuple(tuple(x * f for x, f in zip(row, factors, strict=True)) for row in tasks)


def eisenberg_gale(table: Occupation) -> NDArray[np.float64]:
    """Maximise sum_n phi_n log x_n over time shares, in floats.

    Parameters
    ----------
    table : Occupation
        Of time division: one resource.

    Returns
    -------
    float64[N, K]
        Tasks x_{n,i}.

    Notes
    -----
    Buyers are users with budgets phi_n, goods are the servers' time, values are gamma_{n,i}. The conditions of
    Theorem 2 are the Karush-Kuhn-Tucker conditions of this program: with p_i the price of server i's time,
    phi_n gamma_{n,i} / x_n <= p_i, with equality where x_{n,i} > 0, which says that the level s_{n,i} / phi_n is at
    least 1 / p_i and equal to it for those served there. Derived for this project; the program is Eisenberg and Gale's.
    """
    users, servers = len(table.weights), len(table.shares[0])
    gamma = np.array([[float(table.monopoly(n, i)) for i in range(servers)] for n in range(users)])
    weights = np.array([float(w) for w in table.weights])
    value, barred = gamma / gamma.max(axis=1, keepdims=True), (gamma == 0).astype(float)
    if gamma.size > LARGE:
        problem = _eisenberg_gale(weights, value, barred)
    else:
        problem = _eisenberg_gale_of(users, servers)
        for name, numbers in (("weights", weights), ("value", value), ("barred", barred)):
            problem.param_dict[name].value = numbers
    problem.solve(solver="CLARABEL")
    return cast(NDArray[np.float64], np.maximum(problem.var_dict["time"].value, 0) * gamma)


@lru_cache(maxsize=8)
def _eisenberg_gale_of(users: int, servers: int) -> Any:
    """Return the program whose numbers are parameters: it is set up once for each shape, in memory (N K)^2."""
    import cvxpy as cp

    weights = cp.Parameter(users, name="weights", nonneg=True)
    value, barred = (cp.Parameter((users, servers), name=name, nonneg=True) for name in ("value", "barred"))
    return _eisenberg_gale(weights, value, barred)


def _eisenberg_gale(weights: Any, value: Any, barred: Any) -> Any:
    """Return the program of Eisenberg and Gale, of numbers or parameters."""
    import cvxpy as cp

    time = cp.Variable(value.shape, name="time", nonneg=True)
    level = cp.Variable(weights.shape)
    welfare = cp.sum(cp.multiply(weights, cp.log(level)))
    rows = [
        level == cp.sum(cp.multiply(value, time), axis=1),
        cp.sum(time, axis=0) <= 1,
        cp.multiply(barred, time) == 0,
    ]
    return cp.Problem(cp.Maximize(welfare), rows)


def ps_dsf_tdm(cluster: Cluster) -> Allocation:
    """Return the PS-DSF allocation under time division, exactly.

    Where `FEW_ROUNDS` of the simplified algorithm do not reach it, the convex program does (`ps_dsf_tdm_convex`).
    Totals are unique. Each turn of the algorithm maximises sum_n phi_n log x_n over the time of one server, so the
    rounds are a coordinate ascent on that program.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> wireless = cluster([[1], [1]], [[1], [1]], eligible=[[True, True], [False, True]])
    >>> [str(x) for x in ps_dsf_tdm(wireless).totals]
    ['1', '1']
    """
    if _is_large(cluster):
        return large_ps_dsf(cluster, "time")
    found = ps_dsf_tdm_rounds(cluster, rounds=FEW_ROUNDS)
    return found if found.exact else ps_dsf_tdm_convex(cluster)


def ps_dsf_tdm_convex(cluster: Cluster) -> Allocation:
    """Return the PS-DSF allocation under time division by the convex program `eisenberg_gale`, exactly.

    The float solution names the servers of each user; the allocation with that structure is solved for in rationals (a
    linear Fisher market has a rational equilibrium) and verified by `is_ps_dsf_tdm`. Where the interior-point
    solution is too blurred, a few rounds of the simplified algorithm sharpen it first.
    """
    merged = merge(occupation(cluster).in_time())
    tasks = eisenberg_gale(merged.occupation)
    state: State = start(merged.occupation, exact=False, tasks=_within(merged.occupation, tasks))
    for rounds in (0, 4, 16, 64, 256, 1024):
        for _ in range(rounds):
            state.round()
        exact = finished(cluster, merged, state, "time", (1e-6, 1e-4, 1e-8))
        if exact is not None:
            return Allocation("ps-dsf-tdm", cluster, exact, "time")
    loose = feasible(cluster, merged.expand(rounded(state)), "time")
    return Allocation("ps-dsf-tdm", cluster, loose, "time", exact=False)


def _within(table: Occupation, tasks: NDArray[np.float64]) -> list[list[float]]:
    """Scale a solver's tasks down to the time there is."""
    users, servers = tasks.shape
    per_task = np.array([[0.0 if row is None else float(max(row)) for row in rows] for rows in table.shares])
    load = np.maximum((tasks * per_task).sum(axis=0), 1.0)
    return [[float(tasks[n, i] / load[i]) for i in range(servers)] for n in range(users)]
