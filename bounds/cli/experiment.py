"""``packproof experiment``: parameters x replications into a store, resumed where it was left."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import JsonFlag, PlotFile, app, progress, show, to_store, to_write_or_print

LONG = 30.0
"""Seconds of one processor from which an estimate is given before an experiment runs."""


@app.command(
    examples=(
        "packproof experiment examples/small_grid.toml --store runs.db --workers 1",
        "packproof experiment examples/small_grid.toml --store runs.db --status",
    )
)
def experiment(
    grid: Annotated[Path, typer.Argument(metavar="GRID.toml", help="The grid of an experiment.", show_default=False)],
    store: Annotated[Path, typer.Option("--store", metavar="FILE", help="SQLite file, created or continued.")],
    engine: Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")] = "local",
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", help="Number of local processes (-1: one per core).")
    ] = -1,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="OUT", help="Write one row per replication.", callback=to_write_or_print),
    ] = None,
    points: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="OUT",
            help="Write one row per point: means with 95 % intervals.",
            callback=to_write_or_print,
        ),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Say how far it is, and about how long the rest takes; run nothing.")
    ] = False,
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
    from bounds.views.experiment import (
        experiment_answer,
        experiment_lines,
        forecast_line,
        status_answer,
        status_lines,
        unstable_points,
    )
    from fluid.experiment.forecast import forecast
    from fluid.experiment.grid import read_grid
    from fluid.experiment.run import run_experiment
    from fluid.experiment.store import Store
    from fluid.experiment.summaries import summary_table
    from fluid.experiment.summaries import table as table_of
    from fluid.parallel import processors, refuse_engine, refuse_workers
    from theory.errors import InputError
    from theory.files.places import note_input, write_text

    refuse_workers(workers)
    refuse_engine(engine)
    if status:
        for option in (name for name, place in (("--csv", table), ("--summary", points)) if place is not None):
            raise InputError(f"{option}: has no meaning with --status, which runs and writes nothing")
        note_input(store)
        planned = read_grid(grid)
        with ExitStack() as stack:
            found = status_answer(planned, stack.enter_context(Store(store, reading=True)) if store.exists() else None)
        show(found, lambda: status_lines(found), as_json=as_json)
        return
    to_store(store)
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
        left = forecast(planned, opened)
        if left.seconds > LONG:
            on = 1 if engine != "local" else processors() if workers == -1 else workers
            print(f"{grid}: {forecast_line(left, min(on, left.cells))}", file=sys.stderr)
        with progress() as say:
            try:
                run_experiment(planned, opened, engine=engine, workers=workers, say=lambda state: say(str(state)))
            except KeyboardInterrupt:
                interrupted = True
            except InputError as error:
                raise type(error)(f"{grid}: {error}" if str(error).startswith("policy:") else str(error)) from None
        # after an interrupt the rows that are missing would be lost from files that are there; the store has the others
        if table is not None and not interrupted:
            write_text(table, table_of(planned, opened))
        if points is not None and not interrupted:
            write_text(points, summary_table(planned, opened))
        if plot is not None and not interrupted:
            from bounds.views.experiment_pictures import experiment_charts, picture_of_experiment

            picture_of_experiment(experiment_charts(planned, opened, numbers or (), against), plot)
        answer = experiment_answer(planned, opened)
    show(answer, lambda: experiment_lines(answer), as_json=as_json)
    if interrupted:
        raise KeyboardInterrupt
