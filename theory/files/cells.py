"""How one cell of a table is read, exactly: numbers, times as whole microseconds, words.

A reader takes text without space around it and raises ValueError that says what is expected. `theory.files.columns`
reads whole columns by the same rules, and asks these readers for every cell that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from theory.numbers import rational

LARGEST = 2**63 - 1
"""The largest whole number of a cell."""

DIGITS = len(str(LARGEST))

FARTHEST = 2**62
"""Microseconds from here on, 146,000 years, are no times: sums of two smaller ones fit a machine word."""

MICROSECONDS = 1_000_000
"""Microseconds in a second."""

ABSENT = frozenset({"", "null", "none", "nan", "nat", "n/a", "na", "-", r"\n", "nil", "unknown", "undefined", "never"})
"""Cells that say that there is no value, in lower case."""

NO_DATE = ("0001-01-01", "0000-00-00")
"""How dates begin that programs write for none."""

NUMBERS, ZONED, LOCAL = "a number", "a time with a zone", "a time without a zone"
"""Forms of times."""

COMPACT, SERIAL = "compact", "serial"
"""How numbers that are dates are written: 20260501120000, or the days of a spreadsheet."""

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day first", "month first", "year first"
"""How spreadsheets write dates in the forms of their countries: 31.12.2026, 12/31/2026, 2026/12/31."""

YEARS = (1990, 2100)
"""Years of dates that are written as numbers."""

SPREADSHEET = 25_569
"""Days from the day 0 of spreadsheets to 1970."""

DAY = 86_400_000
"""Milliseconds: spreadsheets write 15 digits, so that a time is exact to a millisecond."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_COMPACT = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{1,6})|(\d{3}|\d{6}))?)?)?)?(?:\.0*)?", re.ASCII
)

_OF_COUNTRY = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})"
    r"(?:,?[ T]+(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?\s*([AaPp]\.?[Mm]\.?)?)?",
    re.ASCII,
)


def whole(text: str) -> int:
    """Read a whole number of at least 0 that fits a machine word."""
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        value = int(text)
        if value <= LARGEST:
            return value
    found = f"{text[:80]!r}{'' if text else ' (it is empty)'}"
    raise ValueError(f"expected a whole number from 0 to {LARGEST}, got {found}")


def nonnegative(text: str) -> Fraction:
    """Read a number of at least 0 exactly."""
    try:
        value = rational(text)
    except ValueError as error:
        raise ValueError(f"expected a number, got {text!r} ({error})") from error
    if value < 0:
        raise ValueError(f"expected a number of at least 0, got {text!r}")
    return value


def ticks(text: str, unit: Fraction = Fraction(1)) -> int:
    """Read a time, in units of so many seconds, as whole microseconds; halves go to the even one."""
    return _within(round(nonnegative(text) * unit * MICROSECONDS), text)


def _within(value: int, text: str) -> int:
    if value >= FARTHEST:
        raise ValueError(f"expected a time within 146,000 years, got {text!r}")
    return value


def one_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """Make a reader of words."""

    def read(text: str) -> Any:
        if text not in values:
            raise ValueError(f"expected one of {', '.join(values)}, got {text!r}")
        return values[text]

    return read


def is_absent(cell: str) -> bool:
    """Return whether a cell says that there is no value, or no date.

    Examples
    --------
    >>> [is_absent(cell) for cell in ("", "NaT", "0001-01-01T00:00:00Z", "0", "-1")]
    [True, True, True, False, False]
    """
    return cell.lower() in ABSENT or cell.startswith(NO_DATE)


# ---- times -----------------------------------------------------------------------------------------------------------


def is_date(cell: str) -> bool:
    """Return whether a time is a date, rather than a number or a word.

    Examples
    --------
    >>> [is_date(cell) for cell in ("2026-05-01", "20260501T120000Z", "20260501", "-1")]
    [True, True, False, False]
    """
    return (cell[4:5] == "-" and cell[:4].isdigit()) or (cell[8:9] in ("T", "t") and cell[:8].isdigit())


def compact_date(cell: str) -> datetime | None:
    """Return the date that a number such as 20260501 or 20260501120000 is, in UTC; None for other numbers.

    Examples
    --------
    >>> compact_date("202605011200").isoformat(), compact_date("20260532"), compact_date("1777593600000")
    ('2026-05-01T12:00:00+00:00', None, None)
    """
    parts = _COMPACT.fullmatch(cell)
    if parts is None or not YEARS[0] <= int(parts[1]) <= YEARS[1]:
        return None
    micro = int((parts[7] or parts[8] or "").ljust(6, "0"))
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups()[:6])
    try:
        return datetime(year, month, day, hour, minute, second, micro, UTC)
    except ValueError:
        return None


