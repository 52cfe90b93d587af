"""Arrays that refuse an index that counts from their end: compiled steps take indices as they are."""

from __future__ import annotations

from typing import Any

import numpy as np


class Refusing(np.ndarray):
    """An array that refuses a negative index."""

    def __getitem__(self, key: Any) -> Any:
        _refuse_negative(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse_negative(key)
        super().__setitem__(key, value)


def _refuse_negative(key: Any) -> None:
    indices = key if isinstance(key, tuple) else (key,)
    assert not any(isinstance(index, int | np.integer) and index < 0 for index in indices), key


def refusing(value: Any) -> Any:
    """Let the arrays of a state, or of a loop's lists, refuse negative indices; they share their memory."""
    if isinstance(value, tuple):
        return type(value)(*map(refusing, value))
    return value.view(Refusing) if isinstance(value, np.ndarray) else value
