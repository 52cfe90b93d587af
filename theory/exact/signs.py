"""The signs of reduced costs that are certain in floats, so that few columns of a program are priced exactly."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

MARGIN, LEAST, TINY, UNSURE = 1e-6, 1e-200, 1e-150, 2
"""A sum in floats whose size is at least `MARGIN` of that of its terms, and above `LEAST`, has the sign of the exact
sum if no factor of a term is below `TINY`; a sign is -1, 0 or 1, or `UNSURE`."""


class FloatColumns:
    """The columns in floats, one long list, from which the signs of their reduced costs are read off."""

    def __init__(self) -> None:
        self.costs, self._values = array("d"), array("d")
        self._places, self._rows, self._starts = array("q"), array("q"), array("q")

    def extend(
        self, costs: Sequence[float], starts: Sequence[int], rows: Sequence[int], values: Sequence[float]
    ) -> None:
        """Append columns; `starts` says where the rows and values of each begin."""
        lengths = np.diff([*starts, len(rows)])
        self._places.extend(np.repeat(np.arange(len(costs)) + len(self.costs), lengths).tolist())
        self._starts.extend(len(self._values) + start for start in starts)
        self._rows.extend(rows)
        self._values.extend(values)
        self.costs.extend(costs)

    def pop(self) -> None:
        """Remove the last column."""
        self.costs.pop()
        start = self._starts.pop()
        del self._values[start:], self._places[start:], self._rows[start:]

    def signs(self, dual: Sequence[Fraction]) -> list[int]:
        """Return the sign of c - a'y for every column, or `UNSURE` where floats cannot tell.

        Each cost, entry and multiplier is rounded once, and so is each product and sum: the error is less than (4 +
        entries of the column) 2^-53 times the sum of the sizes of the terms. `MARGIN` is far more for any column that
        fits into memory. A cost that underflows is below `LEAST`. A column with a factor that may lose its last digits
        near the smallest float, below `TINY`, is unsure; no product of others does.
        """
        try:
            prices = np.array([float(price) for price in dual])
        except OverflowError:
            return [UNSURE] * len(self.costs)
        costs, places = np.frombuffer(self.costs), np.frombuffer(self._places, np.int64)
        lost = (np.abs(prices) < TINY) & np.array([price != 0 for price in dual], bool)
        values, rows = np.frombuffer(self._values), np.frombuffer(self._rows, np.int64)
        doubtful = np.bincount(places, (np.abs(values) < TINY) | lost[rows], len(costs)) > 0
        with np.errstate(all="ignore"):  # what is not finite is unsure
            terms = values * prices[rows]
            gains = costs - np.bincount(places, terms, len(costs))
            sizes = np.abs(costs) + np.bincount(places, np.abs(terms), len(costs))
            sure = (np.abs(gains) > MARGIN * sizes + LEAST) & np.isfinite(sizes) & ~doubtful
        return np.where(sure, np.sign(gains), UNSURE).astype(int).tolist()  # type: ignore[no-any-return]
