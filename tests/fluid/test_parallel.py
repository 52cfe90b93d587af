"""Workers of this machine stay as long as there is work."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fluid.parallel import run_all

psutil = pytest.importorskip("psutil", reason="without psutil loky does not look at the memory of its workers")

KEPT: list[bytes] = []


def _keep(megabytes: int) -> tuple[int, Any]:
    """Keep some memory, as claims keep what other claims ask for, for longer than loky waits between two looks."""
    import time

    KEPT.append(b"1" * (megabytes << 20))
    time.sleep(1.1)
    return os.getpid(), len(KEPT)


def test_a_worker_that_keeps_memory_stays(recwarn: pytest.WarningsRecorder) -> None:
    done = dict(run_all(_keep, [(1,), (1,), (320,), (320,), (1,), (1,)], workers=2))
    assert len({process for process, _ in done.values()}) == 2
    assert not [str(one.message) for one in recwarn if "worker stopped" in str(one.message)]
