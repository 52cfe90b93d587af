"""Values with separators between them, a CSV of any usual form, and the Standard Workload Format, as a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn, TextIO, cast

from theory.errors import InputError
from theory.files.plain import PlainBlock, plain_block
from theory.files.table import BLOCK, LOOK, Block, Table
from theory.files.table_lines import empty, lines_of
from theory.numbers import many

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may stand between the cells of a CSV."""

_NO_END = "unexpected end of data"  # what Python's csv says of a quoted cell that goes on to the end of the file

MOST_CHUNKS, FEW = 10, 10
"""Chunks of text in a block; lines and rows between two looks at how many have been read."""

TOTALS = frozenset({"total", "totals", "total:", "sum", "sum:", "grand total", "subtotal", "sub-total", "overall"})
"""First words, in lower case, of rows that are sums of other rows."""

_SPELT_TOTALS = {spelt for word in TOTALS for spelt in (word, word.capitalize(), word.title(), word.upper())}
_ODD_SIGNS = frozenset({"#", " ", "\t"})

SWF_FIELDS = 18
"""Numbers in a row of the Standard Workload Format of the Parallel Workloads Archive, with blanks between them."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)

_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def separated(place: Path, stream: TextIO, names: tuple[str, ...]) -> Table:
    """Tell the form of a CSV from its first lines, and give its rows."""
    lines = _Lines(lines_of(place, stream))
    begin = lines.take(LOOK + 1)
    lines.give_back(begin)
    begin = begin[: LOOK + 1]
    if not any(map(str.strip, begin)) and len(begin) <= LOOK:
        raise empty(place)
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
