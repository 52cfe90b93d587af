"""Simulated admission: against exact chains, against full recomputation, against plain Python, on common worlds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.admission.exact.chain import exact_policy, small_space, solved
from fluid.admission.law.belief import Observed, Tenant, exact_belief
from fluid.admission.law.cluster import AdmissionCluster, Gamma, InitialSize, Kind, Priors, printed_horizons
from fluid.admission.law.moments import belief_moments
from fluid.admission.law.thresholds import FIRST, SECOND
from fluid.admission.simulation import outlook, simulate, world
from fluid.admission.simulation.decision import needed
from fluid.admission.simulation.replications import simulate_admission, simulate_policies
from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionRun, run_policy
from fluid.admission.study.tuning import pathwise_bound
from fluid.experiment.store import Store
from fluid.statistics import mean_interval, ratio_interval
from theory.compiled import plain
from theory.errors import InputError

PRIORS = Priors(Gamma(0.542, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), 1.145, 0.0537)
CLUSTER = AdmissionCluster(300, 0.2, PRIORS)


def random_cluster(seed: int) -> tuple[AdmissionCluster, AdmissionPolicy, int]:
    """A small cluster of one or two kinds, a policy for it, and the most deployments."""
    rng = np.random.default_rng([20260712, seed])
    count = int(rng.integers(1, 3))
    capacity = int(rng.integers(4, 9))
    shares = rng.dirichlet(np.ones(count)).tolist()
    kinds = tuple(
        Kind(
            share,
            float(rng.uniform(0.3, 2)),
            float(rng.uniform(0.2, 2)),
            float(rng.uniform(0, 0.5)),
            int(rng.integers(1, 3)),
            int(rng.integers(1, 4)),
        )
        for share in shares
    )
    cluster = AdmissionCluster(capacity, float(rng.uniform(0.3, 2.0)), kinds)
    name = ("zeroth", "first", "second")[seed % 3]
    threshold = (float(capacity - 1), 0.8 * capacity, 0.5)[seed % 3]
    return cluster, AdmissionPolicy(name, threshold), int(rng.integers(2, 5))


def test_worlds_of_kinds_and_of_priors_have_arrays_of_the_same_types() -> None:
    """Numba compiles the event loop, for 14 s, for each combination of types and layouts anew."""
    kinds = AdmissionCluster(30, 0.2, (Kind(0.5, 1, 1, 0.1, 2, 1), Kind(0.5, 2, 1, 0.1, 1, 1)))
    worlds = [world.draw_world(cluster, 50.0, 1) for cluster in (CLUSTER, kinds)]
    by_priors, of_kinds = ([(field.dtype, field.flags.c_contiguous) for field in drawn] for drawn in worlds)
    assert by_priors == of_kinds


def test_a_remembered_world_is_the_one_that_is_drawn() -> None:
    """Policies run through it one after another and leave it as it is."""
    one = (CLUSTER, [AdmissionPolicy("second", 0.2), AdmissionPolicy("zeroth", 250.0)], 200.0, 5, 1, 2)
    first, again = (simulate.run_in_one_world(*one) for _ in range(2))
    drawn = world.draw_world(CLUSTER, 200.0, simulate.seed_of(5, 1), observations=2)
    assert all(np.array_equal(a, b) for a, b in zip(simulate._remembered(CLUSTER, 200.0, 5, 1, 2), drawn, strict=True))
    for k, policy in enumerate(one[1]):
        fresh = run_policy(CLUSTER, drawn, policy, 200.0)
        for run, _ in (first[k], again[k]):
            assert run.utilisation == fresh.utilisation
            assert np.array_equal(run.needed, fresh.needed)
            assert np.array_equal(run.admitted_ones, fresh.admitted_ones)
    other = simulate.run_in_one_world(CLUSTER, one[1][:1], 200.0, 5, 2, 2)
    assert not np.array_equal(other[0][0].needed, first[0][0].needed)


@pytest.mark.parametrize("seed", range(21))
def test_small_clusters_agree_with_their_chains(seed: int) -> None:
    """Intervals of level 1 - 1e-6, for utilisation and SLA each; 21 clusters: false alarms at most 42e-6."""
    cluster, policy, most = random_cluster(seed)
    exact = exact_policy(cluster, policy, most)
    assert exact.residual < 1e-12
    found = simulate_admission(cluster, policy, 4000.0, replications=20, seed=seed, warmup=60.0, most=most)
    used = mean_interval([run.utilisation for run in found.runs], 1 - 1e-6)
    refused, asked = [float(r.refused.sum()) for r in found.runs], [float(r.asked.sum()) for r in found.runs]
    assert used.holds(exact.utilisation)
    assert ratio_interval(refused, asked, 1 - 1e-6).holds(exact.sla)


def test_control_a_chain_of_another_policy_is_told_apart() -> None:
    cluster, policy, most = random_cluster(0)
    other = exact_policy(cluster, AdmissionPolicy("zeroth", policy.threshold - 1), most)
    found = simulate_admission(cluster, policy, 4000.0, replications=20, seed=0, warmup=60.0, most=most)
    assert not mean_interval([run.utilisation for run in found.runs], 1 - 1e-6).holds(other.utilisation)


def test_chain_is_erlang() -> None:
    cluster = AdmissionCluster(5, 3.0, (Kind(1.0, 0.5, 0.0, 0.0, 1),))
    offered, blocking = 6.0, 1.0
    for n in range(1, 6):
        blocking = offered * blocking / (n + offered * blocking)
    assert exact_policy(cluster, AdmissionPolicy("everybody"), 5).acceptance == pytest.approx(1 - blocking, abs=1e-13)


def test_chain_by_hand() -> None:
    """One deployment of one core that grows to two: three states, solved on paper."""
    a, m, g, s = 0.7, 0.9, 1.3, 0.2
    cluster = AdmissionCluster(2, a, (Kind(1.0, m, g, s, 1),))
    found = exact_policy(cluster, AdmissionPolicy("everybody"), 1)
    p2 = g / (2 * m + s)  # relative to one core
    p0 = (m + s + s * p2) / a
    total = p0 + 1 + p2
    assert found.utilisation == pytest.approx((1 + 2 * p2) / total / 2, rel=1e-13)
    assert found.sla == pytest.approx(p2 / (1 + p2), rel=1e-13)


@pytest.mark.parametrize("name", ["zeroth", "first", "second"])
@pytest.mark.parametrize("moments", ["exact", "plug-in", "paper"])
def test_python_takes_the_same_path(name: str, moments: str) -> None:
    cluster = AdmissionCluster(60, 0.2, PRIORS)
    fast = world.draw_world(cluster, 60.0, 5, observations=1)
    slow = world.draw_world(cluster, 60.0, 5, observations=1, python=True)
    assert all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))
    policy = AdmissionPolicy(
        name, 40.0 if name != "second" else 0.2, moments, horizons=outlook.aligned_horizons(0.1, 500)
    )
    a, b = (run_policy(cluster, fast, policy, 60.0, python=python) for python in (False, True))
    assert a.utilisation == pytest.approx(b.utilisation, rel=1e-12)
    assert np.array_equal(a.admitted_ones, b.admitted_ones)
    assert np.allclose(a.needed, b.needed, rtol=1e-9, equal_nan=True)


def test_first_deployment_is_judged_by_its_exact_belief() -> None:
    """The number compared with the threshold, against the quadrature of another file on a much finer grid."""
    drawn = world.draw_world(CLUSTER, 400.0, 11, observations=2)
    horizons = outlook.aligned_horizons()
    run = run_policy(CLUSTER, drawn, AdmissionPolicy("first", 1e9), 400.0)
    for policy, code in ((AdmissionPolicy("first", 1e9), FIRST), (AdmissionPolicy("second"), SECOND)):
        run = run_policy(CLUSTER, drawn, policy, 400.0)
        laws = [float(a[0]) for a in (drawn.mu_shape, drawn.mu_rate, drawn.lam_shape, drawn.lam_rate)]
        sigma = Gamma(float(drawn.sigma_shape[0]), float(drawn.sigma_rate[0]))
        own = Priors(Gamma(laws[0], laws[1]), Gamma(laws[2], laws[3]), sigma, PRIORS.kappa, PRIORS.delta)
        size = int(drawn.size[drawn.first[0]])
        made = [belief_moments(exact_belief(own, Observed()), size, float(t)) for t in horizons]
        wanted = max(
            m.mean if code == FIRST else m.variance / (m.variance + (300 - m.mean) ** 2) for m in made if m.mean < 300
        )
        assert run.needed[0] == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("moments", ["exact", "plug-in", "paper"])
def test_incremental_is_near_full_recomputation(moments: str) -> None:
    """Up to the first decision that differs, sums differ by a multiple of the tolerance, and shrink with it."""
    drawn = world.draw_world(CLUSTER, 1500.0, 3)
    full = run_policy(CLUSTER, drawn, AdmissionPolicy("first", 200.0, moments, tolerance=0.0), 1500.0)
    off = []
    for tolerance in (0.05, 0.02, 0.002):
        run = run_policy(CLUSTER, drawn, AdmissionPolicy("first", 200.0, moments, tolerance=tolerance), 1500.0)
        differs = np.flatnonzero(run.admitted_ones != full.admitted_ones)
        end = int(differs[0]) if len(differs) else len(drawn.arrival)
        assert end > 20
        both = slice(0, end)
        off.append(float(np.nanmax(np.abs(run.needed[both] / full.needed[both] - 1))))
        assert off[-1] <= 2 * tolerance + 1e-9
        assert run.refreshed < full.refreshed
    assert off[-1] < off[0]


def test_sums_are_those_of_all_deployments() -> None:
    """One sum of expected cores at the last arrival, from beliefs that are collected apart, event by event."""
    until = 300.0
    cluster = AdmissionCluster(5000, 0.2, PRIORS)
    drawn = world.draw_world(cluster, until, 8)
    policy = AdmissionPolicy("first", 1e9, tolerance=0.0)
    run = run_policy(cluster, drawn, policy, until)
    last = len(drawn.arrival) - 1
    now = float(drawn.arrival[last])
    seen = {d: Observed() for d in range(last + 1)}
    cores: dict[int, int] = {}
    clock: dict[int, float] = {}
    for time, what, batch in zip(drawn.time, drawn.what, drawn.batch, strict=True):
        d, size = int(drawn.deployment[batch]), int(drawn.size[batch])
        if time > now:
            break
        if what == world.ARRIVAL:
            cores[d], clock[d] = size, float(time)
            continue
        elapsed = float(time) - clock[d]
        clock[d] = float(time)
        if what == world.DEATH:
            seen[d] = seen[d].death(elapsed, cores[d])
            cores[d] -= 1
        elif what == world.SCALE_OUT:
            seen[d] = seen[d].scale_out(elapsed, cores[d], size)
            cores[d] += size
        else:
            cores[d] = 0
    assert sum(cores.values()) < run.peak + 1 < 5000, "nothing was refused, so that this is what the policy saw"
    total = np.zeros(len(outlook.aligned_horizons()))
    for d, active in cores.items():
        if active:
            sigma = Gamma(float(drawn.sigma_shape[d]), float(drawn.sigma_rate[d]))
            own = Priors(PRIORS.mu, PRIORS.lam, sigma, PRIORS.kappa, PRIORS.delta)
            belief = exact_belief(own, seen[d].quiet(now - clock[d], active))
            total += [belief_moments(belief, active, float(t)).mean for t in outlook.aligned_horizons()]
    assert run.needed[last] == pytest.approx(float(total.max()), rel=2e-3)


def test_policies_meet_the_same_deployments() -> None:
    few, many = (world.draw_world(CLUSTER, 500.0, 4, observations=n) for n in (1, 50))
    for name in ("arrival", "mu", "time", "what", "batch", "size"):
        assert np.array_equal(getattr(few, name), getattr(many, name))
    assert not np.array_equal(few.mu_rate, many.mu_rate)


def test_no_policy_has_cores_beyond_the_world_or_the_capacity() -> None:
    for seed in range(4):
        drawn = world.draw_world(CLUSTER, 3000.0, seed)
        everybody = run_policy(CLUSTER, drawn, AdmissionPolicy("everybody"), 3000.0, grant_all=True)
        assert everybody.refused.sum() == 0
        for policy in (AdmissionPolicy("zeroth", 250.0), AdmissionPolicy("second", 0.1), AdmissionPolicy("everybody")):
            run = run_policy(CLUSTER, drawn, policy, 3000.0)
            assert run.utilisation <= everybody.capped + 1e-12
            assert run.peak <= 300
            assert run.asked.sum() >= run.refused.sum()
        assert everybody.capped > run.utilisation + 0.01, "accepting everybody is not the bound: refusals thin it out"
    bound = pathwise_bound(CLUSTER, 500.0, replications=3)
    worlds = [world.draw_world(CLUSTER, 500.0, simulate.seed_of(0, r)) for r in range(3)]
    granted = [run_policy(CLUSTER, one, AdmissionPolicy("everybody"), 500.0, grant_all=True) for one in worlds]
    assert bound.by_run.tolist() == [one.capped for one in granted]
    entered = [run_policy(CLUSTER, one, AdmissionPolicy("everybody"), 500.0) for one in worlds]
    assert all(a.utilisation < b for a, b in zip(entered, bound.by_run, strict=True))
    assert bound.utilisation.mean == pytest.approx(float(bound.by_run.mean()))


def test_every_event_of_the_world_is_counted_if_everything_is_granted() -> None:
    drawn = world.draw_world(CLUSTER, 2000.0, 6)
    run = run_policy(CLUSTER, drawn, AdmissionPolicy("everybody"), 2000.0, grant_all=True)
    assert run.events == len(drawn.time)
    born = np.bincount(drawn.what, minlength=4)
    assert run.arrivals == run.admitted == born[world.ARRIVAL] == len(drawn.arrival)
    assert run.asked.sum() == born[world.SCALE_OUT]


@pytest.mark.slow
def test_worlds_follow_the_laws_of_the_model() -> None:
    """Sizes at a time of 30,000 deployments against the exact moments: 5.1 standard errors (level 1 - 1e-6)."""
    from fluid.admission.law.absorption import exact_moments

    priors = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2, InitialSize((4,), (1.0,)))
    cluster = AdmissionCluster(10**9, 300.0, priors)
    drawn = world.draw_world(cluster, 102.0, 9)
    age = 1.7
    grown = np.zeros(len(drawn.arrival))
    owner = drawn.deployment[drawn.batch]
    young = drawn.time <= drawn.arrival[owner] + age
    change = np.where(drawn.what == world.DEATH, -1, drawn.size[drawn.batch])
    np.add.at(grown, owner[young & (drawn.what != world.SHUTDOWN)], change[young & (drawn.what != world.SHUTDOWN)])
    grown[owner[young & (drawn.what == world.SHUTDOWN)]] = 0
    old = grown[drawn.arrival <= 100.0]
    exact = exact_moments(priors, 4, age)
    for values, wanted in ((old, exact.mean), ((old > 0) * 1.0, exact.alive)):
        assert abs(values.mean() - wanted) < 5.1 * values.std() / sqrt(len(values)) + exact.error


def test_marginal_heuristic_changes_nothing_where_nobody_is_marginal() -> None:
    """With the prior alone and a look-ahead of a day, every arrival expects more than a tenth of a core."""
    horizons = outlook.aligned_horizons(0.04, 24.0)
    drawn = world.draw_world(CLUSTER, 2000.0, 12)
    runs = [
        run_policy(CLUSTER, drawn, AdmissionPolicy("second", 0.1, marginal=m, horizons=horizons), 2000.0)
        for m in (0.0, 0.1)
    ]
    assert np.array_equal(runs[0].admitted_ones, runs[1].admitted_ones)
    other = run_policy(CLUSTER, drawn, AdmissionPolicy("second", 0.1, marginal=1e9, horizons=horizons), 2000.0)
    assert not np.array_equal(runs[0].admitted_ones, other.admitted_ones), "the control: everybody is marginal"


def test_hidden_kinds_are_learned() -> None:
    """Labels that are hidden change decisions; of one kind alone they cannot."""
    two = (Kind(0.5, 0.2, 0.1, 0.01, 2), Kind(0.5, 1.0, 3.0, 0.05, 2, 4))
    cluster = AdmissionCluster(60, 1.0, two)
    drawn = world.draw_world(cluster, 3000.0, 1)
    seen, hidden = (
        run_policy(cluster, drawn, AdmissionPolicy("second", 0.05, labelled=labelled), 3000.0)
        for labelled in (True, False)
    )
    assert not np.array_equal(seen.admitted_ones, hidden.admitted_ones)
    alone = AdmissionCluster(60, 1.0, (Kind(1.0, 1.0, 1.0, 0.05, 2, 4),))
    drawn = world.draw_world(alone, 1000.0, 1)
    runs = [run_policy(alone, drawn, AdmissionPolicy("second", 0.05, labelled=x), 1000.0) for x in (True, False)]
    assert np.array_equal(runs[0].admitted_ones, runs[1].admitted_ones)


def test_printed_and_spaced_horizons_decide_alike() -> None:
    drawn = world.draw_world(AdmissionCluster(100, 0.1, PRIORS), 700.0, 2)
    cluster = AdmissionCluster(100, 0.1, PRIORS)
    runs = [
        run_policy(cluster, drawn, AdmissionPolicy("second", 0.2, horizons=h, tolerance=0.0), 700.0)
        for h in (None, printed_horizons())
    ]
    ratio = runs[0].needed / runs[1].needed
    assert np.nanmax(np.abs(ratio - 1)) < 0.02
    assert (runs[0].admitted_ones == runs[1].admitted_ones).mean() > 0.97


def test_knots_carry_the_printed_horizons(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers compared with the threshold, from 80-odd knots and from all 2,663 horizons directly."""
    cluster = AdmissionCluster(100, 0.1, PRIORS)
    drawn = world.draw_world(cluster, 300.0, 2)
    policy = AdmissionPolicy("second", 0.2, horizons=printed_horizons(), tolerance=0.0)
    from_knots = run_policy(cluster, drawn, policy, 300.0)
    monkeypatch.setattr(simulate, "new_outlook", partial(outlook.new_outlook, direct=True))
    direct = run_policy(cluster, drawn, policy, 300.0)
    assert np.array_equal(from_knots.admitted_ones, direct.admitted_ones)
    assert np.allclose(from_knots.needed, direct.needed, rtol=3e-4, equal_nan=True)


