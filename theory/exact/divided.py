"""A workload divided among pools as if jobs were divisible: a first guess of prices, and of what each pool carries."""

from __future__ import annotations

from collections.abc import Sequence

import highspy
import numpy as np
from numpy.typing import NDArray

from theory.instance import Additive


def divided(
    spaces: Sequence[Additive], shares: Sequence[float], workload: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Divide a workload so that the most loaded resource of a pool, relative to the pool's share, is loaded least.

    Parameters
    ----------
    spaces : sequence of Additive, length P
        Of the same resources and types.
    shares : sequence of float, length P
        Of all servers, positive.
    workload : sequence of float, shape (J,)
        At least 0.

    Returns
    -------
    parts : float64[P, J]
        Jobs of each type in each pool, 0 where the type does not fit.
    prices : float64[J]
        What the load would rise by with one more job of each type.
    None
        Where the solver reports anything but an optimum.

    Notes
    -----
    ``min z`` with ``sum_p y_{j,p} = rho_j`` and ``sum_j d_{j,r} y_{j,p} <= share_p C_{p,r} z``: the program of the
    traffic intensity without whole jobs, so its value is a lower bound. Where servers hold many jobs it is often the
    same value. J P variables; floats.

    Examples
    --------
    >>> from theory.instance import pooled
    >>> ten, four = (pool.space for pool in pooled([(1, [10]), (1, [4])], [[5], [2]]).pools)
    >>> parts, prices = divided([ten, four], [0.5, 0.5], [1.0, 2.0])
    >>> parts.round(2).tolist(), prices.round(2).tolist()
    ([[1.0, 0.71], [0.0, 1.29]], [0.71, 0.29])
    """
    types, pools, width = len(workload), len(spaces), len(spaces[0].capacity)
    demands = np.array(spaces[0].demands, np.float64)
    capacity = np.array([space.capacity for space in spaces], np.float64) * np.array(shares)[:, None]
    where = np.argwhere([[space.most(j) > 0 for j in range(types)] for space in spaces])
    pool, job = where[:, 0], where[:, 1]
    unlimited = highspy.kHighsInf
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = 1 + len(where), types + pools * width
    model.col_cost_ = np.array([1.0, *np.zeros(len(where))])
    model.col_lower_, model.col_upper_ = np.zeros(1 + len(where)), np.full(1 + len(where), unlimited)
    model.row_lower_ = np.concatenate([np.array(workload, np.float64), np.full(pools * width, -unlimited)])
    model.row_upper_ = np.concatenate([np.array(workload, np.float64), np.zeros(pools * width)])
    rows = np.column_stack([job, types + pool[:, None] * width + np.arange(width)])
    values = np.column_stack([np.ones(len(where)), demands[job]])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    first = pools * width
    model.a_matrix_.start_ = np.concatenate([[0], first + np.arange(1 + len(where)) * (1 + width)]).astype(np.int32)
    model.a_matrix_.index_ = np.concatenate([types + np.arange(first), rows.ravel()]).astype(np.int32)
    model.a_matrix_.value_ = np.concatenate([-capacity.ravel(), values.ravel()])
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    parts = np.zeros((pools, types))
    parts[pool, job] = np.array(solution.col_value)[1:]
    return np.maximum(parts, 0.0), np.maximum(np.array(solution.row_dual)[:types], 0.0)
