"""What the code of a function reaches, and copies of functions in which some of that is replaced.

A function reaches the globals that its code names, the attributes of modules that it names, the values in its closure
and its defaults, and the elements of tuples among all these. `references` lists them and `rebuilt` replaces some.

Modules of packproof and of its users are looked into, and plain functions of users are followed wherever they are.
What is installed beside packproof (numpy, the standard library) stays as it is, except functions compiled by numba.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dis import get_instructions
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, cast

from numba.core.registry import CPUDispatcher

Function = Callable[..., Any]

_HOME = Path(__file__).resolve().parents[2]
OURS = tuple(str(_HOME / name) + os.sep for name in ("theory", "fluid", "bounds"))
"""The folders of packproof."""

_INSTALLED = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def source_of(function: Function) -> FunctionType:
    """Return the Python function behind a compiled one; a Python function is its own source."""
    return cast(FunctionType, getattr(function, "py_func", function))


def by_user(function: FunctionType) -> bool:
    """Return whether a function is defined outside packproof and outside installed packages."""
    return not function.__code__.co_filename.startswith((*OURS, *_INSTALLED))


@cache
def _is_open(module: ModuleType) -> bool:
    """Return whether a module is packproof's or a user's."""
    top = module.__name__.partition(".")[0]
    if top in ("theory", "fluid", "bounds", "packproof"):
        return True
    return top not in sys.stdlib_module_names and not (getattr(module, "__file__", None) or "").startswith(_INSTALLED)


def is_followed(value: object, module: str) -> bool:
    """Return whether a value that a function of a module reaches is a function whose own code matters.

    Plain functions of packproof are followed only within their module: a function of another module may have a
    compiled form that is not its code (`numba.extending.overload`).
    """
    if isinstance(value, CPUDispatcher):
        return not value.py_func.__module__.startswith("numba.")
    if not isinstance(value, FunctionType):
        return False
    return "compiled_as" in value.__dict__ or value.__module__ == module or by_user(value)


@cache
def _names(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the global names that code loads, and all names in it (attributes too), those of inner functions included.

    They are sorted, so that what depends on their order is the same in every process.
    """
    # inner functions have code objects of their own, among the constants
    loaded = {one.argval for one in get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_loaded, inner_names = _names(constant)
            loaded.update(inner_loaded)
            names.update(inner_names)
    return tuple(sorted(loaded)), tuple(sorted(names))


def _slots(function: FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """Yield where a function holds a value: the kind of place, the name or number of the place, and the value."""
    for name in _names(function.__code__)[0]:
        if name in function.__globals__:
            yield "global", name, function.__globals__[name]
    for number, cell in enumerate(function.__closure__ or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # an empty cell: a name that has not been assigned yet
            continue
        yield "closure", number, value
    for number, value in enumerate(function.__defaults__ or ()):
        yield "default", number, value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield "keyword", name, value


def references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function reaches, each value with the words that lead to it, in an order that does not change."""
    names = _names(function.__code__)[1]
    entered: set[int] = set()

    def within(words: str, value: Any) -> Iterator[tuple[str, Any]]:
        yield words, value
        if isinstance(value, tuple):
            for number, element in enumerate(value):
                yield from within(f"{words}[{number}]", element)
        elif isinstance(value, ModuleType) and id(value) not in entered and _is_open(value):
            entered.add(id(value))
            # which attribute follows which name is not decided: every name of the code is tried
            for name in names:
                if hasattr(value, name):
                    yield from within(f"{words}.{name}", getattr(value, name))

    for kind, key, value in _slots(function):
        yield from within(f"{kind} {key}", value)


Finish = Callable[[FunctionType], Function]
"""What turns the copy of a function into its final form, such as a way of compiling it."""


def as_python(copy: FunctionType) -> Function:
    """Leave a copy as it is: plain Python."""
    return copy


def rebuilt(
    function: Function,
    finish_of: Callable[[Function, bool], Finish | None],
    *,
    names: Mapping[str, Function] | None = None,
) -> Function:
    """Copy a function and those that it reaches, innermost first, with other functions under the given global names.

    ``finish_of(original, changes)`` returns what finishes the copy of a function in which something is replaced
    (`changes`) or nothing is; None where the original stays. Raises TypeError where a function that shall be compiled
    anew calls itself: the copy cannot be compiled before it exists.
    """
    return _Copies(finish_of, names or {}).of_function(function)


class _Copies:
    """The copies of functions that reach each other; see `rebuilt`."""

    def __init__(self, finish_of: Callable[[Function, bool], Finish | None], names: Mapping[str, Function]) -> None:
        self._finish_of, self._names = finish_of, names
        self._copies: dict[int, tuple[Any, Any]] = {}
        """Originals and copies, by the identity of the original, which must live as long as its number is used."""
        self._unfinished: set[int] = set()

    def _of(self, value: Any, source: FunctionType) -> Any:
        """Return what takes the place of a value that a function reaches; the same object where nothing changes."""
        if isinstance(value, tuple):
            parts = [self._of(part, source) for part in value]
            if all(part is before for part, before in zip(parts, value, strict=True)):
                return value
            return type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
        if isinstance(value, ModuleType) and by_user(source) and _is_open(value):
            if id(value) not in self._copies:
                self._copies[id(value)] = value, _View(value, lambda attribute: self._of(attribute, source))
            return self._copies[id(value)][1]
        if not is_followed(value, source.__module__):
            return value
        if id(value) in self._unfinished and self._finish_of(value, False) not in (None, as_python):
            raise TypeError(f"{source_of(value).__name__} calls itself")
        return self.of_function(value)

    def of_function(self, function: Function) -> Function:
        """Return the copy of a function."""
        if id(function) in self._copies:
            return cast(Function, self._copies[id(function)][1])
        source, finish_changed = source_of(function), self._finish_of(function, True)
        if finish_changed is None or not isinstance(source, FunctionType):
            return function
        cells = tuple(CellType() for _ in source.__closure__ or ())
        copy = FunctionType(source.__code__, dict(source.__globals__), source.__name__, None, cells or None)
        copy.__qualname__, copy.__doc__, copy.__module__ = source.__qualname__, source.__doc__, source.__module__
        # where functions call each other in a circle: Python finds the copy, compiled code the original
        self._copies[id(function)] = function, copy if finish_changed is as_python else function
        self._unfinished.add(id(function))
        changes = self._fill(copy, source, cells)
        self._unfinished.discard(id(function))
        if "compiled_as" in source.__dict__ and function is not source:
            copy.__dict__["compiled_as"] = source.__dict__["compiled_as"]
        finish = finish_changed if changes else self._finish_of(function, False)
        result = function if finish is None else finish(copy)
        self._copies[id(function)] = function, result
        return result

    def _fill(self, copy: FunctionType, source: FunctionType, cells: tuple[CellType, ...]) -> bool:
        """Give a copy what its original holds, or the replacements; return whether anything is replaced."""
        contents: dict[str, dict[Any, Any]] = {"global": copy.__globals__, "closure": {}, "default": {}, "keyword": {}}
        changes = False
        for kind, key, value in _slots(source):
            if kind != "global" or key not in self._names:
                contents[kind][key] = self._of(value, source)
                changes |= contents[kind][key] is not value
        for name in _names(source.__code__)[0]:
            if name in self._names:
                copy.__globals__[name], changes = self._names[name], True
        for number, value in contents["closure"].items():
            cells[number].cell_contents = value
        copy.__defaults__ = tuple(contents["default"].values()) or None
        copy.__kwdefaults__ = contents["keyword"] or None
        return changes


class _View(ModuleType):
    """A module as a copied function sees it: reading a function of it gives the copy, writing changes the module."""

    def __init__(self, module: ModuleType, copy_of: Callable[[Any], Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__["__getattr__"] = lambda name: copy_of(getattr(module, name))
        self.__dict__["_module"] = module

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)
