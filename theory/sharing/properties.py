"""Decisions whether an allocation has a property, with a witness where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.numbers import text, total
from theory.sharing.allocation import Allocation, Stage
from theory.sharing.groups import group_shares
from theory.sharing.maxmin import load_program, max_min_tasks, unscaled
from theory.sharing.model import Cluster, Matrix, Occupation, occupation


@dataclass(frozen=True)
class Verdict:
    """Whether a property holds.

    Attributes
    ----------
    holds : bool or None
        None if it was not decided.
    witness : dict, optional
        What shows that it fails, or why the property says nothing here; exact numbers are text.
    """

    holds: bool | None
    witness: dict[str, Any] | None = None


def sharing_incentive(allocation: Allocation) -> Verdict:
    """Decide whether every user runs at least the tasks of the uniform allocation.

    User n owns phi_n / sum phi of every server: x_n >= phi_n / sum_m phi_m * sum_i gamma_{n,i}, or the tasks that it
    wants where these are fewer. The witness is the user furthest below. O(N K).

    With groups it is decided of groups: each holds at least the part of a resource, of all servers together, that its
    weight is of those of all groups, or all its users have the tasks that they want. The witness is the group furthest
    below. O(N K R).
    """
    cluster = allocation.cluster
    if cluster.grouped:
        return _incentive_of_groups(allocation)
    weights = total(cluster.weights)
    rows = zip(cluster.users, cluster.monopoly, strict=True)
    uniform = [user.wanted(user.weight / weights * total(row)) for user, row in rows]
    n = _furthest_below(allocation, uniform)
    if n is None:
        return Verdict(True)
    return Verdict(
        False, {"user": cluster.users[n].name, "tasks": text(allocation.totals[n]), "uniform": text(uniform[n])}
    )


def _incentive_of_groups(allocation: Allocation) -> Verdict:
    below = [one for one in group_shares(allocation) if one.share < one.due and not one.is_satisfied]
    if not below:
        return Verdict(True)
    worst = min(below, key=lambda one: one.share / one.due)
    return Verdict(False, {"group": worst.group, "share": text(worst.share), "due": text(worst.due)})


def _furthest_below(allocation: Allocation, goals: Sequence[Fraction]) -> int | None:
    """Return the user furthest below its goal, relative to it as tasks have no common unit; None if none is below."""
    below = [n for n, x in enumerate(allocation.totals) if x < goals[n]]
    return min(below, key=lambda n: allocation.totals[n] / goals[n]) if below else None


def envy(allocation: Allocation, n: int, m: int) -> Fraction:
    """Return the tasks user `n` could run with what user `m` holds, scaled by phi_n / phi_m (formula (25)).

    What `m` holds on servers that `n` may not use is worth nothing to `n`, and tasks beyond its cap are neither.
    """
    cluster = allocation.cluster
    value = Fraction(0)
    for i, x in enumerate(allocation.tasks[m]):
        if x and cluster.monopoly[n][i]:
            # with what one task of m takes, n runs as many tasks as its scarcest resource there allows
            pairs = zip(cluster.use(m, i), cluster.use(n, i), strict=True)
            value += x * min(held / need for held, need in pairs if need)
    return cluster.users[n].wanted(value * cluster.weights[n] / cluster.weights[m])


def worst_envy(allocation: Allocation) -> tuple[int, int, Fraction] | None:
    """Return the user that envies most, whom, and the tasks it could run with what that one holds; None without envy.

    Envy is measured relative to a user's own tasks. O(N^2 K R). InputError for groups: weights of users of different
    groups do not compare.
    """
    allocation.cluster.refuse_groups("envy of users")
    worst: tuple[int, int, Fraction] | None = None
    totals = allocation.totals
    for n, x in enumerate(totals):
        for m in range(len(totals)):
            other = envy(allocation, n, m) if m != n else x
            if other > x and (worst is None or x * worst[2] < totals[worst[0]] * other):
                worst = (n, m, other)
    return worst


def envy_freeness(allocation: Allocation) -> Verdict:
    """Decide whether no user prefers another's resources, scaled by weight; the witness envies most. O(N^2 K R)."""
    users = allocation.cluster.users
    worst = worst_envy(allocation)
    if worst is None:
        return Verdict(True)
    n, m, other = worst
    return Verdict(
        False,
        {
            "user": users[n].name,
            "envies": users[m].name,
            "tasks": text(allocation.totals[n]),
            "with_the_other": text(other),
        },
    )


def pareto_optimality(allocation: Allocation) -> Verdict:
    """Decide by a linear program whether no user can gain without a loss to another.

    Maximise the sum of gains (relative to what each could run alone) over feasible tasks with no user below its present
    total, or above its cap; the allocation is Pareto optimal if and only if the optimum is 0. The witness is the better
    allocation.
    Feasible means under the allocation's own division.
    """
    table = occupation(allocation.cluster, allocation.division)
    better = efficiency(table, allocation.totals)
    if isinstance(better, Stage):
        return Verdict(True)
    cluster = allocation.cluster
    totals = [total(row) for row in better]
    return Verdict(
        False,
        {
            "gains": {
                user.name: text(new - old)
                for user, new, old in zip(cluster.users, totals, allocation.totals, strict=True)
                if new != old
            },
            "allocation": _named(cluster, better),
        },
    )


