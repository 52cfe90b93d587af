"""``simulate --store`` for the three models: told apart by all they depend on, interrupted."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from fluid.experiment.arrays import packed
from fluid.experiment.grid import read_grid, scenario_of
from fluid.experiment.keys import fingerprint, key_of_run, key_of_runs
from fluid.experiment.replications import put_run, read_run, simulate_stored
from fluid.experiment.run import run_cell
from fluid.experiment.store import Store
from fluid.simulation import driver
from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import simulate
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import discrete
from tests.fluid.test_experiment import grid_file
from theory.errors import InputError
from theory.instance import additive

ROOT = Path(__file__).parent.parent.parent
CAUGHT = str(ROOT / "examples" / "caught.toml")
SIZES = '[sizes]\nuniform = ["0.1", "0.9"]\n[simulation]\nintensity = 0.8\nservice_rate = 0.01\n'


def rows(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("select count(*) from results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["simulate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    for volatile in ("events_per_second", "events_as_python", "made"):  # which name clocks, this process, and options
        del found[volatile]
    return found


def test_logs_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [CAUGHT, "--policy", "max-weight-local", "--servers", "2", "--until", "50", "--log", "7"]
    kept = ["--store", str(tmp_path / "s.db")]
    first = answer([*arguments, *kept], capsys)
    assert len(first["log"]) == 7
    assert first == answer([*arguments, *kept], capsys) == answer(arguments, capsys)


def test_every_part_of_a_scene_counts() -> None:
    law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    jobs = JobList(np.array([0, 1]), np.zeros(2, np.int32), np.ones(2, np.int64))
    slotted = SlottedScenario(law, 2, 1000, 100, rate=0.01)
    queue = QueueScenario(additive([6], [[4], [1]], workload=["1/2", 1]), 2, 50.0, 5.0)
    scenarios = [
        slotted,
        replace(slotted, law=discrete({Fraction(2, 5): 1, Fraction(3, 5): 2})),
        replace(slotted, law=discrete({Fraction(1, 5): 1, Fraction(3, 5): 1})),
        replace(slotted, servers=3),
        replace(slotted, rate=0.02),
        replace(slotted, service=0.5),
        replace(slotted, service=(0.5, 0.5)),
        replace(slotted, fixed=True),
        replace(slotted, jobs=jobs),
        replace(slotted, jobs=jobs._replace(durations=2 * jobs.durations)),
        replace(slotted, options={"partition": 3}),
        replace(slotted, log=1),
        queue,
        replace(queue, until=51.0),
        replace(queue, instance=additive([6], [[4], [2]], workload=["1/2", 1])),
        replace(queue, options={"beta": 0.5}),
    ]
    assert len({fingerprint(scenario) for scenario in scenarios}) == len(scenarios)
    assert fingerprint(replace(slotted, jobs=jobs)) == fingerprint(replace(slotted, jobs=JobList(*jobs)))


def test_what_cannot_be_kept(tmp_path: Path) -> None:
    scenario = QueueScenario(additive([1], [[1]]), 1, 10.0, 1.0, stream=iter)
    with (
        Store(tmp_path / "s.db") as store,
        pytest.raises(InputError, match="store: a scenario with Python callables"),
    ):
        simulate_stored(store, policy("nonpreemptive"), scenario, replications=1, seed=0)


@pytest.mark.parametrize("content", [b"", b"no archive", packed({}), packed({"edges": [1.0]}), packed({"other": 1})])
def test_a_content_that_is_no_run_is_refused(content: bytes, tmp_path: Path) -> None:
    """Its digest is right, so that it was written by a program that is not this one."""
    scenario = QueueScenario(additive([6], [[4], [1]], workload=["1/4", "1/4"]), 2, 20.0, 5.0)
    rule = policy("nonpreemptive")
    with Store(tmp_path / "s.db") as store:
        store.put(key_of_run(key_of_runs(rule, scenario, 0), 0), content, 1.0)
        with pytest.raises(InputError, match="a cell is damaged: take a new file"):
            simulate_stored(store, rule, scenario, replications=1, seed=0)


def test_a_run_that_was_read_is_the_run_that_was_stored(tmp_path: Path) -> None:
    scenario = QueueScenario(additive([6], [[4], [1]], workload=["1/4", "1/4"]), 2, 20.0, 5.0, log=3)
    rule = policy("nonpreemptive")
    with Store(tmp_path / "s.db") as store:
        (first,) = simulate_stored(store, rule, scenario, replications=1, seed=0, workers=1).runs
        (again,) = simulate_stored(store, rule, scenario, replications=1, seed=0).runs
    for name, array in first.measures._asdict().items():
        stored = getattr(again.measures, name)
        assert np.array_equal(stored, array)
        assert (stored.dtype, stored.shape, stored.flags.writeable) == (array.dtype, array.shape, True)


def test_a_cell_of_a_grid_and_a_replication_of_one_seed_are_one_result(tmp_path: Path) -> None:
    """The key says policy, scenario and seed, and nothing of the command that ran it."""
    cell = read_grid(grid_file(tmp_path, replications=2)).cells[1]
    found = policy(cell.document["policy"])
    scenario = scenario_of(cell.document, found)
    assert cell.replication == 1
    with Store(tmp_path / "s.db") as store:
        put_run(store, cell.key, run_cell(cell))
        stored = read_run(store, cell.key, scenario)
        assert stored is not None
        simulated = simulate_stored(store, found, scenario, replications=2, seed=cell.entropy, workers=1).runs
        assert rows(tmp_path / "s.db") == 2
        assert simulated[1].seconds == stored.seconds
        simulated = simulate(found, scenario, replications=2, seed=cell.entropy).runs
    assert simulated[1].mean_reward == stored.mean_reward != simulated[0].mean_reward


def test_interrupted_run_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = QueueScenario(additive([6], [[4], [1]], workload=["1/2", 1]), 2, 50.0, 5.0)
    whole = simulate("nonpreemptive", scenario, replications=2, seed=1)
    once = driver.run_once
    found = policy("nonpreemptive")

    def cut(*arguments: Any, **how: Any) -> Any:
        return replace(once(*arguments, **how), interrupted=True)

    with Store(tmp_path / "s.db") as store:
        how: Any = {"seed": 1, "workers": 1}
        simulate_stored(store, found, scenario, replications=1, **how)
        with monkeypatch.context() as patch:
            patch.setattr(driver, "run_once", cut)
            part = simulate_stored(store, found, scenario, replications=2, **how)
        assert len(part.runs) == 1  # a part of a run does not stand beside a whole one
        assert rows(tmp_path / "s.db") == 1
        again = simulate_stored(store, found, scenario, replications=2, **how)
    assert [one.mean_queue for one in again.runs] == [one.mean_queue for one in whole.runs]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["loss", "queue"])
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_among_replications_is_told(tmp_path: Path, model: str, workers: int) -> None:
    """Two replications are finished when Ctrl-C comes; they are the answer, which says that it is a part."""
    instance = additive([6], [[4], [1]], workload=["1/2", 1])
    with Store(tmp_path / "s.db") as store:

        def stop(line: str) -> None:
            if "2 of 9" in line:
                raise KeyboardInterrupt

        loss, queue = LossScenario(instance, 2, 50.0, 5.0), QueueScenario(instance, 2, 50.0, 5.0)
        name, scenario = ("first-fit", loss) if model == "loss" else ("nonpreemptive", queue)
        how: dict[str, Any] = {"replications": 9, "seed": 1}
        found = simulate_stored(store, policy(name), scenario, workers=workers, progress=stop, **how)
        whole = simulate_stored(store, policy(name), scenario, workers=1, **how)
    assert (len(found.runs), found.interrupted) == (2, True)
    assert (len(whole.runs), whole.interrupted) == (9, False)
