"""Policies for queues start the same jobs on the same servers as transcriptions of the non-preemptive paper."""

from __future__ import annotations

from typing import Any

import pytest

from bounds.results.nonpreemptive.algorithms import ORACLES, replayed
from bounds.results.nonpreemptive.literal import Transcription
from tests.reference.nonpreemptive_max_weight_local import MaxWeightLocal, RenewsBesideJobs
from tests.reference.nonpreemptive_randomized_sampling import RandomizedSampling, SteadySampling

RENEWALS = ("while-empty", "on-emptying")
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "max-weight-local": tuple({"oracle": oracle, "renewal": renewal} for oracle in ORACLES for renewal in RENEWALS),
    "randomized-sampling": ({}, {"sampling": 3.0, "expiry": 0.5}),
}
"""Options of each policy, one after the other in the systems that are tried."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "transcription"), [("max-weight-local", MaxWeightLocal), ("randomized-sampling", RandomizedSampling)]
)
def test_a_policy_starts_the_jobs_of_its_transcription(name: str, transcription: type[Transcription]) -> None:
    starts, other = replayed(name, transcription, VARIANTS[name], 40)
    assert (starts > 5000, other) == (True, 0)


@pytest.mark.parametrize(
    ("name", "broken"), [("max-weight-local", RenewsBesideJobs), ("randomized-sampling", SteadySampling)]
)
def test_a_wrong_transcription_is_noticed(name: str, broken: type[Transcription]) -> None:
    _, other = replayed(name, broken, VARIANTS[name], 12)
    assert other > 0
