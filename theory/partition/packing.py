"""Items packed into whole bins: First-Fit Decreasing on counted sizes, an upper bound of the bins that they need."""

from __future__ import annotations

from collections.abc import Sequence


def first_fit_decreasing(sizes: Sequence[int], counts: Sequence[int], capacity: int) -> int:
    """Return the bins that First-Fit Decreasing uses for counted items of one resource.

    Parameters
    ----------
    sizes : sequence of int, length J
        From 1 to `capacity`.
    counts : sequence of int, length J
        Items of each size.
    capacity : int

    Notes
    -----
    At most 11/9 of the least number of bins, and 6/9 more (Dosa, "The tight bound of First Fit Decreasing", 2007).
    Neighbouring bins that hold the same are one group. A size splits one group into three and opens two at most, so
    there are at most 4 J groups and time is O(J^2), whatever the counts.

    Examples
    --------
    >>> first_fit_decreasing([6, 5, 4], [2, 2, 2], 10), first_fit_decreasing([1], [10**12], 3)
    (3, 333333333334)
    """
    groups: list[tuple[int, int]] = []  # bins in the order in which they were opened: (free, how many)
    for size, count in sorted(zip(sizes, counts, strict=True), reverse=True):
        left, after = count, []
        for free, bins in groups:
            each = free // size
            full = min(bins, left // each) if each else 0
            rest = left - full * each if each and full < bins else 0
            after += [(free - each * size, full)] if full else []
            after += [(free - rest * size, 1)] if rest else []
            alone = bins - full - (rest > 0)
            after += [(free, alone)] if alone else []
            left -= full * each + rest
        each = capacity // size
        after += [(capacity - each * size, left // each)] if left >= each else []
        after += [(capacity - left % each * size, 1)] if left % each else []
        groups = after
    return sum(bins for _, bins in groups)
