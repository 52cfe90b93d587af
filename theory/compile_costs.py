"""What numba spends beside compiling: comparisons of its own options, and Python's collector of cyclic garbage.

Together they are a sixth of the CPU time of a first compilation.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import Flags


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the collector rest: a compiler makes millions of objects, few of which are cyclic garbage before it ends."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether options are equal, defaults included, which are not read where the same options are set alike."""
    return isinstance(other, Flags) and bool(one._values == other._values or one.values() == other.values())


def _digest(flags: Any) -> int:
    """Return a number that is equal for equal options, of the few that differ here."""
    return hash((flags.nrt, flags.forceinline, flags.no_cpython_wrapper))


def compare_options_quickly() -> None:
    """Replace how numba compares options: it does so for each call in compiled code, and reads all of them."""
    Flags.__eq__ = _are_equal
    Flags.__hash__ = _digest
