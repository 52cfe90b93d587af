"""An answer of ``--json`` as one HTML file that needs no network: the sentence, pictures, tables, and what made it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import ValidationError, convert

from bounds.answers import KINDS as ANSWERS
from bounds.views.checked import expect_answer, fields_of
from bounds.views.panels import Bars, Panel, arranged
from bounds.views.pictures import as_bytes, drawn
from bounds.views.shown import Table as ShownTable
from bounds.views.shown import assumptions_of, view_of
from theory.errors import InputError
from theory.files.places import json_text
from theory.numbers import many

TEMPLATE = Path(__file__).with_suffix(".html")

MOST_ROWS = 1000  # rows of a table that are shown; all of them are in the attached answer

LATEST = 1e14  # seconds from 1970 that are a date, some three million years

Document = Mapping[str, Any]

CERTIFIED, SIMULATED = "certified", "statistical"
"""Ranks of evidence (`docs/explanation/evidence.md`)."""


Pictures = list[tuple[str, Panel]]  # captions and panels


class Kind(NamedTuple):
    """How the answer of a command becomes a report.

    `schemas` names the forms of its answers, `summary` makes the sentence and the pictures, `shown` what the tables
    show in place of the answer; `evidence` has a rank for each statement.
    """

    schemas: Sequence[str]
    summary: Callable[[Document], tuple[str, Pictures]]
    evidence: Sequence[tuple[str, str]]
    shown: Callable[[Document], Document] = lambda answer: answer


class Table(NamedTuple):
    """A table, and which of its columns hold numbers."""

    title: str
    head: list[str]
    rows: list[list[str]]
    numeric: list[bool]


def report_page(document: Document, command: str) -> str:
    """Return the report of an answer as HTML.

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

    known = [*TYPED, *KINDS]
    name = next((name for name in known if command.startswith(f"packproof {name} ")), None)
    if name is None:
        raise InputError(f"made.command: expected one of {', '.join(known)}, got {command[:60]!r}")
    if name in TYPED:
        return _typed(document, name)
    kind = KINDS[name]
    expect_answer(document, _schema_of(document, kind.schemas))
    sentence, panels = kind.summary(document)
    made = document["made"]
    page = Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return page.render(
        title=f"packproof {name}",
        sentence=sentence,
        pictures=[
            {"svg": _svg(panel, f"p{place}-"), "caption": caption} for place, (caption, panel) in enumerate(panels)
        ],
        tables=list(_tables(kind.shown(document))),
        evidence=kind.evidence,
        assumptions=_assumptions(document),
        repeat=made["command"],
        made=made,
        attached=list(_attached(document)),
    )


TYPED: Mapping[str, Sequence[str]] = {
    "plan": ("plan",),
    "solve": ("solve",),
    "worst": ("worst", "worst_by_size"),
    "region": ("region",),
    "experiment": ("experiment",),
    "admission tune": ("admission_tune",),
    "attack": ("attack", "attack_online"),
}
"""The answers of a command, by the names of their schemas."""


def _typed(document: Document, name: str) -> str:
    """Return the report of an answer, as the view of its subject shows it."""
    from jinja2 import Environment

    schema = _schema_of(document, TYPED[name])
    expect_answer(document, schema)
    try:
        answer = convert(document, ANSWERS[schema].type())
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
        evidence=view.evidence(answer),
        assumptions=assumptions_of(answer),
        repeat=document["made"]["command"],
        made=document["made"],
        attached=list(_attached(document)),
    )


def _cut(table: ShownTable) -> ShownTable:
    """Return a table without the rows that are too many for a page; its title says so."""
    if len(table.rows) <= MOST_ROWS:
        return table
    title = f"{table.title} (the first {MOST_ROWS:,} of {len(table.rows):,} rows)"
    return table._replace(title=title, rows=table.rows[:MOST_ROWS])


def _schema_of(document: Document, schemas: Sequence[str]) -> str:
    """Return the schema of an answer, of those of its command: the one with most of its fields."""

    def fields(name: str) -> int:
        return len(set(fields_of(name)) & document.keys())

    queues = "simulate_several_queues" in schemas and any(
        isinstance(one, Mapping) and "queue" in one for one in _list_of(document.get("policies"))
    )
    return "simulate_several_queues" if queues else max(schemas, key=fields)


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _svg(panel: Panel, prefix: str) -> str:
    """Return a panel as an SVG element; its identifiers have a prefix of their own, as several are in one page."""
    text = as_bytes(arranged([panel], ""), "svg").decode()
    text = text[text.index("<svg") :]
    return (
        text.replace('id="', f'id="{prefix}').replace('href="#', f'href="#{prefix}').replace("url(#", f"url(#{prefix}")
    )


