"""Compilation beside a run: short runs need none, long ones switch at an event, and the path is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fluid.simulation import compiling
from fluid.simulation.compiling import Compilation
from theory.jit import kept, kernel

RUN = """
import json
from fluid.simulation import compiling
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from theory.instance import additive
from theory.jit import kept

compiling.PATIENCE = {patience}
scenario = LossScenario(additive([3], [[1], [2]], workload=[2, 1]), servers=20, until={until}, warmup=1.0)
run = run_once(policy("first-fit"), scenario, 5, python={python})
print(json.dumps([run.events, run.interpreted, run.measures.jobs.tolist()]))
"""


def ran(folder: Path, how: str, *, until: float = 100.0, patience: float = 1e9, python: bool = False) -> Any:
    """Run in a process of its own with a cache of its own; return events, events as Python and the mean jobs."""
    code = RUN.format(until=until, patience=patience, python=python)
    where = {"NUMBA_CACHE_DIR": str(folder), "PACKPROOF_COMPILE": how}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **where}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")
def test_the_path_is_the_same_however_it_runs(tmp_path: Path) -> None:
    events, interpreted, jobs = ran(tmp_path / "short", "beside")
    assert interpreted == events
    assert not list(tmp_path.glob("short/**/*.nbc"))  # nothing was compiled, neither loop nor preparation
    switched = ran(tmp_path / "long", "beside", until=40_000.0, patience=0.0)
    assert 0 < switched[1] < switched[0]
    after = ran(tmp_path / "long", "beside", until=40_000.0)
    assert after == [switched[0], 0, switched[2]]
    assert ran(tmp_path / "long", "first") == [events, 0, jobs]
    assert ran(tmp_path / "long", "first", python=True) == [events, events, jobs]


def fresh(value: int) -> Any:
    """Return a kernel that no test has compiled."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(f"def f(x, most): return x + {value} + most", space)
    return kernel(space["f"])


@pytest.fixture
def _beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKPROOF_COMPILE", "beside")
    monkeypatch.setattr(compiling, "PATIENCE", 0.5)


def awaited(made: Compilation) -> None:
    """Wait for a compilation, half a minute at most."""
    for _ in range(600):
        if made.is_over(0.0):
            return
        time.sleep(0.05)
    raise AssertionError("not compiled in half a minute")


@kernel
def _twice(x: int, most: int) -> int:
    return 2 * x + most


@pytest.mark.usefixtures("_beside")
def test_a_compilation_begins_after_some_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    monkeypatch.setattr(Compilation, "_begin", lambda _: begun.append(1))
    made = Compilation(_twice, (1.5,))
    assert not made.is_over(0.3)
    assert not begun
    assert not made.is_over(0.3)
    assert begun


@pytest.mark.usefixtures("_beside")
def test_a_child_that_fails_leaves_it_to_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "alone", lambda _: 1 / 0)
    made = Compilation(_twice, (1.5,))
    assert not made.is_over(1.0)
    awaited(made)
    assert not kept(_twice, 1.5, 0)


@pytest.mark.usefixtures("_beside")
def test_what_is_at_hand_or_cannot_be_kept_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _twice(1, 0) == 2
    assert Compilation.needed(_twice, (1,)) is None
    nameless = fresh(1)  # its source is no file
    assert Compilation.needed(nameless, (1,)) is None
    assert Compilation.needed(_twice, (1j,)) is not None
    monkeypatch.setenv("PACKPROOF_COMPILE", "first")
    assert Compilation.needed(_twice, (1j,)) is None


@pytest.mark.usefixtures("_beside")
def test_a_child_ends_with_its_process() -> None:
    made = Compilation(_twice, (b"a",))
    made._begin()
    child = made._child
    made.end()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_lock_that_cannot_be_made_stops_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiling, "gettempdir", lambda: str(tmp_path / "missing"))
    with compiling.alone(_twice):
        assert _twice(2, 1) == 5
