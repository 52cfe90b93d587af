"""Workers of this machine stay as long as there is work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fluid.parallel import run_all

psutil = pytest.importorskip("psutil", reason="without psutil loky does not look at the memory of its workers")

KEPT: list[bytes] = []


def _keep(megabytes: int) -> tuple[int, Any]:
    """Keep some memory, as claims keep what other claims ask for, for longer than loky waits between two looks."""
    KEPT.append(b"1" * (megabytes << 20))
    time.sleep(1.1)
    return os.getpid(), len(KEPT)


def test_a_worker_that_keeps_memory_stays(recwarn: pytest.WarningsRecorder) -> None:
    done = dict(run_all(_keep, [(1,), (1,), (320,), (320,), (1,), (1,)], workers=2))
    assert len({process for process, _ in done.values()}) == 2
    assert not [str(one.message) for one in recwarn if "worker stopped" in str(one.message)]


def _touch(place: Path) -> None:
    place.touch()


def test_tasks_are_made_while_those_before_are_at_work(tmp_path: Path) -> None:
    first, second, last = tmp_path / "first", tmp_path / "second", tmp_path / "last"

    def tasks() -> Iterator[tuple[Path]]:
        yield (first,)
        yield (second,)
        end = time.monotonic() + 60
        while not (first.exists() and second.exists()) and time.monotonic() < end:
            time.sleep(0.01)
        assert second.exists(), "the first tasks wait for all others to be made"
        yield (last,)

    assert sorted(number for number, _ in run_all(_touch, tasks(), workers=2)) == [0, 1, 2]
    assert last.exists()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors are taken away on Linux only")
def test_on_one_processor_tasks_run_here() -> None:
    code = (
        "import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n"
        "from fluid.parallel import run_all\nprint(sorted(run_all(pow, [(2, 3), (3, 2)])))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (run.returncode, run.stdout) == (0, "[(0, 8), (1, 9)]\n")
