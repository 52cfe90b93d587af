"""The exact drift of the quadratic function: its bound with the least constant, the printed one failing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.testing import instances
from fluid.limits.drift import Algorithm1
from fluid.simulation.driver import run_once
from fluid.simulation.queue.model import QueueScenario
from theory.errors import InputError
from theory.instance import Instance, additive

HALF = Fraction(1, 2)


def paced(instance: Instance, rates: list[int]) -> Instance:
    kinds = [replace(t, service_rate=Fraction(r, 2)) for t, r in zip(instance.types, rates, strict=False)]
    return replace(instance, types=tuple(kinds))


@pytest.mark.slow
@given(
    instances(max_types=3, max_capacity=8, max_pools=2),
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
    st.sampled_from(["exact", "single", "greedy"]),
    st.sampled_from([Fraction(1, 4), Fraction(7, 8), Fraction(1)]),
    st.integers(0, 2**32 - 1),
)
def test_the_bound_holds(instance: Instance, rates: list[int], oracle: str, beta: Fraction, seed: int) -> None:
    system = Algorithm1(paced(instance, rates), 2, beta, oracle)
    queues = np.random.default_rng(seed).integers(0, 20, len(instance.types)).tolist()
    for state in islice(system.states(queues, seed, every=3), 12):
        bound = system.bound(state)
        assert bound.drift <= bound.serving + system.constant
        assert bound.active <= bound.serving


@pytest.mark.parametrize("servers", [1, 3])
def test_the_constant_is_attained(servers: int) -> None:
    """Every queue waits and every server serves as many jobs as fit: equality, so no constant is smaller."""
    system = Algorithm1(paced(additive([4], [[2], [1]], workload=[1, "1/3"]), [3, 5]), servers, HALF)
    state = system.full([1, 9])
    bound = system.bound(state)
    assert state.counts.tolist() == [[0, 4]] * servers
    assert bound.drift == bound.serving + system.constant
    assert 2 * system.constant < system.printed_constant


def test_the_drift_is_the_mean_change() -> None:
    """The generator against many short simulated paths from one state, by the loop of the simulator."""
    system = Algorithm1(additive([2], [[1]], workload=[1]), 1, HALF)
    steps = list(system.steps(system.full([3])))
    assert sorted((rate, system.value(after)) for rate, after, _ in steps) == [(1, 8), (2, 2)]


def test_a_server_that_is_too_light_serves_nobody() -> None:
    """Lemma 4.3 as printed: with (1, 2) on the server and n small jobs waiting, the next departure stalls it."""
    system = Algorithm1(additive([6], [[4], [1]], workload=["1/4", 2]), 1, Fraction(7, 8))
    state = system.full([1, 2])
    assert state.configuration.tolist() == [[0, 6]]
    state = system.start()
    for j in (0, 1, 1, 1, 1):  # arrivals alone, which come first among the steps
        state = list(system.steps(state))[j][1]
    assert state.configuration.tolist() == [[1, 2]]
    assert state.waiting.tolist() == [0, 2]
    assert system.serving(state).tolist() == [False]
    for n in (1000, 10_000):
        state.waiting[1] = n
        bound = system.bound(state)
        assert bound.drift == 2 * n + Fraction(9, 8)  # only arrivals change V
        assert bound.drift > bound.active + system.printed_constant
        assert bound.drift <= bound.serving + system.constant


@pytest.mark.slow
def test_the_path_is_the_simulator_s() -> None:
    """Mean queue of the walk, by time, against the event loop: one M/M/1 queue at load 1/2 (1/2 waits)."""
    system = Algorithm1(additive([1], [[1]], workload=["1/2"]), 1, Fraction(1))
    total = weight = 0.0
    waiting = 0
    for state, time, _ in islice(system.steps.walk(system.start(), np.random.default_rng(1)), 20_000):
        total, weight, waiting = total + time * waiting, weight + time, int(state.waiting[0])
    assert total / weight == pytest.approx(0.5, abs=0.1)
    run = run_once(system.policy, QueueScenario(system.instance, 1, 20_000.0, 0.0), np.random.SeedSequence(1))
    assert run.mean_queue == pytest.approx(0.5, abs=0.1)


def test_bad_beta() -> None:
    for beta in (0, 2):
        with pytest.raises(InputError, match="beta: expected"):
            Algorithm1(additive([1], [[1]]), 1, beta)
