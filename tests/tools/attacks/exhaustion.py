"""Documents made to exhaust the checker: each ends in one line, within the time and the memory that are allowed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bounds import checker
from tests.bounds.test_checker_limits import ATTACKS, many_users
from tests.tools.attacks.large_documents import LARGE, TEXTS
from tests.tools.attacks.report import Report

SECONDS = 10
"""Seconds of processor time that the checker is allowed for a document."""
LATE = 5.0
"""Seconds that it may take beyond: for its start, and for the one operation on long numbers that nothing interrupts."""
HANGS = 300
"""Seconds of the clock after which a process counts as one that does not end."""
START = 100 * 10**6
"""Bytes of memory that its process has before it reads a document."""
TRUE = {many_users.__name__, "many_orders", "many_stages"}
"""Documents whose claims are true: they may be accepted."""

MEASURED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
program, sys.argv = sys.argv[2], sys.argv[2:]
try:
    runpy.run_path(program, run_name="__main__")
except SystemExit as end:
    status = end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(status, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss, file=sys.stderr)
"""
"""Runs the checker with a limit of memory; prints its exit status, the seconds of processor time, and its memory."""


class Run(NamedTuple):
    """A run of the checker by itself: its exit status, the lines that it printed, and what it took."""

    status: int
    lines: list[str]
    seconds: float
    memory: int


def attack_exhaustion(small: bool, seed: int) -> Report:
    """Let the checker decide documents made to exhaust it (small: a third) within ten seconds."""
    report = Report()
    makers: list[Callable[[], object]] = [*ATTACKS, *LARGE]
    for make in [*(makers[seed % 3 :: 3] if small else makers), *TEXTS]:
        document = make()
        run = run_alone(document if isinstance(document, str) else json.dumps(document))
        outcome = {0: "accepted, and true", 1: "refused", 2: "beyond a limit"}.get(run.status, f"status {run.status}")
        report.outcomes[outcome] += 1
        known = run.status in (1, 2) or (run.status == 0 and make.__name__ in TRUE)
        if not known or len(run.lines) != 1 or "no verdict" in run.lines[0]:
            report.wrong.append(f"{make.__name__}: status {run.status}: {' '.join(run.lines)}")
        if run.memory > checker.MEMORY + START:
            report.wrong.append(f"{make.__name__}: {run.memory / 10**6:,.0f} MB")
        report.took(run.seconds, make.__name__, SECONDS + LATE)
    return report


def run_alone(text: str, memory: int = 2 * checker.MEMORY, seconds: int = SECONDS) -> Run:
    """Run the checker on a text in a process of limited memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.json"
        path.write_text(text)
        alone = [checker.__file__, str(path), "--seconds", str(seconds)]
        command = [sys.executable, "-I", "-S", "-c", MEASURED, str(memory), *alone]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)
        except subprocess.TimeoutExpired:
            return Run(-1, ["it does not end"], float(HANGS), 0)
    *lines, last = done.stderr.splitlines() or ["nothing"]
    try:
        status, took, used = last.split()
        return Run(int(status), [*done.stdout.splitlines(), *lines], float(took), int(used))
    except ValueError:
        return Run(done.returncode, done.stderr.splitlines(), 0.0, 0)
