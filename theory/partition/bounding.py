"""The maximum supportable workload of a law, between two proved bounds that close in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from theory.errors import ArgumentError, TooLargeError
from theory.exact.columns import CELLS
from theory.numbers import ceiling
from theory.partition.laws import Law
from theory.partition.mixing import Mixed, SizeCell, initial_cells, mixed, split
from theory.partition.rounded import supportable
from theory.partition.spread import Prices, lemma_2, spread_prices

EXACT_CELLS = CELLS
"""Pricing table (types times size units) up to which a law of atoms is solved as it stands, unless told otherwise."""

GRID = 20_000
"""Finest grid of the prices; points that are not on it are rounded to it."""


@dataclass(frozen=True)
class Bracket:
    """Two bounds of rho* on one server, with their proofs.

    Attributes
    ----------
    law : Law
    below : Mixed
        A schedule that supports its workload.
    above : Prices
        Prices that no server can exceed.
    history : tuple of (cells, lower, upper)
        What each round found on its own cells, not the best so far.
    """

    law: Law
    below: Mixed
    above: Prices
    history: tuple[tuple[int, Fraction, Fraction], ...]

    @property
    def lower(self) -> Fraction:
        """Workload per server that is supportable (rho* is at least this)."""
        return self.below.workload

    @property
    def upper(self) -> Fraction:
        """Bound of the workload per server that any schedule supports."""
        return self.above.bound(self.law)

    @property
    def gap(self) -> Fraction:
        """Relative distance of the bounds, upper / lower - 1."""
        return self.upper / self.lower - 1


def brackets(
    law: Law, gap: Fraction = Fraction(1, 100), most_cells: int = 400, exact_cells: int = EXACT_CELLS
) -> Iterator[Bracket]:
    """Yield brackets of rho* on one server that get no wider, until the gap is reached.

    Parameters
    ----------
    law : Law
    gap : Fraction
        Relative distance of the bounds at which to end; 0 asks for the exact value: a law of atoms is then solved as it
        stands on any grid, while lists of states are small enough (`theory.exact.knapsack`).
    most_cells : int
        Cells beyond which to give up.
    exact_cells : int
        Largest pricing table, types times size units, for which a law of atoms is solved exactly as it stands. Time
        grows with the table; memory with the size units alone, some tens of bytes for each. Lists of states may take
        as much, some tens of bytes for each of these cells.

    Yields
    ------
    Bracket
        The best so far after each round; the last has the gap asked for unless `most_cells` was reached or no cell
        can be split.

    Raises
    ------
    ArgumentError
        If the gap is not from 0 to below 1.

    Notes
    -----
    A law of few atoms is solved exactly. Else cells are split where the prices tell that the gap comes from: with y_j
    the price of cell j below and f the prices above, 1/lower - 1/upper is the sum over cells of
    p_j y_j - E[f(R); R in cell j]. A round that gains little is followed by one that splits the largest cells.

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> best = list(brackets(uniform("1/10", "9/10")))[-1]
    >>> best.lower, best.upper
    (Fraction(2, 1), Fraction(2, 1))
    """
    if not 0 <= gap < 1:
        raise ArgumentError("gap", f"expected a number of at least 0 and less than 1, got {float(gap):g}")
    exact = _exact(law, exact_cells, listed=gap == 0)
    if exact is not None:
        yield exact
        return
    above = lemma_2(law)
    below: Mixed | None = None
    best: Bracket | None = None
    history: list[tuple[int, Fraction, Fraction]] = []
    cells = initial_cells(law, 1 if law.pieces else 16)
    tolerance = min(1e-3, max(1e-9, float(gap) / 8))
    while True:
        here = mixed(cells, tolerance)
        below = here if below is None or here.workload > below.workload else below
        # prices are sought only where the best so far do not close the gap
        prices, bound = above, above.bound(law)
        if bound > below.workload * (1 + gap):
            prices = spread_prices(law, *_points(law, here.cells), tolerance)
            bound = prices.bound(law)
            if bound < above.bound(law):
                above = prices
        history.append((len(cells), here.workload, bound))
        before, best = best, Bracket(law, below, above, tuple(history))
        yield best
        # little gained: the prices mislead, and the largest cells are split instead
        stuck = before is not None and best.gap > before.gap * Fraction(9, 10)
        finer = _split_largest(here.cells) if stuck else _refined(here, prices)
        if best.gap <= gap or len(finer) == len(cells) or len(finer) > most_cells:
            return
        cells = finer


def bracket(
    law: Law, gap: Fraction = Fraction(1, 100), most_cells: int = 400, exact_cells: int = EXACT_CELLS
) -> Bracket:
    """Return the last of `brackets`."""
    *_, last = brackets(law, gap, most_cells, exact_cells)
    return last


def _exact(law: Law, most: int, *, listed: bool) -> Bracket | None:
    """Solve a law of atoms as it stands, if its pricing table, or lists where they are allowed, are small enough."""
    if law.pieces:
        return None
    units = lcm(*(size.denominator for size, _ in law.atoms))
    if units * len(law.atoms) > most and not listed:
        return None
    sizes, probabilities = [size for size, _ in law.atoms], [p for _, p in law.atoms]
    try:
        best = supportable(sizes, probabilities, most)
    except TooLargeError:
        return None
    assert best is not None
    cells = tuple(SizeCell(size, Fraction(0), p, ((size, p),)) for size, p in law.atoms)
    below = Mixed(best.workload, cells, best.columns, np.array([float(y) for y in best.prices]))
    points = tuple(int(size * units) for size in sizes)
    return Bracket(law, below, Prices(units, points, best.prices), ((len(cells), best.workload, best.workload),))


def _points(law: Law, cells: Sequence[SizeCell]) -> tuple[int, list[int]]:
    """Return a grid and the points on it: the ends of the cells, or the neighbours of those that are not on it.

    The grid holds the ends of small denominators: configurations that fill a server tend to stand on them.
    """
    ends = {law.least, law.greatest, *(cell.top for cell in cells), *(cell.bottom for cell in cells)}
    grid = 1
    for denominator in sorted({end.denominator for end in ends}):
        if lcm(grid, denominator) <= GRID:
            grid = lcm(grid, denominator)
    if any((end * grid).denominator > 1 for end in ends):
        grid *= GRID // grid
    points = {point for end in ends for point in (int(end * grid), ceiling(end * grid))}
    first, last = int(law.least * grid), ceiling(law.greatest * grid)
    return grid, sorted({first, last, *(point for point in points if first <= point <= last)})


def _refined(below: Mixed, above: Prices) -> list[SizeCell]:
    """Split the cells from which most of the gap comes."""
    losses = np.array([_loss(cell, y, above) for cell, y in zip(below.cells, below.prices, strict=True)])
    can = np.array([len(cell.atoms) != 1 for cell in below.cells])
    # nine tenths of the loss lie in the cells of greatest loss, as many as it takes
    losses = np.where(can, np.abs(losses) + 1e-12, 0.0)
    order = np.argsort(-losses)
    enough = int(np.searchsorted(np.cumsum(losses[order]), 0.9 * losses.sum())) + 1
    chosen = set(order[: max(enough, 1)].tolist())
    cells: list[SizeCell] = []
    for j, cell in enumerate(below.cells):
        cells += split(cell) if j in chosen else [cell]
    return cells


def _split_largest(cells: Sequence[SizeCell]) -> list[SizeCell]:
    """Split the cells that hold most, whatever the prices say."""
    extent = np.array([float(cell.probability * (cell.top - cell.bottom)) for cell in cells])
    chosen = extent >= extent.max() / 2
    return [part for cell, large in zip(cells, chosen, strict=True) for part in (split(cell) if large else [cell])]


def _loss(cell: SizeCell, price: float, above: Prices) -> float:
    # p_j y_j - E[f(R); R in cell j], for a piece with the mean of f at nine sizes
    p = float(cell.probability)
    if cell.atoms:
        sizes, masses = np.array([[float(size), float(q)] for size, q in cell.atoms]).T
        worth = float(above.at(sizes) @ masses)
    else:
        worth = p * float(above.at(np.linspace(float(cell.bottom), float(cell.top), 9)).mean())
    return p * price - worth
