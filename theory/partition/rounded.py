"""The maximum supportable workload of finitely many types, exactly, and Theorem 1's bounds for a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from theory.errors import TooLargeError
from theory.exact.columns import ConfigurationColumns, PoolColumn, trimmed
from theory.exact.linear import LinearProgram
from theory.instance import Additive, Configuration
from theory.partition.cuts import Partition
from theory.partition.laws import Law
from theory.partition.stock import CELLS, Stock, stock

MANY = 100
"""Types beyond which column generation runs in floats until the end (`theory.partition.stock`)."""


@dataclass(frozen=True)
class Supportable:
    """The maximum supportable workload per server of finitely many types, with its proof.

    Attributes
    ----------
    workload : Fraction
        rho* of one server.
    columns : tuple of (configuration, fraction)
        Fractions of the server, summing to at most 1, whose slots are just workload x probability.
    prices : tuple of Fraction, shape (J,)
        y >= 0 with <k, y> <= 1 for every configuration k and <P, y> = 1 / workload.
    """

    workload: Fraction
    columns: tuple[tuple[Configuration, Fraction], ...]
    prices: tuple[Fraction, ...]


def supportable(sizes: Sequence[Fraction], probabilities: Sequence[Fraction], cells: int = CELLS) -> Supportable | None:
    """Return the maximum supportable workload (4) of job types on one server of capacity 1, exactly.

    Parameters
    ----------
    sizes : sequence of Fraction, shape (J,)
        At most 1; a type of size 0 takes no room.
    probabilities : sequence of Fraction, shape (J,)
        P_j >= 0.
    cells : int
        Limit of the memory of pricing, of `stock`.

    Returns
    -------
    Supportable or None
        None if every job has size 0: any workload is supportable.

    Raises
    ------
    TooLargeError
        If pricing is beyond `cells`, or, of at most `MANY` types, beyond branch and bound.

    Notes
    -----
    The configuration linear program by column generation with exact pricing; beyond `MANY` types, or where a table
    would be larger than `cells`, by `stock`, whose columns and prices may be others where they are not unique. On L
    servers the maximum is L times it.
    Source: high-throughput bin packing, (4).

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> supportable([Fraction(2, 5), Fraction(3, 5)], [half, half]).workload
    Fraction(2, 1)
    """
    real = [j for j, (size, p) in enumerate(zip(sizes, probabilities, strict=True)) if size > 0 and p > 0]
    if not real:
        return None
    capacity = lcm(*(sizes[j].denominator for j in real))
    demands = tuple((int(sizes[j] * capacity),) for j in real)
    share = [probabilities[j] for j in real]
    found = _by_stock([d for (d,) in demands], share, capacity, cells)
    if found is not None:
        return _widened(found, real, len(sizes), share)
    program = LinearProgram([(None, 0)] * len(real) + [(None, 1)])
    program.add_columns([1], [dict(enumerate(share))])
    space = Additive(("size",), (capacity,), demands, (Fraction(1, capacity),))
    columns = ConfigurationColumns(program, [space], range(len(real)), [len(real)])
    vertex = columns.solve()
    workload = vertex.objective
    used = [(p, k, vertex.primal[column]) for p, k, column in columns.items() if vertex.primal[column]]
    return _answer(workload, used, [price / workload for price in vertex.dual[: len(real)]], real, len(sizes), share)


def _by_stock(sizes: Sequence[int], share: Sequence[Fraction], capacity: int, cells: int) -> Stock | None:
    """Solve a program of many types or of a fine grid; None for others, and where branch and bound may do better."""
    if len(sizes) <= MANY and len(sizes) * capacity <= cells:
        return None
    try:
        return stock(sizes, share, capacity, cells=cells)
    except TooLargeError:
        if len(sizes) > MANY:
            raise
        return None


def _widened(found: Stock, real: Sequence[int], width: int, share: Sequence[Fraction]) -> Supportable:
    """Return the answer of `stock` for one server: it needs `found.servers` of them for a workload of one."""
    used = []
    for pattern, amount in found.patterns:
        slots = [0] * len(real)
        for j, number in pattern:
            slots[j] = number
        used.append((0, tuple(slots), amount / found.servers))
    return _answer(1 / found.servers, used, found.prices, real, width, share)


def _answer(
    workload: Fraction,
    used: Sequence[PoolColumn],
    prices: Sequence[Fraction],
    real: Sequence[int],
    width: int,
    share: Sequence[Fraction],
) -> Supportable:
    """Take away slots beyond the workload, and add the types without a job or without a size."""

    def wide(k: Configuration) -> Configuration:
        slots = dict(zip(real, k, strict=True))
        return tuple(slots.get(j, 0) for j in range(width))

    kept = trimmed(used, [workload * p for p in share])
    everywhere = [Fraction(0)] * width
    for j, price in zip(real, prices, strict=True):
        everywhere[j] = price
    return Supportable(workload, tuple((wide(k), amount) for _, k, amount in kept), tuple(everywhere))


def upper_rounded(law: Law, partition: Partition, servers: int = 1) -> Fraction:
    """Return the maximum workload of the upper-rounded virtual queues, a lower bound of rho* (Theorem 1).

    Examples
    --------
    >>> from theory.partition.cuts import by_cuts
    >>> from theory.partition.laws import uniform
    >>> upper_rounded(uniform("1/10", "9/10"), by_cuts(["1/2", "9/10"]))
    Fraction(4, 3)
    """
    best = supportable(partition.upper, partition.probabilities(law))
    assert best is not None
    return servers * best.workload


def lower_rounded(law: Law, partition: Partition, servers: int = 1) -> Fraction | None:
    """Return the maximum workload of the lower-rounded virtual queues, an upper bound of rho* (Theorem 1).

    None stands for no bound: every job may be rounded to size 0.

    Examples
    --------
    >>> from theory.partition.cuts import by_cuts
    >>> from theory.partition.laws import uniform
    >>> lower_rounded(uniform("1/10", "9/10"), by_cuts(["1/10", "1/2"]))
    Fraction(10, 3)
    """
    best = supportable(partition.lower, partition.probabilities(law))
    return None if best is None else servers * best.workload
