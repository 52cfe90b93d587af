"""Whole columns of a table: read at once where cells are written as most are, cell by cell where they are not.

A reader of columns must agree with the reader of cells (`theory.files.cells`): it takes plain decimal numbers and usual
dates, and leaves every other cell to that one. Distinct cells are read once. Which line a cell stands in is looked up
when something is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import gcd
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.errors import TooLargeError
from theory.files import cells as exact
from theory.files.cells import COMPACT, DAY, FARTHEST, LOCAL, MICROSECONDS, NUMBERS, SERIAL, SPREADSHEET, YEARS, ZONED
from theory.files.table import LOOK, Table, fail
from theory.numbers import to_integers

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Packed = NDArray[np.bytes_]
"""Cells as bytes of one width."""

WIDEST = 64
"""Most characters of cells that are read together."""

T = TypeVar("T")


# ---- cells of a column -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Cells of some rows: all of them, or distinct ones and which of them each row has."""

    packed: Packed | None
    texts: list[str]  # where they cannot be packed
    places: NDArray[np.int32] | None

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Block:
        stripped = list(map(str.strip, texts))
        places: NDArray[np.int32] | None = None
        numbers: dict[str, int] = {}
        if 2 * len(set(stripped[:LOOK])) <= len(stripped[:LOOK]):
            numbers = {text: i for i, text in enumerate(dict.fromkeys(stripped))}
        if 0 < 2 * len(numbers) <= len(stripped):
            places = np.fromiter(map(numbers.__getitem__, stripped), np.int32, len(stripped))
            stripped = list(numbers)
        packed = pack(stripped)
        return cls(packed, [] if packed is not None else stripped, places)

    def __len__(self) -> int:
        return len(self.texts if self.packed is None else self.packed)

    def text(self, i: int) -> str:
        return self.texts[i] if self.packed is None else self.packed[i].decode()


def pack(texts: Sequence[str]) -> Packed | None:
    """Return cells as bytes of one width; None where one of them is long or not ASCII."""
    width = max(map(len, texts), default=0)
    if width > WIDEST:
        return None
    try:
        return np.array(texts, f"S{max(1, width)}")
    except UnicodeEncodeError:
        return None


