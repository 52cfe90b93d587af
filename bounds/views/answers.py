"""Answers of commands: the records of results, encoded as the published schemas say.

``bounds/schemas/NAME.json`` declares an answer: its keys in order, and the form of each value. What the schema and a
record both name is taken from the record; a view writes only what differs (`encode_answer`, `Fields`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from fluid.statistics import Interval
from theory.numbers import text

FOLDER = Path(__file__).parents[1] / "schemas"

OTHER_FORMS = ("_exact", "_float", "_ci95")  # endings of keys with another form of the value of the key without
ABSENT = object()  # in place of the value of a key for which no record has any

Encoder = Callable[[Any, Sequence[str]], Any]  # a value, and the keys of mappings, to the form of a schema


class Fields:
    """The fields of an object of an answer: those of records, and what differs from them.

    A field has the value in `differing`, None for one that is left out, or else the attribute of its name of the first
    record that has one. The fields ``X_exact``, ``X_float`` and ``X_ci95`` are other forms of X, and ``ci95`` alone is
    one of the first record. `names` are the keys where a record has a sequence and the answer a mapping.
    """

    def __init__(self, *records: Any, names: Sequence[str] = (), **differing: Any) -> None:
        self.records, self.names, self.differing = records, names, differing

    def value(self, name: str) -> Any:
        """Return the value of a field, or `ABSENT`."""
        # first the name itself, then the name that it is another form of
        for stem in (name, *(name.removesuffix(ending) for ending in OTHER_FORMS if name.endswith(ending))):
            if stem in self.differing:
                return self.differing[stem]
            for record in self.records:
                if (value := getattr(record, stem, ABSENT)) is not ABSENT:
                    return value
        return self.records[0] if name == "ci95" else ABSENT


class Answer:
    """An encoded object: its keys are attributes, None where they are left out."""

    def __init__(self, values: dict[str, Any], declared: Mapping[str, Any]) -> None:
        self._values, self._declared = values, declared

    def __contains__(self, name: str) -> bool:
        """Whether an answer of this kind has a key, left out or not."""
        return name in self._declared

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._declared:
            raise AttributeError(name)
        return self._values.get(name)

    def to_json(self) -> dict[str, Any]:
        """Return the object as JSON has it, in the order of its schema; its own objects are answers as well."""
        return self._values


def encode_answer(
    schema_name: str, *records: Any, part: str = "", names: Sequence[str] = (), **differing: Any
) -> Answer:
    """Encode the records of a result as an answer of ``bounds/schemas``, or as a part that its schema defines.

    Exact numbers become text or floats, intervals their mean or their two ends, records objects, as the schema asks. A
    number that is not finite becomes null where the schema allows it. The other parameters are those of `Fields`. A
    required key without a value, and a value for a key that the schema does not have, are a TypeError.
    """
    encoded: Answer = _encoder_of(schema_name, part)(Fields(*records, names=names, **differing), names)
    return encoded


def named(things: Iterable[Any], values: Iterable[Any]) -> dict[str, Any]:
    """Return values by the names of types, pools, servers or users."""
    return dict(zip((thing.name for thing in things), values, strict=True))


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the published JSON schema of an answer."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


@cache
def _encoder_of(name: str, part: str) -> Encoder:
    document = schema(name)
    definitions = document.get("$defs", {})
    return _encoder(definitions[part] if part else document, definitions)


def _encoder(form: Mapping[str, Any], definitions: Mapping[str, Any]) -> Encoder:
    """Return the encoder of values for a node of a schema."""
    if "$ref" in form:
        return _encoder(definitions[form["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in form:  # a value or null
        (one,) = (one for one in form["anyOf"] if one["type" if "type" in one else "$ref"] != "null")
        return _nullable(_encoder(one, definitions), number=one.get("type") == "number")
    kind = form.get("type")
    if kind is None:  # any value
        return lambda value, _: value
    if kind == "object" and "properties" in form:
        return _object(form, definitions)
    if kind == "object" and "additionalProperties" in form:
        return _mapping(_encoder(form["additionalProperties"], definitions))
    if kind == "array" and "prefixItems" in form:
        encoders = [_encoder(one, definitions) for one in form["prefixItems"]]
        return lambda value, names: [encode(x, names) for encode, x in zip(encoders, _ends(value), strict=True)]
    if kind == "array":
        each = _encoder(form["items"], definitions)
        return lambda value, names: [each(x, names) for x in value]
    if kind == "number":  # a whole number stays one
        return lambda value, _: value if type(value) is int else float(_mean(value))
    if kind in ("integer", "boolean"):  # also of numpy's
        cast = int if kind == "integer" else bool
        return lambda value, _: cast(value)
    if "pattern" in form:  # the pattern is that of exact numbers
        return lambda value, _: value if isinstance(value, str) else text(value)
    return lambda value, _: value


def _object(form: Mapping[str, Any], definitions: Mapping[str, Any]) -> Encoder:
    encoders = {name: _encoder(one, definitions) for name, one in form["properties"].items()}
    required = frozenset(form.get("required", ()))

    def encode(value: Any, names: Sequence[str]) -> Answer:
        if isinstance(value, Answer):
            return value
        fields = (
            Fields(**value) if isinstance(value, Mapping) else value if isinstance(value, Fields) else Fields(value)
        )
        if unknown := fields.differing.keys() - encoders.keys():
            raise TypeError(f"{form['title']}: no field {', '.join(unknown)}")
        values = {}
        for name, encoder in encoders.items():
            source = fields.value(name)
            if source is ABSENT and name in required:
                raise TypeError(f"{form['title']}: no value of {name}")
            if name in required or not (source is ABSENT or source is None):
                values[name] = encoder(source, fields.names or names)
        return Answer(values, encoders)

    return encode


def _nullable(encode: Encoder, *, number: bool) -> Encoder:
    def encode_or_null(value: Any, names: Sequence[str]) -> Any:
        encoded = None if value is None else encode(value, names)
        return None if encoded is None or (number and not isfinite(encoded)) else encoded

    return encode_or_null


def _mapping(encode: Encoder) -> Encoder:
    def encode_each(value: Any, names: Sequence[str]) -> dict[str, Any]:
        items = value.items() if isinstance(value, Mapping) else zip(names, value, strict=True)
        return {name: encode(one, names) for name, one in items}

    return encode_each


def _mean(value: Any) -> Any:
    return value.mean if isinstance(value, Interval) else value


def _ends(value: Any) -> Any:
    return (value.low, value.high) if isinstance(value, Interval) else value
