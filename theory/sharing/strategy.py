"""Strategy-proofness: looking for a lie about demands or servers that pays."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from theory.errors import quoted
from theory.numbers import text, total
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster, User
from theory.sharing.properties import Verdict

Mechanism = Callable[[Cluster], Allocation]


@dataclass(frozen=True)
class Lie:
    """A misreport and what it brings."""

    user: int
    report: User
    honest: Fraction  # tasks that the user can run without the lie
    lying: Fraction  # and with it


def utility_under(cluster: Cluster, n: int, report: User, allocation: Allocation) -> Fraction:
    """Return the tasks user `n` really runs with the resources that `report` brings it (formula (46)).

    Each reported task brings the reported demand; what lies on a server it cannot really use is worth nothing, and
    neither are tasks that the user does not really want.
    """
    value = Fraction(0)
    honest = cluster.users[n].demand
    rate = min(said / need for said, need in zip(report.demand, honest, strict=True) if need)
    for i, x in enumerate(allocation.tasks[n]):
        if x and cluster.monopoly[n][i]:
            value += x * rate
    return cluster.users[n].wanted(value)


def misreports(cluster: Cluster, n: int, rounds: int, generator: random.Random) -> Iterator[User]:
    """Yield lies of user `n`: no cap, fewer or other servers, then demands raised alone, in pairs, and at random.

    Only demands at least the true ones are worth trying: scaling a report changes nothing, so the least ratio of
    reported to true demand may be taken as one. Each lie comes once, and the truth, which such reports may be, never.
    """
    user = cluster.users[n]
    reported = {(user.demand, user.servers, user.most_tasks)}
    for report in _reports(cluster, n, rounds, generator):
        if (told := (report.demand, report.servers, report.most_tasks)) not in reported:
            reported.add(told)
            yield report


def _reports(cluster: Cluster, n: int, rounds: int, generator: random.Random) -> Iterator[User]:
    """Yield what `misreports` tries, with repetitions."""
    user = cluster.users[n]
    yield replace(user, most_tasks=None)
    names = [server.name for server in cluster.servers]
    eligible = [name for name, gamma in zip(names, cluster.monopoly[n], strict=True) if gamma]
    if len(eligible) > 1:  # fewer servers: every choice of few, else one server, or all but one
        sizes = range(1, len(eligible)) if len(eligible) <= 6 else (1, len(eligible) - 1)
        for size in sizes:
            for chosen in combinations(eligible, size):
                yield replace(user, servers=chosen)
    if user.servers is not None and len(user.servers) < len(names):  # more servers than it can use
        yield replace(user, servers=None)
        for name in names:
            if name not in user.servers:
                yield replace(user, servers=(*user.servers, name))
    capacities = [total(column) for column in zip(*cluster.capacity, strict=True)]
    dominant = max(d / c for d, c in zip(user.demand, capacities, strict=True) if d)
    goal = [dominant * c for c in capacities]  # at which each resource would be as scarce as the dominant one
    factors = [Fraction(k, 4) for k in (1, 2, 3, 4, 6, 8)]  # below 1 the dominant resource stays what it is
    resources = range(len(capacities))
    for raised in (*combinations(resources, 1), *combinations(resources, 2)):
        for factor in factors:
            yield _raised(user, {r: factor * goal[r] for r in raised})
    for _ in range(rounds):
        yield _raised(user, {r: goal[r] * Fraction(generator.randint(0, 32), 16) for r in range(len(capacities))})


def search_lies(
    mechanism: Mechanism, cluster: Cluster, *, rounds: int = 20, seed: int = 0, users: range | None = None
) -> tuple[Lie | None, int]:
    """Search for the most profitable lie.

    Parameters
    ----------
    mechanism : callable
        From a cluster to an allocation.
    rounds : int
        Random demands to try for each user, beyond the systematic ones.
    users : range, optional
        Who may lie; all where left out.

    Returns
    -------
    lie : Lie or None
        Verified exactly: both allocations are exact. None if no lie in the search pays.
    tried : int
        How many misreports were evaluated. That none pays proves nothing beyond them.
    """
    honest = mechanism(cluster)
    generator = random.Random(seed)
    best: Lie | None = None
    tried = 0
    if not honest.exact:
        return None, 0
    for n in range(len(cluster.users)) if users is None else users:
        for report in misreports(cluster, n, rounds, generator):
            told = cluster.with_user(n, report)
            if not any(told.monopoly[n]):
                continue
            tried += 1
            answer = mechanism(told)
            if not answer.exact:
                continue
            value = utility_under(cluster, n, report, answer)
            gain = value - honest.totals[n]
            if gain > 0 and (best is None or value / honest.totals[n] > best.lying / best.honest):
                best = Lie(n, report, honest.totals[n], value)
    return best, tried


def strategy_proofness(mechanism: Mechanism, cluster: Cluster, *, rounds: int = 20, seed: int = 0) -> Verdict:
    """Return a profitable lie as witness, or ``holds`` None with the bound of the search.

    A witness of ``holds`` None has ``tried``, the number of misreports, where a search was made.

    Examples
    --------
    >>> from theory.sharing import cluster, drf
    >>> strategy_proofness(drf, cluster([[9, 18]], [[1, 4], [3, 1]]), rounds=2)
    Verdict(holds=None, witness={'note': 'no profitable lie among 21 misreports tried', 'tried': 21})
    """
    if not mechanism(cluster).exact:
        return Verdict(None, {"note": "not searched: the allocation is numeric, not exact"})
    lie, tried = search_lies(mechanism, cluster, rounds=rounds, seed=seed)
    if lie is None:
        return Verdict(None, {"note": f"no profitable lie among {tried} misreports tried", "tried": tried})
    report, user = lie.report, cluster.users[lie.user]
    servers = [server.name for server in cluster.servers] if report.servers is None else list(report.servers)
    is_named = report.servers is not None or report.servers != user.servers
    return Verdict(
        False,
        {
            "user": report.name,
            "lie": lie_in_words(cluster, lie),
            "reported_demand": {
                name: text(value) for name, value in zip(cluster.resources, report.demand, strict=True)
            },
            **({"reported_servers": servers} if is_named else {}),
            "tasks": text(lie.honest),
            "tasks_by_lying": text(lie.lying),
        },
    )


def lie_in_words(cluster: Cluster, lie: Lie) -> str:
    """Return what a report says that is not true: demands, servers, the cap, or several of them.

    Examples
    --------
    >>> from theory.sharing import cluster
    >>> two = cluster([[9], [18]], [[1], [3]], eligible=[[True, False], [True, True]])
    >>> lie_in_words(two, Lie(0, replace(two.users[0], servers=None), Fraction(1), Fraction(2)))
    'may run on all servers'
    """
    report, user = lie.report, cluster.users[lie.user]
    words = [
        f"demands {text(said)} of {quoted(name)} instead of {text(true)}"
        for name, said, true in zip(cluster.resources, report.demand, user.demand, strict=True)
        if said != true
    ]
    if report.servers != user.servers:
        some = "all servers" if report.servers is None else f"{', '.join(map(quoted, report.servers))} alone"
        words.append(f"may run on {some}")
    if report.most_tasks != user.most_tasks:
        words.append("wants any number of tasks")
    return " and ".join(words)


def _raised(user: User, demand: dict[int, Fraction]) -> User:
    return replace(user, demand=tuple(max(d, demand.get(r, d)) for r, d in enumerate(user.demand)))
