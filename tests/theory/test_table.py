"""Tables: one reader for every form of a file, and one for a cell that the reader of whole columns agrees with."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.errors import InputError, TooLargeError
from theory.files import cells as exact
from theory.files.cells import COMPACT, NUMBERS, SERIAL
from theory.files.columns import ColumnCells, dates, decimals, pack, scaled
from theory.files.formats import AMOUNT, DURATION, MOMENT, WHOLE, Column, Format, Records, Times, absent
from theory.files.open_table import header_of_table, opened
from theory.files.separated import TOTALS
from theory.files.table import BLOCK, LOOK
from theory.files.table_lines import LINES

ROWS = [["a", "0", "1.5"], ["b c", "20", "2"], ["é", "300", ".25"]]
HEADER = ["name", "start (s)", "cpu"]


def read(
    path: Path, content: str | bytes, header: tuple[str, ...] = ()
) -> tuple[list[str], list[list[str]], list[str]]:
    """Write a file and return its header, its rows and its notes."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with opened(path, header) as table:
        rows = [row for _, row in table.rows()]
        return list(table.header), rows, table.notes


def lines_of(path: Path, content: str) -> list[int]:
    path.write_text(content, newline="")
    with opened(path) as table:
        return [line for line, _ in table.rows()]


def in_csv(rows: list[list[str]], sign: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=sign, lineterminator="\n").writerows(rows)
    return stream.getvalue()


# ---- forms of files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("comma", [False, True])
def test_separators_and_decimal_marks_are_told_and_said(sign: str, comma: bool, tmp_path: Path) -> None:
    rows = [[cell.replace(".", ",") if comma else cell for cell in row] for row in ROWS]
    if comma and sign == ",":
        return
    header, found, notes = read(tmp_path / "t.csv", in_csv([HEADER, *rows], sign))
    assert (header, found) == (HEADER, ROWS)
    names = {";": "semicolons", "\t": "tabs", "|": "bars"}
    expected = [f"cells are separated by {names[sign]}"] if sign in names else []
    assert notes == expected + ["numbers have a decimal comma"] * comma


def test_a_sign_in_some_cells_separates_none(tmp_path: Path) -> None:
    header, rows, notes = read(tmp_path / "t.csv", "a,b (x|y|z)\n1,u|v\n2,w\n")
    assert (header, rows, notes) == (["a", "b (x|y|z)"], [["1", "u|v"], ["2", "w"]], [])


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.ndjson.gz", "t.json", "t.parquet"])
def test_one_table_in_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".parquet"):
        if find_spec("pyarrow") is None:
            pytest.skip("without pyarrow")
        import pyarrow as arrow
        from pyarrow import parquet

        parquet.write_table(arrow.table({h: [row[i] for row in ROWS] for i, h in enumerate(HEADER)}), path)
        content = path.read_bytes()
    else:
        records = "\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in ROWS)
        content = (records if "json" in name else in_csv([HEADER, *ROWS])).encode()
        content = gzip.compress(content) if name.endswith(".gz") else content
    assert read(path, content) == (HEADER, ROWS, [])
    assert header_of_table(path) == HEADER


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_through_quotations_blanks_and_blocks(ends: str, tmp_path: Path) -> None:
    text = 'a,b\n1,x\n\n"2","y\nz"\n3,"w\n\n"\n , \n4,v\n'.replace("\n", ends)
    assert lines_of(tmp_path / "t.csv", text) == [2, 5, 8, 10]
    many = "a,b\n" + "".join(f"{i},x\n" for i in range(2 * BLOCK + 3))
    assert lines_of(tmp_path / "t.csv", many) == list(range(2, 2 * BLOCK + 5))
    quoted = "a,b\n" + "".join(f'{i},"x\n"\n' for i in range(BLOCK + 3))
    assert lines_of(tmp_path / "t.csv", quoted) == list(range(3, 2 * BLOCK + 9, 2))


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5), min_size=2, max_size=2)
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_cells_are_read_as_they_were_written(rows: list[list[str]], ends: str) -> None:
    import tempfile

    written = [["one", "two"], *rows]
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator=ends).writerows(written)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        words = {cell.strip().lower() for row in rows for cell in row}
        if words & TOTALS or any(cell.startswith("#") for cell in words) or ["one", "two"] in rows:
            return
        _, found, _ = read(path, stream.getvalue())
    assert found == [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]


