"""A law of sizes (`theory.partition.laws`) in the whole units in which slotted queues are simulated."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm

import numpy as np

from fluid.simulation.slotted.streams import GRID, SizeLaw
from theory.errors import TooLargeError
from theory.partition.laws import Law, Piece

FINEST = 2**40
"""Most units of a server: sums of the sizes of millions of jobs still fit a machine word."""

CLASSES = 2**22
"""Most sizes of a law."""


def size_law(law: Law, grid: Fraction = GRID) -> SizeLaw:
    """Turn a law of sizes into classes of whole units.

    Parameters
    ----------
    law : Law
    grid : Fraction
        Pieces are drawn from equal steps of at most so much, both ends included (0 excepted); atoms stay as they are.

    Returns
    -------
    SizeLaw
        Sizes in increasing order, each once. The mean of a piece is exact, but for one that begins at 0: its mean is
        half a step larger.

    Raises
    ------
    TooLargeError
        Sizes whose common unit is less than 1 / `FINEST` of a server, or more than `CLASSES` of them.

    Examples
    --------
    >>> from theory.partition.laws import discrete, uniform
    >>> made = size_law(discrete({"2/5": "1/4", "3/5": "3/4"}))
    >>> made.sizes.tolist(), made.capacity, made.probabilities.tolist()
    ([2, 3], 5, [0.25, 0.75])
    >>> len(size_law(uniform("1/3", "2/3")).sizes)
    333335
    """
    steps = [_steps(piece, grid) for piece in law.pieces]
    atoms = [size for size, _ in law.atoms]
    if len(atoms) + sum(steps) + len(steps) > CLASSES:
        raise TooLargeError(f"sizes: expected at most {CLASSES:,} sizes: draw the pieces from a coarser grid")
    lengths = [(piece.upper - piece.lower) / n for piece, n in zip(law.pieces, steps, strict=True)]
    below = [x.denominator for x in (*atoms, *(piece.lower for piece in law.pieces), *lengths)]
    capacity = 1
    for denominator in set(below):
        capacity = lcm(capacity, denominator)
        if capacity > FINEST:
            raise TooLargeError(f"sizes: expected sizes in a common unit of at least 1/{FINEST:,}: round them")
    sizes = [np.array([int(size * capacity) for size in atoms], np.int64)]
    weights = [np.array([float(p) for _, p in law.atoms])]
    for piece, n, length in zip(law.pieces, steps, lengths, strict=True):
        points = int(piece.lower * capacity) + int(length * capacity) * np.arange(n + 1)
        points = points[points > 0]
        sizes.append(points)
        weights.append(np.full(len(points), float(piece.probability) / len(points)))
    if len(steps) == 1 and not atoms:
        return SizeLaw(sizes[1], capacity, np.zeros(0))
    values, place = np.unique(np.concatenate(sizes), return_inverse=True)
    probabilities = np.bincount(place.reshape(-1), weights=np.concatenate(weights)).astype(float)
    return SizeLaw(values, capacity, probabilities)


def _steps(piece: Piece, grid: Fraction) -> int:
    return ceil((piece.upper - piece.lower) / grid)
