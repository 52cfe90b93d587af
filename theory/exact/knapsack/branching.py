"""Branch and bound for the configuration of greatest weight, compiled: depth first, bounded by prices of resources.

Nothing here grows with the capacities, so resources may stand on grids far too fine for a table (`knapsack`). What a
free capacity can still hold of the types that are left is bounded by any prices p >= 0 of the resources at which every
such type costs at least its weight: ``p'free``. The best such prices depend on the free capacity; those that have cut
off a branch are remembered, and the least of what they bound is taken (all that a linear program could say, without
one at every node).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel, routine, step

BITS = 45
"""Weights of configurations stay below 2 to this power, where a margin of `MARGIN` is less than one unit."""

MARGIN = 2.0**-46
"""Relative margin of bounds in floats, several times their rounding errors, so that they are safe."""

ROUNDING = 1e-9
"""How far a quotient in floats is moved, relative and absolute, before it becomes a bound of a number of slots."""

REMEMBERED = 24
"""Most prices that are remembered for the types from one place on."""

TRIES = 200
"""Most linear programs at nodes of one depth."""

EARLY = 5_000
"""Linear programs of a hundred types that are solved whatever the number of nodes; beyond, one counts as n nodes."""

LARGEST = 2**62
"""Largest capacity."""

DONE, FULL, STOPPED = 0, 1, 2
"""The tree is searched, no more rows can be written, and the nodes are spent."""

DEPTH, ENTERED, TARGET, NODES, SOLVED = 0, 1, 2, 3, 4
"""Places of `Tree.place`."""


class Tree(NamedTuple):
    """A search over n types, in the order in which they are branched on, that can go on where it stopped.

    `prices[i]` bound what the types from place i on are worth, `number[i]` of them; `tries[i]` counts the linear
    programs solved there. Before place i, `free[i]` is left of the capacity and `value[i]` is reached. `slots` are the
    jobs of each type now, from `least` to `most`. `place` holds depth, whether its node is new, target, nodes and
    linear programs so far; linear programs are solved in `tableau`, float64[R + 1, n + R + 1].
    """

    demands: NDArray[np.int64]
    weights: NDArray[np.int64]
    prices: NDArray[np.float64]
    number: NDArray[np.int64]
    tries: NDArray[np.int64]
    free: NDArray[np.int64]
    value: NDArray[np.int64]
    slots: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    place: NDArray[np.int64]
    tableau: NDArray[np.float64]


def new_tree(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[np.int64], places: int | None = None
) -> Tree:
    """Return a search with prices for every place, or for the first `places` only.

    Capacities, int64[R], are positive and at most `LARGEST`; every type fits alone; no configuration is worth
    2**`BITS`.
    """
    n, width = demands.shape
    tree = Tree(
        demands,
        weights,
        prices=np.zeros((n + 1, REMEMBERED, width)),
        number=np.zeros(n + 1, np.int64),
        tries=np.zeros(n + 1, np.int64),
        free=np.zeros((n, width), np.int64),
        value=np.zeros(n, np.int64),
        slots=np.zeros(n, np.int64),
        least=np.zeros(n, np.int64),
        most=np.zeros(n, np.int64),
        place=np.zeros(5, np.int64),
        tableau=np.zeros((width + 1, n + width + 1)),
    )
    _first_prices(tree, capacity, n if places is None else places)
    return tree


def begin(tree: Tree, capacity: NDArray[np.int64], target: int, *, short: bool = False) -> None:
    """Begin a search for what a capacity holds that is worth more than the target.

    Prices that are remembered stay, as they hold for any capacity. A short search solves few linear programs.
    """
    n = len(tree.weights)
    tree.free[0], tree.value[0] = capacity, 0
    tree.tries[:] = 0
    tree.place[:] = 0, 1, target, 0, 1 + 100 * EARLY // n if short else 0


def explored(tree: Tree) -> float:
    """Estimate which part of the tree is searched, as if the branches of a node were equal: positive, at most 1.

    The estimate is more often too large, since what is searched first is cut off sooner.
    """
    part, done = 1.0, 0.0
    for i in range(int(tree.place[DEPTH]) + 1):
        branches = max(1, int(tree.most[i] - tree.least[i]) + 1)
        done += part * min(branches, max(0, int(tree.most[i] - tree.slots[i]))) / branches
        part /= branches
    return min(1.0, max(done, 1e-12))


@routine
def advance(tree: Tree, rows: NDArray[np.int64], most: int, rising: bool) -> tuple[int, int]:
    """Search on, and write configurations that are worth more than the target to `rows`, types in the tree's order.

    Return `DONE`, `FULL` (no row is left) or `STOPPED` (after `most` nodes), and the number of rows written. If
    `rising`, the target rises to the value of each configuration that is written; otherwise all above it are written to
    which no job of the last type can be added. O(n R) memory; a node takes O(R) for each of the prices remembered.
    Slots of a type are tried from many to few, so configurations come in decreasing lexicographic order.
    """
    # Invariant: slots of the places before `depth` are fixed, free[depth] and value[depth] are what they leave and are
    # worth; slots of place `depth` run from most to least; those behind are not chosen yet.
    n, width = tree.demands.shape
    depth, entered, stop = tree.place[DEPTH], tree.place[ENTERED], tree.place[NODES] + most
    written = 0
    while True:
        if entered:
            if tree.place[NODES] >= stop:
                tree.place[DEPTH], tree.place[ENTERED] = depth, 1
                return STOPPED, written
            tree.place[NODES] += 1
            _bound_slots(tree, depth)
            tree.slots[depth] = tree.most[depth]
        else:
            tree.slots[depth] -= 1
        if tree.slots[depth] < tree.least[depth]:  # the node is done: back to the one above
            tree.slots[depth] = 0
            depth -= 1
            entered = 0
            if depth < 0:
                return DONE, written
            continue
        value = tree.value[depth] + tree.slots[depth] * tree.weights[depth]
        if depth < n - 1:
            for r in range(width):
                tree.free[depth + 1, r] = tree.free[depth, r] - tree.slots[depth] * tree.demands[depth, r]
            tree.value[depth + 1] = value
            depth += 1
            entered = 1
            continue
        entered = 0
        if value > tree.place[TARGET]:
            if written == len(rows):
                tree.slots[depth] += 1  # these slots are looked at again
                tree.place[DEPTH], tree.place[ENTERED] = depth, 0
                return FULL, written
            for i in range(n):
                rows[written, i] = tree.slots[i]
            written += 1
            if rising:
                tree.place[TARGET] = value
        tree.slots[depth] = tree.least[depth]  # fewer of the last type are worth no more


@step
def _bound_slots(tree: Tree, depth: int) -> None:
    """Set the least and the most slots of a type with which the target may be passed; none: the most is less."""
    width = tree.demands.shape[1]
    # what fits
    low, high = np.int64(0), np.int64(LARGEST)
    for r in range(width):
        if tree.demands[depth, r] > 0:
            high = min(high, tree.free[depth, r] // tree.demands[depth, r])
    need = float(tree.place[TARGET] + 1 - tree.value[depth])
    if _cut_by_new_prices(tree, depth, need):
        high = np.int64(-1)
    v = 0
    while v < tree.number[depth + 1] and low <= high:
        # s slots of the type can pass the target only if s w + p'(free - s d) >= need, that is, s gain >= lack
        bound, cost = 0.0, 0.0
        for r in range(width):
            bound += tree.prices[depth + 1, v, r] * tree.free[depth, r]
            cost += tree.prices[depth + 1, v, r] * tree.demands[depth, r]
        lack = need - bound * (1.0 + MARGIN)
        gain = tree.weights[depth] - cost
        if lack > 0.0:  # a least number of slots, if the type is worth more than its cost
            if gain * (high + 1) < lack:
                high = np.int64(-1)
            else:
                low = max(low, np.int64(np.ceil(lack / gain * (1.0 - ROUNDING) - ROUNDING)))
        elif gain < 0.0 and gain * (high + 1) < lack:  # a greatest number: each slot loses
            high = min(high, np.int64(np.floor(lack / gain * (1.0 + ROUNDING) + ROUNDING)))
        v += 1
    tree.least[depth], tree.most[depth] = low, high


@step
def _cut_by_new_prices(tree: Tree, depth: int, need: float) -> bool:
    """Return whether a linear program shows that a node does not pass the target; remember its prices if so."""
    n, width = tree.demands.shape
    number = tree.number[depth]
    if depth == n - 1 or number == REMEMBERED or tree.tries[depth] == TRIES:
        return False
    if tree.place[SOLVED] * n > tree.place[NODES] + 100 * EARLY:
        return False
    tree.tries[depth] += 1
    tree.place[SOLVED] += 1
    if not _solve(tree, depth, tree.free[depth]):
        return False
    bound = 0.0
    for r in range(width):
        bound += tree.prices[depth, number, r] * tree.free[depth, r]
    if bound * (1.0 + MARGIN) >= need:
        return False
    tree.number[depth] += 1
    return True


@kernel
def _first_prices(tree: Tree, capacity: NDArray[np.int64], places: int) -> None:
    tree.number[tree.weights.size] = 1  # no types are worth nothing
    for i in range(places):
        if _solve(tree, i, capacity):
            tree.number[i] = 1


@routine
def _solve(tree: Tree, first: int, free: NDArray[np.int64]) -> bool:
    """Write prices that bound the types from place `first` on, best for a free capacity, after those remembered.

    The simplex method in floats, on ``max w'k`` with ``D'k <= free``, proposes prices. Raised until every type costs
    its weight, they bound whatever the rounding was. Return False if there are none, as where a resource is all taken.
    """
    n, width = tree.demands.shape
    m = n - first
    top = 0.0
    for j in range(first, n):
        top = max(top, float(tree.weights[j]))
    price = tree.prices[first, tree.number[first]]
    if top == 0.0:
        price[:] = 0.0
        return True
    table = tree.tableau
    table[:, : m + width + 1] = 0.0
    for r in range(width):
        unit = max(1.0, float(free[r]))
        for j in range(m):
            table[r, j] = tree.demands[first + j, r] / unit
        table[r, m + r] = 1.0
        table[r, m + width] = free[r] / unit
    for j in range(m):
        table[width, j] = -tree.weights[first + j] / top
    for _ in range(20 + 4 * width):
        if not _pivot(table, width, m + width):
            break
    # the multipliers of the resources are the reduced costs of their slacks
    for r in range(width):
        price[r] = max(0.0, table[width, m + r]) * top / max(1.0, float(free[r]))
    # raised by the greatest w_j / p'd_j > 1 they cover every type, whatever was rounded
    short = 1.0
    for j in range(first, n):
        cost = 0.0
        for r in range(width):
            cost += price[r] * tree.demands[j, r]
        if tree.weights[j] > 2.0 * cost:
            return False
        if tree.weights[j] > 0:
            short = max(short, tree.weights[j] / cost)
    for r in range(width):
        price[r] *= short * (1.0 + 2.0**-50)
    return True


@step
def _pivot(table: NDArray[np.float64], rows: int, right: int) -> bool:
    """Take a step of the simplex method; return False at an optimum, or where floats see no step."""
    enter, low = -1, -1e-12
    for j in range(right):
        if table[rows, j] < low:
            enter, low = j, table[rows, j]
    if enter < 0:
        return False
    leave, ratio = -1, np.inf
    for r in range(rows):
        if table[r, enter] > 1e-11 and table[r, right] < ratio * table[r, enter]:
            leave, ratio = r, table[r, right] / table[r, enter]
    if leave < 0:
        return False
    pivot = table[leave, enter]
    for j in range(right + 1):
        table[leave, j] /= pivot
    for r in range(rows + 1):
        factor = table[r, enter]
        if r != leave and factor != 0.0:
            for j in range(right + 1):
                table[r, j] -= factor * table[leave, j]
    return True
