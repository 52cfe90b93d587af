"""The types of a log that comes without a table of types: its distinct demands, or these rounded up to a grid.

A few distinct demands are types as they are. Many are rounded up, resource by resource, to shares of a server
(1, 7/8, 6/8, 5/8, 1/2, 7/16, ... for a grid of four steps to each halving); of the grids below the finest is taken
that leaves few types. What the rounding costs is bounded from both sides: the servers for types whose demands are
rounded up are enough, and those for types that have the least demand of their tasks are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.planning.grids import MOST_TYPES, Kind, kinds_on_grid
from fluid.planning.too_large import TooLarge, shortage
from fluid.traces.model import Trace
from theory.errors import InputError
from theory.numbers import many, text
from theory.rows import unique_rows


@dataclass(frozen=True)
class OwnTypes:
    """Types made of the demands of a log.

    Attributes
    ----------
    types : list of dict
        Tables ``[[type]]`` with name and demand.
    least : list of dict
        The least amount of each resource that tasks of each type ask.
    of_task : int64[n]
        The type of each task; -1 for one that fits no server.
    distinct : int
        Distinct demands of the log.
    grid : str
        What demands were rounded up to; empty where they are as they were.
    added : mapping of str to float
        By how much rounding raises the demands of all tasks together, weighted with their stays, by resource.
    """

    types: list[dict[str, Any]]
    least: list[dict[str, Fraction]]
    of_task: NDArray[np.int64]
    distinct: int
    grid: str
    added: Mapping[str, float]
    too_large: tuple[TooLarge, ...] = ()


def types_of_log(
    trace: Trace,
    capacity: Mapping[str, Fraction],
    source: str,
    servers: Sequence[Mapping[str, Fraction]] = (),
    *,
    drop_large: bool = False,
) -> OwnTypes:
    """Make types of the demands of a log.

    Parameters
    ----------
    trace : Trace
    capacity : mapping of str to Fraction
        The most that any server has of each resource, by the names of the trace; others are not counted.
    source : str
        The log, for messages.
    servers : sequence of mapping
        What each kind of server has; by default there is one, with `capacity`.
    drop_large : bool
        Whether tasks that fit no server are left out; unless so, they are refused.

    Raises
    ------
    InputError
        A log without resources, or with a task that fits no server.
    """
    expect_resources(trace, source)
    columns = [trace.resources.index(name) for name in capacity]
    rows, _, number = unique_rows(trace.demand[:, columns])
    units, names = [trace.unit[r] for r in columns], list(capacity)
    kept = _fit(rows, units, names, servers or [capacity])
    large = _large(rows, units, np.bincount(number, minlength=len(rows)), kept, names, servers or [capacity])
    if large and not drop_large:
        _refuse_large(trace, units, columns, large, kept[number], source)
    if not kept.any():
        raise InputError(source, "", "expected a task that fits a server, got none")
    rows, number = rows[kept], np.where(kept, np.cumsum(kept) - 1, -1)[number]
    grid, of_demand = "", np.arange(len(rows))
    if len(rows) > MOST_TYPES:
        kinds, of_demand, grid = kinds_on_grid(rows, units, capacity, servers)
    else:
        kinds = [_amounts(row, units) for row in rows.tolist()]
    there = number >= 0
    work = np.bincount(number[there], weights=trace.duration[there].astype(float), minlength=len(rows)).astype(float)
    return OwnTypes(
        [{"name": _name(names, kind), "demand": _demand(names, kind)} for kind in kinds],
        [dict(zip(names, _amounts(row, units), strict=True)) for row in _least_of_each(rows, of_demand)],
        np.where(there, of_demand[number], -1),
        len(rows),
        grid,
        _added(names, rows, units, kinds, of_demand, work) if grid else {},
        tuple(large),
    )


def _amounts(row: Sequence[int], units: Sequence[Fraction]) -> Kind:
    return tuple(n * unit for n, unit in zip(row, units, strict=True))


def _least_of_each(rows: NDArray[np.int64], kind: NDArray[np.int64]) -> list[list[int]]:
    """Return the least of each column over the rows of each kind."""
    order = np.argsort(kind, kind="stable")
    begins = np.flatnonzero(np.diff(kind[order], prepend=-1))
    least: list[list[int]] = np.minimum.reduceat(rows[order], begins, axis=0).tolist()
    return least


def expect_resources(trace: Trace, source: str) -> None:
    """Refuse a log without resources, which may name types instead."""
    if not trace.resources:
        expected = "expected resources, such as vCPU and RAM (GiB), or a table of the types that the log names"
        raise InputError(source, trace.header, f"{expected}: packproof plan TYPES LOG")


def _fit(
    rows: NDArray[np.int64],
    units: Sequence[Fraction],
    names: Sequence[str],
    servers: Sequence[Mapping[str, Fraction]],
) -> NDArray[np.bool_]:
    """Return which demands fit a kind of server."""
    fit: NDArray[np.bool_] = np.zeros(len(rows), bool)
    for kind in servers:
        most = [min(kind.get(name, 0) // unit, 2**62) for name, unit in zip(names, units, strict=True)]
        fit |= (rows <= np.array(most, np.int64)).all(axis=1)
    return fit


def _large(
    rows: NDArray[np.int64],
    units: Sequence[Fraction],
    tasks: NDArray[np.int64],
    fit: NDArray[np.bool_],
    names: Sequence[str],
    servers: Sequence[Mapping[str, Fraction]],
) -> list[TooLarge]:
    """Return the demands that fit no server, those of most tasks first."""
    too_large = []
    for i in np.flatnonzero(~fit).tolist():
        demand = dict(zip(names, _amounts(rows[i].tolist(), units), strict=True))
        too_large.append(TooLarge(int(tasks[i]), demand, shortage(demand, servers), len(servers)))
    return sorted(too_large, key=lambda one: -one.tasks)


def _refuse_large(
    trace: Trace,
    units: Sequence[Fraction],
    columns: Sequence[int],
    large: Sequence[TooLarge],
    fits: NDArray[np.bool_],
    source: str,
) -> None:
    """Refuse tasks that fit no server, by the first of them."""
    rows = np.flatnonzero(~fits)
    i = int(rows[0] if trace.line is None else rows[np.argmin(trace.line[rows])])
    line = "" if trace.line is None else f":{int(trace.line[i])}"
    demand = _amounts(trace.demand[i, columns].tolist(), units)
    (first,) = (one for one in large if tuple(one.demand.values()) == demand)
    shown = ", ".join(f"{name} = {text(x)}" for name, x in first.demand.items())
    count = many(len(rows), "task")
    raise InputError(
        f"{source}{line}",
        "",
        f"expected tasks that fit a server, got {shown} ({count} of {len(fits):,} do not; {first.why()}); "
        "--drop-large goes on without them",
    )


def _name(names: Sequence[str], kind: Sequence[Fraction]) -> str:
    return " ".join(f"{name} {text(x)}" for name, x in zip(names, kind, strict=True))


def _demand(names: Sequence[str], kind: Sequence[Fraction]) -> dict[str, str]:
    return {name: text(x) for name, x in zip(names, kind, strict=True) if x}


def _added(
    names: Sequence[str],
    rows: NDArray[np.int64],
    units: Sequence[Fraction],
    kinds: Sequence[Kind],
    of_demand: NDArray[np.int64],
    work: NDArray[np.float64],
) -> dict[str, float]:
    """Return by which part rounding raises the work of all tasks, by resource."""
    added = {}
    for r, (name, unit) in enumerate(zip(names, units, strict=True)):
        numbers, place = np.unique(rows[:, r], return_inverse=True)
        before = float(np.dot(work, np.array([float(n * unit) for n in numbers.tolist()])[place]))
        after = float(np.dot(work, np.array([float(kind[r]) for kind in kinds])[of_demand]))
        added[name] = after / before - 1 if before else 0.0
    return added
