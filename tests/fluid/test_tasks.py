"""Tasks of a trace as jobs of a loss system, on a trace made here, and the bound on what any policy earns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.traces.jobs import TICK
from fluid.traces.model import MICROSECONDS, Outcome, Trace
from fluid.traces.types import lossless_jobs, tasks_of, upper_bound
from theory.greedy.optimal import optimal_assignment


def made_trace(count: int = 3000, seed: int = 1) -> Trace:
    """A trace in the Google manner: cpu and memory in thousandths, priorities 0, 2 and 9, a tenth not completed."""
    generator = np.random.default_rng(seed)
    demand = generator.choice([30, 60, 120, 250, 500], (count, 2), p=[0.3, 0.3, 0.2, 0.15, 0.05])
    outcome = np.where(generator.random(count) < 0.1, int(Outcome.kill), int(Outcome.finish))
    return Trace(
        ("cpu", "memory"),
        (Fraction(1, 1000), Fraction(1, 1000)),
        np.sort(generator.integers(0, 1000 * MICROSECONDS, count)),
        generator.integers(1, 60 * MICROSECONDS, count),
        outcome,
        np.zeros(count, np.int64),
        demand,
        generator.choice([0, 2, 9], count, p=[0.6, 0.3, 0.1]),
        (),
        (),
    )


def test_types_sizes_and_rewards() -> None:
    trace = made_trace()
    system = tasks_of(trace)
    assert len(system.jobs.times) == int((trace.outcome == Outcome.finish).sum())
    space = system.instance.pools[0].space
    for j, kind in enumerate(system.instance.types):
        level, parts = kind.name.removeprefix("p").split("/")
        size = Fraction(1, int(parts))
        assert Fraction(space.demands[j][0], space.capacity[0]) == size  # type: ignore[union-attr]
        assert kind.reward == (1, 2, 4)[int(level)] * size
        assert system.priority[kind.name] == int(level)
    kept = trace.outcome == Outcome.finish
    largest = trace.demand[kept].max(axis=1) / 1000
    sizes = np.array([1 / int(kind.name.split("/")[1]) for kind in system.instance.types])[system.jobs.types]
    assert (largest <= sizes).all()
    assert (sizes < 2 * largest).all()


def test_lossless_jobs_are_those_of_many_servers() -> None:
    system = tasks_of(made_trace())
    scenario = LossScenario(system.instance, 400, 900.0, 100.0, jobs=system.jobs, bins=40, tick=TICK)
    run = run_once(policy("first-fit"), scenario, 1)
    assert (run.measures.starts == run.measures.arrivals).all()
    found = np.average(run.jobs[run.first :], axis=0, weights=run.spans[run.first :])
    assert found == pytest.approx(lossless_jobs(system, 100.0, 900.0))


@pytest.mark.parametrize("servers", [2, 6, 15, 60])
def test_no_policy_beats_the_bound(servers: int) -> None:
    system = tasks_of(made_trace())
    coarse, fine = (upper_bound(system, servers, 100.0, 900.0, spans) for spans in (1, 40))
    assert fine <= coarse * (1 + 1e-9)
    options = {"priority": system.priority, "reservation": 1}
    for name in ("dra", "dra-preemption", "power-of-d", "first-fit"):
        scenario = LossScenario(system.instance, servers, 900.0, 100.0, jobs=system.jobs, options=options)
        assert run_once(policy(name), scenario, 1).mean_reward <= fine * (1 + 1e-6)
    means = [Fraction(float(x) / servers).limit_denominator(10**6) for x in lossless_jobs(system, 100.0, 900.0)]
    assert coarse == pytest.approx(float(optimal_assignment(system.instance.with_workload(means)).reward))
