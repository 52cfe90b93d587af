"""Tables of tasks: rows of a CSV or its gzip, fields whose errors name file and line, tasks in the making."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from operator import itemgetter
from pathlib import Path
from typing import NoReturn

import numpy as np

from fluid.traces.model import MICROSECONDS, Trace
from fluid.traces.records import kind_of, records
from theory.errors import InputError, TooLargeError
from theory.files.places import open_input
from theory.numbers import rational

LARGEST = 2**63 - 1
"""The largest whole number of a field."""

DIGITS = len(str(LARGEST))


@contextmanager
def opened(place: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Open a table and give its rows with the numbers of their lines; a byte order mark and blank lines are no rows.

    JSON lines and Parquet are told by the name of the file (`fluid.traces.records`); their first row is a header, too.
    """
    kind = kind_of(place)
    try:
        if kind != "csv":
            with records(place, kind) as found:
                yield found
            return
        with (
            open_input(place) as content,
            gzip.open(content, "rt", newline="", encoding="utf-8-sig")
            if place.suffix == ".gz"
            else io.TextIOWrapper(content, newline="", encoding="utf-8-sig") as stream,
        ):
            reader = csv.reader(stream, strict=True)
            yield ((reader.line_num, row) for row in reader if len(row) > 1 or any(cell.strip() for cell in row))
    except (OSError, EOFError) as error:
        raise InputError(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: expected UTF-8 text, found byte {error.object[error.start]:#04x}") from None
    except csv.Error as error:
        raise InputError(f"{place}:{reader.line_num}: expected comma-separated values ({error})") from None


def header(path: str | Path) -> list[str]:
    """Return the cells of the first row of a table, without the space around them; nothing if it is empty."""
    with opened(Path(path)) as table:
        return next(([cell.strip() for cell in row] for _, row in table), [])


def rows(place: Path, names: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield line numbers and the named columns, of which there are at least two.

    Raises
    ------
    InputError
        A column that is missing or stands twice, a row of another length than the header.
    """
    with opened(place) as table:
        first, header = next(table, (1, []))
        header = [cell.strip() for cell in header]
        missing = [name for name in names if name not in header]
        if missing:
            fail(place, first, missing[0], f"expected a column of this name, found {', '.join(header) or 'no columns'}")
        twice = next((name for name in header if header.count(name) > 1), None)
        if twice is not None:
            fail(place, first, twice, f"expected each column once, found {', '.join(header)}")
        chosen, fields = itemgetter(*(header.index(name) for name in names)), len(header)
        for line, row in table:
            if len(row) != fields:
                fail(place, line, "", f"expected {fields} fields, got {len(row)}")
            yield line, chosen(row)


def fail(place: Path, line: int, name: str, problem: str) -> NoReturn:
    """Raise the one error line of a field (empty: of the row)."""
    where = f"{place}:{line}: {name}" if name else f"{place}:{line}"
    raise InputError(f"{where}: {problem}")


def whole(place: Path, line: int, name: str, text: str) -> int:
    """Read a whole number of at least 0 that fits a machine word."""
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS and int(text) <= LARGEST):
        text_found = f"{text[:80]!r}{'' if text else ' (it is empty)'}"
        fail(place, line, name, f"expected a whole number from 0 to {LARGEST}, got {text_found}")
    return int(text)


def nonnegative(place: Path, line: int, name: str, text: str) -> Fraction:
    """Read a number of at least 0 exactly."""
    try:
        value = rational(text)
    except ValueError as error:
        fail(place, line, name, f"expected a number, got {text!r} ({error})")
    if value < 0:
        fail(place, line, name, f"expected a number of at least 0, got {text!r}")
    return value


def ticks(place: Path, line: int, name: str, text: str, unit: Fraction = Fraction(1)) -> int:
    """Read a time, in units of so many seconds, as whole microseconds."""
    value = round(nonnegative(place, line, name, text) * unit * MICROSECONDS)
    if value >= 2**62:
        fail(place, line, name, f"expected a time within 146,000 years, got {text!r}")
    return value


@dataclass
class Tasks:
    """Tasks as they are read, before they are arrays."""

    path: Path
    resources: tuple[str, ...]
    arrival: list[int] = field(default_factory=list)
    duration: list[int] = field(default_factory=list)
    outcome: list[int] = field(default_factory=list)
    attempt: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    demand: list[tuple[str, ...]] = field(default_factory=list)
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
                self.numbers[text] = nonnegative(self.path, line, name, text)

    def trace(self, source: str, labels: Sequence[str] = (), notes: Sequence[str] = (), *, lines: bool = True) -> Trace:
        """Sort by arrival (ties in the order of the file) and put demands on their largest common unit."""
        order = np.argsort(np.array(self.arrival, np.int64), kind="stable")
        columns, units = [], []
        for r in range(len(self.resources)):
            texts = [row[r] for row in self.demand]
            values = {text: self.numbers[text] for text in texts}
            below = lcm(*(v.denominator for v in values.values())) if values else 1
            above = gcd(*(int(v * below) for v in values.values())) if values else 1
            unit = Fraction(above or 1, below)
            multiples = {text: int(v / unit) for text, v in values.items()}
            if max(multiples.values(), default=0) >= 2**62:
                name = self.resources[r]
                raise TooLargeError(f"{self.path}: {name}: expected numbers with fewer digits in all: round them")
            columns.append([multiples[text] for text in texts])
            units.append(unit)
        demand = np.array(columns, np.int64).reshape(len(self.resources), len(order)).T

        def sorted_(column: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return np.array(column, np.int64)[order]

        return Trace(
            self.resources,
            tuple(units),
            sorted_(self.arrival),
            sorted_(self.duration),
            sorted_(self.outcome),
            sorted_(self.attempt),
            np.ascontiguousarray(demand[order]),
            sorted_(self.label),
            tuple(labels),
            tuple(notes),
            sorted_(self.line) if lines else None,
            source,
        )
