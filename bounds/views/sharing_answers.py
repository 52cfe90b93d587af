"""The answers of ``packproof share``: exact and numeric allocations, stored ones, users who come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.adversary.sharing import greatest_sum_of_parts, sum_of_parts
from bounds.answers.record import Fields, encode, named
from bounds.answers.sharing import AllShares, CheckedShares, InMotion, NumericShares, Shares
from fluid.limits.sharing import History
from theory.errors import listed
from theory.numbers import total
from theory.sharing.allocation import Allocation, WholeTasks, jain_index, nash_welfare
from theory.sharing.groups import GroupShare, group_shares
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
        utilisation=by_server(cluster, allocation.utilisation),
        jain_index=jain_index(allocation.shares),
        nash_welfare=nash_welfare(allocation),
        properties=properties,
        whole=whole and _whole(allocation, whole),
        price=_price(allocation) if allocation.division == "time" else None,
        ignored=[ignored_in_words(part) for part in ignored] or None,
        feasible=feasible,
        most_tasks=caps_of(cluster) or None,
        groups=holdings_of(allocation),
    )


def all_shares_answer(answers: Mapping[str, Shares]) -> AllShares:
    """Return the answers of mechanisms, by their names, as one."""
    return encode(AllShares, mechanism="all", mechanisms=answers)


MOST_IGNORED = 5  # users whose lines are ignored that are named


def ignored_in_words(part: Ignored) -> str:
    """Name the lines of the file that a mechanism does not use."""
    if part.what == BORDERS:
        return "the borders between servers"
    more = f" and {len(part.users) - MOST_IGNORED:,} more" if len(part.users) > MOST_IGNORED else ""
    field = "servers (placement)" if part.what == PLACEMENT else "effective (capacities)"
    return f"{field} of {listed(part.users[:MOST_IGNORED])}{more}"


def _by_user(cluster: Cluster, tasks: Sequence[Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """Return tasks, shape (N, K), by the names of user and server."""
    return named(cluster.users, [named(cluster.servers, row) for row in tasks])


def caps_of(cluster: Cluster) -> dict[str, Fraction]:
    """Return the caps of the users that have one, by name."""
    return {user.name: user.most_tasks for user in cluster.users if user.most_tasks is not None}


def holdings_of(allocation: Allocation) -> tuple[GroupShare, ...] | None:
    """Return what groups hold; None where no user is in a group."""
    return group_shares(allocation) if allocation.cluster.grouped else None


def by_server(cluster: Cluster, value: Callable[[int, int], Any]) -> dict[str, dict[str, Any]]:
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


def history_answer(mechanism: str, history: History, cluster: Cluster) -> InMotion:
    """Return a run with users coming and going: tasks of each user, and utilisation, at the end of each period."""
    return encode(
        InMotion,
        history,
        mechanism=mechanism,
        tasks=named(cluster.users, history.tasks.sum(axis=2).T),
        present=named(cluster.users, history.present.T),
        utilisation=by_server(cluster, lambda i, r: history.utilisation[:, i, r]),
    )


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
        utilisation=by_server(cluster, lambda i, r: allocation.used[i][r] / cluster.capacity[i][r]),
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
