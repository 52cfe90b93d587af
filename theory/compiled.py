"""The door to numba: one source that runs compiled, or as plain Python with ``NUMBA_DISABLE_JIT=1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function on first use and keep the machine code beside the source.

    Where neither the source's folder nor the user's cache can be written (a read-only install), it is compiled anew
    in every process. A kernel and what it calls share a file: a cached caller does not notice a changed callee
    elsewhere.
    """
    try:
        return cast(Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))
