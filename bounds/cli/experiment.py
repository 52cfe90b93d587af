"""``packproof experiment``: parameters x replications into a store, resumed where it was left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import app, print_json, progress, show
from bounds.cli.options import (
    EngineOption,
    JsonFlag,
    PlotFile,
    WorkersOption,
    refuse_unused,
    to_store,
    to_write_or_print,
)
from theory.errors import InputError
from theory.files.answer import print_answer

if TYPE_CHECKING:
    from fluid.experiment.grid import Grid
    from fluid.experiment.store import Store


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
Columns = Annotated[
    list[str] | None,
    typer.Option("--number", metavar="NAME", help="What --plot draws, a column of the CSV; list: show all."),
]
Against = Annotated[
    str | None, typer.Option("--against", metavar="FIELD", help="The field of the grid that --plot draws against.")
]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run code of its own that the grid names as policies (FILE.py:NAME).")
]
ScaleOption = Annotated[str, typer.Option("--scale", metavar="linear|log", help="Scale of the numbers in --plot.")]


@app.command(
    examples=(
        "packproof experiment examples/small_grid.toml --store runs.db --workers 1",
        "packproof experiment examples/small_grid.toml --number list",
    )
)
def experiment(
    grid: GridFile,
    store: StoreFile = None,
    engine: EngineOption = "local",
    workers: WorkersOption = -1,
    allow_code: AllowCode = False,
    rows: RowsFile = None,
    points: PointsFile = None,
    status: Status = False,
    plot: PlotFile = None,
    numbers: Columns = None,
    against: Against = None,
    scale: ScaleOption = "linear",
    as_json: JsonFlag = False,
) -> None:
    """Run the cells of a grid that the store does not hold, and summarise all of them with intervals."""
    from bounds.views.experiment import experiment_answer
    from bounds.views.experiment_pictures import experiment_charts, panels_of, picture_of_experiment
    from fluid.experiment.grid import REFUSE, RUN, read_grid
    from fluid.experiment.store import Store
    from fluid.experiment.summaries import summary_table, table
    from fluid.parallel import refuse_engine, refuse_workers
    from theory.files.places import write_text

    refuse_workers(workers)
    refuse_engine(engine)
    if numbers == ["list"]:
        refuse_unused({"--allow-code": allow_code}, "--number list, which runs no code")
        names = list(_known_of(grid, "--number list").numbers)
        print_json(names) if as_json else print_answer("\n".join(names))
        return
    if store is None:
        raise InputError("--store: missing, expected --store FILE: SQLite file, created or continued")
    if status:
        unused = {"--csv": rows is not None, "--summary": points is not None, "--allow-code": allow_code}
        refuse_unused(unused, "--status, which runs and writes nothing")
        _show_status(grid, store, as_json=as_json)
        return
    # no callback of the option: with --status nothing is written
    to_store(store)
    if scale not in ("linear", "log"):
        raise InputError(f"--scale: expected linear or log, got {scale[:60]!r}")
    about_picture = {"--number": bool(numbers), "--against": against is not None, "--scale": scale == "log"}
    for option in (name for name, is_given in about_picture.items() if is_given and plot is None):
        raise InputError(f"{option}: says what --plot draws, expected --plot beside it")
    planned = read_grid(grid, code=RUN if allow_code else REFUSE)
    if plot is not None:  # wrong names are refused before the run
        panels_of(planned, numbers or (), against)
    _warn_before(grid, planned, allow_code=allow_code)
    with Store(store) as opened:
        is_whole = _run(grid, planned, opened, engine, workers)
        # after an interrupt the rows that are missing would be lost from files that are there; the store has the others
        if rows is not None and is_whole:
            write_text(rows, table(planned, opened))
        if points is not None and is_whole:
            write_text(points, summary_table(planned, opened))
        if plot is not None and is_whole:
            picture_of_experiment(experiment_charts(planned, opened, numbers or (), against, scale), plot)
        answer = experiment_answer(planned, opened)
    show(answer, as_json=as_json)
    if not is_whole:
        raise KeyboardInterrupt


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


def _show_status(path: Path, store: Path, *, as_json: bool) -> None:
    """Show how much of a grid a store holds."""
    from contextlib import nullcontext

    from bounds.views.experiment import status_answer
    from fluid.experiment.store import Store
    from theory.files.places import note_input

    note_input(store)
    planned = _known_of(path, "--status")
    with Store(store, reading=True) if store.exists() else nullcontext() as opened:
        answer = status_answer(planned, opened)
    show(answer, as_json=as_json)


def _run(path: Path, planned: Grid, store: Store, engine: str, workers: int) -> bool:
    """Run the cells that the store does not hold, after a forecast on stderr; return False after Ctrl-C."""
    from bounds.views.experiment import forecast_line
    from fluid.experiment.forecast import LONG, forecast
    from fluid.experiment.run import run_experiment
    from fluid.parallel import processors

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
            raise type(error)(f"{path}: {error}" if str(error).startswith("policy:") else str(error)) from None
    return True
