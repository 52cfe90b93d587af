"""What an experiment says: means with intervals by cell of the grid, paired comparisons of policies, and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from fluid.experiment.grid import Grid
from fluid.experiment.run import cell_numbers
from fluid.experiment.store import Store
from fluid.simulation.policy_names import policy
from fluid.statistics import Interval, mean_interval, paired


@dataclass(frozen=True)
class Group:
    """The replications of one point of the grid.

    Attributes
    ----------
    parameters : dict
    replications : int
        Finished.
    numbers : dict of Interval
        95 %, over replications; none where all are equal (listed jobs under a policy that draws nothing).
    settled : bool
        Whether the reward, or queue, of the second half of the time differs from the first by no more than chance
        (99.9 %).
    intensity : float or None
        Traffic intensity where jobs wait; None in a loss system, and of a trace.
    """

    parameters: dict[str, Any]
    replications: int
    numbers: dict[str, Interval]
    settled: bool
    intensity: float | None


@dataclass(frozen=True)
class Comparison:
    """One policy minus another at the same point, over replications that saw the same jobs.

    Attributes
    ----------
    parameters : dict
        Without the policy.
    first, second : str
    number : str
    difference : Interval
        First minus second, 95 %.
    """

    parameters: dict[str, Any]
    first: str
    second: str
    number: str
    difference: Interval


def rows(grid: Grid, store: Store) -> Iterator[dict[str, Any]]:
    """Yield the finished cells in the order of the grid: parameters, replication, numbers. No clock is in it."""
    numbers = cell_numbers(grid, store)
    for cell in grid.cells:
        if cell.key in numbers:
            yield {**cell.varied, "replication": cell.replication, **numbers[cell.key]}


def table(grid: Grid, store: Store) -> str:
    """Return the finished cells as CSV; floats in full, so equal tables are equal results."""
    return _csv(list(rows(grid, store)))


def summary_table(grid: Grid, store: Store) -> str:
    """Return the points of the grid as CSV: parameters, replications, and mean and 95 % interval of each number.

    A number has the columns ``NAME``, ``NAME.low`` and ``NAME.high``; ends are empty where one replication, or several
    that are equal, give none.
    """
    rows: list[dict[str, Any]] = []
    for group in summary(grid, store):
        row: dict[str, Any] = {**group.parameters, "replications": group.replications, "settled": group.settled}
        for name, interval in group.numbers.items():
            ends = (interval.low, interval.high)
            row |= {name: interval.mean}
            row |= {f"{name}.{end}": x if isfinite(x) else None for end, x in zip(("low", "high"), ends, strict=True)}
        rows.append(row)
    return _csv(rows)


def _csv(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return stream.getvalue()


def _cell(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else "" if value is None else value


HEADLINES = ("reward", "queue")
"""The number by which policies are judged: of loss systems, and of queues."""


def headline(numbers: Collection[str]) -> str | None:
    """Return which of the numbers of a run policies are judged by; None where it has neither."""
    return next((name for name in HEADLINES if name in numbers), None)


def summary(grid: Grid, store: Store) -> list[Group]:
    """Return the points of the grid with means and intervals."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    intensity = {tuple(cell.varied[name] for name in grid.parameters): cell.intensity for cell in grid.cells}
    for row in rows(grid, store):
        groups.setdefault(tuple(row[name] for name in grid.parameters), []).append(row)
    summaries = []
    for point, every in groups.items():
        members = _apart(every)
        names = [name for name in members[0] if name not in (*grid.parameters, "replication")]
        numbers: dict[str, Interval] = {}
        for name in names:
            values = [row[name] for row in members if row.get(name) is not None]
            if values:
                numbers[name] = mean_interval(values)
        drift = [row["drift"] for row in members if row.get("drift") is not None]
        settled = len(drift) < 2 or mean_interval(drift, 0.999).holds(0.0)
        numbers.pop("drift", None)
        place = dict(zip(grid.parameters, point, strict=True))
        summaries.append(Group(place, len(every), numbers, settled, intensity[point]))
    return summaries


def _apart(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The replications that say something of their own: the first alone where nothing was drawn, and all are equal."""
    first, *others = ({name: value for name, value in row.items() if name != "replication"} for row in members)
    return members[:1] if all(other == first for other in others) else members


def comparisons(grid: Grid, store: Store, number: str | None = None) -> list[Comparison]:
    """Compare every policy with the first of its model in the grid, paired by replication (common random numbers).

    Parameters
    ----------
    grid : Grid
    store : Store
    number : str, optional
        Which of the numbers of a run; unless given, the reward of loss systems and the queue of queues.
    """
    if "policy" not in grid.parameters:
        return []
    others = [name for name in grid.parameters if name != "policy"]
    points: dict[tuple[str, str, tuple[Any, ...]], dict[str, dict[int, dict[str, Any]]]] = {}
    finished = cell_numbers(grid, store)
    for cell in grid.cells:
        numbers = finished.get(cell.key, {})
        chosen = number or headline(numbers)
        if chosen is not None and numbers.get(chosen) is not None:
            place = tuple(cell.varied[name] for name in others)
            by_policy = points.setdefault((policy(cell.document["policy"]).model, chosen, place), {})
            by_policy.setdefault(cell.varied["policy"], {})[cell.replication] = numbers
    comparisons = []
    for (_, chosen, point), by_policy in points.items():
        first, *rest = by_policy
        for second in rest:
            both = sorted(by_policy[first].keys() & by_policy[second].keys())
            if both:
                pair = [[by_policy[name][r] for r in both] for name in (first, second)]
                apart = max(len(_apart(members)) for members in pair)
                a, b = ([row[chosen] for row in members[:apart]] for members in pair)
                where = dict(zip(others, point, strict=True))
                comparisons.append(Comparison(where, first, second, chosen, paired(a, b)))
    return comparisons
