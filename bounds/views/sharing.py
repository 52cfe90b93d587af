"""What ``packproof share`` shows: one allocation as JSON values and as text, and all mechanisms side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fluid.limits.sharing import History
from theory.numbers import text, total
from theory.sharing.allocation import Allocation, WholeTasks, jain_index, nash_welfare
from theory.sharing.model import Cluster
from theory.sharing.properties import Verdict


def allocation_json(
    allocation: Allocation, properties: Mapping[str, Verdict], whole: WholeTasks | None = None
) -> dict[str, Any]:
    """Return one allocation as DESIGN's JSON; numbers as floats, and the tasks as exact text as well."""
    cluster = allocation.cluster
    servers = [server.name for server in cluster.servers]
    users = [user.name for user in cluster.users]
    answer: dict[str, Any] = {
        "mechanism": allocation.mechanism,
        "division": allocation.division,
        "exact": allocation.exact,
        "tasks": dict(zip(users, map(float, allocation.totals), strict=True)),
        "tasks_exact": dict(zip(users, map(text, allocation.totals), strict=True)) if allocation.exact else None,
        "allocation": {
            user: dict(zip(servers, map(float, row), strict=True))
            for user, row in zip(users, allocation.tasks, strict=True)
        },
        "utilisation": {
            server: {
                resource: float(allocation.utilisation(i, r))
                for r, resource in enumerate(cluster.resources)
                if cluster.capacity[i][r]
            }
            for i, server in enumerate(servers)
        },
        "jain_index": float(jain_index(allocation.shares)),
        "nash_welfare": nash_welfare(allocation),
        "rounds": allocation.rounds,
        "damped": allocation.damped,
        "properties": {
            name: {"holds": verdict.holds, "witness": verdict.witness} for name, verdict in properties.items()
        },
    }
    if whole is not None:
        answer["whole"] = {
            "tasks": dict(zip(users, map(sum, whole.tasks), strict=True)),
            "allocation": {
                user: dict(zip(servers, row, strict=True)) for user, row in zip(users, whole.tasks, strict=True)
            },
            "lost": dict(zip(users, map(text, whole.lost), strict=True)),
            "lost_part": float(_lost(allocation, whole)),
        }
    return answer


def _lost(allocation: Allocation, whole: WholeTasks) -> Any:
    """Return the mean over users of the part of its tasks that a user loses to rounding."""
    parts = [lost / x for lost, x in zip(whole.lost, allocation.totals, strict=True) if x]
    return total(parts) / len(parts) if parts else 0


def allocation_lines(allocation: Allocation, answer: Mapping[str, Any]) -> list[str]:
    """Return one allocation as text."""
    cluster = allocation.cluster
    servers = [server.name for server in cluster.servers]
    kind = "exact, verified" if allocation.exact else "numeric, not verified"
    lines = [f"{allocation.mechanism} ({kind})"]
    rows = [["user", "tasks", *servers]]
    for user, x, row in zip(cluster.users, allocation.totals, allocation.tasks, strict=True):
        rows.append([user.name, shown(x), *(shown(v) if v else "" for v in row)])
    lines += table(rows)
    rows = [["utilisation", *cluster.resources]]
    for server, row in answer["utilisation"].items():
        rows.append([server, *(f"{100 * row[r]:.1f} %" if r in row else "" for r in cluster.resources)])
    lines += ["", *table(rows), ""]
    lines.append(f"Jain index {answer['jain_index']:.4f}, Nash welfare {answer['nash_welfare']:.4f}")
    for name, verdict in answer["properties"].items():
        word = {True: "holds", False: "FAILS", None: "not decided"}[verdict["holds"]]
        lines.append(f"{name.replace('_', ' ')}: {word}{_witness(verdict['witness'])}")
    if "whole" in answer:
        tasks = ", ".join(f"{user} {n}" for user, n in answer["whole"]["tasks"].items())
        lines.append(f"whole tasks: {tasks} (mean loss {100 * answer['whole']['lost_part']:.1f} %)")
    return lines


def comparison_lines(answers: Mapping[str, Mapping[str, Any]], cluster: Cluster) -> list[str]:
    """Return all mechanisms in one table: tasks, utilisation by server and resource, Jain index, Nash welfare."""
    names = list(answers)
    rows = [["", *names]]
    rows += [[f"tasks of {u.name}", *(f"{answers[m]['tasks'][u.name]:.4g}" for m in names)] for u in cluster.users]
    places = dict.fromkeys(
        (server, resource) for m in names for server, row in answers[m]["utilisation"].items() for resource in row
    )
    for server, resource in places:
        cells = [answers[m]["utilisation"].get(server, {}).get(resource) for m in names]
        rows.append([f"{resource} of {server}", *("" if c is None else f"{100 * c:.1f} %" for c in cells)])
    rows.append(["Jain index", *(f"{answers[m]['jain_index']:.4f}" for m in names)])
    rows.append(["Nash welfare", *(f"{answers[m]['nash_welfare']:.4f}" for m in names)])
    for name in answers[names[0]]["properties"]:
        words = {True: "yes", False: "no", None: "?"}
        rows.append([name.replace("_", " "), *(words[answers[m]["properties"][name]["holds"]] for m in names)])
    if all("whole" in answers[m] for m in names):
        rows.append(["lost to whole tasks", *(f"{100 * answers[m]['whole']['lost_part']:.1f} %" for m in names)])
    return table(rows)


def history_json(history: History, cluster: Cluster) -> dict[str, Any]:
    """Return a run with users coming and going: tasks of each user, and utilisation, at the end of each period."""
    return {
        "time": history.time.tolist(),
        "tasks": {u.name: history.tasks[:, n].sum(axis=1).tolist() for n, u in enumerate(cluster.users)},
        "present": {u.name: history.present[:, n].tolist() for n, u in enumerate(cluster.users)},
        "utilisation": {
            server.name: {
                resource: history.utilisation[:, i, r].tolist()
                for r, resource in enumerate(cluster.resources)
                if cluster.capacity[i][r]
            }
            for i, server in enumerate(cluster.servers)
        },
    }


def history_lines(history: History, cluster: Cluster) -> list[str]:
    """Return a run as text: the state whenever the present users changed, and at the end."""
    rows = [["until", *(user.name for user in cluster.users)]]
    for k, time in enumerate(history.time):
        if k + 1 == len(history.time) or (history.present[k] != history.present[k + 1]).any():
            tasks = history.tasks[k].sum(axis=1)
            here = history.present[k]
            rows.append([f"{time:g}", *(f"{x:.4g}" if there else "away" for x, there in zip(tasks, here, strict=True))])
    return table(rows)


def shown(value: Any) -> str:
    """Return an exact number if it is short, else four digits."""
    exact = text(value)
    return exact if len(exact) <= 9 else f"{float(value):.4g}"


def table(rows: list[list[str]]) -> list[str]:
    """Return rows in columns: the first to the left, the others to the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _witness(witness: Mapping[str, Any] | None) -> str:
    if witness is None:
        return ""
    return (
        " ("
        + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.items() if name != "allocation")
        + ")"
    )
