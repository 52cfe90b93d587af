"""``packproof experiment``: the summary of an experiment, its text and its warnings."""

from __future__ import annotations

from typing import Any

from bounds.answers.experiment import ExperimentStatus, Point, Summarised
from bounds.answers.record import Fields, encode
from bounds.views.tables import aligned
from bounds.views.text import with_interval
from fluid.experiment.forecast import Forecast, forecast
from fluid.experiment.grid import Cell, Grid
from fluid.experiment.store import Store
from fluid.experiment.summaries import comparisons, headline, summary
from theory.numbers import many


def status_answer(grid: Grid, store: Store | None) -> ExperimentStatus:
    """Return how far an experiment is, with no store if nothing has run; nothing is run."""
    stored = set() if store is None else store.known(cell.key for cell in grid.cells)
    points: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in grid.cells:
        points.setdefault(tuple(cell.varied.values()), []).append(cell)
    rows: list[dict[str, Any]] = [
        {
            "parameters": cells[0].varied,
            "finished": sum(cell.key in stored for cell in cells),
            "replications": len(cells),
        }
        for cells in points.values()
    ]
    finished = sum(row["finished"] for row in rows)
    rows += [
        {"parameters": point.varied, "finished": None, "replications": point.replications} for point in grid.unknown
    ]
    remaining = forecast(grid, store)
    return encode(
        ExperimentStatus,
        remaining,
        cells=grid.number_of_cells,
        finished=finished,
        unknown=grid.number_of_cells - len(grid.cells),
        points=rows,
        events_left=remaining.events,
        seconds_left=remaining.seconds,
    )


def status_lines(answer: ExperimentStatus) -> list[str]:
    """Return how far an experiment is, as text."""
    parameters = list(answer.points[0].parameters) if answer.points else []
    table = [[*parameters, "finished", "of"]]
    table += [
        [
            *map(str, point.parameters.values()),
            "unknown" if point.finished is None else str(point.finished),
            str(point.replications),
        ]
        for point in answer.points
    ]
    unknown = f", {answer.unknown:,} more are unknown" if answer.unknown else ""
    known = answer.cells - answer.unknown
    lines = [f"{answer.finished:,} of {many(known, 'cell')}{unknown}", "", *aligned(table, right=2)]
    if answer.finished < known:
        remaining = Forecast(known - answer.finished, answer.events_left, answer.seconds_left, answer.measured)
        lines += ["", forecast_line(remaining)]
    return lines


def unknown_line(grid: Grid, what: str) -> str | None:
    """Return the line about policies that were not loaded, since `what` runs no code; None where there are none."""
    names = ", ".join(dict.fromkeys(point.policy for point in grid.unknown))
    return f"{what} runs no code: nothing is known of {names}, code of the grid's own" if names else None


def forecast_line(remaining: Forecast, workers: int = 1, noun: str = "cell") -> str:
    """Return how much of an experiment is left, as a line; `noun` is what is run."""
    # seconds are those of one processor
    seconds = remaining.seconds / workers
    minutes = round(seconds / 60)
    clock = f"{seconds:.2g} s" if seconds < 90 else f"{minutes // 60} h {minutes % 60} min" if minutes > 90 else ""
    on = "1 process" if workers == 1 else f"{workers} processes"
    pace = "at the pace of finished cells" if remaining.measured else "a guess within a factor of ten"
    clock = clock or f"{minutes} min"
    return f"{many(remaining.cells, noun)} to run, about {remaining.events:.2g} events: about {clock} on {on} ({pace})"


def experiment_answer(grid: Grid, store: Store) -> Summarised:
    """Return the summary of the cells that are in the store."""
    groups = summary(grid, store)
    return encode(
        Summarised,
        grid,
        cells=len(grid.cells),
        finished=sum(group.replications for group in groups),
        groups=[Fields(group, traffic_intensity=group.intensity) for group in groups],
        comparisons=comparisons(grid, store),
    )


def experiment_lines(answer: Summarised) -> list[str]:
    """Return the summary as text."""
    table = [[*answer.parameters, "n", "mean [95 %]"]]
    for point in answer.groups:
        what = headline(point.numbers)
        shown = "-" if what is None else f"{what} {with_interval(point.numbers[what], least=0.0)}"
        table.append([*map(str, point.parameters.values()), str(point.replications), shown + _notes(point)])
    lines = [f"{answer.finished:,} of {many(answer.cells, 'cell')}", "", *aligned(table)]
    if answer.comparisons:
        lines += ["", "paired differences (the same jobs) [95 %]"]
    pairs = []
    for one in answer.comparisons:
        place = ", ".join(f"{name} = {value}" for name, value in one.parameters.items())
        pairs.append([f"  {one.first} - {one.second}", f"{one.number} {with_interval(one.difference)}", place])
    return lines + aligned(pairs)


def unstable_points(grid: Grid) -> str | None:
    """Return the warning about points of a grid where no policy is stable; None where there are none."""
    points = {tuple(cell.varied.values()): cell.intensity for cell in grid.cells}
    beyond = [z for z in points.values() if z is not None and z >= 1]
    if not beyond:
        return None
    return (
        f"{len(beyond):,} of {len(points):,} points are unstable under every policy: traffic intensity up to "
        f"{max(beyond):.6g}; at 1 or more the queue grows without bound"
    )


def _notes(point: Point) -> str:
    if point.traffic_intensity is not None and point.traffic_intensity >= 1:
        return f"   (unstable: traffic intensity {point.traffic_intensity:.6g})"
    return "" if point.settled else "   (drifts: the warm-up looks short)"
