"""Commands on what other systems lack, emulated: no fork, no fcntl, no signals of Unix, texts with CRLF, old encodings.

A file `sitecustomize.py` takes away what the system has. What Windows and macOS do differently beyond that was only
read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bounds.cli import run as packproof_command

ROOT = Path(__file__).parents[2]

WITHOUT = """
import multiprocessing, os, signal, subprocess, sys, types, fcntl as unix  # subprocess asks for msvcrt as it is loaded


def locking(handle, kind, size):  # of msvcrt: what Windows has in the place of flock
    unix.flock(handle, unix.LOCK_EX | unix.LOCK_NB)

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
for name in ("fcntl", "resource", "termios", "pwd"):
    sys.modules[name] = None
for name in ("fork", "killpg", "setpgid", "setsid", "O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW", "geteuid"):
    if name != "O_NONBLOCK" or sys.version_info < (3, 13):  # from 3.13 on shutil needs it where it is not on Windows
        delattr(os, name)
os.supports_effective_ids = set()
access = os.access
def of_real_ids(path, mode, *, effective_ids=False):
    if effective_ids:
        raise NotImplementedError
    return access(path, mode)
os.access = of_real_ids
for name in ("SIGTSTP", "SIGCONT", "SIGSTOP", "SIGKILL", "SIGHUP"):
    delattr(signal, name)
multiprocessing.get_all_start_methods = lambda: ["spawn"]
"""
"""What Windows has not got. The process stays one of Linux in all else."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name has blanks and letters beyond ASCII, with the examples, whose lines end as on Windows."""
    folder = tmp_path_factory.mktemp("ein Ordner, é")
    for name in (
        "four_types.toml",
        "small_grid.toml",
        "vm_types.csv",
        "vm_log.csv",
        "rules_to_attack.py",
        "four_classes.toml",
    ):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        text = text.replace("until = 20\n", "until = 2\n")  # of the grid: no loop is long enough to be compiled
        lines = text.splitlines()[: 200 if name == "vm_log.csv" else None]
        (folder / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    (folder / "without").mkdir()
    (folder / "without" / "sitecustomize.py").write_text(WITHOUT)
    return folder


def run(place: Path, *arguments: str, **environment: str) -> str:
    """Run a command there, on a system that lacks what `WITHOUT` takes away; it must succeed, and find no fault."""
    variables = os.environ | {"PYTHONPATH": f"{place / 'without'}{os.pathsep}{ROOT}"} | environment
    done = subprocess.run(
        [sys.executable, "-m", "packproof", *arguments],
        cwd=place,
        env=variables,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"fault" not in done.stderr
    return done.stdout.decode("utf-8")


def test_what_is_taken_away_is_gone(place: Path) -> None:
    variables = os.environ | {"PYTHONPATH": str(place / "without")}
    code = "import os, sys; print(hasattr(os, 'fork'), sys.modules.get('fcntl'))"
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "False None\n"


COMMANDS = (
    "solve four_types.toml --certificate ë.json --json",
    "share four_classes.toml --mechanism ps-dsf --json",
    "simulate four_types.toml --policy dra --servers 10 --until 2 --replications 2 --store runs.db --json",
    "experiment small_grid.toml --store grid.db --workers 2",
    "attack rules_to_attack.py:first_fit --kind items --items 4 --evaluations 20 --json",
    "attack rules_to_attack.py:first_fit --kind items --items 4 --evaluations 20 --starts 2 --json",
    "plan vm_types.csv vm_log.csv --server cpu=48,memory=192 --accept 0.99 --policy first-fit --out report.html",
    "verify introduction lemma-1",
    "solve four_types.toml --json",
    "simulate four_types.toml --policy dra --servers 10 --until 2 --replications 2 --json",
)
COMPARED = COMMANDS[-2:]
"""Commands whose answers are those of this system."""
ALL = """
import contextlib, io, json, sys
from bounds.cli import run
if __name__ == "__main__":  # workers that are not forked load this file again
    for words in json.load(sys.stdin):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = run(words.split())
        print(json.dumps([words, status, out.getvalue(), err.getvalue()]))
"""
"""A program that runs commands as one process, which begins workers once for all of them."""


def test_commands_without_unix(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers of a solution and of a simulation depend neither on what the system lacks nor on the ends of lines."""
    (place / "all.py").write_text(ALL)
    done = subprocess.run(
        [sys.executable, "all.py"],
        cwd=place,
        env=os.environ | {"PYTHONPATH": f"{place / 'without'}{os.pathsep}{ROOT}"},
        input=json.dumps(COMMANDS),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "fault" not in done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [words for words, *_ in ended] == list(COMMANDS)
    for words, status, _, err in ended:
        assert status == 0, (words, err)
        assert "fault" not in err, (words, err)
    answers = {words: out for words, _, out, _ in ended}
    for command in COMPARED:
        there = json.loads(answers[command])
        action, _, *options = command.split()
        assert packproof_command([action, str(ROOT / "examples" / "four_types.toml"), *options]) == 0
        ours = json.loads(capsys.readouterr().out)
        for answer in (there, ours):
            for key in ("made", "cpu_seconds", "events_per_second", "events_as_python"):
                answer.pop(key, None)
        assert there == ours, command


def test_a_store_that_cannot_be_opened_asks_for_no_effective_ids(place: Path) -> None:
    code = (
        "import sqlite3\nfrom pathlib import Path\nfrom fluid.experiment import store as home\nhome.WAIT = 0.0\n"
        "holder = sqlite3.connect('locked.db', isolation_level=None)\nholder.execute('create table one (two)')\n"
        "holder.execute('begin exclusive')\n"
        "store = object.__new__(home.Store)\nstore.path = Path('locked.db')\n"
        "try:\n    store._read_only()\nexcept sqlite3.OperationalError:\n    print('refused')\n"
    )
    variables = os.environ | {"PYTHONPATH": f"{place / 'without'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=variables, capture_output=True, text=True, check=False
    )
    assert done.stdout == "refused\n", done.stderr


def test_an_old_encoding(place: Path) -> None:
    """Files are read and written as UTF-8 whatever the encoding of the terminal, which gets what it can show."""
    types = (place / "four_types.toml").read_text(encoding="utf-8").replace('"t1"', '"größe"')
    (place / "größen.toml").write_text(types, encoding="utf-8")
    text = run(
        place, "solve", "größen.toml", "--certificate", "größen.json", "--json",
        LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0",
    )  # fmt: skip
    assert json.loads(text)
    run(place, "check", "größen.json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")


def test_a_home_that_cannot_be_written(place: Path) -> None:
    run(place, "simulate", "four_types.toml", "--policy", "dra", "--servers", "5", "--until", "1", HOME="/nonexistent")
