"""``packproof share``: exact and numeric allocations, stored ones, users coming and going; text and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET, UnsetType

from bounds.adversary.sharing import greatest_sum_of_parts, sum_of_parts
from bounds.answers.record import Fields, encode, named
from bounds.answers.sharing import CheckedShares, InMotion, NumericShares, Price, Property, Shares
from bounds.views.panels import Bars, Chart, Curve, in_rows
from bounds.views.pictures import COLUMN, PALETTE, drawn, save, styled
from bounds.views.tables import aligned
from bounds.views.text import UNIT_OF_THE_FILE
from fluid.limits.sharing import History
from theory.errors import listed, quoted
from theory.numbers import text, total
from theory.sharing.allocation import Allocation, WholeTasks, jain_index, nash_welfare
from theory.sharing.model import Cluster, eligibility
from theory.sharing.pooled import BORDERS, PLACEMENT, Ignored
from theory.sharing.properties import PROPERTIES, Verdict
from theory.sharing.violation import Violation, shares_of


def shares_answer(
    allocation: Allocation,
    properties: Mapping[str, Verdict],
    whole: WholeTasks | None = None,
    ignored: Sequence[Ignored] = (),
    *,
    feasible: bool | None = None,
) -> Shares:
    """Return one allocation as an answer; numbers as floats, and the tasks as exact text as well.

    `ignored` is what of the cluster the mechanism does not use; where that is something, `feasible` says whether the
    tasks fit the cluster, None if that is not decided.
    """
    cluster, totals = allocation.cluster, named(allocation.cluster.users, allocation.totals)
    return encode(
        Shares,
        allocation,
        tasks=totals,
        tasks_exact=totals if allocation.exact else None,
        allocation=_by_user(cluster, allocation.tasks),
        utilisation=_by_server(cluster, allocation.utilisation),
        jain_index=jain_index(allocation.shares),
        nash_welfare=nash_welfare(allocation),
        properties=properties,
        whole=whole and _whole(allocation, whole),
        price=_price(allocation) if allocation.division == "time" else None,
        ignored=[_ignored_in_words(part) for part in ignored] or None,
        feasible=feasible,
    )


MOST_IGNORED = 5  # users whose lines are ignored that are named


def _ignored_in_words(part: Ignored) -> str:
    """Name the lines of the file that a mechanism does not use."""
    if part.what == BORDERS:
        return "the borders between servers"
    more = f" and {len(part.users) - MOST_IGNORED:,} more" if len(part.users) > MOST_IGNORED else ""
    field = "servers (placement)" if part.what == PLACEMENT else "effective (capacities)"
    return f"{field} of {listed(part.users[:MOST_IGNORED])}{more}"


def _by_user(cluster: Cluster, tasks: Sequence[Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """Return tasks, shape (N, K), by the names of user and server."""
    return named(cluster.users, [named(cluster.servers, row) for row in tasks])


def _by_server(cluster: Cluster, value: Callable[[int, int], Any]) -> dict[str, dict[str, Any]]:
    """Return a value by the names of server and resource, of the resources that the server has."""
    return {
        server.name: {resource: value(i, r) for r, resource in enumerate(cluster.resources) if cluster.capacity[i][r]}
        for i, server in enumerate(cluster.servers)
    }


def _price(allocation: Allocation) -> Fields:
    """Return the sum of users' parts beside the greatest one of the cluster at hand."""
    cluster, parts = allocation.cluster, sum_of_parts(allocation)
    users, greatest = len(cluster.users), greatest_sum_of_parts(cluster)
    alike = len(set(cluster.weights)) == 1
    return Fields(
        parts=parts,
        greatest=greatest,
        kept=float(parts / greatest),
        guaranteed=(2 * users**0.5 - 1) / users if alike else None,
    )


def _price_in_words(price: Price) -> str:
    """Return the price of fairness as a line."""
    guaranteed = price.guaranteed
    bound = "" if isinstance(guaranteed, UnsetType) else f"; at least {100 * guaranteed:.1f} % is guaranteed"
    return (
        f"price of fairness: users' parts of what they run alone sum to {shown(Fraction(price.parts))} of at most "
        f"{shown(Fraction(price.greatest))}, {100 * price.kept:.1f} % is kept{bound}"
    )


