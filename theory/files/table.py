"""Tables of text: CSV of any usual form, JSON lines and arrays, SWF and Parquet, as a header and rows of cells.

Everything that reads a table uses this reader. The separator and the decimal mark are told from the header and the
first thousand rows, and a note says what was told. A row that is no row of the table is refused by name: one of another
length, a header that stands again, a row of totals. Blank lines are no rows; comments are left out and counted.

`theory.files.cells` reads single cells and whole columns, `theory.files.columns` has the columns of a format.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar, cast

from theory.errors import InputError, TooLargeError
from theory.files.kinds import kind_of_bytes
from theory.files.objects import document_of
from theory.files.places import open_input
from theory.files.plain import Packed, PlainBlock, plain_block
from theory.numbers import many

SUFFIXES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
"""Formats by the end of a name, before ``.gz`` where there is one; everything else is a CSV."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may stand between the cells of a CSV."""

_NO_END = "unexpected end of data"  # what Python's csv says of a quoted cell that goes on to the end of the file

MOST_LINES = 20_000_000
"""Most lines of a table: beyond any that packproof was tried with, and within a few minutes and gigabytes."""

LINES = "PACKPROOF_MOST_LINES"
"""The variable of the environment that sets another limit."""

LONGEST = 1_000_000
"""Most characters of a line: a compressed file of a few kilobytes may hold gigabytes without an end of line."""

CHUNK = 2**18
"""Characters that are read at once; fewer than `LONGEST`."""

LOOK = 1000
"""Rows that tell the form of a table, and the fields of JSON lines: a record may leave out what it does not have."""

BLOCK = 20_000
"""Rows of a block, unless their lines are long."""

MOST_CHUNKS, FEW = 10, 10
"""Chunks of text in a block; lines and rows between two looks at how many have been read."""

TOTALS = frozenset({"total", "totals", "total:", "sum", "sum:", "grand total", "subtotal", "sub-total", "overall"})
"""First words, in lower case, of rows that are sums of other rows."""

_SPELT_TOTALS = {spelt for word in TOTALS for spelt in (word, word.capitalize(), word.title(), word.upper())}
_ODD_SIGNS = frozenset({"#", " ", "\t"})

SWF_FIELDS = 18
"""Numbers in a row of the Standard Workload Format of the Parallel Workloads Archive, with blanks between them."""

