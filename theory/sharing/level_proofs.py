"""Prices that prove the level of every stage over all pairs of user and server."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.sharing.interior import Stage
from theory.sharing.pairs import Pairs, unit_costs

NONE = 1e-12
"""Tasks, as a part of the height, and free parts of resources that count as none where prices say so."""


class Proofs:
    """Prices of each stage that prove its level over all pairs, also those that earlier stages have closed.

    Parameters
    ----------
    needs : float64[K, N, R]
    may : bool[K, N]

    Attributes
    ----------
    prices : list of float64[K R]
        One for each stage, at least 0.

    Notes
    -----
    A stage's own prices count only open pairs, and may be below 0 on rows that are full. The prices of the stage that
    closed a pair make it dearer by what it saves there, and cost nothing: their bound is met by all that is feasible
    now. So multiples of the prices of earlier stages are added, as large as the closed pairs and full rows need.
    """

    def __init__(self, needs: NDArray[np.float64], may: NDArray[np.bool_]) -> None:
        self._needs = needs
        self.prices: list[NDArray[np.float64]] = []
        self._gaps: list[float] = []
        self._by = np.where(may, 0, -1).astype(np.int32)  # stage that closed the pair, from 1 on; 0 while it is open
        self._dear = np.zeros(may.shape)
        self._row_by = np.zeros(needs.shape[0] * needs.shape[2], np.int32)
        self._row_price = np.zeros(len(self._row_by))

    def add(self, stage: Stage) -> float:
        """Note the prices of a stage; return the gap of its proof, as a part of the height."""
        cost = self._costs(stage.prices)
        times = np.zeros(len(self.prices) + 1)
        pairs = (self._by > 0) & (cost < stage.worth)
        np.maximum.at(times, self._by[pairs], (stage.worth - cost)[pairs] / self._dear[pairs])
        rows = (self._row_by > 0) & (stage.prices < 0)
        np.maximum.at(times, self._row_by[rows], -stage.prices[rows] / self._row_price[rows])
        prices, gap = stage.prices.copy(), stage.gap * stage.point.height
        for earlier, own, lack in zip(times[1:], self.prices, self._gaps, strict=True):
            prices += earlier * own
            gap += earlier * lack
        self.prices.append(np.maximum(prices, 0.0))
        self._gaps.append(gap)
        return gap / stage.point.height

    def settled(self, stage: Stage, pairs: Pairs, least: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the pairs, bool[K, N], and rows, bool[K R], that are settled by the latest stage.

        A pair is where moving all tasks of its user there would cost at least so much, as a part of the height.
        """
        height = stage.point.height
        dear = self._costs(stage.prices) - stage.worth
        held = np.zeros(dear.shape, np.bool_)
        held[pairs.server, pairs.user] = stage.point.tasks > NONE * height
        closed = (self._by == 0) & (dear >= least) & ~held
        self._by[closed] = len(self.prices)
        self._dear[closed] = dear[closed]
        full = (self._row_by == 0) & (stage.prices >= least * height) & (stage.point.free <= NONE)
        self._row_by[full] = len(self.prices)
        self._row_price[full] = stage.prices[full]
        return closed, full

    def _costs(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        return unit_costs(self._needs, prices.reshape(len(self._needs), -1))
