"""``packproof region``: what a cluster can carry at all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.app import (
    CertificateFile,
    InstanceFile,
    JsonFlag,
    NodesLimit,
    PlotFile,
    app,
    progress,
    show,
    to_write,
    write_certificate,
)


@app.command(
    examples=(
        "packproof region examples/ec2.toml --plot region.png",
        "packproof region examples/four_types.toml --servers 100 --slice small,large",
    )
)
def region(
    instance: InstanceFile,
    servers: Annotated[
        int | None,
        typer.Option(
            "--servers",
            metavar="L",
            min=1,
            max=10**9,
            help="Also report how many servers the workload of L servers needs.",
        ),
    ] = None,
    facets: Annotated[
        int | None,
        typer.Option(
            "--facets",
            metavar="N",
            min=0,
            max=10_000_000,
            help="Most simplices for which facets are computed (0: none; default 20000, none beyond 10 types).",
        ),
    ] = None,
    headroom: Annotated[
        bool | None,
        typer.Option(
            "--headroom/--no-headroom", help="Compute the headroom of each type (default: with up to 60 types)."
        ),
    ] = None,
    cut: Annotated[
        str | None, typer.Option("--slice", metavar="TYPE,TYPE", help="Cut the region by the plane of two types.")
    ] = None,
    polymake: Annotated[
        Path | None,
        typer.Option(
            "--polymake", metavar="OUT.poly", help="Write facets and vertices for polymake.", callback=to_write
        ),
    ] = None,
    nodes: NodesLimit = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Capacity region: facets, traffic intensity of the workload, head-room, servers needed."""
    del nodes  # its callback has set it
    from bounds.views.region import Found, region_answer, region_lines
    from theory.errors import InputError, TooLargeError
    from theory.files.instances import read_instance
    from theory.files.places import write_text
    from theory.greedy.servers import least_servers
    from theory.region.facets import region_facets
    from theory.region.membership import CapacityProgram
    from theory.region.slices import region_slice

    given = read_instance(instance)
    types = len(given.types)
    pair = None if cut is None else _pair(cut, given.names)
    with progress() as say:
        program = CapacityProgram(given)
        say("traffic intensity ...")
        intensity = program.intensity()
        whole, room, boundary, no_facets = None, None, None, None
        if servers is not None:
            say("whole servers ...")
            whole = (servers, least_servers(given, [servers * rho for rho in given.workload]))
        wanted = types <= 60 if headroom is None else headroom
        no_room = None if intensity.holds else "none: the region does not hold the workload"
        if wanted and intensity.holds:
            say(f"head-room of {types} types ...")
            try:
                room = program.headroom()
            except TooLargeError as error:
                no_room = str(error)
        elif intensity.holds:
            no_room = f"not computed for {types} types: ask with --headroom"
        limit = (20_000 if types <= 10 else 0) if facets is None else facets
        if limit:
            say("facets ...")
            try:
                boundary = region_facets(given, limit=limit, report=say)
            except TooLargeError as error:
                no_facets = str(error)
            except KeyboardInterrupt:
                no_facets = "interrupted"
        else:
            no_facets = f"not computed for {types} types: ask with --facets N"
        sliced = None if pair is None else region_slice(given, *pair, program=program)
        if polymake is not None and boundary is None:
            raise InputError(f"--polymake: there are no facets to write: {no_facets}")
        if plot is not None:
            from bounds.views.region import picture_of_region

            say("picture ...")
            picture_of_region(given, intensity, boundary, plot, pair)
    if polymake is not None and boundary is not None:
        from theory.files.polymake import polymake_text

        write_text(polymake, polymake_text(given.names, boundary))
    if certificate is not None:
        from bounds.certificates.region import region_certificate

        write_certificate(certificate, region_certificate(given, intensity, boundary))
    found = Found(given, intensity, boundary, no_facets, room, no_room, sliced, whole)
    result = region_answer(found)
    show(result, lambda: region_lines(found, result), as_json=as_json)


def _pair(text: str, names: tuple[str, ...]) -> tuple[int, int]:
    """Read two names of types; names may hold commas themselves."""
    from theory.errors import InputError, listed

    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j and text == f"{first},{second}":
                return i, j
    raise InputError(f"--slice: expected two different types of {listed(names)}, got {text[:80]!r}")
