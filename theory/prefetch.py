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


def prefetch_field(arrays: Any, name: str, row: int) -> None:
    """Begin to fetch a row of a field of a named tuple, both lines of one that stands on two; no field, nothing.

    Parameters
    ----------
    arrays : named tuple of arrays
    name : str
        Written out where it is called: the compiler looks for the field.
    row : int
        Any number is safe.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> from theory.jit import kernel
    >>> class Pair(NamedTuple):
    ...     left: np.ndarray
    ...     right: np.ndarray
    >>> @kernel
    ... def second(pair):
    ...     prefetch_field(pair, "left", 1)
    ...     prefetch_field(pair, "middle", 1)
    ...     return pair.left[1, 0]
    >>> second(Pair(np.array([[3], [5]]), np.zeros(0)))
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


@overload(prefetch_field, prefer_literal=True)  # type: ignore[untyped-decorator]
def _compiled_of_field(arrays: Any, name: Any, row: Any) -> Any:
    del row
    letters = getattr(name, "literal_value", None)
    if letters is None:  # numba tries without the letters, too
        return None
    place = arrays.fields.index(letters) if letters in arrays.fields else -1
    if place < 0 or not isinstance(arrays.types[place], types.Array) or arrays.types[place].ndim == 0:

        def nothing(arrays: Any, name: Any, row: Any) -> Any:  # noqa: ARG001
            return

        return nothing

    def compiled(arrays: Any, name: Any, row: Any) -> Any:  # noqa: ARG001
        _fetch(arrays[place], row)
        _fetch(arrays[place], row + 1)

    return compiled