@pytest.mark.slow
@given(st.integers(-9000, 9000), st.sampled_from([1, 16, 64]), st.integers(1, 40))
def test_the_table_says_what_the_formulas_do(place: int, steps: int, count: int) -> None:
    """Also for nodes that lie so far out that the table ends."""
    horizons = 0.3 * np.exp(steps * outlook.FINE * np.arange(count))
    view = outlook.new_outlook(CLUSTER, horizons, 1, direct=True)
    assert view.rule.is_tabled
    view.grid.places[0], view.grid.nodes[0, 0] = place, np.exp(place * outlook.FINE)
    gone, shut = plain(outlook.ahead)(view, 0)
    x = view.grid.nodes[0, 0] * horizons
    assert np.allclose(gone, -np.expm1(-x), rtol=1e-9, atol=1e-13)
    assert np.allclose(shut, np.exp(-PRIORS.delta * x), rtol=1e-9, atol=1e-13)
    uneven = outlook.new_outlook(CLUSTER, np.array([*horizons, 3.3 * horizons[-1], 3.4 * horizons[-1]]), 1, direct=True)
    assert not uneven.rule.is_tabled
    uneven.grid.nodes[0, 0] = view.grid.nodes[0, 0]
    for tabled, worked_out in zip((gone, shut), plain(outlook.ahead)(uneven, 0), strict=True):
        assert np.allclose(tabled, worked_out[:count], rtol=1e-8, atol=1e-13)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-9, 3), st.floats(0, 1)), min_size=1, max_size=5))
