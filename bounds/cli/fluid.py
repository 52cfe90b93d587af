"""``packproof fluid``: the fluid limit of dynamic reservation on an instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import app, show
from bounds.cli.options import (
    InstanceFile,
    JsonFlag,
    PlotFile,
    TraceServers,
    WorkloadTrace,
    read_with_trace,
    refuse_no_time,
    to_write_or_print,
)
from theory.errors import naming


@app.command(
    examples=(
        "packproof fluid examples/four_types.toml --until 10",
        "packproof fluid examples/four_types.toml --until 10 --csv path.csv",
    )
)
def fluid(
    instance: InstanceFile,
    until: Annotated[float, typer.Option("--until", metavar="T", help="End of the path.", show_default=False)],
    start: Annotated[
        Path | None, typer.Option("--from", metavar="STATE", help="State to start from; the empty system if left out.")
    ] = None,
    trace: WorkloadTrace = None,
    servers: TraceServers = None,
    points: Annotated[
        int, typer.Option("--points", min=2, max=100_000, help="Number of equally spaced times in the answer.")
    ] = 201,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="OUT", help="Write the path as a table.", callback=to_write_or_print)
    ] = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Fluid limit of dynamic reservation: jobs, configurations, admitted rates, switches and what drives them."""
    from bounds.views.fluid import fluid_answer, path_csv, picture_of_path
    from fluid.limits.reservation import Reservation, fluid_path
    from fluid.limits.reservation.files import read_start
    from theory.files.places import write_text

    refuse_no_time("--until", until)
    with naming(instance):
        model = Reservation(read_with_trace(instance, trace, servers, only_for_trace=True))
    state, arrivals = read_start(start, model, until) if start is not None else (None, [])
    path = fluid_path(model, until, state, arrivals)
    if plot is not None:
        picture_of_path(path, plot)  # first, so that a picture that fails leaves no table behind
    if csv is not None:
        write_text(csv, path_csv(path, points))
    show(fluid_answer(path, points), as_json=as_json)
