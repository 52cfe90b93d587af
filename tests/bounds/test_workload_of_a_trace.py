"""Commands measure the workload that types leave out, as Little's law has it, and the law of sizes."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run

TYPES = """server.capacity = { cpu = 6 }
[[type]]
name = "large"
demand = { cpu = 4 }
reward = 4
[[type]]
name = "small"
demand = { cpu = 1 }
reward = 1
"""
LOG = "start,end,type\n0,40,large\n10,20,small\n30,80,small\n50,60,large\n100,100,small\n"
"""In 100 s: 50 s of large and 60 s of small VMs."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "types.toml").write_text(TYPES)
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


STAYS = {"large": Fraction(25), "small": Fraction(20)}
"""Mean time in service, in seconds: of two large VMs, and of three small ones, one of which leaves at once."""

ARRIVALS = '[simulation]\narrivals = { trace = "log.csv" }\n'


def answer(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert run([*words.split(), "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("place", ["--trace log.csv", "simulation.arrivals"])
@pytest.mark.parametrize("servers", [1, 4])
@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("solve % --servers L", ("greedy", "optimal", "ratio", "servers")),
        ("region % --servers L", ("traffic_intensity", "servers_needed")),
        ("worst % --vary rewards --starts 1", ("exact", "workload", "instance")),
        ("fluid % --until 60 --points 3", ("jobs", "reward", "equilibrium_reward")),
    ],
)
def test_the_workload_is_time_in_service_over_time(
    command: str, keys: tuple[str, ...], servers: int, place: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stated = TYPES
    for name, value in (("large", Fraction(50, 100 * servers)), ("small", Fraction(60, 100 * servers))):
        numbers = f'workload = "{value}"\nservice_rate = "{1 / STAYS[name]}"'
        stated = stated.replace(f'name = "{name}"', f'name = "{name}"\n{numbers}')
    (files / "stated.toml").write_text(stated)
    (files / "types.toml").write_text(TYPES + ARRIVALS * (place == "simulation.arrivals"))
    more = place if place.startswith("--") else ""
    more += "" if "--servers" in command else f" --servers {servers}"
    command = command.replace("L", str(servers))
    measured = answer(f"{command.replace('%', 'types.toml')} {more}", capsys)
    expected = answer(command.replace("%", "stated.toml"), capsys)
    for key in keys:
        assert measured[key] == expected[key]
    assert measured["made"]["inputs"].keys() == {"types.toml", "log.csv"}
    assert expected["made"]["inputs"].keys() == {"stated.toml"}


def test_the_guess_and_what_was_measured_are_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"fluid {files}/types.toml --until 9 --trace log.csv --servers 2".split()) == 0
    told = capsys.readouterr().err
    assert "columns guessed from the header" in told
    assert "workload from the trace, jobs per server: large 0.25, small 0.3" in told
    assert "service rates, per second: large 0.04, small 0.05" in told


@pytest.mark.parametrize("vary", ["workload", "all"])
@pytest.mark.usefixtures("files")
def test_a_workload_that_varies_is_not_needed(vary: str, capsys: pytest.CaptureFixture[str]) -> None:
    worst = answer(
        f"worst types.toml --vary {vary} --starts 1".replace(" --starts 1" * (vary == "workload"), ""), capsys
    )
    Path("types.toml").write_text(TYPES.replace("reward", 'workload = "7/3"\nreward'))
    again = answer(
        f"worst types.toml --vary {vary} --starts 1".replace(" --starts 1" * (vary == "workload"), ""), capsys
    )
    assert {**worst, "made": 0} == {**again, "made": 0}


@pytest.mark.slow
@pytest.mark.parametrize("law", ["", 'uniform = ["1/10", "9/10"]'])
@pytest.mark.usefixtures("files")
def test_a_law_of_sizes_is_by_time_in_service(law: str, capsys: pytest.CaptureFixture[str]) -> None:
    arrivals = 'arrivals = { trace = "sizes.csv", columns = { time = "t", duration = "d", cpu = "c" }'
    arrivals += ", capacity = { cpu = 8 } }"
    Path("sizes.csv").write_text("t,d,c\n0,30,1\n10,10,4\n20,50,4\n40,0,8\n")
    Path("sizes.toml").write_text(f"[sizes]\nservers = 3\n{law}\n[simulation]\n{arrivals}\n")
    Path("stated.toml").write_text('[sizes]\nservers = 3\ndiscrete = { "1/8" = "1/3", "1/2" = "2/3" }\n')
    measured = answer(f"throughput sizes.toml {'--trace sizes.csv' if law else ''}", capsys)
    stated = answer("throughput stated.toml", capsys)
    assert {**measured, "made": 0} == {**stated, "made": 0}


def test_an_instance_has_no_workload_that_no_file_states(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "own.csv").write_text("name,cpu,memory,price,workload\nbatch,16,32,1,2\n")
    words = "instance --types aws:m5.large --own own.csv --server cpu=96,memory=384 --out made.toml"
    assert run(words.split()) == 0
    kinds = tomllib.loads(Path("made.toml").read_text())["type"]
    assert [kind.get("workload") for kind in kinds] == [None, "2"]
    assert "service_rate" not in kinds[0]
    assert run(["solve", "made.toml"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("made.toml: type[1].workload: missing, expected a number of at least 0, or a log")
    # a log may leave out the provider
    Path("log.csv").write_text("start,end,type\n0,40,m5.large\n10,50,m5.large\n")
    assert answer("solve made.toml --trace log.csv --servers 1", capsys)["optimal"]["exact"]
    assert run([*words.split(), "--workload", "3/2"]) == 0
    assert [kind["workload"] for kind in tomllib.loads(Path("made.toml").read_text())["type"]] == ["3/2", "2"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("solve types.toml --trace log.csv", "--trace: expected --servers L beside it"),
        ("region types.toml --trace nowhere.csv --servers 2", "nowhere.csv: cannot be read"),
        ("solve types.toml --servers 2", "type[1].workload: missing"),
        ("fluid types.toml --until 9", "type[1].workload: missing"),
        ("worst types.toml --vary all --trace log.csv", "--trace: has no meaning with --vary all"),
        ("fluid full.toml --until 9 --servers 3", "--servers: has no meaning with full.toml"),
        ("solve arrivals.toml", "arrivals.toml: simulation.arrivals: expected --servers L beside it"),
        ("throughput items.toml --trace log.csv", "--trace: has no meaning with items of several resources"),
        ("throughput law.toml --trace log.csv", "log.csv: expected at least one resource"),
    ],
)
@pytest.mark.usefixtures("files")
def test_refusals(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("full.toml").write_text(TYPES.replace("reward", "workload = 1\nreward"))
    Path("arrivals.toml").write_text(TYPES + ARRIVALS)
    Path("items.toml").write_text("[items]\ncapacity = [9, 9]\nsizes = [[1, 2]]\n")
    Path("law.toml").write_text("[sizes]\nservers = 2\n")
    assert run(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.usefixtures("files")
def test_a_workload_that_is_stated_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    Path("types.toml").write_text(TYPES.replace("reward = ", "workload = 1\nreward = "))
    assert run(["solve", "types.toml", "--trace", "log.csv", "--servers", "2"]) == 2
    assert "all have one" in capsys.readouterr().err
