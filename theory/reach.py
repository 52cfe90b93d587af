"""What the code of a function reaches, and copies of a function in which some of that is other.

A function reaches what its code names: globals, and attributes of modules among them; beside that, what its closure and
its defaults hold; and, of tuples among all these, the elements. `references` lists it, and `rebuilt` replaces it.

Modules of packproof and of its users are seen into, and plain functions of users are followed wherever they stand. What
is installed beside packproof (numpy, the standard library) stays as it is, but for functions that numba compiles.
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

_HOME = Path(__file__).resolve().parents[1]
OURS = tuple(str(_HOME / name) + os.sep for name in ("theory", "fluid", "bounds"))
"""The folders of packproof."""

_INSTALLED = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def source_of(function: Callable[..., Any]) -> FunctionType:
    """The Python function behind a kernel."""
    return cast(FunctionType, getattr(function, "py_func", function))


def by_user(function: FunctionType) -> bool:
    """Return whether a function stands neither in packproof nor in what is installed."""
    return not function.__code__.co_filename.startswith((*OURS, *_INSTALLED))


@cache
def _is_open(module: ModuleType) -> bool:
    """Return whether a module is packproof's or a user's."""
    top = module.__name__.partition(".")[0]
    if top in ("theory", "fluid", "bounds", "packproof"):
        return True
    return top not in sys.stdlib_module_names and not (getattr(module, "__file__", None) or "").startswith(_INSTALLED)


def _is_followed(thing: object, module: str) -> bool:
    """Return whether a thing that a function of a module reaches is a function whose own code matters.

    Plain functions of packproof are followed within their module alone: of others, compiled code may have another form
    (`theory.bits`).
    """
    if isinstance(thing, CPUDispatcher):
        return not thing.py_func.__module__.startswith("numba.")
    if not isinstance(thing, FunctionType):
        return False
    return "is_kernel" in thing.__dict__ or thing.__module__ == module or by_user(thing)


@cache
def _names(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of globals that code uses, and all its names, of attributes too; those of functions inside included."""
    loaded = {one.argval for one in get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_loaded, inner = _names(constant)
            loaded.update(inner_loaded)
            names.update(inner)
    return tuple(sorted(loaded)), tuple(sorted(names))


def _contents(cell: CellType) -> tuple[Any, ...]:
    """Return what a cell holds; nothing if it is empty."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function reaches, with the words by which it does, in an order that does not change."""
    loaded, names = _names(function.__code__)
    modules: set[int] = set()

    def within(words: str, thing: Any) -> Iterator[tuple[str, Any]]:
        yield words, thing
        if isinstance(thing, tuple):
            for place, element in enumerate(thing):
                yield from within(f"{words}[{place}]", element)
        elif isinstance(thing, ModuleType) and id(thing) not in modules and _is_open(thing):
            modules.add(id(thing))
            for name in names:
                if hasattr(thing, name):
                    yield from within(f"{words}.{name}", getattr(thing, name))

    for name in loaded:
        if name in function.__globals__:
            yield from within(name, function.__globals__[name])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from within(f"closure {name}", _contents(cell))
    for place, value in enumerate(function.__defaults__ or ()):
        yield from within(f"default {place}", value)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield from within(f"default {name}", value)


def callees(function: FunctionType) -> Iterator[Callable[..., Any]]:
    """Yield the functions that a function reaches and whose own code matters: kernels, and plain ones beside it."""
    for _, thing in references(function):
        if _is_followed(thing, function.__module__):
            yield thing


class _View(ModuleType):
    """A module as a function sees it whose copies are other: its functions are copies too."""

    def __init__(self, module: ModuleType, copy_of: Callable[[Any], Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__["__getattr__"] = lambda name: copy_of(getattr(module, name))
        self.__dict__["_module"] = module

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


Finish = Callable[[FunctionType, Callable[..., Any]], Callable[..., Any]]
"""``finish(copy, original)`` compiles a copy."""


def rebuilt(
    function: Callable[..., Any],
    finish: Finish | None,
    *,
    names: Mapping[str, Callable[..., Any]] | None = None,
    tools: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
    wanted: Callable[[Callable[..., Any]], bool] = lambda _: False,
    leaving: Callable[[Callable[..., Any]], bool] = lambda _: False,
) -> Callable[..., Any]:
    """Copy a function and those it reaches that change, innermost first; the same object where nothing changes.

    Parameters
    ----------
    function : callable
    finish : callable, optional
        Copies stay Python where left out.
    names : mapping
        What global names shall mean, wherever the function or what it reaches uses them.
    tools : mapping
        What stands for functions, by whatever way they are reached.
    wanted : callable
        Of which functions there shall be copies even where nothing changes in them.
    leaving : callable
        Which functions stay as they are, with all that they reach.

    Raises
    ------
    TypeError
        A function that shall be copied and compiled, and calls itself: a copy cannot be compiled before it is made.
    """
    copies = _Copies(finish, names or {}, tools or {}, wanted, leaving)
    return copies.of_tool(function)


class _Copies:
    """The copies of functions that reach each other; see `rebuilt`."""

    def __init__(
        self,
        finish: Finish | None,
        names: Mapping[str, Callable[..., Any]],
        tools: Mapping[Callable[..., Any], Callable[..., Any]],
        wanted: Callable[[Callable[..., Any]], bool],
        leaving: Callable[[Callable[..., Any]], bool],
    ) -> None:
        self._finish, self._names, self._wanted, self._leaving = finish, names, wanted, leaving
        self._instead = {id(source_of(tool)): other for tool, other in tools.items()}  # not all callables can be hashed
        self._stand = {id(source_of(other)) for other in tools.values()}
        self._done: dict[int, tuple[Any, Any]] = {}
        """Things by number, which must live as long as it is used, and their copies."""
        self._unfinished: set[int] = set()

    def of_tool(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the copy of a function, or of what stands for it."""
        return self._of_function(self._instead.get(id(source_of(function)), function))

    def of(self, thing: Any, source: FunctionType) -> Any:
        """Return what stands for a thing that a function reaches."""
        if isinstance(thing, tuple):
            parts = [self.of(part, source) for part in thing]
            if all(part is before for part, before in zip(parts, thing, strict=True)):
                return thing
            return type(thing)._make(parts) if hasattr(thing, "_make") else tuple(parts)
        if isinstance(thing, ModuleType) and by_user(source) and _is_open(thing):
            if id(thing) not in self._done:
                self._done[id(thing)] = thing, _View(thing, lambda value: self.of(value, source))
            return self._done[id(thing)][1]
        if not _is_followed(thing, source.__module__):
            return thing
        if self._finish is not None and id(thing) in self._unfinished and self._wanted(thing):
            raise TypeError(f"{source_of(thing).__name__} calls itself")
        # what stands for a tool may use it
        return self._of_function(thing) if id(source) in self._stand else self.of_tool(thing)

    def _of_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        source = source_of(function)
        if id(function) in self._done or not isinstance(source, FunctionType) or self._leaving(function):
            return cast(Callable[..., Any], self._done.get(id(function), (function, function))[1])
        cells = tuple(CellType() for _ in source.__closure__ or ())
        copy = FunctionType(source.__code__, dict(source.__globals__), source.__name__, None, cells or None)
        copy.__qualname__, copy.__doc__, copy.__module__ = source.__qualname__, source.__doc__, source.__module__
        # where functions call each other: Python finds the copy, compiled code the original
        self._done[id(function)] = function, copy if self._finish is None else function
        self._unfinished.add(id(function))
        changes = self._fill(copy, source, cells)
        self._unfinished.discard(id(function))
        if "is_kernel" in source.__dict__ and function is not source:
            copy.__dict__["is_kernel"] = source.__dict__["is_kernel"]
        other = function
        if changes or self._wanted(function):
            other = copy if self._finish is None else self._finish(copy, function)
        self._done[id(function)] = function, other
        return other

    def _fill(self, copy: FunctionType, source: FunctionType, cells: tuple[CellType, ...]) -> bool:
        """Give a copy what its original reaches, or what stands for it; return whether any of it is other."""
        changes = False

        def other(thing: Any) -> Any:
            nonlocal changes
            instead = self.of(thing, source)
            changes = changes or instead is not thing
            return instead

        space = copy.__globals__
        for name in _names(source.__code__)[0]:
            if name in self._names:
                space[name], changes = self._names[name], True
            elif name in space:
                space[name] = other(space[name])
        for cell, before in zip(cells, source.__closure__ or (), strict=True):
            for value in _contents(before):
                cell.cell_contents = other(value)
        if source.__defaults__ is not None:
            copy.__defaults__ = tuple(other(value) for value in source.__defaults__)
        if source.__kwdefaults__ is not None:
            copy.__kwdefaults__ = {name: other(value) for name, value in source.__kwdefaults__.items()}
        return changes
