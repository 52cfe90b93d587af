"""``packproof share``: one allocation, all mechanisms side by side, users coming and going; text and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET, UnsetType

from bounds.views.panels import Bars, Chart, Curve, draw, in_rows
from bounds.views.pictures import COLUMN, PAGE, PALETTE, figure, save, styled
from bounds.views.tables import aligned
from bounds.views.text import Answer, Exact
from fluid.limits.sharing import History
from theory.errors import quoted
from theory.numbers import text, total
from theory.sharing.allocation import Allocation, WholeTasks, jain_index, nash_welfare
from theory.sharing.model import Cluster
from theory.sharing.properties import Verdict


class Property(Answer, frozen=True):
    """Whether a property holds (null: not decided), with a witness."""

    holds: bool | None
    witness: dict[str, Any] | None


class Whole(Answer, frozen=True):
    """Whole tasks, and what rounding to them loses."""

    tasks: dict[str, int]
    allocation: dict[str, dict[str, int]]
    lost: dict[str, Exact]
    lost_part: float


class Shares(Answer, frozen=True):
    """One allocation; tasks and allocation are totals over a server class."""

    mechanism: str
    division: str
    exact: bool
    tasks: dict[str, float]
    tasks_exact: dict[str, Exact] | None
    allocation: dict[str, dict[str, float]]
    utilisation: dict[str, dict[str, float]]
    jain_index: float
    nash_welfare: float
    rounds: int | None
    damped: bool
    properties: dict[str, Property]
    whole: Whole | UnsetType = UNSET


class AllShares(Answer, frozen=True):
    """All mechanisms side by side."""

    mechanism: str
    mechanisms: dict[str, Shares]


class InMotion(Answer, frozen=True):
    """A run with users coming and going, at the end of each period."""

    mechanism: str
    time: list[float]
    tasks: dict[str, list[float]]
    present: dict[str, list[bool]]
    utilisation: dict[str, dict[str, list[float]]]


class AllInMotion(Answer, frozen=True):
    """Runs of all mechanisms that divide servers, with the same users coming and going."""

    mechanism: str
    mechanisms: dict[str, InMotion]


def shares_answer(allocation: Allocation, properties: Mapping[str, Verdict], whole: WholeTasks | None = None) -> Shares:
    """Return one allocation as an answer; numbers as floats, and the tasks as exact text as well."""
    cluster = allocation.cluster
    servers = [server.name for server in cluster.servers]
    users = [user.name for user in cluster.users]
    utilisation = {
        server: {
            resource: float(allocation.utilisation(i, r))
            for r, resource in enumerate(cluster.resources)
            if cluster.capacity[i][r]
        }
        for i, server in enumerate(servers)
    }
    return Shares(
        mechanism=allocation.mechanism,
        division=allocation.division,
        exact=allocation.exact,
        tasks=dict(zip(users, map(float, allocation.totals), strict=True)),
        tasks_exact=dict(zip(users, map(text, allocation.totals), strict=True)) if allocation.exact else None,
        allocation={
            user: dict(zip(servers, map(float, row), strict=True))
            for user, row in zip(users, allocation.tasks, strict=True)
        },
        utilisation=utilisation,
        jain_index=float(jain_index(allocation.shares)),
        nash_welfare=nash_welfare(allocation),
        rounds=allocation.rounds,
        damped=allocation.damped,
        properties={name: Property(holds=one.holds, witness=one.witness) for name, one in properties.items()},
        whole=UNSET if whole is None else _whole(allocation, whole),
    )


def _whole(allocation: Allocation, whole: WholeTasks) -> Whole:
    servers = [server.name for server in allocation.cluster.servers]
    users = [user.name for user in allocation.cluster.users]
    return Whole(
        tasks=dict(zip(users, map(sum, whole.tasks), strict=True)),
        allocation={user: dict(zip(servers, row, strict=True)) for user, row in zip(users, whole.tasks, strict=True)},
        lost=dict(zip(users, map(text, whole.lost), strict=True)),
        lost_part=float(_lost(allocation, whole)),
    )


def _lost(allocation: Allocation, whole: WholeTasks) -> Any:
    """Return the mean over users of the part of its tasks that a user loses to rounding."""
    parts = [lost / x for lost, x in zip(whole.lost, allocation.totals, strict=True) if x]
    return total(parts) / len(parts) if parts else 0


def allocation_lines(allocation: Allocation, answer: Shares) -> list[str]:
    """Return one allocation as text."""
    kind = "exact, verified" if allocation.exact else "numeric, not verified"
    if allocation.violation is not None:
        from theory.sharing.mechanisms import MECHANISMS

        conditions = MECHANISMS[allocation.mechanism].conditions
        kind = f"numeric, within {allocation.violation.value:.1e} of {conditions}"
    lines = [f"{allocation.mechanism} ({kind})", *sized_lines(allocation, answer.utilisation)]
    lines.append(f"Jain index {answer.jain_index:.4f}, Nash welfare {answer.nash_welfare:.4f}")
    for name, verdict in answer.properties.items():
        word = {True: "holds", False: "FAILS", None: "not decided"}[verdict.holds]
        lines.append(f"{name.replace('_', ' ')}: {word}{_witness(verdict.witness)}")
    if answer.whole:
        tasks = ", ".join(f"{quoted(user)} {n}" for user, n in answer.whole.tasks.items())
        lines.append(f"whole tasks: {tasks} (mean loss {100 * answer.whole.lost_part:.1f} %)")
    return lines


def sized_lines(allocation: Allocation, utilisation: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the tasks of each user on each server, and the utilisation of each server, as two tables."""
    cluster = allocation.cluster
    rows = [["user", "tasks", *(quoted(server.name) for server in cluster.servers)]]
    for user, x, row in zip(cluster.users, allocation.totals, allocation.tasks, strict=True):
        rows.append([quoted(user.name), shown(x), *(shown(v) if v else "" for v in row)])
    lines = aligned(rows, right=len(rows[0]) - 1)
    rows = [["utilisation", *map(quoted, cluster.resources)]]
    for server, used in utilisation.items():
        rows.append([quoted(server), *(f"{100 * used[r]:.1f} %" if r in used else "" for r in cluster.resources)])
    return [*lines, "", *aligned(rows, right=len(rows[0]) - 1), ""]


