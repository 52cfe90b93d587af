"""Reference models in cvxpy against the exact answers of packproof, on random instances, laws and clusters."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import packproof
from bounds.testing import clusters, explicit_instances, instances, size_laws
from theory import models

CLOSE = 1e-6
"""Tolerance of the solvers in these models, relative to numbers up to 100."""

few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
small = instances(max_types=3, max_pools=2) | explicit_instances(max_types=3)


def precise(problem: cp.Problem) -> float:
    """Solve a convex program to more digits than by default."""
    options = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    return float(problem.solve(solver=cp.CLARABEL, **options))


@pytest.mark.slow
@few
@given(small)
def test_static_program(instance: packproof.Instance) -> None:
    problem = models.static(instance)
    assert problem.solve(solver=cp.HIGHS) == pytest.approx(
        float(packproof.optimal_assignment(instance).reward), abs=CLOSE
    )
    doubled = instance.with_workload([2 * rho for rho in instance.workload])
    problem.param_dict["workload"].value = np.array([float(rho) for rho in doubled.workload])
    assert problem.solve(solver=cp.HIGHS) == pytest.approx(
        float(packproof.optimal_assignment(doubled).reward), abs=CLOSE
    )


@pytest.mark.slow
@few
@given(small)
def test_traffic_intensity(instance: packproof.Instance) -> None:
    value = models.intensity(instance).solve(solver=cp.HIGHS)
    assert value == pytest.approx(float(packproof.traffic_intensity(instance)), abs=CLOSE)


@pytest.mark.slow
@few
@given(size_laws())
def test_configuration_program(law: packproof.Law) -> None:
    exact = packproof.bracket(law, gap=Fraction(0))
    assert exact.lower == exact.upper
    assert models.configuration(law).solve(solver=cp.HIGHS) == pytest.approx(float(exact.lower), rel=CLOSE)


def test_a_law_with_a_continuous_part_is_refused() -> None:
    with pytest.raises(ValueError, match="finitely many sizes"):
        models.configuration(packproof.uniform("1/10", "1/2"))


@few
@given(clusters())
def test_fair_shares_under_time_division(cluster: packproof.Cluster) -> None:
    problem = models.ps_dsf_tdm(cluster)
    precise(problem)
    exact = packproof.ps_dsf_tdm(cluster)
    assert exact.exact
    assert problem.var_dict["tasks"].value == pytest.approx([float(x) for x in exact.totals], rel=1e-4, abs=1e-4)


@pytest.mark.slow
@few
@given(instances(max_types=3, max_capacity=8, max_pools=2), st.integers(0, 2**32 - 1))
def test_drift_program_follows_max_weight(instance: packproof.Instance, seed: int) -> None:
    queues = np.random.default_rng(seed).uniform(1, 3, len(instance.types)).round(3)
    model = packproof.MaxWeight(instance)
    path = packproof.queue_path(model, queues, 1.0)
    step = float(path.times[1]) / 2  # on the first straight stretch an implicit step is exact
    problem = models.drift(instance, queues, step)
    precise(problem)
    after = queues + step * model.service * (model.arrivals / model.service - problem.var_dict["served"].value)
    assert after == pytest.approx(path.at([step])[0], abs=1e-3 * max(1.0, step))


@pytest.mark.slow
@few
@given(small)
def test_drift_program_without_queues_is_the_velocity_of_escape(instance: packproof.Instance) -> None:
    problem = models.drift(instance, [0.0] * len(instance.types))
    precise(problem)
    velocity = np.array([float(v) for v in packproof.escape_velocity(instance)])
    mu = np.array([float(job_type.service_rate) for job_type in instance.types])
    rho = np.array([float(w) for w in instance.workload])
    assert mu * (rho - problem.var_dict["served"].value) == pytest.approx(velocity, abs=1e-4)
