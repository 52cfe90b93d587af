"""Machine code on disk: other code has another name, damage counts as a miss, and a full disk stops nobody."""

from __future__ import annotations

import errno
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.attacks.compiled import limit_files
from theory.compiled import cache_prefix, code_cache, has_machine_code, kernel
from theory.compiled.code_cache import digest_of

ROOT = Path(__file__).parent.parent.parent

CALLER = "from theory.compiled import kernel\nfrom callee import value\n@kernel\ndef call(x): return {}\n"

ELSEWHERE = {
    "kernel": (
        CALLER.format("value(x)"),
        "from theory.compiled import kernel\n@kernel\ndef value(x): return x + {}\n",
    ),
    "function of numba": (CALLER.format("value(x)"), "from numba import njit\n@njit\ndef value(x): return x + {}\n"),
    "constant": (CALLER.format("x + value"), "value = {}\n"),
    "constants": (CALLER.format("x + value[1]"), "value = (5, {})\n"),
    "array": (CALLER.format("x + value[1]"), "import numpy as np\nvalue = np.array([5, {}])\n"),
    "class": (
        CALLER.format("x + value(5, 1)[1] * 0"),
        "from typing import NamedTuple\nclass value(NamedTuple):\n    first: int\n    number{}: int\n",
    ),
    "compiled form": (
        CALLER.format("value(x)"),
        "from numba.extending import overload\ndef value(x): ...\n"
        "@overload(value)\ndef compiled(x): return lambda x: x + {}\n",
    ),
    "kernel of a module": (
        "from theory.compiled import kernel\nimport callee\n@kernel\ndef call(x): return callee.value(x)\n",
        "from theory.compiled import kernel\n@kernel\ndef value(x): return x + {}\n",
    ),
    "constant of a module": (
        "from theory.compiled import kernel\nimport callee\n@kernel\ndef call(x): return x + callee.value\n",
        "value = {}\n",
    ),
    "closure": (
        "from theory.compiled import bound, kernel, step\nimport callee\n"
        "def made(n):\n    @step\n    def add(x): return x + n\n    return add\n"
        "@kernel\ndef outer(x): return inner(x)\n@step\ndef inner(x): return x\n"
        "call = bound(outer, inner=made(callee.value))\n",
        "value = {}\n",
    ),
    "default": (
        "from theory.compiled import kernel, step\nfrom callee import value\n@step\ndef add(x, n=value): return x + n\n"
        "@kernel\ndef call(x): return add(x)\n",
        "value = {}\n",
    ),
    "callee below": (
        "from theory.compiled import kernel\n@kernel\ndef call(x): return below(x)\n"
        "from callee import value\n@kernel\ndef below(x): return value(x)\n",
        "from theory.compiled import kernel\n@kernel\ndef value(x): return x + {}\n",
    ),
}
"""A caller, and what it calls in another file, in which a number changes."""


