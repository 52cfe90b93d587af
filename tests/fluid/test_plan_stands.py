"""The greedy plan of dynamic reservation is made anew only where the numbers of jobs may have changed it."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import answer, prepare
from fluid.simulation.loss.policies.greedy_stages import _end_of_stage, _offer_slots, plan_greedily, plan_stands
from fluid.simulation.policy_names import policy
from fluid.simulation.state import ASKS, Setting, copied
from theory.compiled import plain
from theory.instance import Instance, additive

FOUR = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
planned, stands = plain(plan_greedily), plain(plan_stands)
offer, end_of_stage = plain(_offer_slots), plain(_end_of_stage)


def plan_of(setting: Setting, state: Any, jobs: Any) -> tuple[Any, Any]:
    """Return the state with a plan for these jobs, and the plan."""
    state.totals[:] = jobs
    while (rows := planned(state)) < 0:
        assert not stands(state)
        state = answer(setting, state)
    assert not state.done[ASKS]
    return state, state.plan_[:rows].tolist()


def check_end(sizes: Sequence[int], last: int, slots: Sequence[Sequence[int]], now: int, need: Sequence[int]) -> None:
    """Assert where a stage ends: at the first tick at which a type has its slots, looked for tick by tick."""
    before = np.array([now * size // last for size in sizes])
    state = SimpleNamespace(
        pool_sizes=np.array(sizes),
        numbers=np.array([last]),
        configurations=np.array(slots),
        known_=np.arange(len(sizes)).reshape(1, -1),
        totals=np.array(need),
        need_=np.array([need, need, np.zeros(len(need)), np.zeros(len(need))], np.int64),
        up_=np.array([before, before]),
    )
    offer(state, 0)
    for tick in range(now, last + 1):
        up = np.array([tick * size // last for size in sizes]) - before
        if ((up @ slots >= need) & (np.array(sizes) @ slots > 0)).any():
            break
    assert end_of_stage(state, 0, now) == tick, (sizes, last, slots, now, need)


@given(st.data())
def test_a_stage_ends_at_the_first_tick_at_which_a_type_has_its_slots(data: st.DataObject) -> None:
    pools, types = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(0, 12), min_size=pools, max_size=pools).filter(any))
    last = data.draw(st.sampled_from((lcm(*(size for size in sizes if size)), sum(sizes))))
    row = st.lists(st.integers(0, 5), min_size=types, max_size=types)
    slots = data.draw(st.lists(row, min_size=pools, max_size=pools))
    need = data.draw(st.lists(st.integers(1, 80), min_size=types, max_size=types))
    check_end(sizes, last, slots, data.draw(st.integers(0, last)), need)


@pytest.mark.parametrize(("sizes", "last"), [([4], 4), ([3, 9], 9), ([7, 2], 9), ([0, 4], 4), ([2, 3], 6)])
def test_servers_come_up_between_the_ticks_of_other_pools(sizes: list[int], last: int) -> None:
    """Every number of jobs of one type: bounds on the end of a stage that are a tick wrong are noticed."""
    for slots in ([1, 0], [1, 4], [3, 1]):
        column = [[k] for k in slots[: len(sizes)]]
        most = sum(size * k for size, (k,) in zip(sizes, column, strict=True))
        for now in range(last + 1):
            for need in range(-1, most + 3):
                check_end(sizes, last, column, now, [need])


@st.composite
def systems(draw: st.DrawFn) -> tuple[Instance, int, int]:
    types = draw(st.integers(1, 4))
    whole = st.integers(1, 9)
    demands = [[draw(whole), draw(whole)] for _ in range(types)]
    return additive([9, 9], demands, [draw(whole) for _ in range(types)]), draw(st.integers(1, 60)), draw(whole) - 1


@pytest.mark.slow
@given(systems(), st.data())
def test_a_plan_stands_within_its_bounds(system: tuple[Instance, int, int], data: st.DataObject) -> None:
    """Within the bounds, at both ends of them too, the algorithm makes the same plan."""
    instance, servers, reserve = system
    setting = Setting(instance, servers, {"reservation": reserve})
    state = prepare(setting)
    types = len(instance.types)
    jobs = data.draw(st.lists(st.integers(0, 25), min_size=types, max_size=types))
    state, plan = plan_of(setting, state, jobs)
    assert stands(state)
    bounds = np.clip(state.stands_ - reserve, 0, 400)
    ends = [[b if k == j else x for k, x in enumerate(jobs)] for j in range(types) for b in bounds[j].tolist()]
    between = [data.draw(st.integers(int(low), int(high))) for low, high in bounds]
    for other in (*ends, between):
        state.totals[:] = other
        within = stands(state)
        assert within == all(a - reserve <= x <= b - reserve for x, (a, b) in zip(other, state.stands_, strict=True))
        if within:
            assert plan_of(setting, copied(state), other)[1] == plan


@pytest.mark.slow
def test_most_plans_stand() -> None:
    """Nine events in ten leave the plan of the four types as it is: the bounds are not narrower than they need be."""
    scenario = LossScenario(FOUR, 60, 5.0, 0.0, options={"reservation": 8})
    setting, state = scenario.setting(), run_once(policy("dra"), scenario, 3, python=True).state
    generator = np.random.default_rng(5)
    state, before = plan_of(setting, state, state.totals.copy())
    stood = same = 0
    for _ in range(400):
        jobs = state.totals.copy()
        jobs[generator.integers(4)] += generator.choice((-1, 1))
        state.totals[:] = jobs
        kept = stands(state)
        state, plan = plan_of(setting, state, jobs)
        assert plan == before or not kept
        stood, same, before = stood + kept, same + (plan == before), plan
    assert same >= stood > 0.9 * same > 100
