"""The feasible and the maximal configurations of a server, counted before they are enumerated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.compiled import kernel
from theory.errors import TooLargeError
from theory.instance import Additive, Configuration, Space

LIMIT = 100_000_000
"""Largest table of configurations (rows times types) that is enumerated by default: 800 MB."""

TABLE_LIMIT = 2_000_000
"""Most resource levels by which configurations are counted; beyond, they are counted one by one."""

WALKED = 10_000_000
"""Most feasible configurations that are walked through to count the maximal ones among them."""


@dataclass(frozen=True)
class Reduced:
    """Types of an additive space that fit, on the resources that bind: the same configurations in smaller integers."""

    types: tuple[int, ...]
    capacity: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]

    @cached_property
    def jobs(self) -> int:
        """Upper bound of the number of jobs in a configuration: the sum over types of how many fit alone."""
        return sum(min(c // d for c, d in zip(self.capacity, row, strict=True) if d) for row in self.demands)

    @property
    def cells(self) -> int:
        """Number of distinct resource levels: the size of a dynamic program's table."""
        return prod(c + 1 for c in self.capacity)


def reduced(space: Additive, types: Iterable[int] | None = None) -> Reduced:
    """Drop types that do not fit and resources that never bind, and divide each resource by its common unit.

    Parameters
    ----------
    space : Additive
    types : iterable of int, optional
        Types to keep; all of them where left out.

    Notes
    -----
    Resource r never binds beside s if ``d_r / C_r <= d_s / C_s`` for every type, decided in integers. O(J R^2).

    Examples
    --------
    >>> reduced(Additive(("cpu", "gb"), (80, 64), ((4, 2), (8, 6)), (1, 1)))
    Reduced(types=(0, 1), capacity=(20,), demands=((1,), (2,)))
    """
    return _reduced(space, tuple(range(len(space.demands)) if types is None else sorted(set(types))))


