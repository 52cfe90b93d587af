"""Options of a policy, taken one at a time; what nobody took is refused."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from theory.errors import InputError
from theory.numbers import rational


class Options:
    """The table ``[simulation]`` as far as a policy reads it.

    Examples
    --------
    >>> options = Options({"beta": 0.8})
    >>> options.number("beta", 0.9), options.flag("early", True)
    (0.8, True)
    >>> options.finish()
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self._known: list[str] = []

    def number(self, name: str, default: float, *, least: float = -inf, most: float = inf) -> float:
        """Take a number within bounds."""
        self._known.append(name)
        value = self._table.get(name, default)
        try:
            number = float(rational(value))
        except (ValueError, OverflowError):
            number = inf
        if isinstance(value, bool) or not isfinite(number) or not least <= number <= most:
            bounds = f" from {least:g} to {most:g}" if isfinite(least) and isfinite(most) else ""
            bounds = bounds or (f" of at least {least:g}" if isfinite(least) else "")
            bounds = bounds or (f" of at most {most:g}" if isfinite(most) else "")
            raise InputError(f"simulation.{name}: expected a number{bounds}, got {value!r}")
        return number

    def whole(self, name: str, default: int, *, least: int, most: int) -> int:
        """Take a whole number within bounds."""
        number = self.number(name, default, least=least, most=most)
        if number != int(number):
            raise InputError(f"simulation.{name}: expected a whole number from {least} to {most}, got {number:g}")
        return int(number)

    def flag(self, name: str, default: bool) -> bool:
        """Take a truth value."""
        self._known.append(name)
        value = self._table.get(name, default)
        if not isinstance(value, bool):
            raise InputError(f"simulation.{name}: expected true or false, got {value!r}")
        return value

    def text(self, name: str, default: str) -> str:
        """Take a name."""
        self._known.append(name)
        value = self._table.get(name, default)
        if not isinstance(value, str):
            raise InputError(f"simulation.{name}: expected a name, got {value!r}")
        return value

    def finish(self) -> None:
        """Refuse options that nobody took."""
        for name in self._table:
            if name not in self._known:
                known = f"expected one of {', '.join(self._known)}" if self._known else "this policy has none"
                raise InputError(f"simulation.{name}: unknown option of the policy, {known}")
