"""A plan: what carries a log, what holds its fullest instant, what each policy needs, and what growth would need."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import ceil
from typing import NamedTuple

import numpy as np

from fluid.planning.log import PlannedLog, grown, resampled
from fluid.planning.needs import FINEST, Need, Peak, Search, Trials, least_for, least_for_each, peak_servers
from fluid.planning.over_time import OverTime, over_time
from fluid.simulation.policy_interface import Policy
from theory.errors import ArgumentError, TooLargeError
from theory.greedy.servers import LeastServers, least_servers
from theory.region.membership import CapacityProgram

GROWTH = (0.1, 0.2, 0.5)


class Effort(NamedTuple):
    """What a plan may spend: resampled logs, arrivals of all of them, and bounds of the fullest instants.

    The log itself is simulated whole; resampled and grown logs as long as their arrivals do not exceed `arrivals`.
    """

    resamples: int
    arrivals: int
    bounds: int

    def resampled(self, arrivals: int) -> int:
        """Return the number of resampled logs for a log with a number of arrivals."""
        return min(self.resamples, self.arrivals // max(arrivals, 1))

    def grows(self, arrivals: int) -> bool:
        """Return whether a log with a number of arrivals is grown."""
        return arrivals * sum(1 + growth for growth in GROWTH) <= self.arrivals


EFFORTS = {"quick": Effort(3, 600_000, 40), "full": Effort(19, 12_000_000, 400)}


@dataclass(frozen=True)
class PolicyNeed:
    """What a policy needs on the log, and the servers that it needs on resampled logs (None: more than were tried)."""

    need: Need
    resampled: tuple[int | None, ...]


@dataclass(frozen=True)
class Growth:
    """What a log with more arrivals needs: to carry its mean workload, and by the policy of the plan."""

    growth: float
    carries: LeastServers
    need: Need


@dataclass(frozen=True)
class Plan:
    """A plan for a log.

    Attributes
    ----------
    log : PlannedLog
    trials : Trials
    carries : LeastServers
        Servers that carry the mean workload.
    peak : Peak
    policies : tuple of PolicyNeed
    best : Need or None
        The need of the policy that needs the fewest servers; None where none met the target.
    headroom : tuple of Fraction or None
        How many more VMs of each type, alone, `best` has room for on average if VMs are packed as well as possible.
    growth : tuple of Growth
    over_time : OverTime or None
        What `best` does in each period of the log.
    left_out : tuple of str
        What was not computed, because the time was over or the log is long.
    not_run : tuple of str
        Policies that cannot run on this log, with the reason.
    """

    log: PlannedLog
    trials: Trials
    carries: LeastServers
    peak: Peak
    policies: tuple[PolicyNeed, ...]
    best: Need | None
    headroom: tuple[Fraction, ...] | None
    growth: tuple[Growth, ...]
    over_time: OverTime | None
    left_out: tuple[str, ...]
    not_run: tuple[str, ...] = ()


def mean_jobs(log: PlannedLog) -> list[Fraction]:
    """Return the mean number of jobs in service by type, to a thousandth."""
    return [Fraction(round(float(x) * FINEST), FINEST) for x in log.means]


def make_plan(
    log: PlannedLog,
    policies: Sequence[Policy],
    trials: Trials,
    effort: Effort,
    time_limit: float = float("inf"),
    *,
    optional: bool = False,
    start: int | None = None,
) -> Plan:
    """Make a plan.

    Parameters
    ----------
    log : PlannedLog
    policies : sequence of Policy
        All of loss systems for a share of accepted jobs, all of queues for a waiting time.
    trials : Trials
    effort : Effort
    time_limit : float
        Seconds, after which what has not begun is left out: first growth, then resampled logs of the last policies.
    optional : bool
        Whether a policy whose work on this log is beyond a limit is left out, unless all of them are.
    start : int, optional
        The number of servers that is tried first; by default what holds the fullest instant.

    Raises
    ------
    ArgumentError
        A time limit that is not greater than 0.
    TooLargeError
        Work of a policy beyond a limit.
    """
    if not time_limit > 0:
        raise ArgumentError("time_limit", f"expected a number of seconds greater than 0, got {time_limit!r}")
    end = time.monotonic() + time_limit
    arrivals = len(log.jobs.times)
    trials.say("servers that carry the mean workload")
    carries = least_servers(log.instance, mean_jobs(log))
    trials.say("servers that hold the fullest instant")
    peak = peak_servers(log, effort.bounds)
    first = peak.upper if start is None else start
    needs, not_run = _first_needs(policies, log, first, trials, optional=optional)
    met = [(need, policy) for need, policy in needs if need.servers is not None]
    best, chosen = min(met, key=lambda one: one[0].servers or 0, default=(None, None))
    others = [resampled(log, np.random.default_rng([trials.seed, r])) for r in range(effort.resampled(arrivals))]
    searches = [
        Search(policy, other, need.servers or 0, f"{policy.name}: resampled log {r} of {len(others)}")
        for need, policy in met
        for r, other in enumerate(others, 1)
    ]
    headroom, periods = None, None
    if best is not None and chosen is not None and best.servers is not None:
        servers = best.servers
        free = CapacityProgram(log.instance.with_workload([x / servers for x in mean_jobs(log)])).headroom()
        headroom = None if free is None else tuple(x * servers for x in free)
        trials.say("what is in use over the log")
        periods = over_time(chosen, log, servers, trials)
        for g in GROWTH if effort.grows(arrivals) else ():
            more = grown(log, g, np.random.default_rng([trials.seed, 1000]))
            searches.append(Search(chosen, more, ceil(servers * (1 + g)), f"growth of {g:.0%}"))
    answers = least_for_each(searches, trials, end)
    left_out = _left_out(effort, arrivals)
    rows = []
    for need, _ in needs:
        again = [] if need.servers is None else list(islice(answers, len(others)))
        begun = [one for one in again if one is not None]
        if len(begun) < len(again):
            left_out.append(f"{need.policy}: {len(again) - len(begun)} of {len(again)} resampled logs")
        rows.append(PolicyNeed(need, tuple(one.servers for one in begun)))
    growth: list[Growth] = []
    for g, larger in zip(GROWTH if best is not None and effort.grows(arrivals) else (), answers, strict=True):
        if larger is None:
            left_out.append(f"growth of {g:.0%}")
            continue
        jobs = [x * Fraction(str(1 + g)) for x in mean_jobs(log)]
        growth.append(Growth(g, least_servers(log.instance, jobs), larger))
    quiet = replace(trials, progress=None, store=None, engine="local")
    return Plan(
        log, quiet, carries, peak, tuple(rows), best, headroom, tuple(growth), periods, tuple(left_out), not_run
    )


def _left_out(effort: Effort, arrivals: int) -> list[str]:
    """Return what is not simulated as the log is long."""
    many_logs = effort.resampled(arrivals)
    left_out = []
    if many_logs < effort.resamples:
        left_out.append(f"{effort.resamples - many_logs} of {effort.resamples} resampled logs")
    if not effort.grows(arrivals):
        left_out.append("growth")
    words = f"more than {effort.arrivals:,} arrivals in all at this level"
    return [f"{one}: {words}" for one in left_out]


def _first_needs(
    policies: Sequence[Policy], log: PlannedLog, start: int, trials: Trials, *, optional: bool
) -> tuple[list[tuple[Need, Policy]], tuple[str, ...]]:
    """Return the need of each policy, and why others have none: where they are optional, work beyond a limit.

    The search for the first one begins at `start`, and for each other one at the most that those before it need: from
    above, where few jobs are refused, a search takes fewer simulations.
    """
    pairs: list[tuple[Need, Policy]] = []
    errors: list[TooLargeError] = []
    reasons: list[str] = []
    for policy in policies:
        try:
            need = least_for(policy, log, trials, start)
        except TooLargeError as error:
            if not optional:
                raise
            errors.append(error)
            about_policy = isinstance(error, ArgumentError) and error.table == "policy"  # which the line names already
            reasons.append(f"{policy.name}: {error.problem if about_policy else error}")
            continue
        pairs.append((need, policy))
        start = max((one.servers for one, _ in pairs if one.servers), default=start)
    if not pairs:
        raise errors[0]
    return pairs, tuple(reasons)
