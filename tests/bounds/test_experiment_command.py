"""``packproof experiment`` with policies of all models: what is told of each, what is compared, what is unstable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bounds.cli import run
from tests.instances import TWO

INSTANCE = TWO.replace("workload = 1", "workload = 0.5") + "service_rate = 0.5\n"

GRID = """
instance = "two.toml"
until = 40
replications = 3
servers = 4
[vary]
policy = ["first-fit", "nonpreemptive", "bf-js", "best-fit", "max-weight-local", "bf-s"]
workload = ["1/2", 2.1]
"""


def made(folder: Path) -> list[str]:
    (folder / "two.toml").write_text(INSTANCE)
    (folder / "grid.toml").write_text(GRID)
    return ["experiment", str(folder / "grid.toml"), "--store", str(folder / "s.db"), "--workers", "1"]


@pytest.mark.slow
def test_policies_of_all_models_in_one_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = made(tmp_path)
    assert run([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    # 5 + 7 fill a server: half a job of each type a server is an intensity of 1/2, and 2.1 times that 1.05
    assert "4 of 12 points are unstable" in shown.err
    assert "1.05" in shown.err
    waiting = {"nonpreemptive", "bf-js", "max-weight-local", "bf-s"}
    for group in answer["groups"]:
        place = group["parameters"]
        expected = {"1/2": 0.25, "2.1": 1.05}[place["workload"]] if place["policy"] in waiting else None
        assert group["traffic_intensity"] == (None if expected is None else pytest.approx(expected))
    pairs = {(one["first"], one["second"], one["number"]) for one in answer["comparisons"]}
    assert pairs == {  # slots of time and continuous time do not see the same jobs
        ("first-fit", "best-fit", "reward"),
        ("nonpreemptive", "max-weight-local", "queue"),
        ("bf-js", "bf-s", "queue"),
    }
    assert run(arguments) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    rows = {tuple(line.split()[:2]): line for line in lines if line.startswith(tuple(waiting | {"first", "best"}))}
    for (policy, workload), line in rows.items():
        assert f" {'queue' if policy in waiting else 'reward'} " in line
        assert ("unstable: traffic intensity 1.05" in line) is (policy in waiting and workload == "2.1")
    assert len(rows) == 12


def test_long_values_are_shown_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = made(tmp_path)
    long = ['{ law = "hyper-exponential", scv = 3 }', '{ law = "hyper-exponential", scv = 30 }']
    text = GRID.replace('["first-fit"', '["first-fit"] #').replace("[vary]", f"[vary]\nservice = [{', '.join(long)}]")
    (tmp_path / "grid.toml").write_text(text)
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    for scv in ('"scv": 3}', '"scv": 30}'):
        assert sum(scv in line for line in lines) == 2
    assert len({line.index(" reward ") for line in lines if " reward " in line}) == 1
