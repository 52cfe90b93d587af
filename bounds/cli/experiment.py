"""``packproof experiment``: parameters x replications into a store, resumed where it was left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, print_json, progress, show
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import (
    EngineOption,
    JsonFlag,
    PlotFile,
    WorkersOption,
    to_store,
    to_write_or_print,
)
from theory.errors import ArgumentError, InputError
from theory.files.answer import print_answer

if TYPE_CHECKING:
    from fluid.experiment.grid import Grid
    from fluid.experiment.store import Store


class Scale(StrEnum):
    """How the numbers of a picture are spaced."""

    linear = "linear"
    log = "log"


GridFile = Annotated[Path, typer.Argument(metavar="GRID.toml", help="The grid of an experiment.", show_default=False)]
StoreFile = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="SQLite file, created or continued.", show_default=False)
]
RowsFile = Annotated[
    Path | None, typer.Option("--csv", metavar="OUT", help="Write one row per replication.", callback=to_write_or_print)
]
PointsFile = Annotated[
    Path | None,
    typer.Option(
        "--summary",
        metavar="OUT",
        help="Write one row per point: means with 95 % intervals.",
        callback=to_write_or_print,
    ),
]
Status = Annotated[
    bool, typer.Option("--status", help="Say how far it is, and about how long the rest takes; run nothing.")
]
DrawnNumbers = Annotated[
    list[str] | None,
    typer.Option("--number", metavar="NAME", help="What --plot draws, a column of the CSV; list: show all."),
]
Against = Annotated[
    str | None, typer.Option("--against", metavar="FIELD", help="The field of the grid that --plot draws against.")
]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run code of its own that the grid names as policies (FILE.py:NAME).")
]
ScaleOption = Annotated[Scale, typer.Option("--scale", help="Scale of the numbers in --plot.")]


@dataclass(frozen=True, kw_only=True)
class Names(Mode):
    """The names of what a grid measures."""

    beside = "--number list, which runs no code"

    grid: GridFile
    numbers: DrawnNumbers = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class Held(Mode):
    """How much of a grid a store holds."""

    beside = "--status, which runs and writes nothing"
    chosen_by = ("status",)

    grid: GridFile
    store: StoreFile
    status: Status = False
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class GridCells(Mode):
    """The cells that a store does not hold are run."""

    beside = "no --plot, which it says how to draw"

    grid: GridFile
    store: StoreFile
    engine: EngineOption = "local"
    workers: WorkersOption = -1
    allow_code: AllowCode = False
    rows: RowsFile = None
    points: PointsFile = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class GridCellsDrawn(GridCells):
    """The cells that a store does not hold are run, and all are drawn."""

    beside = "--plot"
    chosen_by = ("plot",)

    plot: PlotFile
    numbers: DrawnNumbers = None
    against: Against = None
    scale: ScaleOption = Scale.linear


def _mode(given: Any) -> type[Mode]:
    if given.numbers == ["list"]:
        return Names
    if given.status:
        return Held
    return GridCells if given.plot is None else GridCellsDrawn


def names(options: Names) -> None:
    """Show what a grid measures."""
    columns = list(_known_of(options.grid, "--number list").numbers)
    print_json(columns) if options.as_json else print_answer("\n".join(columns))


def held(options: Held) -> None:
    """Show how much of a grid a store holds."""
    from contextlib import nullcontext

    from bounds.views.experiment import status_answer
    from fluid.experiment.store import Store
    from theory.files.places import note_input

    assert options.store is not None
    note_input(options.store)
    planned = _known_of(options.grid, "--status")
    with Store(options.store, reading=True) if options.store.exists() else nullcontext() as opened:
        answer = status_answer(planned, opened)
    show(answer, as_json=options.as_json)


def cells(options: GridCells) -> None:
    """Run the cells of a grid that the store does not hold, write the files that were asked for, and summarise."""
    from bounds.views.experiment import experiment_answer
    from fluid.experiment.grid import REFUSE, RUN, read_grid
    from fluid.experiment.store import Store
    from fluid.experiment.summaries import summary_table, table
    from fluid.parallel import refuse_engine, refuse_workers
    from theory.files.places import write_text

    assert options.store is not None
    refuse_workers(options.workers)
    refuse_engine(options.engine)
    to_store(options.store)  # no callback of the option, since with --status nothing is written
    planned = read_grid(options.grid, code=RUN if options.allow_code else REFUSE)
    drawn = _drawn(planned, options) if isinstance(options, GridCellsDrawn) else None
    _warn_before(options.grid, planned, allow_code=options.allow_code)
    with Store(options.store) as opened:
        is_whole = _run(options.grid, planned, opened, options.engine, options.workers)
        # after an interrupt the rows that are missing would be lost from files that are there; the store has the others
        if options.rows is not None and is_whole:
            write_text(options.rows, table(planned, opened))
        if options.points is not None and is_whole:
            write_text(options.points, summary_table(planned, opened))
        if drawn is not None and is_whole:
            drawn(opened)
        answer = experiment_answer(planned, opened)
    show(answer, as_json=options.as_json)
    if not is_whole:
        raise KeyboardInterrupt


def _drawn(planned: Grid, options: GridCellsDrawn) -> Callable[[Store], None]:
    """Return what draws a grid when it has run; wrong names are refused before."""
    from bounds.views.experiment_pictures import experiment_charts, panels_of, picture_of_experiment

    assert options.plot is not None
    file, numbers = options.plot, options.numbers or ()
    panels_of(planned, numbers, options.against)

    def draw(opened: Store) -> None:
        picture_of_experiment(experiment_charts(planned, opened, numbers, options.against, options.scale.value), file)

    return draw


app.command(
    "experiment",
    examples=(
        "packproof experiment examples/small_grid.toml --store runs.db --workers 1",
        "packproof experiment examples/small_grid.toml --number list",
    ),
)(
    command_of(
        _mode,
        {GridCells: cells, GridCellsDrawn: cells, Held: held, Names: names},
        "Run the cells of a grid that the store does not hold, and summarise all of them with intervals.",
    )
)


def _warn_before(path: Path, planned: Grid, *, allow_code: bool) -> None:
    """Say on stderr what a person should know of a grid before it runs."""
    from bounds.views.experiment import unstable_points

    if allow_code and not any(cell.document["own"] for cell in planned.cells):
        print(f"{path}: --allow-code: not used, the grid names no code of its own", file=sys.stderr)
    warning = unstable_points(planned)
    for line in (*([] if warning is None else [f"{path}: {warning}"]), *planned.warnings):
        print(line, file=sys.stderr)


def _known_of(path: Path, what: str) -> Grid:
    """Read a grid without the code that it names, and say on stderr of which policies nothing is known."""
    from bounds.views.experiment import unknown_line
    from fluid.experiment.grid import LEAVE_OUT, read_grid

    planned = read_grid(path, code=LEAVE_OUT)
    if line := unknown_line(planned, what):
        print(f"{path}: {line}", file=sys.stderr)
    return planned


def _run(path: Path, planned: Grid, store: Store, engine: str, workers: int) -> bool:
    """Run the cells that the store does not hold, after a forecast on stderr; return False after Ctrl-C."""
    from bounds.views.experiment import forecast_line
    from fluid.experiment.forecast import forecast
    from fluid.experiment.pace import LONG
    from fluid.experiment.run import run_experiment
    from fluid.parallel import EngineError, processors

    ahead = forecast(planned, store)
    if ahead.seconds > LONG:
        on = 1 if engine != "local" else processors() if workers == -1 else workers
        print(f"{path}: {forecast_line(ahead, min(on, ahead.cells))}", file=sys.stderr)
    with progress() as say:
        try:
            run_experiment(planned, store, engine=engine, workers=workers, say=lambda state: say(str(state)))
        except KeyboardInterrupt:
            return False
        except InputError as error:
            if not isinstance(error, ArgumentError) or isinstance(error, EngineError):
                raise
            raise error.within(path) from error  # an argument of a run is a field of the grid
    return True
