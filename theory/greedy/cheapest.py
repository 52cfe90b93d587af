"""Which servers, and how many of each: the least cost that carries given jobs, from both sides.

Kinds of servers have prices. Some servers may exist already and cost nothing, there may be a limit of each kind, and
some of each kind that is used may stay in reserve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import ceil, floor
from operator import mul

from theory.errors import ArgumentError, InputError
from theory.exact.columns import ConfigurationColumns, PoolColumn, trimmed
from theory.exact.programs import Bound, LinearProgram, Vertex
from theory.greedy.cheapest_whole import cheapest_whole, packed_exactly
from theory.greedy.offers import Offer, cost_of, expect_offers, working
from theory.greedy.whole import MOST_JOBS
from theory.instance import Configuration, Instance
from theory.numbers import ceiling, to_integers, total

NODES = 60
"""Most programs that branching solves for one question."""


@dataclass(frozen=True)
class CheapestServers:
    """Bounds on the least cost of servers that carry given jobs.

    Attributes
    ----------
    lower : Fraction
        No servers that carry the jobs cost less: proved by exact prices, or by trying all packings of a short list.
    upper : Fraction or None
        What `servers` cost; None where none were found.
    servers : tuple of int or None
        Servers of each pool that hold jobs, without the reserve.
    fluid : Fraction
        The least cost if servers and their jobs may be fractions and none is in reserve.
    slot_prices : tuple of Fraction
        The prices of a slot of each type that prove `fluid`.
    columns : tuple of (pool, configuration, servers)
        A packing of the jobs into `servers`.
    """

    lower: Fraction
    upper: Fraction | None
    servers: tuple[int, ...] | None
    fluid: Fraction
    slot_prices: tuple[Fraction, ...]
    columns: tuple[tuple[int, Configuration, int], ...]


@dataclass(frozen=True)
class _Node:
    """Bounds of the servers of each pool that hold jobs; a pool with at least one is used, and has its reserve."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    def but(self, p: int, *, low: int | None = None, high: int | None = None) -> _Node:
        """Return the node with another bound of a pool."""
        lows, highs = list(self.low), list(self.high)
        lows[p] = lows[p] if low is None else low
        highs[p] = highs[p] if high is None else high
        return _Node(tuple(lows), tuple(highs))


def cheapest_servers(
    instance: Instance, offers: Sequence[Offer], jobs: Sequence[Fraction], spare: int = 0
) -> CheapestServers:
    """Bound the least cost of servers that carry the jobs.

    Parameters
    ----------
    instance : Instance
        Its pools are the kinds of servers, whose shares are not read; neither are rewards and workload.
    offers : sequence of Offer, length P
    jobs : sequence of rational, shape (J,)
        Slots needed of each type, at most `MOST_JOBS`.
    spare : int
        Servers in reserve of each kind that is used.

    Raises
    ------
    InputError
        Too few servers for the jobs, or more than `MOST_JOBS` jobs of a type.
    ArgumentError
        Offers that are not one a pool, or out of range.

    Notes
    -----
    Lower bound: the configuration program with prices, solved exactly, and branching on the kinds that are used and on
    the number of servers of each; the least bound of an open node is proved. Upper bound: whole servers by rounding up
    and by a node-limited integer search among the configurations found, recounted in integers. If they do not
    meet, short lists are decided by all packings (`theory.greedy.cheapest_whole.packed_exactly`).

    Examples
    --------
    >>> from theory.instance import pooled
    >>> kinds = pooled([(1, [4]), (1, [10])], [[2], [3]])
    >>> found = cheapest_servers(kinds, [Offer(Fraction(4)), Offer(Fraction(9))], [Fraction(4), Fraction(2)])
    >>> found.lower, found.upper, found.servers
    (Fraction(13, 1), Fraction(13, 1), (1, 1))
    """
    expect_offers(offers, len(instance.pools))
    if spare < 0:
        raise ArgumentError("spare", f"expected a number of at least 0, got {spare}")
    need = [ceiling(Fraction(amount)) for amount in jobs]
    if max(need, default=0) > MOST_JOBS:
        raise InputError(f"least cost of servers: at most {MOST_JOBS:,} jobs of a type, got {max(need):,}")
    if not any(need):
        zero = Fraction(0)
        return CheapestServers(zero, zero, (0,) * len(offers), zero, (zero,) * len(need), ())
    program = _Program(instance, offers, need, spare)
    root = _Node((0,) * len(offers), tuple(working(offer, spare, sum(need)) for offer in offers))
    found = _branched(program, root, offers, need, spare)
    if found.lower != found.upper:
        packed = packed_exactly(instance, offers, need, spare, found.upper)
        if packed is not None:
            return replace(found, lower=packed.cost, upper=packed.cost, servers=packed.servers, columns=packed.columns)
    return found


