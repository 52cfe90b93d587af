"""Whole servers of several kinds at little cost: an integer search, and all packings of a short list."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from math import prod
from typing import NamedTuple

import highspy
import numpy as np

from theory.exact.columns import PoolColumn
from theory.exact.knapsack.configurations import has_at_most, maximal
from theory.exact.programs import SilentHighs
from theory.greedy.offers import Offer, cost_of, working
from theory.greedy.whole import MILP_COLUMNS, MILP_NODES, recounted
from theory.instance import Additive, Configuration, Instance

SHORT = 30
"""Most jobs of a list of which all packings are tried."""

STEPS = 60_000
"""Most pairs of a remaining list and a configuration."""

Servers = tuple[tuple[int, Configuration], ...]


class Packed(NamedTuple):
    """The least cost of whole servers for a list, servers of each pool, and what they hold."""

    cost: Fraction
    servers: tuple[int, ...]
    columns: tuple[tuple[int, Configuration, int], ...]


def packed_exactly(
    instance: Instance, offers: Sequence[Offer], need: Sequence[int], spare: int, at_most: Fraction | None
) -> Packed | None:
    """Return the least cost of all packings of a short list; None for a longer one.

    Parameters
    ----------
    at_most : Fraction or None
        A cost that is attained: packings that cost more are not followed.

    Notes
    -----
    Dynamic programming over the jobs that remain, kind by kind: for each list that remains, the least cost of the
    kinds so far. A server holds a maximal configuration as far as its jobs remain.
    """
    spaces = [pool.space for pool in instance.pools]
    states = prod(amount + 1 for amount in need)
    few = max(STEPS // states, 0)
    if sum(need) > SHORT or any(isinstance(space, Additive) and not has_at_most(space, 50 * few) for space in spaces):
        return None
    rows = [_within(maximal(space).tolist(), need) for space in spaces]
    if states * sum(map(len, rows)) > STEPS:
        return None
    least: dict[Configuration, tuple[Fraction, Servers]] = {tuple(need): (Fraction(0), ())}
    for p, offer in enumerate(offers):
        layer, after = least, dict(least)
        for number in range(1, working(offer, spare, sum(need)) + 1):
            more = cost_of([offer], [number], spare)
            assert more is not None
            layer = _one_server_more(layer, p, rows[p], None if at_most is None else at_most - more)
            if not layer:
                break
            for remaining, (cost, held) in layer.items():
                known = after.get(remaining)
                if known is None or cost + more < known[0]:
                    after[remaining] = cost + more, held
        least = after
    found = least.get((0,) * len(need))
    return None if found is None else _packed(*found, len(offers))


def _within(configurations: Sequence[Sequence[int]], need: Sequence[int]) -> list[Configuration]:
    """Return configurations without jobs beyond the need, each once."""
    clipped = {tuple(map(min, k, need)) for k in configurations}
    return sorted((k for k in clipped if any(k)), reverse=True)


def _one_server_more(
    layer: dict[Configuration, tuple[Fraction, Servers]],
    p: int,
    configurations: Sequence[Configuration],
    at_most: Fraction | None,
) -> dict[Configuration, tuple[Fraction, Servers]]:
    """Return what remains after one more server of a pool, for each list that remains before it."""
    after: dict[Configuration, tuple[Fraction, Servers]] = {}
    for remaining, (cost, held) in layer.items():
        if at_most is not None and cost > at_most:
            continue
        for k in {tuple(map(min, k, remaining)) for k in configurations}:
            if any(k):
                left = tuple(a - b for a, b in zip(remaining, k, strict=True))
                known = after.get(left)
                if known is None or cost < known[0]:
                    after[left] = cost, (*held, (p, k))
    return after


def _packed(cost: Fraction, held: Servers, pools: int) -> Packed:
    columns = tuple((p, k, len(list(group))) for (p, k), group in groupby(sorted(held)))
    servers = tuple(sum(number for q, _, number in columns if q == p) for p in range(pools))
    return Packed(cost, servers, columns)


def cheapest_whole(
    offers: Sequence[Offer],
    ranked: Sequence[tuple[int, Configuration]],
    need: Sequence[int],
    high: Sequence[int],
    spare: int,
) -> list[PoolColumn] | None:
    """Search for whole servers of little cost among ranked configurations; what is found is recounted.

    Parameters
    ----------
    high : sequence of int
        Most servers of each pool that hold jobs.

    Notes
    -----
    Columns: of each pool whether it is used, the servers that cost nothing, those that cost, and configurations. Rows:
    the slots of each type, and of each pool its servers, and that it is used.
    """
    highs = SilentHighs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_max_nodes", MILP_NODES)
    width, pools, infinity = len(need), len(offers), highspy.kHighsInf
    for amount in need:
        highs.addRow(float(amount), infinity, 0, np.empty(0, np.int32), np.empty(0))
    for _ in range(2 * pools):
        highs.addRow(-infinity, 0.0, 0, np.empty(0, np.int32), np.empty(0))

    def add(cost: float, most: float, entries: dict[int, float]) -> None:
        rows, values = np.array([*entries], np.int32), np.array([*entries.values()], np.float64)
        highs.addCol(cost, 0.0, most, len(rows), rows, values)

    for p, offer in enumerate(offers):
        servers, used = width + p, width + pools + p
        add(0.0, 1.0, {servers: float(spare), used: -float(high[p])} if spare else {used: -float(high[p])})
        add(0.0, float(offer.have), {servers: -1.0})
        add(float(offer.price), infinity, {servers: -1.0})
    chosen = ranked[:MILP_COLUMNS]
    for p, k in chosen:
        slots = {j: float(number) for j, number in enumerate(k) if number}
        add(0.0, float(high[p]), {**slots, width + p: 1.0, width + pools + p: 1.0})
    everything = np.arange(3 * pools + len(chosen), dtype=np.int32)
    highs.changeColsIntegrality(len(everything), everything, np.full(len(everything), highspy.HighsVarType.kInteger))
    highs.run()
    values = highs.getSolution().col_value[3 * pools :]
    if len(values) != len(chosen):
        return None
    return recounted(chosen, values, need)
