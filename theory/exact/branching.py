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

from theory.compiled import routine, step

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
    """A search that can go on where it stopped.

    Attributes
    ----------
    demands : int64[n, R]
        Of the types in the order in which they are branched on.
    weights : int64[n]
        At least 0.
    prices : float64[n + 1, REMEMBERED, R]
        Row i bounds what the types from place i on are worth.
    number, tries : int64[n + 1]
        Prices that are remembered, and linear programs solved, at each place.
    free : int64[n, R]
        What the jobs before each place leave of the capacity.
    value : int64[n]
        What the jobs before each place are worth.
    slots, least, most : int64[n]
        Jobs of each type now, and the bounds of their number.
    place : int64[5]
        Depth, whether its node is new, the target, nodes so far, linear programs so far.
    room : float64[R + 1, n + R + 1]
        Where linear programs are solved.
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
    room: NDArray[np.float64]


def tree(
    capacity: NDArray[np.int64], demands: NDArray[np.int64], weights: NDArray[np.int64], places: int | None = None
) -> Tree:
    """Return a search with prices for every place, or for so many places only.

    Parameters
    ----------
    capacity : int64[R]
        At most `LARGEST`, positive.
    demands : int64[n, R]
        Every type fits alone; n is positive.
    weights : int64[n]
        At least 0; no configuration is worth 2**`BITS`.
    """
    n, width = demands.shape
    made = Tree(
        demands,
        weights,
        np.zeros((n + 1, REMEMBERED, width)),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros((n, width), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(5, np.int64),
        np.zeros((width + 1, n + width + 1)),
    )
    _first_prices(made, capacity, n if places is None else places)
    return made


def begin(made: Tree, capacity: NDArray[np.int64], target: int, *, short: bool = False) -> None:
    """Begin a search for what a capacity holds that is worth more than the target.

    Prices that are remembered stay, as they hold for any capacity. A short search solves few linear programs.
    """
    n = len(made.weights)
    made.free[0], made.value[0] = capacity, 0
    made.tries[:] = 0
    made.place[:] = 0, 1, target, 0, 1 + 100 * EARLY // n if short else 0


def explored(made: Tree) -> float:
    """Return which part of the tree is searched, as if the branches of a node were equal: positive, at most 1.

    It is an estimate; where it is off it is more often too large, since what is searched first is cut off sooner.
    """
    part, done = 1.0, 0.0
    for i in range(int(made.place[DEPTH]) + 1):
        branches = max(1, int(made.most[i] - made.least[i]) + 1)
        done += part * min(branches, max(0, int(made.most[i] - made.slots[i]))) / branches
        part /= branches
    return min(1.0, max(done, 1e-12))


@routine
def advance(made: Tree, rows: NDArray[np.int64], most: int, rising: bool) -> tuple[int, int]:
    """Search on, and write down configurations that are worth more than the target.

    Parameters
    ----------
    made : Tree
    rows : int64[m, n]
        Where configurations are written, types in the tree's order.
    most : int
        Nodes after which the search stops.
    rising : bool
        Whether the target rises to the value of each configuration that is found. Otherwise all configurations above
        the target are found to which no job of the last type can be added.

    Returns
    -------
    int
        `DONE`, `FULL` or `STOPPED`; in the last two cases it can go on.
    int
        Number of rows written.

    Notes
    -----
    O(n R) memory; a node takes O(R) for each of the prices remembered. Slots of a type are tried from many to few, so
    the configurations come in decreasing lexicographic order.
    """
    n, width = made.demands.shape
    depth, entered, stop = made.place[DEPTH], made.place[ENTERED], made.place[NODES] + most
    found = 0
    while True:
        if entered:
            if made.place[NODES] >= stop:
                made.place[DEPTH], made.place[ENTERED] = depth, 1
                return STOPPED, found
            made.place[NODES] += 1
            _bound_slots(made, depth)
            made.slots[depth] = made.most[depth]
        else:
            made.slots[depth] -= 1
        if made.slots[depth] < made.least[depth]:
            made.slots[depth] = 0
            depth -= 1
            entered = 0
            if depth < 0:
                return DONE, found
            continue
        value = made.value[depth] + made.slots[depth] * made.weights[depth]
        if depth < n - 1:
            for r in range(width):
                made.free[depth + 1, r] = made.free[depth, r] - made.slots[depth] * made.demands[depth, r]
            made.value[depth + 1] = value
            depth += 1
            entered = 1
            continue
        entered = 0
        if value > made.place[TARGET]:
            if found == len(rows):
                made.slots[depth] += 1  # these slots are looked at again
                made.place[DEPTH], made.place[ENTERED] = depth, 0
                return FULL, found
            for i in range(n):
                rows[found, i] = made.slots[i]
            found += 1
            if rising:
                made.place[TARGET] = value
        made.slots[depth] = made.least[depth]  # fewer of the last type are worth no more


@step
def _bound_slots(made: Tree, depth: int) -> None:
    """Set the least and the most slots of a type with which the target may be passed; none: the most is less."""
    width = made.demands.shape[1]
    low, high = np.int64(0), np.int64(LARGEST)
    for r in range(width):
        if made.demands[depth, r] > 0:
            high = min(high, made.free[depth, r] // made.demands[depth, r])
    need = float(made.place[TARGET] + 1 - made.value[depth])
    if _cut_by_new_prices(made, depth, need):
        high = np.int64(-1)
    v = 0
    while v < made.number[depth + 1] and low <= high:
        # with s slots: s w + p'(free - s d) >= need
        bound, cost = 0.0, 0.0
        for r in range(width):
            bound += made.prices[depth + 1, v, r] * made.free[depth, r]
            cost += made.prices[depth + 1, v, r] * made.demands[depth, r]
        lack = need - bound * (1.0 + MARGIN)
        gain = made.weights[depth] - cost
        if lack > 0.0:
            if gain * (high + 1) < lack:
                high = np.int64(-1)
            else:
                low = max(low, np.int64(np.ceil(lack / gain * (1.0 - ROUNDING) - ROUNDING)))
        elif gain < 0.0 and gain * (high + 1) < lack:
            high = min(high, np.int64(np.floor(lack / gain * (1.0 + ROUNDING) + ROUNDING)))
        v += 1
    made.least[depth], made.most[depth] = low, high


@step
def _cut_by_new_prices(made: Tree, depth: int, need: float) -> bool:
    """Return whether a linear program shows that a node does not pass the target; remember its prices if so."""
    n, width = made.demands.shape
    number = made.number[depth]
    if depth == n - 1 or number == REMEMBERED or made.tries[depth] == TRIES:
        return False
    if made.place[SOLVED] * n > made.place[NODES] + 100 * EARLY:
        return False
    made.tries[depth] += 1
    made.place[SOLVED] += 1
    if not _solve(made, depth, made.free[depth]):
        return False
    bound = 0.0
    for r in range(width):
        bound += made.prices[depth, number, r] * made.free[depth, r]
    if bound * (1.0 + MARGIN) >= need:
        return False
    made.number[depth] += 1
    return True


@routine
def _first_prices(made: Tree, capacity: NDArray[np.int64], places: int) -> None:
    made.number[made.weights.size] = 1  # no types are worth nothing
    for i in range(places):
        if _solve(made, i, capacity):
            made.number[i] = 1


@routine
def _solve(made: Tree, first: int, free: NDArray[np.int64]) -> bool:
    """Write prices that bound the types from place `first` on, best for a free capacity, after those remembered.

    Returns
    -------
    bool
        Whether there are any; a resource that is all taken may have none.

    Notes
    -----
    The simplex method in floats, on ``max w'k`` with ``D'k <= free``, proposes prices. Raised until every type costs
    its weight, they bound whatever the rounding was.
    """
    n, width = made.demands.shape
    m = n - first
    top = 0.0
    for j in range(first, n):
        top = max(top, float(made.weights[j]))
    price = made.prices[first, made.number[first]]
    if top == 0.0:
        price[:] = 0.0
        return True
    table = made.room
    table[:, : m + width + 1] = 0.0
    for r in range(width):
        unit = max(1.0, float(free[r]))
        for j in range(m):
            table[r, j] = made.demands[first + j, r] / unit
        table[r, m + r] = 1.0
        table[r, m + width] = free[r] / unit
    for j in range(m):
        table[width, j] = -made.weights[first + j] / top
    for _ in range(20 + 4 * width):
        if not _pivot(table, width, m + width):
            break
    for r in range(width):
        price[r] = max(0.0, table[width, m + r]) * top / max(1.0, float(free[r]))
    short = 1.0
    for j in range(first, n):
        cost = 0.0
        for r in range(width):
            cost += price[r] * made.demands[j, r]
        if made.weights[j] > 2.0 * cost:
            return False
        if made.weights[j] > 0:
            short = max(short, made.weights[j] / cost)
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