@pytest.mark.parametrize("what", ELSEWHERE)
def test_other_code_elsewhere_has_another_digest(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = []
    for place, number in enumerate((1, 2, 1)):
        folder = tmp_path / str(place)
        folder.mkdir()
        for name, text in zip(("caller", "callee"), ELSEWHERE[what], strict=True):
            (folder / f"{name}.py").write_text(text.replace("{}", str(number)))
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        with monkeypatch.context() as patch:
            patch.syspath_prepend(folder)
            call = importlib.import_module("caller").call
        digests.append(digest_of(call.py_func))
        for name in ("caller", "callee"):
            monkeypatch.delitem(sys.modules, name)
    assert digests[0] != digests[1]
    assert digests[0] == digests[2]


def run_in(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a cache there."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    where = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment = os.environ | where | {"NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120, **options
    )


@pytest.mark.parametrize("what", ["closure", "kernel of a module"])
def test_a_change_elsewhere_changes_the_answer(what: str, tmp_path: Path) -> None:
    caller, callee = ELSEWHERE[what]
    (tmp_path / "caller.py").write_text(f"{caller}print(call(1))\n")
    answers = []
    for number in (1, 2, 1):
        (tmp_path / "callee.py").write_text(callee.format(number))
        run = run_in(tmp_path, "caller.py")
        assert run.returncode == 0, run.stderr
        answers.append(int(run.stdout))
    assert answers == [2, 3, 2]


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
    return sorted(Path("cache").rglob("*.nbc"))
"""


def sums(folder: Path, code: str, **options: Any) -> Any:
    """Return what code prints, run beside the module ``sums``: a line each, without a word on stderr."""
    (folder / "sums.py").write_text(SUMS)
    run = run_in(folder, "-c", f"from sums import *\n{code}", **options)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.splitlines()


def test_a_flipped_bit_counts_as_a_miss(tmp_path: Path) -> None:
    """In the digest, the pickled signature, the machine code and the end: compiled anew, and stored anew."""
    code = """
print(answer(), answer())
for place in (0, 31, 32, 40, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, -1):
    for path in stored():
        content = bytearray(path.read_bytes())
        content[int(place * len(content)) if 0 < place < 1 else int(place)] ^= 16
        path.write_bytes(content)
    print(answer(), answer())
"""
    assert sums(tmp_path, code) == ["(30, 9.0, 2) (30, 9.0, 0)"] * 16


def test_a_file_cut_short_empty_or_of_another_signature_counts_as_a_miss(tmp_path: Path) -> None:
    code = """
answer()
first, second = stored()
for damaged in (first.read_bytes()[:-100], b"", b"not machine code", second.read_bytes()):
    first.write_bytes(damaged)
    print(answer(), answer())
print(len([path for path in Path("cache").rglob("*") if path.is_file()]))
"""
    assert sums(tmp_path, code) == [*(["(30, 9.0, 1) (30, 9.0, 0)"] * 4), "2"]


def test_code_of_types_whose_module_is_gone_counts_as_a_miss(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"
    )
    code = """
def add(pair): return pair[0] + pair[1]
import shapes
print(kernel(add)(shapes.Pair(1, 2)))
del sys.modules["shapes"]
Path("shapes.py").rename("gone.py")
import gone
print(kernel(add)(gone.Pair(1, 2)), kernel(add)((1, 2)))
"""
    (tmp_path / "adding.py").write_text(code.replace("import shapes", "from sums import *\nimport shapes", 1))
    assert sums(tmp_path, "import adding") == ["3", "3 3"]


def test_a_disk_that_is_full_stops_nobody(tmp_path: Path) -> None:
    code = "print(answer(), answer())\nprint([path for path in Path('cache').rglob('*') if path.is_file()])"
    lines = sums(tmp_path, code, preexec_fn=limit_files)
    assert lines == ["(30, 9.0, 2) (30, 9.0, 2)", "[]"]  # no part of a file either


def test_a_folder_that_is_removed_midway_comes_again(tmp_path: Path) -> None:
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
print(fresh(np.arange(3.0)), len(stored()))
"""
    assert sums(tmp_path, code) == ["9.0 1"]


def test_a_folder_that_cannot_be_written_midway(tmp_path: Path) -> None:
    """A file stands in its place, which stops root, too."""
    code = """
import shutil
fresh = kernel(total)
fresh(np.arange(2))
shutil.rmtree("cache")
Path("cache").touch()
print(fresh(np.arange(3.0)), fresh(np.arange(2)), len(stored()))
"""
    assert sums(tmp_path, code) == ["9.0 3 0"]


@kernel
def thrice(x: float) -> float:
    return 3 * x


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_what_cannot_be_written_midway_is_not_stored(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(code_cache, "_write", refused)
    fresh = kernel(thrice.py_func)  # type: ignore[attr-defined]
    assert fresh(np.float32(number)) == 3 * number
    assert has_machine_code(fresh, np.float32(1))  # in memory


def test_what_is_flushed_is_compiled_anew() -> None:
    fresh: Any = kernel(thrice.py_func)  # type: ignore[attr-defined]
    assert fresh(2) == 6
    assert has_machine_code(kernel(thrice.py_func), 2)  # type: ignore[attr-defined]
    fresh.code_cache.flush()
    assert not has_machine_code(kernel(thrice.py_func), 2)  # type: ignore[attr-defined]
    assert not has_machine_code(kernel(thrice.py_func))  # type: ignore[attr-defined]
    place = cache_prefix(fresh)
    assert place is not None
    assert re.search(r"thrice-\d+\.py\d+-[0-9a-f]{12}$", str(place))