def _attached(document: Document) -> Iterator[dict[str, str]]:
    files = {"answer.json": (document, "the whole answer")}
    if document.get("certificate"):
        files["certificate.json"] = (
            document["certificate"],
            "evidence that `packproof check certificate.json` verifies",
        )
    for name, (content, what) in files.items():
        text = json_text(content, indent=1)
        yield {"name": name, "what": what, "content": base64.b64encode(text.encode()).decode()}


def _assumptions(document: Document) -> list[str]:
    trace = document.get("trace")
    return list(trace["notes"]) if isinstance(trace, Mapping) else []


# ---- tables ----------------------------------------------------------------------------------------------------------

HIDDEN = ("made", "certificate", "sentence", "instance", "log", "trace", "left_out", "not_run", "plan")

WORDS = {
    "carries": "servers that carry the mean workload",
    "peak": "servers that hold the fullest instant",
    "range": "on resampled logs",
    "headroom": "room for more",
}
"""What a reader is told instead of a key that says too little."""


def _tables(document: Document) -> Iterator[Table]:
    """Yield the numbers of an answer: one table of single ones, one for each list or mapping."""
    single: list[list[str]] = []
    tables: list[Table] = []
    for name, value in document.items():
        if name in HIDDEN or value is None:
            continue
        if isinstance(value, Mapping):
            flat = dict(_flat(value))
            if flat:
                tables.append(_table(_words(name), ["", "value"], [[_words(key), one] for key, one in flat.items()]))
        elif isinstance(value, list):
            rows = [dict(_flat(one)) for one in value if isinstance(one, Mapping)]
            head = list(dict.fromkeys(key for row in rows for key in row))
            tables.append(
                _table(_words(name), [_words(key) for key in head], [[row.get(key) for key in head] for row in rows])
            )
        else:
            single.append([_words(name), value])
    if single:
        yield _table("answer", ["", "value"], single)
    yield from (table for table in tables if table.rows)


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from _flat(one, f"{before}{name}.")
        elif not (isinstance(one, list) and one and isinstance(one[0], Mapping | list)):
            yield f"{before}{name}", one


def _table(title: str, head: list[str], rows: list[list[Any]]) -> Table:
    numeric = [
        all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        and any(row[i] is not None for row in rows)
        for i in range(len(head))
    ]
    more = "" if len(rows) <= MOST_ROWS else f" (the first {MOST_ROWS:,} of {len(rows):,} rows)"
    return Table(title + more, head, [[_cell(one) for one in row] for row in rows[:MOST_ROWS]], numeric)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, list):
        return ", ".join(map(_cell, value)) or "-"
    return str(value)


def _words(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))


# ---- kinds -----------------------------------------------------------------------------------------------------------


def _bars(xlabel: str, lengths: Mapping[str, float | None]) -> Bars:
    """Return bars by name, without those of which there is no number."""
    shown = {drawn(name): length for name, length in lengths.items() if length is not None}
    return Bars(xlabel, list(shown), [("", list(shown.values()))])


def _percent(share: float | None, digits: int) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def _simulate(answer: Document) -> tuple[str, Pictures]:
    if "distances" in answer:
        slope = answer["slope"]["mean"]
        law = "at no rate that could be measured" if slope is None else f"like L^{slope:.2f}"
        return f"Paths of {answer['policy']} approach the fluid limit {law} as the number L of servers grows.", []
    if "policies" in answer:
        every = answer["policies"]
        names = ", ".join(one["policy"] for one in every)
        if "queue" in every[0]:
            waiting = {one["policy"]: one["queue"]["mean"] for one in every}
            picture = "Jobs that wait, by policy.", _bars("jobs waiting", waiting)
        else:
            accepted = {one["policy"]: one["accepted"]["mean"] for one in every}
            picture = "Share of the jobs that is accepted, by policy.", _bars("share accepted", accepted)
        return f"{len(every)} policies on the same jobs: {names}.", [picture]
    pictures: Pictures = [("Mean number of jobs in service by type.", _bars("jobs in service", answer["jobs"]))]
    where = f"{answer['policy']} on {many(answer['servers'], 'server')}"
    if "queue" in answer:
        waiting, delay = answer["queue"]["mean"], answer["queue"]["delay"]["mean"]
        waited = "no job has started" if delay is None else f"jobs that start have waited {delay:,.4g} on average"
        shown = "an unknown number of" if waiting is None else f"{waiting:,.4g}"
        return f"Under {where}, {shown} jobs wait on average, and {waited}.", pictures
    reward, accepted = answer["reward"]["mean"], answer["accepted"]["mean"]
    if reward is None or accepted is None:
        return f"Under {where}, no job came while it was measured.", pictures
    return f"{where} accepts {_percent(accepted, 3)} of the jobs, for a reward of {reward:,.6g} per server.", pictures


KINDS: dict[str, Kind] = {
    "simulate": Kind(
        ("simulate", "simulate_queue", "simulate_several", "simulate_several_queues", "against_fluid"),
        _simulate,
        (("all numbers", SIMULATED),),
    ),
}
"""By command."""
