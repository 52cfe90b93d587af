"""``packproof throughput``: the maximum supportable workload of a law of sizes, and what the paper's policies keep."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import CertificateFile, JsonFlag, PlotFile, read_number
from theory.errors import InputError, naming
from theory.numbers import many

if TYPE_CHECKING:
    from theory.files.sizes import Sizes
    from theory.greedy.counted import Bins
    from theory.partition.bounding import Bracket

GAP = "0.01"  # the relative gap unless given

SizesFile = Annotated[Path, typer.Argument(metavar="SIZES", help="Size file, TOML or JSON.", show_default=False)]
Gap = Annotated[str, typer.Option("--gap", metavar="GAP", help="Relative gap between the bounds at which to stop.")]
ExactCells = Annotated[
    int | None,
    typer.Option(
        "--exact-cells",
        metavar="N",
        min=1,
        help="Solve a discrete law exactly if sizes times units of the finest common grid are at most N"
        " (20 million unless given); with --gap 0 or --jobs on any grid, within memory for about so many cells.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="Also bound the bins that N jobs of a discrete law need (a file that counts or lists jobs says N).",
    ),
]
Trace = Annotated[
    Path | None, typer.Option("--trace", metavar="LOG", help="Take the law of sizes from a log or trace.")
]


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What both modes take."""

    sizes: SizesFile
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class OfLaw(Options):
    """Bounds of the workload of a law of sizes."""

    beside = "a law of sizes"

    gap: Gap = GAP
    exact_cells: ExactCells = None
    jobs: Jobs = None
    trace: Trace = None
    certificate: CertificateFile = None
    plot: PlotFile = None


@dataclass(frozen=True, kw_only=True)
class OfItems(Options):
    """Bounds of the bins that a list of items needs."""

    beside = "items of several resources, which have bounds of bins only"


def _mode(given: Any) -> type[Mode]:
    from theory.files.document import read_document
    from theory.files.items import has_items

    return OfItems if has_items(read_document(given.sizes)) else OfLaw


def of_law(options: OfLaw) -> None:
    """Bound the workload that any policy can support, and what VQS and Best-Fit guarantee."""
    from bounds.views.throughput import picture_of_throughput, throughput_answer
    from fluid.files.measured import measured_sizes
    from theory.files.document import read_document
    from theory.numbers import rational
    from theory.partition.bounding import EXACT_CELLS
    from theory.partition.rounded import lower_rounded, upper_rounded
    from theory.partition.universal import vqs_workload

    distance = read_number("--gap", options.gap)
    law, notes = measured_sizes(read_document(options.sizes), options.sizes, options.trace)
    for line in notes:
        print(f"{options.trace or options.sizes}: {line}", file=sys.stderr)
    cells = EXACT_CELLS if options.exact_cells is None else options.exact_cells
    best = _best_bounds(law, distance, cells)
    try:
        guaranteed = vqs_workload(law.law, distance or rational(GAP))
    except ValueError as error:
        raise InputError(options.sizes, "sizes", f"{error}") from error
    rounded = None
    if law.partition is not None:
        rounded = tuple(bound(law.law, law.partition, law.servers) for bound in (upper_rounded, lower_rounded))
    bins = None if options.jobs is None and not law.counts else bins_of_jobs(law, options.jobs, cells)
    answer = throughput_answer(law, best, guaranteed, distance, rounded, bins)
    if options.plot is not None:
        picture_of_throughput(law, best, options.plot)
    if options.certificate is not None:
        from bounds.certificates.throughput import throughput_certificate

        write_certificate(options.certificate, throughput_certificate(law, best, guaranteed))
    show(answer, as_json=options.as_json)


def of_items(options: OfItems) -> None:
    """Show the bins that items of several resources need."""
    from bounds.views.throughput import items_answer
    from theory.files.document import read_document
    from theory.files.items import parse_items

    items = parse_items(read_document(options.sizes), str(options.sizes), options.sizes.parent)
    with progress() as say:
        say(f"configuration program of {many(len(items.counts), 'kind')} of items")
        with naming(options.sizes, ("items",)):
            answer = items_answer(items)
    show(answer, as_json=options.as_json)


app.command(
    "throughput",
    examples=(
        "packproof throughput examples/uniform_sizes.toml",
        "packproof throughput examples/counted_sizes.toml --certificate bounds.json",
    ),
)(
    command_of(
        _mode,
        {OfLaw: of_law, OfItems: of_items},
        """Bounds of the workload that any policy can support, and the workload that VQS and Best-Fit guarantee.

        Of a list of items with several resources: the bins that they need, from both sides.
        """,
    )
)


def _best_bounds(sizes: Sizes, distance: Fraction, cells: int) -> Bracket:
    """Return bounds of the supportable workload (after Ctrl-C the best so far); stderr says if they are not exact."""
    from theory.partition.bounding import brackets

    best = None
    with progress() as say:
        try:
            for best in brackets(sizes.law, distance, exact_cells=cells):
                lower, upper = float(sizes.servers * best.lower), float(sizes.servers * best.upper)
                cut = many(best.history[-1][0], "cell")
                say(f"{cut}: between {lower:.6g} and {upper:.6g}, gap {float(best.gap):.3%}")
        except KeyboardInterrupt:
            if best is None:
                raise
            print("interrupted: the best bounds so far", file=sys.stderr)
    assert best is not None
    if distance == 0 and best.gap and not sizes.law.pieces:
        allowed = "allow more with --exact-cells, or use coarser sizes"
        print(f"not exact: it takes more than {many(cells, 'cell')}: {allowed}", file=sys.stderr)
    return best


def bins_of_jobs(sizes: Sizes, jobs: int | None, cells: int | None) -> tuple[int, Bins]:
    """Return the number of jobs and bounds of their bins; the law must say how many there are of each size."""
    from theory.greedy.servers import fewest_bins
    from theory.instance import additive

    law = sizes.law
    exact = [Fraction(count) for count in sizes.counts] if jobs is None else [jobs * p for _, p in law.atoms]
    if law.pieces or any(count.denominator > 1 for count in exact):
        raise InputError(
            "--jobs", f"expected a discrete law with whole numbers of jobs of each size, not so for {jobs}"
        )
    # the common grid: all sizes are whole numbers of units of a server of `units`
    units = lcm(*(size.denominator for size, _ in law.atoms))
    instance, counts = additive([units], [[int(size * units)] for size, _ in law.atoms]), list(map(int, exact))
    bins = fewest_bins(instance, counts, cells, asked=jobs is not None)
    if bins.proper is None and jobs is None:
        program = f"the configuration program of {many(len(counts), 'size')} on a grid of {many(units, 'unit')}"
        print(f"bins: {program} is not solved: ask with --jobs N", file=sys.stderr)
    return sum(counts), bins
