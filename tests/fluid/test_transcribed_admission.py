"""Admission policies judge arrivals, and grant, as a transcription of the cluster admission paper does."""

from __future__ import annotations

import numpy as np
import pytest

from bounds.results.admission.moments import WORKED
from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.law.thresholds import POLICIES
from fluid.admission.simulation.outlook import aligned_horizons
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionRun, run_policy, seed_of
from fluid.admission.simulation.world import draw_world
from tests.reference.admission_policies import (
    Chebyshev,
    MarginalTimesCount,
    Rule,
    ScaleOutsUnseen,
    Transcription,
    WithoutArrival,
)

CROWDED = AdmissionCluster(15, 4.0, WORKED)
"""A cluster that refuses every few hours: deployments come four an hour, and have 3 to 4 cores for about an hour."""

HOURS = 20.0
AHEAD = aligned_horizons(0.1, 10.0)
RULES = {
    "zeroth": Rule(0, 14.0),
    "first": Rule(1, 11.0),
    "first-plug-in": Rule(1, 11.0, plug_in=True),
    "second": Rule(2, 0.2),
    "second-plug-in": Rule(2, 0.2, plug_in=True),
    "second-marginal": Rule(2, 0.15, marginal=1.0),
}
"""Thresholds near which numbers lie, so that a wrong number makes another decision."""

SEED = 26


def replayed(
    name: str, round_: int = 0, transcription: type[Transcription] = Transcription
) -> tuple[AdmissionRun, Transcription]:
    """Run a rule through a random world in the simulator, and as the paper says."""
    rule = RULES[name]
    world = draw_world(CROWDED, HOURS, seed_of(SEED, list(RULES).index(name) + len(RULES) * round_))
    moments = "plug-in" if rule.plug_in else "exact"
    policy = AdmissionPolicy(
        POLICIES[rule.moments], rule.threshold, moments, rule.marginal, horizons=AHEAD, tolerance=0.0
    )
    text = transcription(world, CROWDED.capacity, WORKED, rule, AHEAD, HOURS)
    return run_policy(CROWDED, world, policy, HOURS), text


def is_the_same(run: AdmissionRun, text: Transcription) -> bool:
    """Whether the same number judges each arrival, to 1e-5, and the same deployments and scale-outs are granted."""
    judged = {d: run.needed[d] for d in text.judged} == pytest.approx(text.judged, rel=1e-5, abs=1e-9)
    admitted = set(np.flatnonzero(run.admitted_ones).tolist()) == text.admitted
    return judged and admitted and (int(run.asked.sum()), int(run.refused.sum())) == (text.asked, text.refused)


@pytest.mark.parametrize("round_", range(3))
@pytest.mark.parametrize("name", RULES)
def test_a_policy_decides_as_its_transcription(name: str, round_: int) -> None:
    run, text = replayed(name, round_)
    assert is_the_same(run, text)
    assert 0 < len(text.admitted) < len(text.judged)
    assert text.asked > 0


@pytest.mark.slow
def test_scale_outs_are_refused_where_the_policies_are_replayed() -> None:
    assert sum(replayed(name)[1].refused for name in RULES) > 0


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        *((name, WithoutArrival) for name in RULES),
        *((name, Chebyshev) for name in RULES if name.startswith("second")),
        *((name, ScaleOutsUnseen) for name in RULES if name != "zeroth"),
        ("second-marginal", MarginalTimesCount),
    ],
)
def test_a_wrong_transcription_is_noticed(name: str, broken: type[Transcription]) -> None:
    assert not is_the_same(*replayed(name, transcription=broken))
