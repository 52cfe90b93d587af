"""The options of policies: each declared once, with its default, its bounds and a line of text.

An option stands in the table ``[simulation]`` of an instance file, or in the mapping ``options`` of a scenario. A table
may hold options of several policies; a policy declares those that it reads
(`fluid.simulation.policy_interface.Policy.options`) and takes their values by calling them: ``BETA(setting.options)``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Any

from theory.errors import InputError
from theory.numbers import rational

if TYPE_CHECKING:
    from fluid.simulation.policy_interface import Policy
    from theory.files.document import Fields


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
        except (SyntaxError, ValueError, RecursionError):
            raise ValueError("not an expression in L") from None


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
            except ArithmeticError:
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


Check = Callable[[Any], Any]
"""Turns a value of a file into that of an option; raises ValueError with what was expected."""


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes
    ----------
    name : str
    default : object
        Of type and bounds of its own; None where the policy works it out, or where a value must be given.
    about : str
        What it means, in one line.
    check : callable
        Returns the value that is meant; raises ValueError with what was expected.

    Examples
    --------
    >>> BETA({}), BETA({"beta": "3/4"})
    (0.9, 0.75)
    >>> BETA({"beta": 2})
    Traceback (most recent call last):
    theory.errors.InputError: simulation.beta: expected a number from 0 to 1, got 2
    """

    name: str
    default: Any
    about: str
    check: Check

    @property
    def written(self) -> str:
        """The default as it would stand in a file; empty where the policy works it out, or a value must be given."""
        value = self.default
        if value is None:
            return ""
        if isinstance(value, Expression):
            return f'"{value.text}"'
        return (
            str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else f"{value:g}"
        )

    def __call__(self, options: Mapping[str, Any]) -> Any:
        """Return the value in a table of options, or the default; raise InputError for one that is out of bounds."""
        if self.name not in options:
            return self.default
        try:
            return self.check(options[self.name])
        except ValueError as error:
            raise InputError(f"simulation.{self.name}: {error}, got {repr(options[self.name])[:60]}") from None

    def take(self, fields: Fields, types: tuple[str, ...] | None) -> Any:
        """Take the value from the table ``[simulation]`` of a file, so that the error names the file.

        `types` are the names of the types of jobs, None beside a law of sizes.
        """
        del types
        value = fields.take(self.name, "a value")
        try:
            self.check(value)
        except ValueError as error:
            fields.fail(self.name, f"{error}, got {repr(value)[:60]}")
        return value


class _OfServers(Option):
    """An option whose value is a number or a function of L: an expression is read once, and remembers its text."""

    def take(self, fields: Fields, types: tuple[str, ...] | None) -> Any:
        """Take a number, or a function of L, from a file."""
        del types
        value = str(fields.take(self.name, "a number or a function of L"))
        try:
            return Expression.of(value)
        except ValueError as error:
            expected = 'a number or a function of L such as "(log L)^1.5"'
            fields.fail(self.name, f"expected {expected}, got {value[:60]!r} ({error})")


@dataclass(frozen=True)
class _ByType(Option):
    """An option whose value is a table with an entry for each type.

    `entry` is what messages call one: a whole number, or an exact one where `is_whole` is false, of at least 0.
    """

    entry: str = "a number of at least 0"
    is_whole: bool = False

    def take(self, fields: Fields, types: tuple[str, ...] | None) -> Any:
        """Take the table from a file."""
        expected = f"a table by type, each entry {self.entry}"
        if types is None:
            return fields.take(self.name, expected)
        table = fields.table(self.name, expected)
        values = {name: (table.integer if self.is_whole else table.number)(name, self.entry) for name in types}
        table.finish()
        return values


def _number(least: float = -inf, most: float = inf) -> Check:
    bounds = f" from {least:g} to {most:g}" if isfinite(least) and isfinite(most) else ""
    bounds = bounds or (f" of at least {least:g}" if isfinite(least) else f" of at most {most:g}")

    def check(value: Any) -> float:
        try:
            number = float(rational(value))
        except (ValueError, OverflowError):
            number = inf
        if isinstance(value, bool) or not isfinite(number) or not least <= number <= most:
            raise ValueError(f"expected a number{bounds}")
        return number

    return check


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> int:
        try:
            number = _number(least, most)(value)
        except ValueError:
            number = inf
        if number % 1 != 0:  # infinite: the remainder is no number
            raise ValueError(f"expected a whole number from {least} to {most}")
        return int(number)

    return check


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("expected true or false")
    return value


