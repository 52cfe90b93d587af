"""Optimal policies of small clusters, and estimated priors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fluid.admission.exact.chain import best_threshold, small_space, solved
from fluid.admission.exact.optimal import optimal_policy
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.simulation.world import draw_world
from fluid.admission.study.estimation import (
    fit_lifetimes_and_sizes,
    fit_priors,
    lifetime_log_likelihood,
    log_likelihood,
)
from fluid.admission.study.watched import Watched, watched
from theory.errors import InputError

SMALL = AdmissionCluster(6, 1.0, (Kind(0.6, 0.5, 0.3, 0.05, 1), Kind(0.4, 1.0, 1.5, 0.1, 2, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("sla", [0.01, 0.05, 0.2])
def test_optimum_lies_between_bounds_that_meet(sla: float) -> None:
    found = optimal_policy(SMALL, sla, 3)
    assert found.program == pytest.approx(found.lagrangian, abs=1e-6)
    assert found.lower <= found.upper + 1e-12
    assert found.upper - found.lower < 0.005 * found.upper
    assert found.result.sla <= sla
    for name in ("zeroth", "first", "second"):
        _, other = best_threshold(found.space, AdmissionPolicy(name), sla)
        assert other.sla <= sla
        assert other.utilisation <= found.upper + 1e-12


@pytest.mark.slow
def test_no_deterministic_policy_of_a_tiny_cluster_is_better() -> None:
    """Every deterministic policy of a cluster with few states, solved one by one, against the upper bound."""
    cluster = AdmissionCluster(3, 1.0, (Kind(1.0, 0.8, 0.9, 0.1, 1),))
    space = small_space(cluster, 2)
    free = np.argwhere(space.entered >= 0)
    assert len(free) <= 10
    values = []
    for code in range(2 ** len(free)):
        accept = np.zeros(space.entered.shape)
        for bit, (i, k) in enumerate(free):
            accept[i, k] = code >> bit & 1
        values.append(solved(space, accept))
    for sla in (0.1, 0.3, 0.6):
        best = max((one.utilisation for one in values if one.sla <= sla), default=0.0)
        found = optimal_policy(cluster, sla, 2)
        assert found.lower >= best - 1e-9, "randomised policies are at least as good"
        assert found.upper >= best - 1e-12


@pytest.mark.slow
def test_control_a_looser_sla_is_worth_more() -> None:
    tight, loose = (optimal_policy(SMALL, sla, 3).lower for sla in (0.01, 0.05))
    assert tight < loose - 1e-3
    with pytest.raises(InputError, match="sla: expected"):
        optimal_policy(SMALL, 0.0, 3)


@pytest.mark.slow
def test_priors_are_found_again() -> None:
    """Data made by the process: the truth is within 5 times the likelihood's own slack of the best fit."""
    truth = Priors(Gamma(2.0, 4.0), Gamma(1.5, 1.0), Gamma(1.2, 0.6), 0.9, 0.15)
    cluster = AdmissionCluster(10**9, 10.0, truth)
    until = 60.0
    seen = watched(draw_world(cluster, until, 4), until)
    fitted = fit_priors(seen)
    assert fitted.converged
    best, at_truth = log_likelihood(fitted.priors, seen), log_likelihood(truth, seen)
    assert at_truth <= best + 1e-6
    assert best - at_truth < 20, "twice the difference is chi-square with 6 degrees of freedom: below 1e-6 beyond 18.9"
    found = fitted.priors
    assert found.mu.mean == pytest.approx(0.5, rel=0.25)
    assert found.kappa == pytest.approx(0.9, abs=0.25)
    assert found.delta == pytest.approx(0.15, rel=0.5)
    assert found.sigma.mean == pytest.approx(2.0, rel=0.2)
    worse = Priors(Gamma(2.0, 8.0), truth.lam, truth.sigma, truth.kappa, truth.delta)
    assert log_likelihood(worse, seen) < at_truth - 20, "the control"


def test_watched_core_time_is_that_of_single_events() -> None:
    priors = Priors(Gamma(2.0, 4.0), Gamma(1.5, 1.0), Gamma(1.2, 0.6), 0.9, 0.15)
    drawn = draw_world(AdmissionCluster(10**9, 1.0, priors), 30.0, 4)
    seen = watched(drawn, 30.0)
    d = int(np.argmax(seen.scale_outs))
    cores, last, total = 0, 0.0, 0.0
    for time, what, batch in zip(drawn.time, drawn.what, drawn.batch, strict=True):
        if drawn.deployment[batch] == d:
            total += cores * (time - last)
            last = float(time)
            cores = 0 if what == 3 else cores - 1 if what == 2 else cores + int(drawn.size[batch])
    total += cores * (30.0 - last)
    assert seen.core_time[d] == pytest.approx(total, rel=1e-9)


def test_lifetimes_and_sizes_are_found_again_under_censoring() -> None:
    """20,000 deployments without scale-outs, watched for an hour; chi-square(2) is below 27.6 (1 - 1e-6)."""
    rng = np.random.default_rng(12)
    n, mu, sigma, watch = 20_000, Gamma(1.5, 3.0), Gamma(0.8, 0.2), 1.0
    rates = rng.gamma(mu.shape, 1 / mu.rate, n)
    sizes = 1 + rng.poisson(rng.gamma(sigma.shape, 1 / sigma.rate, n))
    owner = np.repeat(np.arange(n), sizes)
    lives = rng.exponential(size=len(owner)) / rates[owner]
    ended = np.bincount(owner, lives < watch, n).astype(np.int64)
    time = np.bincount(owner, np.minimum(lives, watch), n)
    none = np.zeros(n, np.int64)
    seen = Watched(ended, time, time, none, sizes - 1, none + 1, none > 0)
    found, found_sizes = fit_lifetimes_and_sizes(seen)
    slack = lifetime_log_likelihood(found, seen) - lifetime_log_likelihood(mu, seen)
    assert -1e-6 <= slack < 13.8
    assert found.mean == pytest.approx(0.5, rel=0.05)
    assert found_sizes.mean == pytest.approx(4.0, rel=0.1)
    forgotten = replace(seen, core_time=np.bincount(owner, np.where(lives < watch, lives, 0.0), n))
    faster = Gamma(mu.shape, mu.rate / 2)
    assert lifetime_log_likelihood(faster, forgotten) > lifetime_log_likelihood(mu, forgotten) + 100, "the control"
    with pytest.raises(InputError, match="core ends"):
        fit_lifetimes_and_sizes(replace(seen, core_deaths=none))
