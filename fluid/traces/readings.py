"""How a file of a known format was read: its columns with their units, and the rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fluid.traces.model import ReadColumn, Reading
from theory.files.formats import DURATION, Column, Records


def reading_of(
    name: str, found: Records, columns: Sequence[Column], units: Mapping[str, str], left_out: Mapping[str, int]
) -> Reading:
    """Return how a file was read; `units` are by the names of columns, and times have seconds unless they say another.

    Rows that records dropped are added to those left out.
    """
    there = [one for one in columns if one.name in found.headers and found.headers[one.name] in found.header]
    default = {DURATION: "s"}
    read = tuple(
        ReadColumn(found.headers[one.name], one.name, units.get(one.name, default.get(one.quantity, "")))
        for one in there
    )
    used = {one.header for one in read}
    unused = tuple(header for header in found.header if header and header not in used)
    reasons = [(reason, count) for reason, count in {**left_out, **found.dropped.reasons}.items() if count]
    return Reading(name, read, unused, len(found), tuple(reasons), "numbers")
