"""Pictures of reproduced results on the pages of their claims, drawn from panels that are stored as data.

Which claims a result shows is said where the result is registered (``claims=``, `bounds.results.reproduction`).
``docs/atlas/panels.json`` has the panels of each result, a line a result, with what they rest on:
parameters and seed. So the build draws, but computes nothing, and needs no real data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from bounds.claims import Level, WithoutData
from bounds.results.reproduction import Reproduction, reproductions
from bounds.results.run import picture, rests_on
from bounds.views.panels import Bars, Cells, Chart, Panel, Spans
from bounds.views.pictures import save

PANELS = "atlas/panels.json"
"""The stored panels, by result."""

FOLDER = "_generated/reproduced"
KINDS = {kind.__name__: kind for kind in (Chart, Bars, Cells, Spans)}
DIGITS = 6
"""Digits of a stored number: more than a picture shows."""


def as_data(panel: Panel) -> dict[str, Any]:
    """Return a panel as data of JSON, with its kind, its numbers rounded to `DIGITS` digits, and no defaults."""
    plain = json.loads(msgspec.json.encode(panel, enc_hook=lambda one: one.tolist()), parse_float=_rounded)
    defaults = {field.name: field.default for field in fields(panel)}
    chosen = {name: value for name, value in plain.items() if value not in ([], "", defaults[name])}
    return {"kind": type(panel).__name__, **chosen}


def _rounded(number: str) -> float:
    return float(f"{float(number):.{DIGITS}g}")


def as_panel(data: dict[str, Any]) -> Panel:
    """Return the panel of data that `as_data` made."""
    return msgspec.convert({name: value for name, value in data.items() if name != "kind"}, KINDS[data["kind"]])


def stored(docs: Path) -> dict[str, dict[str, Any]]:
    """Return what is stored, by result: what it rests on, and its panels as data."""
    path = docs / PANELS
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {entry["result"]: entry for entry in found}


def basis(result: Reproduction) -> dict[str, Any]:
    """Return what the stored panels of a result rest on; where it has changed, they are computed anew."""
    whole = rests_on(result, Level.quick)
    return {name: whole[name] for name in ("result", "level", "seed", "parameters")}


def refresh(docs: Path, *, again: bool = False, say: Callable[[str], None] = print) -> None:
    """Compute the results that are not stored, or whose parameters have changed, or all `again`, and store them.

    A result whose real data is not at hand stays as it is stored.
    """
    held, every = stored(docs), reproductions()
    for one in every:
        if not again and one.id in held and all(held[one.id][name] == value for name, value in basis(one).items()):
            continue
        try:
            panels = one.compute(**one.parameters[Level.quick])
        except WithoutData as reason:
            say(f"{one.id}: skipped: {reason}")
            continue
        held[one.id] = basis(one) | {"panels": [as_data(panel) for panel in panels]}
        say(f"{one.id}: computed")
        lines = [json.dumps(held[other.id], ensure_ascii=False) for other in every if other.id in held]
        (docs / PANELS).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def panels_of(entry: dict[str, Any]) -> Sequence[Panel]:
    """Return the panels of a stored result."""
    return [as_panel(data) for data in entry["panels"]]


def write(docs: Path) -> None:
    """Draw each stored result that a claim shows."""
    held = stored(docs)
    for one in reproductions():
        if one.id in held and one.claims:
            path = docs / name_of(one)
            path.parent.mkdir(parents=True, exist_ok=True)
            save(picture(one, panels_of(held[one.id])), path)


def name_of(result: Reproduction) -> str:
    """Return the name of a result's picture, below the folder of the documentation."""
    return f"{FOLDER}/{result.id.replace('/', '-')}.png"


def shown(docs: Path) -> dict[str, list[Reproduction]]:
    """Return the stored results that show a claim, by claim."""
    held, found = stored(docs), dict[str, list[Reproduction]]()
    for one in reproductions():
        for claim in one.claims if one.id in held else ():
            found.setdefault(claim, []).append(one)
    return found
