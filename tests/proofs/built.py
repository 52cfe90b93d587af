"""Builds the proved checker where Coq is installed."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parent.parent.parent / "proofs"
PROGRAM = PROOFS / "build" / "packproof-checker"


def missing() -> str | None:
    """Return what is not installed of what the proofs need, or None."""
    for tool in ("coqc", "coq_makefile", "ocamlopt", "make"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    library = Path(where) / "user-contrib" / "mathcomp" / "algebra_tactics"
    return None if library.is_dir() else "mathcomp's algebra-tactics are not installed"


def proved_checker() -> Path:
    """Return the program, built if it must be; skip the test where Coq is not installed."""
    reason = missing()
    if reason is not None:
        pytest.skip(f"the proofs are not built: {reason}")
    PROGRAM.parent.mkdir(exist_ok=True)
    with (PROGRAM.parent / "lock").open("w") as lock:  # one build at a time
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-C", str(PROOFS), "build/packproof-checker"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return PROGRAM
