"""Demands rounded up to a grid, all at once, beside rounding one demand at a time in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.planning import types_of_log
from fluid.planning.grids import FINEST, GRIDS, MOST_TYPES, kinds_on_grid, shares_of
from fluid.planning.too_large import shortage
from fluid.traces.model import Trace

NAMES = ("cpu", "memory")


def rounded(steps: Fraction | int, amount: Fraction, most: Fraction) -> Fraction:
    """Halve (or divide by 4, 8, ...) a whole server until the next part is too small; then go down by equal steps."""
    if not amount:
        return Fraction(0)
    share = max(amount / most, Fraction(1, FINEST))
    top, fall = Fraction(1), Fraction(2) ** int(1 / Fraction(steps)) if steps < 1 else Fraction(2)
    while top / fall >= share:
        top /= fall
    if steps > 1:
        step = top / (2 * int(steps))
        top = step * -(-share // step)
    return top * most


def one_by_one(demands: list[Any], capacity: dict[str, Fraction], servers: list[dict[str, Fraction]]) -> list[Any]:
    """Return the kind of each demand on the finest grid that leaves few, or on the last."""
    kinds: list[Any] = []
    for steps in GRIDS:
        kinds = [tuple(rounded(steps, *pair) for pair in zip(row, capacity.values(), strict=True)) for row in demands]
        if len(servers) > 1:
            kinds = [
                row if shortage(dict(zip(capacity, kind, strict=True)), servers) else kind
                for kind, row in zip(kinds, demands, strict=True)
            ]
        if len(set(kinds)) <= MOST_TYPES:
            break
    return kinds


SERVERS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=3)


@settings(max_examples=12)
@given(SERVERS, st.sampled_from([Fraction(1), Fraction(1, 7), Fraction(3, 10**13)]), st.integers(0, 10**6))
def test_kinds_are_those_of_demands_one_by_one(sizes: list[tuple[int, int]], unit: Fraction, seed: int) -> None:
    servers = [dict(zip(NAMES, map(Fraction, size), strict=True)) for size in sizes]
    capacity = {name: max(server[name] for server in servers) for name in NAMES}
    rng = np.random.default_rng(seed)
    server = np.array(sizes)[rng.integers(len(sizes), size=30)]
    shares = np.where(rng.random((30, 2)) < 0.5, rng.random((30, 2)), 2.0 ** -rng.integers(0, 45, (30, 2)))
    rows = np.floor(server * shares / float(unit)).astype(np.int64)
    rows = rows[[bool(row.any()) and not shortage(asked(row, unit), servers) for row in rows]]
    kinds, which, _ = kinds_on_grid(rows, [unit, unit], capacity, servers)
    demands = [tuple(asked(row, unit).values()) for row in rows]
    assert [kinds[i] for i in which] == one_by_one(demands, capacity, servers)
    assert kinds == sorted(set(kinds))
    assert set(which.tolist()) == set(range(len(kinds)))


def asked(row: Any, unit: Fraction) -> dict[str, Fraction]:
    return {name: int(n) * unit for name, n in zip(NAMES, row, strict=True)}


@pytest.mark.parametrize("steps", GRIDS)
def test_a_share_of_a_grid_is_rounded_to_itself_and_a_larger_one_to_the_next(steps: Fraction | int) -> None:
    shares = shares_of(steps)
    assert shares == sorted(shares)
    assert shares[0] >= Fraction(1, FINEST)
    assert shares[-1] == 1
    for share, larger in zip(shares, [*shares[1:], None], strict=True):
        assert rounded(steps, share, Fraction(1)) == share
        if larger is not None:
            assert rounded(steps, share + Fraction(1, 10**30), Fraction(1)) == larger


def test_types_of_thousands_of_demands() -> None:
    """The least demand of each type is that of its tasks, and tasks that fit no server are counted by demand."""
    rng = np.random.default_rng(4)
    demand = rng.integers(1, 400, (3000, 2))
    demand[::50] = 500, 7
    ones, zeros = np.ones(3000, np.int64), np.zeros(3000, np.int64)
    trace = Trace(NAMES, (Fraction(1, 4),) * 2, np.arange(3000), ones, zeros, zeros, demand, zeros, (), ())
    own = types_of_log(trace, dict.fromkeys(NAMES, Fraction(100)), "log", drop_large=True)
    assert [(one.tasks, one.demand["cpu"], dict(one.short)) for one in own.too_large] == [(60, 125, {"cpu": 1})]
    assert (own.of_task < 0).tolist() == [i % 50 == 0 for i in range(3000)]
    assert own.distinct == len({tuple(row) for row in demand.tolist()}) - 1
    for j, (kind, least) in enumerate(zip(own.types, own.least, strict=True)):
        of_type = demand[own.of_task == j]
        assert list(least.values()) == [Fraction(int(n), 4) for n in of_type.min(axis=0)]
        largest = asked(of_type.max(axis=0), Fraction(1, 4))
        assert all(Fraction(kind["demand"][name]) >= amount for name, amount in largest.items())
    for r, name in enumerate(NAMES):
        before = sum(int(n) for n, j in zip(demand[:, r], own.of_task, strict=True) if j >= 0) / 4
        after = sum(float(Fraction(own.types[j]["demand"][name])) for j in own.of_task.tolist() if j >= 0)
        assert own.added[name] == pytest.approx(after / before - 1, rel=1e-9)