def efficiency(table: Occupation, totals: Sequence[Fraction]) -> Matrix | Stage:
    """Return feasible tasks, shape (N, K), that give all users at least `totals` and one more; or a proof of none.

    The proof is a stage of prices at which the task of every user below its cap has a positive value, and costs that or
    more wherever it may run. What is feasible costs at most the sum of prices, and that is what `totals` are worth: so
    nobody gains unless another one loses.
    """
    width, load_rows = table.width, len(table.shares[0]) * table.width
    alone = [total(table.monopoly(n, i) for i in range(len(rows))) for n, rows in enumerate(table.shares)]
    # maximise the sum of x_n / alone_n, where none is below the present one
    least = [x / most for x, most in zip(totals, alone, strict=True)]
    program, pairs = load_program(table, alone, least, gain=1, caps=True)
    vertex = program.solve()
    if vertex.objective > total(least):
        return unscaled(table, alone, pairs, vertex.primal)
    price = vertex.dual
    return Stage(
        tuple(tuple(price[row : row + width]) for row in range(0, load_rows, width)),
        tuple((1 - price[load_rows + n]) / most for n, most in enumerate(alone)),
    )


def bottleneck_resource(cluster: Cluster) -> int | None:
    """Return a resource that every user demands dominantly from every eligible class, or None.

    With effective capacities there is none: users' amounts of it cannot be compared.
    """
    if any(user.effective for user in cluster.users):
        return None
    for r in range(len(cluster.resources)):
        # r is dominant at a class where it alone limits the tasks: gamma_{n,i} = c_{i,r} / d_{n,r}
        if all(
            user.demand[r] and capacity[r] == gamma * user.demand[r]
            for user, gammas in zip(cluster.users, cluster.monopoly, strict=True)
            for gamma, capacity in zip(gammas, cluster.capacity, strict=True)
            if gamma
        ):
            return r
    return None


def bottleneck_fairness(allocation: Allocation) -> Verdict:
    """Decide whether the amounts of the bottleneck resource are weighted max-min fair, if there is one.

    The fair amounts come from the repeated linear programs of `max_min_tasks`. The witness is the user furthest below
    its fair amount.
    """
    r = bottleneck_resource(allocation.cluster)
    if r is None:
        return Verdict(True, {"note": "no resource is dominant for every user at every eligible server"})
    return _max_min_amounts(allocation, r)


def single_resource_fairness(allocation: Allocation) -> Verdict:
    """Decide, on a cluster of one resource, whether its amounts are weighted max-min fair."""
    if len(allocation.cluster.resources) > 1 or bottleneck_resource(allocation.cluster) is None:
        return Verdict(True, {"note": "more than one resource"})
    return _max_min_amounts(allocation, 0)


def _max_min_amounts(allocation: Allocation, r: int) -> Verdict:
    cluster = allocation.cluster
    cluster.refuse_groups("the fairness of a resource")
    # the weighted amount of r is x_n d_{n,r} / phi_n, so it is max-min fair in x_n for the unit phi_n / d_{n,r}
    table = occupation(cluster, allocation.division)
    fair, _ = max_min_tasks(table, [user.weight / user.demand[r] for user in cluster.users])
    shares = [total(row) for row in fair]
    n = _furthest_below(allocation, shares)
    if n is None:
        return Verdict(True)
    demand = cluster.users[n].demand[r]
    return Verdict(
        False,
        {
            "resource": cluster.resources[r],
            "user": cluster.users[n].name,
            "amount": text(allocation.totals[n] * demand),
            "fair_amount": text(shares[n] * demand),
        },
    )


def decide(allocation: Allocation) -> dict[str, Verdict]:
    """Decide the five properties of an allocation; strategy-proofness belongs to the mechanism (`search_lies`).

    An allocation that is not exact leaves them undecided, and so do clusters of more than `MAX_PAIRS` pairs of user and
    class (the linear programs) or `MAX_USERS` users (envy). With groups two are decided: see `WITH_GROUPS`.

    Examples
    --------
    >>> from theory.sharing import cluster, tsf
    >>> figure1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    >>> {name: verdict.holds for name, verdict in decide(tsf(figure1)).items() if not verdict.holds}
    {'bottleneck_fairness': False}
    """
    if not allocation.exact:
        reason = {"note": "the allocation is numeric, not exact"}
        return {name: Verdict(None, reason) for name in PROPERTIES}
    users, servers = len(allocation.cluster.users), len(allocation.cluster.servers)
    verdicts = {}
    for name, decision in PROPERTIES.items():
        # envy compares all pairs of users in rationals; the others but sharing incentive solve exact linear programs
        if allocation.cluster.grouped and name not in WITH_GROUPS:
            reason = {"note": "not defined with groups: users of different groups do not compare"}
            verdicts[name] = Verdict(None, reason)
        elif users > MAX_USERS and decision is envy_freeness:
            verdicts[name] = Verdict(None, {"note": f"not decided beyond {MAX_USERS} users"})
        elif users * servers > MAX_PAIRS and decision not in {sharing_incentive, envy_freeness}:
            verdicts[name] = Verdict(None, {"note": f"not decided beyond {MAX_PAIRS} pairs of user and server class"})
        else:
            verdicts[name] = decision(allocation)
    return verdicts


MAX_PAIRS, MAX_USERS = 10_000, 500
"""Limits of `decide`."""

WITH_GROUPS = frozenset({"sharing_incentive", "pareto_optimality"})
"""The properties that are defined where users are in groups; the first is then one of groups."""


PROPERTIES = {
    "sharing_incentive": sharing_incentive,
    "envy_freeness": envy_freeness,
    "pareto_optimality": pareto_optimality,
    "bottleneck_fairness": bottleneck_fairness,
    "single_resource_fairness": single_resource_fairness,
}


def _named(cluster: Cluster, tasks: Matrix) -> dict[str, dict[str, str]]:
    return {
        user.name: {server.name: text(x) for server, x in zip(cluster.servers, row, strict=True) if x}
        for user, row in zip(cluster.users, tasks, strict=True)
    }
