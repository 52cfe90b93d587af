"""Grids: traffic intensities, names of numbers before a run, jobs accepted of all, and runs of a trace that repeat."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from bounds.answers import schema
from bounds.cli import run
from fluid.experiment.grid import read_grid, scenario_of
from fluid.simulation.policy_names import policy
from tests.fluid.traced import INSTANCE, JOBS, numbers_of_cell
from theory.errors import InputError
from theory.files.instances import parse_instance, read_instance
from theory.region.membership import traffic_intensity

GRID = 'instance = "i.toml"\nuntil = 8\nservers = 3\n'
SIZES = '[sizes]\nuniform = ["1/10", "9/10"]\nservers = 3\n[simulation]\nintensity = 0.5\nservice_rate = 0.1\n'
TRACE = '[simulation]\narrivals = { trace = "jobs.csv" }\n'


@pytest.fixture
def grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "i.toml").write_text(INSTANCE)
    (tmp_path / "sizes.toml").write_text(SIZES)
    (tmp_path / "one.toml").write_text(
        INSTANCE.replace(", mem = 16", "").replace(", mem = 2", "").replace(", mem = 4", "")
    )
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "one.csv").write_text("\n".join(line.rpartition(",")[0] for line in JOBS.splitlines()))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "g.toml"


@pytest.mark.parametrize(
    ("file", "policies"),
    [
        ("i.toml", ("first-fit", "dra", "static", "power-of-d", "best-fit")),
        ("i.toml", ("nonpreemptive", "randomized-sampling")),
        ("one.toml", ("bf-j", "first-fit", "dra")),
        ("sizes.toml", ("bf-js", "vqs")),
    ],
)
def test_names_of_numbers_are_known_before_the_run(file: str, policies: tuple[str, ...], grid: Path) -> None:
    grid.write_text(GRID.replace("i.toml", file) + f"[vary]\npolicy = {json.dumps(policies)}\n")
    planned = read_grid(grid)
    ran = {name for cell in planned.cells for name in numbers_of_cell(cell)} - {"drift"}
    assert set(planned.numbers) == ran


def test_names_of_numbers_are_listed(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid.write_text(GRID + 'policy = "first-fit"\n')
    assert run(["experiment", str(grid), "--number", "list", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)
    jsonschema.validate(names, schema("experiment_numbers"))
    assert names == list(read_grid(grid).numbers)
    assert run(["experiment", str(grid), "--number", "list"]) == 0
    assert capsys.readouterr().out.split() == names


@pytest.mark.slow
@pytest.mark.parametrize("words", ["--number profit --plot p.png", "--against seed --plot p.png", "--scale log", ""])
def test_wrong_names_run_nothing(words: str, grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid.write_text(GRID + '[vary]\npolicy = ["first-fit"]\n')
    store = ["--store", "s.db"] if words else []
    assert run(["experiment", str(grid), *store, *words.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith((words or "--store").split()[0])
    assert not Path("s.db").exists()


def test_a_workload_is_scaled_to_an_intensity(grid: Path) -> None:
    grid.write_text(GRID + 'policy = "nonpreemptive"\n[vary]\nintensity = ["4/5", 0.89, 1]\n')
    planned = read_grid(grid)
    for cell, wanted in zip(planned.cells, (Fraction(4, 5), Fraction(89, 100), Fraction(1)), strict=True):
        instance = parse_instance({name: cell.document[name] for name in ("server", "type")})
        assert traffic_intensity(instance) == wanted
        assert cell.intensity == pytest.approx(float(wanted))
        first, second = instance.workload
        assert first / second == 4, "the mix stays"
    grid.write_text(GRID + 'policy = "nonpreemptive"\nintensity = "4/5"\n')
    assert read_grid(grid).cells[0].key == planned.cells[0].key, "at the top, or varied with one value"


def test_a_law_of_sizes_has_its_own_field(grid: Path) -> None:
    grid.write_text(GRID.replace("i.toml", "sizes.toml") + 'policy = "bf-js"\n[vary]\nintensity = [0.25, 0.5]\n')
    half, as_in_the_file = (scenario_of(cell.document, policy("bf-js")).rate for cell in read_grid(grid).cells)
    assert half == pytest.approx(as_in_the_file / 2)
    grid.write_text(GRID.replace("i.toml", "sizes.toml") + 'policy = "bf-js"\n')
    assert scenario_of(read_grid(grid).cells[0].document, policy("bf-js")).rate == as_in_the_file


@pytest.mark.parametrize(("name", "file"), [("nonpreemptive", "i.toml"), ("first-fit", "i.toml"), ("bf-j", "one.toml")])
def test_a_trace_is_stretched_to_an_intensity(name: str, file: str, grid: Path) -> None:
    trace = TRACE.replace("jobs", "jobs" if file == "i.toml" else "one")
    grid.write_text(GRID.replace("i.toml", file) + f'policy = "{name}"\n[vary]\nintensity = [0.5, 2]\n{trace}')
    instance = read_instance(grid.parent / file)
    for cell, wanted in zip(read_grid(grid).cells, (0.5, 2.0), strict=True):
        jobs = scenario_of(cell.document, policy(name)).jobs
        busy = np.bincount(jobs.types, weights=jobs.durations) / (3 * (jobs.times[-1] - jobs.times[0]))
        measured = [Fraction(float(rho)).limit_denominator(10**9) for rho in busy]
        # slots of 0.1 s round times and durations up
        tolerance = 0.05 if name == "bf-j" else 1e-5
        assert float(traffic_intensity(instance.with_workload(measured))) == pytest.approx(wanted, rel=tolerance)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("intensity = 0\n", "g.toml: intensity: expected a traffic intensity greater than 0, got 0"),
        ('intensity = "high"\n', "g.toml: intensity: expected a traffic intensity greater than 0"),
        ("intensity = 0.8\nworkload = 2\n", "g.toml: intensity: expected a traffic intensity or a factor"),
        ("intensity = 0.8\n[vary]\nintensity = [0.9]\n", "g.toml: intensity: expected it here or under [vary]"),
    ],
)
def test_refused_intensities(more: str, said: str, grid: Path) -> None:
    grid.write_text(GRID + 'policy = "first-fit"\n' + more)
    with pytest.raises(InputError) as refused:
        read_grid(grid)
    assert str(refused.value).startswith(f"{grid.parent}/{said}")
    (grid.parent / "i.toml").write_text(INSTANCE.replace("= 3\n", "= 0\n").replace('"3/4"', "0"))
    grid.write_text(GRID + 'policy = "first-fit"\nintensity = 0.8\n')
    with pytest.raises(InputError, match="intensity: expected types with a workload, which is scaled, found none"):
        read_grid(grid)


def counted(monkeypatch: pytest.MonkeyPatch, place: str) -> list[Any]:
    """Count the calls of a function."""
    from importlib import import_module

    module, _, name = place.rpartition(".")
    inner, calls = getattr(import_module(module), name), []

    def counting(*arguments: Any, **how: Any) -> Any:
        calls.append(arguments)
        return inner(*arguments, **how)

    monkeypatch.setattr(place, counting)
    return calls


@pytest.mark.parametrize(("name", "runs"), [("first-fit", 1), ("best-fit", 1), ("power-of-d", 4)])
def test_a_policy_that_draws_nothing_runs_once_on_a_trace(
    name: str, runs: int, grid: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid.write_text(GRID + f'policy = "{name}"\nreplications = 4\n{TRACE}')
    words = f"--policy {name} --servers 3 --until 8 --trace jobs.csv --replications 4 --json"
    ran = counted(monkeypatch, "fluid.simulation.driver.run_once")
    monkeypatch.setattr("fluid.simulation.driver.run_all", one_by_one)
    assert run(["simulate", "i.toml", *words.split()]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(ran) == runs
    assert answer["replications"] == runs, "copies of one run count once"
    monkeypatch.setattr("fluid.experiment.run.run_all", one_by_one)
    cells = counted(monkeypatch, "fluid.experiment.run.run_cell")
    assert run(["experiment", str(grid), "--store", "s.db", "--csv", "rows.csv", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert len(cells) == runs
    assert summary["finished"] == 4
    rows = Path("rows.csv").read_text().splitlines()
    assert len(rows) == 5
    assert (len({row.partition(",")[2] for row in rows[1:]}) == 1) == (runs == 1)
    accepted = summary["groups"][0]["numbers"]["acceptance"]
    # the same jobs, which a policy that draws nothing accepts alike
    assert runs > 1 or accepted["mean"] == pytest.approx(answer["accepted"]["mean"])
    by_type = [summary["groups"][0]["numbers"][f"acceptance.{kind}"]["mean"] for kind in ("small", "big")]
    assert min(by_type) <= accepted["mean"] <= max(by_type)


def one_by_one(function: Any, tasks: Any, **how: Any) -> Any:
    """Run tasks here, in the module's own name of the function, which counts."""
    del how
    from fluid.experiment import run as cells
    from fluid.simulation import driver

    called = cells.run_cell if function.__name__ == "counting" or function is cells.run_cell else driver.run_replication
    return ((number, called(*task)) for number, task in enumerate(tasks))


def test_laws_are_drawn_anew(grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a trace no run is a copy, whatever the policy draws."""
    ran = counted(monkeypatch, "fluid.simulation.driver.run_once")
    monkeypatch.setattr("fluid.simulation.driver.run_all", one_by_one)
    words = "--policy first-fit --servers 3 --until 8 --replications 3"
    assert run(["simulate", "i.toml", *words.split()]) == 0
    assert len(ran) == 3
    # service of jobs at time 0 is drawn, though the others are listed
    (grid.parent / "i.toml").write_text(f"{INSTANCE}\n{TRACE}initial = {{ full = {{ small = 2 }} }}\n")
    assert run(["simulate", "i.toml", *words.split()]) == 0
    assert len(ran) == 6
