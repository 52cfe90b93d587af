"""Commands on a dask cluster: the answers of this machine, whichever worker dies; one line where the scheduler does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from fluid.parallel import run_all
from tests.tools.frozen import _without_clocks

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RULE = """
from own_bins import opened
def next_fit(items, capacity):
    return opened(items, capacity)
"""
BINS = """
def opened(items, capacity):
    bins, room = [], None
    for item in items:
        if room is None or any(size > left for size, left in zip(item, room)):
            room = list(capacity)
            bins.append(0)
        room = [left - size for size, left in zip(item, room)]
        bins[-1] += 1
    return [place for place, number in enumerate(bins) for _ in range(number)]
"""
POLICY = """
from packproof import Policy
from fluid.simulation import Common, common, nothing_to_depart, nothing_to_refresh
from own_rooms import first_with_room
def prepare(setting):
    return Common(**common(setting))
LAST = Policy("last", "loss", prepare, first_with_room, nothing_to_depart, nothing_to_refresh)
"""
ROOMS = """
from fluid.simulation import fits
def first_with_room(state, job_type, draws):
    for server in range(len(state.counts) - 1, -1, -1):
        if fits(state, server, job_type):
            return server
    return -1
"""
COMMANDS = {
    "verify": "verify introduction throughput/example-uniform",
    "attack": "attack own_rule.py:next_fit --kind items --items 4 --evaluations 136 --starts 2 --seed 3",
    "a single start": f"attack {EXAMPLES}/rules_to_attack.py:equal_parts --kind sharing --evaluations 60",
    "an assignment": f"attack {EXAMPLES}/rules_to_attack.py:density_first --evaluations 24 --starts 2 --seed 1",
    "plan": f"plan {EXAMPLES}/vm_types.csv short_log.csv --server cpu=48,memory=192 --accept 0.99 "
    "--policy first-fit --policy own_policy.py:LAST",
    "tune": f"admission tune {EXAMPLES}/admission_small.toml --policy zeroth --sla 0.1 --until 150 --replications 4",
}
ONE_PROCESS = {"attack", "a single start", "an assignment", "tune"}
"""Commands that would begin workers of this machine for their tasks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, dask_cluster: Any) -> Iterator[Path]:
    """A folder with code of a user's own, after the workers have begun in another one; this process loads it once."""
    del dask_cluster
    folder: Path = tmp_path_factory.mktemp("home")
    for name, text in (("own_rule", RULE), ("own_bins", BINS), ("own_policy", POLICY), ("own_rooms", ROOMS)):
        (folder / f"{name}.py").write_text(text)
    log = (EXAMPLES / "vm_log.csv").read_text().splitlines(keepends=True)
    (folder / "short_log.csv").write_text("".join(log[:200]))
    with pytest.MonkeyPatch.context() as of_the_module:
        of_the_module.setattr(sys, "path", list(sys.path))
        yield folder
        for name in ("own_bins", "own_rooms"):
            sys.modules.pop(name, None)


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder, in which this process works."""
    monkeypatch.chdir(folder)
    return folder


def begun(words: str, engine: str, folder: Path) -> subprocess.Popen[str]:
    """Begin a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "packproof", *words.split(), "--engine", engine],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> Any:
    """Return what a command answers, without clocks."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return _without_clocks(json.loads(out))


def ended(words: str, engine: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its status and what it prints."""
    status = run([*words.split(), "--engine", engine])
    return status, *capsys.readouterr()


@pytest.fixture
def of_this_machine(capsys: pytest.CaptureFixture[str], home: Path) -> Callable[[str], Any]:
    """Return what gives the answer of a command without a cluster, in one process."""
    del home

    def answered(name: str) -> Any:
        alone = " --workers 1" if name in ONE_PROCESS else ""
        status, out, err = ended(f"{COMMANDS[name]} --json{alone}", "local", capsys)
        assert status == 0, err
        return _without_clocks(json.loads(out))

    return answered


@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_is_that_of_this_machine(
    name: str,
    home: Path,
    dask_engine: str,
    of_this_machine: Callable[[str], Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A search is a process of its own here as well, and asks the cluster from there: it is begun without threads."""
    words = f"{COMMANDS[name]} --json"
    if words.startswith("attack"):
        there = answer(begun(words, dask_engine, home))
    else:
        status, out, err = ended(words, dask_engine, capsys)
        assert status == 0, err
        there = _without_clocks(json.loads(out))
    assert there == of_this_machine(name)


@pytest.mark.parametrize("name", ["verify", "attack"])
def test_nothing_is_lost_when_a_worker_dies(
    name: str, home: Path, dask_engine: str, dask_cluster: Any, of_this_machine: Callable[[str], Any]
) -> None:
    with begun(f"{COMMANDS[name]} --json", dask_engine, home) as process:
        killed, end = None, time.monotonic() + 60
        while killed is None and time.monotonic() < end:
            # one that an earlier test killed begins again meanwhile, under a new address
            pids = {worker.worker_address: worker.pid for worker in dask_cluster.workers.values()}
            busy = [address for address, state in [*dask_cluster.scheduler.workers.items()] if state.processing]
            killed = next((address for address in busy if address in pids), None)
        assert killed is not None
        assert process.poll() is None
        os.kill(pids[killed], signal.SIGKILL)
        assert answer(process) == of_this_machine(name)
    assert killed not in dask_cluster.scheduler.workers


class _Elsewhere:
    """What can be read where it was made only, such as a policy whose file is not on the workers' machine."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.read_text, (Path("/nowhere/own.py"),)


def test_a_task_that_a_worker_cannot_read_is_an_error(dask_engine: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"own\.py"):
        list(run_all(len, [("ab",), (_Elsewhere(),)], engine=dask_engine))


@pytest.mark.parametrize("name", ["verify", "attack", "plan", "tune"])
def test_a_scheduler_that_dies_ends_in_one_line(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "tests.cluster"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as cluster:
        assert cluster.stdout is not None
        said: list[str] = []

        def kill_when_busy() -> None:
            assert cluster.stdout is not None
            said.append(cluster.stdout.readline())
            cluster.kill()

        try:
            engine = cluster.stdout.readline().strip()
            if name == "attack":
                process = begun(COMMANDS[name], engine, home)
                kill_when_busy()
                _, err = process.communicate(timeout=60)
                status = process.returncode
            else:
                killer = threading.Thread(target=kill_when_busy, daemon=True)
                killer.start()
                status, _, err = ended(COMMANDS[name], engine, capsys)
        finally:
            cluster.kill()
    assert said == ["busy\n"]
    assert status == 2, err
    last = err.strip().splitlines()[-1]
    assert last.startswith("--engine: "), err
    assert "the dask scheduler at 127.0.0.1" in last
    assert "is lost" in last
    assert "Traceback" not in err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_scheduler_out_of_reach_is_told_in_one_line(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del home
    status, _, err = ended(COMMANDS[name], "dask://127.0.0.1:1", capsys)
    assert status == 2
    assert "--engine: no dask scheduler at 127.0.0.1:1: Connection refused\n" in err
    assert "Traceback" not in err
