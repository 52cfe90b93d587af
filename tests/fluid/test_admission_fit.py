"""Priors from logs: the likelihood against quadrature, laws that are found again, and laws that are not the log's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import chi2

from examples.tenant_log import rows_of
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Priors
from fluid.admission.simulation.world import World, draw_world
from fluid.admission.study import estimation, goodness
from fluid.admission.study.estimation import GammaPoisson, fit_log, fit_priors, log_likelihood
from fluid.admission.study.goodness import goodness_of_fit
from fluid.admission.study.tenant_log import read_tenant_log, state_csv
from fluid.admission.study.watched import TenantLog, Watched, watched

TRUTH = Priors(Gamma(2.0, 4.0), Gamma(1.5, 1.0), Gamma(1.2, 0.6), 0.9, 0.15)
HOURS = 60.0

ONE = np.array([1, 5, 0, 12, 3, 0])
SEEN = Watched(
    ONE, np.array([0.4, 30.0, 2.0, 11.0, 3.0, 0.0]), np.array([0.4, 9.0, 2.0, 4.0, 1.5, 0.0]),
    np.array([0, 4, 0, 9, 1, 0]), np.array([0, 7, 2, 30, 0, 0]), np.array([0, 4, 1, 9, 1, 0]),
    np.array([False, True, True, False, False, False]), np.array([True, False, False, False, True, False]),
)  # fmt: skip


def by_quadrature(p: Priors, i: int) -> float:
    """Integrate the likelihood of one deployment over lambda, then over log mu, adaptively."""
    k, m = int(SEEN.core_deaths[i]), int(SEEN.scale_outs[i])
    core, alive = float(SEEN.core_time[i]), float(SEEN.alive_time[i])
    ended = p.delta if SEEN.shut[i] else 1 + p.delta if SEEN.alone[i] else 1.0

    def density(law: Gamma, log_x: float) -> float:  # of log x
        from math import lgamma

        return np.exp(law.shape * (np.log(law.rate) + log_x) - law.rate * np.exp(log_x) - lgamma(law.shape))

    def given_mu(log_mu: float) -> float:
        mu = np.exp(log_mu)

        def inside(log_lam: float) -> float:
            rate = np.exp(log_lam) * mu**p.kappa
            return density(p.lam, log_lam) * rate**m * np.exp(-rate * alive)

        over = quad(inside, -60, 6, limit=400, epsabs=0, epsrel=1e-10, points=[-8, -3, 0, 2])[0]
        return density(p.mu, log_mu) * mu ** (k + SEEN.shut[i]) * np.exp(-mu * core - p.delta * mu * alive) * over

    return float(np.log(ended * quad(given_mu, -70, 8, limit=400, epsabs=0, epsrel=1e-9, points=[-8, -3, 0, 2])[0]))


@pytest.mark.parametrize("i", range(6))
@pytest.mark.parametrize("priors", [TRUTH, Priors(Gamma(0.4, 0.7), Gamma(3.0, 2.0), Gamma(1, 1), -0.8, 0.5)])
def test_the_likelihood_is_that_of_quadrature(priors: Priors, i: int) -> None:
    """Two integrals, adaptively, against one sum over nodes: shapes of 0.4 and kappa of -0.8 have long tails."""
    assert log_likelihood(priors, SEEN.only(np.array([i]))) == pytest.approx(by_quadrature(priors, i), abs=1e-6)


@pytest.mark.parametrize("i", [2, 5])
def test_the_likelihood_of_laws_without_end(i: int) -> None:
    """Shapes of 1e-4 and 1e-3: the density of log mu falls over 60,000 units, far beyond floats of mu, and counts."""
    p = Priors(Gamma(1e-4, 1.0), Gamma(1e-3, 1.0), Gamma(1, 1), -0.5, 0.1)
    seen = replace(SEEN, scale_outs=np.zeros(6, np.int64), shut=np.zeros(6, bool), alone=np.zeros(6, bool))
    one = seen.only(np.array([i]))
    core, alive, shape = float(one.core_time[0]), float(one.alive_time[0]), p.lam.shape
    s, h = np.arange(-600_000.0, 12.0, 0.1), 0.1
    base = np.logaddexp(0.0, np.log(alive) - 0.5 * s) if alive else 0.0
    level = p.mu.shape * s - (1 + core + 0.1 * alive) * np.exp(s) - shape * base
    whole = np.log(np.exp(level - level.max()).sum() * h) + level.max()
    assert log_likelihood(p, one) == pytest.approx(whole - gammaln(p.mu.shape), abs=1e-7)


def test_gradients_are_those_of_differences() -> None:
    p = Priors(Gamma(0.7, 1.3), Gamma(2.0, 0.8), Gamma(1, 1), 1.4, 0.3)

    def value(v: np.ndarray) -> float:
        e = np.exp(v)
        return log_likelihood(Priors(Gamma(e[0], e[1]), Gamma(e[2], e[3]), p.sigma, float(v[4]), e[5]), SEEN)

    at = np.array([*np.log([0.7, 1.3, 2.0, 0.8]), 1.4, np.log(0.3)])
    step = 1e-5 * np.eye(6)
    differences = [(value(at + row) - value(at - row)) / 2e-5 for row in step]
    assert estimation._likelihood_and_score(p, SEEN)[1] == pytest.approx(differences, abs=1e-6)
    counts = GammaPoisson(np.array([0, 3, 9]), np.array([1.0, 2.0, 0.5]))
    laws = [[Gamma(2 * np.exp(s), 3.0), Gamma(2.0, 3 * np.exp(s))] for s in (-1e-5, 1e-5)]
    ends = [[counts.log_likelihood(law) for law in pair] for pair in laws]
    assert counts.value_and_score(Gamma(2.0, 3.0))[1] == pytest.approx((np.array(ends[1]) - ends[0]) / 2e-5, abs=1e-6)


def written(path: Path, world: World, hours: float = HOURS) -> Path:
    """Write a log of VMs in seconds, to the microsecond, rows in no order."""
    rows = rows_of(world, hours)
    order = np.random.default_rng(0).permutation(len(rows))
    lines = [
        f"{rows[i][0]},{rows[i][1] * 3600:.6f},{'' if rows[i][2] is None else f'{rows[i][2] * 3600:.6f}'}"
        for i in order
    ]
    path.write_text("tenant,start,end\n" + "\n".join(lines) + "\n")
    return path


def world_of(seed: int, priors: Priors = TRUTH, rate: float = 10.0) -> World:
    return draw_world(AdmissionCluster(10**9, rate, priors), HOURS, seed)


def log_of(path: Path, world: World) -> TenantLog:
    hours = HOURS - float(world.arrival[0])
    return read_tenant_log(written(path, world), end=repr(hours))


def test_a_log_of_vms_says_what_happened(tmp_path: Path) -> None:
    """Every sum of every deployment; a shutdown with one core left is read as the end of that core."""
    world = world_of(3)
    truth, log = watched(world, HOURS, initial_counts=False), log_of(tmp_path / "log.csv", world)
    seen = log.seen
    # the rows have the deployments in no order; they are taken in the order of their first rows
    order = np.argsort(log.arrival)
    assert np.allclose(log.arrival[order], world.arrival - world.arrival[0], atol=1e-8)
    active = log.initial[order] + truth.sizes + truth.extra_cores - truth.core_deaths
    last_alone = truth.shut & (active == 1)
    assert last_alone.any()
    gone = ~truth.shut & (active == 0)
    assert np.array_equal(log.initial[order], world.size[world.first])
    assert np.array_equal(seen.core_deaths[order], truth.core_deaths + last_alone)
    assert np.array_equal(seen.shut[order], truth.shut & ~last_alone)
    assert np.array_equal(seen.alone[order], last_alone | gone)
    for name in ("scale_outs", "extra_cores", "sizes"):
        assert np.array_equal(getattr(seen, name)[order], getattr(truth, name)), name
    for name in ("core_time", "alive_time"):
        assert np.allclose(getattr(seen, name)[order], getattr(truth, name), atol=1e-5), name
    assert np.array_equal(log.cores[order] > 0, ~truth.shut & ~gone)
    assert np.array_equal(log.cores[order], np.where(truth.shut, 0, active))


@pytest.mark.slow
def test_a_log_of_deployments_is_fitted_as_one_of_vms(tmp_path: Path) -> None:
    """Sums of the same world; which shutdowns had one core left is known there, so laws are nearly the same."""
    world = world_of(3)
    truth, by_vms = watched(world, HOURS, initial_counts=False), log_of(tmp_path / "log.csv", world)
    initial = world.size[world.first]
    gone = truth.shut | (initial + truth.sizes + truth.extra_cores == truth.core_deaths)
    rows = [
        f"{a * 3600:.6f},{f'{(a + t) * 3600:.6f}' if over else ''},{c},{m},{m + x},{k},{core:.9f}"
        for a, t, over, c, m, x, k, core in zip(
            world.arrival, truth.alive_time, gone, initial, truth.scale_outs, truth.extra_cores, truth.core_deaths,
            truth.core_time, strict=True,
        )
    ]  # fmt: skip
    path = tmp_path / "sums.csv"
    path.write_text("arrival,end,cores,scale_outs,added_cores,core_deaths,core_hours\n" + "\n".join(rows) + "\n")
    log = read_tenant_log(path, end=repr(HOURS - float(world.arrival[0])))
    assert np.array_equal(log.seen.shut, truth.shut)
    assert np.allclose(log.seen.core_time, truth.core_time, atol=1e-6)
    assert np.allclose(log.seen.alive_time, truth.alive_time, atol=1e-6)
    states = [state_csv(by_deployments, is_poisson=True).splitlines()[1:] for by_deployments in (log, by_vms)]
    # names differ; of a deployment that is there now, both say the same
    numbers = [sorted([float(x) for x in line.split(",")[1:]] for line in lines) for lines in states]
    assert np.allclose(*numbers, atol=1e-5)
    by_deployments, other = fit_log(log), fit_log(by_vms)
    apart = [
        (x[0] - y[0]) / y[1]
        for x, y in zip(by_deployments.estimates().values(), other.estimates().values(), strict=True)
    ]
    assert np.abs(apart).max() < 1.0, "in standard errors"


SEEDS = range(100, 106)


@pytest.mark.slow
def test_known_laws_are_found_again_within_their_standard_errors(tmp_path: Path) -> None:
    """Six logs of some 600 deployments: 48 numbers within 4 standard errors (level 0.3 %, were they normal).

    The distances of all logs, measured by their covariances, have the law of chi-square with 48 degrees of freedom:
    between its quantiles at 5e-7 on both sides, so that standard errors are neither too small nor too large. The
    control: with covariances four times too large or too small they are outside.
    """
    p = TRUTH
    truth = np.log(
        [p.mu.shape, p.mu.rate, p.lam.shape, p.lam.rate, np.exp(p.kappa), p.delta, p.sigma.shape, p.sigma.rate]
    )
    total = 0.0
    for seed in SEEDS:
        fitted = fit_log(log_of(tmp_path / "log.csv", world_of(seed)))
        assert fitted.converged
        estimates = np.array([x if name == "kappa" else np.log(x) for name, (x, *_) in fitted.estimates().items()])
        errors = np.sqrt(np.diag(fitted.covariance))
        assert np.abs((estimates - truth) / errors).max() < 4
        total += (estimates - truth) @ np.linalg.solve(fitted.covariance, estimates - truth)
    low, high = chi2.ppf([5e-7, 1 - 5e-7], 8 * len(SEEDS))
    assert low < total < high
    assert total * 4 > high
    assert total / 4 < low


@pytest.mark.slow
def test_the_order_of_deployments_and_the_unit_of_time_do_not_matter() -> None:
    """In other hours h = c hours', mu and its rate scale by c, and lambda's rate by c^(1 - kappa)."""
    seen = watched(world_of(5), HOURS)
    fitted = fit_priors(seen)
    mixed = fit_priors(seen.only(np.random.default_rng(1).permutation(len(seen.core_deaths))))
    c = 3600.0
    scaled = fit_priors(replace(seen, core_time=seen.core_time * c, alive_time=seen.alive_time * c))
    p, q = fitted.priors, scaled.priors
    first = [p.mu.shape, p.mu.rate * c, p.lam.shape, p.lam.rate * c ** (1 - p.kappa), p.kappa, p.delta]
    assert [q.mu.shape, q.mu.rate, q.lam.shape, q.lam.rate, q.kappa, q.delta] == pytest.approx(first, rel=2e-4)
    assert [x for x, *_ in mixed.estimates().values()] == pytest.approx(
        [x for x, *_ in fitted.estimates().values()], rel=2e-4
    )
    # kappa's error does not depend on the unit; that of log mu.rate neither
    assert np.sqrt(np.diag(scaled.covariance))[[0, 1, 4, 5]] == pytest.approx(
        np.sqrt(np.diag(fitted.covariance))[[0, 1, 4, 5]], rel=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("from_first", [True, False])
def test_simulated_logs_arrive_as_a_poisson_process(from_first: bool) -> None:
    """Of n arrivals in [0, 1] the first gap has mean 1 / (n + 1), and 1 / n where the first begins the watch."""
    n, cluster = 3, AdmissionCluster(100, 1.0, TRUTH)
    none, zeros = np.zeros(n, np.int64), np.zeros(n)
    log = TenantLog(zeros, none, Watched(none, zeros, zeros, none, none, none, none > 0), zeros, 1.0, from_first)
    gaps = [
        np.diff(goodness.simulated_log(cluster, log, seed).arrival[:2])
        for seed in np.random.SeedSequence(7).spawn(1500)
    ]
    mean = 1 / n if from_first else 1 / (n + 1)
    # the variance of a gap is below its mean squared, so six standard errors are a false alarm of 1e-8
    assert np.mean(gaps) == pytest.approx(mean, abs=6 * mean / np.sqrt(len(gaps)))


@pytest.mark.slow
def test_goodness_of_fit(tmp_path: Path) -> None:
    """Four logs of the model: 24 p-values of at most 0.05 come more than 12 times with probability below 1e-8, were
    they independent; they are too large. The controls: lifetimes that are all alike, tenants that arrive together, and
    scale-outs that are always of 9 cores.
    """  # noqa: D205
    few = 0
    for seed in range(4):
        log = log_of(tmp_path / "log.csv", world_of(seed, rate=4.0))
        cluster = AdmissionCluster(10**9, 1.0, fit_log(log).priors)
        few += sum(one.p_value <= 0.05 for one in goodness_of_fit(cluster, log, replications=19, seed=seed))
    assert few <= 12

    def p_values(log: TenantLog) -> dict[str, float]:
        cluster = AdmissionCluster(10**9, 1.0, fit_log(log).priors)
        return {one.name: one.p_value for one in goodness_of_fit(cluster, log, replications=99)}

    together = replace(log, arrival=np.floor(log.arrival / 8) * 8)
    assert p_values(together)["gap"] == 0.01
    seen = log.seen
    alike = replace(log, seen=replace(seen, extra_cores=8 * seen.sizes))
    assert p_values(alike)["batch"] == 0.01
    # every core lasts exactly two hours, and the deployment as long as the last of them
    old = np.clip(seen.alive_time, 2.0, None)
    cores = log.initial + seen.sizes + seen.extra_cores
    fixed = replace(seen, core_deaths=cores, core_time=2.0 * cores, alive_time=old)
    assert p_values(replace(log, seen=fixed, core_hours=2.0 * cores))["core"] == 0.01


def log_of_other_laws(path: Path, change: str) -> TenantLog:
    """Simulate 500 tenants of `TRUTH` VM by VM, with one law changed, and read them as a log."""
    rng = np.random.default_rng(0)
    lines = ["tenant,start,end"]
    for i, begin in enumerate(HOURS * rng.random(500)):
        mu, sigma = rng.gamma(TRUTH.mu.shape, 1 / TRUTH.mu.rate), rng.gamma(TRUTH.sigma.shape, 1 / TRUTH.sigma.rate)
        rate = rng.gamma(TRUTH.lam.shape, 1 / TRUTH.lam.rate) * mu**TRUTH.kappa
        size = rng.choice([1, 7]) if change == "initial" else 1 + rng.poisson(sigma)
        over = begin + (8.0 if change == "alive" else rng.exponential(1 / (TRUTH.delta * mu)))
        gaps = np.full(4, 0.1) if change == "scale_outs" else rng.exponential(1 / rate, 200)
        starts = np.full(size, begin)
        ends = starts + rng.exponential(1 / mu, size)
        for ask in begin + np.cumsum(gaps):
            if ask > min(ends.max(), over, HOURS):
                break
            more = np.full(1 + rng.poisson(sigma), ask)
            starts, ends = np.append(starts, more), np.append(ends, more + rng.exponential(1 / mu, len(more)))
        for start, end in zip(starts, np.minimum(ends, over), strict=True):
            lines.append(f"{i},{start * 3600:.6f},{f'{end * 3600:.6f}' if end <= HOURS else ''}")
    path.write_text("\n".join(lines) + "\n")
    return read_tenant_log(path)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["initial", "scale_outs", "alive"])
def test_a_log_of_other_laws_is_noticed(change: str, tmp_path: Path) -> None:
    """Initial sizes of 1 or 7, scale-outs at most four times and every six minutes, shutdowns after eight hours each.

    No law of the model is like that, so the log is farther from the fitted laws than all of 99 simulated logs.
    """
    log = log_of_other_laws(tmp_path / "log.csv", change)
    cluster = AdmissionCluster(10**9, 1.0, fit_log(log).priors)
    p_values = {one.name: one.p_value for one in goodness_of_fit(cluster, log, replications=99)}
    assert p_values[change] == 0.01


def test_vms_are_gathered_as_by_hand(tmp_path: Path) -> None:
    """Two VMs at once, a third a second later; a return after a gap; a shutdown of two; 4 cores; an open row."""
    rows = [
        "a,2026-01-01T00:00:00Z,2026-01-01T04:00:00Z,1",
        "a,2026-01-01T00:00:00Z,2026-01-01T02:00:00Z,1",
        "a,2026-01-01T00:00:01Z,2026-01-01T04:00:00Z,2",
        "b,2026-01-01T01:00:00Z,2026-01-01T03:00:00Z,4",
        "b,2026-01-01T05:00:00Z,,1",
        "c,2025-12-31T00:00:00Z,2026-01-01T06:00:00Z,8",
        "d,2026-01-01T09:00:00Z,2026-01-01T10:00:00Z,1",
    ]
    path = tmp_path / "log.csv"
    path.write_text("app,begin,finish,vcpus\n" + "\n".join(rows) + "\n")
    columns = {"arrival": "begin", "end": "finish"}
    how = {"columns": columns, "begin": "2026-01-01T00:00:00Z", "end": "2026-01-01T08:00:00Z"}
    log = read_tenant_log(path, **how)
    assert log.watch == 8
    assert not log.from_first
    assert log.arrival.tolist() == [0, 1, 5], "c was there before, d comes later"
    assert log.initial.tolist() == [2, 4, 1]
    assert log.seen.scale_outs.tolist() == [1, 0, 0]
    assert log.seen.extra_cores.tolist() == [1, 0, 0]
    assert log.seen.shut.tolist() == [True, False, False]
    assert log.seen.alone.tolist() == [False, True, False]
    assert log.seen.core_deaths.tolist() == [1, 1, 0]
    assert log.seen.core_time == pytest.approx([10 - 1 / 3600, 2, 3])
    assert log.core_hours == pytest.approx([14 - 2 / 3600, 8, 3])
    assert log.cores.tolist() == [0, 0, 1]
    assert log.most_cores == 16
    assert any("returned" in note for note in log.notes)
    assert state_csv(log, is_poisson=True).splitlines() == [
        "name,cores,core_deaths,core_time,alive_time,scale_outs,extra_cores,sizes", "b,1,0,3,3,0,0,1"
    ]  # fmt: skip
    everybody = read_tenant_log(path, columns=columns, end="2026-01-01T01:30:00Z")
    assert [line.split(",")[:2] for line in state_csv(everybody, is_poisson=False).splitlines()[1:]] == [
        ["a", "4"], ["b", "4"], ["c", "8"]
    ]  # fmt: skip
    near = read_tenant_log(path, **how, together=1.0, least=3)
    assert near.initial.tolist() == [4, 4, 1]
    assert near.seen.shut.tolist() == [False] * 3
    assert near.seen.core_deaths.tolist() == [3, 1, 0]
