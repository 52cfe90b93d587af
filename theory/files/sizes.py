"""The size file: one law of job sizes on servers of capacity 1, and perhaps a partition of (0, 1]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields, read_document
from theory.files.table import opened
from theory.partition.cuts import Partition, by_cuts, by_sets
from theory.partition.laws import Law, empirical, piecewise, uniform

LAWS = ("discrete", "counts", "items", "uniform", "piecewise", "csv")
_SIZE = "a size in (0, 1]"


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
    top = Fields(document, source)
    if top.has("items") and "sizes" not in document:
        table = top.table("items")
        unused = ("packing",) if table.has("packing") else ()
        listed = _counted(_relative_items(table))
        top.finish()
        return replace(listed, unused=unused)
    top.refuse_other_kinds("a law of sizes", "sizes")
    fields = top.table("sizes", "a table [sizes]")
    if top.has("simulation"):
        top.take("simulation", "a table")
    top.finish()
    laws_given = [name for name in LAWS if fields.has(name)]
    if len(laws_given) != 1:
        fields.fail("", f"expected exactly one law of {', '.join(LAWS)}, got {' and '.join(laws_given) or 'none'}")
    counts: tuple[int, ...] = ()
    if laws_given[0] in ("counts", "items"):
        counted = _counted(_counts(fields) if laws_given[0] == "counts" else _items(fields))
        law, counts = counted.law, counted.counts
    elif laws_given[0] == "csv":
        law = read_sample((folder or Path()) / fields.text("csv", "the name of a file"))
    else:
        law = {"discrete": _discrete, "uniform": _uniform, "piecewise": _piecewise}[laws_given[0]](fields)
    servers = fields.integer("servers", "a whole number of at least 1", least=1) if fields.has("servers") else 1
    partition = _partition(fields) if fields.has("partition") else None
    fields.finish()
    return Sizes(law, servers, partition, counts)


def sizes_document(sizes: Sizes) -> dict[str, Any]:
    """Return the JSON form of a law and the number of servers, numbers as exact text.

    Examples
    --------
    >>> sizes_document(Sizes(uniform("1/10", "9/10"), 5))
    {'sizes': {'uniform': ['1/10', '9/10'], 'servers': 5}}
    """
    law, text = sizes.law, numbers.text
    table: dict[str, Any] = {}
    # the shortest of the forms that says the law exactly
    if not law.pieces:
        table["discrete"] = {text(size): text(p) for size, p in law.atoms}
    elif len(law.pieces) == 1 and not law.atoms:
        table["uniform"] = [text(law.pieces[0].lower), text(law.pieces[0].upper)]
    else:
        rows = [(piece.lower, piece.upper, piece.probability) for piece in law.pieces]
        rows += [(size, size, p) for size, p in law.atoms]
        table["piecewise"] = [list(map(text, row)) for row in sorted(rows)]
    return {"sizes": {**table, "servers": sizes.servers}}


def _number(fields: Fields, place: str, value: Any, expected: str) -> Fraction:
    try:
        return numbers.rational(value)
    except ValueError as error:
        fields.fail(place, f"expected {expected}, got {value!r} ({error})")


def _sums_to_one(fields: Fields, name: str, probabilities: list[Fraction]) -> None:
    sum_of_all = numbers.total(probabilities)
    if sum_of_all != 1:
        fields.fail(name, f"expected probabilities that sum to 1, got {numbers.text(sum_of_all)}")


def _discrete(fields: Fields) -> Law:
    table = fields.table("discrete", "a table of probabilities by size")
    exact: dict[Fraction, Fraction] = {}
    for name in table.names():
        size = _size(table, "", name)
        if size in exact:
            table.fail(name, "expected each size once")
        exact[size] = table.number(name, "a probability greater than 0", strict=True)
    if not exact:
        fields.fail("discrete", "expected at least one size")
    _sums_to_one(fields, "discrete", list(exact.values()))
    return Law(atoms=tuple(sorted(exact.items())))


def _counts(fields: Fields) -> Counter[Fraction]:
    table = fields.table("counts", "a table of numbers of jobs by size")
    counts: Counter[Fraction] = Counter()
    for name in table.names():
        size = _size(table, "", name)
        if size in counts:
            table.fail(name, "expected each size once")
        counts[size] = table.integer(name, "a whole number of jobs of at least 1", least=1)
    if not counts:
        fields.fail("counts", "expected at least one size")
    return counts


def _items(fields: Fields) -> Counter[Fraction]:
    listed = fields.take("items", "a list of sizes")
    if not isinstance(listed, list) or not listed:
        fields.fail("items", "expected a list of at least one size")
    return Counter(_size(fields, f"items[{i}]", value) for i, value in enumerate(listed, 1))


def _relative_items(fields: Fields) -> Counter[Fraction]:
    """Take items of one resource with the capacity of a bin, as the search for bad packings writes them."""
    expected = "a list of one positive number: one resource"
    (capacity,) = _row(fields, "capacity", fields.take("capacity", expected), 1, expected)
    if capacity <= 0:
        fields.fail("capacity", f"expected {expected}, got {numbers.text(capacity)}")
    rows = fields.take("sizes", "a list of sizes")
    if not isinstance(rows, list) or not rows:
        fields.fail("sizes", "expected a list of at least one size")
    if fields.has("packing"):
        fields.take("packing", "the bin of each item")
    counts: Counter[Fraction] = Counter()
    for i, row in enumerate(rows, 1):
        (size,) = _row(fields, f"sizes[{i}]", row, 1, "a list of one number: one resource")
        if not 0 < size <= capacity:
            most = numbers.text(capacity)
            fields.fail(
                f"sizes[{i}]", f"expected a size above 0 and at most the capacity, {most}, got {numbers.text(size)}"
            )
        counts[size / capacity] += 1  # servers of a law of sizes have capacity 1
    fields.finish()
    return counts


def _size(fields: Fields, place: str, value: Any) -> Fraction:
    size = _number(fields, place, value, _SIZE)
    if not 0 < size <= 1:
        fields.fail(place, f"expected sizes in (0, 1], got {str(value)[:40]}")
    return size


def _counted(found: Counter[Fraction]) -> Sizes:
    """Return the law of counted jobs, and the counts in its order."""
    law = empirical(found)
    return Sizes(law, counts=tuple(found[size] for size, _ in law.atoms))


def _row(fields: Fields, name: str, row: Any, length: int, expected: str) -> list[Fraction]:
    if not isinstance(row, list) or len(row) != length:
        fields.fail(name, f"expected {expected}, got {row!r}")
    return [_number(fields, name, value, expected) for value in row]


def _uniform(fields: Fields) -> Law:
    expected = "two ends [lower, upper] with 0 <= lower < upper <= 1"
    lower, upper = _row(fields, "uniform", fields.take("uniform", expected), 2, expected)
    if not 0 <= lower < upper <= 1:
        fields.fail("uniform", f"expected {expected}, got [{numbers.text(lower)}, {numbers.text(upper)}]")
    return uniform(lower, upper)


def _piecewise(fields: Fields) -> Law:
    expected = "rows [lower, upper, probability] with 0 <= lower <= upper <= 1 and upper > 0"
    rows = fields.take("piecewise", expected)
    if not isinstance(rows, list) or not rows:
        fields.fail("piecewise", f"expected {expected}, got {rows!r}")
    exact = [_row(fields, f"piecewise[{i}]", row, 3, expected) for i, row in enumerate(rows, 1)]
    for i, (lower, upper, p) in enumerate(exact, 1):
        if not 0 <= lower <= upper <= 1 or upper == 0:
            ends = f"[{numbers.text(lower)}, {numbers.text(upper)}]"
            fields.fail(f"piecewise[{i}]", f"expected {expected}, got the ends {ends}")
        if p <= 0:
            fields.fail(f"piecewise[{i}]", f"expected a probability greater than 0, got {numbers.text(p)}")
    # In the order of their lower ends, a piece overlaps one before it where it begins below the greatest upper end so
    # far. Atoms may lie within pieces.
    before = None
    for lower, upper, _ in sorted(exact):
        if before is not None and lower < before and lower != upper:
            fields.fail("piecewise", f"expected pieces without overlap, but two hold sizes above {numbers.text(lower)}")
        before = upper if before is None else max(before, upper)
    # lower = upper is an atom
    atoms = [lower for lower, upper, _ in exact if lower == upper]
    if len(set(atoms)) < len(atoms):
        fields.fail("piecewise", "expected each atom once")
    _sums_to_one(fields, "piecewise", [p for _, _, p in exact])
    return piecewise([(lower, upper, p) for lower, upper, p in exact])


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


def _partition(fields: Fields) -> Partition:
    expected = "cuts in (0, 1), or rows [lower, upper] that cover (0, 1]"
    rows = fields.take("partition", expected)
    if not isinstance(rows, list) or not rows:
        fields.fail("partition", f"expected {expected}, got {rows!r}")
    # three forms: cuts; an interval a queue; several intervals a queue
    if not any(isinstance(row, list) for row in rows):
        cuts = [_number(fields, f"partition[{i}]", row, "a cut in (0, 1)") for i, row in enumerate(rows, 1)]
        for i, cut in enumerate(cuts, 1):
            if not 0 < cut < 1:
                fields.fail(f"partition[{i}]", f"expected a cut in (0, 1), got {numbers.text(cut)}")
        return by_cuts(cuts)
    cells = []
    for i, row in enumerate(rows, 1):
        place = f"partition[{i}]"
        several = isinstance(row, list) and bool(row) and all(isinstance(part, list) for part in row)
        ends = [_row(fields, place, part, 2, "an interval [lower, upper]") for part in (row if several else [row])]
        cells.append([(low, high) for low, high in ends])
    try:
        return by_sets(cells)
    except ValueError as error:
        fields.fail("partition", f"expected intervals that cover (0, 1] once: {error}")
