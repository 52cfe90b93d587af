"""A tree of maxima: the first leaf that is large enough, in logarithmic time.

The tree is one array of 2P numbers, P a power of two: the leaves are at P, P + 1, ..., the children of the node at i
are at 2i and 2i + 1, and every node holds the maximum of its children, so the root at 1 holds the largest leaf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.compiled import routine, step

NOTHING = -(2**62)
"""The value of a leaf that no search may find."""


def new_tree(leaves: int, rows: int | None = None, *, value: int | NDArray[np.int64] = NOTHING) -> NDArray[np.int64]:
    """Make a tree of maxima.

    Parameters
    ----------
    leaves : int
    rows : int, optional
        Number of trees of this size, one a row; a single tree without a row where it is left out.
    value : int or int64[leaves]
        Of all leaves, or of each.

    Returns
    -------
    int64[2P] or int64[rows, 2P]
        P is the least power of two that is at least `leaves`.

    Examples
    --------
    >>> tree = new_tree(5)
    >>> for leaf, value in enumerate((3, 9, 4, 8, 1)): set_leaf(tree, leaf, value)
    >>> [int(first_at_least(tree, start, 4)) for start in (0, 2, 4)]
    [1, 2, -1]
    >>> set_leaf(tree, 0, NOTHING)
    >>> int(close_up(tree)), int(first_at_least(tree, 0, 4))
    (4, 0)
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


@step
def leaf_value(tree: NDArray[np.int64], leaf: int) -> int:
    """Return the value of a leaf."""
    return int(tree[(len(tree) >> 1) + leaf])


@routine
def set_leaf(tree: NDArray[np.int64], leaf: int, value: int) -> None:
    """Change the value of a leaf."""
    at = leaf + (len(tree) >> 1)
    tree[at] = value
    at >>= 1
    # up to the root, even where a maximum stays as it was: where that is, processors guess too often in vain
    while at >= 1:
        low, high = tree[2 * at], tree[2 * at + 1]
        tree[at] = low if low >= high else high
        at >>= 1


@step
def first_at_least(tree: NDArray[np.int64], start: int, value: int) -> int:
    """Return the first leaf from `start` on whose value is at least `value`; -1 if there is none."""
    size = len(tree) >> 1
    if start >= size or tree[1] < value:
        return -1
    at = start + size if start > 0 else 1
    # every leaf from `start` on that lies before those below this node is too small
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


@routine
def close_up(tree: NDArray[np.int64]) -> int:
    """Move the values of all leaves, those that hold `NOTHING` apart, to the first ones; return how many there are."""
    size, used = len(tree) >> 1, 0
    for leaf in range(size):
        value = tree[size + leaf]
        tree[size + leaf] = NOTHING
        if value != NOTHING:
            tree[size + used] = value
            used += 1
    for at in range(size - 1, 0, -1):
        low, high = tree[2 * at], tree[2 * at + 1]
        tree[at] = low if low >= high else high
    return used
