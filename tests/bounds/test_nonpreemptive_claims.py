"""What the claims of the non-preemptive paper compute with, against mathematics."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from bounds.results.nonpreemptive import steps
from bounds.results.nonpreemptive.settings import BOUNDARY, LONG, example_1, table_1
from fluid.limits.drift import Algorithm1
from theory.instance import additive
from theory.region.membership import traffic_intensity

HALF = Fraction(1, 2)


def test_equal_classes_have_the_drift_of_exponential_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two classes of rate 1 weigh nothing: (24) is (13), in every state, whatever the classes are."""
    monkeypatch.setattr(steps, "CLASSES", ((HALF, Fraction(1)), (HALF, Fraction(1))))
    system = Algorithm1(example_1(Fraction(4, 5)), 2, Fraction(7, 8))
    generator = np.random.default_rng(3)
    for state in islice(system.states([10, 20], 3, every=2), 30):
        first = generator.binomial(state.counts, 0.5)
        classes = np.stack([first, state.counts - first], axis=-1)
        assert steps._class_drift(system, state, classes) == system.bound(state).drift


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("queue", [1, 7])
def test_one_server_in_closed_form(number: int, queue: int) -> None:
    """One slot, Q wait, a job of class c in service: rho ((Q+w+1)^2 - (Q+w)^2)/2 + mu_c ((Q-1)^2 + var - (Q+w)^2)/2."""
    rho = Fraction(1, 2)
    system = Algorithm1(additive([1], [[1]], workload=[rho]), 1, HALF)
    state = system.full([queue])
    classes = np.zeros((1, 1, 2), np.int64)
    classes[0, 0, number] = 1
    weights = [1 / rate - 1 for _, rate in steps.CLASSES]
    assert sum(p * w for (p, _), w in zip(steps.CLASSES, weights, strict=True)) == 0
    variance = sum(p * w**2 for (p, _), w in zip(steps.CLASSES, weights, strict=True))
    w, rate = weights[number], steps.CLASSES[number][1]
    expected = rho * (2 * (queue + w) + 1) / 2 + rate * ((queue - 1) ** 2 + variance - (queue + w) ** 2) / 2
    assert steps._class_drift(system, state, classes) == expected


def test_the_settings_are_on_the_boundary_and_requests_are_proportional_to_it() -> None:
    assert traffic_intensity(table_1(1)) == traffic_intensity(example_1(1)) == 1
    assert table_1(1).workload == BOUNDARY
    for system in LONG:
        mean, workload = np.mean(system.requests, axis=0), [float(rho) for rho in system.instance(1).workload]
        assert np.allclose(mean / mean[0], np.array(workload) / workload[0])