def _whole(allocation: Allocation, whole: WholeTasks) -> Fields:
    cluster = allocation.cluster
    # the part of its tasks that each user loses to rounding
    parts = [lost / x for lost, x in zip(whole.lost, allocation.totals, strict=True) if x]
    return Fields(
        tasks=named(cluster.users, list(map(sum, whole.tasks))),
        allocation=_by_user(cluster, whole.tasks),
        lost=named(cluster.users, whole.lost),
        lost_part=float(total(parts) / len(parts)) if parts else 0.0,
    )


def allocation_lines(allocation: Allocation, answer: Shares) -> list[str]:
    """Return one allocation as text."""
    kind = "exact, verified" if allocation.exact else "numeric, not verified"
    if allocation.violation is not None:
        kind = f"numeric, within {allocation.violation.value:.1e} of {_conditions(allocation.mechanism)}"
    ignored = []
    if answer.ignored:
        fits: dict[bool | UnsetType, str] = {
            True: "they fit this cluster",
            False: "they do NOT fit this cluster",
            UNSET: "whether they fit is not decided",
        }
        kind = f"exact tasks of one pool of all servers; {fits[answer.feasible]}"
        ignored = [f"ignored: {'; '.join(answer.ignored)}"]
    lines = [f"{allocation.mechanism} ({kind})", *ignored, *sized_lines(allocation, answer.utilisation)]
    lines.append(f"Jain index {answer.jain_index:.4f}, Nash welfare {answer.nash_welfare:.4f}")
    if answer.price:
        lines.append(_price_in_words(answer.price))
    for name, verdict in answer.properties.items():
        word = {"yes": "holds", "no": "FAILS"}.get(word := _word(verdict), word)
        lines.append(f"{name.replace('_', ' ')}: {word}{_witness(verdict.witness)}")
    if answer.whole:
        tasks = ", ".join(f"{quoted(user)} {n}" for user, n in answer.whole.tasks.items())
        lines.append(f"whole tasks: {tasks} (mean loss {100 * answer.whole.lost_part:.1f} %)")
    return lines


def _word(verdict: Property) -> str:
    """Return a verdict in a word or two: a search that finds nothing is no proof, and another thing than no search."""
    if verdict.holds is not None:
        return "yes" if verdict.holds else "no"
    witness = verdict.witness or {}
    if "tried" in witness:
        return "none found"
    return "not searched" if str(witness.get("note", "")).startswith("not searched") else "not decided"


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
        rows.append([name.replace("_", " "), *(_word(answers[m].properties[name]) for m in names)])
    lost = [100 * one.whole.lost_part for one in answers.values() if one.whole]
    if len(lost) == len(names):
        rows.append(["lost to whole tasks", *(f"{part:.1f} %" for part in lost)])
    fits: dict[bool | UnsetType, str] = {
        True: "the tasks fit this cluster",
        False: "the tasks do NOT fit this cluster",
        UNSET: "not decided if they fit",
    }
    ignored = [
        f"{name} ignores {'; '.join(one.ignored)}: {fits[one.feasible]}" for name, one in answers.items() if one.ignored
    ]
    return aligned(rows, right=len(rows[0]) - 1) + ([""] if ignored else []) + ignored


def history_answer(mechanism: str, history: History, cluster: Cluster) -> InMotion:
    """Return a run with users coming and going: tasks of each user, and utilisation, at the end of each period."""
    return encode(
        InMotion,
        history,
        mechanism=mechanism,
        tasks=named(cluster.users, history.tasks.sum(axis=2).T),
        present=named(cluster.users, history.present.T),
        utilisation=_by_server(cluster, lambda i, r: history.utilisation[:, i, r]),
    )


def history_lines(history: History, cluster: Cluster) -> list[str]:
    """Return a run as text: the state whenever the present users changed, and at the end."""
    rows = [["until", *(quoted(user.name) for user in cluster.users)]]
    for k, time in enumerate(history.time):
        # a row where the next period has other users, and one at the end
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
    if "lie" in witness:
        tasks, lying = (float(Fraction(witness[key])) for key in ("tasks", "tasks_by_lying"))
        return f" (user {quoted(witness['user'])} says: {witness['lie']}; tasks {tasks:.4g}, by lying {lying:.4g})"
    if set(witness) <= {"note", "tried"}:
        return f" ({witness['note']})"
    parts = [
        f"{key.replace('_', ' ')} {quoted(value) if key in NAMES_IN_WITNESSES else value}"
        for key, value in witness.items()
        if key != "allocation"
    ]
    return f" ({', '.join(parts)})"


NAMES_IN_WITNESSES = ("user", "envies", "resource")  # fields of witnesses that are names of a file
MOST_PANELS = 8  # server classes and resources that are drawn over time, in file order
MOST_USERS = len(PALETTE) - 1  # users drawn in colours of their own; the others are drawn together


