"""Rows of arrays brought near the processor before they are needed, in compiled code; Python does nothing."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload


def prefetch(array: Any, row: int) -> None:
    """Begin to fetch the first line of a row (or an entry) into the cache, and wait for nothing.

    Parameters
    ----------
    array : array
        Of any dimension.
    row : int
        An index of its first axis. Any number is safe: what is not there is not fetched.

    Examples
    --------
    >>> import numpy as np
    >>> from theory.jit import kernel
    >>> @kernel
    ... def second(values):
    ...     prefetch(values, 1)
    ...     return values[1]
    >>> second(np.array([3, 5]))
    5
    """


@intrinsic  # type: ignore[untyped-decorator]
def _fetch(typing: Any, array: Any, row: Any) -> Any:
    del typing, row

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        offset = builder.mul(arguments[1], builder.extract_value(held.strides, 0))
        place = builder.gep(builder.bitcast(held.data, byte), [offset])
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        # of LLVM: the address, to be written (1), into all levels of the cache (3), as data (1)
        settings = [ir.Constant(word, value) for value in (1, 3, 1)]
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [byte], kind), [place, *settings])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@overload(prefetch)  # type: ignore[untyped-decorator]
def _compiled(array: Any, row: Any) -> Any:
    del array, row

    def compiled(array: Any, row: Any) -> Any:
        _fetch(array, row)

    return compiled