DIGITS = 19
"""Digits of the largest whole number of a field."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)

_LINE_ENDS = re.compile(r"\r\n|\r|\n")

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


@contextmanager
def opened(path: str | Path, header: Sequence[str] = ()) -> Iterator[Table]:
    """Open a table; `header` names the columns of one whose first row is no header.

    The name of the file tells JSON lines and Parquet. Lines of Parquet are its rows.

    Raises
    ------
    InputError
        A file that cannot be read, is empty or no text, or whose cells have no one decimal mark.
    """
    place = Path(path)
    name = place.name.lower().removesuffix(".gz")
    kind = next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), "csv")
    try:
        if kind == "parquet":
            yield _records(place, _of_parquet(place))
            return
        document = document_of(place) if kind == "json" else None
        if document is not None:
            yield table_of_objects(place, _of_array(place, document))
            return
        with open_input(place) as content, _decoded(place, content) as stream:
            if kind == "json":
                yield table_of_objects(place, _of_json_lines(place, chain.from_iterable(_lines(place, stream))))
            else:
                yield _csv(place, stream, tuple(header))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(place, "", f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        with open_input(place) as content:
            kind = "" if place.suffix == ".gz" else kind_of_bytes(content.read(16))
        found = kind or f"byte {error.object[error.start]:#04x}"
        raise InputError(place, "", f"expected UTF-8 text, found {found}") from error


def is_table(path: str | Path) -> bool:
    """Return whether a file that may be a document as well is a table, by its name.

    Examples
    --------
    >>> [is_table(name) for name in ("types.csv", "types.CSV.gz", "types.parquet", "types.json", "types.toml")]
    [True, True, True, False, False]
    """
    name = Path(path).name.lower().removesuffix(".gz")
    return name.endswith((".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"))


def header_of_table(path: str | Path) -> list[str]:
    """Return the cells of the first row of a table, without the space around them; nothing if it is empty."""
    with opened(path) as table:
        return list(table.header)


# ---- lines -----------------------------------------------------------------------------------------------------------


def _decoded(place: Path, content: io.BufferedReader) -> TextIO:
    if place.suffix == ".gz":
        return gzip.open(content, "rt", newline="", encoding="utf-8-sig")
    return io.TextIOWrapper(content, newline="", encoding="utf-8-sig")


def _lines(place: Path, stream: TextIO) -> Iterator[list[str]]:
    """Give the lines of a table in lists, within the limits of their number and length."""
    most, count, rest = most_lines(), 0, ""
    while chunk := stream.read(CHUNK):
        if "\0" in chunk:
            raise InputError(place, "", "expected UTF-8 text, found byte 0x00")
        lines = io.StringIO(rest + chunk, newline="").readlines()
        rest = lines.pop()  # it may go on
        if len(lines[0] if lines else rest) > LONGEST:
            raise TooLargeError(f"{place}:{count + 1}", "", f"expected lines of at most {LONGEST:,} characters")
        count += len(lines)
        if count > most:
            raise _too_many(place, most)
        yield lines
    if rest:
        if count == most:
            raise _too_many(place, most)
        yield [rest]


def most_lines() -> int:
    """Return the limit of the number of lines."""
    text = os.environ.get(LINES) or str(MOST_LINES)
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise InputError(LINES, f"expected a whole number of lines, got {text[:60]!r}")
    return int(text)


def _too_many(place: Path, most: int) -> TooLargeError:
    return TooLargeError(
        place,
        "",
        f"expected at most {most:,} lines: take a part of it, such as a week, or set {LINES}={10 * most} "
        "in the environment to read ten times as many",
    )


def _empty(place: Path) -> InputError:
    return InputError(place, "", "expected a table, found an empty file")


# ---- CSV -------------------------------------------------------------------------------------------------------------


def _csv(place: Path, stream: TextIO, names: tuple[str, ...]) -> Table:
    """Tell the form of a CSV from its first lines, and give its rows."""
    lines = _Lines(_lines(place, stream))
    begin = lines.take(LOOK + 1)
    lines.give_back(begin)
    begin = begin[: LOOK + 1]
    if not any(map(str.strip, begin)) and len(begin) <= LOOK:
        raise _empty(place)
    if _is_swf(begin):
        return _swf(place, iter(lines), names)
    sign = _separator(begin)
    notes = [f"cells are separated by {SEPARATORS[sign]}"] if sign != "," else []
    has_comma = sign != "," and _has_decimal_comma(place, _rows_of(begin, sign))
    notes += ["numbers have a decimal comma"] if has_comma else []
    table = Table(place, names, 1, notes)
    comments = _Comments(table)
    blocks: Iterator[Block | PlainBlock] = _numbered(table, lines, sign)
    if not names:
        numbers, rows = cast(Block, next(blocks, ([], [])))
        at = _place_of_header(rows)
        comments.count += sum(any(row) for row in rows[:at])
        for line, row in zip(numbers[at : at + 1], rows[at : at + 1], strict=True):
            table.header, table.first = tuple(_named(row, len(rows) > at + 1)), line
        blocks = chain([(numbers[at + 1 :], rows[at + 1 :])], blocks)
    table.source = comments.without(blocks)
    if has_comma:
        rows_alone = replace(table).blocks()
        table.source = ((lines, [_with_points(row) for row in rows]) for lines, rows in rows_alone)
    return table


def _named(row: Sequence[str], is_followed: bool) -> list[str]:
    """Return the names of a header, which may begin with the sign of comments."""
    names = [cell.strip() for cell in row]
    if is_followed and names and names[0] != "#":
        names[0] = names[0].removeprefix("#").strip()
    return names


def _rows_of(lines: Sequence[str], sign: str) -> list[list[str]]:
    """Return the rows of the first lines of a table, as far as they can be read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell that goes on beyond these lines, or a mistake that is told when rows are read
        rows.extend(row for row in csv.reader(lines, delimiter=sign, strict=True) if any(row))
    return [row for row in rows if len(row) > 1 or not row[0].startswith("#")]


