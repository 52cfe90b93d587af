"""Lists of items of several resources, from TOML, JSON or a CSV: their kinds, counted, and the capacity of a bin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Annotated, Any, ClassVar

from theory import numbers
from theory.errors import TooLargeError
from theory.files.document import Fields
from theory.files.instances import LARGEST
from theory.files.open_table import opened
from theory.files.record import Either, Expected, Placed, Range, Some, read_file
from theory.instance import Instance, additive

COUNT = "count"
"""The column of a CSV that says how many items a row stands for."""

NAME = "name"

Size = tuple[Fraction, ...]

NAMED = (NAME, COUNT)
"""Columns of a CSV that are no resources."""

_SIZES = "a list of items, each a list of sizes"
_EACH = "a positive number for each resource"
_Capacity = Annotated[Fraction, Range(0, above=True), Expected(_EACH)]
_Item = Annotated[
    tuple[Annotated[Fraction, Range(0), Expected("a size of at least 0")], ...], Expected("a list of sizes")
]


@dataclass(frozen=True)
class ItemsTable(Placed):
    """Items of several resources, and the capacity of the bins that hold them."""

    EITHER: ClassVar = Either(("sizes", "csv"))

    capacity: Annotated[
        Annotated[Mapping[str, _Capacity], Some(_EACH), Expected(_EACH)]
        | Annotated[tuple[_Capacity, ...], Some(_EACH), Expected(_EACH)],
        Expected(_EACH),
        "of a bin, by resource, or in the order of the resources",
    ]
    sizes: Annotated[
        tuple[_Item, ...] | None, Expected(_SIZES), Some(_SIZES), "of each item, in the order of the resources"
    ] = None
    csv: Annotated[
        str | None,
        Expected("the name of a file"),
        "a table with a header of the resources, a row an item, and perhaps `name` and `count`, of equal items",
    ] = None
    packing: Annotated[Any, "the bin of each item, as `attack --out` writes it; not read"] = None


@dataclass(frozen=True)
class ItemsFile:
    """A list of items, which `throughput` packs."""

    SIGN: ClassVar = "items"

    items: Annotated[ItemsTable, Expected("a table [items]")]


@dataclass(frozen=True)
class ItemList:
    """Items of several resources, equal ones counted, in the order in which they come first.

    Attributes
    ----------
    resources : tuple of str, length R
    capacity : tuple of Fraction, length R
        Of a bin; positive.
    sizes : tuple of tuple of Fraction, shape (K, R)
        At least 0, at most the capacity, and not all 0.
    counts : tuple of int, length K
        At least 1.
    names : tuple of tuple of str, length K
        Names of the rows of a CSV that are of a kind, in their order; empty where there are none.
    unused : tuple of str
        Fields of the file that are not read.
    """

    resources: tuple[str, ...]
    capacity: tuple[Fraction, ...]
    sizes: tuple[Size, ...]
    counts: tuple[int, ...]
    names: tuple[tuple[str, ...], ...] = ()
    unused: tuple[str, ...] = ()

    def instance(self) -> Instance:
        """Return the kinds as types of an instance, of reward 1, in whole units of each resource.

        Raises
        ------
        TooLargeError
            A bin of more than 2^62 such units.
        """
        # the lcm of the denominators makes the sizes of a resource, and its capacity, whole
        units = [
            lcm(*(amount.denominator for amount in column)) for column in zip(self.capacity, *self.sizes, strict=True)
        ]
        in_units = [
            [int(amount * unit) for amount, unit in zip(row, units, strict=True)]
            for row in (self.capacity, *self.sizes)
        ]
        for name, most, unit in zip(self.resources, in_units[0], units, strict=True):
            if most > LARGEST:
                expected = (
                    f"expected at most 2^62 units of {numbers.text(Fraction(1, unit))}, in which all sizes are whole"
                )
                raise TooLargeError(f"items.capacity.{name}", expected)
        return additive(in_units[0], in_units[1:])


def has_items(document: Mapping[str, Any]) -> bool:
    """Return whether a document lists items other than as sizes of one resource (`theory.files.sizes` reads those)."""
    table = document.get("items")
    if not isinstance(table, Mapping) or "sizes" in document:
        return False
    capacity = table.get("capacity")
    return isinstance(capacity, Mapping) or "csv" in table or (isinstance(capacity, list) and len(capacity) > 1)


def parse_items(document: Mapping[str, Any], source: str = "items", folder: Path | None = None) -> ItemList:
    """Turn a document with a table ``items`` into a list of items; `source` names it in errors.

    ``items`` holds ``capacity``, a table by resource, or a list, one number a resource; and either ``sizes``, a list of
    items, each a list of sizes in the order of the resources, or ``csv``, a file (relative to `folder`) with a header
    of the resources, a row an item, and perhaps a column ``count`` of equal items. ``packing`` is not read.

    Examples
    --------
    >>> found = parse_items({"items": {"capacity": {"cpu": 4, "memory": "7/2"}, "sizes": [[1, 2], [3, 0], [1, 2]]}})
    >>> found.resources, found.counts
    (('cpu', 'memory'), (2, 1))
    """
    table = read_file(ItemsFile, document, source).items
    given = table.capacity
    # resources without names are called r1, r2, ...
    capacity = dict(given) if isinstance(given, Mapping) else {f"r{i}": each for i, each in enumerate(given, 1)}
    names: dict[Size, dict[str, None]] = {}
    if table.csv is not None:
        counts, names = _of_table((folder or Path()) / table.csv, capacity)
    else:
        counts = _of_rows(table, capacity)
    named = tuple(tuple(names[size]) for size in counts) if any(names.values()) else ()
    unused = ("packing",) if table.packing is not None else ()
    return ItemList(tuple(capacity), tuple(capacity.values()), tuple(counts), tuple(counts.values()), named, unused)


def _of_rows(table: ItemsTable, capacity: Mapping[str, Fraction]) -> Counter[Size]:
    counts: Counter[Size] = Counter()
    for i, row in enumerate(table.sizes or (), 1):
        place = f"sizes[{i}]"
        if len(row) != len(capacity):
            table.at.fail(place, f"expected a list of {numbers.many(len(capacity), 'size')}, of {', '.join(capacity)}")
        _expect_room(table.at, f"{place}.", row, capacity)
        counts[row] += 1
    return counts


def _of_table(path: Path, capacity: Mapping[str, Fraction]) -> tuple[Counter[Size], dict[Size, dict[str, None]]]:
    """Return the number of items of each size, and the names of its rows."""
    counts: Counter[Size] = Counter()
    names: dict[Size, dict[str, None]] = {}
    with opened(path) as table:
        head = table.header
        if sorted(name for name in head if name not in NAMED) != sorted(capacity) or len(set(head)) < len(head):
            resources = ", ".join(capacity)
            expected = f"a header with the resources {resources}, and perhaps {' and '.join(NAMED)}, each once"
            table.fail(table.first, "", f"expected {expected}, got {', '.join(head)[:120]}")
        for line, row in table.rows():
            place = Fields(dict(zip(head, row, strict=True)), f"{path}:{line}")
            number = place.integer(COUNT, "a whole number of items of at least 1", least=1) if COUNT in head else 1
            size = _item(place, capacity)
            counts[size] += number
            called = row[head.index(NAME)] if NAME in head else ""
            names.setdefault(size, {}).update({called: None} if called else {})
        if not counts:
            table.fail(table.first, "", "expected at least one item below the header")
    return counts, names


def _item(fields: Fields, capacity: Mapping[str, Fraction]) -> Size:
    """Take the sizes of an item that fits a bin."""
    size = tuple(fields.number(name, "a size of at least 0") for name in capacity)
    _expect_room(fields, "", size, capacity)
    return size


def _expect_room(table: Fields, place: str, size: Size, capacity: Mapping[str, Fraction]) -> None:
    """Refuse an item that fits no bin, or has no size; `place` is before the names of resources."""
    for (name, most), amount in zip(capacity.items(), size, strict=True):
        if amount > most:
            expected = f"expected a size that fits a bin of {numbers.text(most)}"
            table.fail(f"{place}{name}", f"{expected}, got {numbers.text(amount)}")
    if not any(size):
        table.fail(place.removesuffix("."), "expected an item with a size greater than 0")
