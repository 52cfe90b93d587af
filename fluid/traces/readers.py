"""Reading a trace of any known format, told by its first row."""

from __future__ import annotations

from pathlib import Path

from fluid.traces import alibaba, google
from fluid.traces.model import Trace
from fluid.traces.plain import HEADER, read_plain
from fluid.traces.rows import fail, header


def read_trace(path: str | Path) -> Trace:
    """Read a trace; the first row says which format it has.

    Parameters
    ----------
    path : str or Path
        CSV or its gzip: a plain table (`read_plain`), the table of attempts or an original file of events of the Google
        trace of 2011 (`read_google_table`, `read_google_events`), the pods of the Alibaba trace of 2023
        (`read_alibaba`).

    Raises
    ------
    InputError
        None of these, or what the reader of the format refuses.
    """
    first = header(path)
    if "submit_us" in first:
        return google.read_google_table(path)
    if {"creation_time", "cpu_milli"} & set(first):
        return alibaba.read_alibaba(path)
    if len(first) == google.EVENT_FIELDS and first[0].isdigit():
        return google.read_google_events(path)
    if not {"time", "duration"} & set(first):
        known = "the table or original events of Google 2011, the pods of Alibaba 2023"
        fail(Path(path), 1, "", f"expected {HEADER}, or {known}; found {', '.join(first)[:120] or 'no columns'}")
    return read_plain(path)
