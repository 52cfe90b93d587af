"""PS-DSF under time division by one convex program: it is the equilibrium of a linear Fisher market."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster
from theory.sharing.occupation import Occupation, merge, occupation
from theory.sharing.psdsf import feasible, finished, rounded
from theory.sharing.rounds import State, start


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
    import cvxpy as cp

    users, servers = len(table.weights), len(table.shares[0])
    gamma = np.array([[float(table.monopoly(n, i)) for i in range(servers)] for n in range(users)])
    weights = np.array([float(w) for w in table.weights])
    largest = gamma.max(axis=1, keepdims=True)
    value = gamma / largest
    time = cp.Variable((users, servers), nonneg=True)
    welfare = cp.sum(cp.multiply(weights, cp.log(cp.sum(cp.multiply(value, time), axis=1))))
    problem = cp.Problem(
        cp.Maximize(welfare), [cp.sum(time, axis=0) <= 1, cp.multiply((gamma == 0).astype(float), time) == 0]
    )
    problem.solve(solver=cp.CLARABEL)
    return cast(NDArray[np.float64], np.maximum(cast(Any, time.value), 0) * gamma)


def ps_dsf_tdm(cluster: Cluster) -> Allocation:
    """Return the PS-DSF allocation under time division, by the convex program and exactly.

    The float solution names the servers of each user; the allocation with that structure is solved for in rationals (a
    linear Fisher market has a rational equilibrium) and verified by `is_ps_dsf_tdm`. Where the interior-point
    solution is too blurred, a few rounds of the simplified algorithm sharpen it first.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> wireless = cluster([[1], [1]], [[1], [1]], eligible=[[True, True], [False, True]])
    >>> [str(x) for x in ps_dsf_tdm(wireless).totals]
    ['1', '1']
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
