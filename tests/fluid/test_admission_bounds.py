"""Optimal policies of small clusters, importance sampling, pricing and estimated priors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.rare_refusals import drawn_runs, plain_buckets, tuned_buckets, variance_ratio
from fluid.admission.exact.chain import best_threshold, small_space, solved
from fluid.admission.exact.optimal import optimal_policy
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.law.moments import Moments, hourly_payment, mixture, saved_by_labels
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.simulation.world import draw_parameters, draw_world
from fluid.admission.study.estimation import (
    fit_lifetimes_and_sizes,
    fit_priors,
    lifetime_log_likelihood,
    log_likelihood,
)
from fluid.admission.study.importance import (
    Weighted,
    redraw_for,
    redrawn_probabilities,
    weighted_share,
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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5), st.data())
def test_redrawing_is_inverted(raw: list[float], data: st.DataObject) -> None:
    p = np.array(raw) / sum(raw)
    r = np.array([data.draw(st.floats(0.0, 0.95)) for _ in raw[1:]] + [0.0])
    q = redrawn_probabilities(p, r)
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert redrawn_probabilities(p, redraw_for(p, q)) == pytest.approx(q, abs=1e-9)


def draw_bucket(nominal: list[float], redraw: list[float], rng: np.random.Generator) -> int:
    """Draw the bucket of a world by redrawing, as the paper describes it, from nominal draws."""
    blocked = 0
    while True:
        bucket = int(rng.choice(len(nominal), p=nominal))
        if bucket < blocked:
            continue
        if rng.random() >= redraw[bucket]:
            return bucket
        blocked = bucket


@pytest.mark.slow
def test_redrawing_by_simulation() -> None:
    """40,000 draws: each share within 5.1 standard errors (level 1 - 1e-6), and the control is told apart."""
    p, r = [0.6, 0.25, 0.1, 0.05], [0.7, 0.5, 0.2, 0.0]
    q = redrawn_probabilities(p, r)
    rng = np.random.default_rng(3)
    share = np.bincount([draw_bucket(p, r, rng) for _ in range(40_000)], minlength=4) / 40_000
    assert np.all(np.abs(share - q) < 5.1 * np.sqrt(q * (1 - q) / 40_000))
    unblocked = np.array(p) * (1 - np.array(r))  # what would come if lower buckets were not blocked
    assert np.any(np.abs(share - unblocked / unblocked.sum()) > 0.01)


def test_weighted_share_is_that_of_all_runs() -> None:
    rng = np.random.default_rng(5)
    refused, asked = rng.poisson(0.2, 400) * 1.0, rng.poisson(30, 400) + 1.0
    one = weighted_share([Weighted(1.0, refused, asked)])
    assert one.mean == pytest.approx(refused.sum() / asked.sum())
    assert one.low < 0.2 / 31 < one.high
    split = weighted_share([Weighted(2.0, refused[:200], asked[:200]), Weighted(1.0, refused[200:], asked[200:])])
    top = 2 * refused[:200].sum() + refused[200:].sum()
    assert split.mean == pytest.approx(top / (2 * asked[:200].sum() + asked[200:].sum()))


def test_mixture_inequality_by_symbols() -> None:
    import sympy

    q, a, b, va, vb = sympy.symbols("q a b v_a v_b", real=True)
    mean = q * a + (1 - q) * b
    variance = q * (va + a**2) + (1 - q) * (vb + b**2) - mean**2
    excess = sympy.factor(variance - (q * va + (1 - q) * vb))
    assert sympy.simplify(excess - q * (1 - q) * (a - b) ** 2) == 0
    found = mixture([(0.3, Moments(2.0, 5.0)), (0.7, Moments(6.0, 1.0))])
    values = {q: sympy.Rational(3, 10), a: 2, b: 6, va: 5, vb: 1}
    assert found.variance == pytest.approx(float(variance.subs(values)))
    assert saved_by_labels([(0.3, Moments(2.0, 5.0)), (0.7, Moments(6.0, 1.0))], 2.0) == pytest.approx(
        2 * 0.3 * 0.7 * 16
    )
    assert hourly_payment(3, 2.0, 1.0, 0.5) == 4.0
    with pytest.raises(InputError, match="prices"):
        hourly_payment(1, 1.0, 0.0, 1.0)


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


GIANTS = AdmissionCluster(100, 0.5, (Kind(1 - 3e-5, 0.5, 0.2, 0.05, 2), Kind(3e-5, 0.02, 0.5, 0.0, 2, 4)))
"""Small tenants, and one in 33,000 that grows to 100 cores: three runs of 500 hours in 400 have such a giant."""


@pytest.mark.slow
def test_buckets_lessen_the_variance_of_a_rare_share() -> None:
    """About 6e-4 of scale-outs are refused; at level 95 % the variance of a run is at least 10 times less.

    Times are set equal here, so that the machine decides nothing.
    """
    policy, until = AdmissionPolicy("zeroth", 60.0), 500.0
    plain = plain_buckets(GIANTS, until, [50.0])
    assert plain.nominal[1] == pytest.approx(-np.expm1(-250 * 3e-5))
    pilot = drawn_runs(GIANTS, policy, until, replace(plain, redraw=redraw_for(plain.nominal, [0.5, 0.5])), 60, 1)
    buckets = tuned_buckets(pilot)
    usual, redrawn = (drawn_runs(GIANTS, policy, until, one, n, 2) for one, n in ((plain, 2500), (buckets, 250)))
    q = redrawn_probabilities(buckets.nominal, buckets.redraw)
    assert abs((redrawn.bucket == 1).mean() - q[1]) < 5.1 * np.sqrt(q[1] * q[0] / 250), "level 1 - 1e-6"
    a, b = (weighted_share(one.weighted(), level=1 - 1e-6) for one in (usual, redrawn))
    assert max(a.low, b.low) < min(a.high, b.high)
    assert b.half_width < a.half_width
    ratio = variance_ratio(replace(usual, seconds=2500.0), replace(redrawn, seconds=250.0))
    assert ratio.low > 10
    control = variance_ratio(replace(usual, seconds=1.0), replace(usual, seconds=1.0))
    assert control.mean == pytest.approx(1.0)
    assert control.low < 1 < control.high


def test_probability_of_a_giant_by_simulation() -> None:
    """The exact law of the largest long-run size against 3,000 worlds' parameters: 5.1 standard errors."""
    priors = Priors(Gamma(0.542, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), 1.145, 0.0537)
    cluster = AdmissionCluster(300, 0.05, priors)
    buckets = plain_buckets(cluster, 1000.0, [100.0, 200.0, 400.0])
    rng = np.random.default_rng(8)
    found = np.bincount([buckets.of(draw_parameters(cluster, 1000.0, rng)) for _ in range(3000)], minlength=4) / 3000
    assert np.all(np.abs(found - buckets.nominal) < 5.1 * np.sqrt(buckets.nominal / 3000))
    with pytest.raises(InputError, match="edges"):
        plain_buckets(cluster, 1000.0, [200.0, 100.0])


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
