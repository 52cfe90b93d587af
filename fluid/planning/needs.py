"""Servers that a log needs: to hold its fullest instants, and for a policy to meet a target."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite
from typing import Any

import numpy as np

from fluid.experiment.replications import simulate_each
from fluid.experiment.store import Store
from fluid.planning.log import PlannedLog
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.results import Run
from fluid.simulation.scenario import Scenario
from fluid.simulation.ticks import exactly, in_ticks, in_units
from fluid.traces.jobs import TICK
from theory.errors import ArgumentError
from theory.greedy.servers import least_servers
from theory.instance import Additive
from theory.numbers import many

FINEST = 1000
"""Denominator of the mean number of jobs in service, from which workloads are made."""

NEGLIGIBLE = 1e-9
"""A mean wait in seconds that a search takes for none."""

WIDEST = 64
"""A policy that misses its target on so many times the servers that carry the workload is given up."""

LONGEST = 12
"""Most times that a queue is simulated for longer until no job of the log waits: 4,095 times the log at the end."""


# ---- the fullest instants --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peak:
    """Servers that hold the jobs in service at every instant of a log if jobs may be moved.

    Attributes
    ----------
    lower, upper : int
        Fewer than `lower` cannot hold the jobs of the instant `at`; `upper` hold those of every instant.
    at : float
        Microseconds after the log begins.
    jobs : tuple of int
        In service then, by type.
    """

    lower: int
    upper: int
    at: float
    jobs: tuple[int, ...]


def peak_servers(log: PlannedLog, most: int = 40) -> Peak:
    """Bound the servers that the fullest instant of a log needs, from both sides.

    Notes
    -----
    The most jobs of each type in a span of time, taken together, need at least the servers of each instant of the span:
    an upper bound. The span with the greatest bound is split in four until it is one instant, its bound is met from
    below, or `most` bounds have been computed (`theory.greedy.servers.least_servers` each).
    """
    # the number of jobs rises at arrivals alone, so that these are the moments to look at
    arrivals, counts = log.after_arrivals()
    lower = instant = computed = 0

    def upper_of(first: int, last: int) -> int:
        nonlocal lower, instant, computed
        computed += 1
        bounds = least_servers(log.instance, [Fraction(int(n)) for n in counts[:, first:last].max(axis=1)])
        if last - first == 1 and bounds.lower > lower:
            lower, instant = bounds.lower, first
        return bounds.upper

    # first the instant of most load, whose lower bound ends the search early
    fullest = int(np.argmax(_load(log, counts)))
    upper_of(fullest, fullest + 1)
    spans = [(-upper_of(0, len(arrivals)), 0, len(arrivals))]
    while computed < most:
        bound, first, last = spans[0]
        if -bound <= lower or last - first == 1:
            break
        heapq.heappop(spans)
        edges = np.unique(np.linspace(first, last, 5).astype(int)).tolist()
        for a, b in pairwise(edges):
            heapq.heappush(spans, (-min(upper_of(a, b), -bound), a, b))
    at = float(max(log.jobs.times[arrivals[instant]], log.warmup))
    return Peak(lower, max(-spans[0][0], lower), at, tuple(counts[:, instant].tolist()))


def _load(log: PlannedLog, counts: Any) -> Any:
    """Return the greatest share of a resource of all servers together that jobs ask, up to a factor."""
    space = log.instance.pools[0].space
    if not isinstance(space, Additive):
        return counts.sum(axis=0)
    shares = np.array(space.demands, np.float64) / np.array(space.capacity, np.float64)  # [J, R]
    return (shares.T @ counts).max(axis=0)


# ---- policies --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A share of jobs that is accepted, at least, or else a mean waiting time in seconds, at most."""

    accept: float | None = None
    wait: float | None = None

    def __post_init__(self) -> None:
        if (self.accept is None) == (self.wait is None):
            both = "" if self.accept is None else ", not both"
            raise ArgumentError("accept", f"expected either a share to accept or a mean wait (wait){both}")
        if self.accept is not None and not 0 < self.accept <= 1:
            raise ArgumentError("accept", f"expected a share greater than 0 and at most 1, got {self.accept!r}")
        if self.wait is not None and not (self.wait >= 0 and isfinite(self.wait)):
            raise ArgumentError("wait", f"expected a number of seconds of at least 0, got {self.wait!r}")

    def share_of_way(self, first: Fraction | float, then: Fraction | float) -> float | None:
        """Return the share of the way from a value to a better one at which the target lies, on its scale.

        It is below 0 where both meet the target, and above 1 where both miss it. None where the second is no better.

        Examples
        --------
        >>> [Target(accept=0.9999).share_of_way(*values) for values in ((0.9984, 1), (0.9919, 0.9984), (1, 0.9984))]
        [0.5, 2.0, None]
        """
        start, end, aim = map(self._on_scale, (first, then, exactly(self.accept or self.wait or 0.0)))
        share = (start - aim) / (start - end) if start > end else math.nan
        return round(share, 9) if isfinite(share) else None

    def _on_scale(self, value: Fraction | float) -> float:
        """Return a value as a number that falls nearly on a line as servers are added."""
        if self.accept is None:  # of waits the size changes most
            return math.log(max(float(value), NEGLIGIBLE)) if value < inf else inf
        # near the target the share refused falls faster than on a line, and slower than its logarithm
        return math.sqrt(math.sqrt(1 - value))

    def met(self, value: Fraction | float) -> bool:
        """Return whether a policy that attains a value meets the target; it does where they are equal."""
        return value >= exactly(self.accept) if self.accept is not None else value <= exactly(self.wait or 0.0)


