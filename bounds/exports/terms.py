"""Terms and formulas of SMT-LIB over the integers, and queries made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from bounds import checker

Term = int | str
"""A numeral or the name of a variable."""


@dataclass(frozen=True)
class Query:
    """A search for a counterexample: assertions that cannot all hold if the statement is true."""

    states: str
    variables: tuple[str, ...]
    assertions: tuple[str, ...]


def term(value: Term) -> str:
    """Write a numeral or a name; SMT-LIB has no negative numerals."""
    return value if isinstance(value, str) else str(value) if value >= 0 else f"(- {-value})"


def weighted(weights: Sequence[int], terms: Sequence[Term]) -> str:
    """Write the sum of weight times term."""
    parts = [f"(* {term(w)} {term(t)})" for w, t in zip(weights, terms, strict=True) if w]
    return _joined("+", parts, "0")


def all_of(formulas: Sequence[str]) -> str:
    """Write a conjunction."""
    return _joined("and", formulas, "true")


def any_of(formulas: Sequence[str]) -> str:
    """Write a disjunction."""
    return _joined("or", formulas, "false")


def _joined(operator: str, parts: Sequence[str], empty: str) -> str:
    return f"({operator} {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else empty


def fits(pool: checker.Pool, slots: Sequence[Term]) -> str:
    """State that so many slots of each type are a configuration of the pool."""
    positive = [f"(>= {term(t)} 0)" for t in slots]
    if pool.generators:
        below = [all_of([f"(<= {term(t)} {c})" for t, c in zip(slots, top, strict=True)]) for top in pool.generators]
        return all_of([*positive, any_of(below)])
    columns = zip(*pool.demands, strict=True)
    room = [f"(<= {weighted(column, slots)} {c})" for column, c in zip(columns, pool.capacity, strict=True)]
    return all_of([*positive, *room])


def compared(sign: str, left: Sequence[tuple[Fraction | int, Fraction | int]], right: Fraction | int) -> str:
    """State that a sum of products compares with a number, all of it times what makes it whole.

    Examples
    --------
    >>> compared("=", [(Fraction(1, 2), Fraction(4)), (1, Fraction(1, 3))], Fraction(7, 3))
    '(= (+ (* 1 12) (* 2 1)) 14)'
    """
    first = lcm(*(a.denominator for a, _ in left))
    second = lcm(lcm(*(b.denominator for _, b in left)), right.denominator)
    weights = [int(a * first) for a, _ in left]
    return f"({sign} {weighted(weights, [int(b * second) for _, b in left])} {term(int(right * first * second))})"


def whole(values: Sequence[Fraction]) -> list[int]:
    """Scale numbers by their common denominator."""
    scale = lcm(*(value.denominator for value in values))
    return [int(value * scale) for value in values]


def denied(states: str, facts: Sequence[str]) -> Query:
    """Ask whether one of the facts, which have no variables, is false."""
    return Query(states, (), (f"(not {all_of(facts)})",))


def script(queries: Sequence[Query], comments: Sequence[str]) -> str:
    """Write queries one after the other; ``(reset)`` between them lets each stand alone.

    Examples
    --------
    >>> print(script([Query("one", ("k",), ("(< k 0)", "(> k 0)"))], ["; all"]))
    ; all
    ; query 1: one
    (set-logic QF_LIA)
    (declare-const k Int)
    (assert (< k 0))
    (assert (> k 0))
    (check-sat)
    <BLANKLINE>
    """
    lines = list(comments)
    for number, query in enumerate(queries, 1):
        lines += ["(reset)"] if number > 1 else []
        lines += [f"; query {number}: {query.states}", "(set-logic QF_LIA)"]
        lines += [f"(declare-const {name} Int)" for name in query.variables]
        lines += [f"(assert {assertion})" for assertion in query.assertions]
        lines += ["(check-sat)"]
    return "\n".join([*lines, ""])
