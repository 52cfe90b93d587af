"""Whole servers of pools, by the shares that the pools have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

TRIED = 1000
"""Most numbers of servers that are tried, one after another, for the first that is enough."""


def apportion(servers: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Split servers over pools by their shares, largest remainders first (ties: earlier pool).

    >>> apportion(10, [Fraction(1, 3), Fraction(2, 3)])
    (3, 7)
    """
    servers_of_pool = [floor(servers * share) for share in shares]
    remainders = sorted(range(len(shares)), key=lambda p: servers_of_pool[p] - servers * shares[p])
    for p in remainders[: servers - sum(servers_of_pool)]:
        servers_of_pool[p] += 1
    return tuple(servers_of_pool)


def most_apportioned(servers: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Bound from above, pool by pool, how `apportion` splits any number up to the given one.

    Notes
    -----
    With two pools one more server takes none from a pool: the first has its share rounded to the nearest number. Of
    P > 2 pools those with the k largest remainders get one server more, and the remainders sum to k. The last of them
    has at least the remainder of P - k others, and the k - 1 before it are below 1, so its own is at least 1/P.

    Examples
    --------
    >>> most_apportioned(5, [Fraction(7, 8), Fraction(1, 8)]), apportion(5, [Fraction(7, 8), Fraction(1, 8)])
    ((4, 1), (4, 1))
    """
    if len(shares) < 3:
        return apportion(servers, shares)
    return tuple(floor(servers * share + 1 - Fraction(1, len(shares))) for share in shares)


def fewest_holding(needed: Sequence[int | Fraction], shares: Sequence[Fraction]) -> int:
    """Return the least number of servers of which `apportion` gives each pool what it needs.

    If there are more than `TRIED` numbers to try, which takes three pools of unlike shares, it is the least of the last
    ones below the number of which the shares, rounded down, are enough.

    Examples
    --------
    >>> fewest_holding([4, 1], [Fraction(7, 8), Fraction(1, 8)])
    5
    """
    above = max(ceil(number / share) for number, share in zip(needed, shares, strict=True))
    margin = 1 - Fraction(1, len(shares))
    below = max(ceil((number - margin) / share) for number, share in zip(needed, shares, strict=True))
    for servers in range(max(below, above - TRIED, 0), above):
        if all(have >= number for have, number in zip(apportion(servers, shares), needed, strict=True)):
            return servers
    return above
