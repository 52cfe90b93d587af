"""Places of the lowest and the highest bit of a word, one instruction in compiled code, ``bit_length`` in Python."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload


def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit of a positive number of at most 62 bits.

    Examples
    --------
    >>> lowest_bit(12)
    2
    """
    return (int(word) & -int(word)).bit_length() - 1


def highest_bit(word: int) -> int:
    """Return the place of the highest bit of a positive number of at most 62 bits.

    Examples
    --------
    >>> from theory.compiled import kernel
    >>> @kernel
    ... def span(word): return highest_bit(word) - lowest_bit(word)
    >>> highest_bit(12), span(12)
    (3, 1)
    """
    return int(word).bit_length() - 1


def _calling(name: str) -> Any:
    """Return what generates an instruction that counts zeros; of the number 0 it may say anything."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        (word,) = arguments
        bit = ir.IntType(1)
        kind = ir.FunctionType(word.type, [word.type, bit])
        function = builder.module.declare_intrinsic(f"llvm.{name}", [word.type], kind)
        return builder.call(function, [word, bit(1)])

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def _zeros_below(typing: Any, word: Any) -> Any:
    del typing, word
    return types.int64(types.int64), _calling("cttz")


@intrinsic  # type: ignore[untyped-decorator]
def _zeros_above(typing: Any, word: Any) -> Any:
    del typing, word
    return types.int64(types.int64), _calling("ctlz")


@overload(lowest_bit)  # type: ignore[untyped-decorator]
def _lowest_compiled(word: Any) -> Any:
    del word

    def compiled(word: Any) -> Any:
        return _zeros_below(word)

    return compiled


@overload(highest_bit)  # type: ignore[untyped-decorator]
def _highest_compiled(word: Any) -> Any:
    del word

    def compiled(word: Any) -> Any:
        return 63 - _zeros_above(word)

    return compiled