def bars_of(allocation: Allocation, title: str = "") -> Bars:
    """Return a bar for each server and resource, of what each user holds of it."""
    cluster = allocation.cluster
    places = [
        (i, r) for i in range(len(cluster.servers)) for r in range(len(cluster.resources)) if cluster.capacity[i][r]
    ]
    # x_ni d_nir / c_ir: the share of resource r of server i that the tasks of user n take
    shares = np.array(
        [
            [float(row[i] * cluster.use(n, i)[r] / cluster.capacity[i][r]) for i, r in places]
            for n, row in enumerate(allocation.tasks)
        ]
    )
    names = [drawn(user.name) for user in cluster.users]
    # the palette has no more colours: the last one is for all other users
    if len(names) > MOST_USERS:
        shares = np.vstack([shares[: MOST_USERS - 1], shares[MOST_USERS - 1 :].sum(axis=0)])
        names = [*names[: MOST_USERS - 1], f"{len(names) - MOST_USERS + 1} others"]
    return Bars(
        "in use (share)",
        [f"{drawn(cluster.servers[i].name)} {drawn(cluster.resources[r])}" for i, r in places],
        [(name, row.tolist()) for name, row in zip(names, shares, strict=True)],
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
    picture, _ = in_rows(
        [bars_of(allocation) for allocation in allocations], 3, min(6.0, 1.2 + 0.2 * most), alone=COLUMN
    )
    save(picture, path)


@styled
def picture_of_history(history: History, cluster: Cluster, path: str | Path) -> None:
    """Draw utilisation of the first resource by server class, and tasks by user, over time."""
    classes = [i for i, row in enumerate(cluster.capacity) if row[0]]
    time = history.time.tolist()
    used = [
        Curve(drawn(cluster.servers[i].name), time, history.utilisation[:, i, 0].tolist(), look="steps")
        for i in classes
    ]
    tasks = [
        Curve(drawn(user.name), time, history.tasks[:, n].sum(axis=1).tolist(), look="steps")
        for n, user in enumerate(cluster.users[:10])
    ]
    charts = [
        Chart(f"time ({UNIT_OF_THE_FILE})", f"{drawn(cluster.resources[0])} in use (share)", used, ylim=(0, 1.05)),
        Chart(f"time ({UNIT_OF_THE_FILE})", "tasks (number)", tasks, ylim=(0, None)),
    ]
    save(in_rows(charts, 2, 2.6)[0], path)


@styled
def picture_of_histories(histories: Mapping[str, History], cluster: Cluster, path: str | Path) -> None:
    """Draw utilisation over time by mechanism: a panel for each server class and resource, two in a row."""
    charts = [
        Chart(
            f"time ({UNIT_OF_THE_FILE})",
            "in use (share)",
            [
                Curve(name, one.time.tolist(), one.utilisation[:, i, r].tolist(), look="steps")
                for name, one in histories.items()
            ],
            title=f"{drawn(server.name)}, {drawn(cluster.resources[r])}",
            ylim=(0.0, 1.05),
        )
        for i, server in enumerate(cluster.servers)
        for r in range(len(cluster.resources))
        if cluster.capacity[i][r]
    ][:MOST_PANELS]
    save(in_rows(charts, 2, 2.2)[0], path)


MOST_CELLS = 400  # up to this many pairs of user and server the tasks are printed, beyond it what they come to


def numeric_answer(allocation: Allocation, found: Violation, tolerance: float) -> NumericShares:
    """Return numeric shares as an answer; no property is decided of them."""
    cluster = allocation.cluster
    jain, nash = _welfare(allocation)
    undecided = {"holds": None, "witness": {"note": "not decided of numeric shares"}}
    return encode(
        NumericShares,
        allocation,
        found,
        exact=False,
        evidence="numeric",
        tolerance=tolerance,
        violation=found.value,
        tasks=named(cluster.users, allocation.totals),
        allocation={
            user.name: {server.name: x for server, x in zip(cluster.servers, row, strict=True) if x}
            for user, row in zip(cluster.users, allocation.tasks, strict=True)
        },
        utilisation=_by_server(cluster, lambda i, r: allocation.used[i][r] / cluster.capacity[i][r]),
        jain_index=jain,
        nash_welfare=nash,
        properties=dict.fromkeys((*PROPERTIES, "strategy_proofness"), undecided),
        prices=_prices(allocation) if allocation.stages else None,
    )


def _prices(allocation: Allocation) -> list[dict[str, dict[str, float]]]:
    """Return the prices of all stages by name."""
    cluster = allocation.cluster
    return [
        {
            server.name: {r: float(price) for r, price in zip(cluster.resources, row, strict=True) if price}
            for server, row in zip(cluster.servers, stage.prices, strict=True)
            if any(row)
        }
        for stage in allocation.stages
    ]


def _welfare(allocation: Allocation) -> tuple[float, float]:
    """Return Jain's index and Nash welfare in floats: `jain_index` and `nash_welfare` are too slow here."""
    cluster = allocation.cluster
    may, share = eligibility(cluster), shares_of(cluster)
    # tasks that a user could run on the whole of every server that it may use
    alone = np.zeros(len(cluster.users))
    for i in range(len(cluster.servers)):
        largest = share(i).max(axis=1)
        alone += np.divide(1.0, largest, out=np.zeros_like(alone), where=may[:, i])
    weights = np.array([float(weight) for weight in cluster.weights])
    part = np.array([float(x) for x in allocation.totals]) / alone
    weighted = part / weights
    # the weighted geometric mean of the parts, 0 where a user has nothing
    nash = 0.0 if part.min() == 0 else float(np.exp((weights * np.log(part)).sum() / weights.sum()))
    return float(weighted.sum() ** 2 / (len(part) * (weighted**2).sum())), nash


def numeric_lines(allocation: Allocation, answer: NumericShares) -> list[str]:
    """Return numeric shares as text: every user and server of a small cluster, what they come to of a large one."""
    cluster = allocation.cluster
    lines = [
        f"{answer.mechanism} (numeric: feasible exactly, within {answer.violation:.1e} of"
        f" {_conditions(answer.mechanism)}; {answer.tolerance:.1e} asked for)"
    ]
    if answer.user is not None:
        lines.append(_furthest(answer))
    if len(cluster.users) * len(cluster.servers) <= MOST_CELLS:
        lines += sized_lines(allocation, answer.utilisation)
    else:
        tasks = np.array(list(answer.tasks.values()))
        pairs = sum(map(len, answer.allocation.values()))
        lines += [
            f"{len(cluster.users):,} users on {len(cluster.servers):,} server classes, {pairs:,} pairs with tasks",
            "tasks of a user: "
            + ", ".join(f"{word} {np.quantile(tasks, q):.4g}" for word, q in _QUANTILES)
            + " (all of them with --json)",
        ]
        for resource in cluster.resources:
            used = [row[resource] for row in answer.utilisation.values() if resource in row]
            lines.append(f"{quoted(resource)}: in use on a class {100 * min(used):.1f} % to {100 * max(used):.1f} %")
    lines.append(
        f"Jain index {answer.jain_index:.4f}, Nash welfare {answer.nash_welfare:.4f}, "
        + (f"prices of {len(answer.prices)} stages" if answer.prices else f"{answer.rounds:,} rounds")
    )
    return lines


_QUANTILES: Sequence[tuple[str, float]] = (("least", 0.0), ("median", 0.5), ("most", 1.0))


def _conditions(mechanism: str) -> str:
    """Return what the conditions of a mechanism are called."""
    from theory.sharing.mechanisms import MECHANISMS

    return MECHANISMS[mechanism].conditions


def _furthest(answer: CheckedShares | NumericShares) -> str:
    if answer.server is None:
        return f"who might gain most: {quoted(answer.user or '')}"
    return f"furthest from a bottleneck: user {quoted(answer.user or '')} on server {quoted(answer.server)}"


def checked_answer(mechanism: str, division: str, found: Violation, tolerance: float) -> CheckedShares:
    """Return the check of a stored allocation as an answer."""
    return encode(
        CheckedShares,
        found,
        mechanism=mechanism,
        division=division,
        evidence="numeric",
        valid=found.value <= tolerance,
        tolerance=tolerance,
        violation=found.value,
    )


def checked_lines(answer: CheckedShares) -> list[str]:
    """Return the check of a stored allocation as text."""
    if answer.reason is not None:
        return [f"refused: {answer.reason}"]
    far = inf if answer.violation is None else answer.violation
    word = "valid" if answer.valid else "refused"
    lines = [f"{word}: within {far:.3e} of {_conditions(answer.mechanism)}, {answer.tolerance:.3e} allowed"]
    if answer.overload:
        lines.append(f"a server is loaded beyond its capacity, by at most {answer.overload:.3e} of it")
    if answer.user is not None:
        lines.append(_furthest(answer))
    return lines
