"""Machine code on disk: what is stored is found again, other code has another name, and no fault changes an answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.tools.attacks.compiled import limit_files

ROOT = Path(__file__).parents[2]


def run_in(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a cache there."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    where = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0"} | where | options.pop("env", {})
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_a_change_in_another_file_changes_the_answer(tmp_path: Path) -> None:
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
        run = run_in(tmp_path, "caller.py")
        assert run.returncode == 0, run.stderr
        answers.append(int(run.stdout))
    assert answers == [2, 3, 2]


def test_closures_with_other_numbers_are_other_code(tmp_path: Path) -> None:
    """Numba looks at the closure of a kernel alone, not at that of a step."""
    (tmp_path / "factory.py").write_text(
        "import sys\nfrom theory.compiled import bound, step\n"
        "def policy(n):\n    def place(x): return x + n\n    return place\n"
        "@step\ndef place(x): return 0\n@step\ndef loop(x): return place(x)\n"
        "print(bound(loop, place=policy(int(sys.argv[1])))(1))\n"
    )
    assert [run_in(tmp_path, "factory.py", number).stdout for number in "121"] == ["2\n", "3\n", "2\n"]


OWN = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from theory.compiled import bound, noticing_compilation, step

spec = spec_from_file_location(sys.argv[1], "own.py")
own = sys.modules[sys.argv[1]] = module_from_spec(spec)
spec.loader.exec_module(own)

@step
def place(x): return 0
@step
def loop(x): return 10 * place(x)

begun = []
with noticing_compilation(lambda: begun.append(1)):
    print(bound(loop, checked=True, place=own.place)(1), len(begun) > 0)
"""


def test_the_code_of_an_author_is_found_under_another_name_of_its_module(tmp_path: Path) -> None:
    """A file that was edited elsewhere, or that is imported, is another module; numba imports those of stored code."""
    (tmp_path / "run.py").write_text(OWN)
    printed = []
    for name, text in (("a", "1"), ("b", "1  # edited"), ("b", "2"), ("a", "2")):
        (tmp_path / "own.py").write_text(f"def place(x):\n    return x + {text}\n")
        done = run_in(tmp_path, "run.py", name)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.strip())
    assert printed == ["20 True", "20 False", "30 True", "30 False"]


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
    (folder / "sums.py").write_text(SUMS)
    run = run_in(folder, "-c", f"from sums import *\n{code}", **options)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.splitlines()


def test_what_is_stored_is_found_by_the_next_process(tmp_path: Path) -> None:
    assert sums(tmp_path, "print(answer())") == ["(30, 9.0, 2)"]
    assert sums(tmp_path, "print(answer())") == ["(30, 9.0, 0)"]


def test_files_cut_short_or_of_another_kind_count_as_misses(tmp_path: Path) -> None:
    code = """
answer()
for damaged in (lambda content: content[:len(content) // 3], lambda content: b"", lambda content: b"no code"):
    for path in stored():
        path.write_bytes(damaged(path.read_bytes()))
    print(answer()[:2])
"""
    assert sums(tmp_path, code) == ["(30, 9.0)"] * 3


def test_a_disk_that_is_full_stops_nobody(tmp_path: Path) -> None:
    assert sums(tmp_path, "print(answer()[:2])", preexec_fn=limit_files) == ["(30, 9.0)"]
    assert not list((tmp_path / "cache").rglob("*.tmp.*"))  # no part of a file either


def test_a_folder_that_is_removed_midway_comes_again(tmp_path: Path) -> None:
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
print(fresh(np.arange(3.0)), len(stored()) > 0)
"""
    assert sums(tmp_path, code) == ["9.0 True"]


def test_where_nothing_can_be_written_a_process_compiles_for_itself(tmp_path: Path) -> None:
    """A file stands in the folder's place, which stops root, too."""
    (tmp_path / "cache").touch()
    assert sums(tmp_path, "print(answer()[:2])") == ["(30, 9.0)"]


def test_a_folder_that_cannot_be_written_midway(tmp_path: Path) -> None:
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
Path("cache").touch()
print(fresh(np.arange(3.0)), fresh(np.arange(2)))
"""
    assert sums(tmp_path, code) == ["9.0 3"]


def test_without_numba_kernels_are_python(tmp_path: Path) -> None:
    code = "print(*map(float, answer()), stored())"
    assert sums(tmp_path, code, env={"NUMBA_DISABLE_JIT": "1"}) == ["30.0 9.0 0.0 []"]
