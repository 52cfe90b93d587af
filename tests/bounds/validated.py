"""Answers and files against their schemas."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from bounds.answers import schema


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    """Return what validates by a schema of packproof's; `test_schemas` asks whether the schemas are valid themselves.

    `jsonschema.validate` asks it each time, which takes up to 0.1 s.
    """
    return jsonschema.Draft202012Validator(schema(name))


def expect_valid(document: Any, name: str) -> None:
    """Raise `jsonschema.ValidationError` unless a document is one of a schema."""
    _validator(name).validate(document)
