"""Two searches in logarithmic time: the first leaf that is large enough, and the server of least residual.

A tree of maxima stands in one array: leaves from P on, the maximum of everything at 1. The servers by residual capacity
stand in a treap, a search tree by (residual, number) whose shape depends on what it holds and not on how it came about:
equal contents are equal arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.jit import routine, step

NOTHING = -(2**62)
"""A leaf that no search finds."""


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
    at = leaf + (len(tree) >> 1)
    tree[at] = value
    at >>= 1
    while at >= 1:
        low, high = tree[2 * at], tree[2 * at + 1]
        most = low if low >= high else high
        if tree[at] == most:
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


@step
def least_at_least(values: NDArray[np.int64], least: int) -> int:
    """Return the first index of the smallest value that is at least `least`, -1 if there is none; all are looked at.

    Examples
    --------
    >>> [int(least_at_least(np.array([7, 4, 9, 4]), least)) for least in (3, 5, 10)]
    [1, 0, -1]
    """
    found, smallest = -1, -NOTHING
    for i in range(len(values)):
        better = least <= values[i] < smallest
        smallest = values[i] if better else smallest
        found = i if better else found
    return found


def new_treap(nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make an empty treap of nodes 0, 1, ..., nodes - 1.

    Returns
    -------
    treap : int64[nodes, 4]
        Key, left and right child, and rank of each node.
    root : int64[1]

    Examples
    --------
    >>> treap, root = new_treap(3)
    >>> for node, key in enumerate((7, 2, 7)): add_node(treap, root, node, key)
    >>> [int(least_node(treap, root, key)) for key in (1, 3, 8)]
    [1, 0, -1]
    >>> remove_node(treap, root, 0)
    >>> int(least_node(treap, root, 3))
    2
    """
    treap = np.full((nodes, 4), -1)
    treap[:, 3] = np.random.default_rng(nodes).permutation(nodes)
    return treap, np.full(1, -1)


@step
def _before(treap: NDArray[np.int64], a: int, b: int) -> bool:
    return treap[a, 0] < treap[b, 0] or (treap[a, 0] == treap[b, 0] and a < b)


@step
def _hang(treap: NDArray[np.int64], root: NDArray[np.int64], above: int, side: int, node: int) -> None:
    if above < 0:
        root[0] = node
    else:
        treap[above, side] = node


@routine
def add_node(treap: NDArray[np.int64], root: NDArray[np.int64], node: int, key: int) -> None:
    """Put a node that is not in the treap there under a key."""
    treap[node, 0] = key
    above, side, at = -1, 1, root[0]
    while at >= 0 and treap[at, 3] > treap[node, 3]:
        above = at
        side = 1 if _before(treap, node, at) else 2
        at = treap[at, side]
    _hang(treap, root, above, side, node)
    treap[node, 1] = -1
    treap[node, 2] = -1
    low, low_side, high, high_side = node, 1, node, 2
    while at >= 0:
        if _before(treap, at, node):
            treap[low, low_side] = at
            low, low_side = at, 2
            at = treap[at, 2]
        else:
            treap[high, high_side] = at
            high, high_side = at, 1
            at = treap[at, 1]
    treap[low, low_side] = -1
    treap[high, high_side] = -1


@routine
def remove_node(treap: NDArray[np.int64], root: NDArray[np.int64], node: int) -> None:
    """Take a node out of the treap."""
    above, side, at = -1, 1, root[0]
    while at != node:
        above = at
        side = 1 if _before(treap, node, at) else 2
        at = treap[at, side]
    low, high = treap[node, 1], treap[node, 2]
    while low >= 0 and high >= 0:
        if treap[low, 3] > treap[high, 3]:
            _hang(treap, root, above, side, low)
            above, side = low, 2
            low = treap[low, 2]
        else:
            _hang(treap, root, above, side, high)
            above, side = high, 1
            high = treap[high, 1]
    _hang(treap, root, above, side, low if low >= 0 else high)
    treap[node, 0] = -1
    treap[node, 1] = -1
    treap[node, 2] = -1


@step
def least_node(treap: NDArray[np.int64], root: NDArray[np.int64], key: int) -> int:
    """Return the first node, by key and then number, whose key is at least `key`; -1 if there is none."""
    best, at = -1, root[0]
    while at >= 0:
        if treap[at, 0] >= key:
            best = at
            at = treap[at, 1]
        else:
            at = treap[at, 2]
    return best
