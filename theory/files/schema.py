"""The JSON schema of a record: which documents have the form that its annotations state.

A schema says less than the reader: numbers that are texts, and what fields say together, only the reader judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, cast, get_args, get_origin

from theory.files.forms import Form, Matching, Range, Some, Tables, fields_of

NUMBER = ["number", "string"]
TYPES = {bool: "boolean", int: ["integer", "string"], float: NUMBER, Fraction: NUMBER}
"""Types of JSON by those of Python: a number may be a text, such as ``"1/3"``."""


def schema_of(record: Any) -> dict[str, Any]:
    """Return the schema of a record, or of another annotation, with those of the records in it under ``$defs``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Rule:
    ...     depth: int | None = None
    >>> schema_of(Rule)["$defs"]["Rule"]["properties"]
    {'depth': {'type': ['integer', 'string']}}
    """
    parts: dict[str, Any] = {}
    form = _described(Form.of(record), parts)
    return {**form, "$defs": parts} if parts else form


def _object(record: type[Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the table of a record."""
    found = {"description": " ".join((record.__doc__ or "").split("\n\n")[0].split()), "type": "object"}
    either = getattr(record, "EITHER", None)
    return {
        **found,
        "properties": {each.name: _described(each, parts) for each in fields_of(record)},
        "required": [each.name for each in fields_of(record) if each.default is MISSING],
        **({"oneOf": [{"required": [name]} for name in either.names]} if either else {}),
        "additionalProperties": False,
    }


def _described(form: Form, parts: dict[str, Any]) -> dict[str, Any]:
    return {**({"description": form.about} if form.about else {}), **_of(form, parts)}


def _of(form: Form, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value; those of records are added to the parts."""
    kind = form.kind
    if form.alternatives and not form.reading:
        return {"anyOf": [_of(each, parts) for each in form.alternatives]}
    if form.container:
        return _of_container(form, parts)
    if kind is str:
        matching = form.metadata(Matching)
        return {"type": "string", **({"pattern": matching.pattern} if matching else {"minLength": 1})}
    if form.reading or kind is Any:
        return {}
    if is_dataclass(kind):
        return _reference(cast(type[Any], kind), parts)
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    return {"type": TYPES[kind], **_bounds(form.bounds)}


def _reference(record: type[Any], parts: dict[str, Any]) -> dict[str, Any]:
    if record.__name__ not in parts:
        parts[record.__name__] = {}  # it stands before those that it holds
        parts[record.__name__].update(_object(record, parts))
    return {"$ref": f"#/$defs/{record.__name__}"}


def _bounds(bounds: Range) -> dict[str, Any]:
    """Return the bounds of a number; JSON schema does not compare texts."""
    least, most = ("exclusiveMinimum" if bounds.above else "minimum"), "exclusiveMaximum" if bounds.below else "maximum"
    return {name: end for name, end in ((least, bounds.least), (most, bounds.most)) if isfinite(end)}


def _of_container(form: Form, parts: dict[str, Any]) -> dict[str, Any]:
    entries = [_of(entry, parts) for entry in form.entries]
    needed = 1 if form.metadata(Some) or form.metadata(Tables) else 0
    if form.container is Mapping:
        return {"type": "object", **({"minProperties": 1} if needed else {}), "additionalProperties": entries[0]}
    if form.is_row:
        return {"type": "array", "prefixItems": entries, "minItems": len(entries), "maxItems": len(entries)}
    array = {"type": "array", **({"minItems": 1} if needed else {}), "items": entries[0]}
    return {"anyOf": [entries[0], array]} if form.metadata(Tables) else array