def comparison_lines(answers: Mapping[str, Shares], cluster: Cluster) -> list[str]:
    """Return all mechanisms in one table: tasks, utilisation by server and resource, Jain index, Nash welfare."""
    names = list(answers)
    rows = [["", *names]]
    rows += [[f"tasks of {quoted(u.name)}", *(f"{answers[m].tasks[u.name]:.4g}" for m in names)] for u in cluster.users]
    places = dict.fromkeys(
        (server, resource) for m in names for server, row in answers[m].utilisation.items() for resource in row
    )
    for server, resource in places:
        cells = [answers[m].utilisation.get(server, {}).get(resource) for m in names]
        rows.append(
            [f"{quoted(resource)} of {quoted(server)}", *("" if c is None else f"{100 * c:.1f} %" for c in cells)]
        )
    rows.append(["Jain index", *(f"{answers[m].jain_index:.4f}" for m in names)])
    rows.append(["Nash welfare", *(f"{answers[m].nash_welfare:.4f}" for m in names)])
    for name in answers[names[0]].properties:
        words = {True: "yes", False: "no", None: "?"}
        rows.append([name.replace("_", " "), *(words[answers[m].properties[name].holds] for m in names)])
    lost = [100 * one.whole.lost_part for one in answers.values() if one.whole]
    if len(lost) == len(names):
        rows.append(["lost to whole tasks", *(f"{part:.1f} %" for part in lost)])
    return aligned(rows, right=len(rows[0]) - 1)


def history_answer(mechanism: str, history: History, cluster: Cluster) -> InMotion:
    """Return a run with users coming and going: tasks of each user, and utilisation, at the end of each period."""
    return InMotion(
        mechanism=mechanism,
        time=history.time.tolist(),
        tasks={u.name: history.tasks[:, n].sum(axis=1).tolist() for n, u in enumerate(cluster.users)},
        present={u.name: history.present[:, n].tolist() for n, u in enumerate(cluster.users)},
        utilisation={
            server.name: {
                resource: history.utilisation[:, i, r].tolist()
                for r, resource in enumerate(cluster.resources)
                if cluster.capacity[i][r]
            }
            for i, server in enumerate(cluster.servers)
        },
    )


def history_lines(history: History, cluster: Cluster) -> list[str]:
    """Return a run as text: the state whenever the present users changed, and at the end."""
    rows = [["until", *(quoted(user.name) for user in cluster.users)]]
    for k, time in enumerate(history.time):
        if k + 1 == len(history.time) or (history.present[k] != history.present[k + 1]).any():
            tasks = history.tasks[k].sum(axis=1)
            here = history.present[k]
            rows.append([f"{time:g}", *(f"{x:.4g}" if there else "away" for x, there in zip(tasks, here, strict=True))])
    return aligned(rows, right=len(rows[0]) - 1)


