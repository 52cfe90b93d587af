"""Tables with typed columns: rows of CSV, JSON lines and Parquet, and the tasks that they become.

A schema names the columns of a format and says how the text of each is read. A cell is read when it is asked for, so a
row that is left out (a task that never ran) need not be well formed; whatever is wrong is told with file, line, column.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np

from fluid.traces.model import MICROSECONDS, Trace
from theory.errors import InputError, TooLargeError
from theory.files.places import open_input
from theory.numbers import rational, to_integers

LARGEST = 2**63 - 1
"""The largest whole number of a field."""

DIGITS = len(str(LARGEST))

SUFFIXES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
"""Formats by the end of a name, before ``.gz`` where there is one; everything else is a CSV."""

MOST_LINES = 20_000_000
"""Most lines of a table: beyond any that packproof was tried with, and within a few minutes and gigabytes."""

LINES = "PACKPROOF_MOST_LINES"
"""The variable of the environment that sets another limit."""

LONGEST = 1_000_000
"""Most characters of a line: a compressed file of a few kilobytes may hold gigabytes without an end of line."""

LOOK = 1000
"""Lines whose fields make the header of JSON lines: a record may leave out what it does not have."""

Schema = Mapping[str, Callable[[str], Any]]
"""How the text of each column is read; a reader raises ValueError that says what is expected."""

Columns = Mapping[str, tuple[int, str, Callable[[str], Any]]]
"""The number of each column among those that are read, its name in the file, and how it is read."""

Cells = Iterator[tuple[int, list[str]]]
"""Rows of text with the numbers of their lines."""


class Row:
    """A row of a table; ``row[name]`` is a cell as the schema reads it."""

    __slots__ = ("_cells", "_columns", "line", "place")

    def __init__(self, place: Path, line: int, cells: tuple[str, ...], columns: Columns) -> None:
        self.place, self.line, self._cells, self._columns = place, line, cells, columns

    def __getitem__(self, name: str) -> Any:
        """Read a cell."""
        number, _, read = self._columns[name]
        try:
            return read(self._cells[number])
        except ValueError as error:
            self.fail(name, str(error))

    def text(self, name: str) -> str:
        """Return a cell as it is in the file."""
        return self._cells[self._columns[name][0]]

    def fail(self, name: str, problem: str) -> NoReturn:
        """Raise the one error line of a cell."""
        fail(self.place, self.line, self._columns[name][1], problem)


def rows(place: Path, schema: Schema, columns: Mapping[str, str] | None = None) -> Iterator[Row]:
    """Yield the rows of a table with a header, whose schema names at least two columns.

    `columns` gives the names in the header where they are not those of the schema.

    Raises
    ------
    InputError
        A column that is missing or stands twice, a row of another length than the header.
    """
    names = [name if columns is None else columns[name] for name in schema]
    with opened(place) as table:
        first, header = next(table, (1, []))
        header = [cell.strip() for cell in header]
        missing = [name for name in names if name not in header]
        if missing:
            fail(place, first, missing[0], f"expected a column of this name, found {', '.join(header) or 'no columns'}")
        twice = next((name for name in header if header.count(name) > 1), None)
        if twice is not None:
            fail(place, first, twice, f"expected each column once, found {', '.join(header)}")
        chosen = itemgetter(*(header.index(name) for name in names))
        yield from _typed(place, table, len(header), _columns(schema, names), chosen)


def rows_without_header(place: Path, schema: Schema) -> Iterator[Row]:
    """Yield the rows of a table whose columns are those of the schema in this order."""
    with opened(place) as table:
        yield from _typed(place, table, len(schema), _columns(schema, list(schema)), tuple)


def _columns(schema: Schema, names: Sequence[str]) -> Columns:
    return {key: (i, name, schema[key]) for i, (key, name) in enumerate(zip(schema, names, strict=True))}


def _typed(
    place: Path, table: Cells, length: int, columns: Columns, chosen: Callable[[list[str]], tuple[str, ...]]
) -> Iterator[Row]:
    for line, cells in table:
        if len(cells) != length:
            fail(place, line, "", f"expected {length} fields, got {len(cells)}")
        yield Row(place, line, chosen(cells), columns)


def fail(place: Path, line: int, name: str, problem: str) -> NoReturn:
    """Raise the one error line of a field (empty: of the row)."""
    where = f"{place}:{line}: {name}" if name else f"{place}:{line}"
    raise InputError(f"{where}: {problem}")


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> number_of(1, "row"), number_of(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# ---- how cells are read ----------------------------------------------------------------------------------------------


def whole(text: str) -> int:
    """Read a whole number of at least 0 that fits a machine word."""
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        value = int(text)
        if value <= LARGEST:
            return value
    text_found = f"{text[:80]!r}{'' if text else ' (it is empty)'}"
    raise ValueError(f"expected a whole number from 0 to {LARGEST}, got {text_found}")


def nonnegative(text: str) -> Fraction:
    """Read a number of at least 0 exactly."""
    try:
        value = rational(text)
    except ValueError as error:
        raise ValueError(f"expected a number, got {text!r} ({error})") from None
    if value < 0:
        raise ValueError(f"expected a number of at least 0, got {text!r}")
    return value


def ticks(text: str, unit: Fraction = Fraction(1)) -> int:
    """Read a time, in units of so many seconds, as whole microseconds."""
    value = round(nonnegative(text) * unit * MICROSECONDS)
    if value >= 2**62:
        raise ValueError(f"expected a time within 146,000 years, got {text!r}")
    return value


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

NUMBERS, ZONED, LOCAL = "a number", "a time with a zone", "a time without a zone"
"""Forms of times."""

COMPACT, SERIAL = "compact", "serial"
"""How numbers that are dates are written: 20260501120000, or the days of a spreadsheet."""

_COMPACT = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{1,6})|(\d{3}|\d{6}))?)?)?)?(?:\.0*)?", re.ASCII
)
YEARS = (1990, 2100)
"""Years of dates that are written as numbers."""

SPREADSHEET = 25_569
"""Days from the day 0 of spreadsheets to 1970."""


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


class Moments:
    """Reads times as whole microseconds: numbers in units of so many seconds, or ISO 8601, all of one form.

    Times with a zone are counted from 1970 in UTC, and so are those without one, as if their zone was UTC.

    Parameters
    ----------
    unit : Fraction
        Seconds in a unit of numbers.
    written : str
        `COMPACT` or `SERIAL` for numbers that are dates.
    beside : Moments, optional
        Of another column, which must have the same form.
    """

    def __init__(self, unit: Fraction, written: str = "", beside: Moments | None = None) -> None:
        self.unit, self.written = unit, written
        self._forms: list[str] = [""] if beside is None else beside._forms
        is_whole = (unit * MICROSECONDS).denominator == 1 and not written
        self._whole = int(unit * MICROSECONDS) if is_whole else 0

    @property
    def form(self) -> str:
        """Return the form of the times that were read."""
        return self._forms[0]

    def __call__(self, text: str) -> int:
        """Read a time."""
        if self._whole and text.isascii() and text.isdigit() and len(text) < DIGITS:
            value, form = int(text) * self._whole, NUMBERS
            if value >= 2**62:
                ticks(text, self.unit)  # refuses it
        elif is_date(text):
            value, form = _calendar(text)
        elif self.written:
            value, form = _written_date(text, self.written), LOCAL
        else:
            value, form = _number_or_date(text, self.unit), NUMBERS
        if self._forms[0] not in ("", form):
            raise ValueError(f"expected {self._forms[0]}, as in the rows before, got {text[:40]!r}")
        self._forms[0] = form
        return value


def _written_date(text: str, written: str) -> int:
    """Return the microseconds from 1970 to a date that is written as a number; 0 stays 0."""
    number = nonnegative(text)
    if not number:
        return 0
    if written == SERIAL:
        # spreadsheets write 15 digits, so that a time is exact to a millisecond
        return round((number - SPREADSHEET) * 86_400_000) * 1000
    moment = compact_date(text)
    if moment is None:
        raise ValueError(f"expected a date such as 20260501 or 20260501120000, got {text[:40]!r}")
    return (moment - EPOCH) // timedelta(microseconds=1)


def _number_or_date(text: str, unit: Fraction) -> int:
    """Read a time that is no date, so that what is not even a number is told what a date would be."""
    try:
        rational(text)
    except ValueError:
        raise ValueError(f"expected a time such as 2026-05-01T12:00:00Z, or a number, got {text[:40]!r}") from None
    return ticks(text, unit)


def _calendar(text: str) -> tuple[int, str]:
    """Return the microseconds from 1970 to a time of ISO 8601, and its form."""
    try:
        moment = datetime.fromisoformat(text[:-4] + "+00:00" if text.endswith(" UTC") else text)
    except ValueError:
        raise ValueError(f"expected a time such as 2026-05-01T12:00:00Z, got {text[:40]!r}") from None
    form = LOCAL if moment.tzinfo is None else ZONED
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=1), form


ABSENT = frozenset({"", "null", "none", "nan", "nat", "n/a", "na", "-", r"\n", "nil", "unknown", "undefined", "never"})
"""Cells that say that there is no value, in lower case."""


def optional(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Make a reader that turns a cell of `ABSENT` into None."""
    return lambda text: None if text.lower() in ABSENT else read(text)


