"""The size file: one law of job sizes on servers of capacity 1, and perhaps a partition of (0, 1]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields, read_document
from theory.files.items import parse_items
from theory.files.open_table import opened
from theory.files.record import Either, Expected, Placed, Range, Some, read_file
from theory.files.written import document_of
from theory.partition.cuts import Partition, by_cuts, by_sets
from theory.partition.laws import Law, empirical, piecewise, uniform

LAWS = ("discrete", "counts", "items", "uniform", "piecewise", "csv")
_SIZE = "a size in (0, 1]"
_ENDS = "two ends [lower, upper] with 0 <= lower < upper <= 1"
_ROWS = "rows [lower, upper, probability] with 0 <= lower <= upper <= 1 and upper > 0"
_PARTS = "cuts in (0, 1), or rows [lower, upper] that cover (0, 1]"

_Size = Annotated[Fraction, Range(0, 1, above=True), Expected(_SIZE), "size"]
_Probability = Annotated[Fraction, Range(0, above=True), Expected("a probability greater than 0")]
_End = Annotated[Fraction, Range(0, 1), Expected(_ROWS)]
_Cut = Annotated[Fraction, Range(0, 1, above=True, below=True), Expected("a cut in (0, 1)")]
_Interval = Annotated[tuple[Fraction, Fraction], Expected("an interval [lower, upper]")]
_Intervals = Annotated[tuple[_Interval, ...], Some("at least one interval")]
_Part = Annotated[
    _Cut | _Interval | _Intervals, Expected("a cut in (0, 1), an interval [lower, upper], or a list of such")
]


@dataclass(frozen=True)
class SizesTable(Placed):
    """One law of job sizes, on servers of capacity 1."""

    EITHER: ClassVar = Either(LAWS, "law")

    discrete: Annotated[
        Mapping[_Size, _Probability] | None,
        Expected("a table of probabilities by size"),
        Some("at least one size"),
        "probabilities by size, which sum to 1",
    ] = None
    counts: Annotated[
        Mapping[_Size, Annotated[int, Range(1), Expected("a whole number of jobs of at least 1")]] | None,
        Expected("a table of numbers of jobs by size"),
        Some("at least one size"),
        "numbers of jobs by size",
    ] = None
    items: Annotated[
        tuple[_Size, ...] | None, Expected("a list of sizes"), Some("a list of at least one size"), "sizes, one a job"
    ] = None
    uniform: Annotated[tuple[Fraction, Fraction] | None, Range(0, 1), Expected(_ENDS), "the ends of a uniform law"] = (
        None
    )
    piecewise: Annotated[
        tuple[Annotated[tuple[_End, _End, _Probability], Expected(_ROWS)], ...] | None,
        Expected(_ROWS),
        Some(_ROWS),
        "rows of two ends and a probability, uniform within each; equal ends are an atom",
    ] = None
    csv: Annotated[str | None, Expected("the name of a file"), "a file with one column of sizes"] = None
    servers: Annotated[int, Range(1), "number of servers"] = 1
    partition: Annotated[
        tuple[_Part, ...] | None,
        Expected(_PARTS),
        Some(_PARTS),
        "to be judged: cuts, or a row for each queue that cover (0, 1] together, or a list of rows for a queue whose "
        "sizes are no interval",
    ] = None


@dataclass(frozen=True)
class SizesFile:
    """A law of sizes: what `throughput`, and `simulate` under slotted policies, read."""

    SIGN: ClassVar = "sizes"

    sizes: Annotated[SizesTable, Expected("a table [sizes]")]
    simulation: Annotated[Mapping[str, Any] | None, "what `simulate` reads beside it"] = None


@dataclass(frozen=True)
class Sizes:
    """What a size file says.

    Attributes
    ----------
    law : Law
    servers : int
        L, at least 1.
    partition : Partition or None
        One that the user wants judged.
    counts : tuple of int
        Jobs of each size of the law, in its order, where the file counts or lists them; empty elsewhere.
    unused : tuple of str
        Fields of the file that are not read; they are no part of the law.
    """

    law: Law
    servers: int = 1
    partition: Partition | None = None
    counts: tuple[int, ...] = ()
    unused: tuple[str, ...] = field(default=(), compare=False)


def read_sizes(path: str | Path) -> Sizes:
    """Read a law of sizes from a TOML or JSON file.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    return parse_sizes(read_document(path), str(path), Path(path).parent)


