"""Does a policy carry a share of the region? A test on simulated paths, with a stated rate of false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bounds.adversary.growth import work_over_time
from bounds.testing.queueing import AnyQueue
from fluid.simulation.driver import simulate
from fluid.simulation.policy_interface import Policy
from fluid.statistics import Interval, growth
from theory.errors import InputError

REPLICATIONS = 10


@dataclass(frozen=True)
class Growth:
    """How the waiting work grows, in servers' work per unit of time: two-sided at level 1 - 2 `alarm`."""

    rate: Interval
    unstable: bool


def growth_of_work(
    policy: Policy, queue: AnyQueue, share: Fraction, *, alarm: float = 1e-6, jobs: int = 20_000, seed: int = 0
) -> Growth:
    """Simulate a policy from empty servers at a share of the region, and test whether the work that waits grows.

    A line is fitted to the waiting work of each of ten runs, of about `jobs` jobs, over their second half. Work is
    counted in time of servers, by the prices of the region, so that a policy which exchanges many small jobs for few
    large ones shows no growth. Unstable is said only if the lower end of Student's interval of the mean slope is above
    0, and again so in ten new runs of twice the length. If slopes of runs are normal, and their mean is not above 0 in
    either round, that happens with probability at most `alarm`. A queue that is stable but has not come to rest in the
    second half of the longer runs does grow there, and may be called unstable: near the boundary of the region take
    more jobs.
    """
    if not 0 < alarm < 0.5:
        raise InputError("alarm", f"expected a probability above 0 and below 1/2, got {alarm!r}")
    # the second round has fresh seeds: a chance slope of the first is not found again
    for turn in range(2):
        scenario = queue.scenario(policy, share, jobs << turn)
        result = simulate(policy, scenario, replications=REPLICATIONS, seed=2 * seed + turn)
        times, rows = work_over_time(result.runs, queue.work())
        rate = growth(rows, times, 1 - 2 * alarm)
        if rate.low <= 0:
            return Growth(rate, False)
    return Growth(rate, True)
