"""``packproof experiment``: the summary of an experiment, its text and its warnings."""

from __future__ import annotations

from typing import Any

from bounds.answers.experiment import ExperimentStatus, Point, Summarised
from bounds.answers.record import Fields, encode
from bounds.views.shown import Picture, Table
from bounds.views.text import with_interval
from fluid.experiment.forecast import forecast
from fluid.experiment.grid import Grid, GridCell
from fluid.experiment.pace import Forecast
from fluid.experiment.store import Store
from fluid.experiment.summaries import comparisons, headline, summary
from theory.numbers import many


def status_answer(grid: Grid, store: Store | None) -> ExperimentStatus:
    """Return how far an experiment is, with no store if nothing has run; nothing is run."""
    stored = set() if store is None else store.known(cell.key for cell in grid.cells)
    points: dict[tuple[Any, ...], list[GridCell]] = {}
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


def sentence(answer: Summarised | ExperimentStatus) -> str:
    """Return how many cells are finished, in a sentence."""
    unknown = answer.unknown if isinstance(answer, ExperimentStatus) else 0
    loaded = answer.cells - unknown
    done = (
        f"{answer.finished:,} of {many(loaded, 'cell')} of the grid {'is' if answer.finished == 1 else 'are'} finished"
    )
    more = f"; nothing is known of {many(unknown, 'cell')} with code of the grid's own" if unknown else ""
    if isinstance(answer, ExperimentStatus) and answer.finished < loaded:
        remaining = Forecast(loaded - answer.finished, answer.events_left, answer.seconds_left, answer.measured)
        return f"{done}{more}; {forecast_line(remaining)}."
    return f"{done}{more}."


def tables(answer: Summarised | ExperimentStatus) -> list[Table]:
    """Return the points of the grid by their parameters, and the differences between policies."""
    if isinstance(answer, ExperimentStatus):
        rows = [
            [*map(_value, one.parameters.values()), "unknown" if one.finished is None else f"{one.finished:,}",
             f"{one.replications:,}"]
            for one in answer.points
        ]  # fmt: skip
        head = [*(answer.points[0].parameters if answer.points else ()), "finished", "of"]
        return [Table("replications of each point", head, rows, [False] * (len(head) - 2) + [True, True])]
    points = [_point(one) for one in answer.groups]
    head = [*answer.parameters, "replications", "number", "mean [95 %]", "warning"]
    parts = [Table("points of the grid", head, points, [False] * len(head))]
    pairs = [
        [*map(_value, one.parameters.values()), f"{one.first} less {one.second}", one.number,
         with_interval(one.difference)]
        for one in answer.comparisons
    ]  # fmt: skip
    if pairs:
        head = [*answer.comparisons[0].parameters, "policies", "number", "difference [95 %]"]
        parts.append(Table("differences on the same jobs", head, pairs, [False] * len(head)))
    return parts


def _point(point: Point) -> list[str]:
    """Return the row of a point: its parameters, and the number by which policies are judged."""
    name = headline(point.numbers)
    measured = "-" if name is None else with_interval(point.numbers[name], least=0.0)
    warning = "" if point.settled else "the warm-up looks short"
    if point.traffic_intensity is not None and point.traffic_intensity >= 1:
        warning = f"unstable: traffic intensity {point.traffic_intensity:.6g}"
    return [*map(_value, point.parameters.values()), f"{point.replications:,}", name or "-", measured, warning]


def _value(value: object) -> str:
    return str(value)


def pictures(answer: Summarised | ExperimentStatus) -> list[Picture]:
    """Return none: ``--plot`` draws what its options choose."""
    del answer
    return []


def evidence(answer: Summarised | ExperimentStatus) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("all numbers", "statistical")]


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