def parse_sizes(document: Mapping[str, Any], source: str = "sizes", folder: Path | None = None) -> Sizes:
    """Turn a document with a table ``sizes`` into a law; `source` names it in errors.

    Parameters
    ----------
    document : mapping
        ``sizes`` holds exactly one of ``discrete`` (a table of probabilities by size), ``counts`` (a table of numbers
        of jobs by size), ``items`` (a list of sizes, one a job), ``uniform`` (two ends),
        ``piecewise`` (rows ``[lower, upper, probability]``, uniform within each; ``lower = upper`` is an atom) and
        ``csv`` (a file with one column of sizes); also ``servers``, and ``partition``: cuts, or rows
        ``[lower, upper]`` that cover (0, 1], or lists of such rows for queues that are no intervals. A table
        ``simulation`` is left to `fluid.files.tables`. In place of ``sizes`` may stand ``items`` as ``packproof attack
        --out`` writes them: ``capacity`` and ``sizes`` of one resource.
    folder : Path, optional
        Where a relative ``csv`` starts; the working directory unless given.

    Raises
    ------
    InputError
        No law or several, sizes outside (0, 1], probabilities that do not sum to 1, an empty file, a cell that is
        no number, a partition with a gap or an overlap.

    Examples
    --------
    >>> parse_sizes({"sizes": {"uniform": ["0.1", "0.9"], "servers": 5}}).law.mean
    Fraction(1, 2)
    """
    if "items" in document and "sizes" not in document:
        return _relative(document, source, folder)
    table = read_file(SizesFile, document, source).sizes
    if table.csv is not None:
        found = Sizes(read_sample((folder or Path()) / table.csv))
    elif table.counts is not None or table.items is not None:
        found = _counted(Counter(table.items if table.counts is None else table.counts))
    else:
        found = Sizes(_law(table))
    return replace(found, servers=table.servers, partition=_partition(table))


def sizes_document(sizes: Sizes) -> dict[str, Any]:
    """Return the JSON form of a law and the number of servers, numbers as exact text.

    Examples
    --------
    >>> sizes_document(Sizes(uniform("1/10", "9/10"), 5))
    {'sizes': {'uniform': ['1/10', '9/10'], 'servers': 5}}
    """
    law, servers = sizes.law, sizes.servers
    # the shortest of the forms that says the law exactly
    if not law.pieces:
        table = SizesTable(discrete=dict(law.atoms), servers=servers)
    elif len(law.pieces) == 1 and not law.atoms:
        table = SizesTable(uniform=(law.pieces[0].lower, law.pieces[0].upper), servers=servers)
    else:
        rows = [(piece.lower, piece.upper, piece.probability) for piece in law.pieces]
        rows += [(size, size, p) for size, p in law.atoms]
        table = SizesTable(piecewise=tuple(sorted(rows)), servers=servers)
    return document_of(SizesFile(table))


def _law(table: SizesTable) -> Law:
    """Return the law of a table that states probabilities or ends."""
    if table.discrete is not None:
        _sums_to_one(table, "discrete", table.discrete.values())
        return Law(atoms=tuple(sorted(table.discrete.items())))
    if table.uniform is not None:
        lower, upper = table.uniform
        if lower >= upper:
            table.at.fail("uniform", f"expected {_ENDS}, got [{numbers.text(lower)}, {numbers.text(upper)}]")
        return uniform(lower, upper)
    return _piecewise(table, table.piecewise or ())


