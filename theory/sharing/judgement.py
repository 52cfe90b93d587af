"""Is an allocation of anybody's fair? What does not fit, which properties it has, who envies whom, how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from theory.numbers import rational, total
from theory.sharing.allocation import Allocation
from theory.sharing.mechanisms import Mechanism
from theory.sharing.model import Cluster, Row
from theory.sharing.properties import MAX_USERS, PROPERTIES, Verdict, decide, envy

OWN = "given"
"""In place of a mechanism, of allocations that no mechanism made."""


@dataclass(frozen=True)
class Overload:
    """A resource of a server class of which the tasks that may run there use more than there is."""

    server: str
    resource: str
    used: Fraction
    capacity: Fraction

    @property
    def over(self) -> Fraction:
        """What is used beyond the capacity."""
        return self.used - self.capacity

    @property
    def part(self) -> Fraction:
        """The same as a part of the capacity."""
        return self.over / self.capacity


@dataclass(frozen=True)
class Misplaced:
    """Tasks of a user on a server class that it may not use, or that lacks what they demand."""

    user: str
    server: str
    tasks: Fraction


@dataclass(frozen=True)
class Unwanted:
    """A user that has more tasks than it wants."""

    user: str
    tasks: Fraction
    most_tasks: Fraction

    @property
    def part(self) -> Fraction:
        """The tasks beyond its cap, as a part of the cap."""
        return self.tasks / self.most_tasks - 1


@dataclass(frozen=True)
class Unwhole:
    """More tasks of a user on a server class than its servers, one by one, hold whole ones of this user alone."""

    user: str
    server: str
    tasks: Fraction
    most_whole: int


@dataclass(frozen=True)
class Envious:
    """A user, and another whose resources, scaled by weight, would run more of its tasks."""

    user: str
    envies: str
    tasks: Fraction
    with_the_other: Fraction

    @property
    def more(self) -> Fraction:
        """The tasks that it would gain."""
        return self.with_the_other - self.tasks


@dataclass(frozen=True)
class Distance:
    """How far the users' tasks are from those by a mechanism.

    Attributes
    ----------
    mechanism : str
    fulfils : bool
        Whether the allocation is itself one that the mechanism defines.
    part : Fraction
        The greatest difference of a user's tasks, as a part of what the user could run alone.
    user : str
        Who is that far.
    totals : tuple of Fraction, length N
        The tasks by the mechanism.
    exact : bool
        Whether these are exact.
    """

    mechanism: str
    fulfils: bool
    part: Fraction
    user: str
    totals: Row
    exact: bool = True


@dataclass(frozen=True)
class Judgement:
    """What is true of an allocation.

    Attributes
    ----------
    allocation : Allocation
        As it was judged: where loads beyond capacity or tasks beyond caps were tolerated, scaled down.
    overloads : tuple of Overload
        As the allocation was given.
    misplaced : tuple of Misplaced
    unwanted : tuple of Unwanted
    feasible : bool
        Whether the tasks fit and are wanted, within the tolerance.
    properties : mapping of str to Verdict
        None is decided of tasks that do not fit.
    gaps : mapping of str to Fraction
        By how much properties fail, as a part of 1; 0 where they hold.
    envious : tuple of Envious
        All pairs, the greatest gain relative to what the other holds first.
    """

    allocation: Allocation
    overloads: tuple[Overload, ...]
    misplaced: tuple[Misplaced, ...]
    unwanted: tuple[Unwanted, ...]
    feasible: bool
    properties: Mapping[str, Verdict]
    gaps: Mapping[str, Fraction]
    envious: tuple[Envious, ...]


def given(cluster: Cluster, tasks: Sequence[Sequence[Fraction]]) -> Allocation:
    """Return tasks, shape (N, K), as an allocation that no mechanism made, under resource division."""
    return Allocation(OWN, cluster, tuple(map(tuple, tasks)))


def judge_given(allocation: Allocation, tolerance: Fraction = Fraction(0)) -> Judgement:
    """Judge an allocation under resource division, in rationals.

    Parameters
    ----------
    allocation : Allocation
    tolerance : Fraction
        Loads beyond capacity, and tasks beyond a cap, by at most this part of it are scaled down, and properties that
        fail by at most this count as held.

    Notes
    -----
    What fails by how much: the sharing incentive by (u - x) / u where x are the tasks of a user and u those of the
    uniform allocation, or with groups x is the share of a group and u its part by weight; envy-freeness by (v - x) / v
    where v is what the user would run with the other's resources; Pareto optimality by the sum over users of what they
    can gain without a loss to anybody, as parts of what each could run alone; the fairness of a resource by (f - a) / f
    of amount a and fair amount f.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> pair = cluster([[3], [1]], [[1], [1]])
    >>> judged = judge_given(given(pair, [[Fraction(2), Fraction(0)], [Fraction(1), Fraction(1)]]))
    >>> judged.feasible, [name for name, one in judged.properties.items() if not one.holds]
    (True, [])
    >>> judge_given(given(pair, [[Fraction(4), Fraction(0)], [Fraction(0), Fraction(1)]])).overloads[0].over
    Fraction(1, 1)
    """
    over, misplaced, unwanted = overloads(allocation), misplaced_tasks(allocation), unwanted_tasks(allocation)
    beyond = [*(one.part for one in over), *(one.part for one in unwanted)]
    feasible = not misplaced and all(part <= tolerance for part in beyond)
    if not feasible:
        unfit = over or misplaced
        reason = {"note": "the tasks do not fit the servers of the cluster" if unfit else "some tasks are not wanted"}
        undecided = {name: Verdict(None, reason) for name in PROPERTIES}
        return Judgement(allocation, over, misplaced, unwanted, False, undecided, {}, ())
    scaled = _without(_scaled_down(allocation, over), unwanted)
    verdicts = decide(scaled)
    gaps = {name: gap_of(name, one, scaled.cluster) for name, one in verdicts.items() if one.holds is not None}
    for name, gap in gaps.items():
        if 0 < gap <= tolerance:
            verdicts[name] = Verdict(True, {"note": f"fails by {float(gap):.1e}, which is tolerated"})
    return Judgement(scaled, over, misplaced, unwanted, True, verdicts, gaps, envious_users(scaled))


def overloads(allocation: Allocation) -> tuple[Overload, ...]:
    """Return where the tasks that may run on a server class use more than it has, the worst part of it first."""
    cluster, found = allocation.cluster, []
    for i, server in enumerate(cluster.servers):
        used = [Fraction(0)] * len(cluster.resources)
        for n, row in enumerate(allocation.tasks):
            if row[i] and cluster.monopoly[n][i]:
                used = [amount + row[i] * need for amount, need in zip(used, cluster.use(n, i), strict=True)]
        for resource, amount, capacity in zip(cluster.resources, used, cluster.capacity[i], strict=True):
            if amount > capacity:
                found.append(Overload(server.name, resource, amount, capacity))
    return tuple(sorted(found, key=lambda one: -one.part))


def misplaced_tasks(allocation: Allocation) -> tuple[Misplaced, ...]:
    """Return the tasks on server classes where they cannot run."""
    cluster = allocation.cluster
    return tuple(
        Misplaced(user.name, server.name, x)
        for user, row, alone in zip(cluster.users, allocation.tasks, cluster.monopoly, strict=True)
        for server, x, most in zip(cluster.servers, row, alone, strict=True)
        if x and not most
    )


def unwanted_tasks(allocation: Allocation) -> tuple[Unwanted, ...]:
    """Return the users that have more tasks than they want."""
    return tuple(
        Unwanted(user.name, x, user.most_tasks)
        for user, x in zip(allocation.cluster.users, allocation.totals, strict=True)
        if user.most_tasks is not None and x > user.most_tasks
    )


def unwhole_tasks(allocation: Allocation) -> tuple[Unwhole, ...]:
    """Return where a class holds a number of tasks as a whole that its servers do not hold one by one.

    The model divides resources, and a class of equal servers is one of all their capacity. A number of tasks with a
    fraction is named only where no server holds even one task.

    Examples
    --------
    >>> from theory.sharing.model import Cluster, ServerClass, User
    >>> two = Cluster(("memory",), (ServerClass("a", (Fraction(64),), 2),), (User("u", (Fraction(100),)),))
    >>> unwhole_tasks(given(two, [[Fraction(1)]]))[0].most_whole
    0
    """
    cluster = allocation.cluster
    return tuple(
        Unwhole(user.name, server.name, x, most)
        for user, row, alone in zip(cluster.users, allocation.tasks, cluster.monopoly, strict=True)
        for server, x, together in zip(cluster.servers, row, alone, strict=True)
        if together and x > (most := server.count * floor(together / server.count)) and (x.denominator == 1 or not most)
    )


def _without(allocation: Allocation, unwanted: Sequence[Unwanted]) -> Allocation:
    """Return an allocation in which users who have more tasks than they want have their caps."""
    if not unwanted:
        return allocation
    rows = zip(allocation.cluster.users, allocation.tasks, allocation.totals, strict=True)
    tasks = tuple(tuple(x * user.wanted(has) / has if has else x for x in row) for user, row, has in rows)
    return replace(allocation, tasks=tasks)


def _scaled_down(allocation: Allocation, over: Sequence[Overload]) -> Allocation:
    """Return an allocation with fewer tasks on servers that are loaded beyond their capacity, so that they fit."""
    if not over:
        return allocation
    load = {one.server: 1 + one.part for one in reversed(over)}  # the greatest of a server comes last
    scale = [1 / load.get(server.name, Fraction(1)) for server in allocation.cluster.servers]
    tasks = tuple(tuple(x * part for x, part in zip(row, scale, strict=True)) for row in allocation.tasks)
    return replace(allocation, tasks=tasks)


def gap_of(name: str, verdict: Verdict, cluster: Cluster) -> Fraction:
    """Return by how much a property fails, from its witness: see `judge_given`; 0 where it holds."""
    if verdict.holds:
        return Fraction(0)
    witness = verdict.witness or {}
    if name == "pareto_optimality":
        alone = {user.name: total(row) for user, row in zip(cluster.users, cluster.monopoly, strict=True)}
        return total(rational(gain) / alone[user] for user, gain in witness["gains"].items())
    has, due = {
        "sharing_incentive": ("share", "due") if "due" in witness else ("tasks", "uniform"),
        "envy_freeness": ("tasks", "with_the_other"),
        "bottleneck_fairness": ("amount", "fair_amount"),
        "single_resource_fairness": ("amount", "fair_amount"),
    }[name]
    return 1 - rational(witness[has]) / rational(witness[due])


def envious_users(allocation: Allocation) -> tuple[Envious, ...]:
    """Return who envies whom, the greatest gain relative to what the other holds first; none beyond `MAX_USERS`.

    None with groups, where envy is not defined. O(N^2 K R).
    """
    users, totals = allocation.cluster.users, allocation.totals
    if len(users) > MAX_USERS or allocation.cluster.grouped:
        return ()
    pairs = [
        Envious(user.name, other.name, totals[n], value)
        for n, user in enumerate(users)
        for m, other in enumerate(users)
        if m != n and (value := envy(allocation, n, m)) > totals[n]
    ]
    return tuple(sorted(pairs, key=lambda pair: pair.tasks / pair.with_the_other))


def distance(allocation: Allocation, mechanism: Mechanism) -> Distance:
    """Return how far the tasks of users are from those that a mechanism gives them.

    PS-DSF may define several allocations under resource division: ``fulfils`` is decided by its own conditions, and the
    distance is from the one that is computed. The other mechanisms define the users' tasks.

    Examples
    --------
    >>> from theory.sharing.mechanisms import MECHANISMS
    >>> from theory.sharing.model import cluster
    >>> mine = given(cluster([[4]], [[1], [1]]), [[Fraction(3)], [Fraction(1)]])
    >>> far = distance(mine, MECHANISMS["drf"])
    >>> far.fulfils, far.part
    (False, Fraction(1, 4))
    """
    cluster = allocation.cluster
    theirs = mechanism(cluster)
    parts = [
        abs(x - y) / total(row) for x, y, row in zip(allocation.totals, theirs.totals, cluster.monopoly, strict=True)
    ]
    worst = max(range(len(parts)), key=lambda n: parts[n])
    # a mechanism that updates server by server has conditions at the servers, which need nothing but the tasks
    same = replace(allocation, division=theirs.division)
    fulfils = mechanism.check(same) if mechanism.updates_by_server else not parts[worst] and theirs.exact
    return Distance(mechanism.name, fulfils, parts[worst], cluster.users[worst].name, theirs.totals, theirs.exact)