def _one_of(*names: str) -> Check:
    def check(value: Any) -> str:
        if value not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return str(value)

    return check


def _as_given(value: Any) -> Any:
    return value


ORACLES = ("exact", "single", "greedy")
"""Values of the option ``oracle``."""

FASTEST = 1e12
"""Largest rate of sampling and expiry, in units of the service rate."""

RESERVATION = _OfServers(
    "reservation", Expression("(log L)^1.5"), "g(L) of dynamic reservation: a number or a function of L", _as_given
)
PLACEMENT = Option(
    "placement",
    "best-ranked",
    "the slot that dynamic reservation fills first: best-ranked or worst-ranked",
    _one_of("best-ranked", "worst-ranked"),
)
PERIOD = _OfServers(
    "period",
    Expression("1"),
    "admissions and departures from one run of CRA to the next: a number or a function of L",
    _as_given,
)
ESTIMATE = _ByType(
    "estimate",
    None,
    "jobs per server of each type on which CRA runs in place of the jobs in service",
    _as_given,
    "a workload in jobs per server",
)
MIGRATION = Option("migration", True, "whether a departure pulls a job out of a drained server", _flag)
D = Option("d", 2, "servers that power-of-d draws for each job", _whole(1, 1000))
PRIORITY = _ByType(
    "priority",
    None,
    "the priority of each type; jobs of priority 0 can be stopped",
    _as_given,
    "a priority, 0 the lowest",
    is_whole=True,
)
TRIGGER = Option(
    "trigger", "lost", "what becomes of the job for which others are stopped: lost or served", _one_of("lost", "served")
)
ORACLE = Option("oracle", "exact", "how configurations of great weight are found", _one_of(*ORACLES))
BETA = Option("beta", 0.9, "weight below which a server stalls, as a fraction of the greatest, (29)", _number(0, 1))
P = Option("p", -0.05, "p of (29); 1 for a constant beta", _number(most=1))
Z = Option("z", 0.005, "z of (29)", _number(0))
CUT = Option("cut", 0.1, "fraction of stalled servers from which q(s) is 0; 2 for never", _number(0))
FALL = Option("fall", 1.0, "slope of q(s); 0 for none", _number(0, 1))
EARLY = Option("early", True, "whether a stalled server may renew before it is empty (6.3)", _flag)
START = Option(
    "start", "as-needed", "when servers become active first: as-needed or at-once", _one_of("as-needed", "at-once")
)
RENEWAL = Option(
    "renewal",
    "while-empty",
    "when a server of max-weight-local chooses: while-empty (anew at arrivals) or on-emptying (once)",
    _one_of("while-empty", "on-emptying"),
)
SAMPLING = Option("sampling", 1.0, "rate at which an empty queue samples, over the service rate", _number(0, FASTEST))
EXPIRY = Option("expiry", 1.0, "rate at which a token expires, over the service rate", _number(0, FASTEST))
PARTITION = Option(
    "partition", None, "J of the universal partition; the least with all sizes above 2^-J unless given", _whole(2, 40)
)

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        RESERVATION, PLACEMENT, PERIOD, ESTIMATE, MIGRATION, D, PRIORITY, TRIGGER,
        ORACLE, BETA, P, Z, CUT, FALL, EARLY, START, RENEWAL, SAMPLING, EXPIRY, PARTITION,
    )
}  # fmt: skip
"""The options of the policies that come with packproof, by name."""


def read_by(policy: Policy, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a policy reads; raise InputError for one that neither it nor any policy of packproof has.

    >>> from fluid.simulation.policy_names import policy
    >>> read_by(policy("power-of-d"), {"d": 3, "beta": 0.8})
    {'d': 3}
    """
    for name in table:
        if name not in OPTIONS and name not in policy.options:
            options = ", ".join(dict.fromkeys([*policy.options, *OPTIONS]))
            raise InputError(f"simulation.{name}: unknown option, expected one of {options}")
    return {name: value for name, value in table.items() if name in policy.options}