def one_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """Make a reader of words."""

    def read(text: str) -> Any:
        if text not in values:
            raise ValueError(f"expected one of {', '.join(values)}, got {text!r}")
        return values[text]

    return read


# ---- rows that never ran ---------------------------------------------------------------------------------------------

ORDER = "that end before they start"
"""Why a row is dropped that says that something is wrong with the columns if there are many."""

MANY = 10
"""More such rows than these are too many if they are more than a tenth of all, and any number if it is half of all."""


class NeverRanError(Exception):
    """A row that never ran: why, which column says so, and what was expected there."""

    def __init__(self, reason: str, column: str, problem: str) -> None:
        super().__init__(reason)
        self.reason, self.column, self.problem = reason, column, problem


@dataclass
class Dropped:
    """Rows that never ran, by reason, and the first of them: its line, column and what is wrong."""

    reasons: dict[str, int] = field(default_factory=dict)
    first: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def add(self, line: int, why: NeverRanError) -> None:
        """Count a row."""
        self.reasons[why.reason] = self.reasons.get(why.reason, 0) + 1
        self.first.setdefault(why.reason, (line, why.column, why.problem))

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
        return [f"{number_of(self.total, 'row')} that never ran dropped: {reasons}"]


# ---- files of rows ---------------------------------------------------------------------------------------------------


