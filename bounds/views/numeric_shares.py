"""``packproof share --tolerance``: numeric shares of large clusters, and the check of a stored allocation."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from bounds.views.sharing import Property, sized_lines
from bounds.views.text import Answer
from theory.errors import quoted
from theory.sharing.allocation import Allocation
from theory.sharing.model import eligibility
from theory.sharing.properties import PROPERTIES
from theory.sharing.violation import Violation, shares_of

MOST_CELLS = 400
"""Up to this many pairs of user and server the tasks are printed, beyond it what they come to."""


class NumericShares(Answer, frozen=True):
    """Shares within a tolerance; tasks and allocation are totals over a server class, zeros left out of allocation.

    Prices, of mechanisms that are max-min fair in one number a user, are by stage, server and resource, of the whole of
    each resource; zeros are left out.
    """

    mechanism: str
    division: str
    exact: bool
    evidence: str
    tolerance: float
    violation: float
    user: str | None
    server: str | None
    rounds: int | None
    interrupted: bool
    tasks: dict[str, float]
    allocation: dict[str, dict[str, float]]
    utilisation: dict[str, dict[str, float]]
    jain_index: float
    nash_welfare: float
    properties: dict[str, Property]
    prices: list[dict[str, dict[str, float]]] | None


class CheckedShares(Answer, frozen=True):
    """How far a stored allocation is from the conditions of its mechanism (null: no tolerance excuses it)."""

    mechanism: str
    division: str
    evidence: str
    valid: bool
    tolerance: float
    violation: float | None
    overload: float | None
    bottleneck: float | None
    user: str | None
    server: str | None
    reason: str | None


def numeric_answer(allocation: Allocation, found: Violation, tolerance: float) -> NumericShares:
    """Return numeric shares as an answer; no property is decided of them."""
    cluster = allocation.cluster
    servers = [server.name for server in cluster.servers]
    users = [user.name for user in cluster.users]
    jain, nash = _welfare(allocation)
    undecided = Property(holds=None, witness={"note": "not decided of numeric shares"})
    return NumericShares(
        mechanism=allocation.mechanism,
        division=allocation.division,
        exact=False,
        evidence="numeric",
        tolerance=tolerance,
        violation=found.value,
        user=found.user,
        server=found.server,
        rounds=allocation.rounds,
        interrupted=allocation.interrupted,
        tasks=dict(zip(users, map(float, allocation.totals), strict=True)),
        allocation={
            user: {server: float(x) for server, x in zip(servers, row, strict=True) if x}
            for user, row in zip(users, allocation.tasks, strict=True)
        },
        utilisation={
            server: {
                resource: float(used / c)
                for resource, used, c in zip(cluster.resources, row, capacity, strict=True)
                if c
            }
            for server, row, capacity in zip(servers, allocation.used, cluster.capacity, strict=True)
        },
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
    alone = np.zeros(len(cluster.users))
    for i in range(len(cluster.servers)):
        largest = share(i).max(axis=1)
        alone += np.divide(1.0, largest, out=np.zeros_like(alone), where=may[:, i])
    weights = np.array([float(weight) for weight in cluster.weights])
    part = np.array([float(x) for x in allocation.totals]) / alone
    weighted = part / weights
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
        held = sum(map(len, answer.allocation.values()))
        lines += [
            f"{len(cluster.users):,} users on {len(cluster.servers):,} server classes, {held:,} pairs with tasks",
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


def _furthest(answer: NumericShares | CheckedShares) -> str:
    if answer.server is None:
        return f"who might gain most: {quoted(answer.user or '')}"
    return f"furthest from a bottleneck: user {quoted(answer.user or '')} on server {quoted(answer.server)}"


def checked_answer(mechanism: str, division: str, found: Violation, tolerance: float) -> CheckedShares:
    """Return the check of a stored allocation as an answer."""
    overload, bottleneck, value = (x if isfinite(x) else None for x in (found.overload, found.bottleneck, found.value))
    return CheckedShares(
        mechanism=mechanism,
        division=division,
        evidence="numeric",
        valid=found.value <= tolerance,
        tolerance=tolerance,
        violation=value,
        overload=overload,
        bottleneck=bottleneck,
        user=found.user,
        server=found.server,
        reason=found.reason,
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
