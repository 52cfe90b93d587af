"""How the times of a log are written, decided on whole columns, and for arrivals, starts, ends and durations together.

A unit belongs to its column. Where the header does not say it, times that are no dates are judged by all their numbers:
as dates without signs between their parts (20260501120000), as dates of a spreadsheet (45778.5, days), as time since
1970 in the unit that its size tells, or else as seconds. Columns that contradict each other are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fluid.traces.typed_table import COMPACT, SERIAL, compact_date, fail, is_date, opened
from theory.errors import InputError
from theory.files.headers import factor_of, unit_of
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

LOOK = 1000
"""Rows after which a table is not read on if all of its times so far are dates."""


@dataclass(frozen=True)
class Clock:
    """How the times of a log are written.

    Attributes
    ----------
    scale : tuple of (str, Fraction)
        Seconds in a unit of time, start, end and duration.
    form : str
        `COMPACT` or `SERIAL` for numbers that are dates; empty for all others.
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
    """The numbers of a column that are greater than 0, and whether the other cells are dates."""

    least: float = float("inf")
    most: float = 0.0
    line: int = 0
    cell: str = ""
    has_parts: bool = False
    is_compact: bool = True
    dates: int = 0

    @property
    def any(self) -> bool:
        return self.most > 0

    def add(self, line: int, cell: str) -> None:
        """Take a cell into account; what is neither a number nor a date is told when it is read."""
        if is_date(cell):
            self.dates += 1
            return
        value = _number(cell)
        if not 0 < value < BEYOND:
            return
        if value < self.least:
            self.least, self.line, self.cell = value, line, cell
        self.most = max(self.most, value)
        self.has_parts |= value != int(value)
        if self.is_compact and compact_date(cell) is None:
            self.is_compact = False


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


def clock_of(place: Path, first: int, columns: Mapping[str, str]) -> Clock:
    """Decide how the times of a log are written.

    Parameters
    ----------
    place : Path
    first : int
        The line of the header.
    columns : mapping of str to str
        The header of ``time``, and of ``start``, ``end`` and ``duration`` as far as the log has them.

    Raises
    ------
    InputError
        A unit that is not known, in one header only, or times that are of no one form.

    Notes
    -----
    One pass over the table, which ends early where times are dates.
    """
    factors = {name: _stated(place, first, name, header) for name, header in columns.items()}
    moments = {name: header for name, header in columns.items() if name != "duration"}
    numbers = _numbers_of(place, list(moments.values()))
    counted = {name: header for name, header in moments.items() if numbers[header].any}
    stay = columns.get("duration", "")
    no_unit = f"{stay} has no unit and is taken for seconds" if stay and factors["duration"] is None else ""
    if not counted:  # all are dates
        return Clock(_scale(factors, SECOND), assumed=no_unit, apart=bool(no_unit))
    without = [header for name, header in counted.items() if factors[name] is None]
    with_unit = [header for name, header in counted.items() if factors[name] is not None]
    if without and with_unit:
        _refuse_lack(place, first, without[0], with_unit[0])
    if with_unit:
        if no_unit:
            _refuse_lack(place, first, stay, with_unit[0])
        return Clock(_scale(factors, SECOND))
    unit, form, words = _judged(place, [numbers[header] for header in counted.values()], list(counted.values()))
    if stay:
        is_dated = form == COMPACT or min(numbers[header].least for header in counted.values()) * unit >= SINCE_2001
        if no_unit and (form == SERIAL or unit != SECOND):
            fail(place, first, stay, f"expected a unit in the header, such as {stay} (s), as {words}")
        if not no_unit and not is_dated:
            _refuse_lack(place, first, without[0], stay)
        words = f"{words}; {no_unit}" if no_unit else words
    return Clock(_scale(factors, unit), form, words, bool(no_unit))


def _stated(place: Path, first: int, name: str, header: str) -> Fraction | None:
    """Return the seconds in the unit that a header states; None where it states none."""
    try:
        factor = factor_of(name, header)
    except InputError as error:
        raise InputError(f"{place}:{first}: {error}") from error
    return factor if unit_of(name, header) else None


def _scale(factors: Mapping[str, Fraction | None], unit: Fraction) -> tuple[tuple[str, Fraction], ...]:
    """Return the factors, with those that no header states: of durations seconds, else the unit."""
    return tuple(
        (name, factor if factor is not None else SECOND if name == "duration" else unit)
        for name, factor in factors.items()
    )


def _refuse_lack(place: Path, line: int, without: str, with_unit: str) -> None:
    fail(place, line, without, f"expected a unit in the header, such as {without} (s), as {with_unit} has one")


def _numbers_of(place: Path, headers: Sequence[str]) -> dict[str, _Numbers]:
    """Return the numbers of columns of times; those of the first rows only if these are all dates."""
    numbers = {header: _Numbers() for header in headers}
    with opened(place) as table:
        names = [cell.strip() for cell in next(table, (1, []))[1]]
        columns = [(names.index(header), numbers[header]) for header in headers]
        for count, (line, row) in enumerate(table):
            if count == LOOK and not any(column.any for _, column in columns):
                break
            for at, column in columns:
                if at < len(row):
                    column.add(line, row[at].strip())
    return numbers


def _judged(place: Path, columns: Sequence[_Numbers], headers: Sequence[str]) -> tuple[Fraction, str, str]:
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
        fail(place, least.line, names, f"{expected} for seconds; {numbers}")
    unit, prefix = next(((unit, prefix) for bound, unit, prefix in FINER if most.most >= bound), (SECOND, ""))
    if unit != SECOND and least.least < next(bound for bound, other, _ in FINER if other == unit):
        fail(
            place,
            least.line,
            names,
            f"expected times of one unit, or the unit in the header, such as {headers[0]} (ms), got {least.cell} "
            f"beside {most.most:.15g}",
        )
    since = " since 1970, by their size" if unit != SECOND or least.least >= SINCE_2001 else ""
    verbs = ("has", "is") if len(headers) == 1 else ("have", "are")
    return unit, "", f"{names} {verbs[0]} no unit and {verbs[1]} taken for {prefix}seconds{since}"
