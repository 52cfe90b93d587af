"""Whole servers: greedy placement in integers, and the least number of servers that carries a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm

from theory.errors import InputError
from theory.exact.knapsack import reduced, weight
from theory.greedy.assignment import GreedyAssignment, MaxRewards
from theory.greedy.counted import Bins, one_resource_bins
from theory.greedy.cover import Cover
from theory.greedy.diving import MOST_ITEMS, dived
from theory.greedy.pools import TRIED, apportion, most_apportioned
from theory.greedy.whole import MOST_JOBS, servers_for, whole_servers
from theory.instance import Additive, Configuration, Instance, additive
from theory.numbers import ceiling, total


@dataclass(frozen=True)
class PlacementStage:
    """A stage of greedy placement: the configuration and the number of servers of each pool."""

    configurations: tuple[Configuration, ...]
    servers: tuple[int, ...]


@dataclass(frozen=True)
class Placement:
    """Greedy placement (GPA) on L servers."""

    servers: tuple[int, ...]  # of each pool; they sum to L
    stages: tuple[PlacementStage, ...]  # those that use a server; servers they leave out are empty
    reward: Fraction  # total reward of the jobs served, min(L rho_j, slots) of each type

    @property
    def empty(self) -> int:
        """Number of servers left empty."""
        return sum(self.servers) - sum(sum(stage.servers) for stage in self.stages)


def greedy_placement(instance: Instance, servers: int, rewards: MaxRewards | None = None) -> Placement:
    """Run the Greedy Placement Algorithm on whole servers for the jobs ``servers * workload``.

    Parameters
    ----------
    instance : Instance
    servers : int
        L >= 1.
    rewards : MaxRewards, optional
        Of the same pools and rewards.

    Notes
    -----
    One pool: Algorithm 1 of the auto-scaling paper, each stage ``min_j ceil(residual_j / k_j)`` servers. Several
    pools: servers are assigned one by one in proportion, pool p its m-th server at time m / L_p, each to MaxReward of
    the types not exhausted by then; a stage is found by bisection on that clock.

    Examples
    --------
    >>> from theory.instance import additive
    >>> greedy_placement(additive([12], [[5], [7]]), 101).stages
    (PlacementStage(configurations=((2, 0),), servers=(51,)), PlacementStage(configurations=((0, 1),), servers=(50,)))
    """
    step_of = MaxRewards(instance) if rewards is None else rewards
    pools = apportion(servers, [pool.share for pool in instance.pools])
    jobs = [servers * rho for rho in instance.workload]
    need = list(map(ceil, jobs))  # slots are whole
    slots = [0] * len(jobs)
    types = frozenset(range(len(jobs)))
    end = lcm(*(count for count in pools if count))
    now = 0
    stages = []

    while types:
        configurations = step_of(types).configurations
        live = [j for j in sorted(types) if any(k[j] for k, n in zip(configurations, pools, strict=True) if n)]
        ended = next((j for j in live if slots[j] >= need[j]), None)
        if ended is not None:
            types -= {ended}
            continue
        if now == end or not live:
            break

        if len(pools) == 1:  # the stage takes min_j ceil(residual_j / k_j) servers
            (k,) = configurations
            finish = min(end, now + min(-((slots[j] - need[j]) // k[j]) for j in live))
        else:
            before, finish = now, end
            while finish - before > 1:  # the first tick at which a type is exhausted
                middle = (before + finish) // 2
                have = _slots_after(slots, configurations, _ticks(pools, now, middle, end))
                exhausted = any(have[j] >= need[j] for j in live)
                before, finish = (before, middle) if exhausted else (middle, finish)
        used = _ticks(pools, now, finish, end)
        stages.append(PlacementStage(configurations, used))
        slots = _slots_after(slots, configurations, used)
        now = finish
    served = [min(wanted, Fraction(have)) for wanted, have in zip(jobs, slots, strict=True)]
    return Placement(pools, tuple(stages), weight(served, instance.rewards))


def _ticks(pools: Sequence[int], start: int, stop: int, end: int) -> tuple[int, ...]:
    """Return how many servers of each pool come up between two ticks of a clock on which all are up at `end`."""
    return tuple(stop * n // end - start * n // end for n in pools)


def _slots_after(slots: Sequence[int], configurations: Sequence[Configuration], used: Sequence[int]) -> list[int]:
    after = list(slots)
    for n, k in zip(used, configurations, strict=True):
        after = [have + n * number for have, number in zip(after, k, strict=True)]
    return after


def lemma_b1_bound(instance: Instance, greedy: GreedyAssignment) -> Fraction | None:
    """Bound the reward that greedy placement loses against L times the fluid value, for L large, by Lemma B.1.

    Stage i uses at most (K+1)^(i-1) servers more or fewer than its fluid share, K the most jobs on one server, so at
    most sum_i (K+1)^(i-1) U_i is lost, whatever L.

    Returns
    -------
    Fraction or None
        None for several pools, where the lemma is not proved.
    """
    if len(instance.pools) > 1:
        return None
    step_of = MaxRewards(instance)
    most = max_jobs(instance)
    room, bound = Fraction(1), Fraction(0)
    types = frozenset(range(len(instance.types)))
    for i, (j, length) in enumerate(zip(greedy.permutation, greedy.lengths, strict=True)):
        if room > 0:  # stage i + 1 is (K + 1)^i servers off its share at most
            bound += (most + 1) ** i * step_of(types).reward
        room -= length
        types -= {j}
    return bound


def max_jobs(instance: Instance) -> int:
    """Return K, the greatest number of jobs on one server of any pool."""
    unit = MaxRewards(instance.with_rewards([1] * len(instance.types)))
    return max(sum(k) for k in unit(frozenset(range(len(instance.types)))).configurations)


@dataclass(frozen=True)
class LeastServers:
    """Bounds on the least number of servers whose slots carry given jobs."""

    lower: int  # at least `priced`, and more where `theory.exact.columns.bins` proves more by proper configurations
    upper: int  # attained by `columns`
    slot_prices: tuple[Fraction, ...]  # of each type
    columns: tuple[tuple[int, Configuration, int], ...]  # pool, configuration, servers
    # The bound that `slot_prices` prove: the jobs are worth more than priced - 1 servers can be,
    # prices . jobs > sum_p n_p max_k prices . k for the most servers n_p that `most_apportioned` gives the pools.
    priced: int


def least_servers(instance: Instance, jobs: Sequence[Fraction]) -> LeastServers:
    """Bound the least number N of servers that carries the jobs, split over the pools as `apportion` does.

    Parameters
    ----------
    instance : Instance
        Its pools are used, neither rewards nor workload.
    jobs : sequence of rational, shape (J,)
        Slots needed of each type, at most `MOST_JOBS`.

    Raises
    ------
    InputError
        More than `MOST_JOBS` jobs of a type.

    Notes
    -----
    Lower bound: the exact program that carries the greatest multiple of the (rounded-up) jobs on N servers, over all
    configurations; N is raised until the multiple is 1, first on the most servers that each pool may have of N, which
    only grow with N, then on those that it has. If the bounds do not meet, and one pool has one resource that
    binds, the program of `packproof throughput` over proper configurations, which hold no more jobs of a type than
    there are, raises the lower bound, where it is small enough. Upper bound: the best of the rounded-up vertex, a
    node-limited integer search over the columns of small reduced cost, and, on one pool, the largest jobs first, from
    nothing and on top of the rounded-down vertex (`theory.exact.columns.largest_first`); all recounted in integers.
    Where they meet, the number is exact.

    Examples
    --------
    >>> from theory.instance import additive
    >>> bounds = least_servers(additive([12], [[5], [7]]), [Fraction(10), Fraction(8)])
    >>> bounds.lower, bounds.upper
    (9, 9)
    """
    need = [ceiling(Fraction(amount)) for amount in jobs]
    if max(need, default=0) > MOST_JOBS:
        raise InputError(f"least number of servers: at most {MOST_JOBS:,} jobs of a type, got {max(need):,}")
    if not any(need):
        return LeastServers(0, 0, (Fraction(0),) * len(need), (), 0)
    cover, shares = Cover(instance, need), [pool.share for pool in instance.pools]
    lower = priced = _least_of_most(cover, shares, len(need))
    proof = cover.multiple(most_apportioned(lower - 1, shares))
    prices = [price if amount else Fraction(0) for price, amount in zip(proof.dual, need, strict=False)]
    # one by one: with three pools, one more server may take one from a pool
    while (vertex := cover.multiple(apportion(lower, shares))).objective < 1 and lower < priced + TRIED:
        lower += 1
    carried, step = lower, 1
    while vertex.objective < 1:  # the bounds stay apart
        carried, step = carried + step, 2 * step
        vertex = cover.multiple(apportion(carried, shares))

    def ranked() -> list[tuple[int, Configuration]]:
        width = len(need)
        worth = {
            (p, k): vertex.dual[width + p] - total(a * b for a, b in zip(vertex.dual[:width], k, strict=True))
            for p, k, _ in cover.columns.items()
        }
        return sorted(worth, key=lambda item: worth[item])

    best = whole_servers(instance, need, cover.columns.amounts(vertex.primal), lower, ranked)
    upper = servers_for(instance, best)
    if upper > lower and len(instance.pools) == 1 and isinstance(space := instance.pools[0].space, Additive):
        counted = one_resource_bins(space, need)
        if counted is not None:
            lower = max(lower, counted.lower)
            if counted.upper < upper:
                best, upper = [(0, k, Fraction(number)) for k, number in counted.columns], counted.upper
    return LeastServers(lower, upper, tuple(prices), tuple((p, k, int(number)) for p, k, number in best), priced)


def _least_of_most(cover: Cover, shares: Sequence[Fraction], width: int) -> int:
    """Return the least N such that the most servers that the pools may have of N carry the jobs in fractions."""
    fluid = cover.multiple(shares)
    # the prices of servers prove that N of them carry less than N times the fluid multiple and what is rounded up
    rounded_up = (1 - Fraction(1, len(shares))) * total(fluid.dual[width:])
    least = max(ceiling((1 - rounded_up) / fluid.objective), 1)
    step = 1
    # gallop, then bisect: more servers carry no less
    while cover.multiple(most_apportioned(least + step - 1, shares)).objective < 1:
        step *= 2
    low, high = least - 1, least + step - 1
    while high - low > 1:
        middle = (low + high) // 2
        carries = cover.multiple(most_apportioned(middle, shares)).objective >= 1
        low, high = (low, middle) if carries else (middle, high)
    return high


def fewest_bins(instance: Instance, counts: Sequence[int], cells: int | None = None, *, asked: bool = False) -> Bins:
    """Bound the fewest bins for a list of items from both sides, with the packing and the prices that prove it.

    It is the one answer to this question, however the list is written: the order and the names of the kinds, the units
    of the resources and resources that never bind change nothing.

    Parameters
    ----------
    instance : Instance
        Of one pool: its servers are the bins, its types the kinds of items.
    counts : sequence of int, shape (J,)
        Items of each kind.
    cells, asked
        For one resource, as in `theory.greedy.counted.one_resource_bins`.

    Notes
    -----
    Where one resource binds, by `one_resource_bins`; where several do, by `least_servers`, and where that leaves the
    number of few items open, by diving (`theory.greedy.diving`).

    Examples
    --------
    >>> from theory.instance import additive
    >>> bounds = fewest_bins(additive([12, 10], [[5, 1], [7, 6]]), [10, 8])
    >>> bounds.lower, bounds.upper
    (9, 9)
    """
    space = instance.pools[0].space
    if not isinstance(space, Additive):
        raise TypeError("items have sizes, so that bins are additive")
    counted = one_resource_bins(space, counts, cells, asked=asked)
    if counted is not None:
        return counted
    small = reduced(space, [j for j, number in enumerate(counts) if number])
    kinds = sorted(zip(small.demands, small.types, strict=True), reverse=True)
    places = [j for _, j in kinds]
    if not places:
        return Bins(0, 0, (), (Fraction(0),) * len(counts))
    binding = additive(small.capacity, [demand for demand, _ in kinds])
    need = [counts[j] for j in places]
    least = least_servers(binding, list(map(Fraction, need)))
    columns, upper = tuple((k, number) for _, k, number in least.columns), least.upper
    if upper > least.lower and sum(need) <= MOST_ITEMS:
        packed = dived(small.capacity, [demand for demand, _ in kinds], need)
        if (bins := sum(number for _, number in packed)) < upper:
            columns, upper = tuple(packed), bins
    return Bins(least.lower, upper, columns, least.slot_prices).of_kinds(places, len(counts))
