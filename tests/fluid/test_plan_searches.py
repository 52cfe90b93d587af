"""What a plan counts and searches at a million rows, beside counting job by job and sorting all rows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.planning import PlannedLog, Target
from fluid.planning.needs import Need, Search
from fluid.simulation.arrivals import JobList
from fluid.traces.tasks import Tasks
from theory.instance import additive

JOBS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=15)


def log_of(jobs: list[tuple[int, int, int]], warmup: int) -> PlannedLog:
    times, types, stays = np.array(sorted(jobs, key=lambda one: one[0]), np.int64).T
    until = int(times[-1]) + 1
    instance = additive([3], [[1], [2], [3]])
    return PlannedLog(instance, JobList(times, types.astype(np.int32), stays), until, None, (), warmup=warmup)


@given(JOBS, st.data())
def test_jobs_in_service_after_arrivals_are_those_counted_one_by_one(jobs: list[Any], data: st.DataObject) -> None:
    log = log_of(jobs, 0)
    warmup = data.draw(st.integers(0, int(log.jobs.times[-1])))
    log = log_of(jobs, warmup)
    times, types, stays = (column.tolist() for column in log.jobs)
    chosen, counts = log.after_arrivals()
    assert len(times) - 1 in chosen
    for at, column in zip(chosen.tolist(), counts.T.tolist(), strict=True):
        now, is_early = max(times[at], warmup), times[at] < warmup
        # a job of duration 0 is in service until the next one comes, or the time goes on
        there = [k for k in range(at + 1) if (times[k] + stays[k] > now if stays[k] else k == at and not is_early)]
        assert column == [sum(types[k] == j for k in there) for j in range(3)]


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 5, st.tuples(st.integers(0, 1), st.integers(0, 1))), max_size=20),
    st.permutations(["b", "c", "a"]),
)
def test_tasks_of_one_instant_are_in_the_order_of_all_that_is_known(rows: list[Any], labels: list[str]) -> None:
    columns = np.array([row[:5] for row in rows], np.int64).reshape(-1, 5).T
    demand = np.array([row[5] for row in rows], np.int64).reshape(-1, 2)
    arrival, stay, outcome, attempt, label = columns
    tasks = Tasks(arrival, stay, outcome, attempt, label, np.arange(len(rows)))
    tasks.demand = {name: (demand[:, r], Fraction(1)) for r, name in enumerate(("cpu", "memory"))}
    trace = tasks.trace("plain", labels, unordered=True)

    def key(i: int) -> Any:
        arrival, stay, outcome, attempt, label, amounts = rows[i]
        return arrival, labels[label], stay, outcome, attempt, *reversed(amounts)

    assert trace.line is not None
    assert trace.line.tolist() == sorted(range(len(rows)), key=key)
    assert [trace.labels[i] for i in trace.label] == [labels[rows[i][4]] for i in trace.line]


# ---- searches --------------------------------------------------------------------------------------------------------


def searched(target: Target, start: int, attained: Callable[[int], Fraction]) -> tuple[Need, list[int]]:
    """Return what a search finds where a policy attains known values, and the numbers that it tries."""
    log: Any = None
    policy: Any = SimpleNamespace(name="known")
    steps, tried = Search(policy, log, start).steps(target), []
    servers = next(steps)
    while True:
        tried.append(servers)
        assert servers not in tried[:-1], "no number is tried twice"
        try:
            servers = steps.send(attained(servers))
        except StopIteration as ended:
            return ended.value, tried


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=80), st.integers(1, 90), st.integers(1, 1000))
def test_a_search_ends_where_the_target_is_met_and_missed_on_one_less(falls: list[int], start: int, aim: int) -> None:
    refused = sorted(falls, reverse=True)

    def accepted(servers: int) -> Fraction:
        return 1 - Fraction(refused[servers - 1] if servers <= len(refused) else 0, 1001)

    target = Target(accept=float(aim) / 1001)
    need, _ = searched(target, start, accepted)
    assert need.servers is not None
    assert target.met(accepted(need.servers))
    assert need.servers == 1 or not target.met(accepted(need.servers - 1))
    assert need.attained == float(accepted(need.servers))
    assert need.one_less == (float(accepted(need.servers - 1)) if need.servers > 1 else None)


@pytest.mark.parametrize("wait", [0.0, 5.0, 1e6])
@pytest.mark.parametrize("start", [10, 40, 100, 400])
def test_a_search_for_a_wait_ends_too(wait: float, start: int) -> None:
    def waited(servers: int) -> Fraction:  # without end on few servers
        return Fraction(10**7, servers**2) if servers < 100 else Fraction(max(130 - servers, 0) ** 3, 10)

    need, tried = searched(Target(wait=wait), start, waited)
    expected = next(n for n in range(1, 500) if waited(n) <= Fraction(wait))
    assert need.servers == expected
    assert len(tried) <= 24


@pytest.mark.parametrize("start", [193, 204, 209])
@pytest.mark.parametrize("accept", [0.99, 0.995, 0.999])
def test_a_share_that_falls_as_of_a_cluster_takes_few_simulations(start: int, accept: float) -> None:
    """Shares refused by dra of a million VMs, for each second number of servers from 190 on (measured)."""
    shares = [215, 195, 176, 155, 138, 115, 97.6, 80.3, 63.1, 46.3, 31.4, 19.7, 11, 4.78, 1.79, 0.63, 0.17, 0.02]

    def accepted(servers: int) -> Fraction:
        return 1 - Fraction(np.interp(servers, 190 + 2 * np.arange(19), [*shares, 0])) / 10**4

    need, tried = searched(Target(accept=accept), start, accepted)
    assert accepted(need.servers or 0) >= accept > accepted((need.servers or 0) - 1)
    assert len(tried) <= 6, tried
