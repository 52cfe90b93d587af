"""How fast the reject group empties servers: a small Markov chain, many times faster than the fluid, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.instance import Configuration

MOST_STATES = 3_000
"""Joint contents of several draining configurations beyond which their chain is not solved but thinned."""

EMPTY = 1e-12
"""A smaller chance counts as none."""

LEAST = 1e-6
"""A smaller mean occupancy counts as none."""

RARE = 1e-8
"""A type that departs this much more rarely than others keeps its servers, on the time scale of draining."""

FASTEST = 1e2
"""Servers a shortest mean service time: as fast as servers are freed that are nearly surely empty."""


@kernel
def _emptying_times(configuration: NDArray[np.int64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean time until a server with each content n <= k is empty, in mixed radix with the last type fastest."""
    width = configuration.size
    strides = np.ones(width + 1, np.int64)
    for j in range(width - 1, -1, -1):
        strides[j] = strides[j + 1] * (configuration[j] + 1)
    times = np.zeros(strides[0])
    # competing exponential times: E T(n) = (1 + sum_{j: n_j > 0} rate_j E T(n - e_j)) / sum_{j: n_j > 0} rate_j.
    for state in range(1, strides[0]):
        total, waiting, stuck = 0.0, 1.0, False
        for j in range(width):
            if (state // strides[j + 1]) % (configuration[j] + 1) > 0:
                total += rates[j]
                waiting += rates[j] * times[state - strides[j + 1]] if rates[j] > 0 else 0.0
                stuck = stuck or rates[j] <= 0
        times[state] = np.inf if stuck else waiting / total
    return times


@kernel
def _contents(configuration: NDArray[np.int64], occupancy: NDArray[np.float64]) -> NDArray[np.float64]:
    """See `contents`."""
    law = np.ones(1)
    # The slots of a type are full independently, so its jobs are binomial; the types are independent of each other.
    for j in range(configuration.size):
        slots, chance = configuration[j], occupancy[j]
        binomial = np.empty(slots + 1)
        ways = 1.0  # the binomial coefficient of n
        for n in range(slots + 1):
            binomial[n] = ways * chance ** float(n) * (1 - chance) ** float(slots - n)
            ways = ways * (slots - n) / (n + 1)
        law = np.outer(law, binomial).ravel()
    return law


@kernel
def _mean_time(configuration: NDArray[np.int64], rates: NDArray[np.float64], occupancy: NDArray[np.float64]) -> float:
    """Mean time until a server is empty whose slots are full by chance."""
    times, law = _emptying_times(configuration, rates), _contents(configuration, occupancy)
    possible = law > EMPTY
    return float(np.dot(law[possible], times[possible]))


def contents(configuration: Configuration, occupancy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the law of a server's content if each slot of type j is full with chance occupancy[j], independently.

    float64[product of (k_j + 1)], in mixed radix with the last type fastest.
    """
    return _contents(_slots(configuration), occupancy)


@lru_cache(maxsize=4096)
def _slots(configuration: Configuration) -> NDArray[np.int64]:
    return np.array(configuration, dtype=np.int64)


def emptying_rate(configuration: Configuration, rates: NDArray[np.float64], occupancy: NDArray[np.float64]) -> float:
    """Return how fast a draining configuration gives servers free: 1 / E[max_j Erlang(n_j, mu_j y_j)], up to `FASTEST`.

    Every departure of type j anywhere, at rate mu_j y_j per server, pulls a job of that type out of the one server that
    drains, so the server with content n is empty after the longest of independent Erlang times; the next one follows at
    once. A slot of type j is full with chance occupancy[j] as draining begins, which is 1 for types whose arrivals are
    refused. The rate is 0 if a type that is held never departs. O(J prod (k_j + 1)).

    Two types with one job each: the maximum of two exponential times of mean 1 has mean 3/2.

    >>> round(emptying_rate((1, 1), np.ones(2), np.ones(2)), 12)
    0.666666666667
    """
    mean = _mean_time(_slots(configuration), rates, occupancy)
    return min(1 / mean, FASTEST) if mean > 0 else FASTEST


def emptying_rates(
    configurations: Sequence[Configuration], rates: NDArray[np.float64], occupancy: NDArray[np.float64]
) -> list[float]:
    """Return how fast each of several draining configurations gives servers free; see `emptying_rate`.

    One server of each drains at a time. A departing job of type j is replaced from the first of them, in the order
    given (the worst rank first, then the policy's rule for ties), that holds a job of type j. The joint contents are a
    Markov chain; its stationary flow into empty servers is returned.

    A server with a type that departs rarely (`RARE`) is soon left with jobs of that type alone: it lets all other
    departures pass, so the chain is that of the other configurations.

    Above `MOST_STATES` joint contents the chain is not solved (`is_exact` tells), nor where slots are full by chance.
    Instead each configuration is taken to see the departures that its forerunners let pass on average, as if
    independent of its own content.

    The second is asked only while the first holds no job of the type: never, where each holds one slot of it.

    >>> emptying_rates([(1,), (1,)], np.ones(1), np.ones(1))
    [1.0, 0.0]
    """
    full = [0.0 if chance < LEAST else chance for chance in occupancy.tolist()]  # short lists: faster than arrays
    occupancy = np.array(full)
    holders, empty = _holders(tuple(configurations), tuple(chance > 0 for chance in full))
    if max(holders, default=0) <= 1:  # no type in two of them: they do not meet
        return [emptying_rate(k, rates, occupancy) for k in configurations]
    partly = any(0 < chance < 1 for chance in full)  # a mean as it is: not worth a chain
    if partly or empty or joint_contents(configurations) > MOST_STATES:
        return _thinned(configurations, rates, occupancy)
    departing = rates.tolist()
    least = RARE * max(rate for rate, number in zip(departing, holders, strict=True) if number)
    rare = [number > 0 and rate <= least for rate, number in zip(departing, holders, strict=True)]
    if not any(rare):
        return _joint(configurations, rates, occupancy)
    lasting = {k for k in configurations if any(slow and slots for slow, slots in zip(rare, k, strict=True))}
    others = iter(emptying_rates([k for k in configurations if k not in lasting], rates, occupancy))
    return [emptying_rate(k, rates, occupancy) if k in lasting else next(others) for k in configurations]


def minimum_rates(
    configurations: Sequence[Configuration], rates: NDArray[np.float64], occupancy: NDArray[np.float64]
) -> list[float]:
    """Return simplified drain rates: ``min_j mu_j y_j / (n_j k_j)``, n_j the draining configurations that hold type j.

    They keep the limit point and are too fast on the way: the last job of a server is waited for longer. Source:
    auto-scaling paper, section 7 as rebuilt.

    Examples
    --------
    >>> minimum_rates([(1, 1)], np.array([1.0, 2.0]), np.ones(2))
    [1.0]
    """
    del occupancy
    sharing = np.sum([np.array(k) > 0 for k in configurations], axis=0)
    return [float(min(rates[j] / (sharing[j] * slots) for j, slots in enumerate(k) if slots)) for k in configurations]


@lru_cache(maxsize=4096)  # a path asks at every step, for few draining configurations
def _holders(configurations: tuple[Configuration, ...], some: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
    """Return how many configurations hold each type that is present, and whether one of them holds none of these."""
    holds = [[slots > 0 and present for slots, present in zip(k, some, strict=True)] for k in configurations]
    return tuple(sum(column) for column in zip(*holds, strict=True)), not all(map(any, holds))


def joint_contents(configurations: Sequence[Configuration]) -> int:
    """Return the number of contents that the draining servers of several configurations can have together."""
    return prod(slots + 1 for k in configurations for slots in k)


def is_exact(configurations: Sequence[Configuration]) -> bool:
    """Return whether `emptying_rates` solves the chain: few joint contents, or no type in two configurations."""
    holders = np.sum([_slots(k) > 0 for k in configurations], axis=0)
    return bool((holders <= 1).all()) or joint_contents(configurations) <= MOST_STATES


def _thinned(
    configurations: Sequence[Configuration], rates: NDArray[np.float64], occupancy: NDArray[np.float64]
) -> list[float]:
    result = []
    seen = rates.astype(float)
    for k in configurations:
        rate = emptying_rate(k, seen, occupancy)
        result.append(rate)
        # pulls of type j: rate x E[n_j] = seen_j x the part of the time for which it is held
        seen = np.maximum(seen - rate * _slots(k) * occupancy, 0.0)
    return result


def _joint(
    configurations: Sequence[Configuration], rates: NDArray[np.float64], occupancy: NDArray[np.float64]
) -> list[float]:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    chain = _chain(tuple(configurations), tuple(np.round(occupancy, 15).tolist()))
    size = chain.size
    flows = rates[chain.types] * chain.chances
    values = np.concatenate((flows, -np.bincount(chain.sources, flows, size), np.ones(size)))
    keep = chain.keep
    matrix = csc_matrix((values[keep], (chain.rows[keep], chain.columns[keep])), shape=(size, size))
    law = splu(matrix).solve(np.eye(1, size)[0])
    result = [0.0] * len(configurations)
    for c, (sources, types, servers) in enumerate(chain.freed):
        result[c] = float(servers * (law[sources] @ rates[types]))
    return result


@dataclass(frozen=True)
class _Chain:
    """Transitions of the joint contents: from a source, by a departure of a type, with a chance.

    Rows and columns are those of the balance equations: flows in, flows out, and ones, as the law sums to one. That
    equation replaces the first balance, which the others imply and ``keep`` leaves out.
    """

    size: int
    sources: NDArray[np.int64]
    types: NDArray[np.int64]
    chances: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    keep: NDArray[np.bool_]
    freed: list[tuple[NDArray[np.int64], NDArray[np.int64], float]]


@lru_cache(maxsize=64)
def _chain(configurations: tuple[Configuration, ...], occupancy: tuple[float, ...]) -> _Chain:
    filled = []  # what the next server of each configuration holds, empty ones skipped
    skipped = []  # servers freed with it: those that were empty
    for k in configurations:
        law = contents(k, np.array(occupancy))
        chances = zip(product(*(range(slots + 1) for slots in k)), law.tolist(), strict=True)
        filled.append([(n, chance / (1 - law[0])) for n, chance in chances if any(n) and chance > EMPTY])
        skipped.append(1 / (1 - float(law[0])))
    states = {tuple(law[-1][0] for law in filled): 0}  # the fullest; a configuration that is never asked stays as it is
    waiting, moves = list(states), []
    freed: list[list[tuple[int, int]]] = [[] for _ in configurations]
    while waiting:
        state = waiting.pop()
        i = states[state]
        for j in range(len(occupancy)):
            # a departure of type j takes its job from the first draining server that has one
            giver = next((c for c, n in enumerate(state) if n[j]), None)
            if giver is None:
                continue
            less = tuple(slots - (t == j) for t, slots in enumerate(state[giver]))
            if not any(less):
                freed[giver].append((i, j))
            for n, chance in [(less, 1.0)] if any(less) else filled[giver]:
                following = (*state[:giver], n, *state[giver + 1 :])
                if following not in states:
                    states[following] = len(states)
                    waiting.append(following)
                moves.append((states[following], i, j, chance))
    size = len(states)
    to, sources, types = np.array([move[:3] for move in moves]).T
    weights = np.array([move[3] for move in moves])
    every, first = np.arange(size), np.zeros(size, dtype=int)
    rows = np.concatenate((to, every, first))
    columns = np.concatenate((sources, every, every))
    # the balance of state 0 follows from the others; its row has the sum of the law in its place
    keep = np.concatenate((to > 0, every > 0, np.ones(size, dtype=bool)))
    return _Chain(
        size,
        sources,
        types,
        weights,
        rows,
        columns,
        keep,
        [
            (np.array([i for i, _ in pairs], dtype=int), np.array([j for _, j in pairs], dtype=int), servers)
            for pairs, servers in zip(freed, skipped, strict=True)
        ],
    )
