"""Kernels: copies with other callees, copies as Python, and a cache that notices a changed callee elsewhere."""

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.compiler import Flags

from theory.compile_costs import uncollected
from theory.inside import Compiled
from theory.jit import bound, checked, kept_under, kernel, noticing_compilation, plain, plain_unless_kept, routine
from theory.jit import step as inner


@kernel
def step(x: int) -> int:
    return x + 1


@kernel
def middle(x: int) -> int:
    return 2 * step(x)


@kernel
def top(x: int) -> int:
    return middle(x) + step(x)


def test_bound_reaches_through_the_kernels_between() -> None:
    tenfold = bound(top, step=lambda x: 10 * x)
    assert (top(1), tenfold(1), top(1)) == (6, 30, 6)


def test_two_bindings_do_not_share_machine_code() -> None:
    assert [bound(top, step=other)(3) for other in (lambda x: x, lambda x: -x)] == [9, -9]


def test_plain_is_python_throughout() -> None:
    source = plain(top)
    assert not hasattr(source, "py_func")
    assert not hasattr(source.__globals__["middle"].__globals__["step"], "py_func")
    assert source(1) == 6
    assert plain(top, step=lambda x: f"{x}")(1) == "111"  # only Python doubles a text by 2 *


def test_options_of_the_compiler_are_equal_by_what_they_say() -> None:
    set_to_default, other = Flags(), Flags()
    set_to_default.nrt = Flags().nrt
    other.forceinline = not Flags().forceinline
    assert set_to_default == Flags() != other != "options"
    assert hash(set_to_default) == hash(Flags())


def test_the_collector_rests_while_something_compiles() -> None:
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


@kernel
def never_compiled(x: int) -> int:
    return 2 * step(x)


def both(x: int) -> int:
    return top(x) + never_compiled(x)


def test_only_what_would_have_to_be_compiled_becomes_python() -> None:
    assert top(1) == 6
    source = plain_unless_kept(both)
    assert source.__globals__["top"] is top
    assert not hasattr(source.__globals__["never_compiled"], "py_func")
    assert source(1) == 10
    assert not never_compiled.overloads


ELSEWHERE = {
    "kernel": ("value(x)", "from theory.jit import kernel\n@kernel\ndef value(x): return x + {}\n"),
    "constant": ("x + value", "value = {}\n"),
    "constants": ("x + value[1]", "value = (5, {})\n"),
    "compiled form": (
        "value(x)",
        "from numba.extending import overload\ndef value(x): ...\n"
        "@overload(value)\ndef compiled(x): return lambda x: x + {}\n",
    ),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_change_in_another_file_is_noticed(what: str, tmp_path: Path) -> None:
    expression, other = ELSEWHERE[what]
    (tmp_path / "caller.py").write_text(
        "from theory.jit import kernel\nfrom callee import value\n"
        f"@kernel\ndef call(x): return {expression}\n"
        "print(call(1))\n"
    )
    answers = []
    for number in (1, 2, 1):
        (tmp_path / "callee.py").write_text(other.format(number))
        paths = os.pathsep.join([str(tmp_path), *sys.path])
        environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [sys.executable, "caller.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        answers.append(int(run.stdout))
    assert answers == [2, 3, 2]


def half(values: Any, at: int) -> int:
    if at >= len(values):
        raise IndexError("no such place")
    return values[at] // 2


halved = routine(half)


@kernel
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def halves(values: Any, at: int) -> int:
    return halved(values, 0) + halved(values, at) + halved(values, values[0]) + halved(values, len(values) - 1)


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to keep machine code, as where no folder can be written."""

    def refused(_: object) -> None:
        raise RuntimeError("no locator available")

    monkeypatch.setattr(Compiled, "enable_caching", refused)


@pytest.mark.usefixtures("nothing_kept")
def test_a_function_for_compiled_callers_is_made_once_whatever_integers_they_have() -> None:
    values = np.array([2, 40, 6], np.int32)
    made = bound(halves, halved=half)
    inner: Any = made.py_func.__globals__["halved"]  # type: ignore[attr-defined]
    begun: list[int] = []
    with noticing_compilation(lambda: begun.append(1)):
        assert made(values, 1) == 1 + 20 + 3 + 3
    assert len(inner.inside.overloads) == 1  # of a constant, of 64 bits and of 32
    assert len(begun) == 2
    assert not inner.overloads  # there is no form for Python yet


def test_the_form_for_python_stands_beside_the_one_for_compiled_callers() -> None:
    values = np.array([2, 40, 6], np.int32)
    assert (halves(values, 1), halved(values, 1), halves(values, 2)) == (27, 20, 10)
    for call in (halves, halved):
        with pytest.raises(IndexError, match="no such place"):
            call(values, 3)


def test_a_function_that_calls_itself() -> None:
    assert factorial(10) == bound(top, middle=factorial)(10) - 11 == 3_628_800


@pytest.mark.usefixtures("nothing_kept")
def test_where_machine_code_cannot_be_kept_it_is_made_in_every_process() -> None:
    made = bound(top, step=lambda x: x - 1)
    assert kept_under(made) is None
    assert made(5) == 12


@pytest.mark.parametrize("spoilt", ["*.nbi", "*.nbc"])
def test_kept_code_that_cannot_be_read_is_made_anew(tmp_path: Path, spoilt: str) -> None:
    """Types whose module is gone, or a file that was cut short: compiled again, and kept again."""
    (tmp_path / "one.py").write_text(
        "from theory.jit import kernel\n@kernel\ndef twice(x): return 2 * x\nprint(twice(21))\n"
    )
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "0",
        "PYTHONPATH": str(Path(__file__).parent.parent.parent),
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
    }

    def answer() -> str:
        command = [sys.executable, str(tmp_path / "one.py")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert answer() == "42\n"
    (kept,) = (tmp_path / "kept").rglob(spoilt)
    whole = kept.read_bytes()
    for part in (whole[: len(whole) * 2 // 3], b""):
        kept.write_bytes(part)
        assert answer() == "42\n"
        assert len(kept.read_bytes()) == len(whole)


@inner
def at(values: Any, place: int) -> int:
    return int(values[place])


@inner
def behind_all(values: Any) -> int:
    return int(values[-1])


def test_a_step_takes_an_index_as_it_is_and_all_else_counts_from_the_end() -> None:
    """The number before the view is in the same memory: a step that reads it has not added the length."""
    numbers = np.arange(10)
    view = numbers[5:]
    assert at(view, -2) == numbers[3]
    assert [kernel(at.py_func)(view, -2), checked(at.py_func)(view, -2)] == [view[-2]] * 2
    assert behind_all(view) == view[-1]
