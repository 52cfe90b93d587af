"""The signs of reduced costs that floats are sure of, so that few columns of a program are priced exactly."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

MARGIN, WHOLE, UNSURE = 1e-6, 2.0**53, 2
"""A sum in floats has the sign of the exact sum if its size is at least `MARGIN` of that of its terms. Where these
sizes sum to less than `WHOLE`, up to which floats hold all whole numbers, nothing is rounded. A sign is -1, 0 or 1, or
`UNSURE`."""


class FloatColumns:
    """Columns of whole numbers, kept as floats in one long list, from which the signs of reduced costs are read off."""

    def __init__(self) -> None:
        self._costs, self._values = array("d"), array("d")
        self._places, self._rows, self._starts = array("q"), array("q"), array("q")

    def extend(self, costs: Sequence[int], lengths: Sequence[int], rows: Sequence[int], values: Sequence[int]) -> None:
        """Append columns: their costs, and rows and values of the entries, so many of each column."""
        columns, starts = np.arange(len(self._costs), len(self._costs) + len(costs)), np.cumsum([0, *lengths[:-1]])
        self._places.frombytes(np.repeat(columns, lengths).tobytes())
        self._starts.frombytes((len(self._values) + starts[: len(lengths)]).tobytes())
        self._rows.extend(rows)
        self._values.extend(_floats(values))
        self._costs.extend(_floats(costs))

    def replace(self, column: int, cost: int, entries: Sequence[tuple[int, int]]) -> None:
        """Write other numbers over a column, in the same rows."""
        start = self._starts[column]
        self._values[start : start + len(entries)] = _floats([value for _, value in entries])
        self._costs[column : column + 1] = _floats([cost])

    def keep(self, columns: Sequence[int]) -> None:
        """Remove all columns but these, which are in order."""
        starts = np.append(np.frombuffer(self._starts, np.int64), len(self._values))
        lengths = np.diff(starts)[columns]
        entries = np.isin(np.frombuffer(self._places, np.int64), columns)
        for name, kept in (
            ("_costs", np.frombuffer(self._costs)[columns]),
            ("_values", np.frombuffer(self._values)[entries]),
            ("_rows", np.frombuffer(self._rows, np.int64)[entries]),
            ("_places", np.repeat(np.arange(len(columns)), lengths)),
            ("_starts", np.cumsum([0, *lengths])[:-1]),
        ):
            setattr(self, name, array(getattr(self, name).typecode, kept.tobytes()))

    def signs(self, dual: Sequence[int], scale: int) -> list[int]:
        """Return the sign of ``scale c - a'y`` for every column, or `UNSURE` where floats cannot tell.

        Parameters
        ----------
        dual : sequence of int
            y times the scale, which is positive.
        scale : int

        Notes
        -----
        Every number is whole, so no product underflows. Where the sizes of the terms sum to less than `WHOLE` in
        floats, they do so exactly: rounding does not lead across a power of 2. Elsewhere each number is rounded
        once, and so is each product and sum, and the error is less than (4 + entries of the column) 2^-53 times the
        sum of the sizes. `MARGIN` is far more for any column that fits into memory. What is too large for a float is
        infinite, which makes a column unsure.
        """
        places, rows = np.frombuffer(self._places, np.int64), np.frombuffer(self._rows, np.int64)
        prices = np.array(_floats(dual))
        with np.errstate(all="ignore"):  # what is not finite is unsure
            costs, terms = np.frombuffer(self._costs) * _floats([scale])[0], np.frombuffer(self._values) * prices[rows]
            gains = costs - np.bincount(places, terms, len(costs))
            sizes = np.abs(costs) + np.bincount(places, np.abs(terms), len(costs))
            sure = (sizes < WHOLE) | ((np.abs(gains) > MARGIN * sizes) & np.isfinite(sizes))
        return np.where(sure, np.sign(gains), UNSURE).astype(int).tolist()  # type: ignore[no-any-return]


def _floats(values: Sequence[int]) -> array[float]:
    """Return the floats nearest to whole numbers, infinite where a number is too large."""
    try:
        return array("d", values)
    except OverflowError:
        return array("d", [value if abs(value) < 2**1023 else float("inf") for value in values])
