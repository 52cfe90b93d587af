"""Kernels, steps, loops with other functions, and the name under which machine code is stored."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import int64, njit
from numba.core.errors import NumbaError, TypingError

from theory.compiled import (
    bound,
    is_marked,
    kernel,
    noticing_compilation,
    plain,
    result_type,
    routine,
    step,
)
from theory.reached import digest_of, global_names, source_of

ROOT = Path(__file__).parents[2]


@step
def change(x: int) -> int:
    return x + 1


@routine
def middle(x: int) -> int:
    return 2 * change(x)


@kernel
def top(x: int) -> int:
    return middle(x) + change(x)


def test_a_kernel_is_its_source_compiled() -> None:
    assert (top(1), source_of(top)(1), plain(top)(1), bound(top)(1)) == (6, 6, 6, 6)


def test_bound_reaches_through_the_functions_between() -> None:
    tenfold = bound(top, change=lambda x: 10 * x)
    assert (top(1), tenfold(1), top(1)) == (6, 30, 6)


def test_two_bindings_do_not_share_machine_code() -> None:
    assert [bound(top, change=other)(3) for other in (lambda x: x, lambda x: -x)] == [9, -9]


def test_a_given_function_reaches_given_functions() -> None:
    assert bound(top, middle=lambda x: 100 * change(x), change=lambda x: x - 1)(5) == 400 + 4


def test_plain_is_python_throughout() -> None:
    assert isinstance(plain(top), FunctionType)
    assert plain(top, change=lambda x: f"{x}")(1) == "111"  # only Python doubles a text by 2 *


def calls_a_kernel(x: int) -> Any:
    return top(x)


def test_plain_replaces_kernels_by_their_sources() -> None:
    begun: list[int] = []
    with noticing_compilation(lambda: begun.append(1)):
        assert plain(calls_a_kernel)(2.5) == 10.5
    assert not begun


def test_a_step_is_python_to_python() -> None:
    """Machine code without an entry from Python, called from Python, would end the process."""
    assert isinstance(change, FunctionType)
    assert isinstance(middle, FunctionType)
    assert change("a" and 2.5) == 3.5
    assert [is_marked(one) for one in (change, middle, top, calls_a_kernel, np.sin, 3)] == [True] * 3 + [False] * 3


class Pair(NamedTuple):
    """Arrays side by side, as a state has them."""

    first: Any
    second: Any


@step
def entry(pair: Pair, at: int) -> int:
    return int(pair.first[at])


@routine
def write(pair: Pair, at: int) -> None:
    pair.first[at] = 100


@step
def twice_removed(pair: Pair, at: int) -> int:
    return entry(pair, at)


@step
def loop(pair: Pair, most: int) -> int:
    total = 0
    for i in range(most):
        total += twice_removed(pair, i)
    return total


@step
def writing(pair: Pair, at: int) -> int:
    write(pair, at)
    return at


def test_all_that_a_checked_loop_reaches_looks_at_its_indices() -> None:
    """Steps that an unchecked kernel has compiled before are compiled anew: else they would read what is behind."""
    numbers = np.arange(10)
    pair = Pair(numbers[:5], numbers)
    assert bound(loop)(pair, 5) == 10
    assert bound(loop, checked=True)(pair, 5) == 10
    for run, at in ((loop, 6), (writing, 5)):
        bound(run)(pair, 5)
        with pytest.raises(IndexError):
            bound(run, checked=True)(pair, at)
    numbers[:] = range(10)
    with pytest.raises(IndexError):
        bound(writing, checked=True)(pair, 7)
    assert numbers.tolist() == list(range(10))


@step
def makes_an_array(x: int) -> int:
    return int(np.arange(x).sum())


def test_functions_that_make_arrays_are_compiled_where_that_is_asked_for() -> None:
    with pytest.raises(TypingError, match="makes_an_array"):
        bound(top, change=makes_an_array)(4)
    assert bound(top, change=makes_an_array, allocating=True)(4) == 18


@step
def down(n: int) -> int:
    return 0 if n == 0 else down(n - 1)


@step
def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


@step
def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


def test_functions_that_call_themselves_or_each_other_are_python() -> None:
    assert plain(down)(5) == 0
    assert plain(even)(5) is False
    assert plain(even, odd=lambda n: n)(5) == 4
    for function in (down, even):
        with pytest.raises(TypeError, match="calls itself"):
            bound(function, checked=True)


def test_what_is_no_function_is_refused() -> None:
    for other in (np.sin, 3, print):
        for mark in (kernel, step, routine):
            with pytest.raises(TypeError, match="expected a function of Python"):
                mark(other)  # type: ignore[type-var]


def digest(function: Callable[..., Any], **options: bool) -> str:
    return digest_of(source_of(function), options)


LEAST = 3
TABLE = np.arange(4)


class Kind(Enum):
    """Members whose values are part of compiled code."""

    SMALL = 1


def made(body: str, **names: Any) -> Any:
    """Return a kernel with a body, and other global names."""
    space: dict[str, Any] = {"np": np, **names}
    exec(f"def f(x): return {body}", space)
    return kernel(space["f"])


def closed(number: Any) -> Any:
    """Return a kernel that calls a step which holds a number in its closure."""

    @step
    def inner(x: int) -> int:
        return x + int(number)

    return made("g(x)", g=inner)


def module(**names: Any) -> ModuleType:
    """Return a module with some names."""
    space = ModuleType("numbers_of_an_author")
    vars(space).update(names)
    return space


def test_other_code_constants_options_and_callees_have_other_names() -> None:
    @step
    def other(x: int) -> int:
        return x + 2

    def defaults(x: int, n: int = 2) -> int:
        return x + n

    def more(x: int, n: int = 3) -> int:
        return x + n

    def keyword(n: int) -> Any:
        def added(x: int, *, n: int = n) -> int:
            return x + n

        return step(added)

    inner = step(lambda x: x + LEAST)
    kinds = [
        made("x + 1"),
        made("x + 2"),
        made("x - 1"),
        made("x + least", least=1),
        made("x + least", least=2),
        made("x + least", least=1.0),
        made("x + table[0]", table=TABLE),
        made("x + table[0]", table=TABLE + 1),
        made("x + table[0]", table=(1, 2)),
        made("x + table[0]", table=(2, 1)),
        made("x + table[0]", table=(Pair(1, 2), 1)),
        made("kind(x)", kind=np.dtype(np.int32)),
        made("kind(x)", kind=np.dtype(np.int64)),
        made("kind.SMALL", kind=Kind),
        made("kind.SMALL", kind=Enum("Kind", {"SMALL": 2}, module=__name__)),
        made("x + of.LIMIT", of=module(LIMIT=1)),
        made("x + of.LIMIT", of=module(LIMIT=2)),
        made("[x + of.LIMIT for _ in range(2)][0]", of=module(LIMIT=1)),
        made("[x + of.LIMIT for _ in range(2)][0]", of=module(LIMIT=2)),
        made("of.g(x)", of=module(g=change)),
        made("of.g(x)", of=module(g=other)),
        made("g(x)", g=change),
        made("g(x)", g=other),
        made("g(x)", g=inner),
        made("g(x)", g=routine(source_of(lambda x: x + 1))),
        made("g(x)", g=njit(lambda x: x + 5)),
        made("g(x)", g=njit(lambda x: x + 6)),
        made("g(x)", g=njit(fastmath=True)(lambda x: x + 6)),
        made("g(x)", g=step(defaults)),
        made("g(x)", g=step(more)),
        made("g(x)", g=keyword(4)),
        made("g(x)", g=keyword(5)),
        closed(1),
        closed(2),
        closed(1.0),
        bound(top),
        bound(top, change=other),
        bound(top, checked=True),
        bound(top, allocating=True),
    ]
    names = [digest(one) for one in kinds]
    assert len(set(names)) == len(names)
    assert digest(made("g(x)", g=change)) == digest(made("g(x)", g=change))
    assert digest(closed(1)) == digest(closed(1))
    assert digest(top, boundscheck=True) != digest(top)
    assert digest(bound(top, change=other)) == digest(bound(top, change=other))


def test_an_error_of_a_kernel_is_raised_once_whatever_its_kind() -> None:
    """Only what numba's cache raises makes a kernel compile and run anew."""

    @kernel
    def counts(values: Any) -> None:
        values[0] += 1
        raise OSError("as a disk would say")

    values = np.zeros(1, np.int64)
    for times in (1, 2):
        with pytest.raises(OSError, match="as a disk would say"):
            counts(values)
        assert values[0] == times


def test_global_names_are_those_of_inner_functions_too() -> None:
    def outer(state: Any) -> Any:
        return [top(state.middle) for _ in range(3)]  # `middle` is an attribute here

    assert set(global_names(outer.__code__)) >= {"top", "range"}
    assert "middle" not in global_names(outer.__code__)


def test_the_type_of_a_result_is_told_without_a_call() -> None:
    assert str(result_type(lambda x: x / 2, int64)) == "float64"
    assert str(result_type(lambda x: x > 2, int64)) == "bool"
    with pytest.raises(NumbaError, match="print_text"):
        result_type(lambda x: x.print_text(), int64)


def test_functions_of_packproof_reach_each_other_by_global_names() -> None:
    """Others are compiled without what a binding replaces, or only where some other kernel has met them before."""
    from fluid.simulation.authors import functions_reached

    marked = 0
    for room in ("theory", "fluid"):
        for found in pkgutil.walk_packages([str(ROOT / room)], f"{room}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if is_marked(value) and source_of(value).__module__ == module.__name__:
                    marked += 1
                    ways = list(functions_reached(source_of(value)))
                    assert all(is_global and is_marked(reached) for _, reached, is_global in ways), (name, ways)
    assert marked > 300
