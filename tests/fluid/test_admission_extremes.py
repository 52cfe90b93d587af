"""Priors far from those of examples: moments and decisions against quadrature, and refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

from bounds.cli import run
from fluid.admission.law.belief import Observed, Tenant, exact_belief
from fluid.admission.law.cluster import AdmissionCluster, Gamma, Priors
from fluid.admission.law.moments import belief_moments, joint_moments
from fluid.admission.law.size_law import parameters_law
from fluid.admission.simulation.decision import Needed, needed
from theory.errors import InputError, TooLargeError

SHAPES = (0.3, 0.542, 1.0, 2.0, 5.0)
KAPPAS = (-1.0, -0.5, -0.25, 0.0, 0.5, 0.9, 1.0, 1.145, 1.5, 2.5)
TIMES = (0.1, 24.0, 730.0, 26280.0)
CORES = 4
INFINITE_MEAN = r"^deployments\.kappa: expected kappa \+ shape of mu greater than 0"
INFINITE_VARIANCE = r"^deployments\.kappa: expected 2 kappa \+ shape of mu greater than 0"


def priors_of(shape: float, kappa: float) -> Priors:
    return Priors(Gamma(shape, 3.163), Gamma(0.799, 0.4125), Gamma(0.404, 0.0513), kappa, 0.0537)


def by_quadrature(p: Priors, t: float) -> tuple[float, float]:
    """Return mean and variance of M (O + N) by Gauss's rule over log mu; both are elementary given mu."""
    a, b = p.mu.shape, p.mu.rate
    # tails: the integrand falls as mu^c towards 0 with c the least of these powers, and as exp(-b mu)
    powers = [a, a + p.kappa] + [a + 2 * p.kappa] * (a + 2 * p.kappa > 0)
    low, high = -np.log(b) - max(60.0, 60 / min(powers)), np.log((400 + 3 * a) / b)
    edges = np.linspace(low, high, 3001)
    x, w = np.polynomial.legendre.leggauss(8)
    s = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + x) / 2).ravel()
    weight = (np.diff(edges)[:, None] / 2 * w).ravel() * np.exp(a * np.log(b) - gammaln(a) + a * s - b * np.exp(s))
    mu = np.exp(s)
    stays, gone, gone_twice = np.exp(-mu * t), -np.expm1(-mu * t), -np.expm1(-2 * mu * t)
    weight *= np.exp(-p.delta * t * mu)
    rate, square, mean, second = p.lam.mean, p.lam.square, p.sigma.mean, p.sigma.square
    # mu^(kappa - 1) (1 - exp(-mu t)) by logarithms: one is beyond floats where the other is 0 in them
    with np.errstate(divide="ignore"):
        logs = [(p.kappa - 1) * s + np.where(mu * n * t < 1e-9, s + np.log(n * t), np.log(g))
                for n, g in ((1, gone), (2, gone_twice))]  # fmt: skip
        log_weight = np.log(weight)
    once, twice = (np.exp(log_weight + one) for one in logs)
    new = rate * (1 + mean) * once
    variance = CORES * weight * stays * gone + rate * ((1 + mean) * once + (second + 2 * mean) * twice / 2)
    product = CORES**2 * weight * stays**2 + 2 * CORES * stays * new
    product += square * (1 + 2 * mean + second) * np.exp(log_weight + 2 * logs[0])
    first = float((CORES * weight * stays + new).sum())
    # the integral of mu^(a + 2 kappa - 1) diverges at 0
    return first, float((variance + product).sum()) - first**2 if a + 2 * p.kappa > 0 else np.inf


