"""An answer of ``--json`` as one HTML file that needs no network: the sentence, pictures, tables, and what made it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert

from bounds.answers import KINDS
from bounds.views.checked import expect_answer, fields_of
from bounds.views.drawing import arranged
from bounds.views.headline import headline, three_digits
from bounds.views.panels import Bars, Panel, Spans
from bounds.views.pictures import as_bytes
from bounds.views.shown import Table, assumptions_of, view_of
from theory.errors import InputError
from theory.files.places import json_text

TEMPLATE = Path(__file__).with_suffix(".html")

MOST_ROWS = 1000  # rows of a table that are shown; all of them are in the attached answer

SVG_WIDTH = 4.4  # inches of a picture, of which the text can be read where a page is 390 pixels wide

Document = Mapping[str, Any]


def reported() -> dict[str, list[str]]:
    """Return the names of the schemas of a command's answers, by command; lists of answers have no page."""
    by_command: dict[str, list[str]] = {}
    for name, kind in KINDS.items():
        if not kind.is_list:
            words = takewhile(str.islower, kind.command.partition(" --")[0].split())
            by_command.setdefault(" ".join(words), []).append(name)
    return by_command


def report_page(document: Document, command: str) -> str:
    """Return the report of an answer as HTML, as the view of its subject shows it.

    Parameters
    ----------
    document : mapping
        An answer as ``--json`` prints it.
    command : str
        The command line that made it.

    Raises
    ------
    InputError
        A command whose answers have no report, or an answer without what it should have.
    """
    from jinja2 import Environment

    schemas = reported()
    name = next((name for name in schemas if command.startswith(f"packproof {name} ")), None)
    if name is None:
        raise InputError("made.command", f"expected one of {', '.join(schemas)}, got {command[:60]!r}")
    schema = _schema_of(document, schemas[name])
    expect_answer(document, schema)
    try:
        answer = convert(document, KINDS[schema].type())
    except ValidationError as error:
        raise InputError(f"expected an answer of packproof {name}: {error}") from error
    view = view_of(answer)
    page = Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return page.render(
        title=f"packproof {name}",
        sentence=view.sentence(answer),
        pictures=[
            {"svg": _svg(panel, f"p{place}-"), "caption": caption}
            for place, (caption, panel) in enumerate(view.pictures(answer))
        ],
        tables=[_cut(table) for table in view.tables(answer)],
        evidence=view.evidence(answer) if hasattr(view, "evidence") else [],
        assumptions=assumptions_of(answer),
        repeat=document["made"]["command"],
        made=document["made"],
        attached=list(_attached(document)),
        first=headline(answer),  # after the view has seen that lists of the answer have the lengths that they must have
    )


def _schema_of(document: Document, schemas: Sequence[str]) -> str:
    """Return the schema of an answer, of those of its command: the one with most of its fields."""

    def fields(name: str) -> int:
        return len(set(fields_of(name)) & document.keys())

    runs = document.get("mechanisms")
    if "share_events_all" in schemas and isinstance(runs, Mapping):
        over_time = any(isinstance(one, Mapping) and "time" in one for one in runs.values())
        return "share_events_all" if over_time else "share_all"
    policies = document.get("policies")
    queues = "simulate_several_queues" in schemas and any(
        isinstance(one, Mapping) and "queue" in one for one in (policies if isinstance(policies, list) else ())
    )
    return "simulate_several_queues" if queues else max(schemas, key=fields)


def _cut(table: Table) -> Table:
    """Return a table in three digits, each beside its %, without the rows that are too many; its title says so."""
    rounded = [
        [
            (three_digits(cell) if numeric else cell).replace(" %", "\N{NO-BREAK SPACE}%")
            for cell, numeric in zip_longest(row, table.numeric[: len(row)])
        ]
        for row in table.rows[:MOST_ROWS]
    ]
    if len(table.rows) <= MOST_ROWS:
        return table._replace(rows=rounded)
    title = f"{table.title} (the first {MOST_ROWS:,} of {len(table.rows):,} rows)"
    return table._replace(title=title, rows=rounded)


def _svg(panel: Panel, prefix: str) -> str:
    """Return a panel as an SVG element; its identifiers have a prefix of their own, as several are in one page."""
    rows = len(panel.bars) if isinstance(panel, Bars) else len(panel.down) if isinstance(panel, Spans) else 6
    height = 0.9 + 0.3 * min(rows, 24)
    text = as_bytes(arranged([panel], "", height=height, alone=SVG_WIDTH), "svg", clear=True).decode()
    text = text[text.index("<svg") :]
    return (
        text.replace('id="', f'id="{prefix}').replace('href="#', f'href="#{prefix}').replace("url(#", f"url(#{prefix}")
    )


def _attached(document: Document) -> Iterator[dict[str, str]]:
    files = {"answer.json": (document, "the whole answer")}
    if document.get("certificate"):
        evidence = "evidence that packproof check certificate.json verifies"
        files["certificate.json"] = (document["certificate"], evidence)
    for name, (content, what) in files.items():
        text = json_text(content, indent=1)
        yield {"name": name, "what": what, "content": base64.b64encode(text.encode()).decode()}
