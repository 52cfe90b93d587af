"""``packproof region``: what a cluster can carry at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.options import (
    CertificateFile,
    InstanceFile,
    JsonFlag,
    NodesLimit,
    PlotFile,
    WorkloadTrace,
    read_with_trace,
)
from theory.errors import InputError, TooLargeError, listed
from theory.numbers import many

if TYPE_CHECKING:
    from fractions import Fraction

    from theory.instance import Instance
    from theory.region.facets import Region
    from theory.region.membership import CapacityProgram, Intensity

HEADROOM_TYPES = 60  # most types for which the headroom is computed unless it is asked for

FACET_TYPES, SIMPLICES = 10, 20_000
"""Most types for which facets are computed unless they are asked for, and most simplices for them."""

Servers = Annotated[
    int | None,
    typer.Option(
        "--servers", metavar="L", min=1, max=10**9, help="Also report how many servers the workload of L servers needs."
    ),
]
Simplices = Annotated[
    int | None,
    typer.Option(
        "--facets",
        metavar="N",
        min=0,
        max=10_000_000,
        help="Most simplices for which facets are computed (0: none; default 20000, none beyond 10 types).",
    ),
]
WithHeadroom = Annotated[
    bool | None,
    typer.Option("--headroom/--no-headroom", help="Compute the headroom of each type (default: with up to 60 types)."),
]
Plane = Annotated[
    str | None, typer.Option("--slice", metavar="TYPE,TYPE", help="Cut the region by the plane of two types.")
]


@app.command(
    examples=(
        "packproof region examples/ec2.toml --plot region.png",
        "packproof region examples/four_types.toml --servers 100 --slice small,large",
    )
)
def region(
    instance: InstanceFile,
    servers: Servers = None,
    trace: WorkloadTrace = None,
    facets: Simplices = None,
    headroom: WithHeadroom = None,
    cut: Plane = None,
    nodes: NodesLimit = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Capacity region: facets, traffic intensity of the workload, head-room, servers needed."""
    del nodes  # its callback has set it
    from bounds.certificates.region import region_certificate
    from bounds.views.region import Found, picture_of_region, region_answer
    from theory.greedy.servers import least_servers
    from theory.region.membership import CapacityProgram
    from theory.region.slices import region_slice

    types = read_with_trace(instance, trace, servers)
    plane = None if cut is None else _plane(cut, types.names)
    with progress() as say:
        program = CapacityProgram(types)
        say("traffic intensity ...")
        intensity = program.intensity()
        needed = None
        if servers is not None:
            say("whole servers ...")
            needed = (servers, least_servers(types, [servers * rho for rho in types.workload]))
        free, no_headroom = _headroom(program, len(types.types), intensity, headroom, say)
        boundary, no_facets = _facets(types, facets, say)
        # the slice has the program of the intensity, whose columns it goes on from
        sliced = None if plane is None else region_slice(types, *plane, program=program)
        if plot is not None:
            say("picture ...")
            picture_of_region(types, intensity, boundary, plot, plane)
    if certificate is not None:
        write_certificate(certificate, region_certificate(types, intensity, boundary))
    answers = Found(types, intensity, boundary, no_facets, free, no_headroom, sliced, needed)
    show(region_answer(answers), as_json=as_json)


def _headroom(
    program: CapacityProgram, types: int, intensity: Intensity, wanted: bool | None, say: Callable[[str], None]
) -> tuple[tuple[Fraction, ...] | None, str | None]:
    """Return the headroom of each type, or None and why it is not computed."""
    if not intensity.holds:
        return None, "none: the region does not hold the workload"
    if not (types <= HEADROOM_TYPES if wanted is None else wanted):
        return None, f"not computed for {many(types, 'type')}: ask with --headroom"
    say(f"head-room of {many(types, 'type')} ...")
    try:
        return program.headroom(), None
    except TooLargeError as error:
        return None, str(error)


def _facets(instance: Instance, most: int | None, say: Callable[[str], None]) -> tuple[Region | None, str | None]:
    """Return the region with its facets, or None and why they are not computed."""
    from theory.region.facets import region_facets

    types = len(instance.types)
    limit = (SIMPLICES if types <= FACET_TYPES else 0) if most is None else most
    if limit == 0:
        return None, f"not computed for {many(types, 'type')}: ask with --facets N"
    say("facets ...")
    try:
        return region_facets(instance, limit=limit, report=say), None
    except TooLargeError as error:
        return None, str(error)
    except KeyboardInterrupt:
        return None, "interrupted"


def _plane(text: str, names: tuple[str, ...]) -> tuple[int, int]:
    """Return two types by their names; names may hold commas themselves."""
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j and text == f"{first},{second}":
                return i, j
    raise InputError("--slice", f"expected two different types of {listed(names)}, got {text[:80]!r}")
