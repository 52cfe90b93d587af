"""The formats of exports, from their table: what the how-to page on tools of others includes."""

from __future__ import annotations

from pathlib import Path

from bounds.exports.kinds import TABLE
from generate.formats import FOLDER
from generate.text import code, plain, save, table


def write(docs: Path) -> None:
    """Write a row for each format: its tools, what its files state, and the kinds of certificates that it takes."""
    rows = [(code(name), *map(plain, (one.tools, one.states, one.takes()))) for name, one in TABLE.items()]
    save(docs / FOLDER / "exports.md", table(rows, ("format", "tools", "files state", "kinds of certificates")))
