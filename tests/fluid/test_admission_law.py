"""Moments, laws and beliefs of deployments against symbols, quadrature and simulated deployments."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.results.admission.moments import SHARP
from fluid.admission.law import absorption as renewal
from fluid.admission.law.belief import Observed, exact_belief, plug_in_belief
from fluid.admission.law.cluster import Gamma, Priors, moment_of_power, printed_horizons
from fluid.admission.law.mixture import mixed_law
from fluid.admission.law.moments import (
    belief_moments,
    composed_moments,
    constituents,
    first_difference,
    joint_moments,
    second_difference,
)
from fluid.admission.law.size_law import given_law, parameters_law
from fluid.admission.simulation.outlook import aligned_horizons
from theory.errors import InputError

WORKED = Priors(Gamma(3, 2), Gamma(2, 4), Gamma(1.5, 1), 0.8, 0.2)
"""Priors of an example that was worked by hand and by other programs."""

ABSOLUTE, RELATIVE = 2e-4, 2e-3
"""What two quadratures of wide laws may differ by, beside the error that is stated."""

STAND_IN = Priors(Gamma(0.542, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), 1.145, 0.0537)


def test_worked_example() -> None:
    made = constituents(WORKED, 4, 1.7)
    table = {
        "X": (1.14584, 2.22482),
        "S": (2.5, 3.0),
        "O": (0.63175, 0.84231),
        "O_paper": (0.63175, 0.53197),
        "N": (0.98863, 3.37636),
        "N_paper": (0.98863, 2.92787),
        "M": (0.62437, 0.23453),
    }
    for name, (mean, variance) in table.items():
        found = getattr(made, name)
        assert (round(found.mean, 5), round(found.variance, 5)) == (mean, variance), name
    assert round(made.D.mean, 5) == 0.89248
    joint, paper = joint_moments(WORKED, 4, 1.7), composed_moments(WORKED, 4, 1.7)
    assert (round(joint.mean, 5), round(joint.variance, 5)) == (1.09269, 3.32809)
    assert (round(paper.mean, 5), round(paper.variance, 5)) == (0.90294, 2.57577)
    exact = renewal.exact_moments(WORKED, 4, 1.7)
    assert (round(exact.mean, 5), round(exact.alive, 6)) == (0.94419, 0.367544)
    assert abs(exact.variance - 3.05721) < 1e-5
    assert round(100 * (1 - paper.variance / exact.variance), 1) == 15.7
    half = composed_moments(WORKED, 4, 1.7, exact_new_cores=True)
    assert round(100 * (1 - half.variance / exact.variance), 1) == 7.6


def test_printed_factors_differ_from_the_exact_mean_of_new_cores() -> None:
    made = constituents(WORKED, 4, 1.7)
    assert round(made.X.mean * made.S.mean * made.new_core.mean, 3) == 1.193
    assert round(made.N.mean, 3) == 0.989


@pytest.mark.slow
def test_differences_by_symbols() -> None:
    import sympy

    mu, alpha, beta, a, low = sympy.symbols("mu alpha beta a low", positive=True)
    density = beta**alpha / sympy.gamma(alpha) * mu ** (alpha - 1) * sympy.exp(-beta * mu)
    power = sympy.integrate(density * mu**a * sympy.exp(-low * mu), (mu, 0, sympy.oo), conds="none")
    values = {alpha: sympy.Rational(7, 3), beta: 2, a: sympy.Rational(4, 5), low: sympy.Rational(1, 2)}
    law = Gamma(7 / 3, 2)
    assert abs(float(power.subs(values)) - moment_of_power(law, 0.8, 0.5)) < 1e-14
    for exponent in (-3.2, -7 / 3 - 1e-9, -2.9, -2.0, 0.4):  # beyond the pole, beside it, before it
        for s, d in ((0.0, 1e-9), (0.3, 1e-4), (0.0, 3.0), (2.0, 500.0)):

            def continued(x: float, c: float = exponent) -> sympy.Expr:
                shape = sympy.Float(law.shape, 60) + sympy.Float(c, 60)
                return (
                    sympy.gamma(shape) / sympy.gamma(sympy.Float(law.shape, 60)) * sympy.Float(2, 60) ** law.shape
                ) * (2 + sympy.Float(x, 60)) ** (-shape)

            first = float(sympy.N(continued(s) - continued(s + d), 50))
            assert first_difference(law, exponent, s, s + d) == pytest.approx(first, rel=3e-7 if d < 1e-5 else 1e-11)
            two = continued(s) - 2 * continued(sympy.Float(s, 60) + sympy.Float(d, 60))
            two += continued(sympy.Float(s, 60) + 2 * sympy.Float(d, 60))
            assert second_difference(law, exponent, s, d) == pytest.approx(float(sympy.N(two, 50)), rel=1e-11)


@pytest.mark.slow
def test_conditional_moments_by_symbols() -> None:
    """The batch-thinning moments of N, from the generating function of a compound Poisson process."""
    import sympy

    lam, sigma, m, t, s, z = sympy.symbols("lambda sigma mu t s z", positive=True)
    p = sympy.exp(-m * s)
    q = p * (1 - z)
    one = (1 - q) * sympy.exp(-sigma * q)  # generating function of the cores that are active of one scale-out
    rate = sympy.diff(one, z).subs(z, 1)
    twice = sympy.diff(one, z, 2).subs(z, 1)
    mean = sympy.integrate(sympy.expand(sympy.simplify(rate)), (s, 0, t)) * lam
    factorial = sympy.integrate(sympy.expand(sympy.simplify(twice)), (s, 0, t)) * lam
    assert sympy.simplify(mean - lam * (1 + sigma) * (1 - sympy.exp(-m * t)) / m) == 0
    assert sympy.simplify(factorial - lam * (sigma**2 + 2 * sigma) * (1 - sympy.exp(-2 * m * t)) / (2 * m)) == 0


@settings(max_examples=40, deadline=None)
@given(
    shape=st.floats(0.3, 8),
    rate=st.floats(0.05, 20),
    kappa=st.floats(0.0, 2.5),
    delta=st.floats(0, 2),
    size=st.integers(1, 300),
    log_t=st.floats(-6, 5),
)
def test_closed_forms_are_quadratures(
    shape: float, rate: float, kappa: float, delta: float, size: int, log_t: float
) -> None:
    priors = Priors(Gamma(shape, rate), Gamma(0.8, 0.4), Gamma(0.4, 0.05), kappa, delta)
    t = 10**log_t
    closed, summed = joint_moments(priors, size, t), belief_moments(exact_belief(priors, Observed()), size, t)
    assert closed.mean == pytest.approx(summed.mean, rel=1e-9)
    assert closed.variance == pytest.approx(summed.variance, rel=1e-6, abs=1e-9 * (1 + closed.mean**2))


@pytest.mark.parametrize("priors", [WORKED, STAND_IN, SHARP])
def test_joint_moments_are_those_of_a_belief_that_saw_nothing(priors: Priors) -> None:
    """And not with a rate for a scale, or with mu in the place of mu^kappa."""
    scale = replace(priors, mu=Gamma(priors.mu.shape, 1 / priors.mu.rate))
    for size, t in product((1, 4, 20), (0.3, 1.7, 24.0)):
        summed = belief_moments(exact_belief(priors, Observed()), size, t)
        expected = pytest.approx((summed.mean, summed.variance), rel=1e-7)
        closed, *wrong = (joint_moments(law, size, t) for law in (priors, scale, replace(priors, kappa=1.0)))
        assert (closed.mean, closed.variance) == expected
        assert all((one.mean, one.variance) != expected for one in wrong)


def test_renewal_is_uniformisation() -> None:
    """Two exact methods that share no formula agree where the parameters are given."""
    for mu, lam, sigma, size, t in ((1.3, 0.7, 2.0, 3, 1.7), (0.2, 4.0, 0.0, 1, 9.0), (2.0, 0.1, 9.0, 12, 0.8)):
        law = parameters_law(WORKED, mu, lam, sigma, size, t)
        assert law.left_out < 1e-11
        table = renewal.first_visits(np.array([lam * mu**-0.2]), np.array([sigma]), size, mu * t, 1200)
        alive, mean, second = renewal._sizes_given(table, np.array([mu * t]))[:, 0, 0] * np.exp(-0.2 * mu * t)
        assert alive == pytest.approx(1 - law.zero, abs=1e-8)
        assert mean == pytest.approx(law.mean, rel=1e-8)
        assert second - mean**2 == pytest.approx(law.variance, rel=1e-7)


@pytest.mark.parametrize(("r", "sigma", "size", "t"), [(31.0, 0.5, 1, 0.5), (31.0, 2.0, 3, 0.2), (200.0, 0.3, 1, 0.05)])
def test_renewal_with_fast_scale_outs_is_uniformisation(r: float, sigma: float, size: int, t: float) -> None:
    """Rates r at which exp(-r tau) underflows within the range: death before growth, on a grid of its own."""
    law = parameters_law(WORKED, 1.0, r, sigma, size, t)
    visits = renewal.first_visits(np.array([r]), np.array([sigma]), size, t, 200)
    alive, mean = renewal._sizes_given(visits, np.array([t]))[:2, 0, 0] * np.exp(-WORKED.delta * t)
    assert alive == pytest.approx(1 - law.zero, abs=1e-8)
    assert mean == pytest.approx(law.mean, rel=1e-7)
    endless = renewal.first_visits(np.array([r, 1e6, 1e12]), np.full(3, sigma), size, renewal.RANGE, 200)
    assert visits.absorbed[0, -1] <= endless.absorbed[0, -1] < 1.1 * visits.absorbed[0, -1], "death comes soon or never"
    assert np.all(np.diff(endless.absorbed[:, -1]) <= 0)
    assert endless.absorbed[2, -1] == 0


def test_pairs_are_solved_together_as_each_alone() -> None:
    """Slow, fast and endless scale-outs of several sizes, in no order."""
    pairs = np.array(list(product((0.4, 31.0, 700.0, 1e10, 25.0), (2.0, 0.0, 0.3))))
    r, sigma = np.random.default_rng(1).permutation(pairs).T
    together = renewal.first_visits(r, sigma, 2, renewal.RANGE, 60)
    for i in range(len(r)):
        alone = renewal.first_visits(r[i : i + 1], sigma[i : i + 1], 2, renewal.RANGE, 60)
        for name in ("absorbed", "first", "second"):
            assert getattr(together, name)[i] == pytest.approx(getattr(alone, name)[0], rel=1e-9, abs=1e-12), name


def nodes_of(law: Gamma, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Equally spaced nodes of the logarithm, and their weights."""
    from scipy.special import gammainccinv, gammaincinv

    s = np.linspace(np.log(max(gammaincinv(law.shape, 1e-7), 1e-30)), np.log(gammainccinv(law.shape, 1e-9)), count)
    weight = np.exp(law.shape * s - np.exp(s))
    return np.exp(s) / law.rate, weight / weight.sum()


