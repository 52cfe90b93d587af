"""The maximum supportable workload of finitely many types, exactly, and Theorem 1's bounds for a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from theory.errors import TooLargeError
from theory.exact.columns import CELLS, stock, trimmed
from theory.instance import Configuration
from theory.partition.cuts import Partition
from theory.partition.laws import Law


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
        Limit of the memory of pricing (`theory.exact.columns`).

    Returns
    -------
    Supportable or None
        None if every job has size 0: any workload is supportable.

    Raises
    ------
    TooLargeError
        If pricing is beyond `cells`, or beyond branch and bound.

    Notes
    -----
    The configuration linear program by column generation with exact pricing (`theory.exact.columns`): one server
    supports 1 / N where the jobs of a workload of one need N servers in fractions. On L servers the maximum is L times
    it. Source: high-throughput bin packing, (4).

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
    # N servers, in fractions, hold the slots of a workload of one
    program = stock([int(sizes[j] * capacity) for j in real], [probabilities[j] for j in real], capacity, cells=cells)
    if program is None:
        raise TooLargeError(f"the exact program of {len(real):,} sizes: no basis in floats became an exact optimum")
    used = []
    for pattern, servers in program.patterns:
        slots = {real[i]: number for i, number in pattern}
        used.append((0, tuple(slots.get(j, 0) for j in range(len(sizes))), servers / program.servers))
    workload = 1 / program.servers
    # slots beyond the workload are taken away; a type without a job, or without a size, has none, and no price
    columns = trimmed(used, [workload * p if size else 0 for size, p in zip(sizes, probabilities, strict=True)])
    prices = dict(zip(real, program.prices, strict=True))
    return Supportable(
        workload,
        tuple((k, fraction) for _, k, fraction in columns),
        tuple(prices.get(j, Fraction(0)) for j in range(len(sizes))),
    )


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
