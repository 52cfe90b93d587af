"""What a notebook shows of results: the sentence, the tables and a picture that a terminal shows; and their rows."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import inf
from typing import Any

from bounds.answers.record import Answer
from bounds.views.drawing import arranged
from bounds.views.pictures import as_bytes
from bounds.views.shown import Picture, Table, view_of
from bounds.views.text import short
from fluid.experiment.run import run_numbers
from fluid.files.scenarios import Given
from fluid.simulation.documents import Table as FileTable
from fluid.simulation.results import Result
from theory.greedy.optimal import Solution
from theory.instance import Additive
from theory.region.facets import Region
from theory.sharing.allocation import Allocation

MOST_ROWS = 30  # rows of a table that are shown; a line says how many more there are

Rows = list[dict[str, Any]] | dict[str, Any]
"""Rows, each a value by column; or columns."""


def html(thing: Any) -> str | None:
    """Return a result as HTML: its sentence, tables, and a picture inside the text; None for other objects."""
    answer = answer_of(thing)
    if answer is not None:
        view = view_of(answer)
        tables = [_table(table) for table in view.tables(answer)]
        return _joined(view.sentence(answer), *tables, *map(_drawn, view.pictures(answer)[:1]))
    table = rows(thing)
    return None if table is None else _joined(repr(thing), _table(_plain(table)))


def answer_of(thing: Any) -> Answer | None:
    """Return a result as the answer of the command that computes it; None for other objects."""
    if isinstance(thing, Solution):
        from bounds.views.assignment import solution_answer

        return solution_answer(thing)
    if isinstance(thing, Region):
        from bounds.views.region import facets_answer

        return facets_answer(thing)
    if isinstance(thing, Allocation):
        from bounds.views.sharing_answers import numeric_answer, shares_answer

        # properties are decided where they are asked for: that may take long
        return numeric_answer(thing, thing.violation, inf) if thing.violation else shares_answer(thing, {})
    if isinstance(thing, Result):
        from bounds.views.simulation import simulation_answer

        return simulation_answer(thing, Given(thing.scenario, FileTable()))
    return None


def _plain(rows: Rows) -> Table:
    """Return rows as a table of text."""
    columns = rows if isinstance(rows, Mapping) else {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
    cells = [list(map(_cell, column)) for column in columns.values()]
    return Table("", list(columns), list(map(list, zip(*cells, strict=True))), [False] * len(columns))


def _cell(value: Any) -> str:
    return short(value) if isinstance(value, Fraction) else "" if value is None else str(value)


def rows(thing: Any) -> Rows | None:
    """Return a result as rows: types, facets, users, replications, and so on; None for other objects."""
    maker = next((ROWS[name] for kind in type(thing).__mro__ if (name := kind.__name__) in ROWS), None)
    if maker is not None:
        return maker(thing)
    if isinstance(thing, Solution):
        every = zip(thing.instance.types, thing.greedy.served, thing.optimal.served, strict=True)
        return [
            {
                "type": kind.name,
                "reward": kind.reward,
                "workload": kind.workload,
                "greedy": greedy,
                "optimal": optimal,
                "job_price": price,
            }
            for (kind, greedy, optimal), price in zip(every, thing.optimal.job_prices, strict=True)
        ]
    if isinstance(thing, Region):
        return [
            {**{f"x{j}": a for j, a in enumerate(facet.normal, 1)}, "at_most": facet.offset} for facet in thing.facets
        ]
    if isinstance(thing, Allocation):
        servers = [server.name for server in thing.cluster.servers]
        return [
            {"user": user.name, "total": sum(row, Fraction(0)), **dict(zip(servers, row, strict=True))}
            for user, row in zip(thing.cluster.users, thing.tasks, strict=True)
        ]
    if isinstance(thing, Result):
        return [{"policy": thing.policy.name, "replication": r, **run_numbers(run)} for r, run in enumerate(thing.runs)]
    return None


def _types(instance: Any) -> list[dict[str, Any]]:
    """Return the types of an instance, with their demands where a pool has resources."""
    space = next((pool.space for pool in instance.pools if isinstance(pool.space, Additive)), None)
    needs: list[dict[str, Fraction]] = [{} for _ in instance.types]
    if space is not None:
        needs = [{r: d * u for r, d, u in zip(space.resources, row, space.unit, strict=True)} for row in space.demands]
    return [
        {
            "type": kind.name,
            **needs[j],
            "reward": kind.reward,
            "workload": kind.workload,
            "service_rate": kind.service_rate,
        }
        for j, kind in enumerate(instance.types)
    ]


def _users(cluster: Any) -> list[dict[str, Any]]:
    return [
        {
            "user": user.name,
            **dict(zip(cluster.resources, user.demand, strict=True)),
            "weight": user.weight,
            "servers": "all" if user.servers is None else " ".join(user.servers),
        }
        for user in cluster.users
    ]


def _stages(worst: Any) -> list[dict[str, Any]]:
    """Return the worst workload by type, and the place at which greedy exhausts it."""
    place = {j: i for i, j in enumerate(worst.exhausted, 1)}
    return [{"type": j + 1, "workload": rho, "exhausted": place.get(j)} for j, rho in enumerate(worst.workload)]


def _tasks(trace: Any) -> dict[str, Any]:
    """Return the tasks of a trace by columns, since there may be millions; demands are exact."""
    demands = {
        name: [Fraction(amount) * unit for amount in trace.demand[:, r].tolist()]
        for r, (name, unit) in enumerate(zip(trace.resources, trace.unit, strict=True))
    }
    label = [trace.labels[place] for place in trace.label.tolist()] if trace.labels else trace.label
    return {"arrival": trace.arrival, "duration": trace.duration, **demands, "label": label}


def _probabilities(law: Any) -> list[dict[str, Any]]:
    """Return the mean jobs and the blocking probability of each type."""
    every = zip(law.instance.names, law.jobs.tolist(), law.blocking.tolist(), strict=True)
    return [{"type": name, "jobs": jobs, "blocking": blocking} for name, jobs, blocking in every]


def _breakpoints(scaling: Any) -> list[dict[str, Any]]:
    every = zip(scaling.scales, scaling.greedy, scaling.optimal, strict=True)
    return [{"scale": s, "greedy": g, "optimal": u, "ratio": g / u} for s, g, u in every]


def _history(found: Any) -> list[dict[str, Any]]:
    """Return the improvements of a search: instances judged, and what the rule kept then."""
    return [{"evaluations": number, "value": value} for number, value in found.history]


def _single(*names: str) -> Callable[[Any], list[dict[str, Any]]]:
    """Return what makes one row of some fields."""
    return lambda thing: [{name: getattr(thing, name) for name in names}]


ROWS: dict[str, Callable[[Any], Rows]] = {
    "Instance": _types,
    "Cluster": _users,
    "WorstWorkload": _stages,
    "Trace": _tasks,
    "StationaryLaw": _probabilities,
    "Scaling": _breakpoints,
    "Interval": _single("mean", "low", "high", "level", "samples"),
    "Found": _history,
    "Claim": _single("id", "source", "statement", "printed", "evidence", "verdict"),
}
"""Rows by the name of a class, so that no class has to be loaded to be shown."""


def _table(table: Table) -> str:
    """Return a table as HTML; everything that stands in a cell is escaped, as names are a user's."""
    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = [_row("th", table.head, table.numeric)] if any(table.head) else []
    lines = [*head, *(_row("td", row, table.numeric) for row in table.rows[:MOST_ROWS])]
    more = len(table.rows) - MOST_ROWS
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table>{title}{''.join(lines)}</table>{rest}"


def _row(tag: str, cells: Sequence[str], numeric: Sequence[bool]) -> str:
    each = [
        f'<{tag} style="text-align: {"right" if right else "left"}">{escape(cell)}</{tag}>'
        for cell, right in zip(cells, numeric, strict=True)
    ]
    return f"<tr>{''.join(each)}</tr>"


def _drawn(picture: Picture) -> str:
    # inside the text, so that a notebook holds no other files
    content = base64.b64encode(as_bytes(arranged([picture.panel], ""), "png", dpi=100)).decode()
    return f'<img alt="{escape(picture.caption)}" src="data:image/png;base64,{content}">'


def _joined(said: str, *parts: str) -> str:
    return f"<p>{escape(said)}</p>{''.join(parts)}"
