"""Exact numbers: reading them, writing them, and scaling them to integers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from numbers import Rational

MAX_DIGITS = 400
"""Longest numeral that is read: a longer one is a mistake or an attack, and exact arithmetic on it would crawl."""

LARGEST = 10**100
"""Numbers that are read are 0, or from 1/LARGEST to LARGEST in size: products of three of them are finite floats."""

MOST_SERVERS = 10**8
"""Most servers of a simulated cluster."""

_LONG = 10**4000
_QUOTIENT = re.compile(r"[+-]?[0-9]+/[0-9]+")
_DECIMAL = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?|[+-]?\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")


def rational(value: object) -> Fraction:
    """Read a number exactly.

    Parameters
    ----------
    value : int, float, Decimal, Fraction or str
        ``"9/8"``, ``"1.125"``, ``"3"``, ``3``, ``1.125``. A float stands for its shortest decimal text, so ``0.1`` is
        one tenth.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        If the value is no finite number, is a truth value, has a zero denominator or more than `MAX_DIGITS` digits, or
        is beyond `LARGEST` (a Fraction is taken as it is).

    Examples
    --------
    >>> rational(0.1), rational("9/8"), rational("2.50"), rational("1e-3")
    (Fraction(1, 10), Fraction(9, 8), Fraction(5, 2), Fraction(1, 1000))
    """
    if isinstance(value, bool):
        raise ValueError("a truth value is not a number")
    if isinstance(value, Fraction):
        return value
    made = Fraction(value) if isinstance(value, Rational) else _read(value)
    if made and not 1 / Fraction(LARGEST) <= abs(made) <= LARGEST:
        raise ValueError("beyond 1e100, or nearer to 0 than 1e-100")
    return made


def _read(value: object) -> Fraction:
    if isinstance(value, float | Decimal):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"{type(value).__name__} is not a number")
    text = value.strip().replace("_", "")
    if not text:
        raise ValueError("it is empty")
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of more than {MAX_DIGITS} characters")
    if _QUOTIENT.fullmatch(text):
        numerator, denominator = (int(part) for part in text.split("/"))
        if denominator == 0:
            raise ValueError("zero denominator")
        return Fraction(numerator, denominator)
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None:
        finite = text.strip("+-").casefold() not in {"nan", "inf", "infinity"}
        raise ValueError("not a number" if finite else "not a finite number")
    if decimal[2] is not None and (len(decimal[2]) > 4 or abs(int(decimal[2])) > MAX_DIGITS):
        raise ValueError(f"an exponent beyond {MAX_DIGITS}")
    return Fraction(text)


def text(value: Fraction | int) -> str:
    """Write an exact number as ``p/q`` in lowest terms, or ``n``.

    Examples
    --------
    >>> text(Fraction(6, 8)), text(Fraction(3))
    ('3/4', '3')
    """
    exact = Fraction(value)
    above = _numeral(exact.numerator)
    return above if exact.denominator == 1 else f"{above}/{_numeral(exact.denominator)}"


def texts(values: Iterable[Fraction | int]) -> str:
    """Write exact numbers for people, with blanks between them.

    Examples
    --------
    >>> texts([Fraction(1, 2), 3])
    '1/2 3'
    """
    return " ".join(text(Fraction(value)) for value in values)


def _numeral(number: int) -> str:
    """Write an integer in parts that are shorter than what Python refuses to write (4,300 digits)."""
    if abs(number) < _LONG:
        return str(number)
    high, low = divmod(abs(number), _LONG)
    return "-" * (number < 0) + _numeral(high) + str(low).zfill(4000)


def to_integers(values: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Scale rationals to the smallest integers in the same proportion.

    Parameters
    ----------
    values : sequence of Fraction, shape (n,)

    Returns
    -------
    integers : list of int, shape (n,)
        With greatest common divisor 1, unless all are zero.
    unit : Fraction
        ``values[i] == integers[i] * unit``; positive.

    Examples
    --------
    >>> to_integers([Fraction(3, 2), Fraction(9, 4)])
    ([2, 3], Fraction(3, 4))
    """
    denominator = lcm(*(value.denominator for value in values))
    integers = [value.numerator * (denominator // value.denominator) for value in values]
    divisor = gcd(*integers) or 1
    return [value // divisor for value in integers], Fraction(divisor, denominator)


def total(values: Iterable[Fraction]) -> Fraction:
    """Sum rationals (an exact `sum` whose empty value is a `Fraction`)."""
    return sum(values, Fraction(0))


def ceiling(value: Fraction) -> int:
    """Least integer that is at least `value`."""
    return -(-value.numerator // value.denominator)


def many(count: int, thing: str) -> str:
    """Write a number of things.

    >>> many(1, "server"), many(1200, "server")
    ('1 server', '1,200 servers')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
