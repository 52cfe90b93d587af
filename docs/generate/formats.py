"""The fields of files, from their records: a table for the page of each format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from typing import Any

from bounds.answers import FILES
from generate.text import code, plain, save, table
from theory.files.forms import Form, fields_of

FOLDER = "_generated/formats"


def write(docs: Path) -> None:
    """Write a table of the fields of each file."""
    for name, file in FILES.items():
        record = file.record()
        if is_dataclass(record):
            head = ("field", "meaning", "expected", "where it is left out")
            save(docs / FOLDER / f"{name}.md", table(rows_of(record), head))


def rows_of(record: type[Any], place: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each field of a record, and for those of the records that it holds."""
    for field in fields_of(record):
        name = f"{place}.{field.name}".lstrip(".")
        left_out = "refused" if field.default is MISSING else code(field.written)
        held_here = list(held_by(field))
        either = [one.EITHER.words for one in held_here if hasattr(one, "EITHER")]
        yield code(name), prose("; ".join([*filter(None, [field.about]), *either])), prose(field.expected()), left_out
        for held in held_here:
            yield from rows_of(held, name)


def prose(text: str) -> str:
    """Return text as Markdown, what stands in backquotes as code."""
    return re.sub(r"\\`(.+?)\\`", lambda found: code(re.sub(r"\\(.)", r"\1", found[1])), plain(text))


def held_by(form: Form) -> Iterator[type[Any]]:
    """Yield the records that a value may be, or hold."""
    for one in form.alternatives or form.entries:
        if one.container and one is not form:
            yield from held_by(one)
        elif is_dataclass(one.kind) and isinstance(one.kind, type):
            yield one.kind
