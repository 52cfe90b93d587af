"""Machine code on disk: what is stored is found again, other code has another name, and no fault changes an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FORKS = """
import json, os, runpy, sys, traceback
from numba import njit
from numba.core.config import reload_config
import theory.compiled
from tests.tools.attacks.compiled import limit_files

njit(lambda x: x + 1)(1)  # loads what any compilation needs; nothing of it is stored
for line in sys.stdin:
    folder, code, arguments, full = json.loads(line)
    ends = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.dup2(ends[0][1], 1)
            os.dup2(ends[1][1], 2)
            os.chdir(folder)
            os.environ["NUMBA_CACHE_DIR"] = os.path.join(folder, "cache")
            reload_config()
            sys.path[:0], sys.argv, sys.dont_write_bytecode = [folder], arguments, True
            if full:
                limit_files()
            if code:
                exec(code, {"__name__": "__main__"})
            else:
                runpy.run_path(arguments[0], run_name="__main__")
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    for _, end in ends:
        os.close(end)
    said = [open(end).read() for end, _ in ends]
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *said]), flush=True)
"""
"""A program that runs code in forks of a process which has loaded numba, each with a cache in a folder of its own."""

Forked = Callable[..., str]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forked]:
    """Return what runs code, or a file with arguments, in a process and in a folder, and returns what it prints."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", FORKS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def forked(folder: Path, code: str = "", arguments: tuple[str, ...] = ("",), *, full: bool = False) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps([str(folder), code, arguments, full]), file=process.stdin, flush=True)
        status, out, err = json.loads(process.stdout.readline())
        assert (status, err) == (0, "")
        return str(out)

    with process:
        yield forked


def run_in(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a cache there."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    where = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"} | where | options.pop("env", {})
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_a_change_in_another_file_changes_the_answer(tmp_path: Path, forks: Forked) -> None:
    """Numba looks at the file of a kernel alone."""
    (tmp_path / "caller.py").write_text(
        "from theory.compiled import kernel\nfrom callee import value\n"
        "@kernel\ndef call(x): return value(x)\nprint(call(1))\n"
    )
    answers = []
    for number in (1, 2, 1):
        (tmp_path / "callee.py").write_text(
            f"from theory.compiled import step\nN = {number}\n@step\ndef value(x): return x + N\n"
        )
        answers.append(int(forks(tmp_path, arguments=("caller.py",))))
    assert answers == [2, 3, 2]


def test_closures_with_other_numbers_are_other_code(tmp_path: Path, forks: Forked) -> None:
    """Numba looks at the closure of a kernel alone, not at that of a step."""
    (tmp_path / "factory.py").write_text(
        "import sys\nfrom theory.compiled import bound, step\n"
        "def policy(n):\n    def place(x): return x + n\n    return place\n"
        "@step\ndef place(x): return 0\n@step\ndef loop(x): return place(x)\n"
        "print(bound(loop, place=policy(int(sys.argv[1])))(1))\n"
    )
    assert [forks(tmp_path, arguments=("factory.py", number)) for number in "121"] == ["2\n", "3\n", "2\n"]


OWN = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from theory.compiled import bound, noticing_compilation, step

def read(file):
    name = f"{file}_{sys.argv[1]}"
    spec = spec_from_file_location(name, f"{file}.py")
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

@step
def place(x): return 0
@step
def loop(x): return 10 * place(x)

for function in bound(loop, checked=True, place=read("policy").place), read("kernel").five:
    begun = []
    with noticing_compilation(lambda: begun.append(1)):
        print(function(1), len(begun) > 0, end=" ")