@lru_cache(maxsize=256)  # column generation asks for the same space again and again
def _reduced(space: Additive, wanted: tuple[int, ...]) -> Reduced:
    fitting = tuple(j for j in wanted if space.most(j))
    rows = binding(space, fitting)
    divisors = [gcd(*(space.demands[j][r] for j in fitting)) for r in rows]
    capacities = tuple(space.capacity[r] // divisor for r, divisor in zip(rows, divisors, strict=True))
    demands = (tuple(space.demands[j][r] // d for r, d in zip(rows, divisors, strict=True)) for j in fitting)
    return Reduced(fitting, capacities, tuple(demands))


def binding(space: Additive, types: Sequence[int]) -> list[int]:
    """Return the resources without those that never bind for the given types, whether these fit or not.

    Of resources that bind together the first is kept; one that no type demands never binds.
    """
    levels: dict[int, tuple[int, tuple[int, ...]]] = {}
    for r, capacity in enumerate(space.capacity):
        column = tuple(space.demands[j][r] for j in types)
        divisor = gcd(*column)
        if divisor:
            levels[r] = (capacity // divisor, tuple(d // divisor for d in column))
    return [
        r
        for r, level in levels.items()
        if not any(
            _covers(other, level) and not (r < k and _covers(level, other)) for k, other in levels.items() if k != r
        )
    ]


def _covers(a: tuple[int, tuple[int, ...]], b: tuple[int, tuple[int, ...]]) -> bool:
    """Return whether every configuration within resource `a` is within resource `b`."""
    return all(db * a[0] <= da * b[0] and (da or not db) for da, db in zip(a[1], b[1], strict=True))


@lru_cache(maxsize=256)  # every replication of a simulation lists the configurations of the same servers
def count(space: Space, *, stop: int = 10**15) -> int:
    """Count the feasible configurations, the empty one included.

    Parameters
    ----------
    space : Space
    stop : int
        Where the resource table is too large for a dynamic program, counting one by one ends here; the answer is
        then `stop` and stands for "at least".

    Examples
    --------
    >>> from theory.instance import additive
    >>> count(additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]).pools[0].space)
    12574
    """
    if not isinstance(space, Additive):
        return len(_closure(space.generators))
    small = reduced(space)
    if small.cells <= TABLE_LIMIT:
        return int(_ways(small).sum())
    return int(_feasible(*_arrays(small), _no_rows(small), min(stop, 2_000_000_000)))


def has_at_most(space: Additive, number: int) -> bool:
    """Return whether a server has at most so many feasible configurations, by counting no further."""
    small = reduced(space)
    return not small.types or int(_feasible(*_arrays(small), _no_rows(small), number + 1)) <= number


def count_maximal(space: Space) -> int | None:
    """Count the maximal configurations, or return None where neither a table nor listing is small enough.

    Notes
    -----
    A configuration is maximal if no type fits into what it leaves: the same table as `count` tells, by level. Beyond
    `TABLE_LIMIT` levels they are counted one by one, if the feasible ones are at most `WALKED`.

    Examples
    --------
    >>> from theory.instance import additive
    >>> count_maximal(additive([80, 640], [[1, 1], [4, 16], [2, 32], [32, 256]]).pools[0].space)
    424
    """
    if not isinstance(space, Additive):
        return len(space.generators)
    small = reduced(space)
    if small.cells > TABLE_LIMIT:
        if count(space, stop=WALKED) == WALKED:
            return None
        return int(_maximal(*_arrays(small), _no_rows(small)))
    ways = _ways(small)
    full = np.ones(ways.shape, np.bool_)
    for row in small.demands:
        full[tuple(slice(0, c - d + 1) for c, d in zip(small.capacity, row, strict=True))] = False
    return int(ways[full].sum())


def feasible(space: Space, *, limit: int = LIMIT) -> NDArray[np.int64]:
    """List all feasible configurations.

    Returns
    -------
    int64[n, J]
        In increasing lexicographic order, the empty configuration first.

    Raises
    ------
    TooLargeError
        If n x J is more than `limit`; they are counted first and nothing is enumerated then.

    Notes
    -----
    An odometer compiled by numba: O(n (J + R)) time, and memory for the answer only.

    Examples
    --------
    >>> from theory.instance import additive
    >>> feasible(additive([12], [[5], [7]]).pools[0].space).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]
    """
    if not isinstance(space, Additive):
        return np.array(sorted(_closure(space.generators, limit)), np.int64)
    width = len(space.demands)
    number = _within(space, limit)
    small = reduced(space)
    rows = np.zeros((number, len(small.types)), np.int64)
    _feasible(*_arrays(small), rows, number)
    return _widen(rows, small.types, width)


def maximal(space: Space, *, limit: int = LIMIT) -> NDArray[np.int64]:
    """List the maximal configurations: those to which no job can be added.

    Returns
    -------
    int64[n, J]
        In increasing lexicographic order.

    Raises
    ------
    TooLargeError
        If the *feasible* configurations, through which the search walks, times J are more than 100 times `limit`,
        or the maximal ones times J more than `limit`.

    Examples
    --------
    >>> from theory.instance import additive
    >>> maximal(additive([12], [[5], [7]]).pools[0].space).tolist()
    [[1, 1], [2, 0]]
    """
    if not isinstance(space, Additive):
        return np.array(sorted(space.generators), np.int64)
    width = len(space.demands)
    _within(space, limit * 100)
    small = reduced(space)
    if not small.types:
        return np.zeros((1, width), np.int64)
    number = int(_maximal(*_arrays(small), _no_rows(small)))
    if number * width > limit:
        raise TooLargeError(_refusal(number, "maximal configurations", limit // width))
    rows = np.zeros((number, len(small.types)), np.int64)
    _maximal(*_arrays(small), rows)
    return _widen(rows, small.types, width)


def _within(space: Additive, limit: int) -> int:
    most = limit // max(1, len(space.demands))
    number = count(space, stop=most + 1)
    if number > most:
        raise TooLargeError(_refusal(number, "feasible configurations", most))
    return number


def _refusal(number: int, what: str, most: int) -> str:
    advice = "use fewer types or coarser units, or a method that prices configurations instead of listing them"
    return f"the server has {number:,} {what} at least, expected at most {most:,} to enumerate: {advice}"


def _widen(rows: NDArray[np.int64], types: Sequence[int], width: int) -> NDArray[np.int64]:
    if len(types) == width:
        return rows
    full = np.zeros((len(rows), width), np.int64)
    full[:, list(types)] = rows
    return full


def _arrays(small: Reduced) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    shape = (len(small.types), len(small.capacity))
    return np.array(small.capacity, np.int64), np.array(small.demands, np.int64).reshape(shape)


def _no_rows(small: Reduced) -> NDArray[np.int64]:
    return np.zeros((0, len(small.types)), np.int64)


def _closure(generators: Iterable[Configuration], limit: int = LIMIT) -> set[Configuration]:
    """Everything below a listed configuration."""
    below: set[Configuration] = set()
    for k in generators:
        size = prod(entry + 1 for entry in k)
        if size * len(k) > limit:
            raise TooLargeError(_refusal(size, f"configurations below {list(k)}", limit // len(k)))
        below.update(product(*(range(entry + 1) for entry in k)))
        if len(below) * len(k) > limit:
            raise TooLargeError(_refusal(len(below), "feasible configurations", limit // len(k)))
    return below


def _ways(small: Reduced) -> NDArray[Any]:
    """Count by resource level: ways[c] is the number of configurations that use exactly c."""
    shape = tuple(c + 1 for c in small.capacity)
    largest = prod(min(c // d for c, d in zip(small.capacity, row, strict=True) if d) + 1 for row in small.demands)
    ways = np.zeros(shape, np.int64 if largest < 2**62 else object)
    ways[(0,) * len(shape)] = 1
    for row in small.demands:
        # ways(c) += ways(c - d_j), level by level of a resource that the type demands: one more job of it each time
        step = next(r for r, d in enumerate(row) if d)
        for level in range(row[step], shape[step]):
            to: list[slice | int] = [slice(d, None) for d in row]
            source: list[slice | int] = [slice(None, size - d) for d, size in zip(row, shape, strict=True)]
            to[step], source[step] = level, level - row[step]
            ways[tuple(to)] += ways[tuple(source)]
    return ways


@kernel
def _fits(free: NDArray[np.int64], demand: NDArray[np.int64]) -> bool:
    for r in range(free.size):  # noqa: SIM110 (compiled)
        if demand[r] > free[r]:
            return False
    return True


# Loops in place of operations on arrays: those take the compiler two seconds more, most of it for messages of errors.


@kernel
def _add(free: NDArray[np.int64], demand: NDArray[np.int64], times: int) -> None:
    for r in range(free.size):
        free[r] += times * demand[r]


@kernel
def _write(rows: NDArray[np.int64], n: int, k: NDArray[np.int64]) -> None:
    for j in range(k.size):
        rows[n, j] = k[j]


@kernel
def _advance(k: NDArray[np.int64], free: NDArray[np.int64], demands: NDArray[np.int64], j: int) -> bool:
    """Step to the next configuration in lexicographic order whose types behind `j` are empty; False at the end.

    An odometer: type j is raised if a job fits; if not, it is emptied and the type before it is raised.
    """
    while j >= 0:
        if _fits(free, demands[j]):
            k[j] += 1
            _add(free, demands[j], -1)
            return True
        _add(free, demands[j], k[j])
        k[j] = 0
        j -= 1
    return False


@kernel
def _feasible(capacity: NDArray[np.int64], demands: NDArray[np.int64], rows: NDArray[np.int64], stop: int) -> int:
    """Write the feasible configurations to `rows` as far as it reaches; return their number, at most `stop`."""
    free = capacity.copy()
    k = np.zeros(len(demands), np.int64)
    n = 0
    while n < stop:
        if n < len(rows):
            _write(rows, n, k)
        n += 1
        if not _advance(k, free, demands, k.size - 1):
            break
    return n


@kernel
def _maximal(capacity: NDArray[np.int64], demands: NDArray[np.int64], rows: NDArray[np.int64]) -> int:
    """Write the maximal configurations to `rows` as far as it reaches; return their number."""
    free = capacity.copy()
    last = len(demands) - 1
    k = np.zeros(last + 1, np.int64)
    n = 0
    while True:
        while _fits(free, demands[last]):
            k[last] += 1
            _add(free, demands[last], -1)
        full = True
        for j in range(last):
            if _fits(free, demands[j]):
                full = False
                break
        if full:
            if n < len(rows):
                _write(rows, n, k)
            n += 1
        # the last type is full: it is emptied, and the one before it raised
        _add(free, demands[last], k[last])
        k[last] = 0
        if not _advance(k, free, demands, last - 1):
            return n
