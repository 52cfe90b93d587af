"""Demands rounded up to a grid of shares of a server, resource by resource, for all demands of a log at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fluid.planning.too_large import shortage
from theory.rows import unique_rows

MOST_TYPES = 24
"""Most types that are planned with: policies and bounds take long for many more."""

GRIDS = (16, 8, 4, 2, 1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(1, 40))
"""Steps to each halving of a grid; 1/2 has a step to every second halving."""

FINEST = 2**40
"""Least share of a server of a grid, as a denominator; smaller demands count as this share."""

Kind = tuple[Fraction, ...]
"""An amount of each resource."""


def shares_of(steps: Fraction | int) -> list[Fraction]:
    """Return the shares of a server of a grid in ascending order.

    Examples
    --------
    >>> [str(share) for share in shares_of(4)[-6:]], [str(share) for share in shares_of(Fraction(1, 40))]
    (['7/16', '1/2', '5/8', '3/4', '7/8', '1'], ['1/1099511627776', '1'])
    """
    fall = 2 ** int(1 / Fraction(steps)) if steps < 1 else 2
    shares, top = [], Fraction(1)
    while top * FINEST >= 1:
        shares += [top - i * top / (2 * int(steps)) for i in range(int(steps))] if steps > 1 else [top]
        top /= fall
    return sorted(share for share in shares if share * FINEST >= 1)


def kinds_on_grid(
    rows: NDArray[np.int64],
    units: Sequence[Fraction],
    capacity: Mapping[str, Fraction],
    servers: Sequence[Mapping[str, Fraction]],
) -> tuple[list[Kind], NDArray[np.int64], str]:
    """Round distinct demands up to the finest grid that leaves at most `MOST_TYPES` kinds, or else to the coarsest.

    Parameters
    ----------
    rows : int64[D, R]
        Demands that fit a server, in units.
    units : sequence of Fraction, length R
    capacity : mapping of str to Fraction
        What shares are of: the most that any server has of each resource.
    servers : sequence of mapping
        What each kind of server has. A demand that is rounded to what fits none of several stays as it is.

    Returns
    -------
    list of tuple of Fraction
        The kinds in ascending order.
    int64[D]
        Which of them each demand is.
    str
        The grid in words.
    """
    kinds: list[Kind] = []
    which = np.zeros(len(rows), np.int64)
    for steps in GRIDS:
        points = [[Fraction(0), *(share * most for share in shares_of(steps))] for most in capacity.values()]
        places = [_places(*column) for column in zip(rows.T, units, points, strict=True)]
        on_grid, _, which = unique_rows(np.column_stack(places))
        kinds = [tuple(of[i] for of, i in zip(points, row, strict=True)) for row in on_grid.tolist()]
        if len(servers) > 1:
            fits = [not shortage(dict(zip(capacity, kind, strict=True)), servers) for kind in kinds]
            if sum(fits) <= MOST_TYPES or steps == GRIDS[-1]:
                kinds, which = _with_others_as_they_are(kinds, which, np.array(fits), rows, units)
        if len(kinds) <= MOST_TYPES:
            break
    return kinds, which, _in_words(steps)


def _places(amounts: NDArray[np.int64], unit: Fraction, points: Sequence[Fraction]) -> NDArray[np.int64]:
    """Return which of ascending points is the first that is not below each amount."""
    # whole amounts are at most a point if they are at most the whole part of it
    most = np.array([min(point // unit, 2**62) for point in points], np.int64)
    return np.searchsorted(most, amounts, side="left")


def _with_others_as_they_are(
    kinds: Sequence[Kind],
    which: NDArray[np.int64],
    fits: NDArray[np.bool_],
    rows: NDArray[np.int64],
    units: Sequence[Fraction],
) -> tuple[list[Kind], NDArray[np.int64]]:
    """Return the kinds that fit a server, and the demands of the others as they are."""
    demands = [kinds[i] for i in which.tolist()]
    for d in np.flatnonzero(~fits[which]).tolist():
        demands[d] = tuple(n * unit for n, unit in zip(rows[d].tolist(), units, strict=True))
    every = sorted(set(demands))
    place = {kind: i for i, kind in enumerate(every)}
    return every, np.array([place[demand] for demand in demands], np.int64)


def _in_words(steps: Fraction | int) -> str:
    """Return a grid in words."""
    if steps > 1:
        shares = ", ".join(f"{2 * int(steps) - i}/{2 * int(steps)}" for i in range(1, 3))
        return f"shares of a server with {steps} steps to each halving: 1, {shares}, ..."
    fall = 2 ** int(1 / Fraction(steps))
    return f"shares of a server: 1, 1/{fall}, 1/{fall**2}, ..."