def decided(priors: Priors, size: int, t: float, capacity: int = 10**9) -> Needed:
    """Return what policies that look one time ahead compare with their thresholds, in a cluster without others."""
    return needed(AdmissionCluster(capacity, 1.0, priors), [], Tenant(size), np.array([t]))


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_moments_and_decisions_are_those_of_quadrature(shape: float, kappa: float) -> None:
    """A finite variance asks for 2 kappa + shape > 0, a finite mean for kappa + shape > 0; else one line.

    With a finite mean alone, the first-moment policy has its number, and no bound of Cantelli is below 1.
    """
    priors = priors_of(shape, kappa)
    for t in TIMES:
        if kappa + shape <= 0:
            for refused in (joint_moments, decided):
                with pytest.raises(InputError, match=INFINITE_MEAN):
                    refused(priors, CORES, t)
            continue
        mean, variance = by_quadrature(priors, t)
        cores = 10 + int(3 * mean)
        decision = decided(priors, CORES, t, cores)
        # nodes of beliefs end where the density is e^-40 of its largest value: what counts at 26,280 hours is there
        assert decision.first == pytest.approx(mean, rel=1e-3, abs=1e-9)
        if 2 * kappa + shape <= 0:
            assert decision.second == 1
            with pytest.raises(InputError, match=INFINITE_VARIANCE):
                joint_moments(priors, CORES, t)
            continue
        assert decision.second == pytest.approx(variance / (variance + (cores - mean) ** 2), rel=3e-3, abs=1e-9)
        joint = joint_moments(priors, CORES, t)
        assert joint.mean == pytest.approx(mean, rel=1e-12)
        assert joint.variance == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize(("shape", "kappa"), [(0.3, -0.25), (1.0, -0.5), (2.0, -1.0)])
def test_a_time_alive_makes_the_variance_finite(shape: float, kappa: float) -> None:
    """After five quiet hours the mean rate of scale-outs given mu is at most 0.16 an hour; before, it is unbounded."""
    priors, seen = priors_of(shape, kappa), Observed(core_time=20.0, alive_time=5.0)
    for t in TIMES:
        moments = belief_moments(exact_belief(priors, seen), CORES, t)
        cores = 10 + int(3 * moments.mean)
        cluster = AdmissionCluster(cores, 1.0, priors)
        decision = needed(cluster, [], Tenant(CORES, seen), np.array([t]))
        bound = moments.variance / (moments.variance + (cores - moments.mean) ** 2)
        assert 0 < decision.second < 1
        assert (decision.first, decision.second) == pytest.approx((moments.mean, bound), rel=1e-9)
        paper = needed(cluster, [], Tenant(CORES, seen), np.array([t]), moments="paper")
        assert paper.second == 1, "lambda is independent of mu there, so the variance is infinite"


def test_a_law_of_known_parameters_is_never_cut_short() -> None:
    """36,000 scale-outs in a month: what is beyond the cut does not get less at once, which is no rounding."""
    with pytest.raises(TooLargeError, match=r"^at: about .* products for one law"):
        parameters_law(priors_of(0.542, 1.145), 1e-9, 1e12, 4.0, 400, 730.0)
    # without ends and shutdowns to speak of, the size is 400 and a compound Poisson variable of mean 3 (1 + 4)
    priors = Priors(Gamma(1, 1), Gamma(1, 1), Gamma(1, 1), 1.0, 0.0)
    law = parameters_law(priors, 1e-9, 3e9, 4.0, 400, 1.0)
    assert law.mean == pytest.approx(415, rel=1e-6)
    assert law.left_out < 1e-9


