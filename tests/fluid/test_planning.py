"""Plans of logs, beside counting by hand, brute force over packings, and a loop that loses jobs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fluid.planning import (
    Peak,
    PlannedLog,
    Target,
    Trials,
    grown,
    least_for,
    make_plan,
    mean_jobs,
    peak_servers,
    planned_log,
    resampled,
    window,
)
from fluid.planning.log import DAY
from fluid.planning.plan import Effort
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_names import policy
from fluid.traces.file import TraceFile
from theory.errors import InputError
from theory.instance import Instance, additive


def log_of(
    seed: int, instance: Instance, count: int = 60, span: float = 100.0, mean: float = 20.0, begins: float | None = None
) -> PlannedLog:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0, span, count))
    types = rng.integers(len(instance.types), size=count).astype(np.int32)
    return PlannedLog(instance, JobList(times, types, rng.exponential(mean, count)), float(times[-1]), begins, ())


def rows(log: PlannedLog) -> list[tuple[float, int, float]]:
    return list(zip(*(column.tolist() for column in log.jobs), strict=True))


def fewest_bins(items: list[int], capacity: int) -> int:
    """Return the fewest bins, by trying every bin for each item, largest first."""
    items = sorted(items, reverse=True)
    best = len(items)

    def place(i: int, bins: list[int]) -> None:
        nonlocal best
        if len(bins) >= best:
            return
        if i == len(items):
            best = len(bins)
            return
        for b in sorted({load: b for b, load in enumerate(bins) if load + items[i] <= capacity}.values()):
            place(i + 1, [load + items[i] * (c == b) for c, load in enumerate(bins)])
        place(i + 1, [*bins, items[i]])

    place(0, [])
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [2, 5, 400])
def test_the_fullest_instant_lies_between_the_bounds(seed: int, most: int) -> None:
    sizes, capacity = (5, 3, 2), 8
    log = log_of(seed, additive([capacity], [[size] for size in sizes]), count=30, mean=15.0)
    needs = []
    for at in log.jobs.times:
        there = [sizes[j] for begin, j, stay in rows(log) if begin <= at < begin + stay]
        needs.append(fewest_bins(there, capacity))
    peak = peak_servers(log, most)
    assert peak.lower <= max(needs) <= peak.upper
    at = int(np.argmin(np.abs(log.jobs.times - peak.at)))
    assert peak.lower <= needs[at]
    assert sum(peak.jobs) == sum(begin <= peak.at < begin + stay for begin, _, stay in rows(log))
    if most == 400:
        assert peak.upper - peak.lower <= 1, "with enough bounds the search ends at instants"


def test_a_peak_of_equal_jobs_is_exact() -> None:
    log = log_of(3, additive([4], [[1]]), count=200)
    most = max(int(log.in_service(log.jobs.times)[0, i]) for i in range(200))
    peak = peak_servers(log, 1000)
    assert peak == Peak(-(-most // 4), -(-most // 4), peak.at, peak.jobs)


@pytest.mark.parametrize("seed", range(3))
def test_means_and_counts(seed: int) -> None:
    log = log_of(seed, additive([2], [[1], [2]]))
    at = np.random.default_rng(9).uniform(0, log.until, 40)
    for j in range(2):
        by_hand = [sum(k == j and begin <= t < begin + stay for begin, k, stay in rows(log)) for t in at]
        assert log.in_service(at)[j].tolist() == by_hand
        # a mean over an interval is the integral of a step function: cut where it steps
        cuts = sorted(
            {log.warmup, log.until, *(min(max(x, log.warmup), log.until) for b, _, s in rows(log) for x in (b, b + s))}
        )
        area = sum((b - a) * log.in_service(np.array([(a + b) / 2]))[j, 0] for a, b in pairwise(cuts))
        assert log.means[j] == pytest.approx(area / (log.until - log.warmup), rel=1e-9)
    assert [float(x) for x in mean_jobs(log)] == pytest.approx(log.means.tolist(), abs=5e-4)


def test_hours_count_from_midnight() -> None:
    """VMs come at 9 and leave at 17 each day; the log begins at 6 on a Thursday, 1 January 1970."""
    days = range(21)
    times = np.array([day * DAY + 3 * 3600.0 for day in days] + [21 * DAY])
    jobs = JobList(times, np.zeros(22, np.int32), np.full(22, 8 * 3600.0))
    log = PlannedLog(additive([1], [[1]]), jobs, float(times[-1]), 6 * 3600.0, ())
    profile = log.profile(DAY, 24)
    assert profile is not None
    assert [round(x, 1) for x in profile] == [1.0 if 9 <= hour < 17 else 0.0 for hour in range(24)]
    weekdays = PlannedLog(
        log.instance, JobList(times[:2], jobs.types[:2], jobs.durations[:2]), log.until, log.begins, ()
    )
    assert weekdays.profile(7 * DAY, 7) == [0.0] * 7, "VMs of the warm-up do not count"
    assert log.profile(30 * DAY, 30) is None


def lost_by_hand(log: PlannedLog, servers: int) -> float:
    """Return the share accepted where a server holds one job."""
    busy: list[float] = []
    came = accepted = 0
    for begin, _, stay in rows(log):
        busy = [end for end in busy if end > begin]
        measured = log.warmup <= begin < log.until
        came += measured
        if len(busy) < servers:
            busy.append(begin + stay)
            accepted += measured
    return accepted / came


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.7, 0.95, 1.0])
def test_the_least_number_of_servers(seed: int, share: float) -> None:
    log = log_of(seed, additive([1], [[1]]), count=300)
    by_hand = {servers: lost_by_hand(log, servers) for servers in range(1, 120)}
    expected = min(servers for servers, value in by_hand.items() if value >= share)
    for start in (1, expected, 100):
        need = least_for(policy("first-fit"), log, Trials(Target(share=share)), start)
        assert need.servers == expected
        assert need.attained == pytest.approx(by_hand[expected], rel=1e-12)
        if expected > 1:
            assert need.one_less == pytest.approx(by_hand[expected - 1], rel=1e-12)


def test_a_target_of_waiting() -> None:
    log = log_of(5, additive([1], [[1]]), count=300)

    def waited(servers: int) -> float:
        """Return the mean wait, first come first served, of the time in which the queue is measured."""
        free = [0.0] * servers
        total, came = 0.0, 0
        for begin, _, stay in rows(log):
            free.sort()
            start = max(begin, free[0])
            free[0] = start + stay
            total += max(min(start, log.until) - max(begin, log.warmup), 0.0)
            came += log.warmup <= begin < log.until
        return total / came

    need = least_for(policy("nonpreemptive"), log, Trials(Target(wait=1.0)), 40)
    assert need.servers is not None
    assert waited(need.servers) <= 1.0 < waited(need.servers - 1)
    assert need.attained == pytest.approx(waited(need.servers), abs=1e-6)


def test_a_target_that_is_never_met() -> None:
    log = log_of(1, additive([1], [[1]]), count=50)

    class Never(Target):
        def met(self, value: float) -> bool:
            return value > 2

    need = least_for(policy("first-fit"), log, Trials(Never(share=1.0)), 1)
    assert (need.servers, need.attained) == (None, 1.0)


def test_a_window_has_what_runs_as_it_begins() -> None:
    log = log_of(2, additive([1], [[1], [1]]), count=400, begins=1000.0)
    part, begins = window(log, 100)
    assert part.begins == 1000.0 + begins
    assert (part.jobs.times > 0).sum() >= 99
    for at in np.random.default_rng(1).uniform(0, part.until, 30):
        assert part.in_service(np.array([at])).tolist() == log.in_service(np.array([at + begins])).tolist()
    assert window(log, 400) == (log, 0.0)


@pytest.mark.parametrize("days", [3, 8.5])
def test_a_resampled_log_has_parts_of_the_log(days: float) -> None:
    log = log_of(4, additive([1], [[1]]), count=500, span=days * DAY, mean=3600.0)
    other = resampled(log, np.random.default_rng(0))
    stays = set(log.jobs.durations.tolist())
    assert set(other.jobs.durations.tolist()) < stays
    assert (np.diff(other.jobs.times) >= 0).all()
    length = DAY if days > 5 else log.until / 10
    phases = {round(float(t % length), 3) for t in log.jobs.times}
    assert {round(float(t % length), 3) for t in other.jobs.times} <= phases, "times of day stay"
    assert other.until == log.until


def test_growth() -> None:
    log = log_of(4, additive([1], [[1]]), count=500)
    more = grown(log, 0.2, np.random.default_rng(0))
    assert len(more.jobs.times) == 600
    assert (np.diff(more.jobs.times) >= 0).all()
    assert more.means[0] == pytest.approx(1.2 * log.means[0], rel=0.15)


def test_when_the_time_is_over_parts_are_left_out() -> None:
    log = log_of(6, additive([3], [[1], [2]]), count=80)
    chosen = [policy("first-fit"), policy("best-fit")]
    plan = make_plan(log, chosen, Trials(Target(share=0.9)), Effort(1000, 2, 10), seconds=-1.0)
    assert plan.best is not None
    assert plan.left_out == (
        "first-fit: 2 of 2 resampled logs",
        "best-fit: 2 of 2 resampled logs",
        "growth of 10%",
        "growth of 20%",
        "growth of 50%",
    )
    unhurried = make_plan(log, chosen, Trials(Target(share=0.9)), Effort(1000, 2, 10))
    assert not unhurried.left_out
    assert unhurried.policies[0].need == plan.policies[0].need
    assert plan.carries.lower <= plan.carries.upper <= plan.peak.upper


def test_head_room_is_what_the_capacity_leaves() -> None:
    """With one type and one job a server, head-room is servers less the mean."""
    log = log_of(7, additive([1], [[1]]), count=200)
    plan = make_plan(log, [policy("first-fit")], Trials(Target(share=0.99)), Effort(1000, 0, 10))
    assert plan.best is not None
    assert plan.headroom == (Fraction(plan.best.servers or 0) - mean_jobs(log)[0],)


def test_a_log_that_is_too_short(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("start,end,type\n" + "".join(f"{random.Random(1).random()},2,t1\n" for _ in range(9)))
    with pytest.raises(InputError, match=r"log\.csv: expected at least 10 arrivals over some time, got 9"):
        planned_log(TraceFile(path), additive([1], [[1]]))
