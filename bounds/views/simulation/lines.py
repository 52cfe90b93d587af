"""What the reports of all models write the same way: headings, numbers with intervals, tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any


def many(number: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> many(1, "server"), many(1200, "server")
    ('1 server', '1,200 servers')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def heading(answer: dict[str, Any]) -> list[str]:
    """Return what ran, for how long, and how fast."""
    cut = " (interrupted)" if answer["interrupted"] else ""
    speed = answer["events_per_second"]
    return [
        f"{answer['policy']} on {many(answer['servers'], 'server')}, time {answer['warmup']:g} to {answer['until']:g}, "
        f"{many(answer['replications'], 'replication')}{cut}",
        f"{answer['events']:,} events" + (f", {speed:,.0f} a second" if speed else ""),
    ]


def shown(number: dict[str, Any], digits: int = 6, *, key: str = "mean", least: float = -inf, most: float = inf) -> str:
    """Return a number with its 95 % interval, as far as that lies where the number can.

    Examples
    --------
    >>> shown({"mean": 1.0, "ci95": [-0.5, 2.5]}), shown({"mean": 0.5, "ci95": [-0.5, 1.5]}, least=0.0, most=1.0)
    ('1  [-0.5, 2.5]', '0.5  [0, 1]')
    """
    if number[key] is None:
        return "-"
    low, high = number["ci95"]
    if low is None:
        return f"{number[key]:.{digits}g}"
    return f"{number[key]:.{digits}g}  [{max(low, least):.{digits}g}, {min(high, most):.{digits}g}]"


def aligned(table: Sequence[Sequence[str]], *, right: int = 0) -> list[str]:
    """Return rows of text with columns of equal width, the last `right` of them to the right.

    Examples
    --------
    >>> aligned([["type", "jobs"], ["small", "12.5"]], right=1)
    ['type   jobs', 'small  12.5']
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = ["<"] * (len(widths) - right) + [">"] * right
    return [
        "  ".join(f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in table
    ]
