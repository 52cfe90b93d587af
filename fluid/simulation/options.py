"""The options of policies: each policy declares a record of its own (`theory.files.record`).

An option stands in the table ``[simulation]`` of an instance file, or in the mapping ``options`` of a scenario. A table
may hold options of several policies; a policy declares those that it reads as ``Policy(..., record=MyOptions)`` and
takes their values by ``options_of(MyOptions, setting.options)``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import Annotated, Any, TypeVar

from theory.errors import InputError
from theory.files.record import Reading, fields_of, read

R = TypeVar("R")


_OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[float], float]] = {"log": log, "sqrt": sqrt}


@dataclass(frozen=True)
class Expression:
    """A function of the number of servers that remembers its text, so that it can be hashed and sent elsewhere.

    Parameters
    ----------
    text : str
        Numbers, ``L``, ``+ - * / ^``, brackets, ``log`` (natural) and ``sqrt``; ``log L`` may go without brackets.

    Examples
    --------
    >>> round(Expression("(log L)^1.5")(1000), 6), Expression("sqrt(L)/2 + 1")(100)
    (18.155383, 6.0)
    """

    text: str

    @classmethod
    def of(cls, text: str) -> Expression:
        """Return the expression of a text; raise ValueError where it is none."""
        expression = cls(text)
        _evaluate(expression._parsed(), 100.0)
        return expression

    def __call__(self, servers: int) -> float:
        """Evaluate it; raise ValueError where it has no finite value."""
        value = _evaluate(self._parsed(), float(servers))
        if not isfinite(value):
            raise ValueError(f"infinite at L = {servers}")
        return value

    def _parsed(self) -> ast.expr:
        if len(self.text) > 200:
            raise ValueError("longer than 200 characters")
        source = re.sub(r"\b(log|sqrt)\s+L\b", r"\1(L)", self.text).replace("^", "**")
        try:
            return ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise ValueError("not an expression in L") from error


def _evaluate(node: ast.expr, servers: float) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id="L"):
            return servers
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner, servers)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            try:
                value = _OPERATORS[type(sign)](_evaluate(left, servers), _evaluate(right, servers))
            except ArithmeticError as error:
                raise ValueError(f"no number at L = {servers:g}") from error
            if isinstance(value, complex):
                raise ValueError(f"no real number at L = {servers:g}")
            return value
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            try:
                return _FUNCTIONS[name](_evaluate(inner, servers))
            except ValueError as error:
                raise ValueError(f"no number at L = {servers:g}") from error
    raise ValueError("expected numbers, L, + - * / ^, brackets, log and sqrt")


def _of_servers(value: Any) -> Any:
    """Read a number or a function of L; a function of Python, which only a scenario can hold, stays as it is."""
    return value if callable(value) else Expression.of(str(value))


OfServers = Annotated[
    Expression,
    Reading('a number or a function of L such as "(log L)^1.5"', _of_servers, lambda value: f'"{value.text}"'),
]
"""The type of an option that is a number or a function of the number of servers."""


def options_of(record: type[R], options: Mapping[str, Any], types: Sequence[str] = ()) -> R:
    """Read a policy's own options from those of a setting, which may hold options of other policies besides.

    Tables by name have an entry for each of `types`.

    Raises
    ------
    InputError
        A value that is none of the option, as ``simulation.OPTION: expected ..., got ...``.

    Examples
    --------
    >>> from fluid.simulation.loss.policies.unreserved import ChoicesOptions
    >>> options_of(ChoicesOptions, {"d": 3, "beta": 0.5})
    ChoicesOptions(d=3)
    """
    own = {field.name for field in fields_of(record)}
    table = {name: value for name, value in options.items() if name in own}
    return read(record, table, "simulation", names=types)


def at_servers(option: Expression | Callable[[int], float], name: str, servers: int, least: int) -> float:
    """Return the value of an option at L servers."""
    place, expected = f"simulation.{name}", f"expected a number from {least} to 2^31 at L = {servers}"
    try:
        value = float(option(servers))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise InputError(place, f"{expected}, got none ({type(error).__name__}: {error})") from error
    if not least <= value < 2**31:
        raise InputError(place, f"{expected}, got {value!r}")
    return value
