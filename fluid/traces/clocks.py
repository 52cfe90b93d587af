"""How the times of a log are written, decided on whole columns, and for arrivals, starts, ends and durations together.

A unit belongs to its column. Where the header does not say it, times that are no dates are judged by all their numbers:
as dates without signs between their parts (20260501120000), as dates of a spreadsheet (45778.5, days), as time since
1970 in the unit that its size tells, or else as seconds. Dates in the form of a country (31.12.2026, 12/31/2026) have
their days and months in the order that all of them allow. Columns that contradict each other are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np

from theory.errors import InputError
from theory.files.cells import (
    COMPACT,
    DAY_FIRST,
    MONTH_FIRST,
    SERIAL,
    YEAR_FIRST,
    YEARS,
    compact_date,
    date_parts,
    is_date,
)
from theory.files.columns import Flags, dates, decimals, look_like_dates
from theory.files.formats import Records
from theory.files.headers import factor_of, unit_of
from theory.files.table import LOOK, fail
from theory.numbers import rational

SECOND, MILLI = Fraction(1), Fraction(1, 1000)
FINER = ((10**17, Fraction(1, 10**9), "nano"), (10**14, Fraction(1, 10**6), "micro"), (10**11, MILLI, "milli"))
"""Seconds in the unit of times from a number on: 10^11 s is the year 5138, and 10^11 ms was in 1973."""

SERIALS = (36_526, 55_153)
"""Dates of a spreadsheet, in days, that are taken for such: from the year 2000 to the end of 2050."""

SINCE_2001 = 10**9
"""Seconds since 1970 from here on are taken for dates."""

BEYOND = 1e20
"""Numbers from here on are no times in any unit; they are refused where they are read."""


@dataclass(frozen=True)
class Clock:
    """How the times of a log are written.

    Attributes
    ----------
    scale : tuple of (str, Fraction)
        Seconds in a unit of time, start, end and duration.
    form : str
        `COMPACT` or `SERIAL` for numbers that are dates, or the order of day, month and year in dates of a spreadsheet;
        empty for all others.
    assumed : str
        What was assumed of units, in words; empty where headers and dates say all.
    apart : bool
        Whether the unit of the duration is assumed, so that it may be another one than that of the other times.
    """

    scale: tuple[tuple[str, Fraction], ...]
    form: str = ""
    assumed: str = ""
    apart: bool = False


@dataclass
class _Numbers:
    """The numbers of a column that are greater than 0: the least, with its line and cell, and the greatest."""

    least: float = float("inf")
    most: float = 0.0
    line: int = 0
    cell: str = ""
    has_parts: bool = False
    is_compact: bool = True

    @property
    def any(self) -> bool:
        return self.most > 0


def _number(cell: str) -> float:
    """Return the number of a cell, nearly; 0 where it has none."""
    try:
        return float(cell)
    except ValueError:
        pass
    try:
        return float(rational(cell))  # p/q
    except ValueError:
        return 0.0


def clock_of(records: Records, names: Sequence[str]) -> Clock:
    """Decide how the times of a log are written.

    Parameters
    ----------
    records : Records
    names : sequence of str
        Of ``time``, ``start``, ``end`` and ``duration`` those that the log has.

    Raises
    ------
    InputError
        A unit that is not known, in one header only, or times that are of no one form.

    Notes
    -----
    Rows that never ran are looked at, too. If all moments of the first rows are dates, the others should be.
    """
    columns = {name: records.headers[name] for name in names}
    factors = {name: _stated(records, name, header) for name, header in columns.items()}
    moments = {name: header for name, header in columns.items() if name != "duration"}
    numbers = _numbers_of(records, list(moments))
    counted = {name: header for name, header in moments.items() if numbers[name].any}
    stay = columns.get("duration", "")
    no_unit = f"{stay} has no unit and is taken for seconds" if stay and factors["duration"] is None else ""
    if not counted:  # all are dates
        order, words = _order_of_dates(records, moments)
        if order:
            said = f"{words}; {no_unit}" if no_unit else words
            return Clock(_scale(factors, SECOND), order, said, bool(no_unit))
        return Clock(_scale(factors, SECOND), assumed=no_unit, apart=bool(no_unit))
    without = [header for name, header in counted.items() if factors[name] is None]
    with_unit = [header for name, header in counted.items() if factors[name] is not None]
    if without and with_unit:
        _refuse_lack(records, without[0], with_unit[0])
    if with_unit:
        if no_unit:
            _refuse_lack(records, stay, with_unit[0])
        return Clock(_scale(factors, SECOND))
    unit, form, words = _judged(records, [numbers[name] for name in counted], list(counted.values()))
    if stay:
        is_dated = form == COMPACT or min(numbers[name].least for name in counted) * unit >= SINCE_2001
        if no_unit and (form == SERIAL or unit != SECOND):
            _refuse(records, stay, f"expected a unit in the header, such as {stay} (s), as {words}")
        if not no_unit and not is_dated:
            _refuse_lack(records, without[0], stay)
        words = f"{words}; {no_unit}" if no_unit else words
    return Clock(_scale(factors, unit), form, words, bool(no_unit))


def _order_of_dates(records: Records, moments: Mapping[str, str]) -> tuple[str, str]:
    """Return the order of day, month and year in dates of a spreadsheet, and it in words; empty for other dates.

    Between dots the day is first; between strokes or dashes a number of more than 12 tells.
    """
    cells: dict[str, tuple[str, int, int, int]] = {}
    every = np.ones(len(records), bool)
    for name in moments:
        if not any(date_parts(cell) for cell in records.cells[name].first(LOOK)):
            continue
        texts, _ = records.cells[name].distinct(every)
        cells |= {cell: parts for cell in texts if (parts := date_parts(cell)) is not None}
    if not cells:
        return "", ""
    names = " and ".join(moments.values())
    example = next(iter(cells))
    if cells[example][1] > YEARS[0]:
        return YEAR_FIRST, f"{names}: dates such as {example} have the year first"
    by_first = next((cell for cell, parts in cells.items() if parts[1] > 12 or parts[0] == "."), "")
    by_second = next((cell for cell, parts in cells.items() if parts[2] > 12), "")
    if bool(by_first) == bool(by_second):
        problem = f"{by_first} has the day first and {by_second} the month" if by_first else f"{example} may be either"
        _refuse(records, names, f"expected dates that tell day and month, such as 2026-12-31: {problem}")
    if by_first:
        return DAY_FIRST, f"{names}: dates such as {by_first} have the day first"
    return MONTH_FIRST, f"{names}: dates such as {by_second} have the month first"


def _refuse(records: Records, header: str, problem: str) -> NoReturn:
    """Refuse a header."""
    fail(records.place, records.first, header, problem)


def _stated(records: Records, name: str, header: str) -> Fraction | None:
    """Return the seconds in the unit that a header states; None where it states none."""
    try:
        factor = factor_of(name, header)
    except InputError as error:
        raise error.within(f"{records.place}:{records.first}") from error
    return factor if unit_of(name, header) else None


def _scale(factors: Mapping[str, Fraction | None], unit: Fraction) -> tuple[tuple[str, Fraction], ...]:
    """Return the factors, with those that no header states: of durations seconds, else the unit."""
    return tuple(
        (name, factor if factor is not None else SECOND if name == "duration" else unit)
        for name, factor in factors.items()
    )


def _refuse_lack(records: Records, without: str, with_unit: str) -> NoReturn:
    _refuse(records, without, f"expected a unit in the header, such as {without} (s), as {with_unit} has one")


def _numbers_of(records: Records, names: Sequence[str]) -> dict[str, _Numbers]:
    """Return the numbers of columns of times; those of the first rows only if these are all dates."""
    every = np.ones(len(records), bool)
    begin = np.arange(len(records)) < LOOK
    first = {name: _summary(records, name, begin) for name in names}
    if not any(column.any for column in first.values()):
        return first
    return {name: _summary(records, name, every) for name in names}


def _summary(records: Records, name: str, rows: Flags) -> _Numbers:
    """Sum up the numbers of some rows of a column; what is neither a number nor a date is told when it is read."""
    found, begin = _Numbers(), 0
    for block, places, which in records.cells[name].parts(rows):
        values, left = np.zeros(len(places)), np.ones(len(places), bool)
        compact = np.zeros(len(places), bool)
        if block.packed is not None and len(places):
            packed = block.packed[places]
            numbers = decimals(packed)
            values = np.where(numbers.known, numbers.digits / 10.0 ** numbers.after.astype(float), 0)
            left = ~numbers.known & ~look_like_dates(packed)
            compact = dates(packed, is_compact=True)[2] if found.is_compact else compact
        for i in np.flatnonzero(left).tolist():
            cell = block.text(int(places[i]))
            values[i] = 0 if is_date(cell) else _number(cell)
        counted = np.flatnonzero((values > 0) & (values < BEYOND))
        if len(counted):
            least = int(counted[np.argmin(values[counted])])
            if values[least] < found.least:
                found.least, found.cell = float(values[least]), block.text(int(places[least]))
                found.line = int(records.lines[begin + int(np.argmax(which == least))])
            found.most = max(found.most, float(values[counted].max()))
            found.has_parts |= bool((values[counted] % 1 != 0).any())
            unsure = counted[~compact[counted]] if found.is_compact else counted[:0]
            found.is_compact &= all(compact_date(block.text(int(places[i]))) is not None for i in unsure)
        begin += len(which)
    return found


def _judged(records: Records, columns: Sequence[_Numbers], headers: Sequence[str]) -> tuple[Fraction, str, str]:
    """Return the unit of numbers whose headers have none, the form that they have as dates, and both in words."""
    least, most = min(columns, key=lambda one: one.least), max(columns, key=lambda one: one.most)
    names = " and ".join(headers)
    if all(column.is_compact for column in columns):
        return SECOND, COMPACT, f"{names}: numbers such as {least.cell} are taken for dates"
    if SERIALS[0] <= least.least and most.most < SERIALS[1]:
        if any(column.has_parts for column in columns):
            return (
                SECOND,
                SERIAL,
                f"{names}: numbers such as {least.cell} are taken for dates of a spreadsheet, in days",
            )
        expected = f"expected a unit in the header: {headers[0]} (days) for dates of a spreadsheet, {headers[0]} (s)"
        numbers = f"numbers from {least.least:.0f} to {most.most:.0f} may be either"
        fail(records.place, least.line, names, f"{expected} for seconds; {numbers}")
    unit, prefix = next(((unit, prefix) for bound, unit, prefix in FINER if most.most >= bound), (SECOND, ""))
    if unit != SECOND and least.least < next(bound for bound, other, _ in FINER if other == unit):
        fail(
            records.place,
            least.line,
            names,
            f"expected times of one unit, or the unit in the header, such as {headers[0]} (ms), got {least.cell} "
            f"beside {most.most:.15g}",
        )
    since = " since 1970, by their size" if unit != SECOND or least.least >= SINCE_2001 else ""
    verbs = ("has", "is") if len(headers) == 1 else ("have", "are")
    return unit, "", f"{names} {verbs[0]} no unit and {verbs[1]} taken for {prefix}seconds{since}"
