"""The model: job types with rewards and workload, and pools of servers with their sets of configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import index

from theory.errors import ArgumentError, InputError, expect
from theory.numbers import many, to_integers
from theory.shown import Shown

Configuration = tuple[int, ...]
"""Number of slots of each type on one server, in the order of the types, shape (J,)."""


@dataclass(frozen=True)
class JobType:
    """A type of job.

    Attributes
    ----------
    name : str
    reward : Fraction
        Reward per unit time in service, u_j > 0.
    workload : Fraction
        Offered jobs per server, rho_j >= 0.
    service_rate : Fraction
        mu_j > 0; arrivals come at workload x service_rate per server and unit time.
    """

    name: str
    reward: Fraction
    workload: Fraction
    service_rate: Fraction = Fraction(1)


@dataclass(frozen=True)
class Additive:
    """Configurations whose total demand fits the capacity, in integer units.

    Attributes
    ----------
    resources : tuple of str, length R
    capacity : tuple of int, length R
    demands : tuple of tuple of int, shape (J, R)
        Each type has at least one positive demand.
    unit : tuple of Fraction, length R
        What one integer unit of each resource stands for in the user's units.
    """

    resources: tuple[str, ...]
    capacity: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]
    unit: tuple[Fraction, ...]

    def most(self, j: int) -> int:
        """Return how many jobs of type `j` alone fit a server."""
        return min(c // d for c, d in zip(self.capacity, self.demands[j], strict=True) if d)

    def holds(self, configuration: Sequence[int]) -> bool:
        """Return whether the configuration is feasible."""
        return all(
            sum(k * d[r] for k, d in zip(configuration, self.demands, strict=True)) <= capacity
            for r, capacity in enumerate(self.capacity)
        ) and all(k >= 0 for k in configuration)


@dataclass(frozen=True)
class Explicit:
    """Configurations listed one by one; everything below a listed one is feasible too.

    Attributes
    ----------
    generators : tuple of Configuration, shape (n, J)
        Maximal, distinct, in decreasing lexicographic order.
    """

    generators: tuple[Configuration, ...]

    def most(self, j: int) -> int:
        """Return how many jobs of type `j` alone fit a server."""
        return max(k[j] for k in self.generators)

    def holds(self, configuration: Sequence[int]) -> bool:
        """Return whether the configuration is feasible."""
        return min(configuration) >= 0 and any(
            all(a <= b for a, b in zip(configuration, k, strict=True)) for k in self.generators
        )


Space = Additive | Explicit
"""The feasible configurations K of one server: finite, down-closed, with the empty configuration."""


@dataclass(frozen=True)
class Pool:
    """Servers of one kind.

    Attributes
    ----------
    name : str
    share : Fraction
        Fraction of all servers; the shares of an instance sum to 1.
    space : Space
        Feasible configurations of one server of the pool.
    """

    name: str
    share: Fraction
    space: Space


@dataclass(frozen=True, repr=False)
class Instance(Shown):
    """Job types in file order (which breaks ties) and server pools.

    Examples
    --------
    >>> instance = additive(capacity=[12], demands=[[5], [7]], rewards=[1, 1], workload=[1, 1])
    >>> instance.names, instance.pools[0].space.most(0)
    (('t1', 't2'), 2)
    """

    types: tuple[JobType, ...]
    pools: tuple[Pool, ...]

    @staticmethod
    def expected(value: object, name: str = "instance") -> None:
        """Refuse an argument that is no instance."""
        expect(value, Instance, name, "an Instance (packproof.additive makes one, packproof.read_instance reads one)")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the types, length J."""
        return tuple(t.name for t in self.types)

    @cached_property
    def rewards(self) -> tuple[Fraction, ...]:
        """Rewards u_j, length J."""
        return tuple(t.reward for t in self.types)

    @cached_property
    def workload(self) -> tuple[Fraction, ...]:
        """Workloads rho_j in jobs per server, length J."""
        return tuple(t.workload for t in self.types)

    @cached_property
    def whole_workload(self) -> tuple[list[int], Fraction]:
        """Workloads as multiples of one unit, and the unit."""
        return to_integers(self.workload)

    def with_workload(self, workload: Sequence[Fraction | int]) -> Instance:
        """Return the instance with another workload, shape (J,)."""
        pairs = zip(self.types, workload, strict=True)
        return replace(self, types=tuple(replace(t, workload=Fraction(w)) for t, w in pairs))

    def with_rewards(self, rewards: Sequence[Fraction | int]) -> Instance:
        """Return the instance with other rewards, shape (J,)."""
        return replace(
            self, types=tuple(replace(t, reward=Fraction(u)) for t, u in zip(self.types, rewards, strict=True))
        )

    def with_names(self, names: Sequence[str]) -> Instance:
        """Return the instance with other names of its types, shape (J,).

        Raises
        ------
        InputError
            Names of another number, or two that are equal.

        Examples
        --------
        >>> additive([12, 12], [[4, 1], [1, 3]]).with_names(["core-heavy", "memory-heavy"]).names
        ('core-heavy', 'memory-heavy')
        """
        if len(set(names)) < len(names) or len(names) != len(self.types):
            raise InputError("names", f"expected {many(len(self.types), 'name')}, all different, got {list(names)!r}")
        return replace(self, types=tuple(replace(t, name=name) for t, name in zip(self.types, names, strict=True)))

    def reordered(self, order: Sequence[int]) -> Instance:
        """Return the instance with its types in another order (`order[i]` is the old place of the new type `i`)."""
        return Instance(
            tuple(self.types[j] for j in order), tuple(replace(p, space=_reorder(p.space, order)) for p in self.pools)
        )