PRIORS = """
[cluster]
capacity = 2000
arrival_rate = {rate}
[deployments]
mu = {{ shape = {shape}, rate = 3.163 }}
lambda = {{ shape = 0.799, rate = 0.4125 }}
sigma = {{ shape = 0.404, rate = 0.0513 }}
kappa = {kappa}
delta = 0.0537
"""
KINDS = """
[cluster]
capacity = 10
arrival_rate = 0.5
[[kind]]
probability = 0.5
mu = 0.5
scale_out_rate = 0.2
shutdown_rate = 0.1
size = 1
[[kind]]
probability = 0.5
mu = 1e9
scale_out_rate = 0.2
shutdown_rate = 0.1
size = 1
"""
DECIDE = "decide F --active 120,4 --arriving 4"
REFUSED = [
    ({"kappa": 99}, "moments F --at 1 --size 4", "deployments.kappa: expected a number above -5 and below 5, got 99"),
    ({"kappa": -99}, DECIDE, "deployments.kappa: expected a number above -5 and below 5, got -99"),
    ({"kappa": -4.9}, DECIDE, "deployments.kappa: expected kappa + shape of mu greater than 0, got -4.358"),
    ({"kappa": -5}, DECIDE, "kappa: expected a number above -5 and below 5, got -5 (a fit that ends there did not"),
    ({"kappa": 5.0}, DECIDE, "kappa: expected a number above -5 and below 5, got 5.0 (a fit that ends there did not"),
    ({"shape": "1e400"}, DECIDE, "own.toml: deployments.mu.shape: expected a number greater than 0, got 1e400"),
    ({"shape": "1e-400"}, DECIDE, "own.toml: deployments.mu.shape: expected a number greater than 0, got 1e-400"),
    ({"kappa": -1}, DECIDE, "deployments.kappa: expected kappa + shape of mu greater than 0, got -0.458"),
    ({"kappa": -1}, "law F --at 24 --size 4", "products for one law, expected at most 1e+09: kappa is too far from 1"),
    ({"kappa": -1}, "simulate F --policy first --threshold 9 --until 9", "expected kappa + shape of mu greater than 0"),
    ({"kappa": -0.4}, "simulate F --policy second --threshold 0.1 --until 9", "expected 2 kappa + shape of mu greater"),
    ({"kappa": -1}, "simulate F --policy zeroth --threshold 9 --until 900", "expected at most 500,000,000: take fewer"),
    ({"shape": 0.001}, DECIDE, "deployments.mu.shape: expected at least 0.067 for a moment policy, got 0.001"),
    ({"shape": 0.001}, "simulate F --policy second --threshold 0.1 --until 90", "mu.shape: expected at least 0.02"),
    ({"rate": 1e18}, DECIDE, "arrival_rate: expected a number greater than 0 and at most 1,000,000,000 an hour"),
    ({"rate": 1e9}, "simulate F --policy zeroth --threshold 9 --until 90", "expected at most 10,000,000: take fewer"),
    ({}, "simulate F --policy zeroth --threshold 9 --until 1e18", "at most 10,000,000 hours, got 1e+18"),
    ({}, "simulate F --policy zeroth --threshold 9 --until 90 --workers 0", "--workers: expected -1 or a number"),
    ({}, "tune F --policy zeroth --sla 0.1 --until 90 --workers 0", "--workers: expected -1 or a number"),
    ({}, "simulate F --policy everybody --threshold 9 --until 9", "--policy: expected one of zeroth, first, second"),
    ({}, "law F --at 730 --size 400 --given mu=1e-9,lambda=1e12,sigma=4", "--at: about"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "command", "expected"), REFUSED)
def test_extremes_are_refused_in_one_line(
    change: dict[str, float | str], command: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(PRIORS.format(**{"rate": 0.5, "shape": 0.542, "kappa": 1.145, **change}))
    assert run(["admission", *command.replace("F", str(path)).split()]) == 2
    printed, said = capsys.readouterr()
    assert not printed
    assert expected in said.rstrip("\n").splitlines()[-1]


def test_kinds_that_are_ten_orders_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kinds.toml"
    path.write_text(KINDS)
    assert run(["admission", "optimal", str(path), "--sla", "0.05", "--most-deployments", "3"]) == 2
    assert "kind: rates of 0.1 to 1e+10 an hour in one chain" in capsys.readouterr().err
    assert (
        run(
            [
                "admission",
                "exact",
                str(path),
                "--policy",
                "zeroth",
                "--threshold",
                "8",
                "--most-deployments",
                "4",
                "--json",
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    # half of the arrivals, 0.25 an hour, are of the slow kind; without scale-outs, each core lives for 1 / 0.6 hours
    assert 0.25 / 0.6 / 10 < answer["utilisation"] < 0.1
