"""``packproof fluid``: the answer, the table, the picture, states to start from, and bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bounds.cli import run

FOUR = str(Path(__file__).parent.parent.parent / "examples" / "four_types.toml")
START = """
[[assignment]]
configuration = { large = 2 }
fraction = 1

[[arrivals]]
time = 2
workload = { small = 8 }
"""


@pytest.mark.slow
def test_answer_table_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "path.csv", tmp_path / "path.png"
    assert run(["fluid", FOUR, "--until", "40", "--csv", str(table), "--plot", str(picture), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["equilibrium_reward"] == pytest.approx(1796 / 13)
    assert answer["reward"][-1] == pytest.approx(answer["equilibrium_reward"], abs=1e-6)
    assert [mode["mode"] for mode in answer["modes"]][:2] == ["idle", "tracking"]
    assert picture.stat().st_size > 10_000
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["time"]) for row in rows] == answer["time"]
    assert [float(row["jobs small"]) for row in rows] == answer["jobs"]["small"]
    assert sum(float(rows[-1][k]) for k in list(rows[0])[10:]) == pytest.approx(1)
    assert run(["fluid", FOUR, "--until", "5"]) == 0
    assert "tracking" in capsys.readouterr().out


@pytest.mark.slow
def test_the_error_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fluid", FOUR, "--until", "5", "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["error"] < 1e-7
    assert run(["fluid", FOUR, "--until", "5"]) == 0
    assert "numerical error in jobs and servers per server, about" in capsys.readouterr().out


def test_a_path_with_too_many_regimes_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("fluid.limits.reservation.path.MOST_REGIMES", 1)
    table = tmp_path / "path.csv"
    assert run(["fluid", FOUR, "--until", "5", "--csv", str(table)]) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert "--until: expected a time up to 1.98829, to which the fluid path takes 1 regimes" in line
    assert not table.exists()


def test_from_a_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = tmp_path / "state.toml"
    start.write_text(START)
    assert run(["fluid", FOUR, "--until", "4", "--from", str(start), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["jobs"]["large"][0] == 2
    assert answer["admitted"]["small"][0] == pytest.approx(48 / 13)
    assert answer["admitted"]["small"][-1] == pytest.approx(8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[assignment]]\nconfiguration = { huge = 1 }\nfraction = 1",
            "configuration.huge: unknown type",
        ),
        ("[[assignment]]\nconfiguration = { large = 3 }\nfraction = 1", "expected one that fits a server"),
        ("[[assignment]]\nconfiguration = { large = 1 }\nfraction = 2", "sum to at most 1"),
        ("[jobs]\nlarge = 1", "assignment: missing"),
        ("[[assignment]]\nconfiguration = { large = 1 }\nfraction = 1\n[jobs]\nlarge = 2", "slots of its type"),
        ("speed = 1", "speed: unknown field"),
        (
            "[[assignment]]\nconfiguration = { large = 99 }\nfraction = 1",
            "assignment[1].configuration: expected one that fits",
        ),
        (
            "[[arrivals]]\ntime = 1\nworkload = {}\n[[arrivals]]\ntime = 1\nworkload = {}",
            "arrivals[2].time: expected times",
        ),
        ("[[arrivals]]\ntime = 4\nworkload = {}", "arrivals[1].time: expected less than the end of the path, 4, got 4"),
    ],
)
def test_bad_states(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = tmp_path / "state.toml"
    start.write_text(text)
    assert run(["fluid", FOUR, "--until", "4", "--from", str(start)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(str(start))
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("until", ["0", "-1"])
def test_bad_times(until: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fluid", FOUR, "--until", until]) == 2
    assert "--until: expected a time greater than 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"), [("workload = 1e12", "workload"), ("workload = 1\nservice_rate = 1e-12", "service_rate")]
)
def test_numbers_beyond_floats(line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.toml"
    path.write_text(
        f'[server]\ncapacity = {{ cpu = 2 }}\n[[type]]\nname = "a"\ndemand = {{ cpu = 1 }}\nreward = 1\n{line}\n'
    )
    assert run(["fluid", str(path), "--until", "4"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: type a: {said}: expected")
    assert error.count("\n") == 1
