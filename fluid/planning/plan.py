"""A plan: what carries a log, what holds its fullest instant, what each policy needs, and what growth would need."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from fluid.planning.log import PlannedLog, grown, resampled, window
from fluid.planning.needs import FINEST, Need, Peak, Trials, least_for, peak_servers
from fluid.simulation.policy_interface import Policy
from theory.greedy.servers import LeastServers, least_servers
from theory.region.membership import CapacityProgram

GROWTH = (0.1, 0.2, 0.5)


class Effort(NamedTuple):
    """What a plan may spend: arrivals of the log that are simulated, resampled logs, bounds of the fullest instants."""

    arrivals: int
    resamples: int
    bounds: int


EFFORTS = {"quick": Effort(20_000, 3, 40), "full": Effort(200_000, 19, 400)}


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
    log, part : PlannedLog
        The whole log, and the part that was simulated, which begins `part_begins` seconds after it.
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
    left_out : tuple of str
        What was not computed because the time was over.
    """

    log: PlannedLog
    part: PlannedLog
    part_begins: float
    trials: Trials
    carries: LeastServers
    peak: Peak
    policies: tuple[PolicyNeed, ...]
    best: Need | None
    headroom: tuple[Fraction, ...] | None
    growth: tuple[Growth, ...]
    left_out: tuple[str, ...]


def mean_jobs(log: PlannedLog) -> list[Fraction]:
    """Return the mean number of jobs in service by type, to a thousandth."""
    return [Fraction(round(float(x) * FINEST), FINEST) for x in log.means]


def make_plan(
    log: PlannedLog, policies: Sequence[Policy], trials: Trials, effort: Effort, seconds: float = float("inf")
) -> Plan:
    """Make a plan.

    Parameters
    ----------
    log : PlannedLog
    policies : sequence of Policy
        All of loss systems for a share of accepted jobs, all of queues for a waiting time.
    trials : Trials
    effort : Effort
    seconds : float
        After these, what has not begun is left out: first growth, then resampled logs of the last policies.
    """
    end = time.monotonic() + seconds
    left_out: list[str] = []
    part, begins = window(log, effort.arrivals)
    say = trials.progress or (lambda _: None)
    say("servers that carry the mean workload")
    carries = least_servers(log.instance, mean_jobs(log))
    say("servers that hold the fullest instant")
    peak = peak_servers(log, effort.bounds)
    needs = {policy.name: least_for(policy, part, trials, peak.upper) for policy in policies}
    others = [resampled(part, np.random.default_rng([trials.seed, r])) for r in range(effort.resamples)]
    rows = []
    for policy in policies:
        need = needs[policy.name]
        ranges: list[int | None] = []
        for r, other in enumerate(others):
            if need.servers is None or time.monotonic() > end:
                break
            say(f"{policy.name}: resampled log {r + 1} of {len(others)}")
            ranges.append(least_for(policy, other, trials, need.servers).servers)
        if need.servers is not None and len(ranges) < len(others):
            left_out.append(f"{policy.name}: {len(others) - len(ranges)} of {len(others)} resampled logs")
        rows.append(PolicyNeed(need, tuple(ranges)))
    met = [need for need in needs.values() if need.servers is not None]
    best = min(met, key=lambda need: need.servers or 0, default=None)
    growth: list[Growth] = []
    headroom = None
    if best is not None and best.servers is not None:
        servers = best.servers
        program = CapacityProgram(log.instance.with_workload([x / servers for x in mean_jobs(log)]))
        free = program.headroom()
        headroom = None if free is None else tuple(x * servers for x in free)
        chosen = next(policy for policy in policies if policy.name == best.policy)
        for g in GROWTH:
            if time.monotonic() > end:
                left_out.append(f"growth of {g:.0%}")
                continue
            say(f"growth of {g:.0%}")
            more = grown(part, g, np.random.default_rng([trials.seed, 1000]))
            jobs = [x * Fraction(str(1 + g)) for x in mean_jobs(log)]
            need = least_for(chosen, more, trials, ceil(servers * (1 + g)))
            growth.append(Growth(g, least_servers(log.instance, jobs), need))
    quiet = replace(trials, progress=None, store=None)
    return Plan(log, part, begins, quiet, carries, peak, tuple(rows), best, headroom, tuple(growth), tuple(left_out))
