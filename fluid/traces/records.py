"""Tables of records that are no CSV: JSON lines, and Parquet where pyarrow is installed. Cells come back as text."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.places import open_input

SUFFIXES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
"""By the end of a name, before ``.gz`` where there is one; everything else is a CSV."""

LOOK = 1000
"""Lines whose fields make the header of JSON lines: a record may leave out what it does not have."""

Rows = Iterator[tuple[int, list[str]]]


def kind_of(place: Path) -> str:
    """Return ``json``, ``parquet`` or ``csv``, by the name of a file."""
    name = place.name.lower().removesuffix(".gz")
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), "csv")


@contextmanager
def records(place: Path, kind: str) -> Iterator[Rows]:
    """Open a table of records and give its rows, a header first; line numbers of Parquet count rows."""
    if kind == "parquet":
        yield _of_parquet(place)
        return
    with (
        open_input(place) as content,
        gzip.open(content, "rt", encoding="utf-8-sig")
        if place.suffix == ".gz"
        else io.TextIOWrapper(content, encoding="utf-8-sig") as stream,
    ):
        yield _of_lines(place, stream)


def _of_lines(place: Path, stream: Any) -> Rows:
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
                raise InputError(f"{place}:{line}: {strange}: expected a field of the first {LOOK:,} lines")
            yield line, [one.get(name, "") for name in names]


def _objects(place: Path, stream: Any) -> Iterator[tuple[int, dict[str, str]]]:
    for line, text in enumerate(stream, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
        except (ValueError, RecursionError):
            raise InputError(f"{place}:{line}: expected one JSON object a line") from None
        if not isinstance(value, dict):
            raise InputError(f"{place}:{line}: expected one JSON object a line, got {text.strip()[:40]!r}")
        yield line, dict(_flat(value, ""))


def _flat(table: dict[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list):
            yield f"{before}{name}", _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_parquet(place: Path) -> Rows:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"{place}: Parquet needs pyarrow (pip install 'packproof[parquet]')") from None
    with open_input(place) as content:
        try:
            file = parquet.ParquetFile(content)
            line = 0
            for batch in file.iter_batches():
                table = arrow.Table.from_batches([batch])
                while any(arrow.types.is_struct(field.type) for field in table.schema):
                    table = table.flatten()
                plain = [field.name for field in table.schema if not arrow.types.is_nested(field.type)]
                for field in table.schema:
                    if arrow.types.is_temporal(field.type):
                        raise InputError(f"{place}: {field.name}: expected a number or text, found {field.type}")
                if line == 0:
                    yield 1, plain
                for row in zip(*(table.column(name).to_pylist() for name in plain), strict=True):
                    line += 1
                    yield line, [_text(value) for value in row]
        except arrow.ArrowException as error:
            raise InputError(f"{place}: expected a Parquet file: {' '.join(str(error).split())[:120]}") from None
