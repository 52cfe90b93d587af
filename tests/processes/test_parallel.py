"""Workers of this machine stay as long as there is work."""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from fluid.parallel import _numbered, run_all
from fluid.simulation.policy_names import policy
from theory.errors import InputError
from theory.version import versions

psutil = pytest.importorskip("psutil", reason="without psutil loky does not look at the memory of its workers")

KEPT: list[bytes] = []


def _keep(megabytes: int, seconds: float) -> tuple[int, Any]:
    """Keep some memory, as claims keep what other claims ask for; loky looks at it after a second."""
    KEPT.append(b"1" * (megabytes << 20))
    time.sleep(seconds)
    return os.getpid(), len(KEPT)


def test_a_worker_that_keeps_memory_stays(recwarn: pytest.WarningsRecorder) -> None:
    done = dict(run_all(_keep, [(1, 0.3)] * 2 + [(320, 1.1)] * 2 + [(1, 0.3)] * 2, workers=2))
    assert len({process for process, _ in done.values()}) == 2
    assert not [str(one.message) for one in recwarn if "worker stopped" in str(one.message)]


def _delay_between_looks(seconds: float) -> float:
    from joblib.externals.loky import process_executor

    time.sleep(seconds)
    return float(process_executor._MEMORY_LEAK_CHECK_DELAY)


def test_tasks_of_others_run_on_workers_of_their_own() -> None:
    """Whatever packproof changes in its workers, other users of joblib do not see it, and neither does this process."""
    before = _delay_between_looks(0)
    ours = [delay for _, delay in run_all(_delay_between_looks, [(0.5,)] * 2, workers=2)]
    theirs = Parallel(n_jobs=2)([delayed(_delay_between_looks)(0.1)] * 2)
    assert (ours, theirs) == ([inf, inf], [before, before])
    assert _delay_between_looks(0) == before != inf


def test_a_worker_of_another_version_is_refused() -> None:
    """As after an upgrade, or on a cluster: its results would be stored as if they were of this version."""
    assert _numbered(pow, 7, (2, 3), versions()) == (7, 8)
    with pytest.raises(InputError, match=r"a worker runs packproof .*, expected packproof 0.0, .*: start again, with"):
        _numbered(pow, 7, (2, 3), versions() | {"packproof": "0.0"})


class _Elsewhere:
    """What can be read where it was made only."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.read_text, (Path("/nowhere/own.py"),)


def test_a_task_that_a_process_cannot_read_is_told_in_one_line(tmp_path: Path) -> None:
    """A policy whose file has changed since the command has read it; what is no refusal stays a fault of ours."""
    with pytest.raises(BrokenProcessPool, match="failed to un-serialize"):
        list(run_all(len, [("ab",), (_Elsewhere(),)], workers=2))
    (tmp_path / "mine.py").write_text("from packproof import policy\nMINE = policy('first-fit')\n")
    name = str(tmp_path / "mine.py:MINE")
    changed = replace(policy(name), code="0" * 64)
    line = f"workers: a process could not read its task: policy: {name}: its code, or that of a module it imports, is"
    with pytest.raises(InputError, match=f"^{re.escape(line)}"):
        list(run_all(str, [(changed,)] * 2, workers=2))


def _touch(place: Path, other: Path) -> None:
    """Make a file, and wait until another one is there as well."""
    place.touch()
    end = time.monotonic() + 60
    while not other.exists() and time.monotonic() < end:
        time.sleep(0.01)


def test_tasks_are_made_while_those_before_are_at_work(tmp_path: Path) -> None:
    first, second, last = tmp_path / "first", tmp_path / "second", tmp_path / "last"

    def tasks() -> Iterator[tuple[Path, Path]]:
        # neither ends before both are at work: an end is not heard of while the next task is made
        yield first, second
        yield second, first
        end = time.monotonic() + 60
        while not (first.exists() and second.exists()) and time.monotonic() < end:
            time.sleep(0.01)
        assert second.exists(), "the first tasks wait for all others to be made"
        yield last, last

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


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("CancelledError", "the dask scheduler at localhost:1 is lost"),
        ("CommClosedError", "the dask scheduler at localhost:1 is lost"),
        ("KilledWorker", "the workers of the dask scheduler at localhost:1 died at a task"),
    ],
)
def test_a_scheduler_that_is_lost_ends_in_one_line(
    lost: str, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("dask.distributed")
    logger = logging.getLogger("distributed.client")
    level = logger.level
    from distributed.comm.core import CommClosedError

    errors = {
        "CancelledError": CancelledError("scheduler-connection-lost"),
        "CommClosedError": CommClosedError("in <TCP>"),
        "KilledWorker": distributed.KilledWorker("task", None, 3),
    }

    class Client:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *_: object) -> None:
            logger.error("a hundred lines")

        def submit(self, *_: Any, **__: Any) -> Client:
            return self

        def result(self) -> None:
            raise errors[lost]

    monkeypatch.setattr(distributed, "Client", Client)
    monkeypatch.setattr(distributed, "as_completed", list)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: socket.socket())
    with pytest.raises(InputError, match=said):
        list(run_all(_touch, [(Path("x"),)], engine="dask://localhost:1"))
    assert "a hundred lines" not in capfd.readouterr().err
    assert logger.level == level