def _reorder(space: Space, order: Sequence[int]) -> Space:
    if isinstance(space, Additive):
        return replace(space, demands=tuple(space.demands[j] for j in order))
    return Explicit(maximal_generators([tuple(k[j] for j in order) for k in space.generators]))


def maximal_generators(generators: Sequence[Sequence[int]]) -> tuple[Configuration, ...]:
    """Drop configurations below another one; sort the rest in decreasing lexicographic order."""
    distinct = sorted({tuple(k) for k in generators}, reverse=True)
    return tuple(
        k
        for k in distinct
        if not any(other != k and all(a <= b for a, b in zip(k, other, strict=True)) for other in distinct)
    )


def _types(
    count: int,
    rewards: Sequence[Fraction | int | float | str] | None,
    workload: Sequence[Fraction | int | float | str] | None,
) -> tuple[JobType, ...]:
    u = _numbers("rewards", [1] * count if rewards is None else rewards, count, positive=True)
    w = _numbers("workload", [1] * count if workload is None else workload, count)
    return tuple(JobType(f"t{j + 1}", u[j], w[j]) for j in range(count))


def _numbers(
    name: str, values: Sequence[Fraction | int | float | str], count: int, *, positive: bool = False
) -> list[Fraction]:
    """Return exact numbers of at least 0, or greater, one a type; a float means its shortest decimal text."""
    _expect_list(values, name, "numbers, one a type")
    if len(values) != count:
        raise InputError(name, f"expected {many(count, 'number')}, one a type, got {len(values)}")
    try:
        exact = [Fraction(repr(value)) if isinstance(value, float) else Fraction(value) for value in values]
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise InputError(name, f"expected numbers such as 3, 0.25 or '1/4', got {list(values)!r}") from error
    if any(value < 0 or (positive and not value) for value in exact):
        raise InputError(name, f"expected numbers {'greater than' if positive else 'of at least'} 0")
    return exact


def _expect_list(value: object, name: str, words: str) -> None:
    """Refuse an argument that is neither a list nor the like, such as an array."""
    if not hasattr(value, "__len__") or isinstance(value, str | bytes):
        raise ArgumentError(name, f"expected a list of {words}, got {value!r:.60}")


