"""An answer of ``--json`` as one HTML file that needs no network: the sentence, pictures, tables, and what made it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bounds.views.assignment import solution_sentence
from bounds.views.checked import as_float, expect_answer, fields_of
from bounds.views.panels import Bars, Chart, Curve, Panel, arranged
from bounds.views.pictures import LETTERS, as_bytes, drawn
from bounds.views.plan import ASSUMED, moment, room
from theory.errors import InputError, quoted
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

    name = next((name for name in KINDS if command.startswith(f"packproof {name} ")), None)
    if name is None:
        raise InputError(f"made.command: expected one of {', '.join(KINDS)}, got {command[:60]!r}")
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
    log = document.get("log")
    notes = list(log["notes"]) if isinstance(log, Mapping) else []
    trace = document.get("trace")
    notes += trace["notes"] if isinstance(trace, Mapping) else []
    if isinstance(log, Mapping):
        if part := log["simulated"]:
            notes.append(f"Policies were run on the busiest part of the log alone, {many(part['arrivals'], 'VM')}.")
        notes += ASSUMED
        if document["servers"] is not None:
            notes.append(room(document["servers"]))
    notes += [f"Left out for lack of time: {what}." for what in document.get("left_out", ())]
    return [*notes, *(f"Left out, as it cannot run here: {what}." for what in document.get("not_run", ()))]


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


def _plan(answer: Document) -> tuple[str, Pictures]:
    met = [one for one in answer["policies"] if one["servers"] is not None]
    between = {"carry the mean": answer["carries"], "hold the fullest instant": answer["peak"]}
    ends = {name: (one["lower"], one["upper"]) for name, one in between.items()}
    ends |= {one["policy"]: (one["servers"], max(one["servers"], *(one["range"] or [0]))) for one in met}
    least = [low for low, _ in ends.values()]
    parts = [
        ("servers", least),
        ("up to: upper bounds, or resampled logs", [high - low for low, high in ends.values()]),
    ]
    pictures: Pictures = [
        (
            "Servers: bounds for the mean workload and the fullest instant, and what each policy needs for the "
            "target on the log, and at most on resampled logs.",
            Bars("servers", [drawn(name) for name in ends], parts),
        )
    ]
    is_dated = answer["log"]["begins"] is not None
    hours, days = ("UTC", "Monday is 1") if is_dated else ("from the beginning of the log",) * 2
    for key, what, first in (("by_hour", f"hour of the day ({hours})", 0), ("by_day", f"day of the week ({days})", 1)):
        if values := answer[key]:
            curve = Curve("", [float(x) for x in range(first, first + len(values))], values)
            pictures.append((f"VMs in service by {what}.", Chart(what, "VMs in service", [curve], ylim=(0.0, None))))
    types = answer["workload"]
    parts = [
        ("mean", [one["jobs"] for one in types]),
        ("more at the fullest instant", [max(one["at_peak"] - one["jobs"], 0.0) for one in types]),
    ]
    pictures.append(
        (
            "VMs in service by type: the mean, and how many more at the fullest instant.",
            Bars("VMs in service", [drawn(one["type"]) for one in types], parts),
        )
    )
    grown = {"today": answer["servers"]} | {f"+{one['growth']:.0%}": one["servers"] for one in answer["growth"]}
    if answer["growth"] and all(grown.values()):
        pictures.append(
            (f"Servers that {answer['policy']} needs for the target as the log grows.", _bars("servers", grown))
        )
    return str(answer["sentence"]), pictures


def _plan_shown(answer: Document) -> Document:
    """Return an answer with what its tables say otherwise: shares in per cent, the fullest instant by its date."""
    is_share = answer["target"]["kind"] == "accepted"
    factor, what = (100, "accepted, %") if is_share else (1, "mean wait, s")
    words = {
        "attained": (what, factor),
        "one_less": (f"on one server less: {what}", factor),
        "growth": ("growth, %", 100),
    }
    words |= {"ratio": ("of the optimal reward, %", 100), "worst_ratio": ("at the worst mix, %", 100)}

    def shown(row: Document) -> Document:
        if row.get("range"):
            row = {**row, "range": " to ".join(f"{end:,}" for end in row["range"])}
        renamed = {words.get(key, (key, 1)): value for key, value in row.items() if (key, value) != ("pools", None)}
        return {key: value if by == 1 or value is None else by * value for (key, by), value in renamed.items()}

    begins, at = answer["log"]["begins"], answer["peak"]["at"]
    if not abs((begins or 0.0) + at) < LATEST:
        raise InputError(f"peak.at: expected seconds up to a date that can be written, got {at:g}")
    peak = {("fullest instant" if key == "at" else key): value for key, value in answer["peak"].items()}
    return {
        **answer,
        "target": {f"{what}, at {'least' if is_share else 'most'}": factor * answer["target"]["value"]},
        "peak": {**peak, "fullest instant": moment(begins, at)},
        "greedy": shown(answer["greedy"]),
        "policies": [shown(one) for one in answer["policies"]],
        "growth": [shown(one) for one in answer["growth"]],
    }


def _solve(answer: Document) -> tuple[str, Pictures]:
    rewards = {name: answer[name]["reward_float"] for name in ("greedy", "optimal")}
    caption = "Reward per server of greedy reservation, and the optimum."
    pictures: Pictures = [(caption, _bars("reward per server", rewards))]
    both = _assignments(answer)
    if not any("pool" in row for rows in both.values() for row in rows):
        parts: dict[str, list[float]] = {}
        for place, rows in enumerate(both.values()):
            for row in rows:
                parts.setdefault(row["configuration"], [0.0, 0.0])[place] += row[SHARE] / 100
        bars = Bars("servers (share)", ["greedy", "optimal"], _most(parts), xlim=(0.0, 1.0))
        pictures.append(("Share of the servers that each assignment gives to each configuration.", bars))
    return solution_sentence(answer), pictures


SHARE, OF_POOL = "of the servers, %", "of the servers of the pool, %"
MOST_PARTS = 10  # colours of stacked bars


def _most(parts: Mapping[str, Sequence[float]]) -> list[tuple[str, Sequence[float]]]:
    """Return the longest parts of bars as a picture names them; all others together come last."""
    named = sorted(parts.items(), key=lambda part: -sum(part[1]))
    shown = [(drawn(name, 2 * LETTERS), lengths) for name, lengths in named[:MOST_PARTS]]
    if len(named) > MOST_PARTS:
        others = zip(*(lengths for _, lengths in named[MOST_PARTS - 1 :]), strict=True)
        shown[-1] = ("others", [sum(lengths) for lengths in others])
    return shown


def _assignments(answer: Document) -> dict[str, list[dict[str, Any]]]:
    """Return both assignments as rows; those of several pools name the pool."""
    greedy = []
    for number, stage in enumerate(answer["greedy"]["stages"]):
        until = "the servers end" if stage["exhausts"] is None else f"{quoted(stage['exhausts'])} is exhausted"
        share = 100 * as_float(stage["fraction"])
        for pool, configuration in _by_pool(stage, f"greedy.stages[{number}]").items():
            place = {SHARE: share} if pool is None else {"pool": pool, OF_POOL: share}
            greedy.append({**place, "configuration": _packed(configuration), "until": until})
    several = any("pool" in row for row in greedy)
    optimal = [
        {
            **({"pool": column["pool"]} if several else {}),
            SHARE: 100 * as_float(column["fraction"]),
            "configuration": _packed(column["configuration"]),
        }
        for column in answer["optimal"]["columns"]
    ]
    return {"greedy assignment": greedy, "optimal assignment": optimal}


def _by_pool(stage: Document, place: str) -> dict[str | None, Mapping[str, int]]:
    """Return the configurations of a stage by pool; the pool of an instance that has one is None."""
    if "configurations" in stage:
        return dict(stage["configurations"])
    if "configuration" not in stage:
        raise InputError(f"{place}.configuration: missing")
    return {None: stage["configuration"]}


def _packed(configuration: Mapping[str, int]) -> str:
    return " + ".join(f"{slots} {quoted(name)}" for name, slots in configuration.items() if slots) or "empty"


def _solve_shown(answer: Document) -> Document:
    """Return an answer with both assignments as tables, and the stages of whole servers."""
    tables: dict[str, list[dict[str, Any]]] = _assignments(answer)
    if whole := answer.get("servers"):
        stages = whole["greedy"]["stages"]
        tables[f"greedy assignment of {many(whole['servers'], 'server')}"] = [
            {
                "servers": sum(stage["servers"].values()) if pool is None else stage["servers"].get(pool),
                **({} if pool is None else {"pool": pool}),
                "configuration": _packed(configuration),
            }
            for number, stage in enumerate(stages)
            for pool, configuration in _by_pool(stage, f"servers.greedy.stages[{number}]").items()
        ]
    single = {name: value for name, value in answer.items() if not isinstance(value, Mapping)}
    return {**single, **tables, **{name: value for name, value in answer.items() if name not in single}}


def _worst(answer: Document) -> tuple[str, Pictures]:
    percent = 100 * answer["ratio"]
    sentence = f"On the worst instance that was found, greedy reservation keeps {percent:.3f} % of the optimal reward."
    workload = {name: as_float(value) for name, value in answer["workload"].items()}
    return sentence, [("The worst workload that was found, by type.", _bars("jobs per server", workload))]


def _region(answer: Document) -> tuple[str, Pictures]:
    intensity = as_float(answer["traffic_intensity"])
    carried = "can" if answer["supportable"] else "cannot"
    limit = "what is below 1 can be carried"
    sentence = f"The servers {carried} carry this workload: its traffic intensity is {intensity:.4g}, and {limit}."
    bars = _bars("traffic intensity", {"this workload": intensity, "limit": 1.0})
    return sentence, [("Traffic intensity of the workload, and the limit.", bars)]


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


def _attack(answer: Document) -> tuple[str, Pictures]:
    proved = "certified" if answer["certified"] else "not certified"
    if answer["kind"] == "online":
        confirmed = "confirmed" if answer["confirmed"] else "not confirmed"
        found = f"The worst case that the search found for {answer['policy']} has ratio {answer['ratio']}"
        return f"{found} ({confirmed}).", []
    ratio = as_float(answer["ratio"])
    if ratio >= 1:
        return f"The search found no instance on which {answer['rule']} keeps less than what is possible.", []
    kept = f"{answer['rule']} keeps {_percent(ratio, 3)} of what is possible"
    return f"{kept} in the worst case that was found ({proved}).", []


def _tune(answer: Document) -> tuple[str, Pictures]:
    used = _percent(answer["utilisation"]["mean"], 2)
    safe = answer["safe"]
    proven = "none is proven to" if safe is None else f"{safe['threshold']:.6g} is the largest proven to"
    return (
        f"{answer['threshold']:.6g} is the largest threshold of the {answer['policy']} policy whose estimated refused "
        f"share meets the SLA of {answer['target']:g}, with {used} of the cores in use; {proven}."
    ), []


def _experiment(answer: Document) -> tuple[str, Pictures]:
    are = "is" if answer["finished"] == 1 else "are"
    return f"{answer['finished']:,} of {many(answer['cells'], 'cell')} of the grid {are} finished.", []


KINDS: dict[str, Kind] = {
    "plan": Kind(
        ("plan",),
        _plan,
        (
            ("the servers that carry the mean workload, from both sides (the attached certificate)", CERTIFIED),
            ("what greedy reservation keeps at this mix (the attached certificate)", CERTIFIED),
            ("the servers that hold the fullest instant, from both sides", "exact, without a certificate"),
            ("what a policy attains on the log, and on resampled and grown logs", SIMULATED),
            ("that the target is missed on one server less; not all smaller numbers were tried", SIMULATED),
        ),
        _plan_shown,
    ),
    "solve": Kind(("solve",), _solve, (("rewards, ratio and guarantees", CERTIFIED),), _solve_shown),
    "worst": Kind(("worst", "worst_by_size"), _worst, (("what the instance attains", CERTIFIED),)),
    "region": Kind(("region",), _region, (("traffic intensity and facets", CERTIFIED),)),
    "simulate": Kind(
        ("simulate", "simulate_queue", "simulate_several", "simulate_several_queues", "against_fluid"),
        _simulate,
        (("all numbers", SIMULATED),),
    ),
    "experiment": Kind(("experiment",), _experiment, (("all numbers", SIMULATED),)),
    "attack": Kind(("attack", "attack_online"), _attack, ()),
    "admission tune": Kind(("admission_tune",), _tune, (("all numbers", SIMULATED),)),
}
"""By command."""
