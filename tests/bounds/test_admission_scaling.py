"""The compound Poisson law of what lives in a cluster, and how much a blind policy leaves free."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import poisson

from bounds.results.admission.scaling import (
    Clumps,
    drawn_clumps,
    full_share,
    granted_changes,
    normal_utilisation,
    poisson_utilisation,
)
from fluid.admission.law.cluster import AdmissionCluster, Kind
from fluid.admission.law.moments import kind_moments
from fluid.admission.simulation import world as worlds
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy
from theory.errors import InputError

GROWING = Kind(1.0, 0.2, 0.3, 0.1, 4, 3)


def test_the_clump_ratio_is_that_of_the_moments() -> None:
    """E[S^2] / E[S] over uniform ages by Gauss's rule: deployments that cannot run out have closed moments."""
    kind = Kind(1.0, 0.01, 0.3, 0.2, 20, 3)  # shut down long before it runs out
    until = 60.0
    x, w = np.polynomial.legendre.leggauss(60)
    ages = (x + 1) * until / 2
    moments = [kind_moments(kind, kind.size, float(t)) for t in ages]
    first = float(w @ [m.mean for m in moments]) * until / 2
    second = float(w @ [m.variance + m.mean**2 for m in moments]) * until / 2
    clumps = drawn_clumps(AdmissionCluster(100, 200.0, (kind,)), until, seed=2)
    assert clumps.load == pytest.approx(first, rel=0.06)  # about a thousand living deployments: 5 standard errors
    assert clumps.ratio == pytest.approx(second / first, rel=0.03)


def test_changes_follow_every_deployment() -> None:
    """A replay of the events, one by one, which counts the cores of each deployment in a dictionary."""
    drawn = worlds.draw_world(AdmissionCluster(10, 1.0, (GROWING,)), 40.0, 3)
    change, after = granted_changes(drawn)
    cores: dict[int, int] = {}
    for event, (what, batch) in enumerate(zip(drawn.what, drawn.batch, strict=True)):
        d = int(drawn.deployment[batch])
        before = cores.get(d, 0)
        gone = what == worlds.SHUTDOWN
        cores[d] = 0 if gone else before - 1 if what == worlds.DEATH else before + int(drawn.size[batch])
        assert (change[event], after[event]) == (cores[d] - before, cores[d])
    assert {worlds.ARRIVAL, worlds.SCALE_OUT, worlds.DEATH, worlds.SHUTDOWN} <= set(drawn.what.tolist())


def test_single_cores_are_a_poisson_law() -> None:
    """Clumps of one core: others are Poisson, and the one that asks has two cores then."""
    clumps = Clumps(np.ones(5, np.int64), np.full(3, 2), 1.0)
    assert full_share(clumps, 7.0, 10) == pytest.approx(1 - poisson.cdf(8, 7.0), abs=1e-12)
    threes = Clumps(np.full(5, 3), np.array([3, 40]), 1.0)  # the second alone is too large
    expected = (1 - poisson.cdf(2, 2.0) + 1) / 2  # at most 2 clumps of 3 leave 3 of 10 cores and one
    assert full_share(threes, 6.0, 10) == pytest.approx(expected, abs=1e-12)


def test_more_load_and_fewer_cores_are_worse_and_both_laws_meet() -> None:
    clumps = drawn_clumps(AdmissionCluster(100, 300.0, (GROWING,)), 60.0, seed=1, warmup=20.0)
    shares = [full_share(clumps, mean, 200) for mean in (100.0, 130.0, 160.0, 190.0)]
    assert shares == sorted(shares)
    used = [poisson_utilisation(clumps, c, 0.01) for c in (100, 400, 1600, 25_600)]
    assert used == sorted(used)
    normal = [normal_utilisation(clumps.ratio, c, 0.01) for c in (100, 25_600)]
    ratio = [(1 - a) / (1 - b) for a, b in zip((used[0], used[-1]), normal, strict=True)]
    assert abs(ratio[1] - 1) < 0.03 < ratio[0] - 1
    assert poisson_utilisation(Clumps(np.full(3, 50), np.full(3, 60), 1.0), 40, 0.01) == 0.0
    with pytest.raises(InputError, match="sla"):
        normal_utilisation(10.0, 100.0, 0.7)


def test_no_blind_run_refuses_more_than_is_full() -> None:
    cluster = AdmissionCluster(60, 2.0, (GROWING,))
    for number in range(4):
        drawn = worlds.draw_world(cluster, 60.0, number)
        full = np.cumsum(granted_changes(drawn)[0]) > cluster.capacity
        most = int(full[drawn.what == worlds.SCALE_OUT].sum())
        run = run_policy(cluster, drawn, AdmissionPolicy("everybody", inf), 60.0)
        assert 0 < int(run.refused.sum()) <= most
