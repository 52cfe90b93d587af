"""Optimal policies of small clusters, importance sampling, pricing and estimated priors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.admission.chain import best_threshold, small_space, solved
from fluid.admission.estimation import fit_priors, log_likelihood, watched
from fluid.admission.importance import Weighted, draw_bucket, redraw_for, redrawn_probabilities, weighted_share
from fluid.admission.model import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.moments import Moments
from fluid.admission.optimal import optimal_policy
from fluid.admission.pricing import hourly_payment, mixture, saved_by_labels
from fluid.admission.simulate import AdmissionPolicy
from fluid.admission.world import draw_world
from theory.errors import InputError

SMALL = AdmissionCluster(6, 1.0, (Kind(0.6, 0.5, 0.3, 0.05, 1), Kind(0.4, 1.0, 1.5, 0.1, 2, 2)))


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


def test_control_a_looser_sla_is_worth_more() -> None:
    tight, loose = (optimal_policy(SMALL, sla, 3).lower for sla in (0.01, 0.05))
    assert tight < loose - 1e-3
    with pytest.raises(InputError, match="--sla"):
        optimal_policy(SMALL, 0.0, 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5), st.data())
def test_redrawing_is_inverted(raw: list[float], data: st.DataObject) -> None:
    p = np.array(raw) / sum(raw)
    r = np.array([data.draw(st.floats(0.0, 0.95)) for _ in raw[1:]] + [0.0])
    q = redrawn_probabilities(p, r)
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert redrawn_probabilities(p, redraw_for(p, q)) == pytest.approx(q, abs=1e-9)


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
