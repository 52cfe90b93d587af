"""The door to numba: one source that runs compiled, or as plain Python with ``NUMBA_DISABLE_JIT=1``.

``kernel`` compiles a function and keeps the machine code beside its source. ``bound`` makes a copy of a kernel in
which some of the functions it calls are others (an event loop over the functions of one policy). ``plain`` makes the
copy that runs as Python, through and through, in the same process. ``step`` compiles the small functions that event
loops call millions of times with a state of many arrays: without reference counts, which would take nine tenths of the
time. What compiled code calls is compiled into its callers (`theory.inside`). Machine code is kept on disk
(`theory.code_cache`) under a name that changes with whatever it depends on (`theory.code_digest`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import config

from theory.inside import Compiled
from theory.reach import by_user, rebuilt, source_of

Function = TypeVar("Function", bound=Callable[..., Any])

Tools = Mapping[Callable[..., Any], Callable[..., Any]]
"""What stands for functions, by whatever way they are reached."""


def kernel(function: Function) -> Function:
    """Compile a function on first use and keep the machine code beside the source.

    Where neither the source's folder nor the user's cache can be written (a read-only install), it is compiled anew
    in every process.
    """
    return _compiled(function, "kernel", {})


def step(function: Function) -> Function:
    """Compile a function of arrays and scalars that allocates nothing: inlined, and without reference counts.

    Counting references costs two atomic operations for each array of a state at each call; an event loop over a state
    of a dozen arrays is twenty times faster without. A kernel may call a step; a step must not call a kernel that makes
    arrays, since what it calls is compiled in its way.
    """
    return _compiled(function, "step", {"_nrt": False, "forceinline": True})


def routine(function: Function) -> Function:
    """Compile a step that is long and called seldom: once, instead of at every place that calls it."""
    return _compiled(function, "routine", {"_nrt": False})


def checked(function: Function) -> Function:
    """Compile a step that looks whether each index is within its array."""
    return _compiled(function, "checked", {"_nrt": False, "forceinline": True, "boundscheck": True})


def checked_kernel(function: Function) -> Function:
    """Compile a kernel that looks whether each index is within its array."""
    return _compiled(function, "checked_kernel", {"boundscheck": True})


def _compiled(function: Function, kind: str, options: dict[str, bool]) -> Function:
    function.__dict__["is_kernel"] = kind
    if config.DISABLE_JIT:
        return function
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function of Python to compile, got {function!r}")
    options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, **options}
    return cast(Function, Compiled(function, targetoptions=options))


@contextmanager
def noticing_compilation(report: Callable[[], None]) -> Iterator[None]:
    """Call `report` as often as numba begins to compile; code that is found in the cache does not count."""
    from numba.core import event

    class Compilation(event.Listener):  # type: ignore[misc]
        def on_start(self, one: event.Event) -> None:
            del one
            report()

        def on_end(self, one: event.Event) -> None:
            del one

    with event.install_listener("numba:compile", Compilation()):
        yield


def bound(function: Function, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel, with other functions under the given names wherever it or what it calls uses them.

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
    compiled = _compiled_all(functions, _finish_of(function))
    return cast(Function, rebuilt(function, _as_it_was, names=compiled))


def bound_checked(function: Function, allocating: bool, /, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel as `bound` does, for functions of somebody else's: every index of what it runs is looked at.

    Where the functions make arrays (`allocating`), what leads to them is compiled as kernels.
    """
    finish = checked_kernel if allocating else checked
    compiled = _compiled_all(functions, finish)

    def finished(copy: FunctionType, original: Callable[..., Any]) -> Callable[..., Any]:
        return finish(copy) if allocating or original is function else _as_it_was(copy, original)

    return cast(Function, rebuilt(function, finished, names=compiled))


def retooled(function: Function, tools: Tools, *, allocating: bool = False) -> Function:
    """Compile a function of somebody else's, with tools that stand for others; every index of it is looked at.

    As a step, or as a kernel if it makes arrays. Plain functions of users that it reaches are compiled likewise, and
    functions that they have compiled in other ways are compiled anew.

    Raises
    ------
    TypeError
        A function that calls itself.

    Examples
    --------
    >>> def half(x): return x // 2
    >>> def quarter(x): return half(half(x))
    >>> retooled(quarter, {})(20)
    5
    """
    finish = checked_kernel if allocating else checked

    def wanted(one: Callable[..., Any]) -> bool:
        return one is function or by_user(source_of(one)) or not isinstance(one, FunctionType | Compiled)

    def finished(copy: FunctionType, original: Callable[..., Any]) -> Callable[..., Any]:
        return finish(copy) if allocating or wanted(original) else _as_it_was(copy, original)

    return cast(Function, rebuilt(function, finished, tools=tools, wanted=wanted))


def kept_under(function: Callable[..., Any]) -> Path | None:
    """Return what the names of files with machine code of a kernel begin with, None where it cannot be kept."""
    cache = function.code_cache if isinstance(function, Compiled) else None
    return None if cache is None else cache.prefix


def kept(function: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether machine code of a kernel is at hand, in memory or kept: for arguments of these types, or for any.

    Examples
    --------
    >>> @kernel
    ... def step(x): return x + 1
    >>> step(1), kept(step, 1), kept(step, 0.5)
    (2, True, False)
    """
    compiled: Any = function
    types = tuple(compiled.typeof_pyval(value) for value in arguments)
    if compiled.overloads if not types else types in compiled.overloads:
        return True
    cache = compiled.code_cache
    return cache is not None and (cache.holds(types, compiled.targetctx) if types else not cache.is_empty())


def _compiled_all(
    functions: dict[str, Callable[..., Any]], finish: Callable[..., Any]
) -> dict[str, Callable[..., Any]]:
    return {name: other if hasattr(other, "py_func") else finish(other) for name, other in functions.items()}


def plain(function: Function, tools: Tools | None = None, /, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel, and every kernel it calls, as plain Python; names may be bound to other functions.

    Parameters
    ----------
    function : callable
    tools : mapping, optional
        What stands for functions, by whatever way they are reached (`theory.reach`).
    functions : callable
        What each name shall mean.

    Examples
    --------
    >>> from fractions import Fraction
    >>> @kernel
    ... def step(x): return x + 1
    >>> hasattr(plain(step), "py_func"), plain(step)(Fraction(1, 2))
    (False, Fraction(3, 2))
    """
    sources = {name: rebuilt(other, None, tools=tools, wanted=_is_compiled) for name, other in functions.items()}
    return cast(Function, rebuilt(function, None, names=sources, tools=tools, wanted=_is_compiled))


def plain_unless_kept(function: Function) -> Function:
    """Copy a function with every kernel it calls as plain Python, but for those whose machine code is at hand.

    What is left compiles nothing, unless the machine code at hand is for other types.
    """
    return cast(
        Function,
        rebuilt(function, None, wanted=_is_compiled, leaving=lambda one: _is_compiled(one) and kept(one)),
    )


def _is_compiled(function: Callable[..., Any]) -> bool:
    return function is not source_of(function)


def _finish_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """How a function was compiled: as a step, a routine, or (plain Python included) as a kernel."""
    kinds = {"step": step, "routine": routine, "checked": checked, "checked_kernel": checked_kernel}
    return kinds.get(source_of(function).__dict__.get("is_kernel", ""), kernel)


def _as_it_was(copy: FunctionType, original: Callable[..., Any]) -> Callable[..., Any]:
    return cast(Callable[..., Any], _finish_of(original)(copy))
