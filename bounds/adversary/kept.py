"""The worst instances of earlier searches in a store: a later search for the same rule begins at the worst of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from fluid.experiment.store import Store
from theory.files.code import module_of
from theory.files.source_digest import code_digest


def search_key(rule: str, kind: str, options: dict[str, Any]) -> str:
    """Return what distinguishes searches: the rule with the text of all its code, its kind, and the space.

    Parameters
    ----------
    rule : str
        ``FILE.py:NAME``, or the name of a mechanism.
    kind : str
    options : dict
        Of the space and the measure; neither seed nor limits, so that searches go on from one another.
    """
    file, colon, _ = rule.rpartition(":")
    source = code_digest(module_of(file, "RULE")) if colon else ""
    content = json.dumps([Path(rule).name, source, kind, options], sort_keys=True)
    return "attack " + hashlib.sha256(content.encode()).hexdigest()


def worst_kept(store: Store, key: str) -> dict[str, Any] | None:
    """Return the document of the worst instance that searches of this key have kept, None where there is none."""
    keys = _keys(store, key)
    numbers = store.numbers(keys)
    if not keys:
        return None
    worst = min(keys, key=lambda one: numbers[one]["ratio"] or 0.0)
    found = store.run(worst, _document)
    assert found is not None
    return found[0]


def _document(content: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(content)
    return document


def keep(store: Store, key: str, document: dict[str, Any], ratio: float, evaluations: int, seconds: float) -> None:
    """Write the worst instance of a search beside those of earlier ones."""
    number = len(_keys(store, key))
    numbers: dict[str, float | None] = {"ratio": ratio, "evaluations": float(evaluations)}
    store.put(f"{key} {number}", number, {}, numbers, seconds, json.dumps(document).encode())


def _keys(store: Store, key: str) -> list[str]:
    found: list[str] = []
    while store.known([following := f"{key} {len(found)}"]):
        found.append(following)
    return found
