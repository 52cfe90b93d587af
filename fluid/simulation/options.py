"""Options of policies: which there are, which of them a policy reads, and taking them one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from fluid.simulation.policy import Policy
from theory.errors import InputError
from theory.numbers import rational

OPTIONS = (
    "reservation",
    "placement",
    "d",
    "priority",
    "oracle",
    "beta",
    "p",
    "z",
    "cut",
    "fall",
    "early",
    "start",
    "sampling",
    "expiry",
    "partition",
)
"""Options of the policies that come with packproof. A table may hold them all: each policy reads its own."""


def read_by(policy: Policy, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a policy reads.

    Raises
    ------
    InputError
        One that neither it nor any policy of packproof has.

    Examples
    --------
    >>> from fluid.simulation.policy_names import policy
    >>> read_by(policy("power-of-d"), {"d": 3, "beta": 0.8})
    {'d': 3}
    """
    for name in table:
        if name not in OPTIONS and name not in policy.options:
            known = ", ".join(dict.fromkeys([*policy.options, *OPTIONS]))
            raise InputError(f"simulation.{name}: unknown option, expected one of {known}")
    return {name: value for name, value in table.items() if name in policy.options}


class Options:
    """The table ``[simulation]`` as far as a policy reads it.

    Examples
    --------
    >>> options = Options({"beta": 0.8})
    >>> options.number("beta", 0.9), options.flag("early", True)
    (0.8, True)
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table

    def number(self, name: str, default: float, *, least: float = -inf, most: float = inf) -> float:
        """Take a number within bounds."""
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
        value = self._table.get(name, default)
        if not isinstance(value, bool):
            raise InputError(f"simulation.{name}: expected true or false, got {value!r}")
        return value

    def text(self, name: str, default: str) -> str:
        """Take a name."""
        value = self._table.get(name, default)
        if not isinstance(value, str):
            raise InputError(f"simulation.{name}: expected a name, got {value!r}")
        return value
