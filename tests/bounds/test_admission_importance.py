"""Importance sampling of rare refusals, and what labels save."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.rare_refusals import drawn_runs, plain_buckets, tuned_buckets, variance_ratio
from bounds.results.admission.importance import (
    Weighted,
    redraw_for,
    redrawn_probabilities,
    weighted_share,
)
from bounds.results.admission.payments import hourly_payment, mixture, saved_by_labels
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.law.moments import Moments
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.simulation.world import draw_parameters
from theory.errors import InputError


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
    """10,000 draws: each share within 5.1 standard errors (level 1 - 1e-6), and the control is told apart."""
    p, r = [0.6, 0.25, 0.1, 0.05], [0.7, 0.5, 0.2, 0.0]
    q = redrawn_probabilities(p, r)
    rng = np.random.default_rng(3)
    share = np.bincount([draw_bucket(p, r, rng) for _ in range(10_000)], minlength=4) / 10_000
    assert np.all(np.abs(share - q) < 5.1 * np.sqrt(q * (1 - q) / 10_000))
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
    usual, redrawn = (drawn_runs(GIANTS, policy, until, one, n, 2) for one, n in ((plain, 1500), (buckets, 150)))
    q = redrawn_probabilities(buckets.nominal, buckets.redraw)
    assert abs((redrawn.bucket == 1).mean() - q[1]) < 5.1 * np.sqrt(q[1] * q[0] / 150), "level 1 - 1e-6"
    a, b = (weighted_share(one.weighted(), level=1 - 1e-6) for one in (usual, redrawn))
    assert max(a.low, b.low) < min(a.high, b.high)
    assert b.half_width < a.half_width
    ratio = variance_ratio(replace(usual, seconds=1500.0), replace(redrawn, seconds=150.0))
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
