"""Stored machine code cut short or replaced, and disks that are full: each answer must be what it is without.

Numba keeps no digest of what it stores, so a bit that flips within a file is not noticed; a file that ends early, is
empty or is something else is.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from tests.tools.attacks.report import Report

ROOT = Path(__file__).parents[3]

COMMAND = ("solve", "examples/four_types.toml", "--json")


def limit_files() -> None:
    """Let no file grow beyond some bytes: a write fails in the middle, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def attack_compiled(damages: int, seed: int) -> Report:
    """Damage what a command has stored, file by file, and run it again; then run it where nothing can be stored."""
    report, random_ = Report(), random.Random(seed)
    with TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"

        def answer(what: str, *, before: Callable[[], None] | None = None) -> tuple[int, str, str]:
            environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
            start = getrusage(RUSAGE_CHILDREN).ru_utime
            run = subprocess.run(
                [sys.executable, "-P", "-m", "packproof", *COMMAND], cwd=ROOT, env=environment, preexec_fn=before,
                capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip
            report.took(getrusage(RUSAGE_CHILDREN).ru_utime - start, what)
            return run.returncode, run.stdout, run.stderr

        def expect(what: str, *, before: Callable[[], None] | None = None) -> None:
            outcome = answer(what, before=before)
            report.outcomes["the same answer" if outcome == sound else "another answer"] += 1
            if outcome != sound:
                report.wrong.append(f"{what}: {outcome[0]} {outcome[2][-200:]}")

        sound = answer("an empty folder")
        stored = sorted(cache.rglob("*.nb*"))
        if sound[0] or not stored:
            report.wrong.append(f"status {sound[0]}, {len(stored)} files of machine code: {sound[2][-200:]}")
            return report
        contents = [(path, path.read_bytes()) for path in stored]  # as damage stays, a file may be empty by now
        for _ in range(damages):
            path, content = random_.choice(contents)
            place = random_.randrange(len(content))
            path.write_bytes(random_.choice((content[:place], b"", b"no machine code")))
            expect(f"{path.name}, cut at {place} of {len(content)}, or replaced")
        for path in stored:
            path.unlink()
        expect("a full disk", before=limit_files)
        if left := [path.name for path in cache.rglob("*.tmp.*")]:
            report.wrong.append(f"a full disk: parts of files are left: {left}")
    return report