def test_knots_are_off_by_their_bound_at_most(parts: list[tuple[float, float]]) -> None:
    """A mixture of exp(-x t), by cubic interpolation in log t, against the bound of the module."""
    times = printed_horizons()
    knots, at, share = outlook.knots_for(times)

    def mixed(t: np.ndarray) -> np.ndarray:
        return sum((w * np.exp(-(10**x) * t) for x, w in parts), np.zeros(len(t)))

    kept = mixed(knots)
    found = sum(share[k] * kept[at + k] for k in range(4))
    h = outlook.KNOTS * outlook.FINE
    bound = 1.4 * 3 / 128 * h**4 * sum(w for _, w in parts)
    assert np.abs(found - mixed(times)).max() <= bound + 1e-15
    y = np.linspace(1e-3, 60, 200_000)
    fourth = np.exp(-y) * (-y + 7 * y**2 - 6 * y**3 + y**4)  # of exp(-e^s) by s, at y = e^s
    assert np.abs(fourth).max() < 1.4


def test_runs_are_stored_and_read_again(tmp_path: Path) -> None:
    policy = AdmissionPolicy("second", 0.1)
    direct = simulate_admission(CLUSTER, policy, 200.0, replications=3, seed=2)
    said: list[str] = []
    with Store(tmp_path / "s.db") as store:
        first = simulate_admission(
            replace(CLUSTER, source="a.toml"), policy, 200.0, replications=2, seed=2, store=store
        )
        moved = replace(CLUSTER, source="elsewhere/a.toml")
        again = simulate_admission(moved, policy, 200.0, replications=3, seed=2, store=store, progress=said.append)
    assert said == ["1 of 1 run"], "two were read, wherever the file stands now"
    assert first.utilisation.mean == pytest.approx(float(np.mean([r.utilisation for r in direct.runs[:2]])))
    assert again.utilisation == direct.utilisation
    assert again.sla == direct.sla


