"""Grids: where fields belong, defaults of ``simulate``, summaries, status and forecasts; traces that say the load."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bounds.answers import schema
from bounds.cli import run
from fluid.experiment.forecast import forecast
from fluid.experiment.grid import read_grid, scenario_of
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import rows, summary_table
from fluid.simulation.policy_names import policy
from fluid.statistics import mean_interval
from tests.fluid.traced import INSTANCE, JOBS, numbers_of_cell
from theory.errors import InputError

GRID = """instance = "i.toml"
until = 8
servers = 3
policy = "first-fit"
"""
LEFT = INSTANCE.replace("reward = 1\n", "").replace("reward = 5\n", "").replace("workload = 3\n", "")
LEFT = LEFT.replace('workload = "3/4"\n', "")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    (tmp_path / "i.toml").write_text(INSTANCE)
    (tmp_path / "left.toml").write_text(LEFT)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path / "g.toml"


def test_a_table_of_the_grid_is_that_of_the_instance(grid: Path) -> None:
    grid.write_text(GRID + '[simulation]\nservice = "deterministic"\n')
    (one,) = read_grid(grid).cells
    (grid.parent / "i.toml").write_text(INSTANCE + '\n[simulation]\nservice = "deterministic"\n')
    grid.write_text(GRID)
    (other,) = read_grid(grid).cells
    assert one.key == other.key
    grid.write_text(GRID + '[simulation]\nservice = "exponential"\n')
    (third,) = read_grid(grid).cells
    assert third.key != other.key, "the grid stands above the instance"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('reservation = "log L"\n', r"g\.toml: reservation: belongs under \[simulation\], with one value, or"),
        ('service = "deterministic"\n', r"g\.toml: service: belongs under \[simulation\]"),
        ("[vary]\nuntil = [3, 4]\n", r"vary\.until: belongs at the top of the file, with one value for all cells"),
        ("[vary]\nreplications = [3]\n", r"vary\.replications: belongs at the top"),
        ("[simulation]\nservers = 4\n", r"simulation\.servers: belongs at the top of the file, or under \[vary\]"),
        ("[simulation]\nuntil = 4\n", r"simulation\.until: belongs at the top of the file"),
        ("[simulation]\nd = 2\n[vary]\nd = [2, 3]\n", r"vary\.d: expected it here or under \[simulation\]"),
        ("[simulation]\ncolour = 2\n", r"simulation\.colour: unknown field"),
        ("colour = 2\n", r"g\.toml: colour: unknown field"),
    ],
)
def test_messages_say_where_a_field_belongs(more: str, said: str, grid: Path) -> None:
    grid.write_text(GRID + more)
    with pytest.raises(InputError, match=said):
        read_grid(grid)


def test_defaults_are_those_of_simulate(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid.write_text(GRID)
    (cell,) = read_grid(grid).cells
    arguments = ["simulate", str(grid.parent / "i.toml"), "--policy", "first-fit", "--servers", "3", "--until", "8"]
    assert run([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["replications"], answer["warmup"]) == (1, cell.document["warmup"])
    assert cell.document["seed"] == 0


def test_types_without_workload_and_reward_take_the_load_of_the_trace(grid: Path) -> None:
    grid.write_text(
        GRID.replace("i.toml", "left.toml")
        + '[simulation]\narrivals = { trace = "jobs.csv" }\n[vary]\npolicy = ["first-fit", "static"]\n'.replace(
            "policy", "policy"
        )
    )
    grid.write_text(grid.read_text().replace('policy = "first-fit"\n', "", 1))
    for cell in read_grid(grid).cells:
        scenario = scenario_of(cell.document, policy(cell.document["policy"]))
        lines = list(csv.DictReader(JOBS.splitlines()))
        span = float(lines[-1]["time"])
        for j, name in enumerate(("small", "big")):
            busy = sum(float(row["duration"]) for row in lines if row["type"] == name)
            assert float(scenario.instance.workload[j]) == pytest.approx(busy / (3 * span))
        assert scenario.instance.rewards == (1, 1)
        numbers = numbers_of_cell(cell)
        assert numbers["reward"] == pytest.approx((numbers["jobs.small"] + numbers["jobs.big"]) / 3)
    grid.write_text(GRID.replace("i.toml", "left.toml"))
    with pytest.raises(InputError, match=r"left\.toml: type\[1\]\.reward: missing"):
        read_grid(grid)


@pytest.mark.slow
def test_summary_status_and_forecast(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid.write_text(GRID + "replications = 4\n[vary]\nworkload = [0.5, 1]\n")
    store, points = grid.parent / "s.db", grid.parent / "points.csv"
    asked = ["experiment", str(grid), "--store", str(store)]

    def status() -> Any:
        capsys.readouterr()
        assert run([*asked, "--status", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        jsonschema.validate(found, schema("experiment_status"))
        return found

    before = status()
    assert (before["cells"], before["finished"], before["measured"]) == (8, 0, False)
    assert not store.exists(), "nothing is run, nothing is written"
    planned = read_grid(grid)
    half = type(planned)(planned.cells[:4], planned.parameters)
    with Store(store) as opened:
        run_experiment(half, opened, workers=1)
        meanwhile = status()  # while another process could write
    assert [point["finished"] for point in meanwhile["points"]] == [4, 0]
    assert meanwhile["measured"]
    assert meanwhile["events_left"] == pytest.approx(before["events_left"] * 2 / 3), "loads 1/2 and 1"
    assert run([*asked, "--workers", "1", "--summary", str(points)]) == 0
    after = status()
    assert (after["finished"], after["events_left"]) == (8, 0)
    table = list(csv.DictReader(points.read_text().splitlines()))
    with Store(store) as opened:
        every = list(rows(planned, opened))
        assert summary_table(planned, opened) == points.read_text()
    for point in table:
        values = [row["reward"] for row in every if str(row["workload"]) == point["workload"]]
        expected = mean_interval(values)
        found = [float(point[name]) for name in ("reward", "reward.low", "reward.high")]
        assert found == pytest.approx([expected.mean, expected.low, expected.high])
        assert point["replications"] == "4"
    assert run([*asked, "--status", "--csv", str(points)]) == 2


def test_the_forecast_expects_what_comes(grid: Path) -> None:
    grid.write_text(GRID.replace("until = 8", "until = 400") + "replications = 1\n[vary]\nworkload = [0.2]\n")
    planned = read_grid(grid)
    (cell,) = planned.cells
    numbers = numbers_of_cell(cell)
    events, expected = numbers["events"], forecast(planned, None).events
    assert events is not None
    # arrivals are Poisson with mean expected / 2, and each departs; 6 deviations: false alarm below 1e-6
    assert abs(events - expected) < 6 * (2 * expected) ** 0.5
    assert expected == scenario_of(cell.document, policy("first-fit")).expected_events
