"""Configurations of great weight on grids too fine for tables: compiled branch and bound, confirmed in integers.

The compiled search (`theory.exact.branching`) adds weights of 64 bits. Longer ones are rounded up for it, so that
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

from theory.errors import TooLargeError
from theory.exact import branching
from theory.exact.configurations import Reduced
from theory.exact.linear import LinearProgram
from theory.instance import Configuration

NODES = 100_000_000
"""Nodes after which a search is given up, unless `allowing` says otherwise: some five seconds."""

SLICE = 2_000_000
"""Nodes between two moments at which the search can be interrupted: a tenth of a second."""

ROWS = 256
"""Configurations that are written down between two such moments."""

SHORT = 5_000
"""Nodes of each of the short searches for configurations that are only proposed."""

SEVERAL = 8
"""Most configurations that a search returns that are worth more than asked for."""

_LIMIT: ContextVar[int] = ContextVar("_LIMIT", default=NODES)


@contextmanager
def allowing(nodes: int) -> Iterator[None]:
    """Let each search within the block take so many nodes."""
    token = _LIMIT.set(nodes)
    try:
        yield
    finally:
        _LIMIT.reset(token)


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
        self.rounded = np.array([-(-w >> self.shift) for w in weights], np.int64)
        self.capacity = np.array(small.capacity, np.int64)
        self.demands = np.array(small.demands, np.int64)

    @property
    def exact(self) -> bool:
        """Whether the compiled search has the weights themselves."""
        return self.shift == 0

    def by_value(self) -> NDArray[np.int64]:
        """Return the types with a weight, by decreasing weight for the room that they take."""
        types = np.flatnonzero(self.rounded)
        made = branching.tree(self.capacity, self.demands[types], self.rounded[types], 1)
        cost = self.demands[types] @ made.prices[0, 0]
        return types[np.argsort(-self.rounded[types] / np.maximum(cost, 1e-300), kind="stable")]

    def tree(self, order: NDArray[np.int64]) -> branching.Tree:
        """Return a search over types in an order."""
        return branching.tree(self.capacity, self.demands[order], self.rounded[order])

    def above(
        self, order: NDArray[np.int64], target: int, most: int, *, rising: bool
    ) -> Iterator[list[tuple[int, Configuration]]]:
        """Yield (weight, configuration) in batches, all that may be worth more than an integer target.

        Rounding makes the batches hold more than that. If `rising`, only such as beat all before them by the weights
        of the compiled search.

        Raises
        ------
        TooLargeError
            After `most` nodes.
        """
        made = self.tree(order)
        branching.begin(made, self.capacity, target >> self.shift)
        rows = np.zeros((ROWS, len(order)), np.int64)
        status = branching.STOPPED
        while status != branching.DONE:
            left = most - int(made.place[branching.NODES])
            status, found = branching.advance(made, rows, min(SLICE, left), rising)
            if found:
                yield [self._weighed(order, row) for row in rows[:found].tolist()]
            if status == branching.STOPPED and made.place[branching.NODES] >= most:
                raise self.refusal(most, branching.explored(made))

    def divisible_at_most(self, bound: int) -> bool:
        """Return whether even jobs that may be divided are worth no more than a bound, by exact multipliers."""
        top = max(self.weights)  # the solver sees weights of at most 1
        program = LinearProgram([(None, c) for c in self.small.capacity])
        costs = [Fraction(weight, top) for weight in self.weights]
        program.add_columns(costs, [dict(enumerate(row)) for row in self.small.demands])
        return program.at_most(Fraction(bound, top))

    def refusal(self, most: int, part: float) -> TooLargeError:
        """Return the error of a search that is given up."""
        size = " x ".join(f"{c:,}" for c in self.small.capacity)
        return TooLargeError(
            f"the greatest configuration of {len(self.weights)} types on a server of {size} units: branch and bound "
            f"gave up after {most:,} nodes, about {part:.1%} of its tree; allow more nodes, use coarser units or "
            "fewer types"
        )

    def _weighed(self, order: NDArray[np.int64], row: Sequence[int]) -> tuple[int, Configuration]:
        k = [0] * len(self.weights)
        for i, slots in zip(order.tolist(), row, strict=True):
            k[i] = slots
        return sum(map(mul, self.weights, k)), tuple(k)


def greatest(small: Reduced, weights: Sequence[int], most: int | None = None) -> Configuration:
    """Return the configuration of greatest weight, ties by more slots of the first type that differs.

    Parameters
    ----------
    small : Reduced
        With some types.
    weights : sequence of int, length n
        At least 0, of any length.
    most : int, optional
        Nodes of each search; what `allowing` says, or `NODES`, where left out.

    Raises
    ------
    TooLargeError
        If a search takes more nodes.

    Examples
    --------
    >>> from theory.exact.configurations import reduced
    >>> from theory.instance import additive
    >>> greatest(reduced(additive([12 * 10**9], [[5 * 10**9], [7 * 10**9 - 1]]).pools[0].space), [1, 1])
    (2, 0)
    """
    most = _LIMIT.get() if most is None else most
    search, best = _Search(small, weights), 0
    if any(weights):
        order = search.by_value()
        for batch in search.above(order, -1, most, rising=True):
            best = max(best, *(value for value, _ in batch))
        if not search.exact:
            for batch in search.above(order, best, most, rising=False):
                best = max(best, *(value for value, _ in batch))
    in_order = np.arange(len(weights))
    for batch in search.above(in_order, best - 1, most, rising=False):
        for value, k in batch:
            if value == best:
                return k
    raise AssertionError("a configuration is lost")


def heavier(small: Reduced, weights: Sequence[int], than: int) -> list[Configuration]:
    """Return configurations that are worth more than a number; none proves that there is none.

    Parameters
    ----------
    small : Reduced
        With some types.
    weights : sequence of int, length n
        At least 0, of any length.
    than : int
        At least 0.

    Returns
    -------
    list of Configuration
        The heaviest is the last.

    Raises
    ------
    TooLargeError
        If the search takes more nodes than allowed.

    Notes
    -----
    Where weights are rounded, many configurations may seem worth more than the number that are worth just as much. If
    all of them fill the resources that have a price, an exact linear program shows it at once.
    """
    most = _LIMIT.get()
    if not any(weights):
        return []
    search = _Search(small, weights)
    if not search.exact and search.divisible_at_most(than):
        return []
    order, seen = search.by_value(), False
    for rising in (True, False):
        for batch in search.above(order, than, most, rising=rising):
            seen = True
            found = sorted(pair for pair in batch if pair[0] > than)
            if found:
                return [k for _, k in found[-SEVERAL:]]
        if search.exact or not seen:
            break
    return []


def with_each(small: Reduced, weights: Sequence[int]) -> NDArray[np.int64]:
    """Return for each type with a weight a configuration of great weight with a job of it, the heaviest first.

    Short searches find them: nothing is proved.

    Parameters
    ----------
    small : Reduced
        With some types.
    weights : sequence of int, length n
        At least 0.

    Returns
    -------
    int64[m, n]
    """
    search = _Search(small, weights)
    if not any(weights):
        return np.zeros((0, len(weights)), np.int64)
    order = search.by_value()
    made = search.tree(order)
    rows = np.zeros((ROWS, len(order)), np.int64)
    chosen = np.zeros((len(order), len(weights)), np.int64)
    for i, j in enumerate(order):
        branching.begin(made, search.capacity - search.demands[j], -1, short=True)
        _, found = branching.advance(made, rows, SHORT, True)
        chosen[i, order] = rows[max(found - 1, 0)]
        chosen[i, j] += 1
    return chosen[np.argsort(-(chosen @ search.rounded), kind="stable")]
