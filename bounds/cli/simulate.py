"""``packproof simulate``: a policy in a stochastic model, measured with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import InstanceFile, JsonFlag, PlotFile, app, progress, show


@app.command()
def simulate(
    instance: InstanceFile,
    policy: Annotated[
        str, typer.Option("--policy", metavar="NAME", help="A policy (a wrong name lists all), or FILE.py:NAME.")
    ],
    until: Annotated[float, typer.Option("--until", metavar="T", help="Simulated time; slots where time is slotted.")],
    servers: Annotated[
        int | None,
        typer.Option("--servers", metavar="L", min=1, max=10**8, help="A law of sizes may name them in its file."),
    ] = None,
    warmup: Annotated[
        float | None, typer.Option("--warmup", metavar="W", help="Averages begin here; T/5 unless given.")
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications",
            metavar="N",
            min=1,
            max=100_000,
            help="1 unless given; with --against-fluid 3, of each size.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0)] = 0,
    trace: Annotated[Path | None, typer.Option("--trace", metavar="FILE", help="Arrivals from a file.")] = None,
    against_fluid: Annotated[
        bool, typer.Option("--against-fluid", help="Compare paths of L/16, L/4 and L servers with the fluid limit.")
    ] = False,
    log: Annotated[int, typer.Option("--log", metavar="N", min=0, max=1_000_000, help="List the first N events.")] = 0,
    engine: Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")] = "local",
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="Keep replications, and take up those kept there.")
    ] = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a policy: reward and acceptance, or queue, growth and delay, utilisation; each with a 95 % interval."""
    from math import isfinite

    from bounds.views.simulation import Request, run, servers_of
    from fluid.parallel import refuse_engine
    from theory.errors import InputError, naming
    from theory.files import refuse_shared

    if not (until > 0 and isfinite(until)):
        raise InputError(f"--until: expected a positive time, got {until!r}")
    refuse_engine(engine)
    refuse_shared(instance, trace, store, plot)
    start = until / 5 if warmup is None else warmup
    if not 0 <= start < until:
        raise InputError(f"--warmup: expected 0 or more and less than --until {until:g}, got {start!r}")
    if servers is None:
        servers = servers_of(instance)
    if against_fluid:
        from bounds.views.simulation import against_fluid as asked

        answered, fewest = asked.run, asked.FEWEST
    else:
        answered, fewest = run, 1
    runs = fewest if replications is None else replications
    with naming(instance), progress() as say:
        report = answered(Request(instance, policy, servers, until, start, runs, seed, trace, log, engine, store, say))
    if plot is not None:
        report.draw(plot)
    show(report.answer, report.lines, as_json=as_json)
