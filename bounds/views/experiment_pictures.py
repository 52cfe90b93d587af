"""``packproof experiment --plot``: any number of the runs against any field of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import isfinite
from pathlib import Path
from typing import Any

from bounds.views.drawing import in_rows
from bounds.views.panels import Chart, Curve, Line, above_zero
from bounds.views.pictures import save, styled
from fluid.experiment.forecast import Reference, references
from fluid.experiment.grid import Grid
from fluid.experiment.store import Store
from fluid.experiment.summaries import HEADLINES, Group, summary
from theory.errors import InputError
from theory.numbers import rational

MOST_PANELS = 12

UNITS = {
    "reward": "per server",
    "queue": "jobs",
    "jobs": "number",
    "acceptance": "share",
    "utilisation": "share",
    "growth": "jobs per unit time",
    "delay": "time",
    "migrations": "per unit time",
    "reassignments": "per unit time",
    "preemptions": "per unit time",
    "reserved_idle": "slots",
    "events": "number",
    "workload": "factor",
    "servers": "number",
    "intensity": "share of what the servers carry",
}
"""Of numbers, by the part before the point, and of fields of a grid."""


def panels_of(
    grid: Grid, numbers: Sequence[str], against: str | None
) -> tuple[list[str], str, dict[str, list[Any]], list[dict[str, Any]]]:
    """Return the numbers to draw, the field to draw against, the values of all fields, and those held in each panel.

    Raises InputError for names that the grid does not have, and for more panels than a picture has room for; nothing
    needs to have run.
    """
    values = {name: list(dict.fromkeys(cell.varied[name] for cell in grid.cells)) for name in grid.parameters}
    fields = [name for name in grid.parameters if name != "policy"]
    varied = [name for name in fields if len(values[name]) > 1] or fields
    chosen = against or (varied[0] if varied else "policy")
    if not values:
        raise InputError("--plot", "expected a grid that varies a field, which is drawn against, found none")
    if chosen not in values:
        raise InputError("--against", f"expected a field that the grid varies ({', '.join(values)}), got {against!r}")
    wanted = list(numbers) or [name for name in HEADLINES if name in grid.numbers]
    for name in wanted:
        if name not in grid.numbers:
            raise InputError("--number", f"expected one of {', '.join(sorted(grid.numbers))}, got {name!r}")
    others = [name for name in fields if name != chosen]
    places = list(product(*(values[name] for name in others)))
    several = [name for name in others if len(values[name]) > 1]
    if len(places) * len(wanted) > MOST_PANELS:
        raise InputError(
            "--plot",
            f"expected at most {MOST_PANELS} panels, got {len(places) * len(wanted)}: {len(wanted)} numbers at "
            f"{len(places)} values of {', '.join(several) or 'nothing'}",
        )
    return wanted, chosen, values, [dict(zip(others, place, strict=True)) for place in places]


def experiment_charts(
    grid: Grid, store: Store, numbers: Sequence[str] = (), against: str | None = None, scale: str = "linear"
) -> list[Chart]:
    """Return a chart for each number and each combination of the fields that are neither drawn against nor the policy.

    Numbers are those of the CSV, such as ``reward``, ``queue`` or ``utilisation.cpu``; unless given, that by which
    policies are judged. The field to draw against is, unless given, the first but the policy with several values. On
    a logarithmic scale of the numbers what is below 1 is linear where some are 0 or less, so that these are seen.
    """
    groups = summary(grid, store)
    if not groups:
        raise InputError("--plot", "no cell of the grid is finished, so there is nothing to draw")
    wanted, chosen, values, held_values = panels_of(grid, numbers, against)
    theory = references(grid) if "reward" in wanted else {}
    charts = [
        _chart(groups, name, chosen, values, place, theory if name == "reward" else {})
        for name in wanted
        for place in held_values
    ]
    if scale == "linear":
        return charts
    positive = all(y > 0 for chart in charts for curve in chart.curves for y in curve.y)
    return [replace(chart, yscale="log" if positive else "symlog") for chart in charts]


def _chart(
    groups: Sequence[Group],
    number: str,
    against: str,
    values: dict[str, list[Any]],
    place: dict[str, Any],
    known: dict[tuple[Any, ...], Reference],
) -> Chart:
    """Return a chart: a curve a policy, at a place of the fields that are held, and what theory says."""
    here = [group for group in groups if all(group.parameters[name] == value for name, value in place.items())]
    x = _numeric(values[against])
    scale = "log" if x is not None and is_logarithmic(x) else "linear"
    at = dict(zip(map(str, values[against]), x or range(len(values[against])), strict=True))
    curves = []
    for policy in values.get("policy", [None]) if against != "policy" else [None]:
        points = sorted(
            (at[str(group.parameters[against])], group.numbers[number])
            for group in here
            if policy in (None, group.parameters.get("policy")) and number in group.numbers
        )
        if points:
            places, intervals = zip(*points, strict=True)
            banded = intervals if all(isfinite(one.half_width) for one in intervals) else ()
            low, high = [one.low for one in banded], [one.high for one in banded]
            means, look = [one.mean for one in intervals], "marks" if x is None else "line"
            curve = Curve(str(policy or number).rpartition(":")[2], list(map(float, places)), means, low, high, look)
            curves.append(curve if number == "growth" else above_zero(curve))  # the only number that may be negative
    # policies at one place have the same reference, which is drawn once
    references_here = {
        (at[str(group.parameters[against])], known[point])
        for group in here
        if (point := tuple(group.parameters.values())) in known
    }
    theory, lines = _theory(sorted(references_here, key=lambda one: one[0]), joined=x is not None)
    return Chart(
        f"{against} ({UNITS.get(against, 'value')})",
        f"{number} ({UNITS.get(number.partition('.')[0], 'value')})",
        [*curves, *theory],
        lines,
        title=", ".join(f"{name} = {value}" for name, value in place.items() if len(values[name]) > 1),
        xscale=scale,
        # words, and a few whole numbers, are labelled each
        xticks=() if x is not None and not _are_few(x) else [(at[str(v)], str(v)) for v in values[against]],
    )


def _are_few(x: Sequence[float]) -> bool:
    return len(x) <= 6 and all(value == int(value) for value in x) and not is_logarithmic(x)


def _theory(known: Sequence[tuple[float, Reference]], *, joined: bool) -> tuple[list[Curve], list[Line]]:
    """Return the references as lines across where they do not change with what is drawn against, else as curves."""
    curves, lines = [], []
    for name, values in (
        ("greedy, fluid limit", [one.greedy for _, one in known]),
        ("optimum of the instance", [one.optimum for _, one in known]),
    ):
        if len(set(values)) == 1:
            lines.append(Line(name, values[0]))
        elif values and joined:
            curves.append(Curve(name, [place for place, _ in known], values, look="reference"))
    return curves, lines


def is_logarithmic(x: Sequence[float]) -> bool:
    """Return whether values are for a logarithmic axis: all positive, and geometric or over a wide range.

    >>> is_logarithmic([1, 2, 4]), is_logarithmic([10, 100]), is_logarithmic([0.8, 1.0, 1.2]), is_logarithmic([1, 2])
    (True, True, False, False)
    """
    placed = sorted(x)
    if len(placed) < 2 or placed[0] <= 0:
        return False
    ratios = [after / before for before, after in pairwise(placed)]
    # equal ratios, up to 2 %, of at least 1.4
    geometric = len(placed) > 2 and min(ratios) > 1.4 and max(ratios) < 1.02 * min(ratios)
    return geometric or placed[-1] >= (20 if len(placed) > 2 else 8) * placed[0]


def _numeric(values: Sequence[Any]) -> list[float] | None:
    """Return values as numbers; None where one is none."""
    try:
        return [float(rational(value)) for value in values]
    except (InputError, TypeError, ValueError):
        return None


@styled
def picture_of_experiment(charts: Sequence[Chart], path: str | Path) -> None:
    """Draw charts, three in a row; those of one number on one scale."""
    picture, every = in_rows(charts, 3, 2.5, alone=4.6)
    for label in dict.fromkeys(chart.ylabel for chart in charts):
        same = [axes for axes, chart in zip(every, charts, strict=True) if chart.ylabel == label]
        ends = [axes.get_ylim() for axes in same]
        for axes in same:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    save(picture, path)
