"""What the rule of an author answers, taken with care: it may raise anything, be endless, or have endless digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar

from theory.errors import InputError

Answer = TypeVar("Answer")

DIGITS = 1_000  # most binary digits of a number in an answer: longer ones would fill messages and hours
SHOWN = 80  # characters of an answer that a message shows

LISTENERS: list[Callable[[bool], None]] = []
"""Called with True when a call of a rule begins, and with False when its answer has been read."""


def answer_of(
    call: Callable[[], Answer], name: str, instance: str = "", passed: tuple[type[Exception], ...] = ()
) -> Answer:
    """Return what a call of a rule returns; its exceptions become an `InputError`, but for those in `passed`.

    The call reads the answer as far as it must be (`most_of`); `instance` is what the rule was given, for the message.
    """
    for told in LISTENERS:
        told(True)
    try:
        return call()
    except passed:
        raise
    except Exception as error:
        about = f" ({instance})" if instance else ""
        raise InputError(name, f"{type(error).__name__}: {_words(error)}{about}") from error
    finally:
        for told in LISTENERS:
            told(False)


def most_of(answer: Iterable[Any], number: int) -> list[Any]:
    """Return the entries of an answer up to one more than it should have: it may be endless."""
    return list(islice(answer, number + 1))


def is_short(number: Fraction | int) -> bool:
    """Return whether a number has few enough digits to reckon with."""
    exact = Fraction(number)
    return max(exact.numerator.bit_length(), exact.denominator.bit_length()) <= DIGITS


def shown(answer: object) -> str:
    """Return the beginning of an answer, or its type where it cannot be shown.

    >>> shown([1, 2]), shown([10**5000])
    ('[1, 2]', 'a list that cannot be shown')
    """
    try:
        return repr(answer)[:SHOWN]
    except Exception:
        return f"a {type(answer).__name__} that cannot be shown"


def _words(error: Exception) -> str:
    try:
        return str(error)[: 4 * SHOWN]
    except Exception:
        return "an error without words"
