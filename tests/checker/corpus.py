"""The corpus of the checker: certificates of every kind that the solvers made, and the hands of a forger.

It imports the checker and the standard library alone, so that a run of it takes seconds. `record.py` writes it anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bounds import checker

Document = dict[str, Any]
Path_ = tuple[Any, ...]
FILE = Path(__file__).parent / "certificates.json"
_RECORDED: list[Document] = json.loads(FILE.read_text()) if FILE.exists() else []
CERTIFICATES: dict[str, Document] = {row["name"]: row["certificate"] for row in _RECORDED if "certificate" in row}
FALSE: dict[str, Document] = {row["name"]: row["false"] for row in _RECORDED if "false" in row}
"""What solvers wrote about workloads that are not the worst: each agrees with itself, and its claim is false."""


def signed(document: Document) -> Document:
    """Return the document with a digest that belongs to it."""
    document["digest"] = checker.digest(document)
    return document


def refusal(run: Callable[[], Any], kind: type[Exception] | None = None) -> str:
    """Return the reason for which a call is refused."""
    kind = kind or checker.Refused
    try:
        result = run()
    except kind as reason:
        assert type(reason) is kind
        return str(reason)
    raise AssertionError(f"accepted: {result!r}"[:300])


def verdict(document: Document) -> str:
    """Return "" if the checker accepts the document, and otherwise the reason for which it refuses it."""
    try:
        claims = checker.check(document)
    except checker.Refused as reason:
        assert str(reason), "a refusal without a reason"
        return str(reason)
    assert claims == document["claims"]
    return ""


def document(kind: str, instance: Any, evidence: Any, claims: Any) -> Document:
    """Return a signed certificate."""
    parts = {"format": checker.FORMAT, "kind": kind, "instance": instance, "evidence": evidence, "claims": claims}
    return signed(parts)


def refused(reason: str, forged: Document) -> None:
    """Require the verdict on a forgery."""
    found = verdict(forged)
    assert found == reason or found.startswith(f"{reason} the fields"), (found or "accepted", reason)


def at(document: Any, path: Path_) -> Any:
    """Return the value at a path of keys and positions."""
    for key in path:
        document = document[key]
    return document


def changed(document: Document, *changes: tuple[Path_, Any]) -> Document:
    """Return a copy with other values at some paths (`GONE`: without them), and a digest that belongs to it."""
    result = document
    for path, value in changes:
        result = replaced(result, path, value)
    return signed({**result})


def replaced(holder: Any, path: Path_, value: Any) -> Any:
    """Return a copy of a table or list in which another value stands at a path; the rest is shared."""
    if not path:
        return value
    copied = copy.copy(holder)
    if path[1:]:
        copied[path[0]] = replaced(holder[path[0]], path[1:], value)
    elif value is GONE:
        del copied[path[0]]
    else:
        copied[path[0]] = value
    return copied


GONE = object()
"""The value of a key that is taken away."""


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of every value inside a value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))
