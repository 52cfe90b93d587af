"""Servers on their own clocks: where the asynchronous run settles, and what a schedule may say."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from bounds.results.instances.drawn import random_cluster
from fluid.limits.sharing import Event, Schedule, parse_schedule, run_schedule
from theory.errors import InputError
from theory.sharing.model import cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm


@pytest.mark.parametrize("seed", range(8))
def test_it_settles_at_the_fair_allocation_of_those_present(seed):
    instance = random_cluster(random.Random(seed), 4, 3, 2)
    schedule = Schedule((Event(Fraction(200), 0, False), Event(Fraction(400), 0, True)), Fraction(600))
    history = run_schedule(instance, schedule, division="time")
    for row, kept in ((199, [0, 1, 2, 3]), (399, [1, 2, 3]), (599, [0, 1, 2, 3])):
        expected = [float(x) for x in ps_dsf_tdm(instance.with_users(kept)).totals]
        assert history.tasks[row].sum(axis=1)[kept] == pytest.approx(expected, rel=1e-9)
    assert not history.tasks[200:399, 0].any()


def test_resource_division_on_one_server():
    instance = cluster([[9, 18]], [[1, 4], [3, 1]])
    history = run_schedule(instance, Schedule((Event(Fraction(1), 1, True),), Fraction(4), Fraction(1, 2)))
    assert history.time.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    assert history.tasks[0, :, 0].tolist() == [4.5, 0.0]
    assert history.tasks[-1, :, 0] == pytest.approx([float(x) for x in ps_dsf(instance).totals])
    assert np.all(history.utilisation <= 1 + 1e-9)


def test_order_of_the_servers_does_not_matter_in_time_division():
    instance = random_cluster(random.Random(3), 5, 4, 2)
    ends = [
        run_schedule(instance, Schedule((), Fraction(300)), division="time", order=order).tasks[-1].sum(axis=1)
        for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_units_of_time_do_not_matter():
    """Times that are no whole numbers, and no multiples of the period."""
    instance = random_cluster(random.Random(5), 4, 3, 2)
    histories = []
    for unit in (Fraction(1), Fraction(3, 7), Fraction(1, 10)):
        events = (Event(Fraction(7, 3) * unit, 0, False), Event(Fraction(31, 4) * unit, 0, True))
        histories.append(run_schedule(instance, Schedule(events, Fraction(79, 5) * unit, Fraction(4, 3) * unit)))
    first, *others = histories
    assert len(first.time) == 11
    assert first.time == pytest.approx([4 / 3 * n for n in range(1, 12)])
    assert first.present[:, 0].tolist() == [True] + 4 * [False] + 6 * [True]
    for other, unit in zip(others, (3 / 7, 1 / 10), strict=True):
        assert other.time == pytest.approx(unit * first.time)
        assert np.array_equal(other.tasks, first.tasks)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"until": 0}, "plan: until: expected a number greater than 0, got 0"),
        ({"until": 10**9}, "plan: until: expected at most 1000000 periods"),
        ({"event": [{"time": 1, "user": "x", "action": "leave"}]}, "plan: event[1].user: expected a user of the"),
        ({"event": [{"time": 1, "user": "u1", "action": "go"}]}, "plan: event[1].action: expected arrive or leave"),
        (
            {
                "event": [
                    {"time": 1, "user": "u1", "action": "leave"},
                    {"time": 2, "user": "u1", "action": "leave"},
                ]
            },
            "plan: event[2].action: expected arrive: 'u1' is away already",
        ),
        (
            {
                "event": [
                    {"time": 2, "user": "u1", "action": "leave"},
                    {"time": 1, "user": "u1", "action": "arrive"},
                ]
            },
            "plan: event[2].time: expected events in order of time",
        ),
        ({"event": [{"time": 1, "user": "u1", "action": "leave", "why": 1}]}, "plan: event[1].why: unknown field"),
        ({"event": []}, "plan: event: expected at least one table"),
        ({"rate": 1}, "plan: rate: unknown field"),
    ],
)
def test_bad_schedules(change, line):
    plan = {"until": 5, "event": [{"time": 1, "user": "u1", "action": "leave"}], **change}
    with pytest.raises(InputError) as caught:
        parse_schedule(plan, cluster([[1]], [[1]]), "plan")
    assert str(caught.value).startswith(line)
