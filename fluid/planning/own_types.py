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

from fluid.planning.too_large import TooLarge, shortage
from fluid.traces.model import Trace
from theory.errors import InputError
from theory.numbers import many, text
from theory.rows import unique_rows

MOST_TYPES = 24
"""Most types that are planned with: policies and bounds take long for many more."""

GRIDS = (16, 8, 4, 2, 1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(1, 40))
"""Steps to each halving of a grid; 1/2 has a step to every second halving."""

FINEST = 2**40
"""Least share of a server of a grid, as a denominator; smaller demands count as this share."""


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
    units = [trace.unit[r] for r in columns]
    demands = [[n * unit for n, unit in zip(row, units, strict=True)] for row in rows.tolist()]
    large = _large(demands, number, list(capacity), servers or [capacity])
    kept = np.array([i not in large for i in range(len(demands))])
    if large and not drop_large:
        _refuse_large(trace, demands, number, list(large.values()), kept, source)
    if not kept.any():
        raise InputError(source, "", "expected a task that fits a server, got none")
    place_of = np.where(kept, np.cumsum(kept) - 1, -1)
    demands, number = [row for row, fits in zip(demands, kept, strict=True) if fits], place_of[number]
    rounded, grid = [tuple(row) for row in demands], ""
    if len(demands) > MOST_TYPES:
        for steps in GRIDS:
            rounded = [tuple(map(_rounded_to(steps), row, capacity.values())) for row in demands]
            if len(servers) > 1:  # what a kind has most of, another may lack: such a demand stays as it is
                rounded = [
                    row if shortage(dict(zip(capacity, kind, strict=True)), servers) else kind
                    for kind, row in zip(rounded, map(tuple, demands), strict=True)
                ]
            grid = _in_words(steps)
            if len(set(rounded)) <= MOST_TYPES:
                break
    kinds = sorted(set(rounded))
    place = {kind: j for j, kind in enumerate(kinds)}
    of_demand = np.array([place[kind] for kind in rounded], np.int64)
    names = list(capacity)
    types = [{"name": _name(names, kind), "demand": _demand(names, kind)} for kind in kinds]
    least = [
        {
            name: min(row[r] for row, kind in zip(demands, rounded, strict=True) if kind == one)
            for r, name in enumerate(names)
        }
        for one in kinds
    ]
    there = number >= 0
    stays = trace.duration[there].astype(float)
    work = np.bincount(number[there], weights=stays, minlength=len(demands)).astype(float)
    added = _added(names, demands, rounded, work) if grid else {}
    of_task = np.where(there, of_demand[number], -1)
    return OwnTypes(types, least, of_task, len(demands), grid, added, tuple(large.values()))


def expect_resources(trace: Trace, source: str) -> None:
    """Refuse a log without resources, which may name types instead."""
    if not trace.resources:
        expected = "expected resources, such as vCPU and RAM (GiB), or a table of the types that the log names"
        raise InputError(source, trace.header, f"{expected}: packproof plan TYPES LOG")


def _large(
    demands: Sequence[Sequence[Fraction]],
    number: NDArray[np.int64],
    names: Sequence[str],
    servers: Sequence[Mapping[str, Fraction]],
) -> dict[int, TooLarge]:
    """Return the demands that fit no server by their places, those of most tasks first."""
    tasks = np.bincount(number, minlength=len(demands)).tolist()
    found = {}
    for i, row in enumerate(demands):
        demand = dict(zip(names, row, strict=True))
        short = shortage(demand, servers)
        if short:
            found[i] = TooLarge(tasks[i], demand, short, len(servers))
    return dict(sorted(found.items(), key=lambda one: -one[1].tasks))


def _refuse_large(
    trace: Trace,
    demands: Sequence[Sequence[Fraction]],
    number: NDArray[np.int64],
    large: Sequence[TooLarge],
    kept: NDArray[np.bool_],
    source: str,
) -> None:
    """Refuse tasks that fit no server, by the first of them."""
    which = ~kept[number]
    rows = np.flatnonzero(which)
    i = int(rows[0] if trace.line is None else rows[np.argmin(trace.line[rows])])
    line = "" if trace.line is None else f":{int(trace.line[i])}"
    demand = demands[int(number[i])]
    (first,) = (one for one in large if tuple(one.demand.values()) == tuple(demand))
    shown = ", ".join(f"{name} = {text(x)}" for name, x in first.demand.items())
    count = many(int(which.sum()), "task")
    raise InputError(
        f"{source}{line}",
        "",
        f"expected tasks that fit a server, got {shown} ({count} of {len(which):,} do not; {first.why()}); "
        "--drop-large goes on without them",
    )


def _rounded_to(steps: Fraction | int) -> Any:
    """Return what rounds an amount up to a share of a server, of a grid with steps to each halving."""

    def rounded(amount: Fraction, most: Fraction) -> Fraction:
        if not amount:
            return Fraction(0)
        share = max(amount / most, Fraction(1, FINEST))
        top = Fraction(1)
        fall = Fraction(2) ** int(1 / Fraction(steps)) if steps < 1 else Fraction(2)
        while top / fall >= share:
            top /= fall
        # now top / fall < share <= top
        if steps > 1:
            step = top / (2 * int(steps))
            top = step * -(-share // step)
        return top * most

    return rounded


def _in_words(steps: Fraction | int) -> str:
    """Return a grid in words."""
    if steps > 1:
        shares = ", ".join(f"{2 * int(steps) - i}/{2 * int(steps)}" for i in range(1, 3))
        return f"shares of a server with {steps} steps to each halving: 1, {shares}, ..."
    fall = 2 ** int(1 / Fraction(steps))
    return f"shares of a server: 1, 1/{fall}, 1/{fall**2}, ..."


def _name(names: Sequence[str], kind: Sequence[Fraction]) -> str:
    return " ".join(f"{name} {text(x)}" for name, x in zip(names, kind, strict=True))


def _demand(names: Sequence[str], kind: Sequence[Fraction]) -> dict[str, str]:
    return {name: text(x) for name, x in zip(names, kind, strict=True) if x}


def _added(
    names: Sequence[str],
    demands: Sequence[Sequence[Fraction]],
    rounded: Sequence[Sequence[Fraction]],
    work: NDArray[np.float64],
) -> dict[str, float]:
    """Return by which part rounding raises the work of all tasks, by resource."""
    added = {}
    for r, name in enumerate(names):
        before, after = (float(np.dot(work, [float(row[r]) for row in rows])) for rows in (demands, rounded))
        added[name] = after / before - 1 if before else 0.0
    return added
