"""Documents made to exhaust the checker, with the budget that users have: in processor time and in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bounds import checker
from tests.bounds.test_checker_limits import ATTACKS, many_users
from tests.tools.attacks.large_documents import LARGE, TEXTS
from tests.tools.attacks.report import Report

MOST_BYTES = 500 * 10**6
"""Most memory that a process of the checker may have at one time."""
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
print(status, used.ru_utime + used.ru_stime, file=sys.stderr)
"""
"""Runs the checker with a limit of its memory; prints its exit status, and the seconds of processor time."""


def attack_exhaustion(small: bool, seed: int) -> Report:
    """Let the checker decide documents made to exhaust it (small: a third), within the budget that users have."""
    report = Report()
    makers: list[Callable[[], object]] = [*ATTACKS, *LARGE]
    for make in [*(makers[seed % 3 :: 3] if small else makers), *TEXTS]:
        document = make()
        status, said, seconds = run_alone(document if isinstance(document, str) else json.dumps(document))
        outcome = {0: "accepted, and true", 1: "refused", 2: "beyond a limit"}.get(status, f"status {status}")
        report.outcomes[outcome] += 1
        if status not in (0, 1, 2) or "no verdict" in said or (status == 0 and make.__name__ not in TRUE):
            report.wrong.append(f"{make.__name__}: status {status}: {said}")
        report.took(seconds, make.__name__)
    return report


def run_alone(text: str, limit: int = MOST_BYTES) -> tuple[int, str, float]:
    """Run the checker on a text in a process of limited memory; return status, what it says, and processor seconds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.json"
        path.write_text(text)
        command = [sys.executable, "-I", "-S", "-c", MEASURED, str(limit), checker.__file__, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    *lines, last = done.stderr.splitlines() or ["nothing"]
    try:
        status, seconds = last.split()
        return int(status), done.stdout + "".join(lines), float(seconds)
    except ValueError:
        return done.returncode, done.stderr, 0.0
