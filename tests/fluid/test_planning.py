"""Plans of logs, beside counting by hand, brute force over packings, and a loop that loses jobs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    with_growth,
)
from fluid.planning.log import DAY, HOUR
from fluid.planning.plan import Effort
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_names import policy
from fluid.traces.file import TraceFile
from theory.errors import ArgumentTooLargeError, InputError, TooLargeError
from theory.greedy.servers import least_servers
from theory.instance import Instance, additive, pooled


def log_of(
    seed: int, instance: Instance, count: int = 60, span: float = 100.0, mean: float = 20.0, begins: float | None = None
) -> PlannedLog:
    """Return a log of random jobs, in whole numbers: `span` and `mean` are in thousands of microseconds."""
    rng = np.random.default_rng(seed)
    times = np.rint(np.sort(rng.uniform(0, span, count)) * 1000).astype(np.int64)
    types = rng.integers(len(instance.types), size=count).astype(np.int32)
    stays = np.rint(rng.exponential(mean, count) * 1000).astype(np.int64)
    return PlannedLog(instance, JobList(times, types, stays), int(times[-1]) + 1, begins, ())


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
    times = np.array([day * DAY + 3 * HOUR for day in days] + [21 * DAY])
    jobs = JobList(times, np.zeros(22, np.int32), np.full(22, 8 * HOUR))
    log = PlannedLog(additive([1], [[1]]), jobs, float(times[-1]), 6 * HOUR, (), warmup=4 * DAY)
    profile = log.profile(DAY, 24)
    assert profile is not None
    assert [round(x, 1) for x in profile] == [1.0 if 9 <= hour < 17 else 0.0 for hour in range(24)]
    weekdays = replace(log, jobs=JobList(times[:2], jobs.types[:2], jobs.durations[:2]))
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
        need = least_for(policy("first-fit"), log, Trials(Target(accept=share)), start)
        assert need.servers == expected
        assert need.attained == pytest.approx(by_hand[expected], rel=1e-12)
        if expected > 1:
            assert need.one_less == pytest.approx(by_hand[expected - 1], rel=1e-12)


def test_a_target_of_waiting() -> None:
    log = log_of(5, additive([1], [[1]]), count=300)

    def waited(servers: int) -> float:
        """Return the mean wait, first come first served."""
        free = [0.0] * servers
        total, came = 0.0, 0
        for begin, _, stay in rows(log):
            free.sort()
            start = max(begin, free[0])
            free[0] = start + stay
            total += start - begin
            came += 1
        return total / came

    target = 1e-3  # seconds, where the log counts microseconds
    need = least_for(policy("nonpreemptive"), log, Trials(Target(wait=target)), 40)
    assert need.servers is not None
    assert waited(need.servers) <= 1000 < waited(need.servers - 1)
    assert need.attained == pytest.approx(waited(need.servers) / 10**6, rel=1e-6)


def test_a_target_that_is_never_met() -> None:
    log = log_of(1, additive([1], [[1]]), count=50)

    class Never(Target):
        def met(self, value: float) -> bool:
            return value > 2

    need = least_for(policy("first-fit"), log, Trials(Never(accept=1.0)), 1)
    assert (need.servers, need.attained) == (None, 1.0)


@pytest.mark.parametrize("days", [3, 8.5])
def test_a_resampled_log_has_parts_of_the_log(days: float) -> None:
    log = log_of(4, additive([1], [[1]]), count=500, span=days * DAY / 1000, mean=HOUR / 1000)
    other = resampled(log, np.random.default_rng(0))
    stays = set(log.jobs.durations.tolist())
    assert set(other.jobs.durations.tolist()) < stays
    assert (np.diff(other.jobs.times) >= 0).all()
    length = DAY if days > 5 else -(-log.until // 10)
    phases = {round(float(t % length)) for t in log.jobs.times}
    assert {round(float(t % length)) for t in other.jobs.times} <= phases, "times of day stay"
    assert log.until <= other.until <= log.until + 10


def test_growth() -> None:
    log = log_of(4, additive([1], [[1]]), count=500)
    more = grown(log, 0.2, np.random.default_rng(0))
    assert len(more.jobs.times) == 600
    assert (np.diff(more.jobs.times) >= 0).all()
    assert more.means[0] == pytest.approx(1.2 * log.means[0], rel=0.15)


def test_when_the_time_is_over_parts_are_left_out() -> None:
    log = log_of(6, additive([3], [[1], [2]]), count=80)
    chosen = [policy("first-fit"), policy("best-fit")]
    plan = make_plan(log, chosen, Trials(Target(accept=0.9)), Effort(2, 1000, 10), time_limit=1e-9)
    assert plan.best is not None
    assert plan.left_out == (
        "first-fit: 2 of 2 resampled logs",
        "best-fit: 2 of 2 resampled logs",
        "growth of 10%",
        "growth of 20%",
        "growth of 50%",
    )
    long = make_plan(log, chosen, Trials(Target(accept=0.9)), Effort(2, 100, 10))
    words = "more than 100 arrivals in all at this level"
    assert long.left_out == (f"1 of 2 resampled logs: {words}", f"growth: {words}")
    assert [len(row.resampled) for row in long.policies] == [1, 1]
    assert not long.growth
    unhurried = make_plan(log, chosen, Trials(Target(accept=0.9)), Effort(2, 1000, 10))
    assert not unhurried.left_out
    assert unhurried.policies[0].need == plan.policies[0].need
    assert plan.carries.lower <= plan.carries.upper <= plan.peak.upper


def test_head_room_is_what_the_capacity_leaves() -> None:
    """With one type and one job a server, head-room is servers less the mean."""
    log = log_of(7, additive([1], [[1]]), count=200)
    plan = make_plan(log, [policy("first-fit")], Trials(Target(accept=0.99)), Effort(0, 1000, 10))
    assert plan.best is not None
    assert plan.headroom == (Fraction(plan.best.servers or 0) - mean_jobs(log)[0],)


def test_a_log_that_is_too_short(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("start,end,type\n" + "".join(f"{random.Random(1).random()},2,t1\n" for _ in range(9)))
    with pytest.raises(InputError, match=r"log\.csv: expected at least 10 arrivals over some time, got 9"):
        planned_log(TraceFile(path), additive([1], [[1]]))


# ---- plans of random logs beside a replay ----------------------------------------------------------------------------

TYPES_OF_LOGS = {"a": (2, 1), "b": (1, 3), "c": (4, 4)}  # cpu, memory


def first_fit_by_hand(rows: list[tuple[int, int, str]], pools: list[tuple[int, tuple[int, int]]]) -> list[bool]:
    """Return which VMs (when they come, when they leave, of which type) are accepted, and move none."""
    servers: list[tuple[tuple[int, int], list[tuple[int, str]]]] = [
        (capacity, []) for count, capacity in pools for _ in range(count)
    ]
    accepted = []
    for begin, end, name in rows:
        for capacity, inside in servers:
            inside[:] = [(leaves, kind) for leaves, kind in inside if leaves > begin]
            used = [sum(TYPES_OF_LOGS[kind][r] for _, kind in inside) for r in (0, 1)]
            if all(used[r] + TYPES_OF_LOGS[name][r] <= capacity[r] for r in (0, 1)):
                inside.append((end, name))
                accepted.append(True)
                break
        else:
            accepted.append(False)
    return accepted


def pools_by_hand(servers: int, shares: list[int]) -> list[int]:
    """Split servers by shares: rounded down, what remains to the largest remainders."""
    exact = [Fraction(servers * share, sum(shares)) for share in shares]
    counts = [int(part) for part in exact]
    order = sorted(range(len(shares)), key=lambda p: counts[p] - exact[p])
    for p in order[: servers - sum(counts)]:
        counts[p] += 1
    return counts


@st.composite
def vm_logs(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    """Return a log as CSV and its rows in microseconds; by the day, or in ticks that no float has."""
    by_day = draw(st.booleans())
    step = 86400 * 10**6 if by_day else draw(st.sampled_from([1000, 250_523_000, 60 * 10**6 + 1000]))
    count = draw(st.integers(10, 30))
    times = sorted(draw(st.lists(st.integers(0, 8), min_size=count, max_size=count)))
    if times[0] == times[-1]:
        times[-1] += 1
    stays = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    names = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    first = datetime(2026, 5, 4, tzinfo=UTC)

    def written(tick: int) -> str:
        at = first + timedelta(microseconds=tick * step)
        return f"{at:%Y-%m-%d}" if by_day else f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"

    lines = [f"{written(t)},{written(t + d)},{name}" for t, d, name in zip(times, stays, names, strict=True)]
    rows = [
        ((t - times[0]) * step, (t + d - times[0]) * step, name) for t, d, name in zip(times, stays, names, strict=True)
    ]
    # of those that come at one instant, first the names of the types decide, then the shorter stay
    return "start,end,type\n" + "\n".join(lines) + "\n", sorted(rows, key=lambda row: (row[0], row[2], row[1]))


@pytest.mark.slow
@settings(max_examples=12)
@given(vm_logs(), st.sampled_from([[((8, 8), 1)], [((4, 8), 1), ((8, 4), 2)]]), st.sampled_from([1.0, 0.9, 0.5]))
def test_plans_are_those_of_a_replay(
    made: tuple[str, list[tuple[int, int, str]]], pools: list[tuple[tuple[int, int], int]], share: float
) -> None:
    """The servers, the shares accepted on them and on one less, the means, the fullest instant: of the whole log."""
    text, rows = made
    with TemporaryDirectory() as folder:
        (path := Path(folder) / "log.csv").write_text(text)
        instance = pooled([(part, capacity) for capacity, part in pools], list(TYPES_OF_LOGS.values()))
        types = tuple(replace(kind, name=name) for kind, name in zip(instance.types, TYPES_OF_LOGS, strict=True))
        instance = replace(
            instance,
            types=types,
            pools=tuple(
                replace(pool, space=replace(pool.space, resources=("cpu", "memory")))  # type: ignore[arg-type]
                for pool in instance.pools
            ),
        )
        log = planned_log(TraceFile(path), instance)
    plan = make_plan(log, [policy("first-fit")], Trials(Target(accept=share)), Effort(0, 1000, 400))

    def accepted(servers: int) -> float:
        counts = pools_by_hand(servers, [part for _, part in pools])
        chosen = first_fit_by_hand(rows, [(n, capacity) for n, (capacity, _) in zip(counts, pools, strict=True)])
        return sum(chosen) / len(rows)

    need = plan.best
    assert need is not None
    assert need.servers is not None
    assert need.attained == accepted(need.servers) >= share
    assert accepted(need.servers - 1) < share
    if need.servers > 1:
        assert need.one_less == accepted(need.servers - 1)
    until = rows[-1][0] + 1
    for j, name in enumerate(TYPES_OF_LOGS):
        busy = sum(min(end, until) - begin for begin, end, kind in rows if kind == name)
        assert log.means[j] == pytest.approx(busy / until, rel=1e-12)
    inside: list[tuple[int, str]] = []
    moments = []
    for begin, end, name in rows:
        inside = [*((leaves, kind) for leaves, kind in inside if leaves > begin), (end, name)]
        moments.append((begin, tuple(sum(kind == one for _, kind in inside) for one in TYPES_OF_LOGS)))
    assert (plan.peak.at, plan.peak.jobs) in moments
    least = [least_servers(instance, [Fraction(n) for n in jobs]) for _, jobs in set(moments)]
    assert max(one.lower for one in least) <= plan.peak.upper
    assert plan.peak.lower <= max(one.upper for one in least)


def test_a_warm_up_is_simulated_and_not_counted() -> None:
    rng = np.random.default_rng(8)
    times = np.sort(rng.integers(0, 400, 200))
    durations = rng.integers(0, 30, 200) * (rng.random(200) < 0.9)
    jobs = JobList(times - times[0], np.zeros(200, np.int32), durations)
    whole = PlannedLog(additive([1], [[1]]), jobs, int(jobs.times[-1]) + 1, None, ())
    for warmup in (0, 1, 57, 200, int(jobs.times[-1])):
        log = replace(whole, warmup=warmup)
        need = least_for(policy("first-fit"), log, Trials(Target(accept=0.8)), 10)
        assert need.servers is not None
        assert need.attained == lost_by_hand(log, need.servers) >= 0.8 > lost_by_hand(log, need.servers - 1)
        inside, most = [], 0
        for begin, _, stay in [*rows(log), (warmup, -1, 0)]:
            if begin >= warmup and most == 0:
                most = sum(end > warmup for end in inside)
            inside = [end for end in inside if end > begin] + [begin + stay] * (stay >= 0)
            most = max(most, len(inside)) if begin >= warmup else most
        assert peak_servers(log, 400).lower in (most, most - 1)


def test_a_burst_and_the_last_instant_count() -> None:
    """A burst in the first instants, and half of the VMs at the last one, need their servers."""
    times = np.concatenate([np.arange(100), np.arange(1000, 2000, 10), np.full(200, 2000)])
    jobs = JobList(times, np.zeros(400, np.int32), np.full(400, 500))
    log = PlannedLog(additive([4], [[1]]), jobs, 2001, None, ())
    assert least_for(policy("first-fit"), log, Trials(Target(accept=1.0)), 3).servers == 63  # 250 at the end
    early = replace(log, jobs=JobList(*(column[:200] for column in jobs)), until=1991)
    assert least_for(policy("first-fit"), early, Trials(Target(accept=1.0)), 3).servers == 25


def test_waits_at_the_last_instant_count_whole() -> None:
    """Ten VMs come at the end: on one server they wait 0, 1, ..., 9 seconds, 45 in all for 20 VMs."""
    second = 10**6
    times = np.concatenate([np.arange(10) * 2 * second, np.full(10, 20 * second)])
    jobs = JobList(times, np.zeros(20, np.int32), np.full(20, second))
    log = PlannedLog(additive([1], [[1]]), jobs, int(times[-1]) + 1, None, ())
    trials = Trials(Target(wait=2.25))
    assert least_for(policy("nonpreemptive"), log, trials, 4).servers == 1, "a mean wait equal to the target meets it"
    assert trials.attained([(policy("nonpreemptive"), log, 1)]) == [Fraction(9, 4)]
    assert least_for(policy("nonpreemptive"), log, Trials(Target(wait=2.2499)), 1).servers == 2


def test_logs_that_are_made_from_a_log_are_in_whole_ticks() -> None:
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 7 * DAY, 300))
    jobs = JobList(times - times[0], np.zeros(300, np.int32), rng.integers(0, DAY, 300))
    log = PlannedLog(additive([1], [[1]]), jobs, int(jobs.times[-1]) + 1, 0, ())
    short = replace(log, jobs=jobs._replace(times=jobs.times // 8), until=int(jobs.times[-1] // 8) + 1)
    made = [resampled(log, rng), resampled(short, rng), grown(log, 0.5, rng)]
    for other in made:
        assert other.jobs.times.dtype == other.jobs.durations.dtype == np.int64
        assert 0 <= other.jobs.times[0] <= other.jobs.times[-1] < other.until


def test_a_policy_that_cannot_run_is_left_out() -> None:
    def too_large(setting: object) -> object:
        raise ArgumentTooLargeError("policy wide", "a million tables, expected 10 at most")

    log = log_of(6, additive([3], [[1], [2]]), count=80)
    wide = replace(policy("first-fit"), name="wide", prepare=too_large)
    chosen, how = [wide, policy("first-fit")], (Trials(Target(accept=0.9)), Effort(1, 1000, 10))
    plan = make_plan(log, chosen, *how, optional=True)
    assert plan.not_run == ("wide: a million tables, expected 10 at most",)
    assert [row.need.policy for row in plan.policies] == ["first-fit"]
    assert plan.best is not None
    for policies, is_optional in ((chosen, False), ([wide], True)):
        with pytest.raises(TooLargeError, match="a million tables"):
            make_plan(log, policies, *how, optional=is_optional)


def test_growth_of_a_type_leaves_the_others_as_they_were() -> None:
    log = log_of(2, additive([4], [[1], [2], [3]]), count=90)
    rng = np.random.default_rng(1)
    more = with_growth(log, {"t2": Fraction(3, 2), "t3": Fraction(1, 2)}, rng)
    was, now = (np.bincount(one.jobs.types, minlength=3).tolist() for one in (log, more))
    assert now == [was[0], round(Fraction(3, 2) * was[1]), round(Fraction(1, 2) * was[2])]
    assert [row for row in rows(more) if row[1] == 0] == [row for row in rows(log) if row[1] == 0]
    assert Counter(row for row in rows(more) if row[1] == 2) <= Counter(rows(log))
    assert Counter(row for row in rows(log) if row[1] == 1) <= Counter(rows(more))
    # copies stay as long as jobs of their type, and come in order before the end
    assert {row[2] for row in rows(more)} <= {row[2] for row in rows(log)}
    assert (np.diff(more.jobs.times) >= 0).all()
    assert more.jobs.times[-1] < more.until == log.until
    assert more.growth == (("t2", Fraction(3, 2)), ("t3", Fraction(1, 2)))
    every = with_growth(log, {"": Fraction(2), "t1": Fraction(0)}, rng)
    assert np.bincount(every.jobs.types, minlength=3).tolist() == [0, 2 * was[1], 2 * was[2]]


def test_growth_of_what_is_no_type_or_leaves_too_little_is_refused() -> None:
    log, rng = log_of(2, additive([4], [[1], [2]]), count=30), np.random.default_rng(1)
    with pytest.raises(InputError, match="grow: t9: expected a type of the log, t1, t2"):
        with_growth(log, {"t9": Fraction(2)}, rng)
    with pytest.raises(InputError, match="grow: expected at least 10 VMs that are left, got 0"):
        with_growth(log, {"": Fraction(0)}, rng)
    with pytest.raises(InputError, match="grow: expected a factor of at least 0, got -1"):
        with_growth(log, {"t1": Fraction(-1)}, rng)
