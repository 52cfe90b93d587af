"""Code of users in a process of its own: its end does not pass for an answer, and everything else stays as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bounds.cli.apart import runs_code

ROOT = Path(__file__).parents[2]
FILE = """
import os, signal, time
from pathlib import Path
from packproof import Policy, simulation
def prepare(setting): return simulation.Common(**simulation.common(setting))
def refuse(state, job_type, draws): return -1
def wait(state, job_type, draws):
    Path(__file__).with_name("at-work").touch()
    time.sleep(0.05)
    return -1
def ending(state, job_type, draws): os._exit(0)
def crash(state, job_type, draws): os.kill(os.getpid(), signal.SIGSEGV)
X, WAIT, ENDING, CRASH = (
    Policy("x", "loss", prepare, place, simulation.nothing_to_depart, simulation.nothing_to_refresh)
    for place in (refuse, wait, ending, crash)
)
"""
RULE = """
import time
from pathlib import Path
def rule(items, capacity):
    while True:
        Path(__file__).with_name("at-work").touch()
        time.sleep(0.05)
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")


def begun(name: str, folder: Path, *more: str) -> subprocess.Popen[str]:
    (folder / "own.py").write_text(FILE)
    until = "1e6" if name == "WAIT" else "5"
    words = ["simulate", "examples/four_types.toml", "--policy", f"{folder / 'own.py'}:{name}", "--until", until]
    called = [sys.executable, "packproof.py", *words, "--servers", "3", *more]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.Popen(
        called, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def is_at_work(folder: Path) -> bool:
    """Wait until the code in the folder works, a minute at the most."""
    (sign := folder / "at-work").unlink(missing_ok=True)
    end = time.monotonic() + 60
    while not sign.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return sign.exists()


@pytest.mark.parametrize(("name", "how"), [("ENDING", "with status 0"), ("CRASH", "by signal SIGSEGV")])
def test_the_end_of_the_process_is_no_answer(name: str, how: str, tmp_path: Path) -> None:
    out, error = (process := begun(name, tmp_path)).communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert error.splitlines() == [
        f"packproof: the code of {tmp_path / 'own.py'}:{name} ended the process {how}, expected it to return; there is "
        "no answer"
    ]


def test_the_answer_is_that_of_the_command(tmp_path: Path) -> None:
    out, error = (process := begun("X", tmp_path, "--json")).communicate(timeout=60)
    assert (process.returncode, error) == (0, "")
    assert json.loads(out)["policy"] == "x"
    out, error = (process := begun("X", tmp_path, "--warmup", "9")).communicate(timeout=60)
    assert (process.returncode, out, error.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_are_handed_on(number: int, tmp_path: Path) -> None:
    process = begun("WAIT", tmp_path)
    assert is_at_work(tmp_path)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error.splitlines()[-1] == "interrupted"


def descendants(process: int) -> list[int]:
    """Return a process and all that it has begun."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in descendants(int(child)))]


def are_stopped(processes: list[int]) -> set[bool]:
    return {Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0] == "T" for one in processes}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("command", ["simulate", "attack"])
def test_ctrl_z_stops_the_code_as_well(command: str, tmp_path: Path) -> None:
    if command == "simulate":
        process = begun("WAIT", tmp_path)
    else:
        (tmp_path / "rule.py").write_text(RULE)
        words = [sys.executable, "packproof.py", "attack", f"{tmp_path / 'rule.py'}:rule", "--kind", "items"]
        process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert is_at_work(tmp_path)
    assert len(descendants(process.pid)) == 2
    for number, stopped in ((signal.SIGTSTP, True), (signal.SIGCONT, False)):
        end = time.monotonic() + 60
        process.send_signal(number)
        while are_stopped(descendants(process.pid)) != {stopped} and time.monotonic() < end:
            time.sleep(0.1)
        assert are_stopped(descendants(process.pid)) == {stopped}
    assert is_at_work(tmp_path)  # it goes on
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


@pytest.mark.skipif(sys.platform != "linux", reason="the system sees to it on Linux alone")
def test_nothing_is_left_where_the_process_is_killed(tmp_path: Path) -> None:
    process = begun("WAIT", tmp_path)
    assert is_at_work(tmp_path)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 1
    process.kill()
    process.communicate(timeout=60)
    for _ in range(200):
        if not Path(f"/proc/{children[0]}").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the child goes on")


def test_which_commands_run_code_of_a_user() -> None:
    assert not runs_code(["attack", "rule.py:NAME"])  # which begins a process itself
    assert runs_code(["simulate", "i.toml", "--policy=package.module:NAME"])
    assert runs_code(["experiment", "grid.toml", "--allow-code"])
    assert not runs_code(["experiment", "grid.toml", "--policy", "dra"])
