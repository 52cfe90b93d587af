"""Kernels: copies with other callees, copies as Python, and their forms for callers of both kinds."""

import gc
from typing import Any

import numpy as np
import pytest
from numba.core.compiler import Flags

from theory.compiled import (
    bound,
    cache_prefix,
    checked,
    code_cache,
    kernel,
    noticing_compilation,
    plain,
    plain_unless_compiled,
    routine,
    source_of,
    uncollected,
)
from theory.compiled import step as inner
from theory.compiled.code_cache import digest_of
from theory.compiled.inside import QuickFlags


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
    set_to_default, other = QuickFlags(), QuickFlags()
    set_to_default.nrt = QuickFlags().nrt
    other.forceinline = not other.forceinline
    assert set_to_default == QuickFlags() != other != "options"
    assert hash(set_to_default) == hash(QuickFlags())
    assert Flags() != QuickFlags() != Flags() == Flags()  # other compilations stay among themselves


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


def test_indices_count_from_the_end() -> None:
    """The number before the view is in the same memory: what reads it has not added the length."""
    view = np.arange(10)[5:]
    calls = [at, *(way(at.py_func) for way in (kernel, checked, routine))]  # type: ignore[attr-defined]
    assert [call(view, -2) for call in calls] == [view[-2]] * 4
    assert behind_all(view) == view[-1]


def test_a_callee_compiled_in_another_way_is_other_code() -> None:
    digests = {digest_of(source_of(bound(top, step=way(step.py_func)))) for way in (kernel, inner, checked, routine)}  # type: ignore[attr-defined]
    assert len(digests) == 4


def test_what_is_no_function_is_refused() -> None:
    for other in (top, np.sin, 3):
        with pytest.raises((TypeError, AttributeError)):
            kernel(other)  # type: ignore[type-var]
