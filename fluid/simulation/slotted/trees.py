"""A tree of maxima that finds in logarithmic time the first leaf that is large enough.

It stands in one array: leaves from P on, the maximum of everything at 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.jit import routine, step

NOTHING = -(2**62)
"""A leaf that no search finds."""

SMALL = 128
"""Leaves up to which a change goes up to the root: where it could end is a guess that processors often get wrong."""


def new_tree(leaves: int, rows: int | None = None, *, value: int | NDArray[np.int64] = NOTHING) -> NDArray[np.int64]:
    """Make a tree of maxima whose leaves are all of one value, or have one each, or several trees in rows.

    Examples
    --------
    >>> tree = new_tree(5)
    >>> for leaf, value in enumerate((3, 9, 4, 9, 1)): set_leaf(tree, leaf, value)
    >>> [int(first_at_least(tree, start, 4)) for start in (0, 2, 4)]
    [1, 2, -1]
    """
    size = 1
    while size < leaves:
        size *= 2
    tree = np.full((1 if rows is None else rows, 2 * size), NOTHING)
    tree[:, size : size + leaves] = value
    while size > 1:
        tree[:, size // 2 : size] = np.maximum(tree[:, size : 2 * size : 2], tree[:, size + 1 : 2 * size : 2])
        size //= 2
    return tree[0] if rows is None else tree


@routine
def set_leaf(tree: NDArray[np.int64], leaf: int, value: int) -> None:
    """Change the value of a leaf."""
    large = len(tree) > 2 * SMALL
    at = leaf + (len(tree) >> 1)
    tree[at] = value
    at >>= 1
    while at >= 1:
        low, high = tree[2 * at], tree[2 * at + 1]
        most = low if low >= high else high
        if tree[at] == most and large:
            break
        tree[at] = most
        at >>= 1


@step
def first_at_least(tree: NDArray[np.int64], start: int, value: int) -> int:
    """Return the first leaf from `start` on whose value is at least `value`; -1 if there is none."""
    size = len(tree) >> 1
    if start >= size or tree[1] < value:
        return -1
    at = start + size if start > 0 else 1
    while tree[at] < value:
        while at & 1:
            at >>= 1
        if at == 0:
            return -1
        at += 1
    while at < size:
        at *= 2
        if tree[at] < value:
            at += 1
    return at - size
