"""Pairs of user and server that a program holds: likely ones at first, then those that its prices call for.

The program over all pairs of user and server is too large for clusters of millions of pairs, but few of them hold tasks
in the end. Likely ones come from users who split their tasks softly over cheap servers while prices follow loads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theory.jit import kernel

SOFT, HARD, STEPS = 0.3, 0.08, 60
"""How evenly users split their tasks over servers of different cost, at first and in the end, and the steps between."""

LIKELY = 8
"""Pairs of each user, and of each server for as many users as there are to a server, in the first program."""


def likely_pairs(needs: NDArray[np.float64], may: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return pairs of server and user in which an optimal solution is likely to have its tasks.

    Parameters
    ----------
    needs : float64[K, N, R]
        Share of each resource that one unit of a user takes; 0 where it may not use the server.
    may : bool[K, N]

    Returns
    -------
    bool[K, N]

    Notes
    -----
    In every step a user splits one unit over its servers in proportion to cost^(-1 / soft), and each price is
    multiplied by a power of the load of its resource that is smaller the harder the split. O(K N R) for each of `STEPS`
    steps.
    """
    servers, users, _ = needs.shape
    prices = (needs > 0).any(axis=1) * 1.0
    split = np.zeros((servers, users))
    for step in range(STEPS):
        soft = SOFT * (HARD / SOFT) ** (step / (STEPS - 1))
        cost = unit_costs(needs, prices / prices.sum())
        cost[~may] = np.inf
        least = np.maximum(cost.min(axis=0), 1e-300)
        split = (least / np.maximum(cost, least)) ** (1 / soft)
        split /= split.sum(axis=0)
        load = np.matmul(split[:, None, :], needs)[:, 0]
        prices = np.maximum(prices * (load / load.max()) ** soft, 1e-12 * prices.max() * (prices > 0))
    pairs = np.zeros_like(may)
    few = min(LIKELY, servers)
    pairs[np.argpartition(-split, few - 1, axis=0)[:few], np.arange(users)] = True
    few = min(LIKELY * -(-users // servers), users)
    pairs[np.arange(servers)[:, None], np.argpartition(-split, few - 1, axis=1)[:, :few]] = True
    return pairs & may


def unit_costs(needs: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what one unit of each user costs at each server, float64[K, N], at prices float64[K, R]."""
    return np.asarray(np.matmul(needs, prices[:, :, None])[:, :, 0], np.float64)


class Pairs:
    """Some pairs of server and user, by user and then by server, and the sums over them.

    Parameters
    ----------
    needs : float64[K, N, R]
        Share of each resource that one unit of a user takes.
    server, user : int64[P]
        In any order; every user has a pair.

    Attributes
    ----------
    server, user : int64[P]
        In order.
    order : int64[P]
        Places of the pairs in what was given.
    start : int64[N + 1]
        Where the pairs of each user begin.
    shares : float64[P, R]
    """

    def __init__(self, needs: NDArray[np.float64], server: NDArray[np.int64], user: NDArray[np.int64]) -> None:
        servers, users, width = needs.shape
        self.order = np.lexsort((server, user))
        self.server, self.user = server[self.order], user[self.order]
        self.start = np.searchsorted(self.user, np.arange(users + 1))
        self.shares = needs[self.server, self.user]
        self._row = self.server[:, None] * width + np.arange(width)
        self._rows = servers * width

    def by_user(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values over the pairs of each user, float64[N]."""
        return np.asarray(np.add.reduceat(values, self.start[:-1]), np.float64)

    def loads(self, tasks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the load of each resource of each server, float64[K R]."""
        return self._by_row(self.shares * tasks[:, None])

    def loads_of_squares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values times squared shares over the pairs of each row, float64[K R]."""
        return self._by_row(self.shares**2 * values[:, None])

    def _by_row(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(self._row.ravel(), values.ravel(), self._rows).astype(np.float64, copy=False)

    def connected(self, rows: NDArray[np.bool_], by: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
        """Return rows, bool[K R], in groups: together where users and further rows, bool[K R], connect them."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        users, row = np.nonzero((self.shares > 0) & by[self._row])
        user, row = self.user[users], self._row[users, row]
        count = self._rows + len(self.start) - 1
        graph = coo_array((np.ones(len(row)), (row, self._rows + user)), (count, count))
        _, label = connected_components(graph, directed=False)
        chosen = np.flatnonzero(rows)
        return [chosen[label[chosen] == one] for one in np.unique(label[chosen])]

    def costs(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a unit costs in each pair, float64[P], at prices float64[K R]."""
        return np.asarray((self.shares * prices[self._row]).sum(axis=1), np.float64)


@kernel
def cheapest(
    needs: NDArray[np.float64], may: NDArray[np.bool_], prices: NDArray[np.float64], few: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the least costs of a unit of each user, in order, float64[N, few], and their servers; -1 where none is.

    Parameters
    ----------
    needs : float64[K, N, R]
    may : bool[K, N]
    prices : float64[K, R]
    few : int
    """
    servers, users, width = needs.shape
    cost = np.full((users, few), np.inf)
    place = np.full((users, few), -1, np.int64)
    for i in range(servers):
        for n in range(users):
            if not may[i, n]:
                continue
            own = 0.0
            for r in range(width):
                own += needs[i, n, r] * prices[i, r]
            if own < cost[n, few - 1]:
                at = few - 1
                while at > 0 and cost[n, at - 1] > own:
                    cost[n, at] = cost[n, at - 1]
                    place[n, at] = place[n, at - 1]
                    at -= 1
                cost[n, at] = own
                place[n, at] = i
    return cost, place
