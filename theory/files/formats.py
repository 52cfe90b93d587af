"""Formats of tables: a specification of a few lines says what the columns are, and gives records to read from.

A format names its columns with their headers, the rows that are left out, and what is made from other columns. Records
are the rows of a table by the names of the format. Rows that are left out are counted by reason and not read further,
so that they need not be well formed; whatever else is wrong is told with file, line and column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import gcd
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from theory.errors import TooLargeError
from theory.files import cells as exact
from theory.files.cells import COMPACT, DAY, FARTHEST, LOCAL, MICROSECONDS, NUMBERS, SERIAL, SPREADSHEET, ZONED
from theory.files.columns import (
    ColumnCells,
    Flags,
    Integers,
    dates,
    decimals,
    pack,
    scaled,
    whole_numbers,
)
from theory.files.headers import columns_by_meaning
from theory.files.open_table import opened
from theory.files.plain import WIDEST, Packed
from theory.files.table import Table, fail
from theory.numbers import many, to_integers

T = TypeVar("T")

WHOLE, DURATION, MOMENT, AMOUNT, WORD = "whole", "duration", "moment", "amount", "word"
"""Quantities of columns: whole numbers, lengths of time, points in time, amounts of a resource, and words."""


# ---- specifications --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column of a format.

    Attributes
    ----------
    name : str
        What it is, in the records.
    quantity : str
        `WHOLE`, `DURATION`, `MOMENT`, `AMOUNT` or `WORD`.
    synonyms : tuple of str
        Headers that say so, the first before the others; the name itself where there are none.
    unit : Fraction
        Seconds in a unit of its times, where the header says none.
    absent : frozenset of str
        Cells, in lower case, that mean no value.
    optional : bool
        Whether a table may lack it.
    """

    name: str
    quantity: str = WORD
    synonyms: tuple[str, ...] = ()
    unit: Fraction = Fraction(1)
    absent: frozenset[str] = frozenset({""})
    optional: bool = False

    def header(self, header: Sequence[str]) -> str:
        """Return which column of a table it is: the first of its headers that the table has, or the first of all."""
        names = self.synonyms or (self.name,)
        return next((name for name in names if name in header), names[0])


@dataclass(frozen=True)
class Format:
    """A format of tables.

    Attributes
    ----------
    name : str
        What such a table is called.
    columns : tuple of Column
        Those that are read.
    header : tuple of str
        All columns in order, of tables without a header.
    needed : tuple of str
        Headers that tell the format.
    drop : mapping of str to rule
        Which rows are left out, by reason, in this order.
    derive : mapping of str to function
        Columns of whole numbers that are made of others.
    """

    name: str
    columns: tuple[Column, ...]
    header: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    drop: Mapping[str, Callable[[Records], Flags]] = field(default_factory=dict)
    derive: Mapping[str, Callable[[Records], Integers]] = field(default_factory=dict)

    def tells(self, first: Sequence[str]) -> bool:
        """Return whether a header is one of this format."""
        return bool(self.needed) and set(self.needed) <= set(first)

    def bind(self, header: Sequence[str]) -> dict[str, str]:
        """Return which columns of a table are what, by their synonyms and units."""
        return columns_by_meaning(header, {one.name: one.synonyms or (one.name,) for one in self.columns})

    def read(self, *paths: str | Path) -> Records:
        """Read a table, or several after each other; what rows are left out is left to `Records.leave_out`."""
        parts = []
        for path in paths:
            with opened(path, self.header) as table:
                headers = {column.name: column.header(table.header) for column in self.columns}
                there = [one for one in self.columns if not one.optional or headers[one.name] in table.header]
                table.expect_columns([headers[column.name] for column in there])
                parts.append(records(table, there, headers))
        found = parts[0]
        for part in parts[1:]:
            found.extend(part)
        found.derived = dict(self.derive)
        return found


# ---- rows that are left out ------------------------------------------------------------------------------------------

ORDER = "that end before they start"
"""Why a row is dropped that says that something is wrong with the columns if there are many."""

MANY = 10
"""More such rows than these are too many if they are more than a tenth of all, and any number if it is half of all."""


