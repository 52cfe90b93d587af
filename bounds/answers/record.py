"""What a typed answer is, and how the records of a result become one.

A class of an answer declares its keys in order, and the form of each value. `encode` takes what a class and a record
both name from the record; only what differs is written by hand. From the class come its JSON and its published
schema (`bounds.answers.schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from math import inf, isfinite
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import UNSET, Meta, Struct, StructMeta, UnsetType, field, to_builtins
from msgspec.structs import fields as fields_of

from theory.numbers import text


class _Declared(StructMeta):
    """Makes classes of answers: frozen, with fields by name alone, and no other keys in JSON."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: bool) -> _Declared:
        """Make a class; its options are the same for all."""
        answer: _Declared = super().__new__(
            cls, name, bases, namespace, frozen=True, kw_only=True, forbid_unknown_fields=True
        )
        return answer


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Answer(Struct, metaclass=_Declared, frozen=True, kw_only=True):
    """An answer, or a part of one; a field that is left out is `UNSET`, which is false."""

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON has it, without the fields that are left out."""
        document: dict[str, Any] = to_builtins(self, enc_hook=str)
        return document


def expect_lengths(length: int, of: str, lists: Mapping[str, Collection[Any]]) -> None:
    """Refuse lists of an answer of which each must have an entry for each entry of another one.

    Raises
    ------
    ValueError
        The first list of another length, by its name; msgspec says that an answer which is read is not valid.

    Examples
    --------
    >>> expect_lengths(2, "time", {"reward": [1.0]})
    Traceback (most recent call last):
    ValueError: reward: expected a list of 2, as many as in time, got 1
    """
    for name, values in lists.items():
        if len(values) != length:
            raise ValueError(f"{name}: expected a list of {length}, as many as in {of}, got {len(values)}")


def expect_keys(keys: Collection[str], of: str, mappings: Mapping[str, Collection[str]]) -> None:
    """Refuse mappings of an answer of which each must have the keys of another one.

    Raises
    ------
    ValueError
        The first mapping with other keys, by its name.

    Examples
    --------
    >>> expect_keys({"a", "b"}, "tasks", {"distances[0].tasks": {"b": 1}})
    Traceback (most recent call last):
    ValueError: distances[0].tasks: expected the names of tasks, got others
    """
    for name, mapping in mappings.items():
        if set(mapping) != set(keys):
            raise ValueError(f"{name}: expected the names of {of}, got others")


class Of(NamedTuple):
    """Marks a field that is another form of the field `name`; of the record itself where there is no name."""

    name: str


class Head(NamedTuple):
    """What a reader is told instead of the name of a field, and how its numbers are written.

    `digits` are significant; a `share` is written in per cent. Fields by the same keys, which are called `by`, are
    columns of one table; numbers by two keys are called by both, such as ``user, server``. A field without `words` is
    not shown. Intervals are cut at the `least` possible value. A text is quoted as messages quote names of a file; one
    that is `prose` is written as it is.
    """

    words: str
    digits: int = 6
    share: bool = False
    by: str = ""
    least: float = -inf
    prose: bool = False


LINES = "lines"
"""In place of `by`: a list of texts is a table of its own, a line each."""

NOTES = Head("notes", by=LINES)
"""Marks what a reader should know beside the numbers."""

HIDDEN = Head("")
"""Marks a field that is for programs, or that a panel or another field shows."""

Exact = Annotated[str, Meta(pattern="^-?[0-9]+(/[0-9]+)?$")]
"""An exact number: a whole number or a fraction."""

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""A SHA-256."""

Ends = tuple[float | None, float | None]
"""The ends of a 95 % interval; null where there is none."""

Kind = TypeVar("Kind", bound=Answer)

Encoder = Callable[[Any, Sequence[str]], Any]  # a value, and the keys of mappings, to its form in an answer

ABSENT = object()  # in place of the value of a field for which no record has any


class Fields:
    """The fields of an object of an answer: those of records, and what differs from them.

    A field has the value in `differing`, None for one that is left out, or else the attribute of its name of the first
    record that has one; then that of the field of which it is another form (`Of`). `names` are the keys where a record
    has a sequence and the answer a mapping.
    """

    def __init__(self, *records: Any, names: Sequence[str] = (), **differing: Any) -> None:
        self.records, self.names, self.differing = records, names, differing

    def value(self, name: str, of: str | None) -> Any:
        """Return the value of a field, or `ABSENT`."""
        for stem in (name,) if not of else (name, of):
            if stem in self.differing:
                return self.differing[stem]
            for record in self.records:
                if (value := getattr(record, stem, ABSENT)) is not ABSENT:
                    return value
        return self.records[0] if of == "" else ABSENT


