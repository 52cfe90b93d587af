"""Blocks of plain text: they have the rows, lines, columns and refusals of the reader of rows."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.errors import InputError
from theory.files import separated, table_lines
from theory.files.open_table import opened
from theory.files.plain import WIDEST, plain_block
from theory.files.table import Table

HEADER = ["one", "two", "three"]

FIRST = [["0", "0", "0"]] * 30
"""Rows of the first block, which is never plain."""

PLAIN = st.sampled_from(["1", "22", "x y", "2026-01-05T00:00:02Z", "2026-01-05 00:00", "z" * (WIDEST + 1)])
ODD = st.sampled_from(
    ["", " 1", "2 ", "é", "#", "#c", "total", "Sum", "one", 'a"b', "\x1f3", "a\x0bb", "a\x1cb", "a\nb", "a,b", "\t"]
)
ROWS = st.lists(st.lists(PLAIN, min_size=3, max_size=3) | st.lists(PLAIN | ODD, min_size=3, max_size=3), min_size=3)
ANY_ROWS = st.lists(st.lists(PLAIN | ODD, min_size=1, max_size=4) | st.lists(PLAIN, min_size=3, max_size=3))
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def in_small_blocks(patch: pytest.MonkeyPatch) -> list[bool]:
    """Let blocks have a few rows; return whether each that was tried was plain."""
    found: list[bool] = []

    def noted(*arguments: Any) -> Any:
        block = plain_block(*arguments)
        found.append(block is not None)
        return block

    patch.setattr(table_lines, "CHUNK", 64)
    for name, value in (("BLOCK", 3), ("LOOK", 2), ("MOST_CHUNKS", 2)):
        patch.setattr(separated, name, value)
    patch.setattr(separated, "plain_block", noted)
    return found


def written(rows: list[list[str]], ends: str, last: bool) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator=ends).writerows([HEADER, *FIRST, *rows])
    return stream.getvalue() if last else stream.getvalue().removesuffix(ends)


def read_by(text: str, read: Callable[[Table], Any]) -> Any:
    """Return what is read of a table, its notes, or what it is refused for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.encode())
        try:
            with opened(path) as table:
                return read(table), table.notes
        except InputError as error:
            return str(error).replace(folder, "")


def rows_of(table: Table) -> list[tuple[int, list[str]]]:
    return list(table.rows())


def columns_of(table: Table) -> list[tuple[int, list[str]]]:
    found: list[tuple[int, list[str]]] = []
    for lines, columns in table.columns([2, 0]):
        cells = [[c.decode() if isinstance(c, bytes) else c.strip() for c in column] for column in columns]
        found += zip(lines, map(list, zip(*cells, strict=True)), strict=True)
    return found


@given(ROWS, ENDS, st.booleans())
def test_rows_and_lines_are_those_of_a_reader_of_the_whole_text(rows: list[list[str]], ends: str, last: bool) -> None:
    rows = [row for row in rows if row[0].lower() not in ("total", "sum", "one") and row[0][:1] != "#"]
    text = written(rows, ends, last)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    expected = [(reader.line_num, [cell.strip() for cell in row]) for row in reader][1:]
    expected = [one for one in expected if any(one[1])]
    with pytest.MonkeyPatch.context() as patch:
        in_small_blocks(patch)
        found = read_by(text, rows_of)
        by_column = read_by(text, columns_of)
    if isinstance(found, str):
        assert "totals" in found or any(len(row) != 3 for _, row in expected)
        return
    assert found[0] == expected
    assert by_column[0] == [(line, [row[2], row[0]]) for line, row in expected]


@given(ANY_ROWS, ENDS, st.booleans())
def test_a_table_is_refused_as_without_plain_blocks(rows: list[list[str]], ends: str, last: bool) -> None:
    text = written(rows, ends, last)
    with pytest.MonkeyPatch.context() as patch:
        in_small_blocks(patch)
        found, by_column = read_by(text, rows_of), read_by(text, columns_of)
        patch.setattr(separated, "plain_block", lambda *_: None)
        assert (found, by_column) == (read_by(text, rows_of), read_by(text, columns_of))


LONG, PLAINLY = "z" * (2 * WIDEST), [["1", "2", "3"]] * 3

CASES = {
    "letters beyond ASCII before a long cell": ("", [["é", "é", LONG], ["é", LONG, "4"], ["5", "é", "6"]]),
    "letters beyond ASCII before totals": ("totals", [["éé", "2", "3"], ["total", "", "4"], ["5", "6", "7"]]),
    "a row of blanks": ("", [["1", "2", "3"], ["", "", ""], ["4", "5", "6"]]),
    "rows whose cells even out": ("expected 3 fields, got 2", [["1", "2"], ["1", "2", "3", "4"], ["5", "6", "7"]]),
    "totals of the most letters": ("totals", [*PLAINLY, ["Grand Total", "", "4"], *PLAINLY]),
    "totals of the fewest letters": ("totals", [*PLAINLY, ["sum", "", "4"], *PLAINLY]),
    "the header again": ("its header again", [*PLAINLY, HEADER, *PLAINLY]),
    "a total with every cell in the middle": ("", [*PLAINLY, ["total", "5", "6"], *PLAINLY]),
    "a total with every cell at the end": ("totals", [*PLAINLY, ["tOtal", "5", "6"]]),
    "a short cell behind a long one": ("", [["1", "2", LONG], *PLAINLY]),
}
"""What is said of rows behind the first block (empty: nothing), and these rows."""


@pytest.mark.parametrize(("refusal", "rows"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("signs", [7, 64, 4096])
def test_rows_that_are_seldom_drawn(
    refusal: str, rows: list[list[str]], signs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = written(rows, "\n", last=True)
    in_small_blocks(monkeypatch)
    monkeypatch.setattr(table_lines, "CHUNK", signs)
    found, by_column = read_by(text, rows_of), read_by(text, columns_of)
    assert isinstance(found, str) is bool(refusal)
    assert refusal in str(found)
    monkeypatch.setattr(separated, "plain_block", lambda *_: None)
    assert (found, by_column) == (read_by(text, rows_of), read_by(text, columns_of))


def test_plain_and_quoted_blocks_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[str(i), f'"{i}"' if i % 40 == 35 else "x", "a\nb" if i % 40 == 39 else "y"] for i in range(400)]
    tried = in_small_blocks(monkeypatch)
    found = read_by(written(rows, "\n", last=True), rows_of)
    assert [row for _, row in found[0]] == FIRST + rows
    assert len(tried) > 30
    assert 0.5 < sum(tried) / len(tried) < 1


def test_only_the_first_block_of_a_plain_table_is_read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    even = Table._even

    def noted(self: Table, lines: Any, rows: list[list[str]]) -> Any:
        counts.append(len(rows))
        return even(self, lines, rows)

    monkeypatch.setattr(Table, "_even", noted)
    text = written([[str(i), "x", "y"] for i in range(60_000)], "\n", last=True)
    (found, _) = read_by(text, lambda table: sum(len(lines) for lines, _ in table.columns([1])))
    assert found == 60_030
    assert len(counts) == 1
    assert counts[0] < 40_000


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_long_cell_is_refused_as_the_reader_of_rows_does(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ["1", "2", "3"]
    row[at] = "x" * (csv.field_size_limit() + 1)
    in_small_blocks(monkeypatch)
    text = written([["1", "2", "3"]] * 20 + [row], "\n", last=True)
    assert "field larger than field limit" in read_by(text, rows_of)