@dataclass
class Dropped:
    """Rows that are left out, by reason, and the first of them: its line, column and what is wrong."""

    reasons: dict[str, int] = field(default_factory=dict)
    first: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def add(self, reason: str, count: int, first: tuple[int, str, str]) -> None:
        """Count rows; `first` is line, column and problem of the first."""
        self.reasons[reason] = self.reasons.get(reason, 0) + count
        self.first[reason] = min(first, self.first.get(reason, first), key=lambda one: one[0])

    @property
    def total(self) -> int:
        """Return the number of rows."""
        return sum(self.reasons.values())

    def refuse(self, place: Path, reason: str, why: str) -> NoReturn:
        """Refuse the table, by the first row that was dropped for a reason."""
        line, column, problem = self.first[reason]
        fail(place, line, column, f"{problem}{why}")

    def refuse_many(self, place: Path, tasks: int, *, strict: bool) -> None:
        """Refuse a table of which no row ran, or in which too many end before they start; if strict, any such row."""
        order = self.reasons.get(ORDER, 0)
        if order and (2 * order > order + tasks or (order > MANY and 10 * order > order + tasks)):
            rows_words = f" ({order:,} of {tasks + self.total:,} rows end before they start: are these the columns?)"
            self.refuse(place, ORDER, rows_words if tasks + self.total > 1 else "")
        if self.total and (strict or not tasks):
            first = min(self.first, key=lambda reason: self.first[reason][0])
            self.refuse(place, first, " (no row of the table ran)" if not tasks and self.total > 1 else "")

    @property
    def notes(self) -> list[str]:
        """Return the note on these rows, if there are any."""
        if not self.total:
            return []
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.reasons.items()))
        return [f"{many(self.total, 'row')} that never ran dropped: {reasons}"]


def absent(*names: str) -> Callable[[Records], Flags]:
    """Make the rule that a row is left out if one of these columns has no value."""
    return lambda records: np.logical_or.reduce([records.is_absent(name) for name in names])


# ---- points in time --------------------------------------------------------------------------------------------------


@dataclass
class Times:
    """How the points in time of a table are read: all of one form, which the first of them tells.

    Attributes
    ----------
    written : str
        `COMPACT` or `SERIAL` for numbers that are dates, or the order of day, month and year in dates of a spreadsheet.
    form : str
        `NUMBERS`, `ZONED` or `LOCAL`; empty until the first is read.
    """

    written: str = ""
    form: str = ""

    def read(self, of: Records, name: str, rows: Flags, unit: Fraction = Fraction(1)) -> Integers:
        """Read dates, or numbers in units of so many seconds, as whole microseconds."""
        if not self.form and rows.any():
            row = int(np.argmax(rows))
            try:
                self.form = exact.moment(of.text(name, row), unit, self.written)[1]
            except ValueError as error:
                of.fail(row, name, str(error))
        return of.integers(name, rows, partial(self._together, unit=unit), partial(self._one, unit=unit))

    def _together(self, packed: Packed, unit: Fraction) -> tuple[Integers, Flags]:
        if self.form == NUMBERS:
            return scaled(decimals(packed), unit * MICROSECONDS)
        values, zoned, known = dates(packed)
        known &= zoned == (self.form == ZONED)
        if self.form == LOCAL and self.written and not known.all():
            others, are_known = _written(packed, self.written)
            return np.where(known, values, others), known | are_known
        return values, known

    def _one(self, text: str, unit: Fraction) -> int:
        value, form = exact.moment(text, unit, self.written)
        if form != self.form:
            raise ValueError(f"expected {self.form}, as in the rows before, got {text[:40]!r}")
        return value


