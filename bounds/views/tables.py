"""The one style of tables: plain columns where the output is piped, fitted to the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from theory.files.answer import answer_stream, answer_width

INDENT = 2  # columns by which tables of an answer stand to the right

ESCAPE = "\x1b"  # begins the codes of a terminal: lines that hold one are tables, which fit already


def aligned(table: Sequence[Sequence[str]], *, right: int = 0, head: bool = True) -> list[str]:
    """Return rows of text with columns of equal width, the last `right` of them set to the right.

    On a terminal cells that are too wide are wrapped, and the head is set off (colours of ``rich``, none where NO_COLOR
    is set); elsewhere a row is a line, so that other programs can read it.

    >>> aligned([["type", "jobs"], ["small", "12.5"]], right=1)
    ['type   jobs', 'small  12.5']
    """
    if not table:
        return []
    if answer_stream().isatty():
        return _on_terminal(table, right, answer_width() - INDENT, head=head)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = ["<"] * (len(widths) - right) + [">"] * right
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in table
    ]


def _on_terminal(table: Sequence[Sequence[str]], right: int, width: int, *, head: bool) -> list[str]:
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, show_header=head, header_style="bold", padding=(0, 2, 0, 0))
    columns = len(table[0])
    for place in range(columns):
        name = Text(table[0][place]) if head else ""
        grid.add_column(name, justify="right" if place >= columns - right else "left", overflow="fold")
    for row in table[1:] if head else table:
        grid.add_row(*map(Text, row))
    stream = StringIO()
    Console(file=stream, force_terminal=True, width=width, highlight=False).print(grid)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def fitted(lines: Sequence[str]) -> list[str]:
    """Return lines as a terminal shows them without breaking words."""
    width = max(20, answer_width())
    wrapped: list[str] = []
    for line in lines:
        # tables fit already
        if len(line) <= width or ESCAPE in line:
            wrapped.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        wrapped += wrap(line, width, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
    return wrapped
