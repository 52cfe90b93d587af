"""``packproof admission fit``: its answer and its file, and one line for logs that cannot be fitted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bounds.cli import run
from bounds.views.admission_fit import fit_document
from examples.tenant_log import CLUSTER, HOURS, SEED, rows_of
from fluid.admission.law.admission_files import parse_admission, read_admission, read_state
from fluid.admission.law.cluster import Gamma, Priors
from fluid.admission.simulation.decision import arriving, needed
from fluid.admission.simulation.world import draw_world
from fluid.admission.study.estimation import fit_log, log_likelihood, refuse_unconverged
from fluid.admission.study.goodness import goodness_of_fit
from fluid.admission.study.tenant_log import read_tenant_log
from fluid.admission.study.watched import TenantLog
from tests.bounds.validated import expect_valid
from theory.errors import InputError

LOG = Path(__file__).parents[2] / "examples" / "tenant_log.csv"
FIT = ["admission", "fit", str(LOG), "--replications", "119"]


@pytest.mark.slow
def test_the_answer_and_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "own.toml"
    assert run([*FIT, "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "admission_fit")
    assert answer["made"]["inputs"] == {str(LOG): hashlib.sha256(LOG.read_bytes()).hexdigest()}
    numbers = {row["name"]: row for row in answer["parameters"]}
    laws = CLUSTER.priors
    truth = {"arrival_rate": CLUSTER.arrival_rate, "mu.shape": laws.mu.shape, "mu.rate": laws.mu.rate,
             "lambda.shape": laws.lam.shape, "lambda.rate": laws.lam.rate, "kappa": laws.kappa, "delta": laws.delta,
             "sigma.shape": laws.sigma.shape, "sigma.rate": laws.sigma.rate}  # fmt: skip
    assert numbers.keys() == truth.keys()
    for name, value in truth.items():
        assert abs(numbers[name]["value"] - value) < 4 * numbers[name]["standard_error"], name
    assert answer["converged"]
    assert not answer["doubted"]
    text = out.read_text()
    assert f"mu = {{ shape = {numbers['mu.shape']['value']:.6g}, rate = {numbers['mu.rate']['value']:.6g} }}" in text
    assert run([*FIT, "--out", str(out)]) == 0
    assert out.read_text() == text
    assert "kappa" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["poisson", "observed"])
def test_the_answer_is_that_of_the_library(initial: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Estimates, the file, goodness of fit, the deployments of now, and a decision with both files."""
    own, now = tmp_path / "own.toml", tmp_path / "now.csv"
    options = ["--capacity", "100", "--initial", initial, "--seed", "5", "--out", str(own), "--tenants", str(now)]
    assert run([*FIT, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    log = read_tenant_log(LOG)
    fitted, cluster = fit_log(log, is_poisson=initial == "poisson"), read_admission(own)
    numbers = {row["name"]: (row["value"], row["standard_error"], *row["ci95"]) for row in answer["parameters"]}
    rate, count = (len(log.arrival) - 1) / log.watch, len(log.arrival) - 1  # the first arrival began the watch
    assert numbers.pop("arrival_rate")[:2] == pytest.approx((rate, rate / count**0.5))
    assert numbers == {name: pytest.approx(row) for name, row in fitted.estimates().items()}
    assert answer["log_likelihood"] == pytest.approx(fitted.log_likelihood)
    assert (cluster.capacity, cluster.arrival_rate) == (100, pytest.approx(rate, rel=1e-5))
    counts = Counter(log.initial.tolist() if initial == "observed" else [])
    assert dict(zip(cluster.priors.initial.sizes, cluster.priors.initial.probabilities, strict=True)) == pytest.approx(
        {size: n / len(log.initial) for size, n in counts.items()}
    )
    for law in ("mu", "lam", "sigma"):
        expected = getattr(fitted.priors, law)
        assert vars(getattr(cluster.priors, law)) == pytest.approx(vars(expected), rel=1e-5)
    compared = goodness_of_fit(cluster, log, replications=119, seed=5)
    assert {one["name"]: (one["distance"], one["p_value"]) for one in answer["goodness"]} == {
        one.name: (pytest.approx(one.distance), one.p_value) for one in compared
    }
    # the cores of now, counted in the world that made the log
    rows = rows_of(draw_world(CLUSTER, HOURS, SEED), HOURS)
    cores = Counter(name for name, _, end in rows if end is None)
    tenants = read_state(now)
    assert sorted(tenant.cores for tenant in tenants) == sorted(cores.values())
    assert run(["admission", "decide", str(own), "--state", str(now), "--arriving", "4", "--json"]) == 0
    decided = json.loads(capsys.readouterr().out)
    expected_numbers = needed(cluster, tenants, arriving(cluster, 4))
    assert {name: decided[name] for name in ("zeroth", "first", "second")} == pytest.approx(vars(expected_numbers))


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["poisson", "observed"])
def test_every_command_reads_the_file(initial: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That they end well; `test_admission_command.py` has their numbers."""
    own = str(tmp_path / "own.toml")
    now = str(tmp_path / "now.csv")
    assert run([*FIT, "--out", own, "--initial", initial, "--capacity", "100", "--tenants", now]) == 0
    policy = ["--policy", "zeroth"]
    for name, *options in (
        ["moments", "--at", "24", "--size", "4"],
        ["law", "--at", "24", "--size", "4", "--given", "mu=0.05,lambda=1,sigma=4"],
        ["belief", "--observed", str(LOG.parent / "observed.json")],
        ["decide", "--active", "20,4", "--arriving", "2", "--horizons", "1,24"],
        ["decide", "--state", now, "--arriving", "4", *policy, "--threshold", "90"],
        ["simulate", *policy, "--threshold", "80", "--until", "200", "--replications", "2"],
        ["tune", *policy, "--sla", "0.05", "--until", "200", "--replications", "8"],
        ["compare", "--policies", "zeroth", "--sla", "0.05", "--until", "100", "--replications", "8"],
    ):
        assert run(["admission", name, own, *options]) == 0, capsys.readouterr().err


def at(hours: float) -> str:
    return f"{3600 * hours:.0f}"


def a_day_each(sizes: Callable[[int], int], stays: Callable[[int], float], scale_outs: int = 2) -> list[str]:
    """Return rows of 24 deployments, one after another, each of which asks for more cores so many times."""
    return [
        f"d{n},{at(24 * n + k)},{at(24 * n + k + stays(7 * n + k))},{sizes(5 * n + k)}"
        for n in range(24)
        for k in range(scale_outs + 1)
    ]


UNDETERMINED = {
    "constant sizes": (a_day_each(lambda _: 1, lambda n: 3 + 9 * (n % 5)), "sigma.rate"),
    "constant lifetimes": (a_day_each(lambda n: 1 + n % 4, lambda _: 5.5), "mu.shape ran to e^14"),
    "as many scale-outs each": (a_day_each(lambda n: 1 + n % 4, lambda n: 3 + 9 * (n % 5)), "lambda."),
    "two deployments": (["a,0,7200,1", "a,3600,9000,2", "b,1800,5400,1"], "did not converge"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNDETERMINED)
def test_a_fit_that_does_not_converge_is_one_line_and_no_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, ran = UNDETERMINED[kind]
    log, files = tmp_path / "log.csv", [tmp_path / name for name in ("own.toml", "now.csv", "fit.png")]
    log.write_text("\n".join(["deployment,start (s),end (s),cores", *rows]) + "\n")
    options = [word for pair in zip(("--out", "--tenants", "--plot"), map(str, files), strict=True) for word in pair]
    assert run(["admission", "fit", str(log), *options]) == 2
    printed, told = capsys.readouterr()
    assert not printed
    line = told.rstrip("\n").splitlines()[-1]
    assert line.startswith(f"{log}: data: the fit did not converge: ")
    assert ran in line
    assert "take a longer one" in line
    assert not any(path.exists() for path in files), "nothing is written"


@pytest.mark.slow
def test_nothing_is_written_before_all_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise InputError("no picture")

    monkeypatch.setattr("bounds.views.admission_fit.fit_answer", fail)
    out, now = tmp_path / "own.toml", tmp_path / "now.csv"
    assert run([*FIT, "--out", str(out), "--tenants", str(now)]) == 2
    assert not out.exists()
    assert not now.exists()


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_each_small_log_is_a_model_inside_the_range_or_one_line(seed: int) -> None:
    """Few deployments, open rows, constant stays and sizes: whatever is not refused is a maximum in the interior."""
    rng = np.random.default_rng(seed)
    count, deployments = int(rng.integers(2, 60)), int(rng.integers(1, 12))
    start = np.sort(rng.random(count)) * 100
    stay = [np.full(count, 3.0), rng.exponential(5.0, count), 0.1 + rng.pareto(1.0, count)][int(rng.integers(3))]
    cores = np.ones(count, int) if rng.random() < 0.4 else rng.integers(1, 9, count)
    still_runs = rng.random(count) < rng.choice([0.0, 0.3, 1.0])
    rows = [
        f"d{d},{at(s)},{'' if o else at(s + t)},{c}"
        for d, s, t, o, c in zip(rng.integers(0, deployments, count), start, stay, still_runs, cores, strict=True)
    ]
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        log.write_text("\n".join(["deployment,start (s),end (s),cores", *rows]) + "\n")
        try:
            watched = read_tenant_log(log)
            fitted = fit_log(watched)
            refuse_unconverged(fitted.problem)
        except InputError:
            return
    priors = parse_admission(fit_document(watched, fitted, 10**6)).priors
    assert abs(priors.kappa) < 5
    slope = fitted_slope(fitted.priors, watched)
    assert np.abs(slope).max() <= 1e-3 * len(watched.arrival), "a maximum: the likelihood is flat there"


def fitted_slope(priors: Priors, log: TenantLog) -> NDArray[np.float64]:
    """Return central differences of the log-likelihood in the logarithms of mu and lambda, and in kappa."""
    seen = log.with_initial_sizes()

    def value(v: NDArray[np.float64]) -> float:
        e = np.exp(v[:4])
        moved = replace(priors, mu=Gamma(e[0], e[1]), lam=Gamma(e[2], e[3]), kappa=float(v[4]))
        return log_likelihood(moved, seen)

    p = priors
    v = np.array([*np.log([p.mu.shape, p.mu.rate, p.lam.shape, p.lam.rate]), p.kappa])
    return np.array([(value(v + step) - value(v - step)) / 2e-4 for step in 1e-4 * np.eye(5)])


@pytest.mark.slow
def test_a_model_in_doubt_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tenants that arrive in pairs: the gaps between arrivals are not those of a Poisson process."""
    header, *rows = LOG.read_text().splitlines()
    twins = tmp_path / "twins.csv"
    twins.write_text("\n".join([header, *rows, *(f"twin-{row}" for row in rows)]) + "\n")
    assert run(["admission", "fit", str(twins)]) == 0
    told = capsys.readouterr().out
    assert "the model is in doubt (5 %, Bonferroni over 6 tests): time between arrivals (hours)" in told


VMS = "deployment,start,end\n"
SUMS = "arrival,lifetime,cores,scale_outs,added_cores,ended_cores,core_time\n"
BAD = [
    ("", "expected a log of tenants, found an empty file"),
    ("deployment start end\na 0 1\n", "expected a column for arrivals"),
    ("deployment,end\na,1\n", ":1: expected a column for arrivals, such as created_at or start; found deployment, end"),
    ("deployment,start\na,1\n", ":1: expected a column end, deleted_at or lifetime; found deployment, start"),
    ("start,end\n0,1\n", ":1: expected a column deployment (a row a VM), or scale_outs (a row a deployment)"),
    (
        "start,end,scale_outs,cores\n0,1,0,1\n",
        ":1: expected columns added_cores, ended_cores, core_time beside scale_outs, or --column NAME=HEADER for each",
    ),
    ("start,end,scale_outs,cores,added_cores,core_deaths\n0,1,0,1,0,0\n", ":1: expected a column core_time beside"),
    (VMS, "expected tasks below the header, found none with an end"),
    (VMS + "a,0,9\nb,x,9\n", ":3: start: expected a time such as 2026-05-01T12:00:00Z, or a number, got 'x'"),
    (VMS + "a,5,4\n", ":2: end: expected arrival <= start <= end, got '4'"),
    (VMS + ",0,4\n", ":2: deployment: expected the name of a type, got an empty cell"),
    (VMS + "a,0\n", ":2: expected 3 fields, got 2"),
    (VMS + "a,0,9\n", "expected at least 2 deployments that arrive within the watch, got 1"),
    (
        VMS + "a,0,9\nb,1,8\n",
        "data: expected several deployments, with core ends and scale-outs, got 2 with 2 core ends",
    ),
    ("deployment,start,end,cores\na,0,9,0.5\n", ":2: cores: expected a whole number, got 0.5"),
    ("deployment,start,end,cores\na,0,9,0\n", ":2: cores: expected at least one positive demand"),
    ("deployment,start,end,cores\na,0,9,-1\n", ":2: cores: expected a number of at least 0, got '-1'"),
    (SUMS + "0,9,1,1,0,1,9\n", ":2: added_cores: expected at least 1 core a scale-out"),
    (SUMS + "0,9,1,0,0,2,9\n", ":2: ended_cores: expected at most the cores that there were"),
    (
        SUMS + "0,,1,0,0,1,9\n1,9,1,0,0,1,9\n",
        ":2: ended_cores: expected at most the cores that there were, less one if it still runs",
    ),
    (
        SUMS + "0,900,1,0,0,1,9\n",
        ":2: core_time: expected at least the lifetime, in seconds unless the header has a unit",
    ),
    (SUMS + "0,9,4,2,5,3,40\n1,9,1,0,0,1,9\n", "--capacity: missing, expected it where a row is a deployment"),
    (VMS + "a,0,0\nb,1,1\n", ":1: expected the unit in the header"),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_bad_logs_get_one_line(text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "log.csv", tmp_path / "own.toml"
    path.write_text(text)
    assert run(["admission", "fit", str(path), "--out", str(out)]) == 2
    printed, last = capsys.readouterr()
    assert not printed
    line = last.rstrip("\n").splitlines()[-1]
    assert expected in line
    assert "Traceback" not in last
    assert not out.exists()


def test_sums_are_not_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text(SUMS + "0,36001,1,0,0,1,36001\n" * 2)
    assert run(["admission", "fit", str(path), "--capacity", "9", "--to", "9"]) == 2
    expected = f"--to: expected the last moment of {path} or later, 10.01 hours after the first arrival: sums of"
    assert expected in capsys.readouterr().err
    run(["admission", "fit", str(path), "--capacity", "9", "--to", "10.01"])
    assert "--to" not in capsys.readouterr().err


@pytest.mark.slow
def test_rows_that_may_be_deployments_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    for log, expected in (VMS + "a,0,9\nb,0,9\n", True), (VMS + "a,0,9\na,1,8\nb,0,9\n", False):
        path.write_text(log)
        run(["admission", "fit", str(path)])
        assert ("--column scale_outs=HEADER" in capsys.readouterr().err) is expected


@pytest.mark.slow
def test_sums_of_a_deployment_that_still_runs_go_to_the_end_of_the_watch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deployment without an end has ten core-hours: enough if the watch ends after 10 hours, too few after 100."""
    path = tmp_path / "log.csv"
    path.write_text("arrival,lifetime,cores,scale_outs,added_cores,ended_cores,core_hours\n0,,1,0,0,0,10\n"
                    + "3600,32400,2,1,1,3,20\n" * 2)  # fmt: skip
    told = []
    for end in ("10", "100"):
        run(["admission", "fit", str(path), "--capacity", "9", "--to", end, "--replications", "119"])
        told.append("core_hours: expected at least the lifetime" in capsys.readouterr().err)
    assert told == [False, True]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--column", "cores"], "--column: expected NAME=HEADER, each name once, got 'cores'"),
        (["--column", "size=vCPU"], "--column: expected one of arrival, end, lifetime, deployment, cores,"),
        (["--column", "cores=vCPU"], "has no column 'vCPU', expected one of deployment, started_at, ended_at"),
        (["--from", "soon"], "--from: expected a date or hours after the first arrival, got 'soon'"),
        (["--to", "2020-01-01"], "--to: expected a moment after --from and the first arrival"),
        (["--from", "2027-01-01"], "--to: expected a moment after --from and the first arrival"),
        (["--initial", "known"], "--initial: expected one of poisson, observed, got 'known'"),
        (["--at-once", "1"], "--at-once: expected"),
        (["--within", "nan"], "--within: expected"),
        (["--within", "1e300"], "--within: expected"),
        (["--initial", "observed", "--capacity", "3"], "capacity: expected at least the largest initial size"),
    ],
)
def test_bad_options_get_one_line(options: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*FIT, *options]) == 2
    assert expected in capsys.readouterr().err.rstrip("\n").splitlines()[-1]
