"""The lines of a text, decoded, in chunks within the limits of their number and length."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from theory.errors import InputError, TooLargeError

MOST_LINES = 20_000_000
"""Most lines of a table: beyond any that packproof was tried with, and within a few minutes and gigabytes."""

LINES = "PACKPROOF_MOST_LINES"
"""The variable of the environment that sets another limit."""

LONGEST = 1_000_000
"""Most characters of a line: a compressed file of a few kilobytes may hold gigabytes without an end of line."""

CHUNK = 2**18
"""Characters that are read at once; fewer than `LONGEST`."""

DIGITS = 19
"""Digits of the largest whole number of a field."""


def decoded(place: Path, content: io.BufferedReader) -> TextIO:
    """Return the text of a file, which may be compressed; ends of lines stay as they are."""
    if place.suffix == ".gz":
        return gzip.open(content, "rt", newline="", encoding="utf-8-sig")
    return io.TextIOWrapper(content, newline="", encoding="utf-8-sig")


def lines_of(place: Path, stream: TextIO) -> Iterator[list[str]]:
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
            raise too_many(place, most)
        yield lines
    if rest:
        if count == most:
            raise too_many(place, most)
        yield [rest]


def most_lines() -> int:
    """Return the limit of the number of lines."""
    text = os.environ.get(LINES) or str(MOST_LINES)
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise InputError(LINES, f"expected a whole number of lines, got {text[:60]!r}")
    return int(text)


def too_many(place: Path, most: int) -> TooLargeError:
    """Return the refusal of a table of more than so many lines."""
    return TooLargeError(
        place,
        "",
        f"expected at most {most:,} lines: take a part of it, such as a week, or set {LINES}={10 * most} "
        "in the environment to read ten times as many",
    )


def empty(place: Path) -> InputError:
    """Return the refusal of a file without a row."""
    return InputError(place, "", "expected a table, found an empty file")
