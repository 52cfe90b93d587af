"""Ticks, the unit in which event loops count time: events that are simultaneous exactly are so in the loop.

A loop adds and compares floats. Sums of whole numbers below 2^53 are exact, so a system whose times are given, or
deterministic, is simulated in a tick of which they are whole multiples: a microsecond for traces, and for
deterministic laws their greatest common divisor, divided by a power of two that leaves random times their precision.
Random times are rounded to ticks there. A system without given or deterministic times counts in its own unit of time.

The greatest common divisor scales with the unit of time, and the power of two does not depend on it, so that the same
system in other units of time takes the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

HORIZON = 2**48
"""Most ticks of a run: sums, and products with a rounded rate, are then within half a tick of the exact number."""

ROUNDING = Fraction(1, 2**50)
"""A time within this fraction of a whole number of ticks is that number: floats such as 3 * 0.1 are not whole."""


def exactly(time: Any) -> Fraction:
    """Return a time as a rational; a float stands for its shortest decimal text."""
    return time if isinstance(time, Fraction) else Fraction(repr(float(time)))


def in_ticks(time: Any, tick: Fraction) -> float:
    """Return a time as a number of ticks; a float stands for its shortest decimal text.

    >>> in_ticks(0.7, Fraction(1, 10**6)), in_ticks(0.7 / 5, Fraction(1, 100)), in_ticks(0.25, Fraction(1, 2))
    (700000.0, 14.0, 0.5)
    """
    if tick == 1:
        return float(time)
    exact = exactly(time) / tick
    nearest = round(exact)
    return float(nearest if abs(exact - nearest) <= ROUNDING * nearest else exact)


def in_units(ticks: Any, tick: Fraction) -> Any:
    """Return numbers of ticks, a float or an array, in units of time, each rounded once where it is a whole number.

    >>> in_units(3.0, Fraction(1, 10)), in_units(700000.0, Fraction(1, 10**6))
    (0.3, 0.7)
    """
    above, below = ratio(tick)
    return ticks * above / below


def ratio(tick: Fraction) -> tuple[float, float]:
    """Return two floats whose quotient is a tick: numerator and denominator, unless they are beyond all floats."""
    if max(tick.numerator, tick.denominator) < 2**1000:
        return float(tick.numerator), float(tick.denominator)
    return float(tick), 1.0


def common_tick(times: Sequence[Fraction], until: Any) -> tuple[Fraction, bool]:
    """Return a tick for deterministic times until a horizon, and whether all of them are whole numbers of it.

    Where they have no common divisor of which the horizon has at most `HORIZON`, the tick is longer, and they are
    rounded.

    >>> common_tick([Fraction(1, 3), Fraction(1, 2)], 2.0**46)
    (Fraction(1, 3), False)
    """
    whole = lcm(*(time.denominator for time in times))
    divisor = Fraction(gcd(*(int(time * whole) for time in times)), whole)
    most = HORIZON * divisor / exactly(until)  # the number by which the divisor may be divided
    if most >= 1:
        return divisor / 2 ** (int(most).bit_length() - 1), True
    return divisor * 2 ** (-int(-1 // most) - 1).bit_length(), False


def rounded(times: NDArray[np.float64], *, whole: bool) -> NDArray[np.float64]:
    """Return times rounded to whole numbers if they are to be whole."""
    return np.rint(times) if whole else times
