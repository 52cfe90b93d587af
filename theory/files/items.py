"""Lists of items of several resources, from TOML, JSON or a CSV: their kinds, counted, and the capacity of a bin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from theory import numbers
from theory.files.document import Fields
from theory.files.table import opened
from theory.instance import Instance, additive

COUNT = "count"
"""The column of a CSV that says how many items a row stands for."""

NAME = "name"

Size = tuple[Fraction, ...]

NAMED = (NAME, COUNT)
"""Columns of a CSV that are no resources."""

_SIZES = "a list of items, each a list of sizes"


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
    sizes: tuple[tuple[Fraction, ...], ...]
    counts: tuple[int, ...]
    names: tuple[tuple[str, ...], ...] = ()
    unused: tuple[str, ...] = ()

    def instance(self) -> Instance:
        """Return the kinds as types of an instance, of reward 1, in whole units of each resource."""
        # the lcm of the denominators makes the sizes of a resource, and its capacity, whole
        units = [
            lcm(*(amount.denominator for amount in column)) for column in zip(self.capacity, *self.sizes, strict=True)
        ]
        in_units = [
            [int(amount * unit) for amount, unit in zip(row, units, strict=True)]
            for row in (self.capacity, *self.sizes)
        ]
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
    top = Fields(document, source)
    fields = top.table("items", "a table [items]")
    top.finish()
    capacity = _capacity(fields)
    unused = ("packing",) if fields.has("packing") else ()
    for name in unused:
        fields.take(name, "the bin of each item")
    if fields.has("csv") == fields.has("sizes"):
        fields.fail("", f"expected either sizes, {_SIZES}, or csv, the name of a file")
    names: dict[Size, dict[str, None]] = {}
    if fields.has("csv"):
        counts, names = _of_table((folder or Path()) / fields.text("csv", "the name of a file"), capacity)
    else:
        counts = _of_rows(fields, capacity)
    fields.finish()
    named = tuple(tuple(names[size]) for size in counts) if any(names.values()) else ()
    return ItemList(tuple(capacity), tuple(capacity.values()), tuple(counts), tuple(counts.values()), named, unused)


def _capacity(fields: Fields) -> dict[str, Fraction]:
    expected = "a positive number for each resource"
    # resources without names are called r1, r2, ...
    if isinstance(fields.peek("capacity"), list):
        row = fields.take("capacity", expected)
        table = Fields({f"r{i}": value for i, value in enumerate(row, 1)}, fields.source, f"{fields.place}.capacity")
    else:
        table = fields.table("capacity", expected)
    if not table.names():
        fields.fail("capacity", f"expected {expected}, got none")
    return {name: table.number(name, expected, strict=True) for name in table.names()}


def _of_rows(fields: Fields, capacity: Mapping[str, Fraction]) -> Counter[tuple[Fraction, ...]]:
    rows = fields.take("sizes", _SIZES)
    if not isinstance(rows, list) or not rows:
        fields.fail("sizes", f"expected {_SIZES}")
    counts: Counter[tuple[Fraction, ...]] = Counter()
    for i, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(capacity):
            fields.fail(f"sizes[{i}]", f"expected a list of {len(capacity)} sizes, of {', '.join(capacity)}")
        place = Fields(dict(zip(capacity, row, strict=True)), fields.source, f"{fields.place}.sizes[{i}]")
        counts[_item(place, capacity)] += 1
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


def _item(fields: Fields, capacity: Mapping[str, Fraction]) -> tuple[Fraction, ...]:
    """Take the sizes of an item that fits a bin."""
    sizes = tuple(fields.number(name, "a size of at least 0") for name in capacity)
    for (name, most), size in zip(capacity.items(), sizes, strict=True):
        if size > most:
            fields.fail(name, f"expected a size that fits a bin of {numbers.text(most)}, got {numbers.text(size)}")
    if not any(sizes):
        fields.fail("", "expected an item with a size greater than 0")
    return sizes