def _separator(lines: Sequence[str]) -> str:
    r"""Return the sign that separates cells: the one by which all rows have as many as the header.

    Examples
    --------
    >>> _separator(["a;b;c", "1,5;2;3"]), _separator(["size", "0,5"]), _separator(["a,b", "1,x|y"])
    (';', ',', ',')
    """
    forms = []
    for sign in SEPARATORS:
        rows = _rows_of(lines, sign)
        width = len(rows[0]) if rows else 1
        if width > 1:
            even = sum(len(row) == width for row in rows) / len(rows)
            forms.append((even == 1, width, sign))
    if not forms:
        return ","
    best = max(forms, key=lambda form: form[:2])
    return best[2]


def _has_decimal_comma(place: Path, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers of a table without commas between cells have decimal commas."""
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    if not commas:
        return False
    point = next((cell for cell in cells if _DECIMAL_POINT.fullmatch(cell)), "")
    if point:
        raise InputError(place, "", f"expected one decimal mark, found {commas[0]} and {point}")
    if all(_THOUSANDS.fullmatch(cell) for cell in commas):
        point, whole = commas[0].replace(",", "."), commas[0].replace(",", "")
        raise InputError(place, "", f"expected decimal points: {commas[0]} may be {point} or {whole}")
    return True


def _with_points(row: list[str]) -> list[str]:
    return [cell.replace(",", ".") if "," in cell and _DECIMAL_COMMA.fullmatch(cell.strip()) else cell for cell in row]


def _place_of_header(rows: Sequence[Sequence[str]]) -> int:
    """Return which of the first rows is the header: the first, but for comments before it."""
    at = next((i for i, row in enumerate(rows) if row and not row[0].startswith("#") and any(map(str.strip, row))), 0)
    before = next((i for i in range(at - 1, -1, -1) if rows[i]), 0) if at else 0
    # a header may begin with the sign of comments, as programs for statistics write it
    is_header = at and len(rows[before]) == len(rows[at]) > 1 and any(cell[:1].isdigit() for cell in rows[at])
    return before if is_header else at


class _Lines:
    """Lines of a table, which are read in chunks: one by one, or those of several chunks at once."""

    def __init__(self, chunks: Iterator[list[str]]) -> None:
        self._chunks = chunks
        self._at_hand: Iterator[str] = iter(())

    def __iter__(self) -> Iterator[str]:
        while True:
            at_hand = self._at_hand
            yield from at_hand
            if self._at_hand is not at_hand:  # lines were put back
                continue
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            self._at_hand = iter(chunk)

    def take(self, most: int) -> list[str]:
        """Return the lines at hand, and those of further chunks until there are so many, or `MOST_CHUNKS` are read.

        At the end of the table, and only there, none is returned.
        """
        taken, count = list(self._at_hand), 0
        while len(taken) < most and (count < MOST_CHUNKS or not taken):
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            taken += chunk
            count += 1
        return taken

    def give_back(self, lines: list[str]) -> None:
        """Put lines back that `take` has returned last."""
        self._at_hand = iter(lines)


def _numbered(table: Table, lines: _Lines, sign: str) -> Iterator[Block | PlainBlock]:
    """Give rows with the numbers of their lines, in blocks; blank lines are rows without cells.

    Blocks are plain where they can be, but for the first one, as long as the header in it is not known.
    """
    reader = csv.reader(lines, delimiter=sign, strict=True)
    plain = 0  # lines that the reader has not seen
    try:
        while True:
            before = plain + reader.line_num
            taken = lines.take(BLOCK)
            block = plain_block(taken, before + 1, sign, len(table.header))
            if block is not None:
                plain += len(taken)
                yield block
                continue
            lines.give_back(taken)
            rows: list[list[str]] = []
            while plain + reader.line_num - before < len(taken) and (part := list(islice(reader, FEW))):
                rows += part
            if not rows:
                return
            if plain + reader.line_num - before == len(rows):
                yield range(before + 1, before + 1 + len(rows)), rows
            else:  # cells with ends of lines in them; a row is where it ends
                numbers, line = [], before
                for row in rows:
                    line += 1 + sum(len(_LINE_ENDS.findall(cell)) for cell in row)
                    numbers.append(line)
                yield numbers, rows
    except csv.Error as error:
        words = "comma-separated values" if sign == "," else f"values with {SEPARATORS[sign]} between them"
        why = 'a cell that begins with " has no " at its end' if str(error) == _NO_END else error
        raise InputError(f"{table.place}:{plain + reader.line_num}", "", f"expected {words} ({why})") from error


def _is_swf(lines: Sequence[str]) -> bool:
    """Return whether the first row that is no comment (``;``) is one of SWF."""
    row = next((line for line in map(str.strip, lines) if line and line[0] != ";"), "").split()
    return len(row) == SWF_FIELDS and all(re.fullmatch(r"-?\d+(\.\d*)?", cell) for cell in row)


def _swf(place: Path, lines: Iterator[str], names: tuple[str, ...]) -> Table:
    """Give the rows of a table with blanks between cells, whose comments begin with a semicolon."""
    table = Table(place, names, 1)
    if not names:
        first = next(line for line in lines if line.strip() and line.lstrip()[0] != ";")
        table.header = tuple(first.split())
        return table

    def blocks() -> Iterator[Block]:
        comments = 0
        numbered = enumerate(lines, 1)
        while part := list(islice(numbered, BLOCK)):
            rows = [(line, text.split()) for line, text in part]
            comments += sum(row[0][0] == ";" for _, row in rows if row)
            rows = [(line, row) for line, row in rows if row and row[0][0] != ";"]
            yield [line for line, _ in rows], [row for _, row in rows]
        if comments:
            table.notes.append(f"{many(comments, 'comment')} left out (lines with ;)")

    table.source = blocks()
    return table


class _Comments:
    """Takes out of rows what are none, blank lines and comments, and refuses totals and headers that stand again."""

    def __init__(self, table: Table) -> None:
        self.table, self.count = table, 0
        self._may_begin: bool | None = None  # whether rows may begin with the sign of comments

    def without(self, blocks: Iterator[Block | PlainBlock]) -> Iterator[Block | PlainBlock]:
        """Give the rows that are rows; once all are read, comments are counted in a note of the table."""
        last: tuple[int, list[str]] = (0, [])
        for block in blocks:
            if isinstance(block, PlainBlock) and not self._has_odd(block):
                last = block.lines[-1], block.last
                yield block
                continue
            lines, rows = self._rows(*((block.lines, block.rows) if isinstance(block, PlainBlock) else block))
            if rows:
                last = lines[-1], rows[-1]
                yield lines, rows
        if _is_total(last[1]):
            self._refuse_total(*last)
        if self.count:
            self.table.notes.append(f"{many(self.count, 'comment')} left out (lines with #)")

    def _has_odd(self, block: PlainBlock) -> bool:
        """Return whether a row of plain text may be none: one that begins as a total or as the header does."""
        self._may_begin = bool(self._may_begin)  # no cell of plain text begins with the sign of comments
        return block.begins_with({*_SPELT_TOTALS, *self.table.header[:1]})

    def _rows(self, lines: Sequence[int], rows: list[list[str]]) -> Block:
        """Return what is left of a block; only rows with an odd first cell are looked at one by one."""
        if not all(rows):  # blank lines
            pairs = [(line, row) for line, row in zip(lines, rows, strict=True) if row]
            lines, rows = [line for line, _ in pairs], [row for _, row in pairs]
        header = self.table.header
        if self._may_begin is None and rows:
            self._may_begin = rows[0][0].startswith("#") and len(rows[0]) == len(header)
        begins = {row[0] for row in rows}
        odd = begins & {"", *_SPELT_TOTALS, *header[:1]} | {cell for cell in begins if cell[:1] in _ODD_SIGNS}
        if odd:
            pairs = [one for one in zip(lines, rows, strict=True) if one[1][0] not in odd or self._is_row(*one)]
            lines, rows = [line for line, _ in pairs], [row for _, row in pairs]
        return lines, rows

    def _is_row(self, line: int, row: list[str]) -> bool:
        """Return whether a row with an odd first cell is one."""
        header = self.table.header
        cells = [cell.strip() for cell in row]
        if cells[0].startswith("#"):
            if len(row) != len(header) or len(row) == 1:
                self.count += 1
                return False
            if not self._may_begin:
                problem = f"expected a row, or a comment of another length, got {cells[0][:40]!r}"
                self.table.fail(line, header[0], problem)
        if len(cells) > 1 and tuple(cells) == header:
            self.table.fail(line, "", "expected a row of the table, found its header again")
        if _is_total(row) and "" in cells:
            self._refuse_total(line, row)
        return any(cells)

    def _refuse_total(self, line: int, row: Sequence[str]) -> NoReturn:
        word = next(cell.strip() for cell in row if cell.strip())
        self.table.fail(line, "", f"expected a row of the table, found a row of totals ({word[:40]})")


def _is_total(row: Sequence[str]) -> bool:
    word = next((cell.strip() for cell in row if cell.strip()), "")
    return len(row) > 1 and word.lower() in TOTALS


# ---- records ---------------------------------------------------------------------------------------------------------


def _records(place: Path, rows: Iterator[tuple[int, list[str]]]) -> Table:
    """Make a table of rows of which the first is the header."""
    first, header = next(rows, (0, []))
    if not first:
        raise _empty(place)
    return Table(place, tuple(cell.strip() for cell in header), first, [], _in_blocks(rows))


def _in_blocks(rows: Iterator[tuple[int, list[str]]]) -> Iterator[Block]:
    while part := list(islice(rows, BLOCK)):
        yield [line for line, _ in part], [row for _, row in part]


def table_of_objects(place: Path, objects: Iterator[tuple[int, dict[str, str]]]) -> Table:
    """Make a table of objects, each with the number of its line; the first of them have all names of columns."""
    return _records(place, _rows_of_objects(place, objects))


def _rows_of_objects(place: Path, objects: Iterator[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, list[str]]]:
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


def _of_array(place: Path, document: Any) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the objects of an array, which is a table as JSON lines are."""
    if not isinstance(document, list):
        raise InputError(place, "", "expected an array of objects, or one JSON object a line")
    for number, value in enumerate(document, 1):
        if not isinstance(value, dict):
            fail(place, number, "", f"expected one JSON object an entry, got {value!r:.40}")
        yield number, dict(_flat(value, ""))


def _of_json_lines(place: Path, stream: Iterator[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the objects of JSON lines; objects within objects by names with dots, lists left out."""
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
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_parquet(place: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(place, "", "Parquet needs pyarrow (pip install 'packproof[parquet]')") from error
    with open_input(place) as content:
        try:
            file = parquet.ParquetFile(content)
            if file.metadata.num_rows > (most := most_lines()):
                raise _too_many(place, most)
            line = 0
            for batch in file.iter_batches():
                table = _flat_arrow(place, arrow.Table.from_batches([batch]))
                if line == 0:
                    yield 1, table.column_names
                for row in zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True):
                    line += 1
                    yield line, [_text(value) for value in row]
        except arrow.ArrowException as error:
            raise InputError(place, "", f"expected a Parquet file: {' '.join(str(error).split())[:120]}") from error


def _flat_arrow(place: Path, table: Any) -> Any:
    """Return the plain columns of a table of Arrow, of records by names with dots; moments as microseconds."""
    import pyarrow as arrow

    while any(arrow.types.is_struct(one.type) for one in table.schema):
        table = table.flatten()
    for i, one in enumerate(table.schema):
        if arrow.types.is_timestamp(one.type):
            # microseconds, as datetime has them
            table = table.set_column(i, one.name, table.column(i).cast(arrow.timestamp("us", one.type.tz), safe=False))
        elif arrow.types.is_temporal(one.type):
            raise InputError(place, one.name, f"expected a number or text, found {one.type}")
    return table.select([one.name for one in table.schema if not arrow.types.is_nested(one.type)])