@dataclass(frozen=True)
class Need:
    """The servers that a policy needs on a log.

    Attributes
    ----------
    policy : str
    servers : int or None
        The target is met on them; None where it was not met on any number that was tried.
    attained : float
        The share accepted, or the mean wait, on `servers`, or on the most that were tried.
    one_less : float or None
        The same on one server less, where the target is missed; None where that was not tried.
    """

    policy: str
    servers: int | None
    attained: float
    one_less: float | None


@dataclass(frozen=True)
class Trials:
    """How policies are run on a log: the target, the seed, the store of what has been run, and where (`engine`)."""

    target: Target
    seed: int = 0
    store: Store | None = None
    progress: Callable[[str], None] | None = None
    engine: str = "local"

    def say(self, text: str) -> None:
        """Tell the listener, if there is one."""
        if text and self.progress is not None:
            self.progress(text)

    def attained(self, asked: Sequence[tuple[Policy, PlannedLog, int]]) -> list[Fraction]:
        """Run each policy on a log and a number of servers; return the shares of jobs accepted, or their mean waits."""
        pairs: list[tuple[Policy, Scenario]] = []
        for policy, log, servers in asked:
            pairs.append((policy, scenario_of(policy, log, servers)))
            self.say(f"{policy.name} on {many(servers, 'server')}")
        runs = simulate_each(pairs, seed=self.seed, engine=self.engine, store=self.store)
        return [self._value(*one, run) for one, run in zip(asked, runs, strict=True)]

    def _value(self, policy: Policy, log: PlannedLog, servers: int, run: Run) -> Fraction:
        """Return what a run attains; a queue in which jobs of the log still wait is run again, for longer."""
        if policy.model == "loss":
            return _accepted(run)
        longer = 0
        while run.measures.starts.sum() < run.measures.arrivals.sum() and longer < LONGEST:
            longer += 1
            pair = policy, scenario_of(policy, log, servers, longer)
            (run,) = simulate_each([pair], seed=self.seed, engine=self.engine, store=self.store)
        return _mean_wait(run)


def scenario_of(policy: Policy, log: PlannedLog, servers: int, longer: int = 0, bins: int = 1) -> Scenario:
    """Return the scenario of a log, measured in equal spans; queues may go on after it, each step twice as long.

    The first step is as long as the log or its longest job.
    """
    means = [Fraction(round(float(x) * FINEST), FINEST * servers) for x in log.means]
    instance = log.instance.with_workload(means)
    more = max(log.until, float(log.jobs.durations.max())) * (2**longer - 1)
    until, warmup = (float(in_units(time, TICK)) for time in (log.until + more, log.warmup))
    model = LossScenario if policy.model == "loss" else QueueScenario
    return model(instance, servers, until, warmup, jobs=log.jobs, bins=bins, tick=TICK)


def _accepted(run: Run) -> Fraction:
    starts, arrivals = (int(counts[run.first :].sum()) for counts in (run.measures.starts, run.measures.arrivals))
    return Fraction(starts, arrivals)


