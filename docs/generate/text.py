"""Markdown by parts: escaped text, tables of lists, files that are written only when they change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def plain(text: str) -> str:
    """Return text as Markdown that shows exactly that text."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$~:@&^%=\"'])", r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Return text as inline code."""
    return f"`{text}`" if text else ""


def table(rows: Iterable[Sequence[str]], head: Sequence[str] | None = None, kind: str = "") -> str:
    """Return a ``list-table`` of cells that are Markdown; without `head` it has no line of headings."""
    options = [*(["header-rows: 1"] if head else []), *([f"class: {kind}"] if kind else [])]
    lines = ["````{list-table}", *(f":{option}" for option in options), ""]
    for row in [*([head] if head else []), *rows]:
        for number, cell in enumerate(row):
            lines.append(f"{'* -' if number == 0 else '  -'} {cell.replace(chr(10), chr(10) + '    ')}".rstrip())
    return "\n".join([*lines, "````", ""])


def hidden_toctree(entries: Iterable[str]) -> str:
    """Return a table of contents that shows in the side bar only."""
    return "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *entries, "```", ""])


written: set[Path] = set()
"""The files that were saved, so that those of earlier builds can be told from them."""


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Characters that no page shows."""


def save(path: Path, text: str) -> None:
    """Write a file, unless it holds that text already; a text with control characters is an error of its generator."""
    if hidden := CONTROL.search(text):
        raise ValueError(f"{path}: expected text that can be shown, found {text[max(0, hidden.start() - 40) :][:60]!r}")
    written.add(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
