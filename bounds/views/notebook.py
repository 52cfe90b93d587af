"""What a notebook shows of results, and their rows: pictures for the large ones, a sentence and rows for the others."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from bounds.views.assignment import draw_assignments
from bounds.views.pictures import OPTIMAL, as_bytes, figure, styled
from bounds.views.region import outline
from bounds.views.sharing import shown
from bounds.views.simulation import draw_curves
from bounds.views.text import INTERVALS, many, short, with_interval
from fluid.experiment.run import run_numbers
from fluid.simulation.results import LossResult, QueueResult, Result
from theory.greedy.optimal import Solution
from theory.instance import Additive
from theory.region.facets import Region
from theory.sharing.allocation import Allocation

MOST_ROWS = 30  # rows of a table that are shown; a line says how many more there are
FACETS_DRAWN = 2  # types of a region that is drawn

Table = list[dict[str, Any]] | dict[str, Any]
"""Rows, each a value by column; or columns."""


def html(thing: Any) -> str | None:
    """Return a result as HTML: tables, and a picture inside the text; None for other objects."""
    if isinstance(thing, Solution):
        return _solution(thing)
    if isinstance(thing, Region):
        return _region(thing)
    if isinstance(thing, Allocation):
        return _allocation(thing)
    if isinstance(thing, Result):
        return _result(thing)
    table = rows(thing)
    return None if table is None else _plain(thing, table)


def _plain(thing: Any, table: Table) -> str:
    """Return the line of an object, and its rows as a table."""
    if isinstance(table, Mapping):
        columns = {name: list(map(_cell, column)) for name, column in table.items()}
        return _joined(repr(thing), _table(tuple(columns), list(zip(*columns.values(), strict=True))))
    head = tuple(table[0]) if table else ()
    return _joined(repr(thing), _table(head, [tuple(_cell(row[name]) for name in head) for row in table]))


def _cell(value: Any) -> str:
    return short(value) if isinstance(value, Fraction) else "" if value is None else str(value)


def rows(thing: Any) -> Table | None:
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


ROWS: dict[str, Callable[[Any], Table]] = {
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


@styled
def _solution(solution: Solution) -> str:
    made, axes = figure(4.5, 3.2)
    draw_assignments(axes, solution)
    head = ("type", "reward", "workload", "greedy serves", "optimum serves")
    table = [
        (kind.name, short(kind.reward), short(kind.workload), short(greedy), short(optimal))
        for kind, greedy, optimal in zip(
            solution.instance.types, solution.greedy.served, solution.optimal.served, strict=True
        )
    ]
    said = (
        f"greedy {short(solution.greedy.reward)}, optimum {short(solution.optimal.reward)} per server: "
        f"ratio {short(solution.ratio)}, guaranteed {short(solution.greedy.guarantee_stagewise)}"
    )
    return _joined(said, _table(head, table), _picture(made))


def _region(region: Region) -> str:
    types = len(region.vertices[0])
    head = (*(f"x{j}" for j in range(1, types + 1)), "at most")
    table = [(*map(str, facet.normal), short(facet.offset)) for facet in region.outer]
    said = f"{many(len(region.outer), 'facet')} beside x ≥ 0, {many(len(region.vertices) + 1, 'vertex')}"
    return _joined(said.replace("vertexs", "vertices"), _table(head, table), *_polygon(region))


@styled
def _polygon(region: Region) -> list[str]:
    if len(region.vertices[0]) != FACETS_DRAWN:
        return []
    made, axes = figure(3.2, 3.2)
    x, y = outline(region).T
    axes.fill(x, y, color=OPTIMAL, alpha=0.25)
    axes.plot([*x, 0.0], [*y, 0.0], color=OPTIMAL, linewidth=1.5)
    axes.set(xlabel="x1, jobs per server", ylabel="x2, jobs per server", xlim=(0, None), ylim=(0, None))
    return [_picture(made)]


def _allocation(allocation: Allocation) -> str:
    servers = [server.name for server in allocation.cluster.servers]
    table = [
        (user.name, shown(sum(row, Fraction(0))), *map(shown, row))
        for user, row in zip(allocation.cluster.users, allocation.tasks, strict=True)
    ]
    kind = "exact" if allocation.exact else "numeric"
    return _joined(f"{allocation.mechanism} ({kind}): tasks", _table(("user", "total", *servers), table))


@styled
def _result(result: Result[Any]) -> str:
    drawing, axes = figure(4.5, 2.8)
    draw_curves(axes, [result])
    names = result.scenario.names
    if isinstance(result, LossResult):
        head, measures = ("type", "jobs", "accepted"), (result.jobs, result.acceptance)
        mean = f"reward per server {with_interval(result.reward(), 5, least=0.0)}"
    else:
        assert isinstance(result, QueueResult)
        head, measures = ("type", "in service", "waiting"), (result.jobs, result.waiting)
        mean = f"jobs waiting {with_interval(result.queue(), 5, least=0.0)}"
    table = [(name, *(with_interval(of(j), 4, least=0.0) for of in measures)) for j, name in enumerate(names)]
    on = f"{result.policy.name} on {many(result.scenario.servers, 'server')}, "
    cut = " (interrupted)" if result.interrupted else ""
    summary = f"{on}{many(len(result.runs), 'replication')}{cut}: {mean}; {INTERVALS}"
    return _joined(summary, _table(head, table), _picture(drawing))


def _table(head: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """Return rows as an HTML table; everything that stands in a cell is escaped, as names are a user's."""
    lines = [_row("th", head), *(_row("td", row) for row in table[:MOST_ROWS])]
    more = len(table) - MOST_ROWS
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table>{''.join(lines)}</table>{rest}"


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _picture(made: Any) -> str:
    # inside the text, so that a notebook holds no other files
    content = base64.b64encode(as_bytes(made, "png", dpi=100)).decode()
    return f'<img alt="" src="data:image/png;base64,{content}">'


def _joined(said: str, *parts: str) -> str:
    return f"<p>{escape(said)}</p>{''.join(parts)}"