class Cells:
    """The cells of a column, in the order of the rows."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self.length = 0

    def add(self, texts: Sequence[str]) -> None:
        """Take the cells of further rows."""
        self._blocks.append(_Block.of(texts))
        self.length += len(texts)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.length

    def __getitem__(self, row: int) -> str:
        """Return the cell of a row."""
        for block, begin, end in self._spans():
            if begin <= row < end:
                return block.text(row - begin if block.places is None else int(block.places[row - begin]))
        raise IndexError(row)

    def _spans(self) -> Iterator[tuple[_Block, int, int]]:
        begin = 0
        for block in self._blocks:
            end = begin + (len(block) if block.places is None else len(block.places))
            yield block, begin, end
            begin = end

    def parts(self, rows: Flags) -> Iterator[tuple[_Block, NDArray[np.intp], Integers]]:
        """Give the distinct cells of chosen rows, block by block.

        Of each block: the block, the numbers of the cells in it in the order of their first rows, and for each row of
        the block which of these it has, -1 for rows that are not chosen.
        """
        for block, begin, end in self._spans():
            chosen = np.flatnonzero(rows[begin:end])
            which = np.full(end - begin, -1, np.int64)
            if block.places is None:
                which[chosen] = np.arange(len(chosen))
                yield block, chosen, which
                continue
            numbers, first, back = np.unique(block.places[chosen], return_index=True, return_inverse=True)
            order = np.argsort(first)
            which[chosen] = np.argsort(order)[back.reshape(-1)]
            yield block, numbers[order].astype(np.intp), which

    def distinct(self, rows: Flags) -> tuple[list[str], Integers]:
        """Return the distinct cells of chosen rows by their first row, and which of them each row has (-1: none)."""
        numbers: dict[str, int] = {}
        codes = []
        for block, places, which in self.parts(rows):
            found = [numbers.setdefault(block.text(i), len(numbers)) for i in places.tolist()]
            codes.append(np.array([*found, -1], np.int64)[which])
        return list(numbers), np.concatenate(codes) if codes else np.zeros(0, np.int64)

    def where(self, is_such: Callable[[str], bool], rows: Flags, *, is_no_number: bool = False) -> Flags:
        """Return which of the chosen rows have a cell of a kind; if it is no number, those are not looked at."""
        known: dict[str, bool] = {}

        def told(text: str) -> bool:
            if text not in known:
                known[text] = is_such(text)
            return known[text]

        parts = []
        for block, places, which in self.parts(rows):
            flags = np.zeros(len(places) + 1, bool)  # the last for rows that are not chosen
            look = np.arange(len(places))
            if is_no_number and block.packed is not None and len(places):
                look = np.flatnonzero(~_begin_as_numbers(block.packed[places]))
            for i in look.tolist():
                flags[i] = told(block.text(int(places[i])))
            parts.append(flags[which])
        return np.concatenate(parts) if parts else np.zeros(0, bool)


def _begin_as_numbers(packed: Packed) -> Flags:
    """Return which cells begin with a digit, and not as a date that is none (0001-01-01, 0000-00-00)."""
    signs = _signs(packed)
    is_digit = (signs[:, 0] >= 48) & (signs[:, 0] <= 57)
    if signs.shape[1] >= 3:
        is_digit &= ~(signs[:, :3] == 48).all(axis=1)
    return is_digit


# ---- plain numbers and usual dates -----------------------------------------------------------------------------------


def _signs(packed: Packed) -> NDArray[np.uint8]:
    return np.ascontiguousarray(packed).view(np.uint8).reshape(len(packed), packed.itemsize)


@dataclass(frozen=True)
class Decimals:
    """Decimal numbers: whole numbers, the digits after their points, and which cells are such numbers."""

    digits: Integers
    after: NDArray[np.int8]
    known: Flags


def decimals(packed: Packed) -> Decimals:
    """Read cells that are digits with at most one point, at most 19 digits in all."""
    digits, count = np.zeros(len(packed), np.uint64), np.zeros(len(packed), np.int8)
    after, seen = np.zeros(len(packed), np.int8), np.zeros(len(packed), bool)
    known = np.ones(len(packed), bool)
    for signs in np.ascontiguousarray(_signs(packed).T):
        number = signs - np.uint8(48)  # other signs wrap round to more than 9
        is_digit, is_point = number < 10, signs == 46
        known &= is_digit | (is_point & ~seen) | (signs == 0)
        digits = np.where(is_digit, digits * np.uint64(10) + number, digits)
        count += is_digit
        after += is_digit & seen
        seen |= is_point
    known &= (count > 0) & (count <= 19)  # 19 digits fit 64 bits without a sign
    known &= digits < np.uint64(FARTHEST)
    return Decimals(np.where(known, digits, 0).astype(np.int64), after, known)


def scaled(numbers: Decimals, factor: Fraction, less: int = 0) -> tuple[Integers, Flags]:
    """Return numbers less `less`, times a factor, rounded to whole ones, halves to even; and which are known."""
    values, known = np.zeros(len(numbers.digits), np.int64), numbers.known.copy()
    for places in np.unique(numbers.after[known]).tolist():
        ratio = factor / 10**places
        rows = known & (numbers.after == places)
        offset = less * 10**places
        most = (FARTHEST - 1) // ratio.numerator
        fits = rows & (numbers.digits <= most) if max(offset, ratio.denominator) < min(most, FARTHEST) else rows & False
        known &= ~rows | fits
        product = (numbers.digits[fits] - offset) * ratio.numerator
        quotient, rest = np.divmod(product, ratio.denominator) if fits.any() else (product, product)
        twice = 2 * rest - ratio.denominator if fits.any() else product
        values[fits] = quotient + ((twice > 0) | ((twice == 0) & (quotient % 2 == 1)))
    return values, known


_LAYOUT = re.compile(
    r"(?P<year>0000)-(?P<month>00)-(?P<day>00)(?:[T ](?P<hour>00):(?P<minute>00)(?::(?P<second>00)"
    r"(?:[.,](?P<part>0{1,6}))?)?(?P<zone>Z|(?P<sign>[+-])(?P<hours>00):?(?P<minutes>00)| UTC)?)?"
)
_COMPACT_LAYOUT = re.compile(
    r"(?P<year>0000)(?P<month>00)(?P<day>00)(?:(?P<hour>00)(?:(?P<minute>00)(?P<second>00)?)?)?(?P<part>)(?P<zone>)"
)
_LAYOUTS = 20
"""Most ways of writing a date in a block of a column that are read together."""


def dates(packed: Packed, *, is_compact: bool = False) -> tuple[Integers, Flags, Flags]:
    """Read cells that are dates, of ISO 8601 or as digits alone.

    Returns
    -------
    values : int64[n]
        Microseconds from 1970.
    zoned, known : bool[n]
        Whether each has a zone, and whether it is such a date.
    """
    values, zoned, known = (np.zeros(len(packed), kind) for kind in (np.int64, bool, bool))
    lengths, signs = np.char.str_len(packed), _signs(packed)
    for length in np.unique(lengths[lengths >= 8]).tolist():
        rows = np.flatnonzero(lengths == length)
        left = signs[rows, :length]
        for _ in range(_LAYOUTS):
            if not len(rows):
                break
            layout = re.sub(rb"\d", b"0", left[0].tobytes()).decode()
            same = _of_layout(left, layout)
            parts = (_COMPACT_LAYOUT if is_compact else _LAYOUT).fullmatch(layout)
            if parts is not None:
                values[rows[same]], known[rows[same]] = _moments(left[same], parts, YEARS if is_compact else (1, 9999))
                zoned[rows[same]] = bool(parts["zone"])
            rows, left = rows[~same], left[~same]
    return values, zoned, known


def _of_layout(signs: NDArray[np.uint8], layout: str) -> Flags:
    """Return which cells have digits where a layout has 0, and its other signs."""
    wanted = np.frombuffer(layout.encode(), np.uint8)
    is_digit = wanted == 48
    numbers = signs[:, is_digit]
    return np.asarray(
        (signs[:, ~is_digit] == wanted[~is_digit]).all(axis=1) & ((numbers >= 48) & (numbers <= 57)).all(axis=1)
    )


def _moments(signs: NDArray[np.uint8], parts: re.Match[str], years: tuple[int, int]) -> tuple[Integers, Flags]:
    """Return the microseconds from 1970 of dates of one layout, and which of them are dates."""

    def number(name: str) -> Integers:
        value = np.zeros(len(signs), np.int64)
        if parts.groupdict().get(name):
            for i in range(*parts.span(name)):
                value = value * 10 + (signs[:, i] - 48)
        return value

    year, month, day = number("year"), number("month"), number("day")
    hour, minute, second = number("hour"), number("minute"), number("second")
    part = number("part") * 10 ** (6 - len(parts["part"] or ""))
    known = (year >= years[0]) & (year <= years[1]) & (month >= 1) & (month <= 12)
    months = np.where(known, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = months.astype("datetime64[D]")
    known &= (day >= 1) & (day <= ((months + 1).astype("datetime64[D]") - first).astype(np.int64))
    known &= (hour < 24) & (minute < 60) & (second < 60)
    seconds = ((first.astype(np.int64) + day - 1) * 24 + hour) * 3600 + minute * 60 + second
    if parts.groupdict().get("sign"):
        hours, minutes = number("hours"), number("minutes")
        known &= (hours < 24) & (minutes < 60)
        seconds -= (hours * 3600 + minutes * 60) * (-1 if parts["sign"] == "-" else 1)
    return seconds * MICROSECONDS + part, known


# ---- columns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Columns of a table, and where its rows stand.

    Attributes
    ----------
    place : Path
    header : tuple of str
        Of the whole table.
    first : int
        The line of the header.
    lines : int64[n]
    cells : dict of str to Cells
        The columns that were asked for, by their header.
    notes : tuple of str
        What was told of the form of the table, and left out.
    """

    place: Path
    header: tuple[str, ...]
    first: int
    lines: Integers
    cells: dict[str, Cells]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def fail(self, row: int, name: str, problem: str) -> NoReturn:
        """Raise the one error line of a cell."""
        fail(self.place, int(self.lines[row]), name, problem)

    def text(self, name: str, row: int) -> str:
        """Return a cell as it is in the file, without the space around it."""
        return self.cells[name][row]

    def words(self, name: str, rows: Flags, read: Callable[[str], object] | None = None) -> tuple[list[str], Integers]:
        """Return the distinct cells of chosen rows and which each has (-1: none); `read` refuses others."""
        texts, codes = self.cells[name].distinct(rows)
        if read is not None:
            self.values(name, texts, codes, read)
        return texts, codes

    def values(self, name: str, texts: Sequence[str], codes: Integers, read: Callable[[str], T]) -> list[T]:
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
        known_texts: dict[str, int] = {}
        for block, places, which in self.cells[name].parts(rows):
            values, known = np.zeros(len(places) + 1, np.int64), np.zeros(len(places), bool)
            if block.packed is not None and len(places):
                values[:-1], known = together(block.packed[places])
            for i in np.flatnonzero(~known).tolist():
                text = block.text(int(places[i]))
                try:
                    values[i] = known_texts[text] if text in known_texts else read(text)
                except ValueError as error:
                    self._refuse(begin + int(np.argmax(which == i)), name, error)
                known_texts[text] = int(values[i])
            values[-1] = 0
            parts.append(values[which])
            begin += len(which)
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def whole(self, name: str, rows: Flags, read: Callable[[str], int] = exact.whole) -> Integers:
        """Read whole numbers of at least 0."""

        def together(packed: Packed) -> tuple[Integers, Flags]:
            numbers = decimals(packed)
            # without a point, of which no sign is left where it is the last
            return numbers.digits, numbers.known & (np.char.find(packed, b".") < 0)

        return self.integers(name, rows, together, read)

    def ticks(self, name: str, rows: Flags, unit: Fraction = Fraction(1)) -> Integers:
        """Read times in units of so many seconds as whole microseconds."""
        return self.integers(
            name, rows, lambda packed: scaled(decimals(packed), unit * MICROSECONDS), partial(exact.ticks, unit=unit)
        )

    def amounts(self, name: str, rows: Flags, read: Callable[[str], Fraction]) -> tuple[Integers, Fraction]:
        """Read amounts exactly, as whole numbers of their largest common unit, 0 for rows that are not chosen.

        Raises
        ------
        TooLargeError
            Numbers with more digits in all than a machine word has.
        """
        texts, codes = self.cells[name].distinct(rows)
        found = self._plain_amounts(name, texts, codes, read)
        if found is None:
            whole, unit = to_integers(self.values(name, texts, codes, read))
        else:
            whole, unit = found
        if max(whole, default=0) >= FARTHEST:
            raise TooLargeError(f"{self.place}: {name}: expected numbers with fewer digits in all: round them")
        return np.array([*whole, 0], np.int64)[codes], unit

    def _plain_amounts(
        self, name: str, texts: Sequence[str], codes: Integers, read: Callable[[str], Fraction]
    ) -> tuple[list[int], Fraction] | None:
        """Return many plain numbers as whole ones and their unit; None if there are few, or others."""
        packed = pack(texts) if len(texts) > WIDEST else None
        if packed is None:
            return None
        numbers = decimals(packed)
        if not numbers.known.all() or not numbers.digits.any():
            return None
        one = int(np.argmax(numbers.digits > 0))  # how its reader reads one, it reads all
        (value,) = self.values(name, texts[one : one + 1], codes - one, read)
        factor = value / Fraction(int(numbers.digits[one]), 10 ** int(numbers.after[one]))
        most = int(numbers.after.max())
        whole = [n * 10 ** (most - p) for n, p in zip(numbers.digits.tolist(), numbers.after.tolist(), strict=True)]
        divisor = gcd(*whole)
        return [n // divisor for n in whole], factor * divisor / 10**most


@dataclass
class Times:
    """How the moments of a table are read: all of one form, which the first of them tells.

    Attributes
    ----------
    written : str
        `COMPACT` or `SERIAL` for numbers that are dates.
    form : str
        `NUMBERS`, `ZONED` or `LOCAL`; empty until the first is read.
    """

    written: str = ""
    form: str = ""

    def read(self, columns: Columns, name: str, rows: Flags, unit: Fraction = Fraction(1)) -> Integers:
        """Read moments, dates or numbers in units of so many seconds, as whole microseconds."""
        if not self.form and rows.any():
            row = int(np.argmax(rows))
            (_, self.form), *_ = columns.values(
                name, [columns.text(name, row)], np.where(np.arange(len(rows)) == row, 0, -1),
                partial(exact.moment, unit=unit, written=self.written),
            )  # fmt: skip
        return columns.integers(name, rows, partial(self._together, unit=unit), partial(self._one, unit=unit))

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
    """Read dates that are written as numbers; 0 is left to the reader of cells."""
    if written == COMPACT:
        values, _, known = dates(packed, is_compact=True)
        return values, known
    assert written == SERIAL
    numbers = decimals(packed)
    values, known = scaled(numbers, Fraction(DAY), SPREADSHEET)
    return values * 1000, known & (numbers.digits > 0) & (values < FARTHEST // 1000)


def read_columns(table: Table, names: Sequence[str]) -> Columns:
    """Read the rest of a table, of which these columns are wanted."""
    chosen = {name: (table.header.index(name), Cells()) for name in dict.fromkeys(names)}
    lines: list[Integers] = []
    for numbers, rows in table.blocks():
        for at, cells in chosen.values():
            cells.add([row[at] for row in rows])
        lines.append(np.asarray(numbers, np.int64))
    return Columns(
        table.place,
        table.header,
        table.first,
        np.concatenate(lines) if lines else np.zeros(0, np.int64),
        {name: cells for name, (_, cells) in chosen.items()},
        tuple(table.notes),
    )
