"""The Lyapunov function of dynamic reservation: exact duals, an LP solver, and its rise along paths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from bounds.results.instances.drawn import dynamic_instance
from bounds.testing import explicit_instances, instances
from fluid.limits.lyapunov_function import Lyapunov, is_unique_maximiser, lyapunov
from fluid.limits.reservation import Reservation, fluid_path, state_of
from theory.exact.knapsack.configurations import maximal
from theory.greedy.assignment import global_greedy
from theory.instance import Instance, additive


@given(instances() | explicit_instances())
def test_the_constants_always_do(instance: Instance) -> None:
    assert is_unique_maximiser(instance, lyapunov(instance))


def maximise(instance: Instance, v: Lyapunov, tilt: np.ndarray) -> np.ndarray:
    n, width, eps = len(v.configurations), len(instance.types), 0.01
    ks = np.array(v.configurations, dtype=float)
    rows = np.zeros((1 + width, n + width))
    rows[0, :n] = 1
    rows[1:, :n] = ks.T
    rows[1:, n:] = -np.eye(width)
    right = np.array([1.0, *map(float, instance.workload)])
    cost = np.array([*map(float, v.weights), *([-float(v.penalty)] * width)]) / float(v.weights[0])
    cost[:n] += tilt
    bounds = [(0, None)] * n + [(0, eps)] * width
    return np.asarray(linprog(-cost, rows, right, bounds=bounds).x)


@pytest.mark.parametrize("seed", range(15))
def test_against_a_solver(seed: int) -> None:
    """A tiny tilt of the objective cannot move a unique maximiser far."""
    instance = dynamic_instance(seed)
    v = lyapunov(instance, 6)
    if not is_unique_maximiser(instance, v):
        v = lyapunov(instance)
    greedy = {s.configurations[0]: float(s.fraction) for s in global_greedy(instance).stages}
    wanted = [greedy.get(k, 0.0) for k in v.configurations]
    for sign in (-1, 1):
        found = maximise(instance, v, sign * 1e-10 * np.arange(len(wanted)))
        assert found[: len(wanted)].tolist() == pytest.approx(wanted, abs=1e-4)


def test_weights_that_hardly_fall_do_not_prove_it() -> None:
    failures = sum(
        not is_unique_maximiser(i, lyapunov(i, Fraction(101, 100))) for i in map(dynamic_instance, range(60))
    )
    assert failures > 0


@pytest.mark.parametrize("seed", range(8))
def test_it_rises_along_paths(seed: int) -> None:
    """Proposition 6.3, once no type has more jobs than its workload."""
    instance = dynamic_instance(seed)
    model, v = Reservation(instance), lyapunov(instance)
    ks = maximal(instance.pools[0].space).tolist()
    for start in (None, state_of(model, {tuple(ks[0]): 1.0}, np.minimum(model.workload, ks[0]).tolist())):
        path = fluid_path(model, 15.0, start)
        values = [v.value(model, *path.state(float(t))) for t in np.linspace(0.0, 15.0, 151)]
        assert min(np.diff(values)) > -1e-6 * float(v.weights[0])
        best = sum(
            float(z) * float(s.fraction)
            for k, z in zip(v.configurations, v.weights, strict=True)
            for s in model.equilibrium.stages
            if s.configurations[0] == k
        )
        assert max(values) <= best * (1 + 1e-6) + 1e-9


def test_an_example_by_hand() -> None:
    """One resource, (0, 1) before (2, 0): Z_1 = 6 Z_2, K = 2."""
    v = lyapunov(additive([2], [[1], [2]], rewards=[1, 3], workload=[1, "1/2"]))
    assert v.configurations == ((0, 1), (2, 0))
    assert v.weights == (6, 1)
    assert v.penalty > v.weights[0]
