"""The base of results that show themselves on one line, in a notebook, and as data frames.

The views that do both are in `bounds.views`, which this floor does not import: `packproof` puts a loader of them into
`VIEWS`, and they are loaded when a result is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, Protocol

from theory.errors import InputError


class Views(Protocol):
    """The two functions that a module of views offers."""

    def html(self, thing: Any) -> str | None:
        """Return an object as HTML; None where it has no view."""

    def rows(self, thing: Any) -> list[dict[str, Any]] | dict[str, Any] | None:
        """Return an object as the rows of a table, or its columns; None where it has none."""


VIEWS: list[Callable[[], Views]] = []
"""Loaders of views; empty where the rooms are used without ``packproof``."""


WIDTH = 60  # characters of a value that are shown on the line of a result
LINE = 400  # characters of that line


def brief(value: Any) -> str:
    """Return a value in a few words: exact numbers as text, arrays by type and shape, long ones by their length.

    >>> brief(Fraction(3, 4)), brief((Fraction(1), Fraction(2, 3))), brief(list(range(100)))
    ('3/4', '(1, 2/3)', 'list of 100')
    """
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype}{list(value.shape)}" if value.shape else str(value)
    if isinstance(value, tuple | list) and len(value) <= WIDTH:
        text = f"({', '.join(map(brief, value))}{',' if len(value) == 1 else ''})"
        if len(text) <= WIDTH:
            return text
    if isinstance(value, Sequence | Mapping) and not isinstance(value, str | bytes):
        return f"{type(value).__name__} of {len(value)}"
    text = repr(value)
    if len(text) <= WIDTH and "\n" not in text:
        return text
    name = getattr(value, "name", None) or getattr(value, "id", None)
    if isinstance(value, str):
        return f"{value[: WIDTH - 3]!r}..."
    return f"{type(value).__name__}({name!r})" if isinstance(name, str) and len(name) < WIDTH else type(value).__name__


class Shown:
    """A base without fields for results, dataclasses that leave their ``__repr__`` to it."""

    def __repr__(self) -> str:
        """Return the name and the fields on one line; what is long is named by its kind and length."""
        parts = (f"{one.name}={brief(getattr(self, one.name))}" for one in fields(self) if one.repr)  # type: ignore[arg-type]
        line = f"{type(self).__name__}({', '.join(parts)})"
        return line if len(line) <= LINE else f"{line[: LINE - 4]}...)"

    def _repr_html_(self) -> str | None:
        """Return tables and a picture as HTML; None if there is no view, for which a notebook shows the plain text."""
        return next((page for load in VIEWS if (page := load().html(self)) is not None), None)

    def to_frame(self) -> Any:
        """Return the object as a ``pandas.DataFrame``; exact numbers stay exact, as `fractions.Fraction`.

        Raises
        ------
        InputError
            Without pandas, which is an extra, or without a table for such an object.
        """
        rows = next((table for load in VIEWS if (table := load().rows(self)) is not None), None)
        if rows is None:
            raise InputError(
                "to_frame", f"expected import packproof, and a result with a table, got a {type(self).__name__}"
            )
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise InputError("to_frame", "pandas is not installed (pip install 'packproof[notebook]')") from error
        return DataFrame(rows)
