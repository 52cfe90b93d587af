"""Whole servers of pools, by the shares that the pools have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor


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
