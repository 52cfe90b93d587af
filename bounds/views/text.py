"""How all views write numbers, configurations and tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite
from typing import Annotated, TypeVar

import msgspec

from fluid.statistics import Interval
from theory.errors import quoted
from theory.instance import Configuration, Instance
from theory.numbers import text

Value = TypeVar("Value")
Ends = tuple[float | None, float | None]
Exact = Annotated[str, msgspec.Meta(pattern="^-?[0-9]+(/[0-9]+)?$")]
"""An exact rational as text: p/q, or n."""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The base of answers: typed records, from which the JSON and its schema are made (`bounds.views.schemas`)."""


class Number(Answer, frozen=True, kw_only=False):
    """A measured number with its 95 % interval; null where there is none."""

    mean: float | None
    ci95: Ends


def ends(found: Interval) -> Ends:
    """Return the ends of an interval; None for those that are not finite."""
    return (found.low if isfinite(found.low) else None), (found.high if isfinite(found.high) else None)


def number(found: Interval) -> Number:
    """Return an interval as it stands in answers."""
    return Number(found.mean if isfinite(found.mean) else None, ends(found))


def named(instance: Instance, values: Sequence[Fraction | int]) -> dict[str, str]:
    """Return exact numbers, shape (J,), as {type: text}."""
    return dict(zip(instance.names, map(text, values), strict=True))


def by_type(instance: Instance, values: Sequence[Value]) -> dict[str, Value]:
    """Return values, shape (J,), as {type: value}."""
    return dict(zip(instance.names, values, strict=True))


def short(value: Fraction) -> str:
    """Write a number for people: exact where that is short, rounded beside it otherwise."""
    exact = text(value)
    if value.denominator == 1:
        return exact
    return f"{exact} ({float(value):.6g})" if len(exact) <= 24 else f"{float(value):.9g}"


def packed(instance: Instance, configuration: Configuration, empty: str = "empty") -> str:
    """Write a configuration for people: ``16 small + 3 large``."""
    parts = [f"{slots} {quoted(name)}" for name, slots in zip(instance.names, configuration, strict=True) if slots]
    return " + ".join(parts) or empty


def many(count: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> many(1, "server"), many(1200, "server")
    ('1 server', '1,200 servers')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


INTERVALS = "intervals in brackets are of 95 % confidence"
"""Said once in every answer that has some."""


def with_interval(found: Number, digits: int = 6, *, least: float = -inf, most: float = inf) -> str:
    """Return a number with its 95 % interval, as far as that lies where the number can.

    Examples
    --------
    >>> with_interval(Number(1.0, (-0.5, 2.5))), with_interval(Number(0.5, (-0.5, 1.5)), least=0.0, most=1.0)
    ('1  [-0.5, 2.5]', '0.5  [0, 1]')
    """
    low, high = found.ci95
    if found.mean is None:
        return "-"
    if low is None or high is None:
        return f"{found.mean:.{digits}g}"
    return f"{found.mean:.{digits}g}  [{max(low, least):.{digits}g}, {min(high, most):.{digits}g}]"