def shown(value: Any) -> str:
    """Return an exact number if it is short, else four digits."""
    exact = text(value)
    return exact if len(exact) <= 9 else f"{float(value):.4g}"


def _witness(witness: Mapping[str, Any] | None) -> str:
    if witness is None:
        return ""
    parts = [
        f"{key.replace('_', ' ')} {quoted(value) if key in NAMES_IN_WITNESSES else value}"
        for key, value in witness.items()
        if key != "allocation"
    ]
    return f" ({', '.join(parts)})"


NAMES_IN_WITNESSES = ("user", "envies", "resource")
"""Fields of witnesses that are names of a file."""

MOST_PANELS = 8
"""Server classes and resources that are drawn over time, in file order."""

MOST_USERS = len(PALETTE) - 1
"""Users drawn in colours of their own; the others are drawn together."""


def bars_of(allocation: Allocation, title: str = "") -> Bars:
    """Return a bar for each server and resource, of what each user holds of it."""
    cluster = allocation.cluster
    places = [
        (i, r) for i in range(len(cluster.servers)) for r in range(len(cluster.resources)) if cluster.capacity[i][r]
    ]
    held = np.array(
        [
            [float(row[i] * cluster.use(n, i)[r] / cluster.capacity[i][r]) for i, r in places]
            for n, row in enumerate(allocation.tasks)
        ]
    )
    names = [user.name for user in cluster.users]
    if len(names) > MOST_USERS:
        held = np.vstack([held[: MOST_USERS - 1], held[MOST_USERS - 1 :].sum(axis=0)])
        names = [*names[: MOST_USERS - 1], f"{len(names) - MOST_USERS + 1} others"]
    return Bars(
        "in use (share)",
        [f"{cluster.servers[i].name} {cluster.resources[r]}" for i, r in places],
        [(name, row.tolist()) for name, row in zip(names, held, strict=True)],
        title or f"{allocation.mechanism}  (Jain {float(jain_index(allocation.shares)):.3f})",
        xlim=(0.0, 1.0),
    )


@styled
def picture_of_shares(allocations: Sequence[Allocation], path: str | Path) -> None:
    """Draw allocations side by side, three in a row.

    Raises
    ------
    InputError
        If the picture cannot be written there.
    """
    most = max(len(a.cluster.servers) * len(a.cluster.resources) for a in allocations)
    made, _ = in_rows([bars_of(allocation) for allocation in allocations], 3, min(6.0, 1.2 + 0.2 * most), alone=COLUMN)
    save(made, path)


@styled
def picture_of_history(history: History, cluster: Cluster, path: str | Path, resource: int = 0) -> None:
    """Draw utilisation of one resource by server class, and tasks by user, over time."""
    drawn = [i for i, row in enumerate(cluster.capacity) if row[resource]]
    time = history.time.tolist()
    used = [
        Curve(cluster.servers[i].name, time, history.utilisation[:, i, resource].tolist(), look="steps") for i in drawn
    ]
    tasks = [
        Curve(user.name, time, history.tasks[:, n].sum(axis=1).tolist(), look="steps")
        for n, user in enumerate(cluster.users[:10])
    ]
    made, (left, right) = figure(PAGE, 2.9, 2)
    draw(left, Chart("time (s)", f"{cluster.resources[resource]} in use (share)", used, ylim=(0, 1.05)))
    draw(right, Chart("time (s)", "tasks (number)", tasks, ylim=(0, None)))
    save(made, path)


@styled
def picture_of_histories(histories: Mapping[str, History], cluster: Cluster, path: str | Path) -> None:
    """Draw utilisation over time by mechanism: a panel for each server class and resource, two in a row."""
    charts = [
        Chart(
            "time (s)",
            "in use (share)",
            [
                Curve(name, one.time.tolist(), one.utilisation[:, i, r].tolist(), look="steps")
                for name, one in histories.items()
            ],
            title=f"{server.name}, {cluster.resources[r]}",
            ylim=(0.0, 1.05),
        )
        for i, server in enumerate(cluster.servers)
        for r in range(len(cluster.resources))
        if cluster.capacity[i][r]
    ][:MOST_PANELS]
    made, _ = in_rows(charts, 2, 2.2)
    save(made, path)
