"""Whether the waiting work keeps growing: in two windows of equal length, with a stated false-alarm rate.

Work, not jobs: a waiting job counts with the time that a server takes for it (`bounds.adversary.traps.work_of`), so
that an exchange of long jobs for short ones is no growth. Growth in the first window alone may be a part of a long
cycle; it counts only where the rate in the second window is more than half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.files.scenarios import read_scenario
from fluid.simulation.documents import Times
from fluid.simulation.driver import simulate
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import Run
from fluid.statistics import Interval, growth, mean_interval
from theory.instance import Instance

ALARM = 1e-6  # probability with which a cluster whose waiting work does not grow is said to lose work, at most
BINS = 40  # of each window; the windows are two fifths of a run each, and begin after a fifth of it

REPLICATIONS = 20
FEWEST = 8  # replications that must be caught, for an interval at the level of the decision


@dataclass(frozen=True)
class Simulated:
    """A simulation that `packproof simulate` repeats: horizon, replications and seed; its warm-up is a fifth."""

    until: float
    replications: int
    seed: int


@dataclass(frozen=True)
class Growth:
    """How the waiting work of a policy grew: rates in the two windows, in servers per unit of time.

    The rates are those of the `caught` replications, in which work had begun to grow before the first window; each
    interval misses with half of the false-alarm rate at most. The windows begin at a fifth and at three fifths of the
    horizon.
    """

    first: Interval | None
    second: Interval | None
    caught: int
    replications: int
    run: Simulated

    @property
    def confirmed(self) -> bool:
        """Whether work grows in the first window, and at more than half of that rate in the second."""
        if self.first is None or self.second is None:
            return False
        return self.first.low > 0 and self.second.low > max(0.0, self.first.mean / 2)


def growth_of(
    policy: Policy,
    document: dict[str, Any],
    work: list[Fraction],
    servers: int,
    until: float,
    *,
    expected: float = 0.0,
    seed: int = 0,
    alarm: float = ALARM,
    progress: Callable[[str], None] | None = None,
) -> Growth:
    """Simulate an instance as `packproof simulate` does, and measure how the waiting work grows.

    `work` is what a waiting job of each type counts, shape (J,); `until` is rounded up to a whole number for each bin.
    A replication is caught if at least a quarter of what grows at the rate `expected` until the first window waits
    there. Both intervals together miss with probability `alarm` at most. Ctrl-C raises KeyboardInterrupt.
    """
    end = float(-(-until // (5 * BINS)) * 5 * BINS)
    simulated = Simulated(end, REPLICATIONS, seed)
    runs = _runs(policy, document, Times(servers, end, end / 5), simulated, 2 * BINS, progress)
    times, curves = work_over_time(runs, [float(w) for w in work])
    caught = [curve for curve in curves if curve[0] >= expected * end / 5 / 4]
    # too few for an interval: the horizon was too short, or the policy is seldom caught
    if len(caught) < FEWEST:
        return Growth(None, None, len(caught), len(curves), simulated)
    # each interval misses with alarm/2 at most, so both together with at most alarm (union bound)
    first, second = (
        growth([curve[part] for curve in caught], times[part], 1 - alarm / 2)
        for part in (slice(BINS), slice(BINS, None))
    )
    return Growth(first, second, len(caught), len(curves), simulated)


def lost_share(
    policy: Policy, document: dict[str, Any], work: list[Fraction], servers: int, until: float, *, seed: int = 0
) -> float:
    """Return the part of the arriving work that piled up after a quarter of one run: an estimate without interval."""
    runs = _runs(policy, document, Times(servers, until, until // 4), Simulated(until, 1, seed))
    times, (curve,) = work_over_time(runs, weights := [float(w) for w in work])
    run, edges = runs[0], runs[0].measures.edges
    arrived = run.measures.arrivals[run.first :].sum(axis=0) @ np.array(weights)
    if not arrived:
        return 0.0
    # one run has a slope but no interval: it is given twice, and only the mean is used
    rate = growth(np.array([curve] * 2), times).mean
    return max(0.0, rate * float(edges[-1] - edges[run.first]) / float(arrived))


def work_over_time(runs: Sequence[Run], work: Sequence[float]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the middles of the bins after the warm-up, and by run the work that waits there: `work` a job, by type."""
    first, edges = runs[0].first, runs[0].measures.edges
    return (edges[first + 1 :] + edges[first:-1]) / 2, [run.waiting[first:] @ np.array(work) for run in runs]


def share_of_reward(
    policy: Policy, document: dict[str, Any], instance: Instance, servers: int, run: Simulated
) -> Interval:
    """Return the reward of a loss policy over that of the optimal assignment; the level is 1 - `ALARM`."""
    from theory.greedy.optimal import optimal_assignment

    most = float(optimal_assignment(instance).reward)
    runs = _runs(policy, document, Times(servers, run.until, run.until / 5), run)
    return mean_interval([one.mean_reward / most for one in runs], 1 - ALARM)


def _runs(
    policy: Policy,
    document: dict[str, Any],
    times: Times,
    run: Simulated,
    bins: int = 40,
    progress: Callable[[str], None] | None = None,
) -> tuple[Run, ...]:
    """Simulate; a Ctrl-C, after which the simulator returns a shorter result, ends the search."""
    scenario = read_scenario(document, policy, times, source="attack", bins=bins).scenario
    result = simulate(policy, scenario, replications=run.replications, seed=run.seed, progress=progress)
    if result.interrupted or any(one.interrupted for one in result.runs):
        raise KeyboardInterrupt
    return result.runs
