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

from theory.code_digest import names_of, source_of
from theory.inside import Compiled

Function = TypeVar("Function", bound=Callable[..., Any])


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
    return cast(Function, _rebuilt(function, _compiled_all(functions, _finish_of(function))))


def bound_allocating(function: Function, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel as `bound` does, for functions that make arrays: what leads to them is compiled as kernels."""
    return cast(Function, _rebuilt(function, _compiled_all(functions, kernel), kernel))


def retooled(function: Function, functions: Mapping[str, Callable[..., Any]], *, allocating: bool = False) -> Function:
    """Compile a function of somebody else's, others under the given names; its indices are looked at.

    As a step, or as a kernel if it makes arrays. Functions of its module that it calls are compiled likewise.

    Examples
    --------
    >>> def half(x): return x // 2
    >>> def quarter(x): return half(half(x))
    >>> retooled(quarter, {})(20)
    5
    """
    finish = checked_kernel if allocating else checked
    module = source_of(function).__module__

    def finished(copy: Callable[..., Any]) -> Callable[..., Any]:
        if copy.__module__ == module:
            return finish(copy)
        return kernel(copy) if allocating else _finish_of(copy)(copy)

    made = _rebuilt(function, dict(functions), finished, compiling=True)
    return cast(Function, made if hasattr(made, "py_func") else finish(made))


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


def plain(function: Function, **functions: Callable[..., Any]) -> Function:
    """Copy a kernel, and every kernel it calls, as plain Python; names may be bound to other functions.

    Examples
    --------
    >>> from fractions import Fraction
    >>> @kernel
    ... def step(x): return x + 1
    >>> hasattr(plain(step), "py_func"), plain(step)(Fraction(1, 2))
    (False, Fraction(3, 2))
    """
    sources = {
        name: _rebuilt(other, {}, _as_python) if isinstance(source_of(other), FunctionType) else other
        for name, other in functions.items()
    }
    return cast(Function, _rebuilt(function, sources, _as_python))


def plain_unless_kept(function: Function) -> Function:
    """Copy a function with every kernel it calls as plain Python, but for those whose machine code is at hand.

    What is left compiles nothing, unless the machine code at hand is for other types.
    """
    return cast(
        Function, _rebuilt(function, {}, _as_python, leaving=lambda one: one is not source_of(one) and kept(one))
    )


def _as_python(function: Function) -> Function:
    return function


def _finish_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """How a function was compiled: as a step, a routine, or (plain Python included) as a kernel."""
    kinds = {"step": step, "routine": routine, "checked": checked}
    return kinds.get(source_of(function).__dict__.get("is_kernel", ""), kernel)


def _rebuilt(
    function: Callable[..., Any],
    functions: dict[str, Callable[..., Any]],
    finish: Callable[..., Any] | None = None,
    *,
    compiling: bool = False,
    leaving: Callable[[Callable[..., Any]], bool] = lambda _: False,
) -> Callable[..., Any]:
    """Copy a function and those it reaches that change, innermost first; the same object where nothing changes.

    Copies are compiled as their originals were, or all by `finish`; where `compiling`, plain functions change too. What
    `leaving` says of stays as it is, with all that it reaches.
    """
    done: dict[int, Callable[..., Any]] = {}

    def rebuild(one: Callable[..., Any]) -> Callable[..., Any]:
        if id(one) not in done:
            done[id(one)] = one  # where functions call each other, as far as it goes
            if leaving(one):
                return one
            source = source_of(one)
            changed = {name: functions[name] for name in names_of(source.__code__) if name in functions}
            for name, callee in _callees(source):
                if name not in functions and callee is not one and rebuild(callee) is not callee:
                    changed[name] = rebuild(callee)
            wanted = one is not source and finish is _as_python
            if compiling:
                wanted = source.__module__ == source_of(function).__module__
            if changed or wanted:
                copy = FunctionType(
                    source.__code__,
                    source.__globals__ | changed,
                    source.__name__,
                    source.__defaults__,
                    source.__closure__,
                )
                copy.__kwdefaults__ = source.__kwdefaults__
                copy.__qualname__, copy.__doc__ = source.__qualname__, source.__doc__
                if "is_kernel" in source.__dict__ and one is not source:
                    copy.__dict__["is_kernel"] = source.__dict__["is_kernel"]
                done[id(one)] = (finish or _finish_of(one))(copy)
        return done[id(one)]

    return rebuild(function)


def _is_kernel(thing: object) -> bool:
    return bool(getattr(getattr(thing, "py_func", thing), "is_kernel", False))


def _callees(function: FunctionType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The kernels that a function names, and the plain functions of its module, in the order of the names."""
    for name in sorted(names_of(function.__code__)):
        value = function.__globals__.get(name)
        beside = isinstance(value, FunctionType) and value.__module__ == function.__module__
        if beside or _is_kernel(value):
            yield name, cast(Callable[..., Any], value)
