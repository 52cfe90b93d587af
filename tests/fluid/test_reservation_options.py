"""The variants of dynamic reservation that are options: batched CRA, an estimate, no migration, the trigger served."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bounds.results.autoscaling.referee import Referee
from fluid.chains.loss import stationary_law
from fluid.simulation.arrivals import JobList, Law
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import DRA, prepare
from fluid.simulation.measures import ARRIVAL, PREEMPTION, REFUSAL
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.errors import InputError
from theory.instance import Instance, additive

FOUR = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
ESTIMATE = {"t1": "7/2", "t2": 1, "t3": "5/4", "t4": "1/3"}


def refereed(instance: Instance, servers: int, until: float, options: dict[str, Any], **more: Any) -> Referee:
    scenario = LossScenario(instance, servers, until, 0.0, options=options, log=10**5, bins=1)
    setting = Setting(instance, servers, scenario.options)
    referee = Referee(setting, float(options["reservation"]), **more)
    referee.begin(prepare(setting))
    run_once(DRA, scenario, 3, python=True, watch=referee)
    return referee


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"period": 3}, {"period": 3}),
        ({"period": "L/2"}, {"period": 6}),
        ({"estimate": ESTIMATE}, {"estimate": [42, 12, 15, 4]}),
        ({"estimate": ESTIMATE, "period": 5}, {"estimate": [42, 12, 15, 4], "period": 5}),
        ({"migration": False}, {"migration": False}),
    ],
)
def test_every_choice_is_allowed(options: dict[str, Any], more: dict[str, Any]) -> None:
    """The text of Algorithm 2, with the one change that the option is about, allows every step."""
    if isinstance(options.get("period"), str):
        options = {**options, "period": lambda servers: servers / 2}
    options = {"reservation": 2, **options}
    assert refereed(FOUR, 12, 5.0, options, **more).row > 500
    with pytest.raises(AssertionError):
        refereed(FOUR, 12, 5.0, options)


def erlang_b(load: float, slots: int) -> float:
    blocking = 1.0
    for n in range(1, slots + 1):
        blocking = load * blocking / (n + load * blocking)
    return blocking


def test_an_estimate_makes_erlang_systems() -> None:
    """Servers of one slot: type j keeps the L e_j + g slots that its estimate asks for, whoever is in service."""
    instance = additive([1], [[1], [1]], [2, 1], [1, "1/2"])
    options = {"reservation": 1, "estimate": {"t1": "1/3", "t2": 0}}
    law = stationary_law(policy("dra"), instance, 3, options)
    expected = [erlang_b(3.0, 2), erlang_b(1.5, 1)]
    assert law.blocking == pytest.approx(expected, abs=1e-9)
    other = stationary_law(policy("dra"), instance, 3, {"reservation": 1})
    assert other.blocking != pytest.approx(expected, abs=1e-3)


def test_a_period_of_one_changes_nothing() -> None:
    runs = [
        run_once(DRA, LossScenario(FOUR, 30, 20.0, 2.0, options=options), 5)
        for options in ({}, {"period": 1, "migration": True}, {"period": 7})
    ]
    assert (runs[0].measures.jobs == runs[1].measures.jobs).all()
    assert (runs[0].measures.jobs != runs[2].measures.jobs).any()


def triggered(trigger: str, g: int) -> tuple[list[list[int]], Any]:
    """One server of four slots, full of jobs of priority 0; a job of size 4 and priority 1 comes."""
    made = additive([4], [[1], [4]], [1, 40], [1, 1])
    slow = replace(made, types=tuple(replace(t, service_rate=Fraction(1, 1000)) for t in made.types))
    jobs = JobList(np.array([1.0]), np.array([1], np.int32), np.array([5.0]))
    options = {"reservation": g, "priority": {"t1": 0, "t2": 1}, "trigger": trigger}
    initial = np.array([[4, 0]], np.int32)
    scenario = LossScenario(
        slow, 1, 2.0, 0.0, service=Law("deterministic"), initial=initial, jobs=jobs, options=options, log=20
    )
    run = run_once(policy("dra-preemption"), scenario, 1)
    return run.measures.log[: run.measures.logged[0], 1:4].astype(int).tolist(), run


@pytest.mark.parametrize("trigger", ["lost", "served"])
def test_the_job_that_others_are_stopped_for(trigger: str) -> None:
    """A reservation of 1 stops four jobs of size 1: the server empties, and the job is lost or takes the slot there."""
    rows, run = triggered(trigger, 1)
    assert rows[:4] == [[PREEMPTION, 0, 0]] * 4
    assert rows[4:] == ([[ARRIVAL, 1, 0]] if trigger == "served" else [[REFUSAL, 1, -1]])
    assert run.measures.starts.sum(axis=0).tolist() == [0, int(trigger == "served")]
    assert triggered(trigger, 0)[0] == [[REFUSAL, 1, -1]]  # g = 0 stops nobody


def test_served_and_lost_differ_in_the_exact_chain() -> None:
    """Serving the job refuses fewer of priority 1, in the exact law of a small system."""
    instance = additive([2], [[1], [2]], [1, 3], [2, 1])
    options = {"reservation": 1, "priority": {"t1": 0, "t2": 1}}
    lost, served = (
        stationary_law(policy("dra-preemption"), instance, 2, {**options, "trigger": trigger})
        for trigger in ("lost", "served")
    )
    assert served.residual < 1e-12
    assert served.blocking[1] < lost.blocking[1] - 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"period": 0}, "simulation.period: expected a number from 1"),
        ({"estimate": {"t1": 1}}, "simulation.estimate.t2: missing, expected a workload in jobs per server"),
        ({"estimate": {"t1": 1, "t2": -1}}, "simulation.estimate.t2: expected a workload in jobs per server, got -1"),
        ({"estimate": {"t1": 1, "t2": "x"}}, "simulation.estimate.t2: expected a workload in jobs per server, got 'x'"),
        ({"estimate": 3}, "simulation.estimate: expected a table, got 3"),
        ({"migration": 1}, "simulation.migration: expected true or false"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        prepare(Setting(additive([2], [[1], [2]]), 3, options))
    with pytest.raises(InputError, match=r"^simulation\.trigger: expected one of lost, served"):
        policy("dra-preemption").prepare(
            Setting(additive([2], [[1]]), 3, {"priority": {"t1": 0}, "trigger": "forgiven"})
        )
