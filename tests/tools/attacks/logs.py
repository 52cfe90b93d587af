"""Logs as strangers have them: an answer is that of the plain log with the same VMs, or there is none.

Columns get units that are known, misspelt or of another quantity; times are numbers, dates or of two units; rows that
never ran stand between the others. A refusal is one line with status 2; an answer that doubts its log in its first
words counts as a refusal.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bounds.cli import run
from tests.tools.attacks.report import Report

MAY = datetime(2026, 5, 1, tzinfo=UTC)
TYPES = "name,cpu,memory\nsmall,2,4\nlarge,4,16\n"
SERVER = "--server cpu=8,memory=32 --accept 1 --policy first-fit --level quick --json"

TIME_HEADERS = {
    "": 1, " (s)": 1, " (sec)": 1, " (seconds)": 1, "_s": 1, " (ms)": 1000, " (msec)": 1000, "_ms": 1000,
    " (us)": 10**6, " (min)": 1 / 60, " (minutes)": 1 / 60, " (hour)": 1 / 3600, "_h": 1 / 3600, " (days)": 1 / 86400,
    " (fortnights)": 1 / 1209600, " (secnds)": 1, " (ticks)": 50, " (GiB)": 1, " [jiffies]": 100, " (m)": 1 / 60,
}  # fmt: skip
"""What may stand behind the header of a time, with how many of it a second has; some of it no reader knows."""

NEVER_RAN = ("", "Unknown", "-1", "before", "nan", "NULL")
"""Ends of rows that never ran; `before` is an end before the start."""


class Vm(NamedTuple):
    """A VM: seconds after the first of May, its stay, and its type."""

    start: int
    stay: int
    kind: str


def vms(draw: random.Random) -> list[Vm]:
    """Draw VMs that come at whole minutes, so that some come as others go."""
    return [
        Vm(60 * draw.randrange(600), 60 * draw.randint(1, 90), draw.choice(["small", "large"]))
        for _ in range(draw.randint(12, 30))
    ]


def number(value: float) -> str:
    """Write a number without an exponent."""
    return f"{value:.10f}".rstrip("0").rstrip(".") or "0"


def dated(seconds: int) -> str:
    """Write a time after the first of May as a date."""
    return f"{MAY + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def plain(chosen: Sequence[Vm]) -> str:
    """Write VMs with dates, which leave nothing to guess."""
    rows = [f"{dated(vm.start)},{dated(vm.start + vm.stay)},{vm.kind}" for vm in chosen]
    return "\n".join(("created_at,deleted_at,type", *rows, ""))


def strange(chosen: Sequence[Vm], draw: random.Random) -> tuple[str, list[Vm]]:
    """Write VMs as a stranger would; return the table and the VMs that ran."""
    begin, end = draw.choice(["start", "created_at", "submit_time"]), draw.choice(["end", "deleted_at", "duration"])
    unit, other = draw.choice(list(TIME_HEADERS)), draw.choice(list(TIME_HEADERS))
    since = draw.choice([0, int(MAY.timestamp())])
    ran, rows = [], []
    for vm in draw.sample(list(chosen), len(chosen)):
        start = number((since + vm.start) * TIME_HEADERS[unit])
        stop = number((vm.stay if end == "duration" else since + vm.start + vm.stay) * TIME_HEADERS[other])
        # an empty end means a VM that still runs, which only a word of its own can deny
        if len(ran) > len(chosen) // 2 and draw.random() < 0.05:
            wrong = draw.choice(NEVER_RAN[2:3] if end == "duration" else NEVER_RAN[2:4])
            rows.append(f"{start},{number(-TIME_HEADERS[other]) if wrong == 'before' else wrong},{vm.kind},x")
            continue
        ran.append(vm)
        rows.append(f"{start},{stop},{vm.kind},x")
    return "\n".join((f"{begin}{unit},{end}{other},type,note", *rows, "")), ran


def planned(folder: Path, log: str) -> tuple[int, str, Any]:
    """Return the status of a plan, what it says on standard error, and its answer."""
    (folder / "types.csv").write_text(TYPES)
    (folder / "log.csv").write_text(log)
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = run(["plan", str(folder / "types.csv"), str(folder / "log.csv"), *SERVER.split()])
    return status, error.getvalue(), json.loads(out.getvalue()) if status == 0 else None


def numbers(answer: Any) -> dict[str, Any]:
    """Return what depends on the VMs alone, not on how they are written (in days, ten decimals are off by 10 us)."""
    rows = {row["type"]: (row["arrivals"], round(row["jobs"], 4)) for row in answer["workload"]}
    bounds = answer["peak"]["lower"], answer["peak"]["upper"]
    return {"servers": answer["servers"], "arrivals": answer["log"]["arrivals"], "workload": rows, "peak": bounds}


def attack_logs(tables: int, seed: int) -> Report:
    """Let `plan` read strange logs."""
    draw, report = random.Random(seed), Report()
    with TemporaryDirectory() as place:
        folder = Path(place)
        for i in range(tables):
            log, ran = strange(vms(draw), draw)
            start = time.process_time()
            try:
                status, said, answer = planned(folder, log)
            except BaseException as fault:
                report.wrong.append(f"log {i}: {type(fault).__name__}: {fault}: {log[:200]!r}")
                continue
            report.took(time.process_time() - start if i else 0.0, f"log {i}")  # the first compiles
            if status == 2 and said.count("\n") == 1:
                report.outcomes["refused in one line"] += 1
            elif status:
                report.wrong.append(f"log {i}: status {status}, says {said!r}: {log[:200]!r}")
            elif answer["sentence"].startswith("The log is in doubt"):
                report.outcomes["answered in doubt"] += 1
            else:
                _, _, expected = planned(folder, plain(ran))
                same = numbers(answer) == numbers(expected)
                report.outcomes["the answer of the plain log"] += same
                if not same:
                    report.wrong.append(f"log {i}: {numbers(answer)}, not {numbers(expected)}: {log[:200]!r}")
    return report
