"""An open table: its header, and its rows or columns in blocks; `theory.files.open_table` opens one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar

from theory.errors import InputError
from theory.files.plain import Packed, PlainBlock
from theory.numbers import many

LOOK = 1000
"""Rows that tell the form of a table, and the fields of JSON lines: a record may leave out what it does not have."""

BLOCK = 20_000
"""Rows of a block, unless their lines are long."""

T = TypeVar("T")

Block = tuple[Sequence[int], list[list[str]]]
"""Rows and the numbers of their lines."""


@dataclass
class Table:
    """A table that is open.

    Attributes
    ----------
    place : Path
    header : tuple of str
        Names of the columns, without the space around them.
    first : int
        The line of the header.
    notes : list of str
        What was told of its form and left out, as far as it has been read.
    source : iterator of blocks
        What is left to read.
    """

    place: Path
    header: tuple[str, ...]
    first: int
    notes: list[str] = field(default_factory=list)
    source: Iterator[Block | PlainBlock] = field(default_factory=lambda: iter(()), repr=False)

    def blocks(self) -> Iterator[Block]:
        """Give the rows in blocks, each row with as many cells as the header."""
        for block in self.source:
            yield self._even(block.lines, block.rows) if isinstance(block, PlainBlock) else self._even(*block)

    def columns(self, places: Sequence[int]) -> Iterator[tuple[Sequence[int], list[Sequence[str] | Packed]]]:
        """Give some columns in blocks, with the numbers of their lines; cells of plain text are packed."""
        for block in self.source:
            if isinstance(block, PlainBlock):
                yield block.lines, [block.column(at) for at in places]
            else:
                lines, rows = self._even(*block)
                yield lines, [[row[at] for row in rows] for at in places]

    def _even(self, lines: Sequence[int], rows: list[list[str]]) -> Block:
        """Return rows that have as many cells as the header."""
        width = len(self.header)
        if set(map(len, rows)) - {width}:
            line, row = next((line, row) for line, row in zip(lines, rows, strict=True) if len(row) != width)
            self.fail(line, "", f"expected {many(width, 'field')}, got {len(row)}")
        return lines, rows

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Give the rows with the numbers of their lines, cells without the space around them."""
        for lines, rows in self.blocks():
            yield from zip(lines, ([cell.strip() for cell in row] for row in rows), strict=True)

    def expect_columns(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks a column, or has one twice."""
        shown = ", ".join(self.header)
        for name in names:
            if name not in self.header:
                found = f"found {shown}" if shown else "found no columns"
                if name.casefold() in map(str.casefold, self.header):
                    found += ", where capitals differ"
                elif not set(names) & set(self.header):
                    found += ": is the first line a header?"
                self.fail(self.first, name, f"expected a column of this name, {found}")
        twice = next((name for name in self.header if self.header.count(name) > 1), None)
        if twice is not None:
            self.fail(self.first, twice, f"expected each column once, found {shown}")

    def read(self, line: int, name: str, read: Callable[[str], T], cell: str) -> T:
        """Read a cell; one that is refused is told with its line and column."""
        try:
            return read(cell)
        except ValueError as error:
            self.fail(line, name, str(error))

    def fail(self, line: int, name: str, problem: str) -> NoReturn:
        """Raise the one error line of a field (empty: of the row)."""
        fail(self.place, line, name, problem)


def fail(place: Path, line: int, name: str, problem: str) -> NoReturn:
    """Raise the one error line of a field (empty: of the row)."""
    raise InputError(f"{place}:{line}", name, problem)