def test_comments_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    plain = read(path, "a,b\n1,2\n3,4\n")
    header, rows, notes = read(path, "# made by hand\n\n#, as all\na,b\n1,2\n#\n# the end, of it, all\n3,4\n")
    assert (header, rows) == plain[:2]
    assert notes == ["4 comments left out (lines with #)"]
    assert read(path, "#a,b\n1,2\n3,4\n") == plain, "a header may begin so"
    assert read(path, "#,b\n1,2\n")[0] == ["#", "b"]
    assert read(path, "id,b\n#1,2\n#2,4\n")[1] == [["#1", "2"], ["#2", "4"]], "and so may all rows"
    with pytest.raises(InputError, match=r"t\.csv:3: a: expected a row, or a comment of another length, got '#3'"):
        read(path, "a,b\n1,2\n#3,4\n")
    assert read(path, "# sizes\n0.5\n# more\n0.25\n", ("size",))[1] == [["0.5"], ["0.25"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\n \n", ": expected a table, found an empty file"),
        ("a,b\n1,2\na,b\n3,4\n", ":3: expected a row of the table, found its header again"),
        ("a,b\n1,2\nTOTAL,\n3,4\n", ":3: expected a row of the table, found a row of totals (TOTAL)"),
        ("a,b,c\n1,2,3\n,Total,3\n", ":3: expected a row of the table, found a row of totals (Total)"),
        ("a,b\n1,2\nSum,2\n", ":3: expected a row of the table, found a row of totals (Sum)"),
        ("a,b\n1,2,3\n", ":2: expected 2 fields, got 3"),
        ("a;b\n1,5;2.5\n", ": expected one decimal mark, found 1,5 and 2.5"),
        ("a;b\n1,500;2\n", ": expected decimal points: 1,500 may be 1.500 or 1500"),
        ('a;b\n1;"2\n', ':2: expected values with semicolons between them (a cell that begins with " has no'),
        ('a,b\n1,"2"3\n', ":2: expected comma-separated values"),
        ("a,b\n1,\0\n", ": expected UTF-8 text, found byte 0x00"),
        (b"a,b\n1,\xff\n", ": expected UTF-8 text, found byte 0xff"),
        (b"\x89PNG\xff", ": expected UTF-8 text, found a picture (PNG)"),
    ],
)
def test_what_is_no_table_is_refused_by_name(content: str | bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with pytest.raises(InputError) as caught:
        read(path, content)
    assert str(caught.value).startswith(f"{path}{words}")


def test_a_row_that_is_called_total_and_has_every_cell_is_a_row(tmp_path: Path) -> None:
    assert len(read(tmp_path / "t.csv", "a,b\ntotal,2\nx,4\n")[1]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("row", [LOOK - 1, LOOK + 5, BLOCK + 5])
def test_a_row_far_down_is_looked_at_like_the_first(row: int, tmp_path: Path) -> None:
    for bad, words in (("a,b", "its header again"), ("1", "expected 2 fields"), ("TOTAL,", "totals")):
        rows = [f"{i},x" for i in range(BLOCK + 10)]
        rows[row] = bad
        with pytest.raises(InputError, match=rf":{row + 2}: .*{words}"):
            read(tmp_path / "t.csv", "\n".join(["a,b", *rows]))


def test_a_table_has_a_limit_of_lines_and_of_their_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LINES, "3")
    assert len(read(tmp_path / "t.csv", "a,b\n1,2\n3,4")[1]) == 2
    with pytest.raises(TooLargeError, match="expected at most 3 lines"):
        read(tmp_path / "t.csv", "a,b\n1,2\n3,4\n5,6")
    with pytest.raises(TooLargeError, match=r":2: expected lines of at most 1,000,000 characters"):
        read(tmp_path / "t.csv", "a,b\n" + "x" * 1_000_001)


@pytest.mark.slow
def test_long_lines_are_read_in_part(tmp_path: Path) -> None:
    """A compressed file of a few kilobytes may hold gigabytes: 100 lines of 900,000 characters are in blocks."""
    path = tmp_path / "t.csv.gz"
    cells = ",".join(["x" * 90_000] * 10)
    path.write_bytes(gzip.compress("\n".join(["a,b,c,d,e,f,g,h,i,j", *[cells] * 100]).encode(), 1))
    tracemalloc.start()
    try:
        with opened(path) as table:
            assert sum(len(rows) for _, rows in table.blocks()) == 100
        assert tracemalloc.get_traced_memory()[1] < 120_000_000
    finally:
        tracemalloc.stop()


# ---- whole columns ---------------------------------------------------------------------------------------------------

NUMERALS = st.one_of(
    st.integers(0, 10**20).map(str),
    st.tuples(st.integers(0, 10**12), st.integers(0, 10**9)).map(lambda pair: f"{pair[0]}.{pair[1]}"),
    st.decimals(0, 10**6, places=7).map(str),
    st.sampled_from(
        ["0", "00", "5.", ".5", ".", "", "1e3", "1/3", "-1", "+2", "1_000", "1.2.3", "x", "inf", "0.0000005"]
    ),
    st.sampled_from(["0.5e-6", "0.0000015", "2.5", "4611686018427387904", "9999999999999999999", "١"]),
)
UNITS = st.sampled_from([Fraction(1), Fraction(1, 10**9), Fraction(1, 10**3), Fraction(604800), Fraction(1, 3)])
MOMENTS = st.datetimes(datetime(1700, 1, 1), datetime(2300, 1, 1))
STYLES = st.sampled_from(
    ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S,%f", "%Y%m%dT%H%M%S",
     "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%f+07:00", "%Y-%m-%d %H:%M-0730", "%Y-%m-%d %H:%M:%S.%f UTC",
     "%Y-%m-31", "%Y-02-29T00:00:00Z", "%Y-%m-%dT24:00:00", "%Y-13-01", "%Y-%m-%dT%H:%M:60", "%Y-%m-%dZ", "%Y-%m"]
)  # fmt: skip
DATES = st.tuples(MOMENTS, STYLES).map(lambda pair: pair[0].strftime(pair[1]))
NUMBERED = st.tuples(st.datetimes(datetime(1980, 1, 1), datetime(2110, 1, 1)), st.sampled_from(
    ["%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%Y%m%d%H%M%S.%f", "%Y%m%d%H%M%S%f", "%Y%m31", "%Y1301"]
)).map(lambda pair: pair[0].strftime(pair[1]))  # fmt: skip


