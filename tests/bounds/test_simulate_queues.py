"""The command ``simulate`` for queues: documents, warnings, traces, errors, pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.cli import run
from tests.bounds.validated import expect_valid

CAUGHT = str(Path(__file__).parent.parent.parent / "examples" / "caught.toml")


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    assert run(["simulate", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


@pytest.mark.parametrize("policy", ["nonpreemptive", "randomized-sampling", "bf-js"])
def test_documents_fit_the_schema(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    document, err = answer(
        [CAUGHT, "--policy", policy, "--servers", "2", "--until", "400", "--log", "30", "--replications", "2"], capsys
    )
    expect_valid(document, "simulate_queue")
    with pytest.raises(jsonschema.ValidationError):
        expect_valid({**document, "extra": 1}, "simulate_queue")
    assert abs(document["traffic_intensity"] - 0.89) < 1e-12
    assert "unstable" not in err
    assert len(document["log"]) == 30
    again, _ = answer(
        [CAUGHT, "--policy", policy, "--servers", "2", "--until", "400", "--log", "30", "--replications", "2"], capsys
    )
    for name in ("queue", "jobs", "events"):
        assert again[name] == document[name]


@pytest.mark.slow
def test_a_policy_that_is_caught_grows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = [CAUGHT, "--servers", "1", "--until", "2000", "--replications", "10"]
    caught, _ = answer([*common, "--policy", "max-weight-local", "--plot", str(tmp_path / "p.png")], capsys)
    low, high = caught["queue"]["growth"]["ci95"]
    assert 0 < low < 1.56 < high  # level 0.95, fixed seed
    assert (tmp_path / "p.png").stat().st_size > 10_000
    assert run(["simulate", *common, "--policy", "max-weight-local"]) == 0
    assert "(it grows, at 99.9 %)" in capsys.readouterr().out
    assert caught["queue"]["growth"]["grows"] is True
    few, _ = answer([CAUGHT, "--servers", "1", "--until", "2000", "--replications", "2", "--policy", "vqs-bf"], capsys)
    assert few["queue"]["growth"]["grows"] is False  # stable, and two lines say little


def test_unstable_parameters_warn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = Path(CAUGHT).read_text().replace("3.56", "4.56")
    (tmp_path / "more.toml").write_text(text)
    for policy in ("nonpreemptive", "vqs-bf"):
        _, err = answer([str(tmp_path / "more.toml"), "--policy", policy, "--servers", "1", "--until", "50"], capsys)
        assert "the traffic intensity is 1.05667" in err


def test_traces(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,cpu,duration,type\n0,4,3,large\n0.25,1,2,small\n1,4,1,large\n")
    common = ["--servers", "1", "--warmup", "0", "--trace", str(trace)]
    document, _ = answer([CAUGHT, *common, "--policy", "nonpreemptive", "--until", "10"], capsys)
    assert document["traffic_intensity"] is None
    assert abs(document["queue"]["mean"] - 0.2) < 1e-9  # the second large job waits from 1 to 3
    slotted, _ = answer([CAUGHT, *common, "--policy", "fifo-ff", "--until", "100"], capsys)
    assert abs(slotted["queue"]["mean"] - 0.2) < 1e-9  # slots of 0.1 s
    trace.write_text("time,cpu,duration,type\n1,4,3,large\n0.25,1,2,small\n")
    assert run(["simulate", CAUGHT, *common, "--policy", "nonpreemptive", "--until", "10"]) == 2
    assert f"{trace}:3: time: expected a time of at least 1 s (sorted), got 0.25" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("policy", "simulation", "arguments", "complaint"),
    [
        ("nonpreemptive", "beta = 2", [], "simulation.beta: expected a number from 0 to 1"),
        ("nonpreemptive", 'start = "never"', [], "simulation.start: expected one of as-needed, at-once"),
        ("nonpreemptive", "initial = { full = { small = 1 } }", [], "simulation.initial: expected empty"),
        ("bf-js", 'service = "exponential"', [], "simulation.service: expected one of geometric, deterministic"),
        ("bf-js", "", ["--until", "10.5"], "expected a whole number of slots"),
        ("vqs", "partition = 1", [], "simulation.partition: expected a whole number from 2"),
        ("vqs", "dd = 1", [], "simulation.dd: unknown field"),
    ],
)
def test_errors(
    policy: str,
    simulation: str,
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "instance.toml"
    path.write_text(f"{Path(CAUGHT).read_text()}\n[simulation]\n{simulation}\n")
    given = ["simulate", str(path), "--policy", policy, "--servers", "1", *(arguments or ["--until", "10"])]
    assert run(given) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1


def test_slotted_policies_want_one_resource(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.toml"
    path.write_text(Path(CAUGHT).read_text().replace("{ cpu = 6 }", "{ cpu = 6, memory = 2 }"))
    assert run(["simulate", str(path), "--policy", "vqs", "--servers", "1", "--until", "10"]) == 2
    assert "expected one kind of server with one resource" in capsys.readouterr().err
