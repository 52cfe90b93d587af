"""``packproof admission``: answers by their contract, and one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from fluid.admission.law.admission_files import read_admission
from fluid.admission.law.belief import Observed, exact_belief
from fluid.admission.law.moments import belief_moments
from fluid.admission.simulation.outlook import aligned_horizons
from fluid.experiment.arrays import packed
from tests.bounds.validated import expect_valid

ROOT = Path(__file__).parent.parent.parent
STAND_IN = str(ROOT / "examples" / "admission.toml")
SMALL = str(ROOT / "examples" / "admission_small.toml")
WORKED = """
[cluster]
capacity = 100
arrival_rate = 1
[deployments]
mu = { shape = 3, rate = 2 }
lambda = { shape = 2, rate = 4 }
sigma = { shape = 1.5, rate = 1 }
kappa = 0.8
delta = 0.2
"""
SEEN = {"core_deaths": 0, "core_time": 5, "alive_time": 5, "scale_outs": 0, "extra_cores": 0, "sizes": 0}


@pytest.fixture
def worked(tmp_path: Path) -> str:
    path = tmp_path / "worked.toml"
    path.write_text(WORKED)
    return str(path)


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the answer of a command, without what made it."""
    capsys.readouterr()
    assert run(["admission", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expect_valid(document, f"admission_{arguments[0]}")
    assert document.pop("made")["command"].startswith("packproof admission")
    return document


def test_moments(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = answer(["moments", worked, "--at", "1.7", "--size", "4"], capsys)["moments"]
    assert (row["time"], round(row["mean"], 5), round(row["variance"], 5)) == (1.7, 1.09269, 3.32809)
    assert (round(row["paper"]["mean"], 5), round(row["paper"]["variance"], 5)) == (0.90294, 2.57577)
    assert round(row["alive"], 5) == 0.36754


def test_law_of_given_parameters(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(["law", worked, "--at", "1.7", "--size", "4", "--given", "mu=1.3,lambda=0.7,sigma=2"], capsys)
    assert made["tail"]["1"] == pytest.approx(1 - made["zero"], abs=1e-12)
    assert made["mean"] == pytest.approx(sum(made["tail"].values()), abs=1e-6)


@pytest.mark.slow
def test_law_under_priors_a_month_ahead(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(["law", worked, "--at", "730", "--size", "4"], capsys)
    (row,) = answer(["moments", worked, "--at", "730", "--size", "4"], capsys)["moments"]
    assert made["mean"] == pytest.approx(row["exact"]["mean"], abs=1e-6)
    assert made["left_out"] < 1e-6
    assert made["error"] < 1e-6


def test_belief(worked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "seen.json"
    data.write_text(json.dumps(SEEN))
    made = answer(["belief", worked, "--observed", str(data)], capsys)
    assert (round(made["exact"]["mean_mu"], 3), round(made["plug_in"]["mean_mu"], 3)) == (0.313, 0.429)
    assert made["sigma"]["mean"] == 1.5


@pytest.mark.slow
def test_decide(worked: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(["decide", worked, "--active", "3,3", "--arriving", "2", "--horizons", "1,10"], capsys)
    two, three = (answer(["moments", worked, "--at", "1,10", "--size", size], capsys)["moments"] for size in "23")
    single = [two, three, three]
    means = [sum(rows[i]["mean"] for rows in single) for i in range(2)]
    variances = [sum(rows[i]["variance"] for rows in single) for i in range(2)]
    assert made["zeroth"] == 8
    assert made["first"] == pytest.approx(max(means))
    second = max(v / (v + (100 - m) ** 2) for m, v in zip(means, variances, strict=True))
    assert made["second"] == pytest.approx(second)


TENANTS = """name,cores,core_deaths,core_time,alive_time,scale_outs,extra_cores,sizes
web,3,4,9.5,3,2,4,3
quiet,4,0,8,2,0,3,1
"""
COLUMNS = TENANTS.splitlines()[0].split(",")


def test_decide_by_what_was_seen(worked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The posterior of every deployment, by the belief of another file; the arrival's size is an observation."""
    path = tmp_path / "tenants.csv"
    path.write_text(TENANTS)
    cluster = read_admission(worked)
    common = ["decide", worked, "--arriving", "2", "--horizons", "1,2,10"]
    decision = answer([*common, "--state", str(path)], capsys)
    seen = [Observed(4, 9.5, 3, 2, 4, 3), Observed(0, 8, 2, 0, 3, 1), Observed(extra_cores=1, sizes=1)]
    beliefs = [exact_belief(cluster.priors, one) for one in seen]
    parts = [[belief_moments(b, c, t) for b, c in zip(beliefs, (3, 4, 2), strict=True)] for t in (1.0, 2.0, 10.0)]
    assert (decision["zeroth"], decision["judged_by"]) == (9, "posteriors")
    assert decision["first"] == pytest.approx(max(sum(m.mean for m in row) for row in parts), rel=1e-9)
    bounds = [(sum(m.variance for m in row), 100 - sum(m.mean for m in row)) for row in parts]
    assert decision["second"] == pytest.approx(max(v / (v + free**2) for v, free in bounds), rel=1e-9)
    rows = [dict(zip(COLUMNS, line.split(","), strict=True)) for line in TENANTS.splitlines()[1:]]
    as_json = tmp_path / "tenants.json"
    as_json.write_text(
        json.dumps({"deployment": [{k: v if k == "name" else float(v) for k, v in row.items()} for row in rows]})
    )
    assert answer([*common, "--state", str(as_json)], capsys) == decision
    by_priors = answer([*common, "--active", "3,4"], capsys)
    assert by_priors["judged_by"] == "priors"
    assert abs(by_priors["first"] / decision["first"] - 1) > 0.01


@pytest.mark.slow
def test_decide_says_admit_or_refuse(worked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tenants.csv"
    path.write_text(TENANTS)
    common = ["decide", worked, "--state", str(path), "--arriving", "2", "--policy"]
    number = answer([*common, "second", "--threshold", "1"], capsys)["needed"]
    for factor, verdict in ((1.001, "admit"), (0.999, "refuse")):
        decision = answer([*common, "second", "--threshold", repr(number * factor)], capsys)
        assert (decision["verdict"], decision["second"]) == (verdict, number)
    paper = answer([*common, "first", "--threshold", "9", "--moments", "paper"], capsys)
    assert paper["needed"] == paper["paper"]["first"]
    full = answer(
        ["decide", worked, "--active", "90", "--arriving", "20", "--policy", "zeroth", "--threshold", "200"], capsys
    )
    assert (full["fits"], full["verdict"]) == (False, "refuse")
    empty = tmp_path / "empty.csv"
    empty.write_text(TENANTS.splitlines()[0] + "\n")
    assert answer(["decide", worked, "--state", str(empty), "--arriving", "3"], capsys)["zeroth"] == 3


@pytest.mark.slow
def test_decide_with_an_sla_takes_the_threshold_of_tune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(Path(STAND_IN).read_text().replace("2000", "100").replace("0.5\n", "0.05\n", 1))
    tuned = answer(["tune", str(path), "--policy", "zeroth", "--sla", "0.05", "--until", "100"], capsys)
    arguments = ["decide", str(path), "--active", "9", "--arriving", "2", "--policy", "zeroth", "--sla", "0.05"]
    decision = answer([*arguments, "--until", "100"], capsys)
    assert decision["threshold"] == tuned["threshold"]
    assert decision["verdict"] == ("admit" if tuned["threshold"] > 11 else "refuse")


@pytest.mark.slow
def test_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, store, picture = tmp_path / "tiny.toml", tmp_path / "runs.db", tmp_path / "gain.png"
    path.write_text(Path(STAND_IN).read_text().replace("2000", "100").replace("0.5\n", "0.05\n", 1))
    arguments = ["compare", str(path), "--policies", "zeroth,second", "--observations", "0,5", "--sla", "0.05"]
    arguments += ["--until", "900", "--replications", "8", "--steps", "4", "--store", str(store)]
    comparison = answer([*arguments, "--plot", str(picture)], capsys)
    assert [(row["policy"], row["observations"]) for row in comparison["rows"]] == [
        ("zeroth", 0),
        ("second", 0),
        ("second", 5),
    ]
    assert comparison["rows"][0]["above_first"] is None
    for row in comparison["rows"]:
        low, high = row["utilisation"]["ci95"]
        assert low <= row["utilisation"]["mean"] <= high
        assert row["utilisation"]["mean"] < comparison["bound"]["mean"]
        shares = [share for _, share in row["ladder"]]
        assert min(shares) <= 0.05 <= max(shares) or not row["reached"]
    gap = comparison["rows"][1]["utilisation"]["mean"] - comparison["rows"][0]["utilisation"]["mean"]
    assert comparison["rows"][1]["above_first"]["mean"] == pytest.approx(gap)
    assert picture.stat().st_size > 5_000
    assert answer(arguments, capsys) == comparison, "taken up from the store"
    path.write_text(Path(STAND_IN).read_text())
    resized = [*arguments, "--capacity", "100", "--arrival-rate", "0.05"]
    assert answer(resized, capsys) == comparison, "options in place of the numbers of the file, with the same runs"


@pytest.mark.slow
def test_simulate_exact_and_optimal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exact = answer(["exact", SMALL, "--policy", "zeroth", "--threshold", "8", "--most-deployments", "3"], capsys)
    simulated = ["simulate", SMALL, "--policy", "zeroth", "--threshold", "8", "--most-deployments", "3"]
    simulated += ["--until", "3000", "--warmup", "50", "--replications", "8", "--store", str(tmp_path / "s.db")]
    estimate = answer(simulated, capsys)
    assert abs(estimate["utilisation"]["mean"] - exact["utilisation"]) < 0.02
    assert answer(simulated, capsys)["utilisation"] == estimate["utilisation"], "read from the store"
    best = answer(["optimal", SMALL, "--sla", "0.05", "--most-deployments", "3"], capsys)
    assert best["lower"] <= best["upper"] + 1e-12
    assert best["program"] == pytest.approx(best["lagrangian"], abs=1e-6)
    assert all(one["gap"] >= -1e-9 for one in best["policies"].values())


@pytest.mark.slow
def test_optimal_of_hidden_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hidden.toml"
    kind = "[[kind]]\nprobability = 0.5\nmu = 0.5\nsize = 1\n"
    path.write_text(
        "[cluster]\ncapacity = 4\narrival_rate = 1\n"
        f"{kind}scale_out_rate = 0.2\nshutdown_rate = 1\n{kind}scale_out_rate = 1\nshutdown_rate = 0.2\n"
    )
    common = ["optimal", str(path), "--sla", "0.2", "--most-deployments", "2"]
    seen, unseen = answer(common, capsys), answer([*common, "--hidden", "--beliefs", "5"], capsys)
    assert 0 < unseen["lower"] <= unseen["upper"] <= seen["upper"] + 1e-9
    assert all(one["gap"] >= -1e-9 for one in unseen["policies"].values())
    assert run(["admission", "optimal", str(path), "--hidden", "--beliefs", "2"]) == 2
    assert "--beliefs" in capsys.readouterr().err


@pytest.mark.slow
def test_decisions_and_runs_look_ahead_at_the_same_horizons(capsys: pytest.CaptureFixture[str]) -> None:
    common = ["decide", STAND_IN, "--active", "120,40,7", "--arriving", "4"]
    given = ",".join(str(t) for t in aligned_horizons())
    shown = answer(common, capsys), answer([*common, "--horizons", given], capsys)
    assert {**shown[0], "made": 0} == {**shown[1], "made": 0}
    assert run(["admission", "tune", "--help"]) == 0
    assert f"{len(aligned_horizons())} from 0.04 h on by default" in " ".join(capsys.readouterr().out.split())
    few = answer([*common, "--horizons", "24"], capsys)
    assert few["second"] < answer(common, capsys)["second"]
    runs = ["simulate", STAND_IN, "--policy", "first", "--threshold", "900", "--until", "900", "--replications", "2"]
    assert answer(runs, capsys)["sla"] == answer([*runs, "--horizons", given], capsys)["sla"]
    assert answer(runs, capsys)["admitted"] < answer([*runs, "--horizons", "0.04"], capsys)["admitted"]


@pytest.mark.parametrize("name", sorted(SEEN))
@pytest.mark.parametrize("value", [123456789012345678901234567890, 2**53 + 1, "1e400", "1e-400"])
def test_numbers_beyond_floats_are_refused_or_used(
    name: str, value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what was observed, alone and in a state: counts that floats do not hold, times beyond their range."""
    seen = {"core_deaths": 1, "core_time": 5, "alive_time": 5, "scale_outs": 1, "extra_cores": 3, "sizes": 2}
    seen |= {name: value}
    observed, state = tmp_path / "observed.json", tmp_path / "state.json"
    observed.write_text(json.dumps(seen))
    state.write_text(json.dumps({"deployment": [{"cores": 2, **seen}]}))
    cores = tmp_path / "cores.json"
    cores.write_text(json.dumps({"deployment": [{**seen, name: SEEN[name], "cores": value}]}))
    for arguments in (
        ["belief", STAND_IN, "--observed", str(observed)],
        ["decide", STAND_IN, "--state", str(state), "--arriving", "1"],
        ["decide", STAND_IN, "--state", str(cores), "--arriving", "1"],
    ):
        status = run(["admission", *arguments])
        said = capsys.readouterr().err
        is_time = name.endswith("_time") and isinstance(value, int) and arguments[3] != str(cores)
        if not is_time:
            assert status == 2
            assert said.count("\n") == 1
            assert said.startswith(arguments[3])
            assert "expected" in said
        assert status in (0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no archive", packed({}), packed({"utilisation": 1.0})])
def test_a_store_whose_content_is_no_run_is_refused(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its digest is right, so that it was written by a program that is not this one."""
    store = tmp_path / "runs.db"
    arguments = ["admission", "simulate", SMALL, "--policy", "zeroth", "--threshold", "6", "--until", "900"]
    arguments += ["--replications", "2", "--store", str(store)]
    with monkeypatch.context() as patch:
        patch.setattr("fluid.admission.simulation.replications.packed", lambda _: content)
        assert run(arguments) == 0
    capsys.readouterr()
    assert run(arguments) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"{store}: a cell is damaged: take a new file, and run again"


def test_tune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "tuned.png"
    arguments = ["tune", STAND_IN, "--policy", "zeroth", "--sla", "0.01", "--until", "300", "--replications", "3"]
    made = answer([*arguments, "--steps", "5", "--plot", str(picture)], capsys)
    assert made["sla"]["mean"] <= 0.01
    assert picture.stat().st_size > 5_000


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("shape = 3", "shape = 0", "deployments.mu: shape"),
        ("rate = 2", "rate = -1", "deployments.mu: rate"),
        ("capacity = 100", "capacity = 0", "cluster.capacity"),
        ("arrival_rate = 1", "arrival_rate = 0", "cluster.arrival_rate"),
        ("kappa = 0.8", "kappa = 0.8\ninitial = 101", "cluster: capacity"),
        ("kappa = 0.8", 'kappa = 0.8\ninitial = "2 + poisson"', "deployments.initial"),
        ("delta = 0.2", "delta = 0.2\nspeed = 1", "deployments.speed"),
        ("[deployments]", "[[server]]\n[deployments]", "server"),
    ],
)
def test_bad_files_get_one_line(
    old: str, new: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(WORKED.replace(old, new))
    assert run(["admission", "moments", str(path), "--at", "1", "--size", "4"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(str(path))
    assert all(part in said for part in problem.split(": ")), said


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["moments", "FILE", "--at", "1", "--size", "101"], "--size"),
        (["moments", "FILE", "--at", "0", "--size", "1"], "--at"),
        (["moments", "FILE", "--at", "soon", "--size", "1"], "--at"),
        (["decide", "FILE", "--active", "3", "--arriving", "1", "--horizons", "2,1"], "--horizons"),
        (["decide", "FILE", "--active", "0.5", "--arriving", "1", "--horizons", "1"], "--active"),
        (["law", "FILE", "--at", "1", "--size", "1", "--given", "mu=0,lambda=1,sigma=1"], "--given"),
        (["simulate", "FILE", "--policy", "third", "--threshold", "1", "--until", "1"], "--policy"),
        (["simulate", "FILE", "--policy", "zeroth", "--threshold", "-1", "--until", "1"], "--threshold"),
        (["simulate", "FILE", "--policy", "second", "--threshold", "300", "--until", "1"], "--threshold"),
        (["decide", "FILE", "--active", "60,50", "--arriving", "1"], "--active"),
        (["tune", "FILE", "--policy", "zeroth", "--sla", "2"], "--sla"),
        (["tune", "FILE", "--policy", "zeroth", "--sla", "0.1", "--until", "5", "--warmup", "5"], "--warmup"),
        (["tune", "FILE", "--policy", "first", "--sla", "0.1", "--horizons", "2,1"], "--horizons"),
        (["exact", "FILE", "--policy", "zeroth", "--threshold", "1", "--most-deployments", "2"], "kind"),
        (["optimal", str(ROOT / "examples" / "four_types.toml")], "cluster"),
        (["simulate", "FILE", "--policy", "zeroth", "--threshold", "1", "--until", "1", "--workers", "0"], "--workers"),
        (["simulate", "FILE", "--policy", "zeroth", "--threshold", "1", "--until", "1e18"], "--until"),
        (["simulate", "FILE", "--policy", "everybody", "--threshold", "1", "--until", "1"], "--policy"),
        (["compare", "FILE", "--sla", "0.1", "--observations", "0.5"], "--observations"),
        (["compare", "FILE", "--sla", "1.5"], "--sla"),
        (["compare", "FILE", "--sla", "0.1", "--capacity", "0"], "--capacity"),
        (["compare", "FILE", "--sla", "0.1", "--arrival-rate", "0"], "--arrival-rate"),
        (["decide", "FILE", "--active", "3", "--arriving", "1", "--policy", "zeroth"], "--threshold: missing"),
        (
            ["decide", "FILE", "--active=3", "--arriving=1", "--policy=first", "--threshold=4", "--sla=0.1"],
            "--threshold: has no meaning with --sla",
        ),
        (
            ["decide", "FILE", "--active", "3", "--arriving", "1", "--threshold", "4"],
            "--policy: missing, expected --policy",
        ),
        (["decide", "FILE", "--active", "3", "--state", "x.csv", "--arriving", "1"], "--state"),
        (["decide", "FILE", "--active", "3"], "--arriving"),
    ],
)
def test_bad_options_get_one_line(
    arguments: list[str], problem: str, worked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["admission", *(worked if x == "FILE" else x for x in arguments)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert problem in said


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("cores,", "core,", ":1: expected a header"),
        ("web,3,", "web,0,", ":2: cores"),
        ("9.5", "soon", ":2: core_time"),
        ("quiet,4,0,8,2", "quiet,4,0,1,2", ":3: core_time: expected at least alive_time"),
        (",0,3,1", ",0,3", ":3: expected 8 fields"),
        ("web,3,", "web,99,", "expected at most the capacity"),
    ],
)
def test_bad_states_get_one_line(
    old: str, new: str, problem: str, worked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tenants.csv"
    path.write_text(TENANTS.replace(old, new, 1))
    assert run(["admission", "decide", worked, "--state", str(path), "--arriving", "2"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(str(path))
    assert problem in said


def test_contradicting_observations(worked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "seen.json"
    data.write_text(json.dumps({**SEEN, "core_deaths": 9, "sizes": 1, "extra_cores": 3}))
    assert run(["admission", "belief", worked, "--observed", str(data)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{data}: core_deaths")