def outcome(read_cell: Callable[[str], Any], text: str) -> Any:
    try:
        return read_cell(text)
    except ValueError as error:
        return str(error)


@given(st.lists(NUMERALS, min_size=1), UNITS)
def test_numbers_of_a_column_are_those_of_its_cells(texts: list[str], unit: Fraction) -> None:
    packed = pack(texts)
    if packed is None:
        return
    values, known = scaled(decimals(packed), unit * 10**6)
    for text, value, is_known in zip(texts, values.tolist(), known.tolist(), strict=True):
        assert not is_known or value == exact.ticks(text, unit), text
        assert is_known or not re.fullmatch(r"\d{1,6}(\.\d{1,4})?", text, re.ASCII), "usual numbers are read together"


def test_numbers_that_are_too_long_to_read_together_are_left_to_the_reader_of_cells() -> None:
    texts = ["4611686018427387903", "4611686018427387904", "18446744073709551617", "0.00000000000000000001"]
    packed = pack(texts)
    assert packed is not None
    assert decimals(packed).known.tolist() == [True, False, False, False], "64 bits would wrap round to 1"


@given(st.lists(DATES, min_size=1))
def test_dates_of_a_column_are_those_of_its_cells(texts: list[str]) -> None:
    packed = pack(texts)
    assert packed is not None
    values, zoned, known = dates(packed)
    for text, value, zone, is_known in zip(texts, values.tolist(), zoned.tolist(), known.tolist(), strict=True):
        form = exact.ZONED if zone else exact.LOCAL
        found = outcome(exact.moment, text)
        assert not is_known or found == (value, form), text
        usual = re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{6})?Z?)?", text)
        assert is_known or not usual or isinstance(found, str), "usual dates are read together"