def _sums_to_one(table: SizesTable, name: str, probabilities: Iterable[Fraction]) -> None:
    sum_of_all = numbers.total(probabilities)
    if sum_of_all != 1:
        table.at.fail(name, f"expected probabilities that sum to 1, got {numbers.text(sum_of_all)}")


def _counted(found: Counter[Fraction]) -> Sizes:
    """Return the law of counted jobs, and the counts in its order."""
    law = empirical(found)
    return Sizes(law, counts=tuple(found[size] for size, _ in law.atoms))


def _relative(document: Mapping[str, Any], source: str, folder: Path | None) -> Sizes:
    """Return the law of items of one resource, as parts of the capacity of a bin."""
    items = parse_items(document, source, folder)
    if len(items.resources) > 1:
        Fields({}, source, "items").fail("capacity", "expected a list of one positive number: one resource")
    sizes = (size / items.capacity[0] for (size,) in items.sizes)
    return replace(_counted(Counter(dict(zip(sizes, items.counts, strict=True)))), unused=items.unused)


def _piecewise(table: SizesTable, rows: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Law:
    for i, (lower, upper, _) in enumerate(rows, 1):
        if lower > upper or upper == 0:
            ends = f"[{numbers.text(lower)}, {numbers.text(upper)}]"
            table.at.fail(f"piecewise[{i}]", f"expected {_ROWS}, got the ends {ends}")
    # In the order of their lower ends, a piece overlaps one before it where it begins below the greatest upper end so
    # far. Atoms may lie within pieces.
    before = None
    for lower, upper, _ in sorted(rows):
        if before is not None and lower < before and lower != upper:
            above = numbers.text(lower)
            table.at.fail("piecewise", f"expected pieces without overlap, but two hold sizes above {above}")
        before = upper if before is None else max(before, upper)
    # lower = upper is an atom
    atoms = [lower for lower, upper, _ in rows if lower == upper]
    if len(set(atoms)) < len(atoms):
        table.at.fail("piecewise", "expected each atom once")
    _sums_to_one(table, "piecewise", [p for _, _, p in rows])
    return piecewise(rows)


def read_sample(path: str | Path) -> Law:
    """Read one column of sizes in (0, 1], perhaps with a header, and return the empirical law."""
    counts: Counter[Fraction] = Counter()
    size_of_text: dict[str, Fraction] = {}
    with opened(path, ("size",)) as table:
        for number, (line, (cell,)) in enumerate(table.rows()):
            if cell not in size_of_text:
                # the first row may be a header; numbers that are not finite are none
                if not number and cell[:1].isalpha() and cell.lower() not in ("nan", "inf", "infinity"):
                    continue
                size_of_text[cell] = table.read(line, "", _size_of, cell)
            counts[size_of_text[cell]] += 1
    if not counts:
        raise InputError(path, "", "expected at least one size, found none")
    return empirical(counts)


def _size_of(cell: str) -> Fraction:
    try:
        size = numbers.rational(cell)
    except ValueError as error:
        raise ValueError(f"expected {_SIZE}, got {cell[:40]!r} ({error})") from error
    if not 0 < size <= 1:
        raise ValueError(f"expected {_SIZE}, got {cell[:40]}")
    return size


def _partition(table: SizesTable) -> Partition | None:
    """Return the partition of a table, in one of three forms: cuts; an interval a queue; several intervals a queue."""
    rows = table.partition
    if rows is None:
        return None
    cuts = [row for row in rows if isinstance(row, Fraction)]
    if len(cuts) == len(rows):
        return by_cuts(cuts)
    if cuts:
        table.at.fail("partition", f"expected {_PARTS}, got both")
    intervals = [row for row in rows if not isinstance(row, Fraction)]
    try:
        return by_sets([[row] if isinstance(row[0], Fraction) else list(row) for row in intervals])
    except ValueError as error:
        table.at.fail("partition", f"expected intervals that cover (0, 1] once: {error}")
