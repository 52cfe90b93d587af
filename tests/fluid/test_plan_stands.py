"""The greedy plan of dynamic reservation is made anew only where the numbers of jobs may have changed it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import answer, prepare
from fluid.simulation.loss.policies.greedy_stages import plan_greedily, plan_stands
from fluid.simulation.policy_names import policy
from fluid.simulation.state import ASKS, Setting, copied, unique_rows
from theory.compiled import plain
from theory.instance import Instance, additive

FOUR = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
planned, stands = plain(plan_greedily), plain(plan_stands)


def plan_of(setting: Setting, state: Any, jobs: Any) -> tuple[Any, Any]:
    """Return the state with a plan for these jobs, and the plan."""
    state.totals[:] = jobs
    while (rows := planned(state)) < 0:
        assert not stands(state)
        state = answer(setting, state)
    assert not state.done[ASKS]
    return state, state.plan_[:rows].tolist()


@st.composite
def systems(draw: st.DrawFn) -> tuple[Instance, int, int]:
    types = draw(st.integers(1, 4))
    whole = st.integers(1, 9)
    demands = [[draw(whole), draw(whole)] for _ in range(types)]
    return additive([9, 9], demands, [draw(whole) for _ in range(types)]), draw(st.integers(1, 60)), draw(whole) - 1


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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), min_size=1, max_size=30))
def test_unique_rows_are_those_of_numpy(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.int32)
    found = unique_rows(table)
    for ours, theirs in zip(found, np.unique(table, axis=0, return_index=True, return_inverse=True), strict=True):
        assert ours.tolist() == theirs.reshape(ours.shape).tolist()
