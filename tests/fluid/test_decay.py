"""Rates of max-weight: attained, bounds on the time to drain from both sides, growth; controls that fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.testing import instances
from fluid.limits.decay import decay_rate, escape_velocity, guaranteed_rate, least_time, linear_bound, norm
from fluid.limits.max_weight import MaxWeight, queue_path
from theory.instance import Instance, additive, explicit
from theory.region.facets import region_facets
from theory.region.membership import traffic_intensity

paces = st.lists(st.integers(1, 5), min_size=3, max_size=3)


def loaded(instance: Instance, rates: list[int], load: Fraction) -> Instance:
    kinds = [replace(t, service_rate=Fraction(r, 2)) for t, r in zip(instance.types, rates, strict=False)]
    z = traffic_intensity(instance)
    return replace(instance, types=tuple(kinds)).with_workload([rho * load / z for rho in instance.workload])


few = instances(max_types=3, max_capacity=8, max_pools=2).filter(lambda i: any(i.workload))


@pytest.mark.slow
@given(few, paces, st.integers(5, 98), st.integers(0, 2**32 - 1))
def test_times_to_drain(instance: Instance, rates: list[int], percent: int, seed: int) -> None:
    inside = loaded(instance, rates, Fraction(percent, 100))
    region, model = region_facets(inside), MaxWeight(inside)
    rate = decay_rate(inside, region)
    assert rate is not None
    normal = list(rate.facet.normal)
    slowest = queue_path(model, np.array(normal, float), 1e6).drained
    assert slowest == pytest.approx(norm(inside, normal) / float(rate))
    assert least_time(inside, normal, region) == pytest.approx(slowest)
    queues = [Fraction(int(q), 10) for q in np.random.default_rng(seed).integers(1, 50, len(normal))]
    drained = queue_path(model, [float(q) for q in queues], 1e6).drained
    assert drained is not None
    assert float(least_time(inside, queues, region) or 0) <= drained * (1 + 1e-7)
    assert drained <= norm(inside, queues) / float(rate) * (1 + 1e-7)
    linear = linear_bound(inside, queues)
    assert linear is None or drained <= float(linear[0]) * (1 + 1e-7)


@pytest.mark.slow
@given(few, paces, st.integers(101, 300), st.integers(0, 2**32 - 1))
def test_escape_velocity_is_the_path_s(instance: Instance, rates: list[int], percent: int, seed: int) -> None:
    outside = loaded(instance, rates, Fraction(percent, 100))
    away = np.array([float(v) for v in escape_velocity(outside)])
    model = MaxWeight(outside)
    assert model.velocity(np.zeros(len(away)))[0].tolist() == pytest.approx(away.tolist(), abs=1e-7)
    start = np.random.default_rng(seed).uniform(0, 2, len(away))
    late = queue_path(model, start, 50.0).queues[-1]
    assert norm(outside, late - 50.0 * away) <= norm(outside, start) + 1e-6  # paths do not part
    assert decay_rate(outside) is None
    assert least_time(outside, [1] * len(away)) is None


def test_where_no_linear_function_falls() -> None:
    """One job of the first type, or (0, 3, 2), at 999/1000 of the boundary."""
    instance = explicit([(1, 0, 0), (0, 3, 2)], workload=["567/1000", "27/100", "108/125"])
    assert traffic_intensity(instance) == Fraction(999, 1000)
    assert linear_bound(instance, [1, 1, 1]) is None
    assert linear_bound(instance.with_workload([rho / 2 for rho in instance.workload]), [1, 1, 1]) is not None
    assert decay_rate(instance) is not None


def test_linear_functions_fall_along_paths() -> None:
    instance = additive([6], [[4], [1]], workload=["89/200", "89/25"])
    bound = linear_bound(instance, [1, 1])
    assert bound is not None
    h = np.array([float(x) for x in bound[1]])
    model = MaxWeight(instance)
    for queues in np.random.default_rng(1).uniform(0, 3, (20, 2)):
        path = queue_path(model, queues, 30.0)
        falls = np.diff(path.queues @ h) / np.diff(path.times)
        assert (falls[path.queues[:-1].any(axis=1)] <= -1 + 1e-6).all()


def test_guaranteed_rate_changes_sign_at_the_fraction() -> None:
    instance = additive([6], [[4], [1]], workload=["1/4", 2])
    z = traffic_intensity(instance)
    assert guaranteed_rate(instance, z) == 0
    assert guaranteed_rate(instance, z + Fraction(1, 10)) > 0 > guaranteed_rate(instance, z - Fraction(1, 10))
    exact = decay_rate(instance)
    assert exact is not None
    assert guaranteed_rate(instance, Fraction(1)) <= float(exact)


def test_on_the_boundary_no_rate_is_sure() -> None:
    """Queues need not fall there, however slowly: no rate, rather than a rate of 0; and no time to drain."""
    instance = additive([1], [[1], [1]], workload=["1/4", "3/4"])
    assert decay_rate(instance) is None
    assert least_time(instance, [1, 1]) is None
