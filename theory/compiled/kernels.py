"""The door to numba: one source that runs compiled, or as plain Python with ``NUMBA_DISABLE_JIT=1``.

``kernel`` and ``step`` compile a function; ``bound`` makes a copy of one in which some of the functions that it calls
are replaced (an event loop over the functions of one policy), ``plain`` the copy that runs as Python, through and
through, in the same process. All of them run the same path.

With the versions of numba in `TESTED` what compiled code calls is compiled into its callers (`theory.compiled.inside`),
which takes a third of the time. With any other version everything is compiled in numba's own way, with checked indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba import config

from theory.compiled.code_cache import CachedKernel
from theory.compiled.copies import Finish, as_python, by_user, rebuilt, source_of

Function = TypeVar("Function", bound=Callable[..., Any])

TESTED = ("0.63.1", "0.64.0", "0.65.1", "0.66.0", "0.67.0", "0.68.1")
"""Versions of numba that `theory.compiled.inside` was tested with, by `tests/theory` and a run of each model."""

OPTIONS: dict[str, dict[str, bool]] = {
    "kernel": {},
    "step": {"_nrt": False, "forceinline": True},
    "routine": {"_nrt": False},
    "checked": {"_nrt": False, "forceinline": True, "boundscheck": True},
    "checked_kernel": {"boundscheck": True},
}
"""Options of numba by the way of compiling; ``_nrt`` is its run time, which allocates arrays and counts references."""


def kernel(function: Function) -> Function:
    """Compile a function on first use and store the machine code beside the source.

    Where neither the source's folder nor the user's cache can be written (a read-only install), it is compiled anew
    in every process.
    """
    return _compiled(function, "kernel")


def step(function: Function) -> Function:
    """Compile a function of arrays and scalars that allocates nothing: inlined, and without reference counts.

    Counting references costs two atomic operations for each array of a state at each call; an event loop over a state
    of a dozen arrays is twenty times faster without. A kernel may call a step; a step must not call a kernel that makes
    arrays, since what it calls is compiled in its way. An index that is computed must not be negative: compiled code
    does not ask whether it counts from the end (`theory.compiled.inside`).
    """
    return _compiled(function, "step")


def routine(function: Function) -> Function:
    """Compile a step that is long and called seldom: once, instead of at every place that calls it."""
    return _compiled(function, "routine")


def checked(function: Function) -> Function:
    """Compile a step in which an index outside its array raises IndexError, as in Python: the ``step`` of users.

    What such a function calls is checked likewise. Packproof's own steps trust their indices, which takes less time.
    """
    return _compiled(function, "checked")


def checked_kernel(function: Function) -> Function:
    """Compile a kernel in which an index outside its array raises IndexError: the ``kernel`` of users."""
    return _compiled(function, "checked_kernel")


def _compiled(function: Function, way: str) -> Function:
    function.__dict__["compiled_as"] = way
    if config.DISABLE_JIT:
        return function
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function of Python to compile, got {function!r}")
    options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, **OPTIONS[way]}
    if numba.__version__ not in TESTED:
        # numba compiles a callee once for all its callers: its indices are checked, as those of a caller may be
        return cast(Function, CachedKernel(function, {}, options | {"boundscheck": True}))
    from theory.compiled.inside import Linked

    return cast(Function, Linked(function, options))


def _finish_of(function: Callable[..., Any]) -> Finish:
    """Return how a function was compiled; plain Python would be compiled as a kernel."""
    ways = {"step": step, "routine": routine, "checked": checked, "checked_kernel": checked_kernel}
    return ways.get(source_of(function).__dict__.get("compiled_as", ""), kernel)


def _is_compiled(function: Callable[..., Any]) -> bool:
    return function is not source_of(function)


def bound(function: Function, /, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel, with other functions under the given names wherever it or what it calls uses them.

    Where a given function is checked, so is the copy; and where one is a checked kernel, which may make arrays, all
    that leads to it becomes checked kernels.

    Parameters
    ----------
    function : callable
        A kernel or a step, or a Python function.
    functions : callable
        What each name shall mean. Plain functions are compiled, in the way of ``function``.

    Returns
    -------
    callable
        A kernel; ``function`` stays as it was.

    Examples
    --------
    >>> @kernel
    ... def step(x): return x + 1
    >>> @kernel
    ... def twice(x): return step(step(x))
    >>> twice(1), bound(twice, step=lambda x: 10 * x)(1)
    (3, 100)
    """
    finish = _finish_of(function)
    compiled = {
        name: other if _is_compiled(other) else finish(cast(FunctionType, other)) for name, other in functions.items()
    }
    # a checked function makes the whole copy checked; one that allocates needs kernels on the way to it
    ways = [_finish_of(other) for other in compiled.values()]
    is_allocating = checked_kernel in ways

    def finish_of(original: Callable[..., Any], changes: bool) -> Finish | None:
        if not changes:
            return None
        if is_allocating:  # a step must not call what makes arrays
            return checked_kernel
        return checked if checked in ways and original is function else _finish_of(original)

    return cast(Function, rebuilt(function, finish_of, names=compiled))