@pytest.mark.soak
@pytest.mark.parametrize("kappa", [-0.1, 0.5])
def test_exact_moments_are_quadratures(kappa: float) -> None:
    """Laws by a quadrature of their own: every mu has its own rates, times and first visits."""
    shape, t = 0.3, 24.0
    priors = Priors(Gamma(shape, 6 * shape), Gamma(2, 4), Gamma(60, 30), kappa, 0.05)
    exact = renewal.exact_moments(priors, 4, t)
    (mus, of_mu), (lams, of_lam), (sigmas, of_sigma) = (
        nodes_of(law, count) for law, count in ((priors.mu, 80), (priors.lam, 24), (priors.sigma, 8))
    )
    total = np.zeros(2)
    for mu, weight in zip(mus, of_mu, strict=True):
        r, sigma = np.repeat(lams * mu ** (kappa - 1), len(sigmas)), np.tile(sigmas, len(lams))
        visits = renewal.first_visits(r, sigma, 4, float(min(renewal.RANGE, mu * t)), 40)
        at_mu = renewal._sizes_given(visits, np.array([mu * t]))[:2, :, 0] @ np.outer(of_lam, of_sigma).ravel()
        total += weight * np.exp(-priors.delta * mu * t) * at_mu
    assert exact.alive == pytest.approx(total[0], abs=ABSOLUTE + exact.error)
    assert exact.mean == pytest.approx(total[1], rel=RELATIVE, abs=ABSOLUTE + exact.error)


