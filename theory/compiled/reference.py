"""What the names of this room mean, in plain Python: compiling changes how fast a function runs, and nothing else.

``kernel(f)``, ``step(f)`` and their like return f. ``bound``, ``plain`` and ``retooled`` return a copy of f, and of the
functions that it calls by their global names, in which some of these are replaced: ``bound`` replaces what a global
name means, ``retooled`` what a function means, ``plain`` either. `theory.compiled.copies` follows further ways from a
function to another one (modules, closures, defaults, tuples), with the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

Function = Callable[..., Any]


def kernel(function: Function) -> Function:
    """Return the function."""
    return function


step = routine = checked = checked_kernel = kernel


def bound(function: Function, /, **functions: Function) -> Function:
    """Copy a function with others under the given global names, wherever it or what it calls uses them."""
    return plain(function, **functions)


def retooled(function: Function, tools: Mapping[Function, Function]) -> Function:
    """Copy a function with tools replaced, wherever it or what it calls uses them."""
    return plain(function, tools)


def plain(function: Function, tools: Mapping[Function, Function] | None = None, /, **functions: Function) -> Function:
    """Copy a function with tools replaced, and others under the given global names."""
    replacements, copies = tools or {}, dict[Function, Function]()

    def copy_of(original: Any) -> Any:
        source = getattr(original, "py_func", original)
        if not isinstance(source, FunctionType):
            return original  # a constant, a class, a module
        if source not in copies:
            names = dict(source.__globals__)
            copies[source] = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
            for name in source.__code__.co_names:
                if callable(names.get(name)):
                    names[name] = functions.get(name, copy_of(replacements.get(names[name], names[name])))
        return copies[source]

    return copy_of(replacements.get(function, function))  # type: ignore[no-any-return]
