"""Whole servers for whole jobs: the best that rounding, packing and a search among configurations come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

import highspy
import numpy as np

from theory.exact.columns import PoolColumn, largest_first, slots_of, trimmed
from theory.greedy.pools import apportion, fewest_holding
from theory.instance import Additive, Configuration, Instance

MILP_COLUMNS = 2_000
"""Columns, by reduced cost, among which whole servers are looked for."""

MILP_NODES = 500
"""Nodes of that search, some seconds of work: by a limit of time the upper bound would depend on the machine's load."""

MOST_JOBS = 10**14
"""Most jobs of a type: the solver takes no coefficient of 10^15 or above."""

Ranked = Callable[[], Sequence[tuple[int, Configuration]]]
"""Gives pools and configurations, those of the least reduced cost first."""


def whole_servers(
    instance: Instance, need: Sequence[int], amounts: Sequence[PoolColumn], lower: int, ranked: Ranked
) -> list[PoolColumn]:
    """Return whole servers that have just the slots that are needed, few of them.

    Parameters
    ----------
    instance : Instance
        Its pools are used, neither rewards nor workload.
    need : sequence of int, shape (J,)
    amounts : sequence of (pool, configuration, amount)
        Servers in fractions that carry the need.
    lower : int
        A lower bound of the servers: what attains it ends the search.
    ranked : callable

    Notes
    -----
    The best of the amounts rounded up, on one pool the largest jobs first, from nothing and on top of the amounts
    rounded down (`theory.exact.columns.largest_first`), and, where these do not attain the lower bound, a node-limited
    integer search over ranked configurations, which takes ten times as long.
    """
    best = trimmed([(p, k, Fraction(ceil(amount))) for p, k, amount in amounts], need)
    if len(instance.pools) == 1 and isinstance(space := instance.pools[0].space, Additive):
        for begun in (floors(amounts), []):
            if servers_for(instance, best) > lower:
                packed = packed_largest_first(space, need, begun)
                best = min(best, packed, key=lambda columns: servers_for(instance, columns))
    if servers_for(instance, best) > lower:
        candidate = _searched(instance, ranked()[:MILP_COLUMNS], need, lower)
        if candidate is not None and servers_for(instance, candidate) < servers_for(instance, best):
            best = candidate
    return best


def floors(amounts: Sequence[PoolColumn]) -> list[tuple[Configuration, int]]:
    """Return amounts of servers rounded down, without those below 1."""
    return [(k, floor(amount)) for _, k, amount in amounts if amount >= 1]


def packed_largest_first(
    space: Additive, need: Sequence[int], begun: Sequence[tuple[Configuration, int]] = ()
) -> list[PoolColumn]:
    """Return servers that some are taken for, and then First-Fit Decreasing; they have just the slots needed."""
    missing = [max(0, jobs - sum(k[j] * number for k, number in begun)) for j, jobs in enumerate(need)]
    added = (part.tolist() for part in largest_first(space, missing, divisible=False))
    servers = [*begun, *((tuple(k), number) for k, number in zip(*added, strict=True))]
    return trimmed([(0, k, Fraction(number)) for k, number in servers], need)


def servers_for(instance: Instance, columns: Sequence[PoolColumn]) -> int:
    """Return the least number of servers of which the pools have those of some columns (`fewest_holding`)."""
    used = [Fraction(0)] * len(instance.pools)
    for p, _, number in columns:
        used[p] += number
    return fewest_holding(used, [pool.share for pool in instance.pools])


def _searched(
    instance: Instance, columns: Sequence[tuple[int, Configuration]], need: Sequence[int], lower: int
) -> list[PoolColumn] | None:
    """Search for whole servers among given columns; what is found is recounted, so floats cannot mislead.

    A pool has what `apportion` gives it of the lower bound, and its share of each server beyond.
    """
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_max_nodes", MILP_NODES)
    width, infinity = len(need), highspy.kHighsInf
    for amount in need:
        highs.addRow(float(ceil(amount)), infinity, 0, np.empty(0, np.int32), np.empty(0))
    for pool, number in zip(instance.pools, apportion(lower, [pool.share for pool in instance.pools]), strict=True):
        highs.addRow(-infinity, float(number - pool.share * lower), 0, np.empty(0, np.int32), np.empty(0))
    shares = np.array([-float(pool.share) for pool in instance.pools])
    highs.addCol(1.0, 0.0, infinity, len(shares), np.arange(width, width + len(shares), dtype=np.int32), shares)
    for p, k in columns:
        used = [j for j, slots in enumerate(k) if slots]
        rows = np.array([*used, width + p], np.int32)
        highs.addCol(0.0, 0.0, infinity, len(rows), rows, np.array([*(k[j] for j in used), 1], np.float64))
    everything = np.arange(len(columns) + 1, dtype=np.int32)
    highs.changeColsIntegrality(len(everything), everything, np.full(len(everything), highspy.HighsVarType.kInteger))
    highs.run()
    values = highs.getSolution().col_value
    if len(values) != len(columns) + 1:
        return None
    return recounted(columns, values[1:], need)


def recounted(
    columns: Sequence[tuple[int, Configuration]], values: Sequence[float], need: Sequence[int]
) -> list[PoolColumn] | None:
    """Return the servers that a solver found for configurations, with just the slots needed; None if they lack some."""
    chosen = [(p, k, Fraction(round(value))) for (p, k), value in zip(columns, values, strict=True) if value > 0.5]
    have = slots_of([(k, number) for _, k, number in chosen], len(need))
    if any(slots < amount for slots, amount in zip(have, need, strict=True)):
        return None
    return trimmed(chosen, need)
