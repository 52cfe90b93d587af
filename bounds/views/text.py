"""How all views write numbers, configurations and tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from theory import numbers
from theory.errors import quoted
from theory.numbers import text

if TYPE_CHECKING:
    from theory.instance import Configuration, Instance


def short(value: Fraction | str) -> str:
    """Write an exact number for people: exact where that is short, rounded beside it otherwise."""
    value = Fraction(value)
    exact = text(value)
    if value.denominator == 1:
        return exact
    return f"{exact} ({float(value):.6g})" if len(exact) <= 24 else f"{float(value):.9g}"


def in_pool(instance: Instance, pool: int, words: str) -> str:
    """Write words about servers with the name of their pool before them, where there are several pools."""
    return f"{quoted(instance.pools[pool].name)}: {words}" if len(instance.pools) > 1 else words


def packed(instance: Instance, configuration: Configuration, empty: str = "empty", *, pool: int = 0) -> str:
    """Write a configuration of a pool for people: ``16 small + 3 large``."""
    parts = [f"{slots} {quoted(name)}" for name, slots in zip(instance.names, configuration, strict=True) if slots]
    return in_pool(instance, pool, " + ".join(parts) or empty)


def and_more(count: int, more: str = "more") -> list[str]:
    """Write how many rows a text leaves out."""
    return [f"  and {count:,} {more}"] if count > 0 else []


many = numbers.many


UNIT_OF_THE_FILE = "unit of the file"  # of times, as service rates in a file have no unit of their own


def unit_of_time(scenario: Any) -> str:
    """Return the unit of time of a scenario: slots, seconds of a trace, or that of the service rates in the file."""
    return str(scenario.unit) if scenario.unit == "slots" or scenario.jobs is not None else UNIT_OF_THE_FILE


INTERVALS = "intervals in brackets are of 95 % confidence"  # a line of every text with intervals


class Number(NamedTuple):
    """A mean with the ends of its 95 % interval; None where there is none."""

    mean: float | None
    ci95: Sequence[float | None] = (None, None)


def with_interval(measured: Any, digits: int = 6, *, least: float = -inf, most: float = inf) -> str:
    """Write a number (`Interval`, `Number` or an answer) with its 95 % interval, cut to possible values.

    >>> with_interval(Number(1.0, (-0.5, 2.5))), with_interval(Number(0.5, (-0.5, 1.5)), least=0.0, most=1.0)
    ('1  [-0.5, 2.5]', '0.5  [0, 1]')
    """
    low, high = measured.ci95 if hasattr(measured, "ci95") else (measured.low, measured.high)
    if measured.mean is None or not isfinite(measured.mean):
        return "-"
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return f"{measured.mean:.{digits}g}"
    return f"{measured.mean:.{digits}g}  [{max(low, least):.{digits}g}, {min(high, most):.{digits}g}]"
