"""Is an allocation hierarchical DRF? Decided from its tasks alone, stop by stop, without an algorithm of filling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.sharing.checks import is_feasible_allocation
from theory.sharing.model import Cluster

Tasks = Sequence[Sequence[Fraction]]
Moment = tuple[Fraction, Fraction]
"""When a group is served: the level P of all groups; then, among those that wait at P, what they hold, else -1."""

BEFORE_THOSE_THAT_WAIT = Fraction(-1)


@dataclass
class _Group:
    """What a group holds while its users rise to the height t: ``stopped[r] + t * rising[r]`` of each resource r."""

    weight: Fraction
    users: list[int]  # those that still rise
    height: Fraction
    stopped: list[Fraction]
    rising: list[Fraction]

    def waits_at(self, is_open: Sequence[bool]) -> Fraction:
        """Return the level that it has by resources that its rising users do not take: it rises at no lower level."""
        pairs = zip(self.stopped, self.rising, is_open, strict=True)
        return max((held for held, rate, able in pairs if able and not rate), default=Fraction(0)) / self.weight

    def holds(self, height: Fraction) -> Fraction:
        """Return its weighted dominant share at a height, of the resources that its rising users take."""
        pairs = zip(self.stopped, self.rising, strict=True)
        return max(held + height * rate for held, rate in pairs if rate) / self.weight

    def arrives(self, height: Fraction, is_open: Sequence[bool]) -> Moment:
        """Return when it comes to a height."""
        wait, holds = self.waits_at(is_open), self.holds(height)
        return (holds, BEFORE_THOSE_THAT_WAIT) if holds > wait else (wait, holds)

    def height_at(self, moment: Moment, is_open: Sequence[bool]) -> Fraction:
        """Return the greatest height that it has come to at a moment; none is lost."""
        level, among_waiting = moment
        wait = self.waits_at(is_open)
        if wait > level:
            return self.height
        held = among_waiting if wait == level else level
        pairs = zip(self.stopped, self.rising, strict=True)
        return max(self.height, min((held * self.weight - stopped) / rate for stopped, rate in pairs if rate))


def is_hierarchical_drf(cluster: Cluster, tasks: Tasks) -> bool:
    """Decide whether an allocation of one server class is hierarchical DRF of its groups.

    Parameters
    ----------
    cluster : Cluster
        Of one class of servers.
    tasks : rational, shape (N, 1)

    Notes
    -----
    The tasks say at which height, a weighted dominant share, each user stopped. So the first stop of all is known, and
    from its moment the heights of all groups then. It is right if then a user has what it wants, or a resource is
    saturated, and all who demand that resource have stopped. Then comes the next stop. O(N^2 R).
    The definition is on the page on fair shares in the documentation.

    Examples
    --------
    >>> from theory.sharing.model import cluster
    >>> both = cluster([[10, 10]], [[0, 1], [1, 0], [0, 1]], groups=[None, "both", "both"])
    >>> is_hierarchical_drf(both, [[5], [10], [5]]), is_hierarchical_drf(both, [[6], [10], [4]])
    (True, False)
    """
    if not is_feasible_allocation(cluster, tasks):
        return False
    totals = [sum(row, Fraction(0)) for row in tasks]
    (capacity,) = cluster.capacity
    able = [n for n, row in enumerate(cluster.monopoly) if row[0]]
    speed = {n: cluster.weights[n] * cluster.monopoly[n][0] for n in able}  # tasks at a weighted dominant share of 1
    share = {n: [use / c if use else use for use, c in zip(cluster.use(n, 0), capacity, strict=True)] for n in able}
    stop = {n: totals[n] / speed[n] for n in able}
    none = [Fraction(0)] * len(capacity)
    groups = [
        _Group(group.weight, [n for n in users if n in speed], Fraction(0), none, none)
        for group, users in cluster.members
    ]
    is_open = [True] * len(capacity)
    while groups := [group for group in groups if group.users]:
        for group in groups:
            group.rising = _sums(speed, share, group.users, len(capacity))
        if not _rise([(group, min(stop[n] for n in group.users)) for group in groups], is_open):
            return False
        has = {n: group.height * speed[n] for group in groups for n in group.users}
        used = _sums([has.get(n, x) for n, x in enumerate(totals)], share, able, len(capacity))
        if max(used) > 1:
            return False
        blocked = {n for n in has if any(d and u == 1 for d, u in zip(share[n], used, strict=True))}
        stopped = {n for n in has if n in blocked or (has[n] == totals[n] and cluster.users[n].is_at_cap(has[n]))}
        if not stopped or any(has[n] != totals[n] for n in stopped):
            return False
        for group in groups:
            more = _sums(totals, share, [n for n in group.users if n in stopped], len(capacity))
            group.stopped = [held + new for held, new in zip(group.stopped, more, strict=True)]
            group.users = [n for n in group.users if n not in stopped]
        is_open = [u < 1 for u in used]
    return True


def _rise(groups: Sequence[tuple[_Group, Fraction]], is_open: Sequence[bool]) -> bool:
    """Move groups to their heights when the first of them comes to its next stop; False if none has one above it."""
    # a user may be at its height before it is blocked: then its group waits, or what the user has is wrong
    moments = [group.arrives(stop, is_open) for group, stop in groups if stop > group.height]
    if not moments:
        return False
    for group, _ in groups:
        group.height = group.height_at(min(moments), is_open)
    return True


def _sums(
    amount: Sequence[Fraction] | dict[int, Fraction], share: dict[int, list[Fraction]], users: Sequence[int], width: int
) -> list[Fraction]:
    """Return the sum over users of an amount of each times its share of each resource, length R."""
    return [sum((amount[n] * share[n][r] for n in users), Fraction(0)) for r in range(width)]