def _written(packed: Packed, written: str) -> tuple[Integers, Flags]:
    """Read dates of a known form; 0 is left to the reader of cells."""
    if written == COMPACT:
        values, _, known = dates(packed, is_compact=True)
        return values, known
    if written != SERIAL:  # dates of a country, which are read one by one
        return np.zeros(len(packed), np.int64), np.zeros(len(packed), bool)
    numbers = decimals(packed)
    values, known = scaled(numbers, Fraction(DAY), SPREADSHEET)
    return values * 1000, known & (numbers.digits > 0) & (values < FARTHEST // 1000)


# ---- records ---------------------------------------------------------------------------------------------------------


@dataclass
class Records:
    """The rows of a table by the columns of a format.

    Attributes
    ----------
    place : Path
    header : tuple of str
        Of the whole table.
    first : int
        The line of the header.
    lines : int64[n]
        Where the rows stand.
    columns : dict of str to Column
    headers : dict of str to str
        The header of each column.
    cells : dict of str to ColumnCells
    rows : bool[n]
        Which rows are not left out; only these are read.
    dropped : Dropped
    notes : list of str
        What was told of the form of the table, and left out.
    times : Times
        How its points in time are written.
    derived : dict of str to function
        What is made of other columns.
    places : list of (int, Path)
        The first row of each further file.
    """

    place: Path
    header: tuple[str, ...]
    first: int
    lines: Integers
    columns: dict[str, Column]
    headers: dict[str, str]
    cells: dict[str, ColumnCells]
    rows: Flags
    dropped: Dropped = field(default_factory=Dropped)
    notes: list[str] = field(default_factory=list)
    times: Times = field(default_factory=Times)
    derived: dict[str, Callable[[Records], Integers]] = field(default_factory=dict)
    places: list[tuple[int, Path]] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of rows, those that are left out too."""
        return len(self.lines)

    def __contains__(self, name: str) -> bool:
        """Return whether there is a column."""
        return name in self.columns

    def __getitem__(self, name: str) -> Integers:
        """Read whole numbers, or times as whole microseconds; 0 for rows that are left out."""
        return self.derived[name](self) if name in self.derived else self.read(name, self.rows)

    def read(self, name: str, rows: Flags) -> Integers:
        """Read some rows of a column of whole numbers or times; 0 for the others."""
        column = self.columns[name]
        if column.quantity == MOMENT:
            return self.times.read(self, name, rows, column.unit)
        if column.quantity == DURATION:
            factor = column.unit * MICROSECONDS
            one = partial(exact.ticks, unit=column.unit)
            return self.integers(name, rows, lambda packed: scaled(decimals(packed), factor), one)
        assert column.quantity == WHOLE
        return self.integers(name, rows, whole_numbers, exact.whole)

    def extend(self, other: Records) -> None:
        """Take the rows of another table of the same columns."""
        self.places.append((len(self), other.place))
        self.lines = np.concatenate([self.lines, other.lines])
        self.rows = np.concatenate([self.rows, other.rows])
        self.notes = [*self.notes, *other.notes]
        for name, cells in self.cells.items():
            cells.extend(other.cells[name])

    def fail(self, row: int, name: str, problem: str) -> NoReturn:
        """Raise the one error line of a cell."""
        place = next((place for begin, place in reversed(self.places) if begin <= row), self.place)
        fail(place, int(self.lines[row]), self.headers.get(name, name), problem)

    def text(self, name: str, row: int) -> str:
        """Return a cell as it is in the file, without the space around it."""
        return self.cells[name][row]

    # -- what is left out --

    def is_absent(self, name: str) -> Flags:
        """Return which rows, of those that are not left out, have no value."""
        words = self.columns[name].absent
        return self.cells[name].where(lambda text: text.lower() in words, self.rows, is_no_number=not _has_digit(words))

    def drop(self, which: Flags, reason: str, name: str, problem: str | Callable[[int], str]) -> None:
        """Leave rows out and count them; `problem` says what is wrong, of a row where it is a function."""
        which = which & self.rows
        count = int(which.sum())
        if count:
            row = int(np.argmax(which))
            words = problem if isinstance(problem, str) else problem(row)
            self.dropped.add(reason, count, (int(self.lines[row]), self.headers.get(name, name), words))
            self.rows = self.rows & ~which

    def leave_out(self, rules: Mapping[str, Callable[[Records], Flags]]) -> dict[str, int]:
        """Leave out rows by the rules of a format, and return how many there were of each reason."""
        counts = {}
        for reason, rule in rules.items():
            which = rule(self) & self.rows
            counts[reason] = int(which.sum())
            self.rows = self.rows & ~which
        return counts

    # -- what is read --

    def words(self, name: str, read: Callable[[str], T]) -> tuple[list[T], Integers]:
        """Read the distinct words of the rows that are left, and tell which each row has (-1: left out)."""
        texts, codes = self.cells[name].distinct(self.rows)
        return self._values(name, texts, codes, read), codes

    def _values(self, name: str, texts: Sequence[str], codes: Integers, read: Callable[[str], T]) -> list[T]:
        """Read distinct cells; one that is refused is told with its first row."""
        values = []
        for i, text in enumerate(texts):
            try:
                values.append(read(text))
            except ValueError as error:
                self._refuse(int(np.argmax(codes == i)), name, error)
        return values

    def _refuse(self, row: int, name: str, error: ValueError) -> NoReturn:
        self.fail(row, name, str(error))

    def integers(
        self,
        name: str,
        rows: Flags,
        together: Callable[[Packed], tuple[Integers, Flags]],
        read: Callable[[str], int],
    ) -> Integers:
        """Read chosen rows of a column as whole numbers, 0 for the others.

        `together` reads many cells, and tells which of them it knows; `read` reads one, and must agree with it.
        """
        parts, begin = [], 0
        of_text: dict[str, int] = {}
        for block, places, which in self.cells[name].parts(rows):
            values, known = np.zeros(len(places) + 1, np.int64), np.zeros(len(places), bool)
            if block.packed is not None and len(places):
                values[:-1], known = together(block.packed[places])
            for i in np.flatnonzero(~known).tolist():
                text = block.text(int(places[i]))
                try:
                    value = of_text[text] if text in of_text else read(text)
                except ValueError as error:
                    self._refuse(begin + int(np.argmax(which == i)), name, error)
                values[i] = of_text[text] = value
            values[-1] = 0
            parts.append(values[which])
            begin += len(which)
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def amounts(self, name: str, read: Callable[[str], Fraction]) -> tuple[Integers, Fraction]:
        """Read amounts exactly, as whole numbers of their largest common unit, 0 for rows that are left out.

        Raises
        ------
        TooLargeError
            Numbers with more digits in all than a machine word has.
        """
        texts, codes = self.cells[name].distinct(self.rows)
        plain = self._plain_amounts(name, texts, codes, read)
        whole, unit = to_integers(self._values(name, texts, codes, read)) if plain is None else plain
        if max(whole, default=0) >= FARTHEST:
            raise TooLargeError(self.place, name, "expected numbers with fewer digits in all: round them")
        return np.array([*whole, 0], np.int64)[codes], unit

    def _plain_amounts(
        self, name: str, texts: Sequence[str], codes: Integers, read: Callable[[str], Fraction]
    ) -> tuple[list[int], Fraction] | None:
        """Return many plain numbers as whole ones and their unit; None if there are few, or others."""
        packed = pack(texts) if len(texts) > WIDEST else None
        numbers = None if packed is None else decimals(packed)
        if numbers is None or not numbers.known.all() or not numbers.digits.any():
            return None
        one = int(np.argmax(numbers.digits > 0))  # how its reader reads one, it reads all
        (value,) = self._values(name, texts[one : one + 1], codes - one, read)
        factor = value / Fraction(int(numbers.digits[one]), 10 ** int(numbers.after[one]))
        most = int(numbers.after.max())
        whole = [n * 10 ** (most - p) for n, p in zip(numbers.digits.tolist(), numbers.after.tolist(), strict=True)]
        divisor = gcd(*whole)
        return [n // divisor for n in whole], factor * divisor / 10**most


def _has_digit(words: frozenset[str]) -> bool:
    return any(word[:1].isdigit() for word in words)


def records(table: Table, columns: Sequence[Column], headers: Mapping[str, str] | None = None) -> Records:
    """Read the rest of a table; `headers` are those of the columns where they are not their own."""
    named = {column.name: (headers or {}).get(column.name, column.name) for column in columns}
    cells = {header: ColumnCells() for header in named.values()}
    lines: list[Integers] = []
    for numbers, columns_of_block in table.columns([table.header.index(header) for header in cells]):
        for column, more in zip(cells.values(), columns_of_block, strict=True):
            column.add(more)
        lines.append(np.array(numbers, np.int64))
    every = np.concatenate(lines) if lines else np.zeros(0, np.int64)
    return Records(
        table.place,
        table.header,
        table.first,
        every,
        {column.name: column for column in columns},
        named,
        {name: cells[header] for name, header in named.items()},
        np.ones(len(every), bool),
        notes=table.notes,
    )
