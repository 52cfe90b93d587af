"""What groups of users hold of a cluster, beside the part of it that their weights are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theory.numbers import total
from theory.sharing.allocation import Allocation


@dataclass(frozen=True)
class GroupShare:
    """What a group holds.

    Attributes
    ----------
    group : str
        Its name; of a user without a group, that of the user.
    weight : Fraction
    users : tuple of str
    share : Fraction
        The greatest part of a resource of all servers together that its users hold.
    due : Fraction
        Its part of the weights of all groups.
    is_satisfied : bool
        Whether all its users have the tasks that they want.
    """

    group: str
    weight: Fraction
    users: tuple[str, ...]
    share: Fraction
    due: Fraction
    is_satisfied: bool


def group_shares(allocation: Allocation) -> tuple[GroupShare, ...]:
    """Return what each group holds, in the order of their first users; O(N K R).

    Examples
    --------
    >>> from theory.sharing.dominant import drf
    >>> from theory.sharing.model import cluster
    >>> one = drf(cluster([[10, 10]], [[0, 1], [1, 0], [0, 1]], groups=[None, "both", "both"]))
    >>> [(each.group, str(each.share), str(each.due)) for each in group_shares(one)]
    [('u1', '1/2', '1/2'), ('both', '1', '1/2')]
    """
    cluster = allocation.cluster
    weights = total(group.weight for group, _ in cluster.members)
    capacity = [total(column) for column in zip(*cluster.capacity, strict=True)]
    shares = []
    for group, users in cluster.members:
        held = [Fraction(0)] * len(capacity)
        for n in users:
            for i, x in enumerate(allocation.tasks[n]):
                if x:
                    held = [have + x * use for have, use in zip(held, cluster.use(n, i), strict=True)]
        share = max(have / c if c else Fraction(0) for have, c in zip(held, capacity, strict=True))
        satisfied = all(cluster.users[n].is_at_cap(allocation.totals[n]) for n in users)
        names = tuple(cluster.users[n].name for n in users)
        shares.append(GroupShare(group.name, group.weight, names, share, group.weight / weights, satisfied))
    return tuple(shares)
