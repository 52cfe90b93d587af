"""What a function reaches: the values that its code names, and a digest of all that compiled code is made from.

A function reaches globals, attributes of modules among them, what its closure holds, and its defaults. Functions of
installed packages (numpy, the standard library) are known by their names; all others are followed.
"""

from __future__ import annotations

import hashlib
import os
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dis import get_instructions
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

Function = Callable[..., Any]

_HOME = Path(__file__).resolve().parents[1]
OURS = (*(str(_HOME / name) + os.sep for name in ("theory", "fluid", "bounds")), str(_HOME / "packproof.py"))
"""Where packproof's own code is."""

INSTALLED = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))
"""Where installed packages are, packproof perhaps among them."""


def source_of(function: Function) -> FunctionType:
    """Return the Python function behind a compiled one; any other function is its own source."""
    return cast(FunctionType, getattr(function, "py_func", function))


def is_followed(value: object) -> bool:
    """Return whether a value is a function, compiled or not, of packproof or of its users."""
    source = getattr(value, "py_func", value)
    if not isinstance(source, FunctionType):
        return False
    file = source.__code__.co_filename
    return file.startswith(OURS) or not file.startswith(INSTALLED)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those that are defined within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@cache
def global_names(code: CodeType) -> tuple[str, ...]:
    """Return the global names that code reads, functions within it included, in alphabetical order."""
    reads = (one for part in _codes(code) for one in get_instructions(part))
    return tuple(sorted({one.argval for one in reads if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}))


def reached(source: FunctionType) -> Iterator[tuple[str, Any, bool]]:
    """Yield what a function reaches: words for it, the value, and whether it is a global of the function's module.

    Examples
    --------
    >>> import math
    >>> def half(x, step=0.5): return math.floor(x * step)
    >>> [(words, is_global) for words, _, is_global in reached(half)]
    [('math', True), ('math.floor', False), ('the default 0.5', False)]
    """
    for name in global_names(source.__code__):
        if name in source.__globals__:
            yield name, source.__globals__[name], True
    yield from ((words, value, False) for words, value in _attributes(source))
    for name, cell in zip(source.__code__.co_freevars, source.__closure__ or (), strict=True):
        with suppress(ValueError):  # a name that has not been assigned yet
            yield name, cell.cell_contents, False
    for value in (*(source.__defaults__ or ()), *(source.__kwdefaults__ or {}).values()):
        yield f"the default {getattr(value, '__name__', value)}", value, False


def _attributes(source: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function reads as attributes of modules that it names."""
    for code in _codes(source.__code__):
        value: Any = None
        words = ""
        for one in get_instructions(code):
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                value, words = source.__globals__.get(one.argval), one.argval
            elif one.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                value, words = getattr(value, one.argval, None), f"{words}.{one.argval}"
                yield words, value
            else:
                value = None


def digest_of(function: Function, options: Mapping[str, bool]) -> str:
    """Return a digest of a function, of all that it reaches, of options, and of the version of numba.

    Modules are part of it, as stored code can be read where they have the same names alone. A value that has no text of
    its own, but its address, makes a digest that no other process has.
    """
    import numba

    number: dict[FunctionType, int] = {source_of(function): 0}
    waiting = [source_of(function)]

    def text(value: Any) -> str:
        if is_followed(value):
            source = source_of(value)
            if source not in number:
                number[source] = len(number)
                waiting.append(source)
            return f"function {number[source]} {getattr(value, 'targetoptions', '')}"
        if isinstance(value, tuple):
            return f"{type(value).__qualname__}({', '.join(map(text, value))})"
        return _text_of(value)

    parts: list[Any] = [numba.__version__, sorted(options.items())]
    while waiting:
        source = waiting.pop()
        compiled_with = sorted(source.__dict__.get("compiled_with", {}).items())
        values = [(words, text(value)) for words, value, _ in reached(source)]
        parts.append((source.__module__, _text_of(source.__code__), compiled_with, values))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _text_of(value: Any) -> str:
    """Return what of a value may be part of compiled code: names of functions and modules, all else by its content."""
    if isinstance(value, CodeType):
        constants = [_text_of(constant) for constant in value.co_consts]
        return f"{value.co_code.hex()} {value.co_names} {value.co_varnames} {constants}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, type):
        members = [(one.name, one.value) for one in value] if issubclass(value, Enum) else getattr(value, "_fields", "")
        return f"{value.__module__} {value.__qualname__} {members}"
    if callable(value) or isinstance(value, ModuleType):
        return f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', getattr(value, '__name__', ''))}"
    return f"{type(value).__qualname__} {value!r}"
