"""What a function reaches is seen and copied, whatever the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

import packproof
from theory.compiled import cache_prefix, called_as, checked, checked_copy, kernel, plain, source_of, step
from theory.compiled.copies import references


@step
def tool(values: Any, at: int) -> int:
    return int(values[at])


@step
def other(values: Any, at: int) -> int:
    return -1 if len(values) > 0 else at


beside = ModuleType("beside_the_policy")
beside.tool = tool  # type: ignore[attr-defined]
beside.constant = 3  # type: ignore[attr-defined]
sys.modules["beside_the_policy"] = beside
exec("def helper(values, at): return tool(values, at)", beside.__dict__)


class Kit(NamedTuple):
    tool: Any


KIT, TUPLE, alias = Kit(tool), (tool, (tool,)), tool


def by_name(values: Any, at: int) -> int:
    return tool(values, at)


def by_attribute(values: Any, at: int) -> int:
    return beside.tool(values, at)  # type: ignore[no-any-return]


def by_alias(values: Any, at: int) -> int:
    return alias(values, at)


def by_default(values: Any, at: int, go: Any = tool) -> int:
    return go(values, at)  # type: ignore[no-any-return]


def by_tuple(values: Any, at: int) -> int:
    return TUPLE[1][0](values, at)


def by_named_tuple(values: Any, at: int) -> int:
    return KIT.tool(values, at)  # type: ignore[no-any-return]


def by_helper(values: Any, at: int) -> int:
    return beside.helper(values, at)  # type: ignore[no-any-return]


@njit  # type: ignore[untyped-decorator]
def compiled_by_numba(values: Any, at: int) -> Any:
    return tool(values, at)


def by_njit(values: Any, at: int) -> int:
    return int(compiled_by_numba(values, at))


def _closed(go: Any) -> Callable[[Any, int], int]:
    def by_closure(values: Any, at: int) -> int:
        return go(values, at)  # type: ignore[no-any-return]

    return by_closure


by_closure = _closed(tool)
WAYS = [
    by_name, by_attribute, by_alias, by_default, by_tuple, by_named_tuple, by_helper, by_njit, by_closure
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:First-class function type")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_to_a_tool_is_seen_and_copied(way: Callable[..., int]) -> None:
    values = np.arange(4)
    assert way(values, 2) == 2
    reached = {source_of(thing) for _, thing in references(source_of(way)) if callable(thing)}
    assert source_of(tool) in reached or way in (by_helper, by_njit)
    looking = checked_copy(way)
    assert looking(values, -1) == plain(way)(values, -1) == 3
    for function in (looking, plain(way)):
        with pytest.raises(IndexError):
            function(values, 10**8)


def test_what_a_checked_function_calls_looks_at_its_indices_too() -> None:
    def between(values: Any, at: int) -> int:
        return tool(values, at) + 1

    for made in (checked, packproof.step, packproof.kernel):
        caller = made(between)
        assert caller(np.arange(4), 2) == 3
        with pytest.raises(IndexError):
            caller(np.arange(4), 10**8)


def test_the_users_step_counts_from_the_end_as_python_does() -> None:
    @packproof.step
    def from_the_end(values: Any, k: int) -> int:
        return int(values[-k])

    values = np.arange(5)
    for k in range(-4, 6):
        assert from_the_end(values, k) == from_the_end.py_func(values, k) == values[-k]  # type: ignore[attr-defined]
    for k in (6, -5):
        with pytest.raises(IndexError):
            from_the_end(values, k)


def test_calls_from_python_run_another_form_wherever_they_come_from() -> None:
    tools = {"go": tool}
    with called_as(plain):
        with pytest.raises(IndexError):
            tools["go"](np.arange(4), 10**8)
        with called_as(lambda _: other.py_func):  # type: ignore[attr-defined]
            assert tool(np.arange(4), 1) == -1
        assert tool(np.arange(4), 1) == 1
    assert "__call__" not in type(tool).__dict__


def test_recursion() -> None:
    """Compiled code cannot be copied before it is compiled; Python finds the copy."""

    def down(values: Any, at: int) -> int:
        return tool(values, 0) if at == 0 else down(values, at - 1)

    with pytest.raises(TypeError, match="down calls itself"):
        checked_copy(down)
    assert plain(down, tool=other)(np.arange(4), 2) == -1


def test_constants_of_other_modules_are_part_of_the_digest() -> None:
    """Numba freezes them: machine code that was kept for one value must not be used for another."""

    def read(x: int) -> int:
        return x + beside.constant  # type: ignore[no-any-return]

    names = []
    for beside.constant in (3, 4, 3):  # type: ignore[attr-defined]
        made = kernel(read)
        names.append(cache_prefix(made))
        assert made(1) == 1 + beside.constant  # type: ignore[attr-defined]
    assert names[0] == names[2] != names[1]
