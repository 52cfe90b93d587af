"""Configurations of great weight on grids too fine for tables: compiled branch and bound, confirmed in integers.

The compiled search (`branching`) adds weights of 64 bits. Longer ones are rounded up for it, so that
nothing that is worth more than asked for can escape; what it finds is weighed in integers of any length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from theory.compiled import bound
from theory.errors import TooLargeError
from theory.exact.knapsack import branching
from theory.exact.knapsack.configurations import Reduced
from theory.exact.programs.linear import LinearProgram
from theory.instance import Configuration
from theory.numbers import many

NODES = 100_000_000
"""Nodes of branch and bound that a question may take, unless `allowing` says otherwise: five seconds and more."""

SLICE = 500_000
"""Nodes of the first turn of a search, a fiftieth of a second; each turn is twice as long as the one before."""

LONGEST = 2_000_000
"""Nodes of the longest turn, so that the search can be interrupted ten times a second."""

ROWS = 256
"""Configurations that are written down before they are weighed."""

SEVERAL = 8
"""Most configurations that a search returns of those worth more than asked for."""

SHORT = 5_000
"""Nodes of each of the short searches for configurations that are only proposed."""

_ALLOWED: ContextVar[int] = ContextVar("_ALLOWED", default=NODES)


@contextmanager
def allowing(nodes: int) -> Iterator[None]:
    """Let every question within the block take so many nodes of branch and bound, for grids too fine for a table."""
    token = _ALLOWED.set(nodes)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


class Nodes:
    """The nodes of branch and bound that are left for a question, which may be many searches."""

    def __init__(self, most: int | None = None) -> None:
        self.most = self.unspent = _ALLOWED.get() if most is None else most


_advance = bound(branching.advance)


class _Search:
    """Types in an order, with their weights as the compiled search takes them."""

    def __init__(self, small: Reduced, weights: Sequence[int]) -> None:
        self.small, self.weights = small, weights
        if max(small.capacity) > branching.LARGEST or small.jobs >= 2 ** (branching.BITS - 1):
            raise TooLargeError(
                f"a server of {max(small.capacity):,} units that holds {small.jobs:,} jobs, over all types alone: "
                f"expected at most {branching.LARGEST:,} and {2 ** (branching.BITS - 1):,}; use coarser units"
            )
        bits = (max(weights) * small.jobs).bit_length()
        self.shift = max(0, bits - branching.BITS + 1)
        # rounded up, so that no configuration that is worth more than asked for escapes
        self.rounded = np.array([-(-w >> self.shift) for w in weights], np.int64)
        self.capacity = np.array(small.capacity, np.int64)
        self.demands = np.array(small.demands, np.int64)

    @property
    def exact(self) -> bool:
        """Whether the compiled search has the weights themselves."""
        return self.shift == 0

    def by_value(self) -> NDArray[np.int64]:
        """Return the types with a weight, by decreasing weight for the room that they take: for finding."""
        types = np.flatnonzero(self.rounded)
        cost = (
            self.demands[types]
            @ branching.new_tree(self.capacity, self.demands[types], self.rounded[types], 1).prices[0, 0]
        )
        return types[np.argsort(-self.rounded[types] / np.maximum(cost, 1e-300), kind="stable")]

    def by_size(self) -> NDArray[np.int64]:
        """Return the types with a weight, by decreasing largest part of a resource: for proving."""
        types = np.flatnonzero(self.rounded)
        part = (self.demands[types] / np.maximum(self.capacity, 1)).max(axis=1)
        return types[np.argsort(-part, kind="stable")]

    def tree(self, order: NDArray[np.int64]) -> branching.Tree:
        """Return a search over types in an order."""
        return branching.new_tree(self.capacity, self.demands[order], self.rounded[order])

    def above(
        self, orders: Sequence[NDArray[np.int64]], target: int, nodes: Nodes, *, rising: bool
    ) -> Iterator[list[tuple[int, Configuration]]]:
        """Yield (weight, configuration) in batches, all that may be worth more than an integer target.

        Searches in several orders take turns, which become longer, until one is at its end. Rounding makes the batches
        hold more than what is asked for. If `rising`, only such as beat all before them by the weights of the compiled
        search. With one order the configurations come in decreasing lexicographic order of it. All have as many jobs of
        the last type as fit. Raises `TooLargeError` if no nodes are left.
        """
        trees = [self.tree(order) for order in orders]
        for tree in trees:
            branching.begin(tree, self.capacity, target >> self.shift)
        turn, best = SLICE, target >> self.shift
        while True:
            for tree, order in zip(trees, orders, strict=True):
                tree.place[branching.TARGET] = best  # what the others have reached counts here, too
                status, steps = branching.FULL, min(turn, nodes.unspent)
                while status == branching.FULL:
                    rows, before = np.zeros((ROWS, len(order)), np.int64), int(tree.place[branching.NODES])
                    status, written = _advance(tree, rows, steps, rising)
                    best, spent = int(tree.place[branching.TARGET]), int(tree.place[branching.NODES]) - before
                    nodes.unspent, steps = nodes.unspent - spent, steps - spent
                    if written:
                        yield [self._weighed(order, row) for row in rows[:written].tolist()]
                if status == branching.DONE:
                    return
                if nodes.unspent <= 0:
                    raise self._refusal(nodes, trees)
            turn = min(2 * turn, LONGEST)

    def with_each(self, than: int, most: int) -> Iterator[tuple[int, Configuration]]:
        """Yield (weight, configuration) worth more than a number, the best with each type that so many nodes find."""
        order = self.by_value() if than < 0 else self.by_size()
        tree = self.tree(order)
        rows = np.zeros((ROWS, len(order)), np.int64)
        for i, j in enumerate(order.tolist()):
            target = max(-1, (than >> self.shift) - int(self.rounded[j]))
            branching.begin(tree, self.capacity - self.demands[j], target, short=True)
            _, written = _advance(tree, rows, most, True)
            if written:  # the last one is the heaviest
                rows[written - 1, i] += 1
                value, k = self._weighed(order, rows[written - 1].tolist())
                if value > than:
                    yield value, k

    def divisible_at_most(self, bound: int) -> bool:
        """Return whether even jobs that may be divided are worth no more than a bound, by exact multipliers."""
        top = max(self.weights)  # the solver sees weights of at most 1
        program = LinearProgram([(None, c) for c in self.small.capacity])
        costs = [Fraction(weight, top) for weight in self.weights]
        program.add_columns(costs, [dict(enumerate(row)) for row in self.small.demands])
        return program.at_most(Fraction(bound, top))

    def _refusal(self, nodes: Nodes, trees: Sequence[branching.Tree]) -> TooLargeError:
        """Return the error of a search that is given up, with the estimated size of the smallest of its trees."""
        size = " x ".join(f"{c:,}" for c in self.small.capacity)
        begun = [tree for tree in trees if tree.place[branching.NODES]]
        sizes = [int(tree.place[branching.NODES]) / branching.explored(tree) for tree in begun]
        estimate = float(f"{min(sizes, default=0.0):.0e}")
        return TooLargeError(
            f"the greatest configuration of {many(len(self.weights), 'type')} on a server of {size} units: "
            f"branch and bound gave up after {nodes.most:,} nodes; the last search has some {estimate:,.0f}: "
            "allow more (--nodes), use coarser units or fewer types"
        )

    def _weighed(self, order: NDArray[np.int64], row: Sequence[int]) -> tuple[int, Configuration]:
        k = [0] * len(self.weights)
        for i, slots in zip(order.tolist(), row, strict=True):
            k[i] = slots
        return sum(map(mul, self.weights, k)), tuple(k)


def greatest(small: Reduced, weights: Sequence[int], nodes: Nodes | None = None) -> Configuration:
    """Return the configuration of greatest weight, ties by more slots of the first type that differs.

    Weights are integers of any length, at least 0. Raises `TooLargeError` if a search takes more nodes than are left.

    Examples
    --------
    >>> from theory.exact.knapsack.configurations import reduced
    >>> from theory.instance import additive
    >>> greatest(reduced(additive([12 * 10**9], [[5 * 10**9], [7 * 10**9 - 1]]).pools[0].space), [1, 1])
    (2, 0)
    """
    nodes = Nodes() if nodes is None else nodes
    search, best = _Search(small, weights), 0
    if any(weights):
        best = max(value for value, _ in search.with_each(-1, SHORT))
        orders = (search.by_size(), search.by_value())
        for rising in (True, False) if not search.exact else (True,):
            for batch in search.above(orders, best, nodes, rising=rising):
                best = max(best, *(value for value, _ in batch))
    for batch in search.above([np.arange(len(weights))], best - 1, nodes, rising=False):
        for value, k in batch:
            if value == best:
                return k
    raise AssertionError("a configuration is lost")


def heavier(small: Reduced, weights: Sequence[int], than: int, nodes: Nodes | None = None) -> list[Configuration]:
    """Return configurations that are worth more than a number, the heaviest last; none proves that there is none.

    Raises `TooLargeError` if the search takes more nodes than are left. Where weights are rounded, many configurations
    may seem worth more than the number that are worth just as much. If all of them fill the resources that have a
    price, an exact linear program shows it at once.
    """
    nodes = Nodes() if nodes is None else nodes
    before = nodes.unspent
    if not any(weights):
        return []
    search = _Search(small, weights)
    if not search.exact and search.divisible_at_most(than):
        return []
    orders, seen = (search.by_value(), search.by_size()), False
    for rising in (True, False):
        for batch in search.above(orders, than, nodes, rising=rising):
            seen = True
            above = {pair for pair in batch if pair[0] > than}
            spent = before - nodes.unspent
            if above and spent > SLICE:  # they are rare: look for others beside them
                above |= set(search.with_each(than, spent // len(weights)))
            if above:
                return [k for _, k in sorted(above)[-SEVERAL:]]
        if search.exact or not seen:
            break
    return []


def with_each(small: Reduced, weights: Sequence[int]) -> list[Configuration]:
    """Return for each type with a weight a configuration of great weight with a job of it, the heaviest first.

    Some weights are positive. Short searches find the configurations: nothing is proved.
    """
    return [k for _, k in sorted(_Search(small, weights).with_each(-1, SHORT), reverse=True)]