"""


def test_an_authors_code_is_found_whatever_its_module_is_called(tmp_path: Path, forks: Forked) -> None:
    """A file that is imported, or was edited elsewhere, is another module; numba imports the modules of stored code.

    A policy is known by what it does; a kernel, whose file numba watches, is stored for each module.
    """
    (tmp_path / "run.py").write_text(OWN)
    (tmp_path / "kernel.py").write_text("from theory.compiled import kernel\n@kernel\ndef five(x): return 5 * x\n")
    printed = []
    for name, text in (("a", "1"), ("b", "1  # edited"), ("b", "2"), ("a", "2")):
        (tmp_path / "policy.py").write_text(f"def place(x):\n    return x + {text}\n")
        printed.append(forks(tmp_path, arguments=("run.py", name)))
    assert printed == ["20 True 5 True ", "20 False 5 True ", "30 True 5 False ", "30 False 5 False "]


SUMS = """
import sys
from pathlib import Path
import numpy as np
from theory.compiled import kernel, noticing_compilation

def total(values):
    result = 0
    for value in values:
        result += 3 * value
    return result

def answer():
    "As in a process of its own: two sums, and how often it was compiled."
    fresh, begun = kernel(total), []
    with noticing_compilation(lambda: begun.append(1)):
        return fresh(np.arange(5)), fresh(np.arange(3.0)), len(begun)

def stored():
    return sorted(Path("cache").rglob("*.nb*"))
"""


def sums(folder: Path, code: str, **options: Any) -> list[str]:
    """Return what code prints, run beside the module ``sums``: a line each, without a word on stderr."""
    run = run_in(folder, "-c", beside_sums(folder, code), **options)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.splitlines()


def beside_sums(folder: Path, code: str) -> str:
    """Return code that runs beside the module ``sums`` in a folder."""
    (folder / "sums.py").write_text(SUMS)
    return f"from sums import *\n{code}"


def test_what_is_stored_is_found_by_the_next_process(tmp_path: Path) -> None:
    assert sums(tmp_path, "print(answer())") == ["(30, 9.0, 2)"]
    assert sums(tmp_path, "print(answer())") == ["(30, 9.0, 0)"]


def test_files_cut_short_or_of_another_kind_count_as_misses(tmp_path: Path, forks: Forked) -> None:
    code = """
answer()
for damaged in (lambda content: content[:len(content) // 3], lambda content: b"", lambda content: b"no code"):
    for path in stored():
        path.write_bytes(damaged(path.read_bytes()))
    print(answer()[:2])
"""
    assert forks(tmp_path, beside_sums(tmp_path, code)) == "(30, 9.0)\n" * 3


def test_a_disk_that_is_full_stops_nobody(tmp_path: Path, forks: Forked) -> None:
    assert forks(tmp_path, beside_sums(tmp_path, "print(answer()[:2])"), full=True) == "(30, 9.0)\n"
    assert not list((tmp_path / "cache").rglob("*.tmp.*"))  # no part of a file either


def test_a_folder_that_is_removed_midway_comes_again(tmp_path: Path, forks: Forked) -> None:
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
print(fresh(np.arange(3.0)), len(stored()) > 0)
"""
    assert forks(tmp_path, beside_sums(tmp_path, code)) == "9.0 True\n"


def test_where_nothing_can_be_written_a_process_compiles_for_itself(tmp_path: Path, forks: Forked) -> None:
    """A file stands in the folder's place, which stops root, too."""
    (tmp_path / "cache").touch()
    assert forks(tmp_path, beside_sums(tmp_path, "print(answer()[:2])")) == "(30, 9.0)\n"


def test_a_folder_that_cannot_be_written_midway(tmp_path: Path, forks: Forked) -> None:
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
Path("cache").touch()
print(fresh(np.arange(3.0)), fresh(np.arange(2)))
"""
    assert forks(tmp_path, beside_sums(tmp_path, code)) == "9.0 3\n"


def test_without_numba_kernels_are_python(tmp_path: Path) -> None:
    code = "print(*map(float, answer()), stored())"
    assert sums(tmp_path, code, env={"NUMBA_DISABLE_JIT": "1"}) == ["30.0 9.0 0.0 []"]