def encode(kind: type[Kind], /, *records: Any, names: Sequence[str] = (), **differing: Any) -> Kind:
    """Encode the records of a result as an answer of a class.

    Exact numbers become text or floats, intervals their mean or their two ends, records objects, as the class declares.
    A number that is not finite becomes null where the class allows it. The other parameters are those of `Fields`.

    Raises
    ------
    TypeError
        A field without a value, or a value for a field that the class does not have.
    """
    encoded: Kind = _encoder_of(kind)(Fields(*records, names=names, **differing), names)
    return encoded


def named(things: Any, values: Any) -> dict[str, Any]:
    """Return values by the names of types, pools, servers or users."""
    return dict(zip((thing.name for thing in things), values, strict=True))


@cache
def _encoder_of(kind: type[Answer]) -> Encoder:
    """Return the encoder of a class."""
    hints = get_type_hints(kind, include_extras=True)
    keys = {field.name: field.encode_name for field in fields_of(kind)}
    required = {field.name for field in fields_of(kind) if field.required}
    forms = {name: _other_form_of(hints[name]) for name in keys}
    encoders = {name: _encoder(hints[name]) for name in keys}

    def encode_object(value: Any, names: Sequence[str]) -> Answer:
        if isinstance(value, Answer):
            return value
        if isinstance(value, Mapping):
            value = Fields(**value)
        fields = value if isinstance(value, Fields) else Fields(value)
        if unknown := fields.differing.keys() - keys.values():
            raise TypeError(f"{kind.__name__}: no field {', '.join(unknown)}")
        values = {}
        for name, encoder in encoders.items():
            source = fields.value(keys[name], forms[name])
            if source is ABSENT and name in required:
                raise TypeError(f"{kind.__name__}: no value of {name}")
            if name in required or not (source is ABSENT or source is None or source is UNSET):
                values[name] = encoder(source, fields.names or names)
        return kind(**values)

    return encode_object


def _other_form_of(annotation: Any) -> str | None:
    """Return the field of which an annotated field is another form; None where it is none."""
    for one in (annotation, *get_args(annotation)):
        if get_origin(one) is Annotated:
            for mark in one.__metadata__:
                if isinstance(mark, Of):
                    return mark.name
    return None


def _encoder(annotation: Any) -> Encoder:
    """Return the encoder of values for a type."""
    if get_origin(annotation) is Annotated:
        return _exact if annotation.__origin__ is str else _encoder(annotation.__origin__)
    if get_origin(annotation) in (Union, UnionType):
        kinds = [one for one in get_args(annotation) if one is not UnsetType]
        (one,) = (one for one in kinds if one is not NoneType)
        return _nullable(_encoder(one)) if NoneType in kinds else _encoder(one)
    if isinstance(annotation, type) and issubclass(annotation, Answer):
        return _encoder_of(annotation)
    if annotation is float:  # a whole number stays one
        return lambda value, _: value if type(value) is int else float(_mean(value))
    if annotation in (int, bool):  # also of numpy's
        return lambda value, _: annotation(value)
    arguments = get_args(annotation)
    if get_origin(annotation) is dict and arguments[1] is not Any:
        return _mapping(_encoder(arguments[1]))
    if get_origin(annotation) is tuple:
        encoders = [_encoder(one) for one in arguments]
        return lambda value, names: tuple(encode(x, names) for encode, x in zip(encoders, _ends(value), strict=True))
    if get_origin(annotation) is list:
        each = _encoder(arguments[0])
        return lambda value, names: [each(x, names) for x in value]
    assert annotation in (str, Any) or get_origin(annotation) in (Literal, dict), annotation
    return lambda value, _: value


def _exact(value: Any, names: Sequence[str]) -> str:
    del names
    return value if isinstance(value, str) else text(value)


def _nullable(encode_value: Encoder) -> Encoder:
    def encode_or_null(value: Any, names: Sequence[str]) -> Any:
        encoded = None if value is None else encode_value(value, names)
        return None if isinstance(encoded, float) and not isfinite(encoded) else encoded

    return encode_or_null


def _mapping(encode_value: Encoder) -> Encoder:
    def encode_each(value: Any, names: Sequence[str]) -> dict[str, Any]:
        items = value.items() if isinstance(value, Mapping) else zip(names, value, strict=True)
        return {name: encode_value(one, names) for name, one in items}

    return encode_each


def _mean(value: Any) -> Any:
    return value.mean if _is_interval(value) else value


def _ends(value: Any) -> Any:
    return (value.low, value.high) if _is_interval(value) else value


def _is_interval(value: Any) -> bool:
    from fluid.statistics import Interval  # with numpy, which answers without measured numbers do not load

    return isinstance(value, Interval)