@pytest.mark.processes
def test_runs_on_dask_are_those_here_and_are_taken_up(tmp_path: Path, dask_engine: str) -> None:
    policies = [AdmissionPolicy("zeroth", 200.0), AdmissionPolicy("second", 0.1)]
    here = simulate_policies(CLUSTER, policies, 200.0, replications=4, seed=2)
    with Store(tmp_path / "s.db") as store:
        simulate_policies(CLUSTER, policies, 200.0, replications=2, seed=2, store=store, engine=dask_engine)
    said: list[str] = []
    with Store(tmp_path / "s.db") as store:
        there = simulate_policies(
            CLUSTER, policies, 200.0, replications=4, seed=2, store=store, engine=dask_engine, progress=said.append
        )
    assert said == ["1 of 2 runs", "2 of 2 runs"], "runs of the first command are read, not run again"
    for a, b in zip(here, there, strict=True):
        assert [run.utilisation for run in a.runs] == [run.utilisation for run in b.runs]
        assert a.sla == b.sla


def test_space_refuses_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fluid.admission.exact.chain.STATES", 500)
    with pytest.raises(InputError, match="more than 500 states"):
        small_space(AdmissionCluster(400, 1.0, (Kind(1.0, 1.0, 1.0, 0.0, 1),)), 400)
    cluster, _, most = random_cluster(3)
    space = small_space(cluster, most)
    assert solved(space, np.zeros(space.entered.shape)).utilisation == 0.0