def _whole(name: str, rows: Sequence[Sequence[int]], width: int) -> list[tuple[int, ...]]:
    """Return rows of whole numbers of at least 0, all of one width."""
    for row in rows:
        _expect_list(row, name, f"rows of {width} whole numbers" if name == "demands" else "whole numbers")
    try:
        exact = [tuple(map(index, row)) for row in rows]
    except TypeError as error:
        raise InputError(name, "expected whole numbers (scale the unit of each resource)") from error
    if any(len(row) != width for row in exact) or any(value < 0 for row in exact for value in row):
        raise InputError(name, f"expected rows of {width} whole numbers of at least 0")
    return exact


def additive(
    capacity: Sequence[int],
    demands: Sequence[Sequence[int]],
    rewards: Sequence[Fraction | int | float | str] | None = None,
    workload: Sequence[Fraction | int | float | str] | None = None,
) -> Instance:
    """Make an instance of one pool from integer arrays; types are named ``t1``, ``t2``, ...

    Parameters
    ----------
    capacity : sequence of int, shape (R,)
    demands : sequence of sequence of int, shape (J, R)
    rewards, workload : sequence of rational, shape (J,), optional
        1 where left out; a float means its decimal text.

    Raises
    ------
    InputError
        Lengths that differ, negative numbers, a reward of 0, a type without demand or too large for every server.
    """
    return pooled([(Fraction(1), capacity)], demands, rewards, workload)


def pooled(
    pools: Sequence[tuple[Fraction | int | float | str, Sequence[int]]],
    demands: Sequence[Sequence[int]],
    rewards: Sequence[Fraction | int | float | str] | None = None,
    workload: Sequence[Fraction | int | float | str] | None = None,
) -> Instance:
    """Make an instance of several pools ``(share, capacity)`` from integer arrays; shares are normalised.

    Shares are numbers as rewards are: a float or a text means the number that is written.

    Raises
    ------
    InputError
        As `additive`; also no pool, no type, or a share that is no number or not greater than 0.

    Examples
    --------
    >>> [pool.share for pool in pooled([("1/2", [12]), (1.5, [4])], [[3]]).pools]
    [Fraction(1, 4), Fraction(3, 4)]
    """
    _expect_list(demands, "demands", "rows of whole numbers, one row a type")
    for _, capacity in pools:
        _expect_list(capacity, "capacity", "whole numbers, one a resource")
    if not pools or not demands:
        raise InputError("expected at least one pool and one type")
    resources = tuple(f"r{i + 1}" for i in range(len(pools[0][1])))
    capacities = _whole("capacity", [capacity for _, capacity in pools], len(resources))
    needs = _whole("demands", demands, len(resources))
    for j, need in enumerate(needs):
        if not any(need):
            raise InputError("demands", f"type {j + 1} demands nothing")
        if not any(all(d <= c for d, c in zip(need, capacity, strict=True)) for capacity in capacities):
            raise InputError("demands", f"type {j + 1} fits no server")
    shares = _numbers("shares", [share for share, _ in pools], len(pools), positive=True)
    return Instance(
        _types(len(demands), rewards, workload),
        tuple(
            Pool(
                f"pool{i + 1}",
                share / sum(shares),
                Additive(resources, capacity, tuple(needs), (Fraction(1),) * len(resources)),
            )
            for i, (share, capacity) in enumerate(zip(shares, capacities, strict=True))
        ),
    )


def explicit(
    configurations: Sequence[Sequence[int]],
    rewards: Sequence[Fraction | int | float | str] | None = None,
    workload: Sequence[Fraction | int | float | str] | None = None,
) -> Instance:
    """Make an instance of one pool whose configurations are those below the listed ones, shape (n, J).

    Raises
    ------
    InputError
        As `additive`; a type that is in no configuration.
    """
    if not configurations or not configurations[0]:
        raise InputError("configurations", "expected at least one, of at least one type")
    rows = _whole("configurations", configurations, len(configurations[0]))
    for j, column in enumerate(zip(*rows, strict=True)):
        if not any(column):
            raise InputError("configurations", f"type {j + 1} is in none")
    return Instance(
        _types(len(rows[0]), rewards, workload),
        (Pool("pool1", Fraction(1), Explicit(maximal_generators(rows))),),
    )
