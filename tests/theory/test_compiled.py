"""Kernels: copies with other callees, copies as Python, their forms for callers of both kinds, any version of numba."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from theory.compiled import (
    bound,
    cache_prefix,
    checked,
    checked_copy,
    code_cache,
    kernel,
    noticing_compilation,
    plain,
    plain_unless_compiled,
    reference,
    routine,
    source_of,
    uncollected,
)
from theory.compiled import step as inner
from theory.compiled.code_cache import digest_of
from theory.compiled.kernels import TESTED

ROOT = Path(__file__).parent.parent.parent
linked = pytest.mark.skipif(numba.__version__ not in TESTED, reason="numba compiles in its own way")


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
    source = plain_unless_compiled(both)
    assert source.__globals__["top"] is top
    assert not hasattr(source.__globals__["never_compiled"], "py_func")
    assert source(1) == 10
    assert not never_compiled.overloads


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

    def refused(*_: object) -> None:
        raise RuntimeError("no locator available")

    monkeypatch.setattr(code_cache, "CodeCache", refused)


@linked
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
    assert cache_prefix(made) is None
    assert made(5) == 12


@inner
def at(values: Any, place: int) -> int:
    return int(values[place])


@inner
def behind_all(values: Any) -> int:
    return int(values[-1])


@inner
def entry_at(table: Any, row: int, column: int) -> int:
    return int(table[row, column] + table[row, 0])


@inner
def write_at(values: Any, place: int) -> None:
    values[place] = 100


def test_indices_of_kernels_and_of_checked_functions_count_from_the_end() -> None:
    view = np.arange(10)[5:]
    assert [way(at.py_func)(view, -2) for way in (kernel, checked)] == [view[-2]] * 2  # type: ignore[attr-defined]
    assert behind_all(view) == view[-1]


@linked
def test_indices_of_steps_are_taken_as_they_are() -> None:
    """The number before the view is in the same memory: a step that reads it has not added the length."""
    numbers = np.arange(10)
    view, table = numbers[5:], numbers.reshape(2, 5)[1:]
    assert [at(view, -2), routine(at.py_func)(view, -2), at(view, np.int32(-2))] == [3] * 3  # type: ignore[attr-defined]
    assert entry_at(table, -1, 4) == 4 + 0
    assert kernel(entry_at.py_func)(table, -1, 4) == 9 + 5  # type: ignore[attr-defined]
    write_at(view, -2)
    assert numbers.tolist() == [0, 1, 2, 100, 4, 5, 6, 7, 8, 9]


def test_a_callee_compiled_in_another_way_is_other_code() -> None:
    digests = {digest_of(source_of(bound(top, step=way(step.py_func)))) for way in (kernel, inner, checked, routine)}  # type: ignore[attr-defined]
    assert len(digests) == (4 if numba.__version__ in TESTED else 3)  # in numba's own way all steps are checked


def test_what_is_no_function_is_refused() -> None:
    for other in (top, np.sin, 3):
        with pytest.raises((TypeError, AttributeError)):
            kernel(other)  # type: ignore[type-var]


def increased(x: int) -> int:
    return step(x) + 1


def negated(x: int) -> int:
    return -x


def sum_of_two(x: int) -> int:
    """Call two kernels; not `both`, one of whose kernels is never compiled."""
    return top(x) + middle(x)


@pytest.mark.parametrize("function", [step, middle, top, sum_of_two, increased])
def test_copies_mean_what_the_reference_says(function: Callable[[int], int]) -> None:
    """Compiled or not, with a function replaced by its name or none."""
    source = source_of(function)
    assert [way(source)(5) for way in (kernel, routine, plain)] == [source(5)] * 3 == [reference.kernel(source)(5)] * 3
    by_name = reference.bound(function, step=negated)
    for x in (0, 3, -8):
        assert bound(function, step=negated)(x) == plain(function, step=negated)(x) == by_name(x)
        assert checked_copy(function)(x) == reference.checked_copy(function)(x) == function(x)


UNTESTED = """
import sys
import numba
numba.__version__ = "0.0"
import numpy as np
import packproof
from theory.compiled import bound, kernel, noticing_compilation, plain, step
from theory.compiled.code_cache import CachedKernel

@step
def entry(values, at): return values[at]

@step
def power(values, at): return 1 if at == 0 else 2 * power(values, at - 1)

@kernel
def total(values, most):
    result = 0
    for i in range(most):
        result += entry(values, i)
    return result

values = np.arange(5, dtype=np.int32)
begun = []
with noticing_compilation(lambda: begun.append(1)):
    print(total(values, 5), bound(total, entry=power)(values, 3), plain(total)(values, 5))
for call in (kernel(total.py_func), packproof.step(lambda values, at: entry(values, at))):
    try:
        call(values, 10**8)
    except IndexError:
        print("IndexError")
print(type(total) is CachedKernel, "theory.compiled.inside" in sys.modules, len(begun))
"""


@pytest.mark.slow
def test_another_version_of_numba_runs_the_same_path_with_nothing_of_its_inner_classes(tmp_path: Path) -> None:
    (tmp_path / "untested.py").write_text(UNTESTED)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "untested.py"]
    compiled = []
    for _ in range(2):
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        *answers, last = run.stdout.splitlines()
        assert answers == ["10 7 10", "IndexError", "IndexError"]
        assert last.startswith("True False ")
        compiled.append(int(last.split()[-1]))
    assert compiled[0] > 3  # with what is called
    assert compiled[1] == 0  # stored
