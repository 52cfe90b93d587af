"""Indices of steps: they are never negative, and compiled code does not ask whether they count from the end.

Numba compares each index of an array with 0 and adds the length of the axis to a negative one, which takes as long as
the rest of the access. What is compiled without reference counts (`theory.jit.step`, `theory.jit.routine`) does not.
Kernels, and functions whose indices are looked at (`theory.jit.checked`), keep numba's way. An index that is written
out, such as ``values[-1]``, costs nothing and means the same everywhere.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

_fixed = arrayobj.fix_integer_index


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, length: Any) -> Any:
    """Return an index without a look at its sign, in a step."""
    if context.enable_nrt or context.enable_boundscheck or isinstance(index, ir.Constant):
        return _fixed(context, builder, kind, index, length)
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


def take_indices_as_they_are() -> None:
    """Replace how numba reads an index."""
    arrayobj.fix_integer_index = _as_it_is
