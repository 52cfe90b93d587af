"""No other package is changed: users' compiled code is what it is without packproof."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def printed(*words: str) -> dict[str, Any]:
    """Return the numbers and digests of the code of users' functions, compiled in a process of its own."""
    command = [sys.executable, "-m", "tests.processes.users_code", *words]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "PACKPROOF_COMPILE": "first"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout.splitlines()[-1]))


def test_users_code_is_the_same_beside_packproof() -> None:
    """What has no compiler here, such as that of graphics processors, is None in both."""
    alone, beside = printed(), printed("packproof")
    assert sum(number is not None for number in alone.values()) > 10
    assert alone == beside