SHAPES, KAPPAS, TIMES = (0.3, 1.0, 5.0), (0.0, 0.5, 1.0, 2.5), (0.1, 26280.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "kappa", "t"),
    [
        # where the places add up to an odd number: every pair of values stands there; the other twelve in `make soak`
        pytest.param(SHAPES[i], KAPPAS[k], TIMES[n], marks=[] if (i + k + n) % 2 else pytest.mark.soak)
        for i, k, n in product(range(3), range(4), range(2))
    ],
)
def test_exact_moments_answer_on_a_grid_of_priors(shape: float, kappa: float, t: float) -> None:
    """A coarse quadrature on every prior: numbers that laws of sizes can have, below those of M (O + N)."""
    priors = Priors(Gamma(shape, 6 * shape), Gamma(0.8, 0.4), Gamma(0.4, 0.05), kappa, 0.05)
    exact, above = renewal.exact_moments(priors, 4, t, work=4_000_000), joint_moments(priors, 4, t)
    slack = exact.error * (1 + above.mean) + 1e-9
    assert -slack <= exact.alive <= 1 + slack
    assert exact.alive - slack <= exact.mean <= above.mean + slack, "a living deployment has a core"
    assert exact.error < 0.05


def test_laws_that_would_take_gigabytes_are_refused() -> None:
    priors = Priors(Gamma(0.001, 1.0), Gamma(0.8, 0.4), Gamma(0.4, 0.05), -1.0, 0.05)
    with pytest.raises(InputError, match="shape"):
        renewal.exact_moments(priors, 4, 24.0)
    steep = Priors(Gamma(0.5, 3.0), Gamma(0.8, 0.4), Gamma(0.4, 0.05), 99.0, 0.05)
    with pytest.raises(InputError, match="kappa"):
        renewal.exact_moments(steep, 4, 24.0)


