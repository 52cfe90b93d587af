"""Partitions of (0, 1] and their virtual queues, rounded up and down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from theory.numbers import text, total
from theory.partition.laws import Law, Number

Interval = tuple[Fraction, Fraction]
"""The sizes in (lower, upper]."""


@dataclass(frozen=True)
class Partition:
    """Disjoint subsets of (0, 1] that cover it, each a union of intervals (lower, upper].

    Attributes
    ----------
    cells : tuple of tuple of Interval, length J
        The subset X_j of each virtual queue, in the order of the queues.

    Raises
    ------
    ValueError
        If the cells overlap or leave a gap; the message says where.

    Notes
    -----
    Source: high-throughput bin packing, Definition 3.
    """

    cells: tuple[tuple[Interval, ...], ...]

    def __post_init__(self) -> None:
        pieces = sorted(interval for cell in self.cells for interval in cell)
        for lower, upper in pieces:
            if not 0 <= lower < upper <= 1:
                raise ValueError(f"{_shown(lower, upper)} is no interval (lower, upper] within (0, 1]")
        # in order, each interval begins where the one before it ends
        ends = [Fraction(0), *(upper for _, upper in pieces)]
        starts = [*(lower for lower, _ in pieces), Fraction(1)]
        for end, start in zip(ends, starts, strict=True):
            if end < start:
                raise ValueError(f"a gap: no cell holds the sizes in {_shown(end, start)}")
            if end > start:
                raise ValueError(f"an overlap: two cells hold the sizes in {_shown(start, end)}")

    @cached_property
    def upper(self) -> tuple[Fraction, ...]:
        """Size of every queue when it is upper-rounded, sup X_j, length J."""
        return tuple(max(upper for _, upper in cell) for cell in self.cells)

    @cached_property
    def lower(self) -> tuple[Fraction, ...]:
        """Size of every queue when it is lower-rounded, inf X_j, length J."""
        return tuple(min(lower for lower, _ in cell) for cell in self.cells)

    def probabilities(self, law: Law) -> list[Fraction]:
        """Return the probability P_j of each virtual queue (6), shape (J,)."""
        return [total(law.probability(*interval) for interval in cell) for cell in self.cells]

    def queue_of(self, size: Fraction) -> int:
        """Return the queue of a job of a size in (0, 1]."""
        return next(j for j, cell in enumerate(self.cells) if any(low < size <= high for low, high in cell))


def _shown(lower: Fraction, upper: Fraction) -> str:
    return f"({text(lower)}, {text(upper)}]"


def by_cuts(cuts: Iterable[Number]) -> Partition:
    """Return the partition of (0, 1] into intervals between cuts; 0 and 1 are understood.

    Examples
    --------
    >>> by_cuts(["1/2"]).upper
    (Fraction(1, 2), Fraction(1, 1))
    """
    points = sorted({Fraction(0), Fraction(1), *(Fraction(cut) for cut in cuts)})
    return Partition(tuple(((a, b),) for a, b in pairwise(points)))


def by_sets(cells: Sequence[Sequence[tuple[Number, Number]]]) -> Partition:
    """Return the partition into the given unions of intervals (lower, upper].

    Examples
    --------
    >>> by_sets([[(0, "1/3"), ("2/3", 1)], [("1/3", "2/3")]]).upper
    (Fraction(1, 1), Fraction(2, 3))
    """
    return Partition(tuple(tuple((Fraction(a), Fraction(b)) for a, b in cell) for cell in cells))


def equal_probability(law: Law, number: int) -> Partition:
    """Return the partition into intervals of equal probability of a law without atoms, from 0 to 1.

    Raises
    ------
    ValueError
        If the law has atoms.

    Notes
    -----
    The sequence of the proof of Theorem 1: F(xi_i) = i / number.

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> equal_probability(uniform(0, 1), 4).upper[:2]
    (Fraction(1, 4), Fraction(1, 2))
    """
    if law.atoms:
        raise ValueError("expected a law without atoms")
    cuts, before = [], Fraction(0)
    targets = iter(Fraction(i, number) for i in range(1, number))
    target = next(targets, None)
    for piece in law.pieces:
        while target is not None and target <= before + piece.probability:
            # F is linear within a piece: F(xi) = target
            cuts.append(piece.lower + (target - before) / piece.probability * (piece.upper - piece.lower))
            target = next(targets, None)
        before += piece.probability
    return by_cuts(cuts)
