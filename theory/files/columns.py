"""The cells of whole columns, and readers of all of them at once: plain decimal numbers, and usual dates.

These readers tell which cells they know, and leave the others to the reader of single cells (`theory.files.cells`),
with which they must agree. Distinct cells are read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theory.files.cells import FARTHEST, MICROSECONDS, YEARS
from theory.files.plain import WIDEST, Packed
from theory.files.table import LOOK

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


# ---- cells of a column -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Cells of some rows: all of them, or distinct ones and which of them each row has."""

    packed: Packed | None
    texts: list[str]  # where they cannot be packed
    places: NDArray[np.int32] | None

    @classmethod
    def of(cls, cells: Sequence[str] | Packed) -> _Block:
        every = cells if isinstance(cells, np.ndarray) else list(map(str.strip, cells))
        first = every[:LOOK].tolist() if isinstance(every, np.ndarray) else every[:LOOK]
        places: NDArray[np.int32] | None = None
        if 2 * len(set(first)) <= len(first):
            texts = every.tolist() if isinstance(every, np.ndarray) else every
            numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            if 0 < 2 * len(numbers) <= len(texts):
                places = np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))
                every = np.array(list(numbers), every.dtype) if isinstance(every, np.ndarray) else list(numbers)
        packed = every if isinstance(every, np.ndarray) else pack(every)
        return cls(packed, [] if packed is not None else list(every), places)

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


class ColumnCells:
    """The cells of a column, in the order of the rows."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self.length = 0

    def add(self, cells: Sequence[str] | Packed) -> None:
        """Take the cells of further rows, of which packed ones are without the space around them."""
        self._blocks.append(_Block.of(cells))
        self.length += len(cells)

    def extend(self, other: ColumnCells) -> None:
        """Take the cells of another table."""
        self._blocks += other._blocks
        self.length += other.length

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

    def first(self, most: int) -> list[str]:
        """Return the first distinct cells, at most a number of them."""
        found: dict[str, None] = {}
        for block, places, _ in self.parts(np.ones(len(self), bool)):
            for i in places.tolist():
                found[block.text(i)] = None
                if len(found) == most:
                    return list(found)
        return list(found)

    def repeated(self, is_none: Callable[[str], bool]) -> int:
        """Return the number of rows whose cell an earlier row has, but for cells of a kind."""
        marks = []  # equal cells have equal ones
        for block, places, which in self.parts(np.ones(len(self), bool)):
            packed = block.packed
            cells = [block.texts[i].encode() for i in places] if packed is None else packed[places].tolist()
            marks.append(np.fromiter(map(hash, cells), np.int64, len(cells))[which])
        every = np.concatenate(marks) if marks else np.zeros(0, np.int64)
        if (np.diff(np.sort(every)) > 0).all():
            return 0
        _, back, counts = np.unique(every, return_inverse=True, return_counts=True)
        perhaps = counts[back.reshape(-1)] > 1
        texts, codes = self.distinct(perhaps)
        times = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
        return sum(count - 1 for text, count in zip(texts, times, strict=True) if not is_none(text))

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


def whole_numbers(packed: Packed) -> tuple[Integers, Flags]:
    """Read cells that are digits alone."""
    numbers = decimals(packed)
    return numbers.digits, numbers.known & (np.char.find(packed, b".") < 0)


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


def look_like_dates(packed: Packed) -> Flags:
    """Return which cells are dates rather than numbers or words, by their first signs (`cells.is_date`)."""
    signs = _signs(packed)
    is_digit = (signs >= 48) & (signs <= 57)
    has_line, has_letter = np.zeros(len(packed), bool), np.zeros(len(packed), bool)
    if signs.shape[1] > 4:
        has_line = is_digit[:, :4].all(axis=1) & (signs[:, 4] == ord("-"))
    if signs.shape[1] > 8:
        has_letter = is_digit[:, :8].all(axis=1) & ((signs[:, 8] == ord("T")) | (signs[:, 8] == ord("t")))
    return has_line | has_letter


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