def test_law_of_pure_death_is_binomial() -> None:
    from scipy.stats import binom

    law = given_law(0.7, 0.0, 0.0, (1, np.ones(1)), 6, 0.9)
    assert np.allclose(law.probability[:7], binom.pmf(np.arange(7), 6, np.exp(-0.63)), atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.05, pytest.param(1.7, marks=pytest.mark.soak), 24.0])  # at 1.7 simulated, too
def test_mixed_law_has_the_exact_moments(t: float) -> None:
    law, exact = mixed_law(WORKED, 4, t), renewal.exact_moments(WORKED, 4, t)
    assert abs(1 - law.zero - exact.alive) < law.error + law.left_out + exact.error
    assert law.mean == pytest.approx(exact.mean, abs=1e-5)
    assert law.tails[0] == pytest.approx(1.0, abs=1e-6)
    assert law.error < 1e-5


@pytest.mark.soak
@pytest.mark.parametrize(("mu", "size", "t"), [(Gamma(100, 50), 3, 1.2), (Gamma(100, 10), 2, 4.0)])
def test_mixed_law_is_an_average_of_given_laws(mu: Gamma, size: int, t: float) -> None:
    """Uniformisation at the nodes of Gauss's rules for narrow laws shares neither transform nor renewal equation.

    The second case lies far beyond the range of the renewal equation, in which 40 core lifetimes pass on average.
    """
    from scipy.special import roots_genlaguerre

    priors = Priors(mu, Gamma(90, 60), Gamma(100, 40), 1.3, 1e-3)
    law = mixed_law(priors, size, t)
    rules = []
    for one, count in ((priors.mu, 6), (priors.lam, 6), (priors.sigma, 4)):
        x, w = roots_genlaguerre(count, one.shape - 1)
        rules.append((x / one.rate, w / w.sum()))
    tails = np.zeros(len(law.tails))
    for m, p in zip(*rules[0], strict=True):
        for lam, q in zip(*rules[1], strict=True):
            for sigma, w in zip(*rules[2], strict=True):
                if p * q * w < 1e-9:
                    continue
                given = parameters_law(priors, m, lam, sigma, size, t)
                n = min(len(tails), len(given.tails))
                tails[:n] += p * q * w * given.tails[:n]
    assert 0.05 < tails[1] < 0.999
    assert np.abs(tails - law.tails).max() < law.error + law.left_out + 3e-6
    assert abs(tails[1] - mixed_law(priors, size + 1, t).tails[1]) > 1e-4, "the control"


