"""``packproof throughput``: the maximum supportable workload of a law of sizes, and what the paper's policies keep."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import CertificateFile, JsonFlag, PlotFile, app, progress, show, write_certificate

if TYPE_CHECKING:
    from theory.files.sizes import Sizes

GAP = "0.01"
"""The relative gap unless given."""

COUNTED_CELLS = 20_000_000
"""Sizes times units of the common grid up to which counted jobs are put into bins unasked."""


@app.command(
    examples=(
        "packproof throughput examples/uniform_sizes.toml",
        "packproof throughput examples/counted_sizes.toml --certificate bounds.json",
    )
)
def throughput(
    sizes: Annotated[Path, typer.Argument(metavar="SIZES", help="Size file, TOML or JSON.", show_default=False)],
    gap: Annotated[
        str, typer.Option("--gap", metavar="GAP", help="Relative gap between the bounds at which to stop.")
    ] = GAP,
    exact_cells: Annotated[
        int | None,
        typer.Option(
            "--exact-cells",
            metavar="N",
            min=1,
            help="Solve a discrete law exactly if sizes times units of the finest common grid are at most N"
            " (20 million unless given); with --gap 0 or --jobs on any grid, within memory for about so many cells.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            help="Also bound the bins that N jobs of a discrete law need (a file that counts or lists jobs says N).",
        ),
    ] = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Bounds of the workload that any policy can support, and the workload that VQS and Best-Fit guarantee.

    Of a list of items with several resources: the bins that they need, from both sides.
    """
    from bounds.views.throughput import items_answer, items_lines, throughput_answer, throughput_lines
    from theory.errors import InputError
    from theory.files.document import read_document
    from theory.files.items import has_items, parse_items
    from theory.files.sizes import parse_sizes
    from theory.numbers import rational
    from theory.partition.bounding import EXACT_CELLS, brackets
    from theory.partition.rounded import lower_rounded, upper_rounded
    from theory.partition.universal import vqs_workload

    try:
        distance = rational(gap)
    except ValueError as error:
        raise InputError(f"--gap: expected a number of at least 0, got {gap!r} ({error})") from None
    if not 0 <= distance < 1:
        raise InputError(f"--gap: expected a number of at least 0 and less than 1, got {gap}")
    document = read_document(sizes)
    if has_items(document):
        given_beside = {"--gap": gap != GAP, "--exact-cells": exact_cells, "--jobs": jobs, "--certificate": certificate,
                        "--plot": plot}  # fmt: skip
        for option in (name for name, is_given in given_beside.items() if is_given):
            raise InputError(
                f"{option}: expected a law of sizes on one resource; items of several have bounds of bins only"
            )
        listed = parse_items(document, str(sizes), sizes.parent)
        with progress() as say:
            say(f"configuration program of {len(listed.counts):,} kinds of items")
            bins_of_items = items_answer(listed)
        show(bins_of_items, lambda: items_lines(bins_of_items), as_json=as_json)
        return
    given = parse_sizes(document, str(sizes), sizes.parent)
    try:
        guaranteed = vqs_workload(given.law, distance or rational("0.01"))
    except ValueError as error:
        raise InputError(f"{sizes}: sizes: {error}") from None
    best, limit = None, {} if exact_cells is None else {"exact_cells": exact_cells}
    with progress() as say:
        try:
            for best in brackets(given.law, distance, **limit):
                cells = best.history[-1][0]
                lower, upper = float(given.servers * best.lower), float(given.servers * best.upper)
                say(f"{cells} cells: between {lower:.6g} and {upper:.6g}, gap {float(best.gap):.3%}")
        except KeyboardInterrupt:
            if best is None:
                raise
            print("interrupted: the best bounds so far", file=sys.stderr)
    assert best is not None
    if distance == 0 and best.gap and not given.law.pieces:
        most = f"{EXACT_CELLS if exact_cells is None else exact_cells:,}"
        print(f"not exact: it takes more than {most} cells: allow more with --exact-cells, or use coarser sizes",
              file=sys.stderr)  # fmt: skip
    rounded = None
    if given.partition is not None:
        bounds = (f(given.law, given.partition, given.servers) for f in (upper_rounded, lower_rounded))
        rounded = tuple(bounds)
    bins = None
    if jobs is not None or given.counts:
        bins = _bins(given, jobs, EXACT_CELLS if exact_cells is None else exact_cells)
    answer = throughput_answer(given, best, guaranteed, distance, rounded, bins)
    if plot is not None:
        from bounds.views.throughput import picture_of_throughput

        picture_of_throughput(given, best, plot)
    if certificate is not None:
        from bounds.certificates.throughput import throughput_certificate

        write_certificate(certificate, throughput_certificate(given, best, guaranteed))
    show(answer, lambda: throughput_lines(answer), as_json=as_json)


def _bins(given: Sizes, jobs: int | None, cells: int) -> tuple[int, Fraction, Fraction, int] | None:
    """Return the number of jobs and bounds of their bins; the law must say how many there are of each size."""
    from theory.errors import InputError
    from theory.partition.packing import first_fit_decreasing
    from theory.partition.stock import bins

    law = given.law
    counts = [Fraction(count) for count in given.counts] if jobs is None else [jobs * p for _, p in law.atoms]
    if law.pieces or any(count.denominator > 1 for count in counts):
        raise InputError(f"--jobs: expected a discrete law with whole numbers of jobs of each size, not so for {jobs}")
    units = lcm(*(size.denominator for size, _ in law.atoms))
    if jobs is None and len(counts) * units > COUNTED_CELLS:
        print(f"bins: not computed for {len(counts):,} sizes on a grid of {units:,} units: ask with --jobs N",
              file=sys.stderr)  # fmt: skip
        return None
    sizes, whole = [int(size * units) for size, _ in law.atoms], list(map(int, counts))
    found = bins(sizes, whole, units, cells)
    if found is None:
        raise InputError("--jobs: the configuration program could not be solved exactly")
    packed = first_fit_decreasing(sizes, whole, units)
    return sum(whole), found[0].servers, found[1].servers, packed
