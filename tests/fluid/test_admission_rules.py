"""What an admission policy compares with its threshold, in closed form, for deployments of one known kind."""

from __future__ import annotations

import numpy as np
import pytest

from fluid.admission.law.belief import Observed, plug_in_belief
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.law.moments import composed_moments
from fluid.admission.law.thresholds import POLICIES, cantelli, needed_over
from fluid.admission.simulation import world
from fluid.admission.simulation.outlook import aligned_horizons
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy
from fluid.admission.study.tuning import pathwise_bound
from fluid.simulation.driver import seed_of
from tests.reference.admission_policies import Rule, Transcription

UNTIL = 30.0
SHRINKING = AdmissionCluster(4, 0.3, (Kind(1.0, 1.0, 0.0, 0.0, 3),))  # three cores, which end at rate 1
PRIORS = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 1.0, 0.2)
GROWING = AdmissionCluster(6, 0.3, (Kind(1.0, 1.0, 2.0, 0.2, 2, 2),))


@pytest.mark.parametrize(("threshold", "admitted"), [(3.0, False), (3.5, True)])
def test_zeroth_counts_the_cores_after_acceptance(threshold: float, admitted: bool) -> None:
    """Definition 4.1: below the threshold, the arrival's cores among them."""
    run = run_policy(SHRINKING, world.draw_world(SHRINKING, UNTIL, 1), AdmissionPolicy("zeroth", threshold), UNTIL)
    assert bool(run.admitted_ones[0]) is admitted


@pytest.mark.parametrize("name", ["first", "second"])
def test_the_first_arrival_is_judged_by_binomial_cores(name: str) -> None:
    """Of three cores 3 exp(-t) are expected after t, with variance 3 exp(-t) (1 - exp(-t)); (18) for the second."""
    run = run_policy(SHRINKING, world.draw_world(SHRINKING, UNTIL, 1), AdmissionPolicy(name, 1e-9), UNTIL)
    stays = np.exp(-aligned_horizons())
    mean, variance = 3 * stays, 3 * stays * (1 - stays)
    needed = mean if name == "first" else variance / (variance + (4 - mean) ** 2)
    assert run.needed[0] == pytest.approx(needed.max(), rel=1e-9)


@pytest.mark.parametrize("plug_in", [False, True])
def test_later_arrivals_are_judged_by_what_was_seen(plug_in: bool) -> None:
    """Every arrival, against sums over nodes of log mu for each deployment by its core ends, core time, scale-outs."""
    cluster, until, times = AdmissionCluster(12, 3.0, PRIORS), 8.0, aligned_horizons(0.1, 5.0)
    drawn = world.draw_world(cluster, until, 6)
    policy = AdmissionPolicy("first", 9.0, "plug-in" if plug_in else "exact", horizons=times, tolerance=0.0)
    run = run_policy(cluster, drawn, policy, until)
    text = Transcription(drawn, 12, PRIORS, Rule(1, 9.0, plug_in), times, until)
    assert text.asked > 5
    assert len(text.judged) > 15
    assert {d: run.needed[d] for d in text.judged} == pytest.approx(text.judged, rel=1e-5)
    assert set(np.flatnonzero(run.admitted_ones).tolist()) == text.admitted


@pytest.mark.parametrize(("marginal", "needed"), [(0.0, 9.0), (1.0, 7.0), (2.0, 5.0), (3.0, 0.0)])
def test_times_at_which_the_arrival_has_hardly_a_core_do_not_count(marginal: float, needed: float) -> None:
    """Definition 6.1: the greatest mean among the times at which the arrival is not expected to have fewer cores."""
    mean, own = np.array([5.0, 7.0, 9.0]), np.array([2.0, 1.0, 0.5])
    assert needed_over(POLICIES.index("first"), mean, np.ones(3), own, 20.0, marginal) == needed


def test_cantelli() -> None:
    """V = 4 and 4 below the capacity: 4 / (4 + 16)."""
    assert cantelli(np.array([6.0]), np.array([4.0]), 10.0).tolist() == [0.2]


def test_the_pathwise_bound_refuses_nothing() -> None:
    """The bound is that of a world in which every deployment enters and every scale-out is granted."""
    bound = pathwise_bound(GROWING, UNTIL, replications=2, seed=3)
    for r, share in enumerate(bound.by_run):
        drawn = world.draw_world(GROWING, UNTIL, seed_of(3, r))
        cores: dict[int, int] = {}
        now = area = 0.0
        for time, what, batch in zip(drawn.time, drawn.what, drawn.batch, strict=True):
            if time >= UNTIL:
                break
            area += (time - now) * min(6, sum(cores.values()))
            now, d, size = float(time), int(drawn.deployment[batch]), int(drawn.size[batch])
            if what == world.ARRIVAL:
                cores[d] = size
            elif cores.get(d):  # a deployment without a core is gone
                cores[d] += {world.SCALE_OUT: size, world.DEATH: -1, world.SHUTDOWN: -cores[d]}[int(what)]
        area += (UNTIL - now) * min(6, sum(cores.values()))
        assert share == pytest.approx(area / UNTIL / 6, rel=1e-9)


def test_plug_in_has_the_mean_of_the_core_rate_in_the_law_of_scale_outs() -> None:
    """With kappa = 1, alpha + m and beta + T_d E[mu], E[mu] = (3 + 1) / (2 + 7)."""
    plugged = plug_in_belief(PRIORS, Observed(1, 7.0, 5.0, 2, 0, 2)).lam
    assert (plugged.shape, plugged.rate) == (4, pytest.approx(4 + 5 * 4 / 9))


def test_second_moment_with_the_paper_s_moments() -> None:
    """The first arrival is judged by Propositions 4.3 and 4.5 composed, whose closed forms are in another file."""
    cluster = AdmissionCluster(30, 0.3, PRIORS)
    drawn = world.draw_world(cluster, 5.0, 1)
    horizons = aligned_horizons(0.1, 30.0)
    run = run_policy(cluster, drawn, AdmissionPolicy("second", 1e-9, "paper", horizons=horizons), 5.0)
    sigma = Gamma(float(drawn.sigma_shape[0]), float(drawn.sigma_rate[0]))  # the initial size has been seen
    own = Priors(PRIORS.mu, PRIORS.lam, sigma, PRIORS.kappa, PRIORS.delta)
    parts = [composed_moments(own, int(drawn.size[drawn.first[0]]), float(t)) for t in horizons]
    mean, variance = np.array([part.mean for part in parts]), np.array([part.variance for part in parts])
    assert run.needed[0] == pytest.approx(cantelli(mean, variance, 30.0).max(), rel=1e-3)
