"""Random words drawn before they are needed, and the numbers that numpy's generators make of them.

Whoever draws from a buffer of words sees which numbers come next and can prepare for them. The numbers are those that
the generator itself would have given, in the same order (tested).
"""

from __future__ import annotations

from math import exp, log1p
from typing import Any, NamedTuple

import numpy as np
from numba.core.types import NumPyRandomGeneratorType
from numba.extending import overload
from numba.np.random._constants import fe_double, ke_double, we_double, ziggurat_exp_r
from numba.np.random.generator_core import next_uint64
from numpy.typing import NDArray

from theory.jit import routine, step

_UNIT = 2.0**-53
_LOW, _LAYERS, _FRACTION = np.uint64(3), np.uint64(255), np.uint64(11)
"""Of the 64 bits of a word the lowest three are not used, the next eight choose a layer, and 53 are a fraction."""


class Words(NamedTuple):
    """A buffer of random words.

    Attributes
    ----------
    word : uint64[N]
    at : int64[1]
        Where the next of them stands; N where none is left.
    """

    word: NDArray[np.uint64]
    at: NDArray[np.int64]


def no_words(length: int) -> Words:
    """Make an empty buffer for so many words.

    Examples
    --------
    >>> words, rng, twin = no_words(64), np.random.default_rng(1), np.random.default_rng(1)
    >>> float(exponential(words, rng)) == twin.standard_exponential(), uniform(words, rng) == twin.random()
    (True, True)
    """
    return Words(np.zeros(length, np.uint64), np.full(1, length))


def _raw(rng: Any) -> Any:
    """Draw a word of 64 bits."""
    return np.uint64(rng.bit_generator.random_raw())


@overload(_raw)  # type: ignore[untyped-decorator]
def _compiled_raw(rng: Any) -> Any:
    if not isinstance(rng, NumPyRandomGeneratorType):
        return None

    def compiled(rng: Any) -> Any:
        return next_uint64(rng.bit_generator)

    return compiled


@routine
def refill(words: Words, rng: Any) -> None:
    """Fill the buffer behind the words that are left, which move to its front."""
    left = len(words.word) - words.at[0]
    for i in range(left):
        words.word[i] = words.word[words.at[0] + i]
    for i in range(left, len(words.word)):
        words.word[i] = _raw(rng)
    words.at[0] = 0


@step
def next_word(words: Words, rng: Any) -> Any:
    """Return the next word, a uint64."""
    if words.at[0] == len(words.word):
        refill(words, rng)
    at = words.at[0]
    words.at[0] = at + 1
    return words.word[at]


@step
def unit_of(word: Any) -> float:
    """Return the number in [0, 1) that ``Generator.random`` makes of a word."""
    return float(word >> _FRACTION) * _UNIT


@step
def uniform(words: Words, rng: Any) -> float:
    """Return what ``Generator.random`` would."""
    return unit_of(next_word(words, rng))


@step
def is_inside(word: Any) -> bool:
    """Return whether a first word alone makes an exponential number: it lies in its layer's rectangle."""
    return bool(word >> _FRACTION < ke_double[int(word >> _LOW & _LAYERS)])


@step
def exponential(words: Words, rng: Any) -> float:
    """Return what ``Generator.standard_exponential`` would.

    Notes
    -----
    The ziggurat of Marsaglia and Tsang (2000) with 256 layers: layer i is chosen with probability 1/256, and a point in
    its rectangle is under the density but for a corner, which takes another number; layer 0 holds the tail.
    """
    word = next_word(words, rng)
    if is_inside(word):
        return float(word >> _FRACTION) * float(we_double[int(word >> _LOW & _LAYERS)])
    return _corner(words, word, rng)


@routine
def _corner(words: Words, word: Any, rng: Any) -> float:
    """Return the number of a first word that does not make it alone."""
    while True:
        layer = int(word >> _LOW & _LAYERS)
        x = float(word >> _FRACTION) * we_double[layer]
        if is_inside(word):
            return float(x)
        if layer == 0:
            return float(ziggurat_exp_r - log1p(-uniform(words, rng)))
        below = fe_double[layer]
        if (fe_double[layer - 1] - below) * uniform(words, rng) + below < exp(-x):
            return float(x)
        word = next_word(words, rng)


@step
def uniform_at_once(words: Words, rng: Any) -> float:
    """Stand for `uniform` where nobody looks at the words before: draw from the generator itself."""
    return float(rng.random())


@step
def exponential_at_once(words: Words, rng: Any) -> float:
    """Stand for `exponential` where nobody looks at the words before: draw from the generator itself."""
    return float(rng.standard_exponential())
