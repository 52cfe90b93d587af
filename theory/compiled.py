"""The door to numba: one source that runs compiled, or as plain Python with ``NUMBA_DISABLE_JIT=1``, on the same path.

`kernel` compiles a function that Python calls. `step` and `routine` mark what kernels call: from Python such a function
runs as it is written. `bound` makes a kernel of an event loop and the functions of one policy; `plain` makes the same
loop as Python. All of this stands on documented interfaces of numba: ``njit`` with its cache, and ``overload`` as
``register_jitable`` uses it. Numba is loaded when the first kernel runs.

Functions reach each other by global names, and only these are followed: not attributes of modules, not values in
closures, defaults or tuples.

Numba's cache notices that the file of a kernel has changed, but not that the file of a function behind it has.
Therefore the name under which a kernel is stored ends in a digest of all code, constants and options that it reaches,
and of the version of numba (`theory.reached`): other code has another name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from traceback import walk_tb
from types import FunctionType
from typing import Any, TypeVar, cast

from theory.reached import OURS, Function, digest_of, global_names, source_of

F = TypeVar("F", bound=Callable[..., Any])

STEP: dict[str, bool] = {"_nrt": False, "forceinline": True}
ROUTINE: dict[str, bool] = {"_nrt": False}
"""Options of numba. Without ``_nrt``, its run time, nothing can be allocated and no references are counted: counting
takes two atomic operations for each array of a state at each call, and makes a loop over a dozen arrays twenty times
slower. Without ``forceinline`` dynamic reservation is four times slower."""

UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Compiled code alone calls the compiled form of a step, so it has no entry from Python or C: half of the time."""


def kernel(function: F) -> F:
    """Compile a function on first use, and store the machine code where numba does.

    Where neither the source's folder nor the user's cache can be written (a read-only install), or the stored code is
    damaged, it is compiled anew in every process.

    Raises
    ------
    TypeError
        A thing that is no function of Python.

    Examples
    --------
    >>> @step
    ... def double(x): return 2 * x
    >>> @kernel
    ... def twice(x): return double(double(x))
    >>> twice(3), source_of(twice)(3)
    (12, 12)
    """
    return cast(F, _kernel_of(_marked(function, {})))


def is_off() -> bool:
    """Return whether numba is switched off (``NUMBA_DISABLE_JIT=1``): then kernels are Python."""
    from numba import config

    return bool(config.DISABLE_JIT)


def _kernel_of(source: FunctionType, **options: bool) -> Function:
    """Return what compiles a function when it is first called."""
    compiled: Any = None

    @wraps(source)
    def run(*arguments: Any) -> Any:
        nonlocal compiled
        if compiled is None:
            compiled = _dispatcher(source, options, cache=True)
        try:
            return compiled(*arguments)
        except Exception as error:
            if not _is_of_the_cache(error):
                raise
        # what is stored is damaged, or cannot be written; nothing has run
        compiled = _dispatcher(source, options, cache=False)
        return compiled(*arguments)

    def stored() -> bool:
        nonlocal compiled
        if compiled is None:
            compiled = _dispatcher(source, options, cache=True)
        digest = compiled.py_func.__qualname__.rpartition("-")[2]
        folder = compiled.stats.cache_path
        return bool(folder) and any(Path(folder).glob(f"*{digest}*.nbi"))

    run.__dict__.update(py_func=source, stored=stored)
    return run