def _mean_wait(run: Run) -> Fraction:
    """Return the mean wait in seconds of the jobs that are measured: by Little's law, without rounding."""
    waited = sum(Fraction(in_ticks(float(x), TICK)) for x in run.measures.waiting[run.first :].sum(axis=0))
    return waited * TICK / int(run.measures.arrivals[run.first :].sum())


@dataclass(frozen=True)
class Search:
    """A search for the least number of servers on which a policy meets a target on a log.

    Attributes
    ----------
    policy : Policy
    log : PlannedLog
    start : int
        The number that is tried first.
    title : str
        Said as the search begins.
    """

    policy: Policy
    log: PlannedLog
    start: int
    title: str = ""

    def steps(self, target: Target) -> Generator[int, Fraction, Need]:
        """Yield numbers of servers, take what the policy attains on each, and return the need.

        From `start` in steps that double, up or down, until the target is met on one number and missed on another, but
        no farther than where it lies on the line through the last two (`Target.share_of_way`). Then where it lies on
        the line through these two numbers, and in the middle where that has not halved what is between them in two.
        """
        values: dict[int, Fraction | float] = {0: 0.0 if target.accept is not None else inf}

        def met(servers: int) -> Generator[int, Fraction, bool]:
            if servers not in values:
                values[servers] = yield servers
            return target.met(values[servers])

        def beyond(few: int, many: int, step: int, *, up: bool) -> int:
            share = target.share_of_way(values[few], values[many])
            if share is None:
                return step
            distance = math.ceil((share - 1 if up else -share) * (many - few))
            return min(max(distance, step // 4, 1), step)

        low = high = max(self.start, 1)
        step = max(1, self.start // 16)
        if (yield from met(high)):
            while low > 0 and (yield from met(low)):
                high, low, step = low, max(low - beyond(low, high, step, up=False), 0), step * 2
        else:
            while not (yield from met(high)):
                if high > WIDEST * max(self.start, 1):
                    return Need(self.policy.name, None, float(values[high]), None)
                low, high, step = high, high + beyond(low, high, step, up=True), step * 2
        widths = [inf, inf, high - low]
        while high - low > 1:
            middle = (low + high) // 2
            share = target.share_of_way(values[low], values[high])
            if share is not None and 2 * widths[-1] <= widths[-3]:
                middle = min(max(low + round((high - low) * share), low + 1), high - 1)
            low, high = (low, middle) if (yield from met(middle)) else (middle, high)
            widths.append(high - low)
        less = float(values[high - 1]) if high > 1 else None
        return Need(self.policy.name, high, float(values[high]), less)


def least_for(policy: Policy, log: PlannedLog, trials: Trials, start: int) -> Need:
    """Find the least number of servers on which a policy meets its target on a log, from `start` (`Search`).

    Notes
    -----
    What a policy attains need not grow with the number of servers: the target is met on the number returned
    and missed on one less, and fewer may meet it again.
    """
    return _together([Search(policy, log, start)], trials)[0]


def least_for_each(searches: Sequence[Search], trials: Trials, end: float = inf) -> Iterator[Need | None]:
    """Yield the need of each search; None for those that had not begun at the time `end` (of the monotonic clock).

    Here they run one after another. On a cluster they go on together, in rounds: each has one simulation in a round.
    """
    at_once = 1 if trials.engine == "local" else max(len(searches), 1)
    for first in range(0, len(searches), at_once):
        batch = searches[first : first + at_once]
        yield from [None] * len(batch) if time.monotonic() > end else _together(batch, trials)


def _together(searches: Sequence[Search], trials: Trials) -> list[Need]:
    needs: dict[int, Need] = {}
    asking: dict[int, tuple[Generator[int, Fraction, Need], int]] = {}

    def ask(i: int, steps: Generator[int, Fraction, Need], value: Fraction | None) -> None:
        try:
            asking[i] = steps, next(steps) if value is None else steps.send(value)
        except StopIteration as ended:
            needs[i] = ended.value

    for i, search in enumerate(searches):
        if search.policy.model == "slotted":
            raise ArgumentError("policy", f"{search.policy.name}: expected a policy in continuous time, as logs are")
        trials.say(search.title)
        ask(i, search.steps(trials.target), None)
    while asking:
        before, asking = asking, {}
        values = trials.attained([(searches[i].policy, searches[i].log, n) for i, (_, n) in before.items()])
        for (i, (steps, _)), value in zip(before.items(), values, strict=True):
            ask(i, steps, value)
    return [needs[i] for i in range(len(searches))]
