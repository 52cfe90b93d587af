"""Which workloads a cluster can carry: intensity, boundary, head-room, each with evidence; nothing is enumerated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from theory.errors import InputError
from theory.exact.columns import ConfigurationColumns, PoolColumn, trimmed
from theory.exact.knapsack import max_weight
from theory.exact.programs import Bound, LinearProgram
from theory.instance import Configuration, Instance
from theory.numbers import many, to_integers, total


@dataclass(frozen=True)
class Intensity:
    """The traffic intensity of a workload, with evidence from both sides.

    Attributes
    ----------
    value : Fraction
        z: the least multiple of the region of an average server that holds the workload.
    workload : tuple of Fraction, shape (J,)
    columns : tuple of (pool, configuration, amount)
        Amounts of servers whose slots are just the workload, at most ``z x share`` of each pool: proves "at most z".
    prices : tuple of int, shape (J,)
        Prices of at least 0, coprime (all 0 for no workload), at which the workload is worth z times as much as
        any average server can hold: proves "at least z".
    support : Fraction
        The most that an average server can hold at these prices.
    """

    value: Fraction
    workload: tuple[Fraction, ...]
    columns: tuple[PoolColumn, ...]
    prices: tuple[int, ...]
    support: Fraction

    @property
    def holds(self) -> bool:
        """Whether the workload is in the region, its boundary included."""
        return self.value <= 1

    @property
    def supportable(self) -> bool:
        """Whether some schedule keeps the queues bounded: the workload is in the region times a number below 1."""
        return self.value < 1

    @property
    def boundary(self) -> tuple[Fraction, ...] | None:
        """The point where the ray through the workload leaves the region; None for no workload."""
        return tuple(rho / self.value for rho in self.workload) if self.value else None


class CapacityProgram:
    """The linear program behind the capacity region, whose solver starts from the last basis when the workload changes.

    ``min z`` with ``sum k_j x_k >= rho_j`` and ``sum x_k <= share z`` in each pool, over all configurations k.

    Parameters
    ----------
    instance : Instance
        Its pools are used; its workload is the default of every question.

    Notes
    -----
    Column generation with exact pricing (`theory.exact.columns`): a knapsack a round, so the number of configurations
    does not matter. Source: the region (2) of the non-preemptive scheduling paper, per server and averaged over pools;
    the empty configuration belongs to every server.

    Examples
    --------
    >>> from theory.instance import additive
    >>> program = CapacityProgram(additive([6], [[4], [1]]))
    >>> answer = program.intensity([Fraction(1, 2), 4])
    >>> answer.value, answer.prices, answer.columns
    (Fraction(1, 1), (4, 1), ((0, (1, 2), Fraction(1, 2)), (0, (0, 6), Fraction(1, 2))))
    >>> program.headroom([Fraction(1, 2), 3])
    (Fraction(1, 4), Fraction(1, 1))
    """

    def __init__(self, instance: Instance) -> None:
        Instance.expected(instance)
        self._instance = instance
        self._support = Support(instance)
        width, pools = len(instance.types), len(instance.pools)
        rows: list[tuple[Bound, Bound]] = [(None, 0)] * (width + pools)
        self._program = LinearProgram(rows)
        shares = {width + p: -pool.share for p, pool in enumerate(instance.pools)}
        # rows: rho_j <= sum k_j x_k, then sum x_k <= share z; column 0 is z, columns 1 + j are gains, at first 0
        self._program.add_columns([-1], [shares])
        self._program.add_columns([0] * width, [{j: 1} for j in range(width)], upper=[0] * width)
        spaces = [pool.space for pool in instance.pools]
        self._columns = ConfigurationColumns(self._program, spaces, range(width), range(width, width + pools))
        self._columns.serve(instance.workload, [pool.share for pool in instance.pools])
        self._held: tuple[Fraction, ...] | None = None  # a workload that the columns are known to carry

    def intensity(self, workload: Sequence[Fraction | int] | None = None) -> Intensity:
        """Return the traffic intensity of a workload, shape (J,), with evidence.

        Raises
        ------
        InputError
            If a workload is negative, or not one for every type.
        """
        rho = self._offer(workload)
        vertex = self._columns.solve()
        columns = trimmed(self._columns.amounts(vertex.primal), rho)
        # where nothing is offered a price is free; 0 is the choice that never raises the support
        paid = [beta if load else Fraction(0) for beta, load in zip(vertex.dual[: len(rho)], rho, strict=True)]
        prices, _ = to_integers(paid)
        support = self._support.value(prices, columns)
        worth = total(price * load for price, load in zip(prices, rho, strict=True))
        z = vertex.primal[0]
        assert worth == z * support, "the dual does not meet the primal"
        return Intensity(z, rho, tuple(columns), tuple(prices), support)

    def boundary(self, direction: Sequence[Fraction | int]) -> tuple[Fraction, ...]:
        """Return the point where a ray from the origin leaves the region.

        Raises
        ------
        InputError
            If the direction is 0 or has a negative entry.
        """
        point = self.intensity(direction).boundary
        if point is None:
            raise InputError("direction", "expected some positive entry, got none")
        return point

    def headroom(self, workload: Sequence[Fraction | int] | None = None) -> tuple[Fraction, ...] | None:
        """Return how much more of each type alone the region holds beside a workload, jobs per server.

        Returns
        -------
        tuple of Fraction, shape (J,), or None
            None if the workload itself is not in the region.

        Notes
        -----
        One exact program a type; the columns of one are there for the next.
        """
        if not self.intensity(workload).holds:
            return None
        return tuple(self.most_beside(workload, {j: 1})[j] for j in range(len(self._instance.types)))

    def most_beside(
        self, workload: Sequence[Fraction | int] | None, gains: Mapping[int, Fraction | int]
    ) -> dict[int, Fraction]:
        """Return amounts of some types, worth most at given gains, that the region holds beside a workload.

        Parameters
        ----------
        workload : sequence of rational, shape (J,), or None
        gains : mapping of type to rational
            What one more job per server of each of these types is worth, at least 0.

        Raises
        ------
        InputError
            If the region does not even hold the workload.
        """
        rho = self._offer(workload)
        if rho != self._held:
            if not self.intensity(rho).holds:
                raise InputError("workload", "expected one that the region holds")
            self._held = rho
        # for this question z is 1 and free of cost, and what more of the types is carried counts
        self._program.set_bounds(0, 1, 1)
        self._program.set_cost(0, 0)
        for j, gain in gains.items():
            self._program.set_bounds(1 + j, 0, None)
            self._program.set_cost(1 + j, gain)
        try:
            vertex = self._columns.solve()
        finally:
            for j in gains:
                self._program.set_bounds(1 + j, 0, 0)
                self._program.set_cost(1 + j, 0)
            self._program.set_bounds(0, 0, None)
            self._program.set_cost(0, -1)
        return {j: vertex.primal[1 + j] for j in gains}

    def _offer(self, workload: Sequence[Fraction | int] | None) -> tuple[Fraction, ...]:
        rho = self._instance.workload if workload is None else tuple(map(Fraction, workload))
        if len(rho) != len(self._instance.types) or min(rho) < 0:
            raise InputError("workload", f"expected {many(len(self._instance.types), 'number')} of at least 0")
        for j, load in enumerate(rho):
            self._program.set_row(j, None, -load)
        return rho


def traffic_intensity(instance: Instance, workload: Sequence[Fraction | int] | None = None) -> Fraction:
    """Return the least z with the workload in z times the region of an average server.

    Examples
    --------
    >>> from theory.instance import additive
    >>> traffic_intensity(additive([12], [[5], [7]], workload=["2/3", "1/3"]))
    Fraction(1, 2)
    """
    return CapacityProgram(instance).intensity(workload).value


def stable_servers(intensity: Fraction, servers: int) -> int:
    """Return the least number of servers, pools in proportion, that supports what is offered to `servers` of them.

    The workload must be strictly inside: more than ``servers x intensity``, and at least one.

    Examples
    --------
    >>> stable_servers(Fraction(1), 10), stable_servers(Fraction(19, 20), 10)
    (11, 10)
    """
    # the least whole number above servers x intensity: at equality the workload is on the boundary, and queues grow
    return int(servers * intensity) + 1


class Support:
    """The greatest value of the region ``sum over pools of share x conv K`` at integer prices, never enumerating.

    Shares are written as whole numbers of servers out of `servers`, so that points and values are integers.

    Parameters
    ----------
    instance : Instance
        Its pools are used; neither rewards nor workload.

    Attributes
    ----------
    servers : int
        The least number of servers in which every pool has a whole number.
    multiplicity : tuple of int, length P
        Servers of each pool out of `servers`.

    Examples
    --------
    >>> from theory.instance import pooled
    >>> support = Support(pooled([(1, [3]), (2, [2])], [[2], [3]]))
    >>> support.servers, support([1, 2])
    (3, (4, ((0, 1), (1, 0))))
    """

    def __init__(self, instance: Instance) -> None:
        shares = [pool.share for pool in instance.pools]
        self.servers = lcm(*(share.denominator for share in shares))
        self.multiplicity = tuple(int(share * self.servers) for share in shares)
        self.spaces = tuple(pool.space for pool in instance.pools)

    def __call__(self, prices: Sequence[int]) -> tuple[int, tuple[Configuration, ...]]:
        """Return the greatest value over `servers` servers, and the configuration of each pool that attains it.

        A negative price keeps its type out, as may be done because everything below a configuration is feasible. Ties
        go to more slots of the first type that differs, so the configurations add up to a vertex of the region.
        """
        types = [j for j, price in enumerate(prices) if price >= 0]
        weights = [max(0, price) for price in prices]
        best = tuple(max_weight(space, weights, types) for space in self.spaces)
        worth = sum(
            m * sum(a * b for a, b in zip(weights, k, strict=True) if b)
            for m, k in zip(self.multiplicity, best, strict=True)
        )
        return worth, best

    def value(self, prices: Sequence[Fraction | int], known: Sequence[PoolColumn] = ()) -> Fraction:
        """Return the greatest value on one average server at prices that may be rational, at least 0.

        Configurations of great value, if some are known, save time.
        """
        from theory.exact.columns import greatest_weight  # few commands need the pricing

        scale = lcm(*(price.denominator for price in prices))
        whole_prices = [price.numerator * (scale // price.denominator) for price in prices]
        worth = sum(
            m * greatest_weight(space, whole_prices, [k for pool, k, _ in known if pool == p])
            for p, (m, space) in enumerate(zip(self.multiplicity, self.spaces, strict=True))
        )
        return Fraction(worth, scale * self.servers)

    def point(self, configurations: Sequence[Configuration]) -> tuple[int, ...]:
        """Return the slots of each type on `servers` servers in the given configuration of each pool."""
        return tuple(
            sum(m * slots for m, slots in zip(self.multiplicity, column, strict=True))
            for column in zip(*configurations, strict=True)
        )
