"""The base of results that a notebook shows and that can be turned into data frames.

The views that do both are in `bounds.views`, which this floor does not import: `packproof` puts a loader of them into
`VIEWS`, and they are loaded when a result is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from theory.errors import InputError


class Views(Protocol):
    """The two functions that a module of views offers."""

    def html(self, thing: Any) -> str | None:
        """Return an object as HTML; None where it has no view."""

    def rows(self, thing: Any) -> list[dict[str, Any]] | None:
        """Return an object as the rows of a table; None where it has none."""


VIEWS: list[Callable[[], Views]] = []
"""Loaders of views; empty where the rooms are used without ``packproof``."""


class Shown:
    """A base without fields for results that a notebook shows."""

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
                f"to_frame: expected import packproof, and a result with a table, got a {type(self).__name__}"
            )
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("to_frame: pandas is not installed (pip install 'packproof[notebook]')") from None
        return DataFrame(rows)