def test_policies_in_one_world_are_those_run_alone(tmp_path: Path) -> None:
    policies = [AdmissionPolicy("zeroth", 200.0), AdmissionPolicy("second", 0.1), AdmissionPolicy("zeroth", 250.0)]
    with Store(tmp_path / "s.db") as store:
        alone = simulate_admission(CLUSTER, policies[1], 300.0, replications=2, seed=2, store=store)
        together = simulate_policies(CLUSTER, policies, 300.0, replications=3, seed=2, store=store)
        again = simulate_policies(CLUSTER, policies[::-1], 300.0, replications=3, seed=2, store=store)[::-1]
    assert [run.utilisation for run in together[1].runs[:2]] == [run.utilisation for run in alone.runs]
    assert [one.sla for one in together] == [one.sla for one in again]
    assert together[0].utilisation != together[2].utilisation


def tenants_at_arrivals(drawn: world.World, run: AdmissionRun) -> Iterator[tuple[int, list[Tenant], Tenant]]:
    """Yield each arrival of a run with the deployments that are in the cluster then, from the events of the world."""
    seen: dict[int, Observed] = {}
    cores: dict[int, int] = {}
    clock: dict[int, float] = {}
    granted: set[int] = set()
    capacity = CLUSTER.capacity

    def tenant(d: int, now: float, size: int) -> Tenant:
        laws = [float(a[d]) for a in drawn[6:12]]
        own = Priors(Gamma(*laws[:2]), Gamma(*laws[2:4]), Gamma(*laws[4:]), PRIORS.kappa, PRIORS.delta)
        return Tenant(size, seen[d].quiet(now - clock[d], size), own)

    for time, what, batch in zip(drawn.time.tolist(), drawn.what, drawn.batch.tolist(), strict=True):
        d, size = int(drawn.deployment[batch]), int(drawn.size[batch])
        if what == world.ARRIVAL:
            seen[d], clock[d] = Observed(), time
            yield d, [tenant(one, time, cores[one]) for one in cores], tenant(d, time, size)
            if run.admitted_ones[d]:
                cores[d] = size
                granted.add(batch)
        elif d in cores and (what != world.DEATH or batch in granted):
            active, elapsed = cores[d], time - clock[d]
            clock[d] = time
            if what == world.DEATH:
                seen[d] = seen[d].death(elapsed, active)
                cores[d] -= 1
            elif what == world.SCALE_OUT:
                seen[d] = seen[d].scale_out(elapsed, active, size)
                if sum(cores.values()) + size <= capacity:
                    cores[d] += size
                    granted.add(batch)
            if what == world.SHUTDOWN or cores[d] == 0:
                del cores[d]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "threshold"), [("zeroth", 240.0), ("first", 180.0), ("second", 0.15)])
