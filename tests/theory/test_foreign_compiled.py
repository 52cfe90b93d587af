"""No other package is changed: users' compiled code is what it is without packproof, and so are modules and classes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent

KINDS = [
    *(f"{way} {name}" for way in ("njit", "checked") for name in ("entry", "written", "of_table", "chosen")),
    *(f"without counts {name}" for name in ("entry", "written", "of_table")),
    *("in_parallel", "with_stencil", "vectorize", "guvectorize", "cfunc", "device"),
]


def printed(module: str, *words: str) -> dict[str, Any]:
    """Run a module of the tests in a process of its own, and return the document that it prints."""
    command = [sys.executable, "-m", f"tests.theory.{module}", *words]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "PACKPROOF_COMPILE": "first"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout.splitlines()[-1]))  # HiGHS 1.16 greets on stdout


@cache
def outcomes(*words: str) -> dict[str, Any]:
    """Return the numbers and digests of the code of users' functions, compiled alone or after packproof's."""
    return printed("users_code", *words)


@pytest.mark.parametrize("kind", KINDS)
def test_users_code_is_the_same_beside_packproof(kind: str) -> None:
    assert outcomes().keys() == set(KINDS)
    if outcomes()[kind] is None:
        pytest.skip("there is no compiler for graphics processors (NVVM)")
    assert outcomes("packproof")[kind] == outcomes()[kind]


def test_no_attribute_of_another_package_changes() -> None:
    answer = printed("foreign_attributes")
    assert answer["looked at"] > 10_000
    assert answer["here"] == []
    # workers of packproof's own: see `fluid.parallel`
    assert answer["in workers of packproof"] == ["joblib.externals.loky.process_executor:_MEMORY_LEAK_CHECK_DELAY"]
    assert answer["in workers of users"] == []