def _is_of_the_cache(error: BaseException) -> bool:
    """Return whether an exception comes out of numba's reading or writing of stored code."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__") == "numba.core.caching" for frame in frames)


def is_stored(function: Function) -> bool:
    """Return whether machine code of a kernel is stored, for arguments of some types.

    Examples
    --------
    >>> is_stored(kernel(lambda x: x))
    False
    """
    return bool(function.__dict__["stored"]())


def _dispatcher(source: FunctionType, options: Mapping[str, bool], *, cache: bool) -> Any:
    """Hand a function to numba, with all that it reaches; where numba is switched off, it stays Python."""
    from numba import njit

    copy = _copy_of(source, source.__globals__)
    copy.__qualname__ = f"{source.__qualname__}-{digest_of(source, options)}"
    for function in _marked_functions(source):
        if function is not source:
            _register(function)
    if cache:
        try:
            return njit(cache=True, nogil=True, **options)(copy)
        except RuntimeError:  # no folder for the machine code
            pass
    return njit(nogil=True, **options)(copy)


def step(function: F) -> F:
    """Mark a function of arrays and scalars, without allocation, to be compiled into the kernels that call it.

    From Python it runs as it is written.
    """
    return cast(F, _marked(function, STEP))


def routine(function: F) -> F:
    """Mark a step that is long and called seldom: it is compiled once, not at every place that calls it."""
    return cast(F, _marked(function, ROUTINE))


def _marked(function: Function, options: Mapping[str, bool]) -> FunctionType:
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function of Python to compile, got {function!r}")
    function.__dict__["compiled_with"] = options
    return function


def is_marked(value: object) -> bool:
    """Return whether a value is a kernel, a step or a routine."""
    source = getattr(value, "py_func", value)
    return isinstance(source, FunctionType) and "compiled_with" in source.__dict__


def bound(function: F, /, *, checked: bool = False, allocating: bool = False, **functions: Function) -> F:
    """Make a kernel of a function, with other functions under the given names wherever it or what it calls uses them.

    Parameters
    ----------
    function : callable
        A step, a routine or a kernel; it stays as it is.
    checked : bool
        Whether an index outside its array raises IndexError, in all functions that the kernel reaches. Packproof's own
        functions trust their indices, which takes less time.
    allocating : bool
        Whether functions may make arrays.
    functions : callable
        What each name shall mean. Functions without a mark are compiled as steps.

    Raises
    ------
    TypeError
        A function that calls itself.

    Examples
    --------
    >>> @step
    ... def change(x): return x + 1
    >>> @step
    ... def twice(x): return change(change(x))
    >>> twice(1), bound(twice, change=lambda x: 10 * x)(1)
    (3, 100)
    """
    more = ({"boundscheck": True} if checked else {}) | ({"_nrt": True} if allocating else {})

    def marked(copy: FunctionType) -> FunctionType:
        options = copy.__dict__.get("compiled_with", STEP) | more
        if not copy.__code__.co_filename.startswith(OURS):
            # numba imports the modules that stored code names, and those of authors have other names as they are read;
            # it tells functions apart by module and name
            copy.__module__ = __name__
            copy.__qualname__ += f"-{digest_of(copy, options)}"
        return _marked(copy, options)

    source = source_of(_Copies(functions, marked, every=bool(more)).of(function))
    options = source.__dict__["compiled_with"] | more
    return cast(F, _kernel_of(source, **{name: value for name, value in options.items() if name != "forceinline"}))


def result_type(function: Function, *arguments: Any, allocating: bool = False) -> Any:
    """Compile a function for types of numba, as a part of a checked kernel; return the type of its result.

    What numba raises is its own, where the function makes arrays without `allocating`, too.

    Examples
    --------
    >>> from numba import int64
    >>> result_type(lambda x: x / 2, int64)
    float64
    """
    source = source_of(bound(function, checked=True, allocating=allocating))
    options = {"boundscheck": True, **({} if allocating else {"_nrt": False}), **UNWRAPPED}
    compiled = _dispatcher(source, options, cache=False)
    compiled.compile(arguments)
    return compiled.nopython_signatures[-1].return_type


def plain(function: F, /, **functions: Function) -> F:
    """Return a function, and all that it calls, as Python, with other functions under the given names.

    Examples
    --------
    >>> from fractions import Fraction
    >>> @kernel
    ... def add(x): return x + 1
    >>> plain(add)(Fraction(1, 2))
    Fraction(3, 2)
    """
    return cast(F, _Copies(functions).of(function))


class _Copies:
    """Copies of functions that reach each other, in which some names mean other functions.

    A function is copied where something that it reaches is another function than before; without `marked`, which gives
    a copy its options, the copies are Python. With `every`, all marked functions are copied.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        marked: Callable[[FunctionType], FunctionType] | None = None,
        *,
        every: bool = False,
    ) -> None:
        self._functions, self._marked, self._every = functions, marked, every
        self._results: dict[FunctionType, Function] = {}
        self._unfinished: set[FunctionType] = set()

    def of(self, function: Function) -> Function:
        """Return the copy of a function, or the function itself where nothing changes or where it is no function."""
        source: Any = source_of(function)
        if not isinstance(source, FunctionType):
            return function
        if source in self._unfinished and self._marked is not None:
            raise TypeError(f"{source.__name__} calls itself")
        if source in self._results:
            return self._results[source]
        copy = _copy_of(source, dict(source.__globals__))
        self._results[source] = copy  # for Python functions that call each other in a circle
        self._unfinished.add(source)
        changes = self._replace(copy)
        self._unfinished.discard(source)
        if self._marked is None:
            self._results[source] = copy if changes else source
        else:
            anew = changes or self._every or not is_marked(source)
            self._results[source] = self._marked(copy) if anew else function
        return self._results[source]

    def _replace(self, copy: FunctionType) -> bool:
        """Replace what a copy reaches; return whether anything is another function than before."""
        changes = False
        for name in global_names(copy.__code__):
            value = copy.__globals__.get(name)
            if name in self._functions:
                value = self.of(self._functions[name])
            elif is_marked(value):
                value = self.of(cast(Function, value))
            if value is not copy.__globals__.get(name):
                copy.__globals__[name], changes = value, True
        return changes


def _copy_of(source: FunctionType, names: dict[str, Any]) -> FunctionType:
    """Copy a function, with other global names."""
    copy = FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)
    copy.__kwdefaults__, copy.__doc__ = source.__kwdefaults__, source.__doc__
    copy.__module__, copy.__qualname__ = source.__module__, source.__qualname__
    copy.__dict__.update(source.__dict__)
    return copy


_REGISTERED: set[Function] = set()
"""Functions that numba compiles where a kernel reaches them."""


def _register(function: Function) -> None:
    """Let compiled code call a marked function; a kernel behind another one is compiled as a part of it."""
    from numba.extending import overload

    if function not in _REGISTERED:
        _REGISTERED.add(function)
        source = source_of(function)
        options = source.__dict__["compiled_with"] | UNWRAPPED

        @overload(function, jit_options=options, strict=False)  # type: ignore[untyped-decorator]
        def compiled_form(*arguments: Any) -> Any:  # noqa: ARG001 (the types do not matter)
            return source


def _marked_functions(function: FunctionType) -> Iterator[Function]:
    """Yield a function and all marked functions that it reaches by global names, each once."""
    seen: set[Function] = {function}
    waiting: list[Function] = [function]
    while waiting:
        each = waiting.pop()
        yield each
        source = source_of(each)
        for name in global_names(source.__code__):
            value = source.__globals__.get(name)
            if is_marked(value) and value not in seen:
                seen.add(cast(Function, value))
                waiting.append(cast(Function, value))


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
