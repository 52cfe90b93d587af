"""``packproof simulate --against-fluid``."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run

SMALL = """
[server]
capacity = { slots = 4 }

[[type]]
name = "one"
demand = { slots = 1 }
reward = 3
workload = 1

[[type]]
name = "two"
demand = { slots = 2 }
reward = 2
workload = 3
"""


@pytest.mark.slow
def test_distance_falls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "i.toml", tmp_path / "p.png"
    path.write_text(SMALL)
    command = ["simulate", str(path), "--policy", "dra", "--servers", "8000", "--until", "6", "--against-fluid"]
    assert run([*command, "--json", "--plot", str(picture)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["servers"] == [500, 2000, 8000]
    assert -1.0 < answer["slope"]["mean"] < -0.2
    assert max(answer["distances"][-1]) < min(answer["distances"][0])
    assert answer["fluid"]["one"][-1] == pytest.approx(1.0, abs=0.01)
    assert picture.stat().st_size > 10_000
    assert len(answer["late_rewards"]) == 3
    lacks = [answer["greedy_reward"] - sum(runs) / len(runs) for runs in answer["late_rewards"]]
    assert lacks[0] > lacks[2]
    assert run([word.replace("8000", "800") for word in command]) == 0
    assert "the distance falls like L to the power" in capsys.readouterr().out


@pytest.mark.slow
def test_ticks_are_the_numbers_of_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are plain numbers, each once, and no two labels of an axis overlap."""
    from bounds.views import drawing

    drawn: list[Any] = []
    monkeypatch.setattr(drawing, "save", lambda picture, _: drawn.append(picture))
    path = tmp_path / "i.toml"
    path.write_text(SMALL)
    command = ["simulate", str(path), "--policy", "dra", "--servers", "5120", "--until", "1", "--against-fluid"]
    assert run([*command, "--plot", str(tmp_path / "p.png")]) == 0
    (picture,) = drawn
    axes = picture.axes[-1]
    picture.canvas.draw()
    labels = [label for label in axes.get_xticklabels(which="both") if label.get_text()]
    assert [label.get_text() for label in labels] == ["320", "1,280", "5,120"]
    boxes = [label.get_window_extent() for label in labels]
    assert all(first.x1 < second.x0 for first, second in pairwise(boxes))
    low, high = axes.get_ylim()
    distances = [
        label.get_text()
        for label in axes.get_yticklabels(which="both")
        if label.get_text() and low <= label.get_position()[1] <= high
    ]
    assert distances
    assert all(low <= float(label) <= high for label in distances)


@pytest.mark.parametrize(
    ("more", "options", "said"),
    [
        ('service = "deterministic"', [], "Poisson arrivals and exponential service"),
        ("initial = { full = { one = 4 } }", [], "starts empty"),
        ("", ["--policy", "first-fit"], "expected one with a known fluid limit (dra, static), got 'first-fit'"),
        ("", ["--servers", "20"], "at least 160 servers"),
        ("", ["--replications", "2"], "--replications: expected at least 3"),
        ("", ["--store", "s.db"], "--store: has no meaning"),
        ("", ["--log", "3"], "--log: has no meaning"),
        ("", ["--engine", "dask://127.0.0.1:1"], "--engine: has no meaning"),
        ("", ["--warmup", "1"], "--warmup: has no meaning"),
    ],
)
def test_bad_input(
    more: str, options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "i.toml"
    path.write_text(f"{SMALL}\n[simulation]\n{more}\n")
    usual = {"--policy": "dra", "--servers": "1000", "--until": "2"} | dict([options] if options else [])
    command = ["simulate", str(path), "--against-fluid", *(word for pair in usual.items() for word in pair)]
    assert run(command) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