@contextmanager
def opened(place: Path) -> Iterator[Cells]:
    """Open a table and give its rows with the numbers of their lines; a byte order mark and blank lines are no rows.

    The name of the file tells JSON lines and Parquet; their first row is a header, too. Lines of Parquet are its rows.
    """
    name = place.name.lower().removesuffix(".gz")
    kind = next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), "csv")
    try:
        if kind == "parquet":
            yield _of_parquet(place)
            return
        with open_input(place) as content, _decoded(place, content) as stream:
            if kind == "json":
                yield _of_json_lines(place, _lines(place, stream))
                return
            reader = csv.reader(_lines(place, stream), strict=True)
            yield ((reader.line_num, row) for row in reader if len(row) > 1 or any(cell.strip() for cell in row))
    except (OSError, EOFError) as error:
        raise InputError(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: expected UTF-8 text, found byte {error.object[error.start]:#04x}") from None
    except csv.Error as error:
        raise InputError(f"{place}:{reader.line_num}: expected comma-separated values ({error})") from None


def _decoded(place: Path, content: io.BufferedReader) -> TextIO:
    if place.suffix == ".gz":
        return gzip.open(content, "rt", newline="", encoding="utf-8-sig")
    return io.TextIOWrapper(content, newline="", encoding="utf-8-sig")


def _lines(place: Path, stream: TextIO) -> Iterator[str]:
    """Give the lines of a table within the limits of their number and length."""
    most = _most_lines()
    for number, line in enumerate(iter(partial(stream.readline, LONGEST + 1), ""), 1):
        if len(line) > LONGEST:
            raise TooLargeError(f"{place}:{number}: expected lines of at most {LONGEST:,} characters")
        if number > most:
            raise _too_many(place, most)
        yield line


def _most_lines() -> int:
    text = os.environ.get(LINES) or str(MOST_LINES)
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise InputError(f"{LINES}: expected a whole number of lines, got {text[:60]!r}")
    return int(text)


def _too_many(place: Path, most: int) -> TooLargeError:
    return TooLargeError(
        f"{place}: expected at most {most:,} lines: take a part of it, such as a week, or set {LINES}={10 * most} "
        "in the environment to read ten times as many"
    )


def header(path: str | Path) -> list[str]:
    """Return the cells of the first row of a table, without the space around them; nothing if it is empty."""
    with opened(Path(path)) as table:
        return next(([cell.strip() for cell in row] for _, row in table), [])


def _of_json_lines(place: Path, stream: Iterator[str]) -> Cells:
    """Give JSON lines as rows; objects within objects by names with dots, lists left out."""
    objects = _objects(place, stream)
    first = [one for _, one in zip(range(LOOK), objects, strict=False)]
    names = list(dict.fromkeys(name for _, one in first for name in one))
    if names:
        yield 1, names
    columns = set(names)
    for group in (first, objects):
        for line, one in group:
            if not columns.issuperset(one):
                strange = next(name for name in one if name not in columns)
                fail(place, line, strange, f"expected a field of the first {LOOK:,} lines")
            yield line, [one.get(name, "") for name in names]


def _objects(place: Path, stream: Iterator[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for line, text in enumerate(stream, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
        except (ValueError, RecursionError):
            fail(place, line, "", "expected one JSON object a line")
        if not isinstance(value, dict):
            fail(place, line, "", f"expected one JSON object a line, got {text.strip()[:40]!r}")
        yield line, dict(_flat(value, ""))


def _flat(table: dict[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list):
            yield f"{before}{name}", _text(value)


def _text(value: Any) -> str:
    """Return a number or a word of a record as the text that a CSV has for it."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_parquet(place: Path) -> Cells:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"{place}: Parquet needs pyarrow (pip install 'packproof[parquet]')") from None
    with open_input(place) as content:
        try:
            file = parquet.ParquetFile(content)
            if file.metadata.num_rows > (most := _most_lines()):
                raise _too_many(place, most)
            line = 0
            for batch in file.iter_batches():
                table = arrow.Table.from_batches([batch])
                while any(arrow.types.is_struct(field.type) for field in table.schema):
                    table = table.flatten()
                plain = [field.name for field in table.schema if not arrow.types.is_nested(field.type)]
                for i, field in enumerate(table.schema):
                    if arrow.types.is_timestamp(field.type):
                        # microseconds, as datetime has them
                        micro = arrow.timestamp("us", field.type.tz)
                        table = table.set_column(i, field.name, table.column(i).cast(micro, safe=False))
                    elif arrow.types.is_temporal(field.type):
                        raise InputError(f"{place}: {field.name}: expected a number or text, found {field.type}")
                if line == 0:
                    yield 1, plain
                for row in zip(*(table.column(name).to_pylist() for name in plain), strict=True):
                    line += 1
                    yield line, [_text(value) for value in row]
        except arrow.ArrowException as error:
            raise InputError(f"{place}: expected a Parquet file: {' '.join(str(error).split())[:120]}") from None


# ---- tasks -----------------------------------------------------------------------------------------------------------


@dataclass
class Tasks:
    """Tasks as they are read, before they are arrays; `copies` says how many each row is, unless all are one."""

    path: Path
    resources: tuple[str, ...]
    arrival: list[int] = field(default_factory=list)
    duration: list[int] = field(default_factory=list)
    outcome: list[int] = field(default_factory=list)
    attempt: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    demand: list[tuple[str, ...]] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    numbers: dict[str, Fraction] = field(default_factory=dict)

    def add(
        self, line: int, arrival: int, duration: int, outcome: int, attempt: int, label: int, demand: tuple[str, ...]
    ) -> None:
        """Take a task whose demand has been checked."""
        self.line.append(line)
        self.arrival.append(arrival)
        self.duration.append(duration)
        self.outcome.append(outcome)
        self.attempt.append(attempt)
        self.label.append(label)
        self.demand.append(demand)

    def check_demand(self, line: int, demand: tuple[str, ...]) -> None:
        """Read each new numeral once."""
        for name, text in zip(self.resources, demand, strict=True):
            if text not in self.numbers:
                try:
                    self.numbers[text] = nonnegative(text)
                except ValueError as error:
                    fail(self.path, line, name, str(error))

    def begin_at_first_arrival(self) -> int:
        """Make the first arrival time 0, and return when it was, in microseconds."""
        first = min(self.arrival, default=0)
        self.arrival = [time - first for time in self.arrival]
        return first

    def trace(
        self,
        source: str,
        labels: Sequence[str] = (),
        notes: Sequence[str] = (),
        *,
        lines: bool = True,
        unordered: bool = False,
    ) -> Trace:
        """Sort by arrival and put demands on their largest common unit.

        Tasks of one instant stay in the order of the file. Of an `unordered` table, whose rows may stand in any order,
        they come in that of their types' names and then of what else is known of them, and labels in that of names.
        """
        columns, units = self._demands()
        demand = np.array(columns, np.int64).reshape(len(self.resources), len(self.line)).T
        names = ("arrival", "duration", "outcome", "attempt", "label", *(["line"] if lines else []))
        arrays: dict[str, Any] = {name: np.array(getattr(self, name), np.int64) for name in names}
        if unordered:
            places = np.argsort(np.array(labels, object)) if labels else np.zeros(0, np.int64)
            if labels:
                arrays["label"] = np.argsort(places)[arrays["label"]]
                labels = [labels[i] for i in places]
            keys = (*demand.T, *(arrays[name] for name in ("attempt", "outcome", "duration", "label", "arrival")))
            order = np.lexsort(keys)
        else:
            order = np.argsort(arrays["arrival"], kind="stable")
        if self.copies:  # equal tasks stand together
            order = np.repeat(order, np.array(self.copies, np.int64)[order])
        return Trace(
            resources=self.resources,
            unit=tuple(units),
            demand=np.ascontiguousarray(demand[order]),
            labels=tuple(labels),
            notes=tuple(notes),
            source=source,
            **{name: values[order] for name, values in arrays.items()},
        )

    def _demands(self) -> tuple[list[list[int]], list[Fraction]]:
        """Return the demand of each resource in whole units, and what a unit is."""
        columns, units = [], []
        for r, name in enumerate(self.resources):
            texts = [row[r] for row in self.demand]
            values = {text: self.numbers[text] for text in set(texts)}
            integers, unit = to_integers(list(values.values()))
            multiples = dict(zip(values, integers, strict=True))
            if max(multiples.values(), default=0) >= 2**62:
                raise TooLargeError(f"{self.path}: {name}: expected numbers with fewer digits in all: round them")
            columns.append(list(map(multiples.__getitem__, texts)))
            units.append(unit)
        return columns, units
