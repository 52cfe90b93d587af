"""``solve`` and ``region`` measure the workload that types leave out, as Little's law has it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

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


@pytest.mark.parametrize("servers", [1, 4])
def test_the_workload_is_time_in_service_over_time(
    servers: int, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stated = files / "stated.toml"
    rho = {"large": Fraction(50, 100 * servers), "small": Fraction(60, 100 * servers)}
    stated.write_text(TYPES)
    for name, value in rho.items():
        stated.write_text(stated.read_text().replace(f'name = "{name}"', f'name = "{name}"\nworkload = "{value}"'))
    for command, keys in (("solve", ("greedy", "optimal", "ratio", "servers")), ("region", ("traffic_intensity",))):
        answers = []
        for words in ("types.toml --trace log.csv", "stated.toml"):
            assert run(f"{command} {words} --servers {servers} --json".split()) == 0
            shown = capsys.readouterr()
            answers.append(json.loads(shown.out))
            assert ("columns guessed from the header" in shown.err) == ("--trace" in words)
        for key in keys:
            assert answers[0][key] == answers[1][key]
        assert answers[0]["made"]["inputs"].keys() == {"types.toml", "log.csv"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("solve types.toml --trace log.csv", "--trace: expected --servers L beside it"),
        ("region types.toml --trace nowhere.csv --servers 2", "nowhere.csv: cannot be read"),
        ("solve types.toml --servers 2", "type[1].workload: missing"),
    ],
)
@pytest.mark.usefixtures("files")
def test_refusals(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.usefixtures("files")
def test_a_workload_that_is_stated_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    Path("types.toml").write_text(TYPES.replace("reward = ", "workload = 1\nreward = "))
    assert run(["solve", "types.toml", "--trace", "log.csv", "--servers", "2"]) == 2
    assert "all have one" in capsys.readouterr().err
