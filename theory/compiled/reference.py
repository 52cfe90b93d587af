"""What the names of this room mean, in plain Python: compiling changes how fast a function runs, and nothing else.

``kernel(f)``, ``step(f)`` and their like return f. ``bound`` and ``plain`` return a copy of f, and of what it
calls by global names, in which some of these names mean other functions; ``checked_copy`` returns such a copy
without replacements. `theory.compiled.copies` follows further ways from a function to another one (modules, closures,
defaults, tuples), with the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

Function = Callable[..., Any]


def kernel(function: Function) -> Function:
    """Return the function."""
    return function


step = routine = checked = checked_kernel = kernel


def plain(function: Function, /, **functions: Function) -> Function:
    """Copy a function with others under the given global names, wherever it or what it calls uses them."""
    copies: dict[Function, Function] = {}

    def copy_of(original: Any) -> Any:
        source = getattr(original, "py_func", original)
        if not isinstance(source, FunctionType):
            return original  # a constant, a class, a module
        if source not in copies:
            names = dict(source.__globals__)
            copies[source] = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
            for name in source.__code__.co_names:
                if callable(names.get(name)):
                    names[name] = functions.get(name, copy_of(names[name]))
        return copies[source]

    return copy_of(function)  # type: ignore[no-any-return]


bound = checked_copy = plain