@given(st.lists(st.one_of(NUMBERED, NUMERALS), min_size=1), st.sampled_from([COMPACT, SERIAL]))
def test_numbers_that_are_dates(texts: list[str], written: str) -> None:
    check(texts, Times(written, exact.LOCAL), Fraction(1))


@given(st.lists(NUMERALS, min_size=1), UNITS)
def test_a_column_of_times_is_read_as_cell_by_cell(texts: list[str], unit: Fraction) -> None:
    check(texts, Times("", NUMBERS), unit)


def check(texts: list[str], times: Times, unit: Fraction) -> None:
    """Compare a column with its cells: the values, or the message of a cell that is refused."""
    expected = [outcome(lambda text: exact.moment(text, unit, times.written), text) for text in texts]
    expected = [one if isinstance(one, str) or one[1] == times.form else "another form" for one in expected]
    columns = records_of(texts, MOMENT)
    rows = columns.rows
    if any(isinstance(one, str) for one in expected):
        with pytest.raises(InputError, match="expected"):
            times.read(columns, "x", rows, unit)
        rows = np.array([not isinstance(one, str) for one in expected])
    found = times.read(columns, "x", rows, unit).tolist()
    assert found == [0 if isinstance(one, str) else one[0] for one in expected], "rows left out are not read"


def records_of(texts: list[str], quantity: str = AMOUNT) -> Records:
    cells = ColumnCells()
    cells.add(texts[:3])
    cells.add(texts[3:])
    column = Column("x", quantity)
    lines, rows = np.arange(2, len(texts) + 2), np.ones(len(texts), bool)
    return Records(Path("t.csv"), ("x",), 1, lines, {"x": column}, {"x": "x"}, {"x": cells}, rows)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["a", "b", " b", "", "ü", "z" * 70]) | st.text(max_size=3), min_size=1), st.data())
def test_distinct_cells_come_in_the_order_of_their_first_rows(texts: list[str], data: st.DataObject) -> None:
    texts = [text.replace("\0", "") for text in texts] * data.draw(st.integers(1, 4))
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), bool)
    columns = records_of(texts)
    columns.rows = rows
    found, codes = columns.words("x", str)
    stripped = [text.strip() for text in texts]
    assert [columns.text("x", i) for i in range(len(texts))] == stripped
    chosen = [text for text, is_chosen in zip(stripped, rows, strict=True) if is_chosen]
    assert found == list(dict.fromkeys(chosen))
    assert [found[i] if i >= 0 else None for i in codes.tolist()] == [
        text if is_chosen else None for text, is_chosen in zip(stripped, rows, strict=True)
    ]
    for most in (1, 2, 4):
        assert columns.cells["x"].first(most) == list(dict.fromkeys(stripped))[:most]
    is_b = columns.cells["x"].where(lambda text: text == "b", rows)
    assert is_b.tolist() == [text == "b" and bool(one) for text, one in zip(stripped, rows, strict=True)]


@given(st.lists(st.decimals(0, 1000, places=3).map(str) | st.integers(0, 99).map(str), min_size=1), UNITS)
def test_amounts_are_whole_numbers_of_their_largest_unit(texts: list[str], factor: Fraction) -> None:
    texts = [*texts, *(f"{i}.5" for i in range(70))] if len(texts) % 2 else texts
    found, unit = records_of(texts).amounts("x", lambda text: exact.nonnegative(text) * factor)
    assert [n * unit for n in found.tolist()] == [Fraction(text) * factor for text in texts]
    assert np.gcd.reduce(found) in (0, 1)


