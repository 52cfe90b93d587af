"""Answers that come back as files: whether they have the form that their schema publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from bounds.answers import schema
from theory.errors import InputError, cut

EXACT = "^-?[0-9]+(/[0-9]+)?$"  # the pattern of exact numbers

GREATEST = 10**100  # numbers of answers are below it, so that sums of them are numbers, too

NAMES: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "object": ("an object", dict),
    "array": ("a list", list),
    "string": ("a text", str),
    "integer": ("a whole number", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "null": ("null", type(None)),
}
"""What a type of a schema is called, and what it is in Python."""


def parse_answer(text: str) -> Any:
    """Parse what ``--json`` printed.

    Raises
    ------
    InputError
        A text that is no JSON: one with a number that is infinite or none, with a key that stands twice in one object,
        or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError as error:
        raise InputError("expected JSON, found a document that is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"expected JSON, as a command prints it with --json ({error})") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"the key {cut(ascii(name), 60)} stands twice in one object")
        table[name] = value
    return table


def expect_answer(document: Mapping[str, Any], name: str) -> None:
    """Refuse a document that is no answer of a published schema.

    Parameters
    ----------
    document : mapping
        As it was read from JSON.
    name : str
        Of the schema, such as ``solve``.

    Raises
    ------
    InputError
        One line with the place, what was expected there, and what it has.

    Examples
    --------
    >>> expect_answer({"cells": 4, "finished": 4}, "experiment")
    Traceback (most recent call last):
    theory.errors.InputError: parameters: missing
    """
    form = _form_of(name)
    try:
        _expect(document, form, form.get("$defs", {}), "")
    except RecursionError as error:
        raise InputError("expected an answer, found a document that is nested too deeply") from error


def fields_of(name: str) -> Iterable[str]:
    """Return the fields at the top of an answer of a schema."""
    form = _form_of(name)
    if "$ref" in form:
        form = _definition(form, form["$defs"])
    fields: Mapping[str, Any] = form["properties"]
    return fields.keys()


@cache
def _form_of(name: str) -> Mapping[str, Any]:
    """Return a schema to look at: it takes milliseconds to make, and a report asks for several, many times."""
    return schema(name)


def _definition(form: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    definition: Mapping[str, Any] = definitions[form["$ref"].rpartition("/")[2]]
    return definition


def _expect(value: Any, form: Mapping[str, Any], definitions: Mapping[str, Any], place: str) -> None:
    """Refuse a value that has not the form of a node of a schema."""
    while "$ref" in form:
        form = _definition(form, definitions)
    if "anyOf" in form:  # a value or null
        if value is not None:
            form = next(one for one in form["anyOf"] if one.get("type") != "null")
            _expect(value, form, definitions, place)
        return
    kind = form.get("type")
    if kind is not None:
        words, python = NAMES[kind]
        if not isinstance(value, python) or (isinstance(value, bool) and kind != "boolean"):
            _fail(place, words, value)
    if isinstance(value, Mapping):
        _expect_object(value, form, definitions, place)
    elif isinstance(value, list):
        _expect_list(value, form, definitions, place)
    else:
        _expect_scalar(value, form, place)


def _expect_object(
    value: Mapping[str, Any], form: Mapping[str, Any], definitions: Mapping[str, Any], place: str
) -> None:
    fields, more = form.get("properties", {}), form.get("additionalProperties", {})
    before = f"{place}." if place else ""
    for name in form.get("required", ()):
        if name not in value:
            raise InputError(f"{before}{name}", "missing")
    for name, one in value.items():
        _expect_scalar(name, {}, f"a name in {place or 'the answer'}")
        if name not in fields and more is False:
            raise InputError(f"{before}{cut(name, 60)}", f"unknown field, expected one of {', '.join(fields)}")
        _expect(one, fields.get(name, more), definitions, f"{before}{cut(name, 60)}")


def _expect_list(value: list[Any], form: Mapping[str, Any], definitions: Mapping[str, Any], place: str) -> None:
    least, most = form.get("minItems", 0), form.get("maxItems", len(value))
    if not least <= len(value) <= most:
        words = f"{least}" if least == most else f"at least {least}" if least > len(value) else f"at most {most}"
        raise InputError(place, "", f"expected a list of {words}, got {len(value)}")
    first = form.get("prefixItems", ())
    for number, one in enumerate(value):
        each = first[number] if number < len(first) else form.get("items", {})
        _expect(one, each, definitions, f"{place}[{number}]")


def _expect_scalar(value: Any, form: Mapping[str, Any], place: str) -> None:
    if "enum" in form and value not in form["enum"]:
        _fail(place, f"one of {', '.join(map(str, form['enum']))}", value)
    if isinstance(value, int | float) and not abs(value) < GREATEST:
        _fail(place, "a number below 1e100", value)
    if not isinstance(value, str):
        return
    if not value.isprintable() and any(0xD800 <= ord(letter) < 0xE000 for letter in value):
        _fail(place, "letters, with no half of a pair of UTF-16", value)
    pattern = form.get("pattern")
    if pattern == EXACT and not is_exact(value):
        _fail(place, "an exact number below 1e100, such as 3/4", value)
    if pattern is not None and re.search(pattern, value) is None:
        _fail(place, f"a text like {pattern}", value)


def is_exact(value: str) -> bool:
    """Whether a text is an exact number that is below 1e100.

    >>> [is_exact(value) for value in ("3/4", "-2", "1/0", "0.5", "9" * 200)]
    [True, True, False, False, False]
    """
    return re.fullmatch(r"-?[0-9]+(/0*[1-9][0-9]*)?", value, re.ASCII) is not None and abs(_quotient(value)) < GREATEST


def as_float(value: Any) -> float:
    """Return a number of an answer, exact as text or a number, as a float.

    >>> as_float("3/4"), as_float(2)
    (0.75, 2.0)
    """
    return float(_quotient(value) if isinstance(value, str) else value)


def _quotient(value: str) -> Decimal:
    top, _, bottom = value.partition("/")
    return Decimal(top) / Decimal(bottom or 1)  # of any number of digits, which integers of Python are not read from


def _fail(place: str, words: str, value: Any) -> None:
    raise InputError(f"{place or 'the answer'}", f"expected {words}, got {cut(ascii(value), 60)}")
