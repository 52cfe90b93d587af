"""First configurations for a workload: servers filled with the largest jobs first, and a division among pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel, plain
from theory.exact.knapsack.configurations import reduced
from theory.exact.programs.solver import FloatProgram
from theory.instance import Additive

LONG = 2**62
"""Capacities and numbers of jobs from which the servers are filled in Python integers, as 64 bits are too few."""

SERVED = 1e-9
"""Part of a type's divisible jobs that may be left when it counts as served; the rounding of floats leaves some."""


def largest_first(
    space: Additive, need: Sequence[Any] | NDArray[Any], most: Sequence[int] | None = None, *, divisible: bool
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return servers for jobs, each filled with the largest jobs that still wait, as many as fit.

    Parameters
    ----------
    space : Additive
    need : sequence of number, shape (J,)
        Jobs of each type, at least 0. Types that do not fit are left out.
    most : sequence of int, shape (J,), optional
        Most jobs of each type on a server.
    divisible : bool
        Whether the jobs are amounts in floats that fractions of servers hold; if not, they are whole numbers.

    Returns
    -------
    configurations : int64[m, J]
    servers : [m]
        The number of servers in each configuration; their slots hold all jobs.

    Notes
    -----
    First-Fit Decreasing by the largest share of a resource, equal servers at once: O(J R) for each configuration. Where
    jobs are divisible, each of them serves a type to the end, so there are at most J.

    Examples
    --------
    >>> from theory.instance import additive
    >>> space = additive([10], [[6], [3], [2]]).pools[0].space
    >>> [part.tolist() for part in largest_first(space, [3, 4, 3], divisible=False)]
    [[[1, 1, 0], [0, 1, 3]], [3, 1]]
    >>> [part.round(2).tolist() for part in largest_first(space, [3.0, 4.0, 3.0], divisible=True)]
    [[[1, 1, 0], [0, 3, 0], [0, 0, 5]], [3.0, 0.33, 0.6]]
    """
    small = reduced(space, [j for j, jobs in enumerate(need) if jobs > 0])
    share = [max(d / c for d, c in zip(row, small.capacity, strict=True)) for row in small.demands]
    order = sorted(range(len(share)), key=lambda i: -share[i])
    types = [small.types[i] for i in order]
    jobs = [need[j] for j in types]
    is_long = max([*small.capacity, *jobs], default=0) >= LONG
    integer = object if is_long else np.int64
    remaining = np.array(jobs, np.float64 if divisible else integer)
    demands = np.array([small.demands[i] for i in order], integer).reshape(len(order), len(small.capacity))
    limit = np.array([space.most(j) if most is None else min(space.most(j), most[j]) for j in types], integer)
    served = SERVED * remaining if divisible else 0 * remaining
    fill = plain(_fill_servers) if is_long else _fill_servers
    blocks, servers = [np.zeros((0, len(need)), integer)], [remaining[:0]]
    while (remaining > served).any():
        slots, amounts = np.zeros((len(types), len(types)), integer), remaining.copy()
        number = fill(np.array(small.capacity, integer), demands, limit, remaining, served, divisible, slots, amounts)
        blocks.append(np.zeros((number, len(need)), integer))
        blocks[-1][:, types] = slots[:number]
        servers.append(amounts[:number])
    return np.concatenate(blocks), np.concatenate(servers)


@kernel
def _fill_servers(
    capacity: NDArray[np.int64],
    demands: NDArray[np.int64],
    limit: NDArray[np.int64],
    remaining: NDArray[Any],
    served: NDArray[Any],
    divisible: bool,
    slots: NDArray[np.int64],
    amounts: NDArray[Any],
) -> int:
    """Write configurations and their servers until no job remains or the rows are full; return their number.

    The types are ordered by decreasing size. `remaining` holds the jobs that wait; at most `served` of a type may stay.
    """
    n, width = demands.shape
    for m in range(len(slots)):
        free = capacity.copy()
        is_empty = True
        for j in range(n):
            if remaining[j] <= served[j]:
                continue
            number = limit[j] if divisible else min(limit[j], int(remaining[j]))
            for r in range(width):
                if demands[j, r] > 0:
                    number = min(number, free[r] // demands[j, r])
            if number == 0:
                continue
            slots[m, j] = number
            for r in range(width):
                free[r] -= number * demands[j, r]
            # as many servers as the type that ends first needs; of whole jobs a rest stays that is less than its slots
            enough = remaining[j] / number if divisible else remaining[j] // number
            if is_empty or enough < amounts[m]:
                amounts[m] = enough
            is_empty = False
        if is_empty:
            return m
        for j in range(n):
            remaining[j] -= amounts[m] * slots[m, j]
    return len(slots)


def divided(
    spaces: Sequence[Additive], shares: Sequence[float], workload: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Divide a workload so that the most loaded resource of a pool, relative to the pool's share, is loaded least.

    Return the jobs of each type in each pool, float64[P, J], and prices, float64[J]: what the load would rise by with
    one more job. None where the solver reports no optimum. The spaces have equal demands. In floats, with J P
    variables: ``min z`` with ``sum_p y_{j,p} = rho_j`` and ``sum_j d_{j,r} y_{j,p} <= share_p C_{p,r} z``, the program
    of the traffic intensity without whole jobs. Its value is a lower bound; where servers hold many jobs it is often
    the same value.

    Examples
    --------
    >>> from theory.instance import pooled
    >>> ten, four = (pool.space for pool in pooled([(1, [10]), (1, [4])], [[5], [2]]).pools)
    >>> parts, prices = divided([ten, four], [0.5, 0.5], [1.0, 2.0])
    >>> parts.round(2).tolist(), prices.round(2).tolist()
    ([[1.0, 0.71], [0.0, 1.29]], [0.71, 0.29])
    """
    types, resources = len(workload), range(len(spaces[0].capacity))
    first_row = {p: types + p * len(resources) for p in range(len(spaces))}  # of the pool's resources
    equations: list[tuple[Any, Any]] = [(rho, rho) for rho in workload]
    program = FloatProgram([*equations, *[(None, 0)] * (len(spaces) * len(resources))])
    load = [(first_row[p] + r, -shares[p] * space.capacity[r]) for p, space in enumerate(spaces) for r in resources]
    program.add_columns([-1], [(0, None)], [len(load)], *zip(*load, strict=True))
    pairs = [(p, j) for p, space in enumerate(spaces) for j in range(types) if space.most(j)]
    entries = [
        entry for p, j in pairs for entry in [(j, 1), *((first_row[p] + r, spaces[p].demands[j][r]) for r in resources)]
    ]
    rows, values = zip(*entries, strict=True)
    program.add_columns([0] * len(pairs), [(0, None)] * len(pairs), [1 + len(resources)] * len(pairs), rows, values)
    if not program.run():
        return None
    _, primal, dual = program.solution()
    parts = np.zeros((len(spaces), types))
    parts[tuple(np.array(pairs).T)] = primal[1:]
    return np.maximum(parts, 0.0), np.maximum(-dual[:types], 0.0)
