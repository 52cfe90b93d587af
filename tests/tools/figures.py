"""Figures of the source by room, for people to read: ``make figures``. No test depends on them.

Pointing names are those of single assignments that say nothing of the value (``found``, ``left``); comments are counted
a hundred lines of code.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.tools.source import Source

ROOT = Path(__file__).parents[2]
FLOORS = ("theory", "fluid", "bounds")

POINTING = frozenset(["found", "made", "one", "given", "left", "known", "held", "whole", "mine"])
"""Words that point at a value and do not say what it is."""


def rooms() -> dict[str, list[Source]]:
    """Return the files of each folder below a floor, and of the floor itself, by its name."""
    by_room: dict[str, list[Source]] = {}
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            parts = path.relative_to(ROOT).parts
            by_room.setdefault("/".join(parts[: 2 if len(parts) > 2 else 1]), []).append(Source(path))
    return by_room


def row(name: str, sources: Iterable[Source]) -> str:
    """Return a line of the table."""
    sources = list(sources)
    assigned = [target for source in sources for target in source.assigned]
    code = sum(len(source.code) for source in sources)
    longest = max((source.length(function) for source in sources for function in source.functions), default=0)
    pointing = sum(target in POINTING for target in assigned) / max(len(assigned), 1)
    comments = 100 * sum(len(source.comments) for source in sources) / max(code, 1)
    lines = sum(source.lines for source in sources)
    return f"{name:24} {len(sources):5} {lines:7,} {code:7,} {100 * pointing:8.1f} % {comments:8.1f} {longest:8}"


def main() -> None:
    """Print the table."""
    print(f"{'room':24} {'files':>5} {'lines':>7} {'code':>7} {'pointing':>10} {'comments':>8} {'longest':>8}")
    by_room = rooms()
    for name, sources in by_room.items():
        print(row(name, sources))
    print(row("in all", (source for sources in by_room.values() for source in sources)))


if __name__ == "__main__":
    main()
