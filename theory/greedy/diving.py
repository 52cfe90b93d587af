"""A packing of few items by diving: the program of configurations is rounded a little, and solved for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from theory.greedy.cover import Cover
from theory.instance import Configuration, additive

MOST_ITEMS = 60
"""Items of a list that is packed so: a program is solved about as often as there are bins, at most some seconds."""


def dived(
    capacity: Sequence[int], sizes: Sequence[Sequence[int]], counts: Sequence[int]
) -> list[tuple[Configuration, int]]:
    """Return bins with the items in them, few of them, as configurations and their numbers.

    Parameters
    ----------
    capacity : sequence of int, shape (R,)
        Of a bin.
    sizes : sequence of sequence of int, shape (J, R)
    counts : sequence of int, shape (J,)
        Items of each size.

    Notes
    -----
    The program is that of the least (fractional) number of bins for what is left. Of its configurations those used at
    least once are taken as often as the amount says, rounded down, or else the one that is used most, once; then the
    program is solved for the rest. A heuristic whose packing is feasible by construction: it holds just the items.

    Examples
    --------
    >>> dived([12, 10], [[5, 1], [7, 6]], [2, 2])
    [((1, 1), 2)]
    """
    need, bins = list(counts), dict[Configuration, int]()
    while any(need):
        kinds = [j for j, number in enumerate(need) if number]
        rest = additive(list(capacity), [list(sizes[j]) for j in kinds])
        cover = Cover(rest, [need[j] for j in kinds])
        vertex = cover.multiple([1])
        used = sorted(((amount, k) for _, k, amount in cover.columns.amounts(vertex.primal)), reverse=True)
        for place, (amount, k) in enumerate(used):
            times = floor(amount / vertex.objective)  # the part of a bin that carries a part of the items
            if place and not times:
                break
            by_kind = dict(zip(kinds, k, strict=True))
            for _ in range(max(1, times)):
                taken = tuple(min(by_kind.get(j, 0), number) for j, number in enumerate(need))
                if any(taken):
                    bins[taken] = bins.get(taken, 0) + 1
                    need = [number - part for number, part in zip(need, taken, strict=True)]
    return list(bins.items())
