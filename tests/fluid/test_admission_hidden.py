"""Small clusters of two kinds that nobody tells apart: bounds from both sides, and what they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.admission.exact.chain import best_threshold, small_space, solved
from fluid.admission.exact.hidden import Beliefs, Memories, belief_grid, hidden_optimum
from fluid.admission.exact.optimal import optimal_policy
from fluid.admission.law.cluster import AdmissionCluster, Kind
from fluid.admission.simulation.replications import simulate_admission
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.statistics import mean_interval, ratio_interval
from theory.errors import InputError

GROWS = AdmissionCluster(6, 1.0, (Kind(0.5, 0.5, 0.2, 1.0, 1), Kind(0.5, 0.5, 1.0, 0.2, 1)))
"""Silence says nothing here, and a scale-out multiplies the odds by 5."""

DRIFTS = AdmissionCluster(5, 1.0, (Kind(0.5, 0.5, 0.3, 0.5, 1), Kind(0.5, 0.6, 1.0, 0.0, 1)))


@pytest.mark.soak
def test_bounds_meet_and_two_methods_agree() -> None:
    sla = 0.05
    found = hidden_optimum(GROWS, sla, 2, 11)
    assert found.program == pytest.approx(found.lagrangian, abs=1e-6)
    assert found.lower <= found.upper + 1e-12
    assert found.upper - found.lower < 0.005 * found.upper
    assert found.result.sla <= sla
    assert found.upper < optimal_policy(GROWS, sla, 2).lower, "kinds that are seen are worth something here"
    for name in ("zeroth", "first", "second"):
        _, other = best_threshold(found.memories, AdmissionPolicy(name), sla)
        assert other.sla <= sla
        assert other.utilisation <= found.upper + 1e-12


@pytest.mark.slow
def test_bounds_hold_where_silence_speaks_and_near_with_the_grid() -> None:
    coarse, fine = (hidden_optimum(DRIFTS, 0.05, 1, points) for points in (7, 15))
    known = optimal_policy(DRIFTS, 0.05, 1)
    assert max(coarse.lower, fine.lower) <= min(coarse.upper, fine.upper) + 1e-12
    assert fine.upper <= known.upper + 1e-9
    assert fine.upper - fine.lower <= coarse.upper - coarse.lower + 1e-12


@pytest.mark.slow
def test_equal_kinds_are_one_kind() -> None:
    """Nothing is hidden where both kinds are the same: the optimum of one known kind, from both sides."""
    kind = Kind(1.0, 0.6, 0.9, 0.2, 1)
    alone = optimal_policy(AdmissionCluster(4, 1.0, (kind,)), 0.1, 2)
    halves = (Kind(0.3, 0.6, 0.9, 0.2, 1), Kind(0.7, 0.6, 0.9, 0.2, 1))
    found = hidden_optimum(AdmissionCluster(4, 1.0, halves), 0.1, 2, 7)
    assert found.upper == pytest.approx(alone.upper, rel=1e-9)
    assert found.lower == pytest.approx(alone.lower, rel=1e-4)


@pytest.mark.slow
def test_kinds_told_by_their_size_are_known() -> None:
    cluster = AdmissionCluster(5, 1.0, (Kind(0.6, 0.5, 0.3, 0.05, 1), Kind(0.4, 1.0, 1.5, 0.1, 2, 2)))
    found, known = hidden_optimum(cluster, 0.05, 2, 7), optimal_policy(cluster, 0.05, 2)
    assert found.upper == pytest.approx(known.upper, rel=1e-9)
    assert found.lower == pytest.approx(known.lower, rel=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 2), st.floats(0.05, 2), st.floats(0, 1), st.floats(0, 1), st.floats(0, 2), st.floats(0, 2))
def test_beliefs_are_martingales(m0: float, m1: float, s0: float, s1: float, g0: float, g1: float) -> None:
    """With the end of a deployment included, p does not move on average; the oracle's signals are told too."""
    cluster = AdmissionCluster(9, 1.0, (Kind(0.4, m0, g0, s0, 2), Kind(0.6, m1, g1, s1, 2)))
    grid = belief_grid(cluster, 9)
    dynamics = Beliefs(cluster, grid)
    for g in range(len(grid)):
        p = grid[g]
        ends = p * (1 - p) * (s1 - s0)  # the mean move of p at a shutdown, after which no label is left
        drift = sum(rate * (grid[after[0]] - p) for after, rate in dynamics.changes((g, 2), 5).moves if after)
        assert drift + ends == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_memories_do_not_change_what_happens() -> None:
    """A policy that ignores its memory has the measures of the chain of known kinds, whatever is remembered."""
    known = small_space(DRIFTS, 2)
    space = small_space(DRIFTS, 2, Memories(DRIFTS, belief_grid(DRIFTS, 7)))
    for limit in (2, 4, 9):
        results = [solved(one, (one.cores[:, None] + 1 < limit) * (one.entered >= 0) * 1.0) for one in (known, space)]
        assert results[0].utilisation == pytest.approx(results[1].utilisation, rel=1e-10)
        assert results[0].sla == pytest.approx(results[1].sla, rel=1e-9)


@pytest.mark.slow
def test_simulated_policy_that_does_not_see_kinds_is_below_the_bound() -> None:
    """The second-moment policy with exact beliefs, in continuous time: within intervals of level 1 - 1e-6."""
    sla, threshold = 0.05, 0.45
    found = hidden_optimum(GROWS, sla, 2, 5)
    policy = AdmissionPolicy("second", threshold, labelled=False)
    made = simulate_admission(GROWS, policy, 3000.0, replications=20, seed=5, warmup=60.0, most=2)
    used = mean_interval([run.utilisation for run in made.runs], 1 - 1e-6)
    refused, asked = [float(r.refused.sum()) for r in made.runs], [float(r.asked.sum()) for r in made.runs]
    share = ratio_interval(refused, asked, 1 - 1e-6)
    assert used.mean > 0.1
    # weak duality with the price of the bound holds at every SLA that is reached
    rate = float(np.sum(asked)) / (20 * 2940.0)
    allowed = found.upper + found.price * max(0.0, share.high - sla) * rate / GROWS.capacity
    assert used.low <= allowed


def test_bad_input() -> None:
    with pytest.raises(InputError, match="two kinds"):
        hidden_optimum(AdmissionCluster(4, 1.0, (Kind(1.0, 1.0, 1.0, 0.0, 1),)), 0.1, 2)
    with pytest.raises(InputError, match="beliefs: expected"):
        hidden_optimum(GROWS, 0.1, 2, 2)
    with pytest.raises(InputError, match="sla: expected"):
        hidden_optimum(GROWS, 1.0, 2)
