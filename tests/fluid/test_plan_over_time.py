"""A plan over time: what comes, is refused and is in use in each period, beside a replay by hand."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fluid.planning import PlannedLog, Target, Trials
from fluid.planning.over_time import PERIODS, over_time
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_names import policy
from theory.instance import additive, pooled


@pytest.mark.parametrize("seed", range(4))
def test_periods_are_those_of_a_replay(seed: int) -> None:
    """In each period: the VMs that come, those that first-fit refuses, and the mean of what the others take."""
    draw, warmup, until = random.Random(seed), 1_000 * (seed % 2), 6_000
    jobs = sorted((draw.randrange(until), draw.randint(0, 1), draw.randint(0, 900)) for _ in range(300))
    columns = (np.array(column) for column in zip(*jobs, strict=True))
    log = PlannedLog(additive([5, 8], [[1, 4], [2, 1]]), JobList(*columns), until, None, (), warmup=warmup)
    periods = over_time(policy("first-fit"), log, 3, Trials(Target(accept=0.9)))
    length = (until - warmup) / PERIODS
    came, refused, busy = np.zeros(PERIODS), np.zeros(PERIODS), np.zeros((PERIODS, 2))
    demands, there = ((1, 4), (2, 1)), [[] for _ in range(3)]  # type: ignore[var-annotated]
    for time, kind, stay in jobs:
        there = [[one for one in server if one[0] > time] for server in there]
        load = [[sum(demands[k][r] for _, k in server) for r in range(2)] for server in there]
        fitting = [s for s in range(3) if all(load[s][r] + demands[kind][r] <= (5, 8)[r] for r in range(2))]
        if time >= warmup:
            came[int((time - warmup) / length)] += 1
            refused[int((time - warmup) / length)] += not fitting
        if fitting:
            there[fitting[0]].append((time + stay, kind))
            for b in range(PERIODS):
                begin = warmup + b * length
                inside = max(min(time + stay, begin + length) - max(time, begin), 0)
                busy[b] += [inside / length * demands[kind][r] / (3 * (5, 8)[r]) for r in range(2)]
    assert periods.edges == pytest.approx([(warmup + b * length) / 1e6 for b in range(PERIODS + 1)])
    assert periods.arrivals.tolist() == came.tolist()
    assert (periods.arrivals - periods.starts).tolist() == refused.tolist()
    assert np.column_stack(list(periods.in_use.values())) == pytest.approx(busy)
    assert refused.sum() > 0
    assert not periods.waiting.any()


def test_periods_of_pools_share_all_capacity() -> None:
    """One job an instant on servers of two sizes has its part of what all of them have together."""
    instance = pooled([("1/2", [4]), ("1/2", [12])], [[4]])
    jobs = JobList(np.zeros(1, np.int64), np.zeros(1, np.int32), np.full(1, 10**6))
    log = PlannedLog(instance, jobs, 10**6, None, ())
    periods = over_time(policy("first-fit"), log, 2, Trials(Target(accept=0.9)))
    (in_use,) = periods.in_use.values()
    assert in_use == pytest.approx([0.25] * PERIODS)
    waits = over_time(policy("nonpreemptive"), replace(log, instance=additive([4], [[4]])), 1, Trials(Target(wait=1.0)))
    assert not waits.waiting.any()
