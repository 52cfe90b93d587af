"""``packproof experiment``: parameters x replications into a store, resumed where it was left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import JsonFlag, PlotFile, app, progress, show, to_store, to_write_or_print


@app.command()
def experiment(
    grid: Annotated[Path, typer.Argument(metavar="GRID.toml", show_default=False)],
    store: Annotated[
        Path, typer.Option("--store", metavar="FILE", help="SQLite file, created or continued.", callback=to_store)
    ],
    engine: Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")] = "local",
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", help="Number of local processes (-1: one per core).")
    ] = -1,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="OUT", help="Write one row per finished cell.", callback=to_write_or_print),
    ] = None,
    plot: PlotFile = None,
    numbers: Annotated[
        list[str] | None,
        typer.Option("--number", metavar="NAME", help="What --plot draws, a column of the CSV; one panel each."),
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="FIELD", help="The field of the grid that --plot draws against.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Run the cells of a grid that the store does not hold, and summarise all of them with intervals."""
    from bounds.views.experiment import experiment_answer, experiment_lines, unstable_points
    from fluid.experiment.grid import read_grid
    from fluid.experiment.run import run_experiment
    from fluid.experiment.store import Store
    from fluid.experiment.summaries import table as table_of
    from fluid.parallel import refuse_engine
    from theory.errors import InputError
    from theory.files.places import write_text

    if workers == 0 or workers < -1 or workers > 1024:
        raise InputError(f"--workers: expected -1 or a number from 1 to 1024, got {workers}")
    refuse_engine(engine)
    for option, is_given in (("--number", bool(numbers)), ("--against", against is not None)):
        if is_given and plot is None:
            raise InputError(f"{option}: says what --plot draws, expected --plot beside it")
    planned = read_grid(grid)
    warning = unstable_points(planned)
    if warning is not None:
        print(f"{grid}: {warning}", file=sys.stderr)
    for line in planned.warnings:
        print(line, file=sys.stderr)
    with Store(store) as opened:
        interrupted = False
        with progress() as say:
            try:
                run_experiment(planned, opened, engine=engine, workers=workers, say=lambda state: say(str(state)))
            except KeyboardInterrupt:
                interrupted = True
            except InputError as error:
                raise type(error)(f"{grid}: {error}" if str(error).startswith("policy:") else str(error)) from None
        if table is not None:
            write_text(table, table_of(planned, opened))
        if plot is not None:
            from bounds.views.experiment_pictures import experiment_charts, picture_of_experiment

            picture_of_experiment(experiment_charts(planned, opened, numbers or (), against), plot)
        answer = experiment_answer(planned, opened)
    show(answer, lambda: experiment_lines(answer), as_json=as_json)
    if interrupted:
        raise KeyboardInterrupt
