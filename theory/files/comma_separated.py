"""Comma-separated values: the rows of a table, each with the number of its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from theory.errors import InputError
from theory.files.places import read_text


def rows_of_table(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, empty ones too, with the numbers of their lines.

    Raises
    ------
    InputError
        What `theory.files.places.read_text` refuses, and a line that is no row, such as one with a field of more than
        131,072 characters.
    """
    reader = csv.reader(read_text(path).splitlines())
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: expected comma-separated values ({error})") from None