def _branched(
    program: _Program, root: _Node, offers: Sequence[Offer], need: Sequence[int], spare: int
) -> CheapestServers:
    """Branch on the kinds that are used and on the servers of each, from the node of the least bound on."""
    program.expect_enough(root)
    vertex = program.on(root)
    assert vertex is not None  # `expect_enough` has carried the need
    fluid, prices = program.cost(root, vertex), vertex.dual[: len(need)]
    best: tuple[Fraction, list[PoolColumn]] | None = None

    def better(columns: list[PoolColumn] | None) -> None:
        nonlocal best
        if columns is not None:
            cost = cost_of(offers, _servers(columns, len(offers)), spare)
            if cost is not None and (best is None or cost < best[0]):
                best = cost, columns

    better(_rounded(program.columns.amounts(vertex.primal), need))
    better(cheapest_whole(offers, program.ranked(vertex), need, root.high, spare))
    number = count()
    open_nodes = [(fluid, next(number), root, vertex)]
    while open_nodes and program.solved < NODES and (best is None or open_nodes[0][0] < best[0]):
        bound, _, node, vertex = open_nodes[0]
        branches = program.branches(node, vertex)
        if not branches:  # the numbers are whole: only packings can tell more
            break
        heappop(open_nodes)
        for branch in branches:
            solution = program.on(branch)
            if solution is not None:
                cost = max(bound, program.cost(branch, solution))
                better(_rounded(program.columns.amounts(solution.primal), need))
                heappush(open_nodes, (cost, next(number), branch, solution))
    if open_nodes and program.solved > 1 and (best is None or open_nodes[0][0] < best[0]):
        better(cheapest_whole(offers, program.ranked(vertex), need, root.high, spare))
    if best is None and not open_nodes:
        raise InputError("most", "no whole servers of those that there may be carry the jobs")
    upper = None if best is None else best[0]
    lower = min([cost for cost, *_ in open_nodes[:1]] + ([] if upper is None else [upper]))
    columns = () if best is None else tuple((p, k, int(amount)) for p, k, amount in best[1])
    servers = None if best is None else _servers(best[1], len(offers))
    return CheapestServers(lower, upper, servers, fluid, tuple(prices), columns)


def _rounded(amounts: Sequence[PoolColumn], need: Sequence[int]) -> list[PoolColumn]:
    """Return amounts of servers rounded up, with just the slots that are needed."""
    return trimmed([(p, k, Fraction(ceil(amount))) for p, k, amount in amounts], need)


def _servers(columns: Sequence[PoolColumn], pools: int) -> tuple[int, ...]:
    return tuple(int(total(amount for q, _, amount in columns if q == p)) for p in range(pools))


