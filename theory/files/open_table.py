"""Tables of text: CSV of any usual form, JSON lines and arrays, SWF and Parquet, as a header and rows of cells.

Everything that reads a table uses this reader. The separator and the decimal mark are told from the header and the
first thousand rows, and a note says what was told. A row that is no row of the table is refused by name: one of another
length, a header that stands again, a row of totals. Blank lines are no rows; comments are left out and counted.

`theory.files.separated` and `theory.files.table_records` tell the forms. `theory.files.cells` reads single cells and
whole columns, `theory.files.columns` has the columns of a format.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from theory.errors import InputError
from theory.files.kinds import kind_of_bytes
from theory.files.objects import document_of
from theory.files.places import open_input
from theory.files.separated import separated
from theory.files.table import Table
from theory.files.table_lines import decoded, lines_of
from theory.files.table_records import of_array, of_json_lines, of_parquet, records, table_of_objects

SUFFIXES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
"""Formats by the end of a name, before ``.gz`` where there is one; everything else is a CSV."""


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
            yield records(place, of_parquet(place))
            return
        document = document_of(place) if kind == "json" else None
        if document is not None:
            yield table_of_objects(place, of_array(place, document))
            return
        with open_input(place) as content, decoded(place, content) as stream:
            if kind == "json":
                yield table_of_objects(place, of_json_lines(place, chain.from_iterable(lines_of(place, stream))))
            else:
                yield separated(place, stream, tuple(header))
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