@given(st.lists(st.sampled_from(["a", "b", "", "ü", " a", "c" * 70]) | st.integers(0, 30).map(str)))
def test_cells_that_repeat_are_counted(texts: list[str]) -> None:
    found = [text.strip() for text in texts if text.strip() not in ("", "b")]
    cells = records_of(texts).cells["x"]
    assert cells.repeated(lambda text: text in ("", "b")) == len(found) - len(set(found))


def test_an_amount_that_is_refused_names_its_row() -> None:
    columns = records_of([*(f"{i}.5" for i in range(70)), "x", "x"])
    with pytest.raises(InputError, match=r"^t\.csv:72: x: expected a number, got 'x'"):
        columns.amounts("x", exact.nonnegative)
    columns.rows = np.arange(72) < 70
    columns.amounts("x", exact.nonnegative)
    with pytest.raises(TooLargeError, match="fewer digits"):
        records_of(["1e30", "1e-30"]).amounts("x", exact.nonnegative)


def test_the_first_row_tells_the_form_of_times() -> None:
    day = datetime(2026, 5, 1, tzinfo=UTC)
    texts = [(day + timedelta(seconds=i)).strftime("%Y-%m-%dT%H:%M:%SZ") for i in range(50)]
    found = records_of(texts, MOMENT)
    assert np.diff(found["x"]).tolist() == [10**6] * 49
    assert found.times.form == exact.ZONED
    with pytest.raises(InputError, match=r"^t\.csv:3: x: expected a time with a zone, as in the rows before, got '5'"):
        records_of([texts[0], "5"], MOMENT)["x"]
    with pytest.raises(InputError, match=r"^t\.csv:3: x: expected a time with a zone"):
        records_of([texts[0], texts[1][:-1]], MOMENT)["x"]


FORMAT = Format(
    "a table of a test",
    (Column("id", WHOLE, ("number",)), Column("stay", DURATION, unit=Fraction(1, 1000)), Column("word")),
    needed=("number", "stay"),
    drop={"without a word": absent("word")},
    derive={"twice": lambda found: 2 * found["id"]},
)


def test_a_format_is_read_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("other,stay,number,word\nx,2,1,a\n\ny,?,3,\nz,0.5,4,b\n")
    found = FORMAT.read(path)
    assert FORMAT.tells(header_of_table(path))
    assert not FORMAT.tells(["number"])
    with pytest.raises(InputError, match=r"t\.csv:4: stay: expected a number, got '\?'"):
        found["stay"]
    assert found.leave_out(FORMAT.drop) == {"without a word": 1}
    assert found["stay"].tolist() == [2000, 0, 500], "a row that is left out is not read"
    assert (found.lines.tolist(), found["id"].tolist()) == ([2, 4, 5], [1, 0, 4])
    assert found["twice"].tolist() == [2, 0, 8]
    with pytest.raises(InputError, match=r"t\.csv:2: number: no"):
        found.fail(0, "id", "no")
    path.write_text("number,stay\n1,2\n")
    with pytest.raises(InputError, match=r":1: word: expected a column of this name, found number, stay"):
        FORMAT.read(path)


def test_rows_are_dropped_and_counted_by_reason() -> None:
    found = records_of(["a", "b", "c", "d"])
    found.drop(np.array([False, True, False, False]), "of the second kind", "x", "no second kind")
    found.drop(
        np.array([True, True, False, False]), "of the first kind", "x", lambda row: f"not {found.text('x', row)}"
    )
    assert found.dropped.notes == ["2 rows that never ran dropped: 1 of the first kind, 1 of the second kind"]
    assert found.rows.tolist() == [False, False, True, True]
    with pytest.raises(InputError, match=r"^t\.csv:2: x: not a$"):
        found.dropped.refuse_many(Path("t.csv"), 2, strict=True)
    found.dropped.refuse_many(Path("t.csv"), 2, strict=False)