def checked_copy(function: Function, *, allocating: bool = False) -> Function:
    """Compile a function of a user so that every index is checked.

    It is compiled as a step, or as a kernel if it makes arrays (`allocating`). Plain functions of users that it reaches
    are compiled likewise, and functions that users have compiled in other ways are compiled anew.

    Raises
    ------
    TypeError
        A function that calls itself.

    Examples
    --------
    >>> def half(x): return x // 2
    >>> def quarter(x): return half(half(x))
    >>> checked_copy(quarter)(20)
    5
    """
    finish = checked_kernel if allocating else checked

    def finish_of(original: Callable[..., Any], changes: bool) -> Finish | None:
        # packproof's own functions stay as they are, unless they call what is compiled anew
        is_packproofs = _is_compiled(original) and "compiled_as" in source_of(original).__dict__
        if original is function or by_user(source_of(original)) or (_is_compiled(original) and not is_packproofs):
            return finish
        if not changes:
            return None
        return finish if allocating else _finish_of(original)

    return cast(Function, rebuilt(function, finish_of))


def plain(function: Function, /, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel, and every kernel it calls, as plain Python, with other functions under the given global names.

    Examples
    --------
    >>> from fractions import Fraction
    >>> @kernel
    ... def step(x): return x + 1
    >>> hasattr(plain(step), "py_func"), plain(step)(Fraction(1, 2))
    (False, Fraction(3, 2))
    """

    def finish_of(original: Callable[..., Any], changes: bool) -> Finish | None:
        return as_python if changes or _is_compiled(original) else None

    sources = {name: rebuilt(other, finish_of) for name, other in functions.items()}
    return cast(Function, rebuilt(function, finish_of, names=sources))


def plain_unless_compiled(function: Function) -> Function:
    """Copy a function with every kernel it calls as plain Python, except those whose machine code is at hand.

    The copy compiles nothing, unless the machine code at hand is for other types.
    """

    def finish_of(original: Callable[..., Any], changes: bool) -> Finish | None:
        if _is_compiled(original):
            return None if has_machine_code(original) else as_python
        return as_python if changes else None

    return cast(Function, rebuilt(function, finish_of))


def has_machine_code(function: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether machine code of a kernel is in memory or stored: for the types of these arguments, or for any.

    Examples
    --------
    >>> @kernel
    ... def step(x): return x + 1
    >>> step(1), has_machine_code(step, 1), has_machine_code(step, 0.5)
    (2, True, False)
    """
    compiled: Any = function
    types = tuple(compiled.typeof_pyval(value) for value in arguments)
    if compiled.overloads if not types else types in compiled.overloads:
        return True
    cache = compiled.code_cache
    return cache is not None and (cache.holds(types, compiled.targetctx) if types else not cache.is_empty())


def cache_prefix(function: Callable[..., Any]) -> Path | None:
    """Return the beginning of the names of files with machine code of a kernel, None where it cannot be stored."""
    cache = function.code_cache if isinstance(function, CachedKernel) else None
    return None if cache is None else cache.prefix


@contextmanager
def noticing_compilation(report: Callable[[], None]) -> Iterator[None]:
    """Call `report` each time numba begins to compile; code that is found in the cache does not count."""
    from numba.core import event

    class Compilation(event.Listener):  # type: ignore[misc]
        def on_start(self, one: event.Event) -> None:
            del one
            report()

        def on_end(self, one: event.Event) -> None:
            del one

    with event.install_listener("numba:compile", Compilation()):
        yield
