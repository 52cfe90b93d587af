"""Which servers a log needs: the least cost that carries it, and the cheapest mix found for each policy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.planning.log import PlannedLog
from fluid.planning.needs import Trials
from fluid.planning.plan import Effort, Plan, make_plan, mean_jobs
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_interface import Policy
from theory.errors import InputError, TooLargeError, listed
from theory.greedy.cheapest import CheapestServers, cheapest_servers
from theory.greedy.offers import Offer, cost_of
from theory.greedy.pools import apportion
from theory.instance import Instance

Mix = tuple[int, ...]
"""Servers of each kind that hold jobs, without those in reserve."""

STEPS = 16
"""Mixes are tried that carry multiples of a sixteenth of the jobs of the fullest instant."""

MOST = 8
"""A policy that misses its target with a mix for so many times the fullest instant is given up."""

TRIES = 80
"""Most simulations of mixes with fewer or cheaper servers than one that meets the target."""

INSTANTS = 3
"""Instants whose least cost is bounded, each the fullest at the prices of the one before."""


@dataclass(frozen=True)
class Market:
    """Kinds of servers on offer, and how many of each kind that is used are in reserve."""

    offers: tuple[Offer, ...]
    spare: int = 0

    def cheapest(self, instance: Instance, jobs: Sequence[Fraction]) -> CheapestServers:
        """Bound the least cost of servers that carry jobs."""
        return cheapest_servers(instance, self.offers, jobs, self.spare)

    def cheapest_if_any(self, instance: Instance, jobs: Sequence[Fraction]) -> CheapestServers | None:
        """Bound the least cost of servers that carry jobs; None where there are too few servers."""
        try:
            return self.cheapest(instance, jobs)
        except InputError:
            return None

    def cost(self, mix: Mix) -> Fraction | None:
        """Return what a mix costs with its reserve; None where there are not so many servers."""
        return cost_of(self.offers, mix, self.spare)


@dataclass(frozen=True)
class MixNeed:
    """The cheapest mix that was found on which a policy meets the target (None: none was)."""

    policy: str
    mix: Mix | None
    cost: Fraction | None
    attained: float
    tried: int


@dataclass(frozen=True)
class CheapestPlan:
    """What servers for a log cost.

    Attributes
    ----------
    instance : Instance
        Its pools are all kinds on offer.
    market : Market
    mean : CheapestServers
        For the mean workload.
    peak : CheapestServers or None
        For the jobs of the instant `at`: nothing that holds them costs less than its lower bound. None if there are
        too few servers.
    at : float
        Microseconds after the log begins.
    always : CheapestServers or None
        For the most jobs of each type at any time: its mix holds every instant. None if there are too few servers.
    policies : tuple of MixNeed
    best : MixNeed or None
        That of the least cost; None where no policy met the target.
    plan : Plan
        For servers in the proportions of the best mix, or else of a mix for the fullest instant.
    """

    instance: Instance
    market: Market
    mean: CheapestServers
    peak: CheapestServers | None
    at: float
    always: CheapestServers | None
    policies: tuple[MixNeed, ...]
    best: MixNeed | None
    plan: Plan


def with_mix(instance: Instance, mix: Mix) -> Instance:
    """Return an instance with the servers of a mix alone, in its proportions."""
    used = [(pool, number) for pool, number in zip(instance.pools, mix, strict=True) if number]
    pools = tuple(replace(pool, share=Fraction(number, sum(mix))) for pool, number in used)
    return replace(instance, pools=pools)


def types_that_come(log: PlannedLog) -> PlannedLog:
    """Return a log without the types of which it has no job, which a note names."""
    came = np.unique(log.jobs.types)
    if len(came) == len(log.instance.types):
        return log
    place = np.zeros(len(log.instance.types), log.jobs.types.dtype)
    place[came] = np.arange(len(came))
    jobs = JobList(log.jobs.times, place[log.jobs.types], log.jobs.durations)
    absent = [name for j, name in enumerate(log.instance.names) if j not in set(came.tolist())]
    note = f"types of which no VM comes are left out: {listed(absent)}"
    return replace(log, instance=log.instance.reordered(came.tolist()), jobs=jobs, notes=(*log.notes, note))


def make_cheapest_plan(
    log: PlannedLog,
    market: Market,
    policies: Sequence[Policy],
    trials: Trials,
    effort: Effort,
    time_limit: float = inf,
    *,
    optional: bool = False,
) -> CheapestPlan:
    """Make a plan of which servers to have; parameters are those of `fluid.planning.plan.make_plan`.

    Raises
    ------
    InputError
        Too few servers for the mean workload.
    """
    end = time.monotonic() + time_limit
    log = types_that_come(log)
    trials.say("the least cost of servers for the mean workload")
    mean = market.cheapest(log.instance, mean_jobs(log))
    trials.say("the least cost of servers for the fullest instant")
    peak, at, jobs, most = _fullest(log, market, mean)
    always = market.cheapest_if_any(log.instance, most)
    needs, not_run = _needs(_Search(log, market, jobs, trials, end), policies, optional=optional)
    met = [(need, policy) for need, policy in needs if need.mix is not None]
    best, chosen = min(met, key=lambda one: one[0].cost or 0, default=(None, None))
    mix = next(one for one in (best and best.mix, peak and peak.servers, mean.servers, _all_of(market)) if one)
    mixed = replace(log, instance=with_mix(log.instance, mix))
    left = max(end - time.monotonic(), 1e-9)
    tried = [policy for _, policy in needs] if chosen is None else [chosen]
    plan = make_plan(mixed, tried, trials, effort, left, start=sum(mix))
    if best is not None and plan.best is not None and plan.best.servers not in (None, sum(mix)):
        best = _in_proportion(best, plan, market)
    rows = [best if best is not None and need.policy == best.policy else need for need, _ in needs]
    plan = replace(plan, not_run=(*plan.not_run, *not_run))
    return CheapestPlan(log.instance, market, mean, peak, at, always, tuple(rows), best, plan)


def _all_of(market: Market) -> Mix:
    """Return one server of each kind, for want of a mix."""
    return (1,) * len(market.offers)


def _in_proportion(best: MixNeed, plan: Plan, market: Market) -> MixNeed:
    """Return the need with the servers of a plan in its proportions, which came to fewer."""
    assert plan.best is not None and plan.best.servers is not None and best.mix is not None  # noqa: PT018
    counts = iter(apportion(plan.best.servers, [pool.share for pool in plan.log.instance.pools]))
    mix = tuple(next(counts) if number else 0 for number in best.mix)
    return replace(best, mix=mix, cost=market.cost(mix), attained=plan.best.attained)


def _fullest(
    log: PlannedLog, market: Market, mean: CheapestServers
) -> tuple[CheapestServers | None, float, list[Fraction], list[Fraction]]:
    """Return the cost of the dearest instant found, when it is, its jobs, and the most jobs of each type at any time.

    Instants are compared at the prices of slots that prove a bound, first that of the mean workload.
    """
    arrivals, counts = log.after_arrivals()
    prices = mean.slot_prices
    found: dict[int, CheapestServers | None] = {}
    for _ in range(INSTANTS):
        i = int(np.argmax(np.array(list(map(float, prices))) @ counts))
        if i in found:
            break
        cheapest = found[i] = market.cheapest_if_any(log.instance, _jobs(counts[:, i]))
        if cheapest is None:
            break
        prices = cheapest.slot_prices
    # an instant that no servers hold is the dearest
    dearest = max(found, key=lambda i: inf if (one := found[i]) is None else one.lower)
    at = float(max(log.jobs.times[arrivals[dearest]], log.warmup))
    return found[dearest], at, _jobs(counts[:, dearest]), _jobs(counts.max(axis=1))


def _jobs(counts: NDArray[np.integer[Any]]) -> list[Fraction]:
    return [Fraction(int(n)) for n in counts]


def _needs(
    search: _Search, policies: Sequence[Policy], *, optional: bool
) -> tuple[list[tuple[MixNeed, Policy]], tuple[str, ...]]:
    """Return the need of each policy, and why others have none: where they are optional, work beyond a limit."""
    needs, reasons = [], []
    for policy in policies:
        try:
            needs.append((search.need(policy), policy))
        except TooLargeError as error:
            if not optional or (policy is policies[-1] and not needs):
                raise
            reasons.append(f"{policy.name}: {error}")
    return needs, tuple(reasons)


class _Search:
    """A search for cheap mixes on which policies meet the target on a log.

    First for the least multiple of the jobs of the fullest instant such that the cheapest mix that carries it meets the
    target; from that mix on servers are taken away or exchanged for cheaper ones.
    """

    def __init__(self, log: PlannedLog, market: Market, jobs: Sequence[Fraction], trials: Trials, end: float) -> None:
        self._log, self._market, self._jobs, self._trials, self._end = log, market, jobs, trials, end
        self._mixes: dict[int, Mix | None] = {}

    def need(self, policy: Policy) -> MixNeed:
        """Return the cheapest mix that is found for a policy."""
        values: dict[Mix, Fraction] = {}

        def met(mix: Mix | None) -> bool:
            if mix is None or not self._all_fit(mix):
                return False
            if mix not in values:
                mixed = replace(self._log, instance=with_mix(self._log.instance, mix))
                (values[mix],) = self._trials.attained([(policy, mixed, sum(mix))])
            return self._trials.target.met(values[mix])

        mix = self._by_multiples(met)
        if mix is None:
            return MixNeed(policy.name, None, None, float(next(reversed(values.values()), 0)), len(values))
        tries = len(values) + TRIES
        size = max(1, sum(mix) // STEPS)
        while size and len(values) < tries and time.monotonic() < self._end:
            cheaper = next((one for one in self._cheaper(mix, size) if len(values) < tries and met(one)), None)
            if cheaper is None:
                size //= 2
            else:
                mix = cheaper
        return MixNeed(policy.name, mix, self._market.cost(mix), float(values[mix]), len(values))

    def _by_multiples(self, met: Callable[[Mix | None], bool]) -> Mix | None:
        """Return the mix of the least multiple that meets the target, by steps that double and bisection."""
        low, high, step = 0, self._greatest(0, STEPS), 1
        if met(self._mix(high)):
            low = high - 1
            while low > 0 and met(self._mix(low)):
                high, low, step = low, max(low - 2 * step, 0), 2 * step
        else:
            while not met(self._mix(high)):
                larger = self._greatest(high, high + step)
                if high >= MOST * STEPS or larger == high:
                    return None
                low, high, step = high, larger, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if met(self._mix(middle)) else (middle, high)
        return self._mix(high)

    def _greatest(self, low: int, high: int) -> int:
        """Return the greatest multiple up to `high` for which there are enough servers, if there are for `low`."""
        if self._mix(high) is not None:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._mix(middle) is None else (middle, high)
        return low

    def _mix(self, multiple: int) -> Mix | None:
        """Return the cheapest mix found that carries a multiple of the jobs, with room for each type."""
        if multiple not in self._mixes:
            jobs = [max(Fraction(multiple, STEPS) * n, Fraction(1)) for n in self._jobs]
            found = self._market.cheapest_if_any(self._log.instance, jobs)
            self._mixes[multiple] = None if found is None else found.servers
        return self._mixes[multiple]

    def _all_fit(self, mix: Mix) -> bool:
        """Return whether each type fits a server of a mix."""
        spaces = [pool.space for pool, number in zip(self._log.instance.pools, mix, strict=True) if number]
        return all(any(space.most(j) for space in spaces) for j in range(len(self._log.instance.types)))

    def _cheaper(self, mix: Mix, size: int) -> Iterator[Mix]:
        """Yield mixes with so many servers fewer of a kind, or of another kind, from the cheapest on."""
        kinds = range(len(mix))
        mixes = []
        for p in kinds:
            for q in (None, *kinds):
                other = list(mix)
                other[p] -= size
                if q is not None:
                    other[q] += size
                cost = self._market.cost(tuple(other)) if min(other) >= 0 and any(other) else None
                if cost is not None and cost < (self._market.cost(mix) or 0):
                    mixes.append((cost, tuple(other)))
        for _, one in sorted(mixes):
            yield one
