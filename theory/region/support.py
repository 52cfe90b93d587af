"""The support function of the region of an average server: what it is worth at given prices, and where."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from theory.exact.knapsack import max_weight
from theory.instance import Configuration, Instance


class Support:
    """The greatest value of the region ``sum over pools of share x conv K`` at integer prices, never enumerating.

    Shares are written as whole numbers of servers out of `servers`, so that points and values are integers.

    Parameters
    ----------
    instance : Instance
        Its pools are used; neither rewards nor workload.

    Attributes
    ----------
    servers : int
        The least number of servers of which every pool's share is whole.
    multiplicity : tuple of int, length P
        Servers of each pool out of `servers`.

    Examples
    --------
    >>> from theory.instance import pooled
    >>> support = Support(pooled([(1, [3]), (2, [2])], [[2], [3]]))
    >>> support.servers, support([1, 2])
    (3, (4, ((0, 1), (1, 0))))
    """

    def __init__(self, instance: Instance) -> None:
        shares = [pool.share for pool in instance.pools]
        self.servers = lcm(*(share.denominator for share in shares))
        self.multiplicity = tuple(int(share * self.servers) for share in shares)
        self.spaces = tuple(pool.space for pool in instance.pools)

    def __call__(self, prices: Sequence[int]) -> tuple[int, tuple[Configuration, ...]]:
        """Return the greatest value over `servers` servers, and the configuration of each pool that attains it.

        A negative price keeps its type out, as may be done because everything below a configuration is feasible. Ties
        go to more slots of the first type that differs, so the configurations add up to a vertex of the region.
        """
        types = [j for j, price in enumerate(prices) if price >= 0]
        weights = [max(0, price) for price in prices]
        best = tuple(max_weight(space, weights, types) for space in self.spaces)
        worth = sum(
            m * sum(a * b for a, b in zip(weights, k, strict=True) if b)
            for m, k in zip(self.multiplicity, best, strict=True)
        )
        return worth, best

    def value(self, prices: Sequence[Fraction | int]) -> Fraction:
        """Return the greatest value on one average server at prices that may be rational, at least 0."""
        scale = lcm(*(price.denominator for price in prices))
        whole = [price.numerator * (scale // price.denominator) for price in prices]
        return Fraction(self(whole)[0], scale * self.servers)

    def point(self, configurations: Sequence[Configuration]) -> tuple[int, ...]:
        """Return the slots of each type on `servers` servers in the given configuration of each pool."""
        return tuple(
            sum(m * slots for m, slots in zip(self.multiplicity, column, strict=True))
            for column in zip(*configurations, strict=True)
        )
