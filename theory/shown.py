"""Objects that show themselves in a notebook and turn into data frames, by views that stand above them.

Nothing here knows the views: `packproof` says where they are (`VIEWS`), and they are loaded when something is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from theory.errors import InputError


class Views(Protocol):
    """What shows objects."""

    def html(self, thing: Any) -> str | None:
        """Return an object as HTML; None where it has no view."""

    def rows(self, thing: Any) -> list[dict[str, Any]] | None:
        """Return an object as the rows of a table; None where it has none."""


VIEWS: list[Callable[[], Views]] = []
"""Loaders of views; empty where the rooms are used without ``packproof``."""


class Shown:
    """A base without fields for results that a notebook shows."""

    def _repr_html_(self) -> str | None:
        """Return small tables and a picture; None, which a notebook takes for the plain form, where there are none."""
        return next((made for load in VIEWS if (made := load().html(self)) is not None), None)

    def to_frame(self) -> Any:
        """Return the object as a ``pandas.DataFrame``; exact numbers stay exact, as `fractions.Fraction`.

        Raises
        ------
        InputError
            Without pandas, which is an extra, or without a table for such an object.
        """
        rows = next((made for load in VIEWS if (made := load().rows(self)) is not None), None)
        if rows is None:
            raise InputError(
                f"to_frame: expected import packproof, and a result with a table, got a {type(self).__name__}"
            )
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("to_frame: pandas is not installed (pip install 'packproof[notebook]')") from None
        return DataFrame(rows)
