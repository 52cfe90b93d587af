"""Policies for loss systems beside transcriptions of the auto-scaling paper: every step is one that the text allows.

Algorithms 1 and 2 themselves are followed in the claim ``autoscaling/algorithm-2-as-printed`` and in
`tests.fluid.test_reservation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from bounds.results.instances.drawn import random_instance
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.preemption import DRA_PREEMPTION
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from tests.reference.autoscaling_preemption import LargestFirst, SizeOfOneJob, StoppingReferee
from tests.reference.autoscaling_unreserved import (
    SEED,
    BestFit,
    FirstFit,
    LastFit,
    MostLoadedOfTwo,
    PowerOfTwo,
    Static,
    StaticWithASlotLess,
    Unreserved,
    WorstFit,
)
from theory.instance import Instance

ARRIVALS = 80.0


def systems(number: int, *, most_pools: int, least_types: int) -> Iterator[tuple[Instance, int, float]]:
    """Draw instances with their servers, and the time in which about 80 jobs arrive."""
    generator, drawn = np.random.default_rng(43), 0
    while drawn < number:
        instance = random_instance(generator, pools=1 + drawn % most_pools)
        servers = int(generator.integers(3, 9))
        rate = servers * sum(float(t.workload * t.service_rate) for t in instance.types)
        if rate and len(instance.types) >= least_types:
            drawn += 1
            yield instance, servers, ARRIVALS / rate


def preempted(referee_of: type[StoppingReferee], number: int) -> tuple[Counter[str], int]:
    """Follow dynamic reservation with preemption, g = 2; return how runs go wrong, and how many jobs are stopped."""
    wrong, stops = Counter[str](), 0
    for seed, (instance, servers, until) in enumerate(systems(number, most_pools=1, least_types=3), 1):
        priority = [0, 0, *[1] * (len(instance.types) - 2)]
        options = {"reservation": 2, "priority": dict(zip(instance.names, priority, strict=True))}
        scenario = LossScenario(instance, servers, until, 0.0, options=options, log=10_000, bins=1)
        referee = referee_of(scenario.setting(), 2, priority)
        wrong[referee.follow(DRA_PREEMPTION, scenario, seed)] += 1
        stops += referee.stops
    return wrong, stops


@pytest.mark.slow
def test_jobs_are_stopped_as_in_the_transcription() -> None:
    wrong, stops = preempted(StoppingReferee, 16)
    assert wrong == {"": 16}
    assert stops > 200


@pytest.mark.parametrize("broken", [LargestFirst, SizeOfOneJob])
def test_a_wrong_transcription_of_preemption_is_noticed(broken: type[StoppingReferee]) -> None:
    wrong, _ = preempted(broken, 8)
    assert wrong[""] < 8


def followed(name: str, transcription: type[Unreserved], number: int) -> tuple[int, int]:
    """Follow runs of a policy on up to two pools; return the events, and those that the text does not allow."""
    events = wrong = 0
    for instance, servers, until in systems(number, most_pools=2, least_types=1):
        scenario = LossScenario(instance, servers, until, 0.0, log=10_000, bins=1)
        watch = transcription(Setting(instance, servers, {}))
        run_once(policy(name), scenario, SEED, python=True, watch=watch)
        events, wrong = events + watch.row, wrong + watch.wrong
    return events, wrong


@pytest.mark.parametrize(
    ("name", "transcription"),
    [("first-fit", FirstFit), ("best-fit", BestFit), ("power-of-d", PowerOfTwo), ("static", Static)],
)
def test_jobs_are_placed_as_in_the_transcription(name: str, transcription: type[Unreserved]) -> None:
    events, wrong = followed(name, transcription, 12)
    assert events > 1000
    assert not wrong


@pytest.mark.parametrize(
    ("name", "broken"),
    [("first-fit", LastFit), ("best-fit", WorstFit), ("power-of-d", MostLoadedOfTwo), ("static", StaticWithASlotLess)],
)
def test_a_wrong_transcription_is_noticed(name: str, broken: type[Unreserved]) -> None:
    assert followed(name, broken, 6)[1]
