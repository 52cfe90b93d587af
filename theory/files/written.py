"""The document of a record: what `theory.files.record.read` reads as the same record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from fractions import Fraction
from typing import Any

from theory import numbers
from theory.files.forms import fields_of


def document_of(record: Any) -> dict[str, Any]:
    """Return a record as a file has it, numbers as exact text; what is None is left out.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Rule:
    ...     beta: Fraction = Fraction(9, 10)
    ...     depth: int | None = None
    >>> document_of(Rule())
    {'beta': '9/10'}
    """
    values = ((each.name, getattr(record, each.attribute)) for each in fields_of(type(record)))
    return {name: _written(value) for name, value in values if value is not None}


def _written(value: Any) -> Any:
    if isinstance(value, Fraction):
        return numbers.text(value)
    if is_dataclass(value):
        return document_of(value)
    if isinstance(value, Mapping):
        return {_written(name): _written(one) for name, one in value.items()}
    return [_written(one) for one in value] if isinstance(value, list | tuple) else value
