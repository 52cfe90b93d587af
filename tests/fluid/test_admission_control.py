"""The threshold that refusals move: its pathwise guarantee, on worlds that the priors describe and on others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.misspecified import CHANGES, CLUSTER, as_drawn, with_a_rising_load
from fluid.admission.simulation import world
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy
from fluid.admission.simulation.world import World
from theory.errors import InputError

UNTIL, LONG = 6000.0, 40_000.0
AIM = 0.02


@pytest.mark.parametrize("changed", CHANGES)
def test_refusals_are_bounded_on_every_path(changed: Callable[[World], World]) -> None:
    """Refused <= aim asked + (first threshold - last one) / gain, with equality where the threshold meets no limit."""
    for seed in range(4):
        drawn = changed(world.draw_world(CLUSTER, UNTIL, seed))
        for start, aim, gain in ((250.0, AIM, 6.0), (301.0, 0.1, 1.0), (0.0, 0.005, 20.0)):
            policy = AdmissionPolicy("controlled", start, aim=aim, gain=gain)
            run = run_policy(CLUSTER, drawn, policy, UNTIL)
            refused, asked, (last, least) = run.refused.sum(), run.asked.sum(), run.thresholds
            assert refused <= aim * asked + (start - last) / gain + 1e-6
            assert least <= last <= 301.0


@pytest.mark.slow
@pytest.mark.parametrize("changed", [as_drawn, with_a_rising_load])
def test_a_small_gain_finds_the_threshold(changed: Callable[[World], World]) -> None:
    """In the long run the share is near the aim, and the cluster is used; without a threshold the share is another."""
    refused, asked, used = 0, 0, []
    for seed in range(4):
        drawn = changed(world.draw_world(CLUSTER, LONG, 100 + seed))
        run = run_policy(CLUSTER, drawn, AdmissionPolicy("controlled", 250.0, aim=AIM, gain=0.5), LONG)
        refused, asked = refused + int(run.refused.sum()), asked + int(run.asked.sum())
        used.append(run.utilisation)
        assert run_policy(CLUSTER, drawn, AdmissionPolicy("zeroth", 301.0), LONG).sla > 2 * AIM, "the control"
    assert 0.7 * AIM < refused / asked < 1.5 * AIM
    assert min(used) > 0.4


def test_the_threshold_is_the_sum_of_what_refusals_differ() -> None:
    """Far from the capacity nothing cuts the sum off; plain Python takes the same path."""
    drawn = world.draw_world(CLUSTER, 400.0, 3)
    policy = AdmissionPolicy("controlled", 200.0, aim=0.05, gain=0.5)
    run, slow = (run_policy(CLUSTER, drawn, policy, 400.0, python=python) for python in (False, True))
    assert np.array_equal(run.admitted_ones, slow.admitted_ones)
    assert 0 < run.admitted_ones.sum() < len(run.admitted_ones)
    assert run.thresholds[0] == pytest.approx(200.0 + 0.5 * (0.05 * run.asked.sum() - run.refused.sum()))
    assert run.thresholds[0] != 200.0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"name": "controlled", "aim": 0.1}, "gain: "),
        ({"name": "controlled", "gain": 1.0}, "sla: "),
        ({"name": "zeroth", "gain": 1.0}, "gain: "),
        ({"name": "zeroth", "aim": 0.1}, "sla: "),
    ],
)
def test_controls_that_mean_nothing(values: dict[str, float], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        AdmissionPolicy(**values)  # type: ignore[arg-type]
