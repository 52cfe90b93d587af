"""A lower bound of rho*: jobs of uniform cells mixed so that their sizes add up to their middles.

Why it is right. Let M be a measure over configurations of real sizes, of mass 1, in which sizes occur as often as
rho* F says or more; by Theorem 1 the workload rho is then supportable (rounding down turns M into a schedule of the
lower-rounded queues for every partition, and those bounds fall to rho*). A configuration of cells stands for such a
measure. Let the sizes of its jobs be uniform on intervals of widths w_i, and let no width exceed the sum of the others.
Then there is a closed polygon in space with sides w_i. Turn it by a random rotation and look at one coordinate: each
side has a coordinate that is uniform on an interval of width 2 w_i (Archimedes: zones of a sphere of equal height have
equal area), and the coordinates of a closed polygon add up to 0. Halved and put at the middles of the intervals they
are job sizes with the right laws that always add up to the sum of the middles. If one width exceeds the sum of the
others, the polygon stays open by the difference. So a configuration takes the room

    sum of lower ends + max(half the sum of widths, greatest width)

and no coupling makes do with less. Jobs of an atom, or of atoms rounded up to the largest, have width 0.

Rounding every cell up, as the upper-rounded virtual queues of Theorem 1 do, is never better on the same cells; mixing
loses nothing at all where the middles of the cells fill the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.typing import NDArray

from theory.exact.columns import trimmed
from theory.exact.knapsack import add_best_within, add_type
from theory.exact.programs import LinearProgram
from theory.numbers import ceiling, total
from theory.partition.laws import Law

FINEST = 25_000
"""Largest number of size units of the pricing tables; beyond it sizes are rounded up to that many units."""

SEVERAL = 64
"""Most columns that join in one round, each with a cell of its own."""


@dataclass(frozen=True)
class SizeCell:
    """A set of sizes whose jobs are one type: part of a uniform piece, or a group of atoms.

    Sizes are uniform on (base, base + width]. For a group of `atoms`, pairs of size and probability, the width is 0 and
    the base its largest size; a part of a piece has none.
    """

    base: Fraction
    width: Fraction
    probability: Fraction
    atoms: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def middle(self) -> Fraction:
        """Mean size of a uniform cell; of a group, its largest size."""
        return self.base + self.width / 2

    @property
    def top(self) -> Fraction:
        """Largest size."""
        return self.base + self.width

    @property
    def bottom(self) -> Fraction:
        """Smallest size."""
        return self.atoms[0][0] if self.atoms else self.base


Slots = tuple[int, ...]


@dataclass(frozen=True)
class Mixed:
    """A workload per server that mixing supports, with its proof.

    The cells, N of them, increase in width, then in size. Columns are slots with fractions of the server that sum to 1;
    their slots are just workload x probability. The prices of the cells, float64[N], are numeric: <probability, prices>
    is about 1 / workload.
    """

    workload: Fraction
    cells: tuple[SizeCell, ...]
    columns: tuple[tuple[Slots, Fraction], ...]
    prices: np.ndarray


def room(cells: Sequence[SizeCell], slots: Sequence[int]) -> Fraction:
    """Return the room that a configuration of cells takes when its jobs are mixed as well as can be."""
    used = [(cell, number) for cell, number in zip(cells, slots, strict=True) if number]
    widths = total(number * cell.width for cell, number in used)
    widest = max((cell.width for cell, _ in used), default=Fraction(0))
    return total(number * cell.base for cell, number in used) + max(widths / 2, widest)


def initial_cells(law: Law, number: int) -> list[SizeCell]:
    """Return about `number` cells of a law: equal widths within each piece, groups of atoms of little loss."""
    cells: list[SizeCell] = []
    length = total(piece.upper - piece.lower for piece in law.pieces)
    for piece in law.pieces:
        parts = max(1, round(number * (piece.upper - piece.lower) / length))
        width = (piece.upper - piece.lower) / parts
        cells += [SizeCell(piece.lower + i * width, width, piece.probability / parts) for i in range(parts)]
    if law.atoms:
        groups = [_group(law.atoms)]
        while len(groups) < number:  # the group that loses most by rounding up is split
            worst = max(groups, key=_loss)
            if len(worst.atoms) == 1:
                break
            groups.remove(worst)
            groups += split(worst)
        cells += groups
    return sorted(cells, key=_order)


def _order(cell: SizeCell) -> tuple[Fraction, Fraction]:
    return cell.width, cell.base


def _group(atoms: tuple[tuple[Fraction, Fraction], ...]) -> SizeCell:
    return SizeCell(atoms[-1][0], Fraction(0), total(p for _, p in atoms), atoms)


def _loss(cell: SizeCell) -> float:
    return float(cell.probability * cell.top) - sum(float(size * p) for size, p in cell.atoms)


def split(cell: SizeCell) -> list[SizeCell]:
    """Split a cell in two: a piece in halves, a group of atoms where rounding up then loses least.

    Examples
    --------
    >>> [str(part.top) for part in split(SizeCell(Fraction(0), Fraction(1), Fraction(1)))]
    ['1/2', '1']
    """
    if not cell.atoms:
        half, p = cell.width / 2, cell.probability / 2
        return [SizeCell(cell.base, half, p), SizeCell(cell.base + half, half, p)]
    if len(cell.atoms) == 1:
        return [cell]
    sizes = np.array([float(size) for size, _ in cell.atoms])
    mass = np.cumsum([float(p) for _, p in cell.atoms])
    saved = mass[:-1] * (sizes[-1] - sizes[:-1])  # all that is not above the cut is rounded up to the cut only
    at = int(np.argmax(saved)) + 1
    return [_group(cell.atoms[:at]), _group(cell.atoms[at:])]


def mixed(cells: Sequence[SizeCell], tolerance: float = 1e-4, rounds: int = 4000) -> Mixed:
    """Return a workload that one server supports by mixing the cells, exact whatever the floats do.

    Column generation stops within a relative tolerance of the best for these cells, or after so many rounds; each of
    them takes one float linear program over N rows and one table of O(N x size units).

    Examples
    --------
    >>> mixed([SizeCell(Fraction(1, 10), Fraction(8, 10), Fraction(1))]).workload
    Fraction(2, 1)
    """
    cells = sorted(cells, key=_order)
    n = len(cells)
    units = lcm(*(cell.middle.denominator for cell in cells), *(cell.top.denominator for cell in cells))
    units = units if units <= FINEST else FINEST
    middles = np.array([ceiling(cell.middle * units) for cell in cells], np.int64)
    tops = np.array([max(ceiling(cell.top * units), m) for cell, m in zip(cells, middles, strict=True)], np.int64)
    widths = [cell.width for cell in cells]
    starts = [*(j for j in range(n) if j == 0 or widths[j] != widths[j - 1]), n]
    halved = [w > 0 and 2 * widths[starts[w - 1]] >= widths[starts[w]] for w in range(len(starts) - 1)]
    program = LinearProgram([(None, 0)] * n + [(None, 1)])
    program.add_columns([1], [{j: cell.probability for j, cell in enumerate(cells)}])
    columns: list[Slots] = []
    present: set[Slots] = set()

    def add(slots: Slots) -> bool:
        if slots in present:
            return False
        present.add(slots)
        columns.append(slots)
        program.add_columns([0], [{n: 1, **{j: -number for j, number in enumerate(slots) if number}}])
        return True

    for j, cell in enumerate(cells):
        most = max(1, int(1 / cell.middle))
        add(tuple(most if i == j else 0 for i in range(n)))
    best = np.inf
    for _ in range(rounds):
        value, _, dual = program.solve_float()
        prices = np.maximum(dual[:n], 0.0)
        worth, mixes = valuable_mixes(middles, tops, prices, starts, halved, units)
        # at these prices no configuration is worth more than `best`, so `best` bounds the program (but for a few mixes)
        best = min(best, float(worth.max()))
        better = [j for j in np.argsort(-worth)[:SEVERAL] if worth[j] > dual[n] * (1 + 1e-9)]
        if best <= value * (1 + tolerance) or not sum(add(tuple(mixes[j].tolist())) for j in better):
            break
    _, primal, dual = program.solve_float()
    vertex = program.solve_basis() if n <= 40 else None
    exact = [Fraction(round(max(0.0, x) * 2**40)) for x in primal[1:]] if vertex is None else vertex.primal[1:]
    return _certified(cells, columns, exact, np.maximum(dual[:n], 0.0) / max(1e-300, float(dual[n])))


def valuable_mixes(
    middles: NDArray[np.int64],
    tops: NDArray[np.int64],
    prices: NDArray[np.float64],
    starts: Sequence[int],
    halved: Sequence[bool],
    capacity: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return for every cell a configuration of great value in which none is wider, that fits when its jobs are mixed.

    Cells of one width, from `starts[w]` to `starts[w + 1]`, are beside each other, widths increasing; `halved[w]` tells
    whether two of the next narrower width are at least as wide as one of this. The values, float64[n], are 0 where a
    job of the cell does not fit; row j of int64[n, n] is the configuration of cell j. These are the greatest
    configurations but for a few that mix in other ways. O(n capacity) for the table of jobs at their middles, and O(n
    m^2) for partners, where m is the greatest number of cells of one width.
    """
    n, level = middles.size, np.array([capacity])
    value, last = np.zeros(capacity + 1), np.full(capacity + 1, -1, np.int32)  # all at their middles, widths so far
    values, slots = np.zeros(n), np.zeros((n, n), np.int64)

    def offer(j: int, size: int, partners: NDArray[np.int64]) -> None:
        """Take a job of cell j at a size, one of the rows of partners, and the best that fits beside them."""
        rest = capacity - size - middles[partners].sum(axis=1)
        worth = np.where(rest < 0, 0.0, prices[j] + prices[partners].sum(axis=1) + value[np.maximum(rest, 0)])
        if len(worth) and worth.max() > values[j]:
            row = int(worth.argmax())
            values[j], slots[j] = worth[row], 0
            np.add.at(slots[j], [j, *partners[row]], 1)
            add_best_within(int(rest[row]), last, middles, slots[j])

    for w, (start, end) in enumerate(pairwise(starts)):
        cells = np.arange(start, end)
        # sum of lower ends + max(half the sum of widths, greatest width): the widest takes its top beside any narrower
        # ones, or all take their middles, if two of the next width are together as wide, or if another is as wide
        pairs = starts[w - 1] + np.column_stack(np.triu_indices(start - starts[w - 1])) if halved[w] else None
        for j in cells.tolist():
            offer(j, tops[j], np.zeros((1, 0), np.int64))
            if pairs is not None:
                offer(j, middles[j], pairs)
        for j in cells.tolist():
            add_type(value, last, j, level, middles[j : j + 1], prices[j])
        for j in cells.tolist():
            offer(j, middles[j], cells[:, None])
    return values, slots


def _certified(cells: list[SizeCell], columns: list[Slots], amounts: Sequence[Fraction], prices: np.ndarray) -> Mixed:
    """Scale the amounts to sum to 1, count the slots exactly, and take away what is beyond the workload."""
    used = [(k, x) for k, x in zip(columns, amounts, strict=True) if x]
    assert all(room(cells, k) <= 1 for k, _ in used), "a configuration does not fit"
    servers = total(x for _, x in used)
    slots = [Fraction(0)] * len(cells)
    for k, x in used:
        for j, number in enumerate(k):
            if number:
                slots[j] += number * x / servers
    # rho P_j <= slots_j in every cell
    workload = min(have / cell.probability for have, cell in zip(slots, cells, strict=True))
    kept = trimmed([(0, k, x / servers) for k, x in used], [workload * cell.probability for cell in cells])
    return Mixed(workload, tuple(cells), tuple((k, x) for _, k, x in kept), prices)