def date_parts(cell: str) -> tuple[str, int, int, int] | None:
    """Return the sign between the three numbers of a date of a spreadsheet, and the numbers; None for other cells.

    Examples
    --------
    >>> date_parts("31.12.2026 23:59"), date_parts("12/31/2026"), date_parts("2026-05-01"), date_parts("1.5")
    (('.', 31, 12, 2026), ('/', 12, 31, 2026), None, None)
    """
    parts = _OF_COUNTRY.fullmatch(cell)
    if parts is None or (len(parts[1]) == 4) == (len(parts[4]) == 4) or (parts[2] == "-" and len(parts[1]) == 4):
        return None
    return parts[2], int(parts[1]), int(parts[3]), int(parts[4])


def _date_of_country(cell: str, written: str) -> datetime:
    """Read a date of a spreadsheet whose order of day, month and year is known, in UTC."""
    parts = _OF_COUNTRY.fullmatch(cell)
    example = {DAY_FIRST: "31.12.2026 23:59", MONTH_FIRST: "12/31/2026 23:59", YEAR_FIRST: "2026/12/31 23:59"}[written]
    expected = f"expected a date such as {example}, as in the rows before, got {cell[:40]!r}"
    if parts is None or date_parts(cell) is None:
        raise ValueError(expected)
    first, second, third = int(parts[1]), int(parts[3]), int(parts[4])
    year, month, day = {
        DAY_FIRST: (third, second, first), MONTH_FIRST: (third, first, second), YEAR_FIRST: (first, second, third)
    }[written]  # fmt: skip
    hour, half = int(parts[5] or 0), (parts[9] or "")[:1].lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(expected)
        hour = hour % 12 + (12 if half == "p" else 0)
    micro = int((parts[8] or "").ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, int(parts[6] or 0), int(parts[7] or 0), micro, UTC)
    except ValueError as error:
        raise ValueError(expected) from error


def moment(text: str, unit: Fraction = Fraction(1), written: str = "") -> tuple[int, str]:
    """Read a time as whole microseconds, and tell its form.

    Times with a zone are counted from 1970 in UTC, and so are those without one, as if their zone was UTC.

    Parameters
    ----------
    text : str
        A date of ISO 8601, or a number in units of so many seconds.
    unit : Fraction
    written : str
        `COMPACT` or `SERIAL` for numbers that are dates, or the order of day, month and year of a spreadsheet's.

    Examples
    --------
    >>> moment("1970-01-02"), moment("1.5"), moment("19900101", written=COMPACT)[0] == moment("1990-01-01")[0]
    ((86400000000, 'a time without a zone'), (1500000, 'a number'), True)
    """
    if is_date(text):
        return _calendar(text)
    if written:
        return _written_date(text, written), LOCAL
    try:
        rational(text)
    except ValueError as error:
        raise ValueError(f"expected a time such as 2026-05-01T12:00:00Z, or a number, got {text[:40]!r}") from error
    return ticks(text, unit), NUMBERS


def _written_date(text: str, written: str) -> int:
    """Return the microseconds from 1970 to a date of a known form; of those written as numbers 0 stays 0."""
    if written in (DAY_FIRST, MONTH_FIRST, YEAR_FIRST):
        return (_date_of_country(text, written) - EPOCH) // timedelta(microseconds=1)
    number = nonnegative(text)
    if not number:
        return 0
    if written == SERIAL:
        return _within(round((number - SPREADSHEET) * DAY) * 1000, text)
    date = compact_date(text)
    if date is None:
        raise ValueError(f"expected a date such as 20260501 or 20260501120000, got {text[:40]!r}")
    return (date - EPOCH) // timedelta(microseconds=1)


def _calendar(text: str) -> tuple[int, str]:
    """Return the microseconds from 1970 to a time of ISO 8601, and its form."""
    try:
        date = datetime.fromisoformat(text[:-4] + "+00:00" if text.endswith(" UTC") else text)
    except ValueError as error:
        raise ValueError(f"expected a time such as 2026-05-01T12:00:00Z, got {text[:40]!r}") from error
    form = LOCAL if date.tzinfo is None else ZONED
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=1), form
