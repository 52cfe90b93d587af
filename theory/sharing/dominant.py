"""DRF on one pool of servers, of users and of groups of users, by progressive filling in rationals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.numbers import total
from theory.sharing.allocation import Allocation
from theory.sharing.model import Cluster, Group, Row, occupation

Level = tuple[Fraction, Fraction]
"""Of a group: its weighted dominant share among resources that are not saturated, and among those that it still takes.

Groups are served in the order of the first number, where it is equal in the order of the second.
"""


@dataclass(frozen=True)
class _Task:
    """What fills the tasks of one user.

    Attributes
    ----------
    share : tuple of Fraction, length R
        Of the pool that one task takes.
    speed : Fraction
        Tasks at a weighted dominant share of 1.
    most : Fraction, optional
        The tasks that the user wants.
    """

    share: Row
    speed: Fraction
    most: Fraction | None


@dataclass
class _Filling:
    """A group whose users are being filled.

    Attributes
    ----------
    weight : Fraction
    rising : list of int
        Its users that still rise, all at one weighted dominant share.
    held : list of Fraction, length R
        The share of each resource that its users hold, whether they still rise or not.
    rate : list of Fraction, length R
        What they take of each resource while the weighted dominant share of those who rise grows by 1.
    """

    weight: Fraction
    rising: list[int]
    held: list[Fraction]
    rate: list[Fraction]

    def level(self, free: Sequence[Fraction]) -> Level:
        """Return what the group is served by; saturated resources do not count."""
        taken = max(held for held, rate in zip(self.held, self.rate, strict=True) if rate)
        return max(held for held, left in zip(self.held, free, strict=True) if left) / self.weight, taken / self.weight

    def pace(self, level: Fraction) -> Fraction:
        """Return how fast its users rise while the second number of its level, which is `level`, grows by 1."""
        top = level * self.weight
        return self.weight / max(rate for held, rate in zip(self.held, self.rate, strict=True) if rate and held == top)


def drf(cluster: Cluster) -> Allocation:
    """Return weighted DRF on the servers pooled into one; of groups of users, hierarchical DRF.

    Placement constraints and the borders between servers are ignored: what DRF would give if they did not exist.

    Notes
    -----
    Progressive filling: all rise at one weighted dominant share; who demands a resource that saturates stops, and so
    does who has the tasks that it wants. Source: PS-DSF paper, Definition 1, formulas (2)-(4).

    Users of a group rise together in the same way. Groups rise at one weighted dominant share of what all their users
    hold, of the resources that are not saturated. Once a resource saturates these shares may differ, and the lowest
    group rises first. Source: Bhattacharya et al. 2013, as tasks become small; where that leaves open which of several
    lowest groups rises, the one that holds least of the resources that it still takes does.

    A user without a group is a group of its own. There are at most R + N stops, and without groups no other events.
    Between two stops each group changes its dominant resource fewer than R times, and comes to the lowest once. An
    event takes O(N R).

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> [str(x) for x in drf(cluster([[9, 18]], [[1, 4], [3, 1]])).totals]
    ['3', '2']
    >>> demands = [[0, 1], [1, 0], [0, 1]]  # the second user and the third are of one group
    >>> [str(x) for x in drf(cluster([[10, 10]], demands, groups=[None, "both", "both"])).totals]
    ['5', '10', '5']
    """
    Cluster.expected(cluster)
    pool = cluster.pooled()
    tasks, groups, kinds = _start(pool)
    free = [Fraction(1)] * len(pool.resources)
    while groups:
        levels = [group.level(free) for group in groups]
        lowest = min(levels)
        risers = [(one, one.pace(lowest[1])) for one, level in zip(groups, levels, strict=True) if level == lowest]
        height = min(_ends(lowest, levels, risers, free, tasks, kinds))
        for group, pace in risers:
            step = height * pace
            for n in group.rising:
                tasks[n] += step * kinds[n].speed
            group.held = [held + step * rate for held, rate in zip(group.held, group.rate, strict=True)]
            free = [left - step * rate for left, rate in zip(free, group.rate, strict=True)]
        groups = _still_rising(groups, free, tasks, kinds)
    return Allocation("drf", pool, tuple((x,) for x in tasks))


def _start(pool: Cluster) -> tuple[list[Fraction], list[_Filling], dict[int, _Task]]:
    """Return no tasks, the groups before any is filled, and what fills the users that can run tasks."""
    rows = [shares[0] for shares in occupation(pool).shares]
    kinds = {
        n: _Task(row, user.weight / max(row), user.most_tasks)
        for n, (user, row) in enumerate(zip(pool.users, rows, strict=True))
        if row is not None
    }
    none = [Fraction(0)] * len(pool.resources)
    # users who share each for itself rise together, so all are filled as one group
    members = pool.members if pool.grouped else [(Group("all"), range(len(pool.users)))]
    groups = [_Filling(group.weight, [n for n in users if n in kinds], none, none) for group, users in members]
    tasks = [Fraction(0)] * len(pool.users)
    return tasks, _still_rising(groups, [Fraction(1)] * len(none), tasks, kinds), kinds


def _ends(
    lowest: Level,
    levels: Sequence[Level],
    risers: Sequence[tuple[_Filling, Fraction]],
    free: Sequence[Fraction],
    tasks: Sequence[Fraction],
    kinds: Mapping[int, _Task],
) -> Iterator[Fraction]:
    """Yield by how much the level of the lowest groups may grow until something changes: see the cases."""
    # a resource saturates
    for r, left in enumerate(free):
        if rate := total(pace * group.rate[r] for group, pace in risers):
            yield left / rate
    for group, pace in risers:
        # a user has the tasks that it wants
        for n in group.rising:
            if (most := kinds[n].most) is not None:
                yield (most - tasks[n]) / kinds[n].speed / pace
        # another resource becomes dominant in the group: what it holds of it grows faster than the level
        for held, rate in zip(group.held, group.rate, strict=True) if len(levels) > 1 else ():
            if pace * rate > group.weight and held < lowest[1] * group.weight:
                yield (lowest[1] * group.weight - held) / (pace * rate - group.weight)
    # another group is as low: its first number is reached, or is equal, and then its second one is
    for level in levels:
        if level > lowest:
            yield level[level[0] == lowest[0]] - lowest[1]


def _still_rising(
    groups: Sequence[_Filling], free: Sequence[Fraction], tasks: Sequence[Fraction], kinds: Mapping[int, _Task]
) -> list[_Filling]:
    """Return the groups in which users still rise: below their caps, and with no demand for a saturated resource."""
    saturated = [r for r, left in enumerate(free) if not left]
    for group in groups:
        group.rising = [
            n for n in group.rising if tasks[n] != kinds[n].most and not any(kinds[n].share[r] for r in saturated)
        ]
        group.rate = [total(kinds[n].speed * kinds[n].share[r] for n in group.rising) for r in range(len(free))]
    return [group for group in groups if group.rising]