class _Program:
    """The configuration program with prices: a warm program, whose bounds on the servers of each pool change.

    Columns: the multiple of the jobs that is carried; of each pool the servers that cost nothing and those that cost;
    configurations.
    """

    def __init__(self, instance: Instance, offers: Sequence[Offer], need: Sequence[int], spare: int) -> None:
        self._offers, self._spare, self._width = offers, spare, len(need)
        pools = len(offers)
        rows: list[tuple[Bound, Bound]] = [(None, 0)] * (self._width + pools)
        self._program = LinearProgram(rows)
        self._program.add_columns([1], [dict(enumerate(need))], upper=[1])
        for p in range(pools):
            self._program.add_columns([0, 0], [{self._width + p: -1}] * 2)
        spaces = [pool.space for pool in instance.pools]
        slots, servers = range(self._width), range(self._width, self._width + pools)
        self.columns = ConfigurationColumns(self._program, spaces, slots, servers)
        self.solved = 0

    def expect_enough(self, root: _Node) -> None:
        """Refuse too few servers; after this the program has configurations that carry the jobs."""
        carried = self._multiple(root)
        if carried < 1:
            share = f"{100 * float(carried):.4g} %"
            raise InputError("most", f"the servers that there may be carry at most {share} of the jobs, of each type")

    def _multiple(self, node: _Node) -> Fraction:
        self._bound(node)
        return self.columns.solve().objective

    def _bound(self, node: _Node) -> None:
        for p, (low, high) in enumerate(zip(node.low, node.high, strict=True)):
            free = self._free(p, low)
            self._program.set_bounds(1 + 2 * p, min(low, free), min(high, free))
            self._program.set_bounds(2 + 2 * p, max(low - free, 0), max(high - free, 0))

    def _free(self, p: int, low: int) -> int:
        """Return the servers that cost nothing: less the reserve, where the pool is used."""
        return max(self._offers[p].have - (self._spare if low else 0), 0)

    def on(self, node: _Node) -> Vertex | None:
        """Return the optimal vertex within the bounds of a node; None where it cannot carry the jobs."""
        self.solved += 1
        self._program.set_bounds(0, 0, 1)
        self._program.set_cost(0, 1)
        for p in range(len(self._offers)):
            self._program.set_cost(2 + 2 * p, 0)
        if self._multiple(node) < 1:
            return None
        self._program.set_bounds(0, 1, 1)
        self._program.set_cost(0, 0)
        for p, offer in enumerate(self._offers):
            self._program.set_cost(2 + 2 * p, -offer.price)
        return self.columns.solve()

    def cost(self, node: _Node, vertex: Vertex) -> Fraction:
        """Return the cost of a vertex with the reserve of the pools that are used for certain."""
        reserve = [
            offer.price * max(self._spare - offer.have, 0) if low else 0
            for offer, low in zip(self._offers, node.low, strict=True)
        ]
        return sum(reserve, Fraction(0)) - vertex.objective

    def branches(self, node: _Node, vertex: Vertex) -> tuple[_Node, ...]:
        """Return two nodes that exclude a vertex; none where it is undecided nowhere."""
        counts = [vertex.primal[1 + 2 * p] + vertex.primal[2 + 2 * p] for p in range(len(self._offers))]
        if self._spare:
            undecided = [p for p, n in enumerate(counts) if n and not node.low[p]]
            if undecided:
                p = max(undecided, key=lambda q: counts[q])
                return node.but(p, high=0), node.but(p, low=1)
        fractions = {p: abs(n - floor(n) - Fraction(1, 2)) for p, n in enumerate(counts) if n.denominator > 1}
        if not fractions:
            return ()
        p = min(fractions, key=lambda q: fractions[q])
        return node.but(p, high=floor(counts[p])), node.but(p, low=ceil(counts[p]))

    def ranked(self, vertex: Vertex) -> list[tuple[int, Configuration]]:
        """Return the configurations by reduced cost at a vertex."""
        whole, _ = to_integers(vertex.dual)  # in a unit of their own: their order alone is asked for
        slots, servers = whole[: self._width], whole[self._width :]
        worth = {(p, k): servers[p] - sum(map(mul, slots, k)) for p, k, _ in self.columns.items()}
        return sorted(worth, key=worth.__getitem__)
