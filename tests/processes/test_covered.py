"""The table of what `make test` covers is made of a run of tests."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tests_and_their_seconds_are_counted_by_room() -> None:
    """Of one file of tests, so that rooms without a test are named, and the status is 1."""
    command = [sys.executable, "-m", "tests.tools.covered", "tests/checker/test_rules.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "INTERNALERROR" not in done.stdout
    assert "No test at all: `theory/greedy/`." in done.stdout.splitlines()
    row = re.search(r"^\| `bounds/checker.py` \| ([\d,]+) \| \d+ \| 0 \| ([\d.]+) \|$", done.stdout, re.MULTILINE)
    assert row is not None
    assert int(row[1]) > 0
