"""The errors a user meets: one line each, exit status 2."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one line that names the file, the field and what was expected."""


class TooLargeError(InputError):
    """Work beyond a stated limit: one line that states its size and gives advice."""
