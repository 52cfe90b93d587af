"""Typed answers, and the one way in which they are made from the records of results.

An answer is a `msgspec.Struct`: the JSON of a command is written from it, and its schema from its class
(`bounds.views.schemas`). Where a record has a field of the same name, the answer takes it from there, in the form that
the type of the field asks for; a view writes only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Self, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, UnsetType

from fluid.statistics import Interval
from theory.numbers import text

Ends = tuple[float | None, float | None]
"""The two ends of a 95 % interval; null for an end that is not finite."""

Exact = Annotated[str, msgspec.Meta(pattern="^-?[0-9]+(/[0-9]+)?$")]
"""An exact rational as text: p/q, or n."""

OTHER_FORMS = ("_exact", "_float", "_ci95")
"""Endings of fields that have the value of the field without the ending, in another form."""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The base of answers: typed records, from which the JSON and its schema are made (`bounds.views.schemas`)."""

    @classmethod
    def of(cls, *records: Any, names: Sequence[str] = (), **differing: Any) -> Self:
        """Make an answer from the records of a result.

        A field has the value in `differing`, or else the attribute of its name of the first record that has one, or
        else its default. Its type says how the value is written: an exact number as text (`Exact`) or as a float, an
        interval as its mean, as its ends (`Ends`) or as both (`Number`), a record as an answer of the given class, made
        by `of` as well. A number that is not finite is null where the type allows it.

        Parameters
        ----------
        *records : object
        names : sequence of str
            The keys, where a record has a sequence and the answer a mapping.
        **differing
            Values of fields that no record has under their names.

        Raises
        ------
        TypeError
            A field without a default that has no value.
        """
        values = {name: _value(name, records, differing) for name in _encoders(cls)}
        return cls(**{n: _encoders(cls)[n](value, names) for n, value in values.items() if value is not UNSET})


class Number(Answer, frozen=True, kw_only=False):
    """A measured number with its 95 % interval; null where there is none."""

    mean: float | None
    ci95: Ends


def named(things: Sequence[Any], values: Sequence[Any]) -> dict[str, Any]:
    """Return values by the names of types, pools, servers or users."""
    return dict(zip((thing.name for thing in things), values, strict=True))


def _value(name: str, records: Sequence[Any], differing: Mapping[str, Any]) -> Any:
    """Return the value of a field, or UNSET where nothing gives one."""
    if name == "ci95" and name not in differing:
        return records[0]  # an interval, or what is written as one
    for stem in (name, *(name.removesuffix(ending) for ending in OTHER_FORMS if name.endswith(ending))):
        if stem in differing:
            return differing[stem]
        for record in records:
            if (value := getattr(record, stem, UNSET)) is not UNSET:
                return value
    return UNSET


Encoder = Callable[[Any, Sequence[str]], Any]
"""Returns a value as it is written in an answer, given the keys of mappings."""


@cache
def _encoders(kind: type[Answer]) -> dict[str, Encoder]:
    return {field.name: _encoder(field.type) for field in msgspec.structs.fields(kind)}


@cache
def _encoder(kind: Any) -> Encoder:
    """Return the encoder of values for a type of fields."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _optional(parts)
    if kind == Exact:
        return lambda value, _: value if isinstance(value, str) else text(value)
    if kind is float:
        return lambda value, _: value if type(value) is int else float(_middle(value))
    if kind in (int, bool):
        return lambda value, _: kind(value)  # also of numpy's integers and truth values
    if isinstance(kind, type) and issubclass(kind, Answer):
        return lambda value, names: value if isinstance(value, kind) else kind.of(value, names=names)
    if origin not in (list, tuple, dict):
        return lambda value, _: value
    return _of_several(origin, parts)


def _of_several(origin: Any, parts: tuple[Any, ...]) -> Encoder:
    """Return the encoder of lists, tuples and mappings."""
    encoders = [_encoder(part) for part in parts if part is not Ellipsis]
    if origin is list or Ellipsis in parts:
        return lambda value, names: origin(encoders[0](each, names) for each in value)
    if origin is tuple:
        return lambda value, names: tuple(
            encode(each, names) for encode, each in zip(encoders, _pair(value), strict=True)
        )
    return lambda value, names: {
        name: encoders[1](each, names)
        for name, each in (value.items() if isinstance(value, Mapping) else zip(names, value, strict=True))
    }


def _optional(parts: tuple[Any, ...]) -> Encoder:
    """Return the encoder for one type or nothing, where nothing is null if the type has it, and else left out."""
    (part,) = (one for one in parts if one not in (NoneType, UnsetType))
    encode, nothing = _encoder(part), None if NoneType in parts else UNSET

    def written(value: Any, names: Sequence[str]) -> Any:
        value = None if value is None else encode(value, names)
        return nothing if value is None or (part is float and not isfinite(value)) else value

    return written


def _middle(value: Any) -> Any:
    return value.mean if isinstance(value, Interval) else value


def _pair(value: Any) -> Any:
    return (value.low, value.high) if isinstance(value, Interval) else value
