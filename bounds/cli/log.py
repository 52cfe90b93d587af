"""``packproof log``: what a log was taken for, and what is in it."""

from __future__ import annotations

from bounds.cli.app import app, show
from bounds.cli.options import DropOpen, JsonFlag, LogFile, StrictOption


@app.command(
    examples=("packproof log examples/vm_log.csv", "packproof log examples/jobs.csv --json"),
)
def log(log: LogFile, drop_open: DropOpen = False, strict: StrictOption = False, as_json: JsonFlag = False) -> None:
    """Say how a log is read: columns, units, span, stays, ties, rows left out, demands, peaks, and what looks wrong."""
    from bounds.views.log import log_answer
    from fluid.traces.readers import read_trace

    show(log_answer(log, read_trace(log, drop_open=drop_open, strict=strict)), as_json=as_json)
