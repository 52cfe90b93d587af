"""Max-weight fluid paths: closed forms, two ways of stepping, the energy, and stability exactly inside the region."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.testing import instances
from fluid.limits.max_weight import MaxWeight, minimum_norm, queue_path
from theory.errors import InputError
from theory.greedy.optimal import optimal_assignment
from theory.instance import Instance, additive
from theory.models import drift


def intensity(instance: Instance) -> float:
    """The least z with the workload in z times the region, by bisection on the optimal assignment."""
    low, high = Fraction(0), Fraction(64)
    for _ in range(30):
        middle = (low + high) / 2
        shrunk = instance.with_workload([rho / middle for rho in instance.workload])
        served = optimal_assignment(shrunk.with_rewards([1] * len(instance.types))).reward
        low, high = (low, middle) if served == sum(shrunk.workload) else (middle, high)
    return float(high)


def test_one_type() -> None:
    model = MaxWeight(additive([4], [[1]], workload=[3]))
    path = queue_path(model, [5.0], 20.0)
    assert path.drained == pytest.approx(5.0)  # four served, three arrive
    overloaded = MaxWeight(additive([4], [[1]], workload=[6]))
    assert queue_path(overloaded, [0.0], 3.0).queues[-1].tolist() == pytest.approx([6.0])


def test_unequal_service_rates() -> None:
    """Both queues are served in proportion once they weigh the same: q_1' = q_2' with x_1 + x_2 = 1."""
    from dataclasses import replace

    base = additive([1], [[1], [1]], workload=["1/4", "1/4"])
    fast = replace(base.types[1], service_rate=Fraction(2))
    model = MaxWeight(replace(base, types=(base.types[0], fast)))
    path = queue_path(model, [1.0, 1.0], 10.0)
    x = path.served[0]
    assert x.sum() == pytest.approx(1)
    assert 0.25 - x[0] == pytest.approx(0.5 - 2 * x[1])


few = instances(max_types=3, max_capacity=8, max_pools=2).filter(lambda i: any(i.workload))


def implicit_step(model: MaxWeight, queues: np.ndarray, width: float) -> np.ndarray:
    """Return the queues after an implicit Euler step, float64[J].

    ``q+ = q + h (lambda - mu x)`` with x of the greatest weight at q+: the point of the region nearest to
    ``(q + h lambda) / (h mu)`` in the norm sum mu_j x_j^2, by Wolfe's method.
    """
    scale = np.sqrt(width * model.service)
    wanted = (queues + width * model.arrivals) / scale

    def oracle(direction: np.ndarray) -> np.ndarray:
        weighted = scale * direction
        best = (w * ks[np.argmax(ks @ weighted)] for w, ks in zip(model.shares, model.configurations, strict=True))
        return np.asarray(wanted - scale * sum(best))

    point, _, _ = minimum_norm(oracle, oracle(wanted))
    return np.maximum(point * scale, 0.0)


def implicit_step_of_the_model(instance: Instance, queues: np.ndarray, width: float) -> np.ndarray:
    """Return the same from the definition, by the reference model."""
    problem = drift(instance, queues, width)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    model = MaxWeight(instance)
    after = queues + width * (model.arrivals - model.service * problem.var_dict["served"].value)
    return np.maximum(after, 0.0)


@pytest.mark.slow
@settings(max_examples=20)
@given(few, st.integers(0, 2**32 - 1))
def test_implicit_steps_agree_and_tend_to_the_path(instance: Instance, seed: int) -> None:
    model = MaxWeight(instance)
    start = np.random.default_rng(seed).uniform(0, 3, len(instance.types)).round(3)
    queues = start
    for _ in range(400):
        queues = implicit_step(model, queues, 0.0025)
    assert np.abs(queues - queue_path(model, start, 1.0).queues[-1]).max() < 0.02 * max(1.0, model.arrivals.max())


@pytest.mark.parametrize("seed", range(5))
def test_wolfe_is_the_model(seed: int) -> None:
    generator = np.random.default_rng(seed)
    demands = generator.integers(1, 5, (3, 2))
    instance = additive([7, 9], demands.tolist(), workload=[Fraction(int(w), 3) for w in generator.integers(1, 9, 3)])
    model = MaxWeight(instance)
    queues = generator.uniform(0, 2, 3)
    for width in (0.01, 0.5):
        assert (
            np.abs(implicit_step(model, queues, width) - implicit_step_of_the_model(instance, queues, width)).max()
            < 1e-5
        )


@pytest.mark.slow
@given(few, st.integers(0, 2**32 - 1))
def test_the_energy_falls_as_the_weight_says(instance: Instance, seed: int) -> None:
    model = MaxWeight(instance)
    queues = np.random.default_rng(seed).uniform(0.1, 3, len(instance.types))
    velocity, served = model.velocity(queues)
    assert queues @ served == pytest.approx(model.weight(queues), abs=1e-6)
    assert (queues / model.service) @ velocity == pytest.approx(model.drift(queues), abs=1e-6)


@pytest.mark.slow
@settings(max_examples=25)
@given(few)
def test_queues_drain_exactly_inside_the_region(instance: Instance) -> None:
    z = Fraction(intensity(instance)).limit_denominator(10**6)
    start = np.full(len(instance.types), 0.5)
    inside = MaxWeight(instance.with_workload([rho / z * Fraction(4, 5) for rho in instance.workload]))
    assert queue_path(inside, start, 2000.0).drained is not None
    outside = MaxWeight(instance.with_workload([rho / z * Fraction(5, 4) for rho in instance.workload]))
    path = queue_path(outside, start, 2000.0)
    assert path.drained is None
    assert path.queues[-1].sum() > 10


@pytest.mark.slow
@given(few, st.integers(0, 2**32 - 1))
def test_paths_do_not_part(instance: Instance, seed: int) -> None:
    """Two paths of a steepest descent of a convex function never move away from each other (in r = q / sqrt mu)."""
    model, generator = MaxWeight(instance), np.random.default_rng(seed)
    first, second = (queue_path(model, generator.uniform(0, 2, len(instance.types)), 3.0) for _ in range(2))
    times = np.linspace(0, 3, 31)
    apart = np.linalg.norm((first.at(times) - second.at(times)) / np.sqrt(model.service), axis=1)
    assert (np.diff(apart) <= 1e-6).all()


def test_bad_queues() -> None:
    model = MaxWeight(additive([1], [[1]]))
    for start in ([-1.0], [1.0, 2.0]):
        with pytest.raises(InputError, match="expected 1 number of at least 0"):
            queue_path(model, start, 1.0)


def test_a_path_answers_within_its_time_only() -> None:
    """Queues that are empty at the end stay so; queues that are left there were not followed any further."""
    drained = queue_path(MaxWeight(additive([4], [[1]], workload=[3])), [5.0], 20.0)
    assert drained.at([4.0, 21.0]).ravel().tolist() == pytest.approx([1.0, 0.0])
    growing = queue_path(MaxWeight(additive([4], [[1]], workload=[6])), [0.0], 3.0)
    assert growing.at([1.5, 3.0]).ravel().tolist() == pytest.approx([3.0, 6.0])
    for path, time in ((growing, 3.1), (growing, -0.1), (drained, -0.1), (growing, float("nan"))):
        with pytest.raises(InputError, match="times: expected from 0 to"):
            path.at([1.0, time])
