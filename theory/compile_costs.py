"""What numba spends beside compiling: comparisons of its own options, and Python's collector of cyclic garbage.

Together they are a sixth of the CPU time of a first compilation.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import Compiler, Flags


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


class QuickFlags(Flags):  # type: ignore[misc]
    """Options of packproof's compilations, equal to none of others; numba compares them for each call in compiled code.

    Its own comparison reads all options, defaults included, and its hash is the same for all of them.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuickFlags) and bool(self._values == other._values or self.values() == other.values())

    def __hash__(self) -> int:
        return hash((self.nrt, self.forceinline, self.no_cpython_wrapper))


class QuickCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with options that are compared quickly."""

    def __init__(
        self, typing: Any, target: Any, library: Any, arguments: Any, result: Any, flags: Any, variables: Any
    ) -> None:
        super().__init__(typing, target, library, arguments, result, QuickFlags(flags), variables)
