"""Records as a table: objects of JSON, in lines or in an array, and the rows of Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.places import open_input
from theory.files.table import BLOCK, LOOK, Block, Table, fail
from theory.files.table_lines import empty, most_lines, too_many


def records(place: Path, rows: Iterator[tuple[int, list[str]]]) -> Table:
    """Make a table of rows of which the first is the header."""
    first, header = next(rows, (0, []))
    if not first:
        raise empty(place)
    return Table(place, tuple(cell.strip() for cell in header), first, [], _in_blocks(rows))


def _in_blocks(rows: Iterator[tuple[int, list[str]]]) -> Iterator[Block]:
    while part := list(islice(rows, BLOCK)):
        yield [line for line, _ in part], [row for _, row in part]


def table_of_objects(place: Path, objects: Iterator[tuple[int, dict[str, str]]]) -> Table:
    """Make a table of objects, each with the number of its line; the first of them have all names of columns."""
    return records(place, _rows_of_objects(place, objects))


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


def of_array(place: Path, document: Any) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the objects of an array, which is a table as JSON lines are."""
    if not isinstance(document, list):
        raise InputError(place, "", "expected an array of objects, or one JSON object a line")
    for number, value in enumerate(document, 1):
        if not isinstance(value, dict):
            fail(place, number, "", f"expected one JSON object an entry, got {value!r:.40}")
        yield number, dict(_flat(value, ""))


def of_json_lines(place: Path, stream: Iterator[str]) -> Iterator[tuple[int, dict[str, str]]]:
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


def of_parquet(place: Path) -> Iterator[tuple[int, list[str]]]:
    """Give the names of the columns of a file of Parquet, and its rows by number."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(place, "", "Parquet needs pyarrow (pip install 'packproof[parquet]')") from error
    with open_input(place) as content:
        try:
            file = parquet.ParquetFile(content)
            if file.metadata.num_rows > (most := most_lines()):
                raise too_many(place, most)
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
