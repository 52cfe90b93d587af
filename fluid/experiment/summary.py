"""What an experiment says: means with intervals by cell of the grid, paired comparisons of policies, and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fluid.experiment.grid import Grid
from fluid.experiment.store import Store
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
        Whether the reward of the second half of the time differs from the first by no more than chance (99.9 %).
    """

    parameters: dict[str, Any]
    replications: int
    numbers: dict[str, Interval]
    settled: bool


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
    numbers = store.numbers(cell.key for cell in grid.cells)
    for cell in grid.cells:
        if cell.key in numbers:
            yield {**cell.varied, "replication": cell.replication, **numbers[cell.key]}


def table(grid: Grid, store: Store) -> str:
    """Return the finished cells as CSV; floats in full, so equal tables are equal results."""
    made = list(rows(grid, store))
    columns = list(dict.fromkeys(name for row in made for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    for row in made:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return stream.getvalue()


def _cell(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else "" if value is None else value


def summary(grid: Grid, store: Store) -> list[Group]:
    """Return the points of the grid with means and intervals."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows(grid, store):
        groups.setdefault(tuple(row[name] for name in grid.parameters), []).append(row)
    made = []
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
        made.append(Group(dict(zip(grid.parameters, point, strict=True)), len(every), numbers, settled))
    return made


def _apart(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The replications that say something of their own: the first alone where nothing was drawn, and all are equal."""
    first, *others = ({name: value for name, value in row.items() if name != "replication"} for row in members)
    return members[:1] if all(other == first for other in others) else members


def comparisons(grid: Grid, store: Store, number: str = "reward") -> list[Comparison]:
    """Compare every policy with the first one of the grid, paired by replication (common random numbers)."""
    if "policy" not in grid.parameters:
        return []
    others = [name for name in grid.parameters if name != "policy"]
    points: dict[tuple[Any, ...], dict[str, dict[int, dict[str, Any]]]] = {}
    for row in rows(grid, store):
        if row.get(number) is not None:
            by_policy = points.setdefault(tuple(row[name] for name in others), {})
            by_policy.setdefault(row["policy"], {})[row["replication"]] = row
    made = []
    for point, by_policy in points.items():
        first, *rest = by_policy
        for second in rest:
            both = sorted(by_policy[first].keys() & by_policy[second].keys())
            pair = [[by_policy[name][r] for r in both] for name in (first, second)]
            if both:
                apart = max(len(_apart(members)) for members in pair)
                a, b = ([row[number] for row in members[:apart]] for members in pair)
                place = dict(zip(others, point, strict=True))
                made.append(Comparison(place, first, second, number, paired(a, b)))
    return made
