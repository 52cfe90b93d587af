"""Builds the proved checker where Coq is installed."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parent.parent.parent / "proofs"
PROGRAM = PROOFS / "build" / "packproof-checker"


def missing() -> str:
    """Return what is not installed of what the proofs need."""
    if shutil.which("make") is None:
        return "make"
    command = ["make", "-s", "--no-print-directory", "-C", str(PROOFS), "missing"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def proved_checker() -> Path:
    """Return the program, built if it must be; skip the test where Coq is not installed."""
    reason = missing()
    if reason:
        pytest.skip(f"the proofs are not built, because this is missing: {reason}")
    PROGRAM.parent.mkdir(exist_ok=True)
    with (PROGRAM.parent / "lock").open("w") as lock:  # one build at a time
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-C", str(PROOFS), "build/packproof-checker"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return PROGRAM