@pytest.mark.parametrize(("moments", "observations"), [("exact", 0), ("exact", 5), ("plug-in", 0), ("paper", 0)])
def test_a_decision_is_that_of_the_simulator_at_every_arrival(
    name: str, threshold: float, moments: str, observations: int
) -> None:
    """Worlds are replayed: `needed` of the deployments at hand is the number that the simulator compared."""
    drawn = world.draw_world(CLUSTER, 800.0, 21, observations=observations)
    run = run_policy(CLUSTER, drawn, AdmissionPolicy(name, threshold, moments, tolerance=0.0), 800.0)
    judged, differ = 0, 0
    for d, tenants, arrival in tenants_at_arrivals(drawn, run):
        if np.isnan(run.needed[d]):
            continue
        number = getattr(needed(CLUSTER, tenants, arrival, moments=moments, depth=outlook.DEPTH), name)
        assert number == pytest.approx(run.needed[d], rel=1e-9, abs=1e-15)
        fits = sum(one.cores for one in tenants) + arrival.cores <= CLUSTER.capacity
        differ += bool((number < threshold and fits) != run.admitted_ones[d])
        judged += 1
    assert differ == 0
    assert judged > 100
    assert 10 < run.admitted_ones.sum() < len(drawn.arrival) - 10


@pytest.mark.slow
def test_control_a_decision_by_priors_alone_differs() -> None:
    drawn = world.draw_world(CLUSTER, 1200.0, 21)
    run = run_policy(CLUSTER, drawn, AdmissionPolicy("second", 0.15, tolerance=0.0), 1200.0)
    pairs = [
        (needed(CLUSTER, [Tenant(one.cores) for one in tenants], Tenant(arrival.cores)).second, run.needed[d])
        for d, tenants, arrival in tenants_at_arrivals(drawn, run)
        if not np.isnan(run.needed[d])
    ]
    by_priors, by_posteriors = np.array(pairs).T
    assert np.mean((by_priors < 0.15) != (by_posteriors < 0.15)) > 0.05
