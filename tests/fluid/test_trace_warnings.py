"""What is told of a trace: an early end, copies of one run, who is cut off; in grids each once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bounds.cli import run
from fluid.experiment.grid import read_grid
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import comparisons, summary
from tests.fluid.test_trace import TABLE
from tests.fluid.traced import HEAD, INSTANCE, JOBS, LAST, asked, refused, simulated


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "unit"), [("nonpreemptive", 1.0), ("first-fit", 1.0), ("bf-js", 0.5)])
def test_a_trace_that_ends_early(policy: str, unit: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told where it ends before the horizon, silent where it does not, refused where it ends within the warm-up."""
    path = tmp_path / "t.csv"
    path.write_text("time,duration,size\n" + "".join(f"{i},1,0.5\n" for i in range(11)))
    instance = (
        "[server]\ncapacity = { size = 1 }\n[[type]]\nname = 'a'\ndemand = { size = 0.5 }\nreward = 1\nworkload = 1\n"
    )
    simulation = f"slot = {unit}" if policy == "bf-js" else ""
    arguments = [*asked(tmp_path, simulation, instance), "--policy", policy, "--trace", str(path), "--until"]
    last, unit_name = 10 / unit, " slots" if policy == "bf-js" else " s"
    units = [f"{path}: --until and --warmup count slots for a slotted policy, seconds for others"][: policy == "bf-js"]
    found, told = simulated([*arguments, "40"], capsys)
    assert found["trace"]["arrivals"] == found["trace"]["used"] == 11
    assert (found["trace"]["last"], found["trace"]["ends_early"]) == (last, True)
    expected = (
        f"{path}: the last arrival is at {last:g}{unit_name}, before --until 40: nobody comes in the {40 - last:g}"
    )
    assert told[:-1] == units
    assert told[-1].startswith(expected)
    assert found["trace"]["unit"] == unit_name.strip()
    found, told = simulated([*arguments, f"{last:g}"], capsys)
    assert (found["trace"]["ends_early"], found["trace"]["used"], told) == (False, 10, units)
    found, told = simulated([*arguments, f"{last + 1:g}"], capsys)
    assert (found["trace"]["ends_early"], found["trace"]["used"], len(told)) == (True, 11, len(units) + 1)
    message = refused([*arguments, "40", "--warmup", f"{last + 1:g}"], capsys)
    assert message.startswith(
        f"{path}: the last arrival is at {last:g}{unit_name}, before the warm-up is over at {last + 1:g}"
    )
    assert simulated([*arguments, "40", "--warmup", f"{last:g}"], capsys)[0]["trace"]["last"] == last


@pytest.mark.slow
def test_no_task_at_time_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    for text, lines in ((JOBS, 1), (JOBS.replace(HEAD, HEAD + "present,1,small,1,2\n"), 0)):
        path.write_text(text)
        for policy in ("nonpreemptive", "first-fit"):
            arguments = [
                *asked(tmp_path, 'initial = "trace"'),
                "--policy",
                policy,
                "--until",
                "10",
                "--trace",
                str(path),
            ]
            found, told = simulated(arguments, capsys)
            assert found["initial"]["jobs"] == 1 - lines
            assert len(told) == lines
            assert all('initial = "trace", but no task of the trace runs at time 0' in line for line in told)


def test_who_is_cut_off_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arrivals of a window that outlast it have the service that was seen: the answer says how many."""
    (tmp_path / "t.csv").write_text(TABLE.replace("705000000,FINISH", ",CENSORED"))
    path = tmp_path / "s.toml"
    path.write_text("[sizes]\nuniform = [0.1, 0.9]\n[simulation]\nslot = 1\n")
    arguments = ["simulate", str(path), "--servers", "1", "--policy", "bf-js", "--until", "100", "--trace"]
    found, _ = simulated([*arguments, str(tmp_path / "t.csv")], capsys)
    assert (found["trace"]["arrivals"], found["trace"]["cut_off"]) == (4, 1)
    assert "1 attempts never scheduled dropped" in found["trace"]["notes"]


@pytest.mark.parametrize("policy", ["nonpreemptive", "first-fit"])
def test_identical_replications_count_as_one(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(JOBS)
    arguments = [*asked(tmp_path)[:-1], "1", "--policy", policy, "--until", "11"]
    arguments += ["--trace", str(tmp_path / "t.csv")]
    one, silent = simulated(arguments, capsys)
    many, told = simulated([*arguments, "--replications", "3"], capsys)
    apart = {"events_per_second": 0, "events_as_python": 0, "made": 0}
    assert many | apart == one | apart
    assert (silent, len(told)) == ([], 1)
    assert told[0].startswith(f"all 3 replications are identical ({policy} draws nothing")
    number = many["queue"] if "queue" in many else many["reward"]
    assert number["ci95"][0] < number["ci95"][1]


def test_replications_of_a_policy_that_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(JOBS)
    arguments = [*asked(tmp_path), "--policy", "randomized-sampling", "--until", "11", "--replications", "3", "--trace"]
    found, told = simulated([*arguments, str(tmp_path / "t.csv")], capsys)
    assert found["replications"] == 3
    assert ["jobs and their service are those of the trace in every replication" in line for line in told] == [True]
    drawn, told = simulated([*asked(tmp_path), "--policy", "first-fit", "--until", "11", "--replications", "2"], capsys)
    assert (drawn["replications"], told) == (2, [])


def test_a_grid_says_each_thing_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two policies, two numbers of servers, three replications: a line a trace; no interval from copies of one run."""
    (tmp_path / "i.toml").write_text(INSTANCE)
    (tmp_path / "t.csv").write_text(JOBS)
    grid = tmp_path / "grid.toml"
    grid.write_text(
        'instance = "i.toml"\nuntil = 20\nreplications = 3\ninitial = "trace"\n[vary]\nservers = [1, 2]\n'
        'policy = ["nonpreemptive", "randomized-sampling"]\narrivals = [{ trace = "t.csv" }]\n'.replace(
            'initial = "trace"\n[vary]', '[vary]\ninitial = ["trace"]'
        )
    )
    assert run(["experiment", str(grid), "--store", str(tmp_path / "s.db"), "--workers", "1"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "t.csv" in line]
    assert len(told) == 3
    assert f"the last arrival is at {LAST:g} s, before until 20" in told[0]
    assert "no task of the trace runs at time 0" in told[1]
    assert "in every replication" in told[2]
    with Store(tmp_path / "s.db") as store:
        planned = read_grid(grid)
        assert run_experiment(planned, store, workers=1) == 0
        for group in summary(planned, store):
            drawn = group.parameters["policy"] == "randomized-sampling"
            assert group.replications == 3
            assert np.isfinite(group.numbers["queue"].high) == drawn
        assert all(np.isfinite(one.difference.high) for one in comparisons(planned, store, "queue"))
        grid.write_text(grid.read_text().replace("randomized-sampling", "max-weight-local"))
        planned = read_grid(grid)
        run_experiment(planned, store, workers=1)
        assert not any(np.isfinite(one.difference.high) for one in comparisons(planned, store, "queue"))
    grid.write_text(grid.read_text().replace("until = 20", "until = 60"))
    message = refused(["experiment", str(grid), "--store", str(tmp_path / "s.db")], capsys)
    assert message.startswith(
        f"{grid}: {tmp_path / 't.csv'}: the last arrival is at 11.7 s, before the warm-up is over"
    )