@pytest.mark.soak
def test_law_of_a_month_under_wide_priors_by_simulation() -> None:
    """40,000 deployments, event by event; 5.1 standard errors (level 1 - 1e-6) at five sizes."""
    law = mixed_law(STAND_IN, 4, 730.0)
    assert law.error < 1e-4
    assert law.left_out < 1e-6
    sizes = simulated_sizes(STAND_IN, 4, 730.0, 40_000, 20261122)
    for n in (1, 2, 5, 20, 100):
        p = float(law.tails[n])
        assert abs(float((sizes >= n).mean()) - p) < 5.1 * sqrt(p * (1 - p) / len(sizes)) + law.error + law.left_out


def simulated_sizes(priors: Priors, size: int, t: float, runs: int, seed: int, *, absorbed: bool = True) -> np.ndarray:
    """Sizes at time t of independent deployments, event by event, with absorption at 0 or without; shares no code."""
    rng = np.random.default_rng(seed)
    mu = rng.gamma(priors.mu.shape, 1 / priors.mu.rate, runs)
    rate = rng.gamma(priors.lam.shape, 1 / priors.lam.rate, runs) * mu**priors.kappa
    sigma = rng.gamma(priors.sigma.shape, 1 / priors.sigma.rate, runs)
    end = np.minimum(rng.exponential(size=runs) / (priors.delta * mu), 1e300)
    cores, clock = np.full(runs, size), np.zeros(runs)
    alive = np.flatnonzero(end > 0)
    done = np.zeros(runs, int)
    while len(alive):
        speed = cores[alive] * mu[alive] + rate[alive]
        clock[alive] += rng.exponential(size=len(alive)) / speed
        ended = clock[alive] > np.minimum(t, end[alive])
        over = alive[ended]
        done[over] = np.where(end[over] > t, cores[over], 0)
        alive, speed = alive[~ended], speed[~ended]
        death = rng.random(len(alive)) * speed < cores[alive] * mu[alive]
        cores[alive[death]] -= 1
        grow = alive[~death]
        cores[grow] += 1 + rng.poisson(sigma[grow])
        if absorbed:
            alive = alive[cores[alive] > 0]
    return done


@pytest.mark.slow
def test_exact_moments_against_simulated_deployments() -> None:
    """Level 1 - 1e-6 for each of four numbers: 5.1 standard errors (normal, 400,000 runs)."""
    for priors, size, t in ((WORKED, 4, 1.7), (STAND_IN, 2, 24.0)):
        runs = 400_000 if priors is WORKED else 60_000
        sizes = simulated_sizes(priors, size, t, runs, 20260711)
        exact = renewal.exact_moments(priors, size, t)
        for values, theory in (((sizes > 0) * 1.0, exact.alive), (sizes * 1.0, exact.mean)):
            assert abs(values.mean() - theory) < 5.1 * values.std() / sqrt(runs) + exact.error * (1 + theory)
        paper = composed_moments(priors, size, t).mean
        assert abs(sizes.mean() - paper) > 5.1 * sizes.std() / sqrt(runs), "the control: the paper's mean is off"


