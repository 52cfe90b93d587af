"""Compilation beside a run: short runs need none, long ones switch at an event, and the path is the same."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fluid.simulation import compiling
from fluid.simulation.compiling import Compilation
from theory.compiled import cache_prefix, code_cache, has_machine_code, kernel

EXAMPLES = Path(__file__).parents[2] / "examples"

RUN = """
import json
from fluid.simulation import compiling
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from theory.instance import additive
from theory.compiled import has_machine_code

compiling.PATIENCE = {patience}
scenario = LossScenario(additive([3], [[1], [2]], workload=[2, 1]), servers=20, until={until}, warmup=1.0)
run = run_once(policy({name!r}), scenario, 5, python={python})
print(json.dumps([run.events, run.interpreted, run.measures.jobs.tolist()]))
"""


def ran(folder: Path, how: str, name: str, *, until: float = 100.0, patience: float = 1e9, python: bool = False) -> Any:
    """Run in a process of its own with a cache of its own; return events, events as Python and the mean jobs."""
    code = RUN.format(name=name, until=until, patience=patience, python=python)
    where = {"NUMBA_CACHE_DIR": str(folder), "PACKPROOF_COMPILE": how}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **where}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")
@pytest.mark.parametrize("name", ["first-fit", f"{EXAMPLES / 'own_policies.py'}:WORST_FIT"], ids=["ours", "own"])
def test_the_path_is_the_same_however_it_runs(name: str, tmp_path: Path) -> None:
    events, interpreted, jobs = ran(tmp_path / "short", "beside", name)
    assert interpreted == events
    assert not list(tmp_path.glob("short/**/*.nbc"))  # nothing was compiled, neither loop nor preparation
    switched = ran(tmp_path / "long", "beside", name, until=40_000.0, patience=0.0)
    assert 0 < switched[1] < switched[0]
    after = ran(tmp_path / "long", "beside", name, until=40_000.0)
    assert after == [switched[0], 0, switched[2]]
    assert ran(tmp_path / "long", "first", name) == [events, 0, jobs]
    assert ran(tmp_path / "long", "first", name, python=True) == [events, events, jobs]


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
    monkeypatch.setattr(compiling, "compiling_alone", lambda _: 1 / 0)
    made = Compilation(_twice, (1.5,))
    assert not made.is_over(1.0)
    awaited(made)
    assert not has_machine_code(_twice, 1.5, 0)


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


@pytest.mark.usefixtures("_beside")
def test_what_a_child_cannot_store_is_compiled_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk there is one child, not one after another."""
    begun: list[int] = []
    begin = Compilation._begin

    def refused(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def counted(compilation: Compilation) -> None:
        begun.append(1)
        begin(compilation)

    monkeypatch.setattr(code_cache, "_write", refused)
    monkeypatch.setattr(Compilation, "_begin", counted)
    made = Compilation(_twice, (b"full",))
    assert not made.is_over(1.0)
    awaited(made)
    assert begun == [1]
    assert not has_machine_code(_twice, b"full", 0)


ORPHAN = """
import time
from contextlib import contextmanager
from fluid.simulation import compiling
from theory.compiled import kernel

@contextmanager
def for_long(_):
    time.sleep(600)
    yield

compiling.compiling_alone = for_long
compilation = compiling.Compilation(kernel(lambda x, most: x), (1,))
compilation._begin()
print(compilation._child, flush=True)
time.sleep(600)
"""


def is_running(process: int) -> bool:
    """Return whether a process runs; one that has ended and that no process has asked about does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")
def test_a_child_ends_soon_after_its_process_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    end = time.monotonic() + 30
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_running(child)


def test_those_who_compile_the_same_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lock, entered = Path(f"{cache_prefix(_twice)}.lock"), threading.Event()

    def enter() -> None:
        with compiling.compiling_alone(_twice):
            entered.set()

    with compiling.compiling_alone(_twice):
        assert lock.stat().st_mode & 0o777 == 0o600
        other = threading.Thread(target=enter)
        other.start()
        assert not entered.wait(0.3)
    other.join(30)
    assert entered.is_set()
    assert not lock.exists()
    assert not list(tmp_path.iterdir())  # where other users could have made a file of the same name before


@pytest.mark.parametrize("taken_by", ["folder", "link"])
def test_a_lock_that_cannot_be_made_stops_nobody(taken_by: str, tmp_path: Path) -> None:
    made = kernel(_twice.py_func)  # type: ignore[attr-defined]
    lock = Path(f"{cache_prefix(made)}.lock")
    if taken_by == "folder":
        lock.mkdir()
    else:
        (tmp_path / "precious").write_text("as it was")
        lock.symlink_to(tmp_path / "precious")
    try:
        with compiling.compiling_alone(made):
            assert made(2, 1) == 5
    finally:
        lock.rmdir() if taken_by == "folder" else lock.unlink()
    assert taken_by == "folder" or (tmp_path / "precious").read_text() == "as it was"
