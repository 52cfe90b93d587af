"""Whatever is altered in a certificate is refused: every number, name, list and key, with the digest made anew.

A claim of the corpus is true by the proof of its solver, and a true claim has one value: an altered claim is false. The
evidence of the corpus is the only one of its form (the file was chosen so), hence altered evidence proves nothing. The
one exception are changes of form which do not change what is said; `SAME` yields none of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count, pairwise
from typing import Any

from tests.checker.corpus import CERTIFICATES, Document, at, changed, places, verdict

MOST = 60
"""Forgeries of one certificate that are tried, spread evenly."""


def is_number(value: Any) -> bool:
    """Return whether a value is a whole number, or the text of an exact number."""
    try:
        return type(value) is int or (isinstance(value, str) and str(Fraction(value)) == value)
    except ValueError:
        return False


def numbers(value: str | int) -> tuple[list[Any], list[Any]]:
    """Return other numbers, and what is no number or the same one written in another way."""
    if isinstance(value, int):
        return [value + 1, value - 1], [0, -value - 1, str(value), bool(value), None, [value], float(value)]
    exact = Fraction(value)
    clothes = [f"{exact.numerator * 2}/{exact.denominator * 2}", f"0{value}", f"{value} ", "", int(exact), None]
    return [str(exact + 1), str(exact * Fraction(999, 1000)), str(exact - Fraction(1, 97))], [
        "0",
        f"-{value}",
        *clothes,
    ]


def lists(value: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the list with an entry removed, doubled or moved, and what is no list of such entries."""
    moved = [value[:-1], value[1:], value[::-1], value[:1] + value, value[1:] + value[:1]]
    return moved, [
        [],
        [*value, 0],
        [*value, {}],
        {},
        None,
        "",
        {str(i): entry for i, entry in enumerate(value)},
        [value],
        value + value[-1:],
    ]


def tables(value: Document) -> tuple[list[Any], list[Any]]:
    """Return the table with a key removed, added or renamed or two values exchanged, and what is no such table."""
    result: list[Any] = [{other: entry for other, entry in value.items() if other != key} for key in value]
    for one, two in pairwise(value):
        result.append({**value, one: value[two], two: value[one]})
    result += [{**value, extra: new} for extra, new in (("a", 1), ("0", 1), ("s", "1")) if extra not in value]
    renamed = [{other if other != key else f"{key}x": entry for other, entry in value.items()} for key in value]
    return result, [*renamed, {**value, "a": {}}, {}, [], None, "", list(value.items())]


def others(value: Any, turn: int) -> list[Any]:
    """Return what a forger might write instead of a value: other values, and at each turn one that is malformed."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if is_number(value):
        sound, malformed = numbers(value)
    elif isinstance(value, str):
        sound, malformed = ["a", "b", "s"], [value + "x", value.upper(), "", None, 0, [], {}, [value]]
    elif isinstance(value, list):
        sound, malformed = lists(value)
    elif isinstance(value, dict):
        sound, malformed = tables(value)
    else:
        sound, malformed = ["a"], [0, [], {}, ""]
    return [*sound, malformed[turn % len(malformed)]]


def same(one: Any, two: Any) -> bool:
    """Return whether values are equal and of one type throughout."""
    return repr(one) == repr(two) or (isinstance(one, dict) and type(one) is type(two) and one == two)


def forgeries(document: Document) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield a place and what stands there instead."""
    turn = count()
    for part in ("claims", "evidence"):
        for path in places(document[part], (part,)):
            value = at(document, path)
            for other in others(value, next(turn)):
                if not same(value, other):
                    yield path, other


def refuse_alterations(half: int) -> None:
    """Require that altered evidence and claims are refused, of every other certificate."""
    accepted = []
    for name, document in list(CERTIFICATES.items())[half::2]:
        loose = ("orders",) if document["kind"] == "worst" and name != "worst, two types" else None  # other prices do
        loose = ("stages",) if name.endswith(", alone") else loose  # at equal levels in any order
        altered = [(path, other) for path, other in forgeries(document) if path[1:2] != loose]
        if document["kind"] in ("packing", "rule", "fair-share"):  # what a rule did is its word, and many ways are best
            altered = [
                (path, other) for path, other in altered if path[1:2] not in (("rule",), ("packing",), ("allocation",))
            ]
        for path, other in altered[:: 1 + len(altered) // MOST]:
            if not verdict(changed(document, (path, other))):
                accepted.append((name, path, other))
    assert not accepted, accepted


def test_altered_evidence_and_claims_are_refused() -> None:
    refuse_alterations(0)


def test_altered_evidence_and_claims_of_the_others_are_refused() -> None:
    refuse_alterations(1)