@pytest.mark.soak
def test_laws_and_moments_against_four_million_deployments() -> None:
    """Ten numbers at a level of 1e-6 together: 5.4 standard errors each (normal).

    Mean, second moment and five tails of Q; mean and second moment of M(O + N), which goes on at 0 cores; and the
    control, that the one process is told from the other.
    """
    runs, size, t = 4_000_000, 4, 1.7
    law, exact = mixed_law(WORKED, size, t), renewal.exact_moments(WORKED, size, t)
    joint = joint_moments(WORKED, size, t)
    sizes = simulated_sizes(WORKED, size, t, runs, 20261123)
    endless = simulated_sizes(WORKED, size, t, runs, 20261124, absorbed=False)

    def apart(values: np.ndarray, theory: float) -> float:
        return abs(float(values.mean()) - theory) / (float(values.std()) / sqrt(runs))

    found = [apart(sizes, exact.mean), apart(sizes**2.0, exact.variance + exact.mean**2), apart(sizes > 0, exact.alive)]
    found += [apart(sizes >= n, float(law.tails[n])) for n in (1, 2, 5, 10, 20)]
    found += [apart(endless, joint.mean), apart(endless**2.0, joint.variance + joint.mean**2)]
    print([round(x, 2) for x in found])
    assert max(found) < 5.4
    assert apart(sizes, joint.mean) > 5.4


def test_belief_by_another_quadrature() -> None:
    from scipy.integrate import quad

    seen = Observed(core_deaths=3, core_time=9.0, alive_time=4.0, scale_outs=2, extra_cores=4, sizes=3)
    found = exact_belief(WORKED, seen)

    def density(mu: float) -> float:
        return mu ** (3 - 1 + 3 + 0.8 * 2) * np.exp(-mu * (2 + 9 + 0.2 * 4)) * (4 + mu**0.8 * 4) ** -(2.0 + 2)

    total, mean, lam = (
        quad(lambda mu, f=f: f(mu) * density(mu), 0, np.inf, epsabs=0, epsrel=1e-12)[0]
        for f in (np.ones_like, lambda mu: mu, lambda mu: 4 / (4 + mu**0.8 * 4))
    )
    assert found.mean_mu == pytest.approx(mean / total, rel=1e-10)
    assert found.mean_lambda == pytest.approx(lam / total, rel=1e-10)
    assert (found.sigma.shape, found.sigma.rate) == (5.5, 4.0)


def test_belief_and_plug_in_of_a_quiet_deployment() -> None:
    seen = Observed(core_time=5.0, alive_time=5.0)
    assert round(exact_belief(WORKED, seen).mean_mu, 3) == 0.313
    assert round(plug_in_belief(WORKED, seen).mu.mean, 3) == 0.429


def test_single_events_add_up() -> None:
    step = Observed(extra_cores=3, sizes=1).quiet(1.0, 4).death(0.5, 4).scale_out(2.0, 3, 5).quiet(1.0, 8)
    assert step == Observed(1, 4.0 + 2.0 + 6.0 + 8.0, 4.5, 1, 7, 2)


def test_beliefs_sharpen_around_the_truth() -> None:
    seen = Observed(core_deaths=20_000, core_time=200_000.0, alive_time=500.0, scale_outs=300, extra_cores=9, sizes=300)
    found = exact_belief(STAND_IN, seen)
    assert found.mean_mu == pytest.approx(0.1, rel=0.03)
    assert found.variance_mu == pytest.approx(0.1**2 / 20_000, rel=0.1)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"core_deaths": 4, "core_time": 9.0, "alive_time": 1.0, "sizes": 1, "extra_cores": 3}, "fewer than the 4"),
        ({"core_time": 1.0, "alive_time": 2.0}, "at least alive_time"),
        ({"scale_outs": 1}, "scale_outs"),
        ({"extra_cores": 1}, "extra_cores"),
        ({"core_deaths": -1}, "core_deaths"),
    ],
)
def test_observations_that_contradict_each_other(values: dict[str, float], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Observed(**values)  # type: ignore[arg-type]


def test_horizons() -> None:
    assert len(printed_horizons()) == len(np.unique(printed_horizons()))
    horizons = aligned_horizons()
    assert horizons[0] == 0.04
    assert horizons[-1] >= 26280
    assert np.allclose(horizons[1:] / horizons[:-1], sqrt(2))
