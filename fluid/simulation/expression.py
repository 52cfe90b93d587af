"""Functions of L, the number of servers, written as text, such as ``(log L)^1.5``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log, sqrt

_OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
_FUNCTIONS: dict[str, Callable[[float], float]] = {"log": log, "sqrt": sqrt}


def function_of_servers(text: str) -> Callable[[int], float]:
    """Turn text into a function of the number of servers.

    Parameters
    ----------
    text : str
        Numbers, ``L``, ``+ - * / ^``, brackets, ``log`` (natural) and ``sqrt``; ``log L`` may go without brackets.

    Raises
    ------
    ValueError
        If it is anything else.

    Examples
    --------
    >>> round(function_of_servers("(log L)^1.5")(1000), 6), function_of_servers("sqrt(L)/2 + 1")(100)
    (18.155383, 6.0)
    """
    if len(text) > 200:
        raise ValueError("longer than 200 characters")
    source = re.sub(r"\b(log|sqrt)\s+L\b", r"\1(L)", text).replace("^", "**")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        raise ValueError("not an expression in L") from None
    _evaluate(tree.body, 100.0)

    def function(servers: int) -> float:
        value = _evaluate(tree.body, float(servers))
        if not isfinite(value):
            raise ValueError(f"infinite at L = {servers}")
        return value

    return function


@dataclass(frozen=True)
class Expression:
    """A function of the number of servers that remembers its text, so that it can be hashed and sent elsewhere."""

    text: str

    @classmethod
    def of(cls, text: str) -> Expression:
        """Return the expression of a text; raise ValueError where it is none."""
        function_of_servers(text)
        return cls(text)

    def __call__(self, servers: int) -> float:
        """Evaluate it."""
        return function_of_servers(self.text)(servers)


def _evaluate(node: ast.expr, servers: float) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id="L"):
            return servers
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner, servers)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            try:
                value = _OPERATORS[type(operator)](_evaluate(left, servers), _evaluate(right, servers))
            except (ArithmeticError, OverflowError):
                raise ValueError(f"no number at L = {servers:g}") from None
            if isinstance(value, complex):
                raise ValueError(f"no real number at L = {servers:g}")
            return value
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            try:
                return _FUNCTIONS[name](_evaluate(inner, servers))
            except ValueError:
                raise ValueError(f"no number at L = {servers:g}") from None
    raise ValueError("expected numbers, L, + - * / ^, brackets, log and sqrt")
