"""Documents of JSON that are lists of objects, which tables are made of: an array, or the list that ``kubectl`` writes.

Tables of JSON have a line an object (`theory.files.open_table`). A document has any lines, so that it is read whole,
and the numbers of its objects stand for lines.
"""

from __future__ import annotations

import gzip
import json
import zlib
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from theory.errors import InputError, TooLargeError
from theory.files.kinds import begins_as_kubernetes
from theory.files.places import open_input, open_regular

LARGEST = 2**28
"""Most bytes of a document, decompressed: objects in memory are some ten times as large."""

LOOK = 4096
"""Bytes that tell whether a file is such a document."""


def document_of(path: str | Path) -> Any | None:
    """Return a document of JSON that is an array of objects, or what kubectl writes; None for every other file.

    Numbers are texts, as in cells of a table.

    Raises
    ------
    InputError
        A document that is not well-formed, or of more than `LARGEST` bytes.
    """
    place = Path(path)
    if not _is_document(place):
        return None
    with open_input(place) as content:
        try:
            text = _decompressed(place, content).read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(place, "", f"cannot be read: {error}") from error
    if len(text) > LARGEST:
        raise TooLargeError(place, "", f"expected a document of at most {LARGEST // 2**20} MiB: take a part of it")
    try:
        return json.loads(text.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str)
    except UnicodeDecodeError as error:
        raise InputError(place, "", f"expected UTF-8 text, found byte {error.object[error.start]:#04x}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{place}:{error.lineno}", "", f"expected a document of JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(place, "", "expected a document of JSON, found one of too many levels") from error


def _decompressed(place: Path, content: BufferedReader) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(content, "rb")) if place.suffix == ".gz" else content


def _is_document(place: Path) -> bool:
    """Return whether a file begins as an array of objects, or as what kubectl writes in JSON."""
    try:
        with open_regular(place) as content:
            begin = _decompressed(place, content).read(LOOK).decode("utf-8-sig", "ignore").lstrip()
    except (OSError, EOFError, zlib.error):
        return False  # told by whoever reads the table
    return (begin[:1] == "[" and begin[1:].lstrip()[:1] == "{") or (begin[:1] == "{" and begins_as_kubernetes(begin))
