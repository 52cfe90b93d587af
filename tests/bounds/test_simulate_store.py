"""``simulate --store`` for the three models: told apart by all they depend on, interrupted."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from fluid.experiment.replications import fingerprint, simulate_stored
from fluid.experiment.store import Store
from fluid.simulation import driver
from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import simulate
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.measures import Measures
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import discrete
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
        return int(connection.execute("select count(*) from cells").fetchone()[0])
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
        pytest.raises(InputError, match="--store: a scenario with Python callables"),
    ):
        simulate_stored(store, policy("nonpreemptive"), scenario, replications=1, seed=0)


@pytest.mark.parametrize("error", [zlib.error("invalid block"), NotImplementedError("zip 25.5"), KeyError("log")])
def test_a_damaged_run_is_refused(error: Exception, tmp_path: Path) -> None:
    """Damage to an archive shows in many ways before its checksum is reached."""

    def unpack(content: bytes) -> None:
        raise type(error)(len(content))

    with Store(tmp_path / "s.db") as store:
        store.put("k", 0, {}, {"queue": 1.0}, 0.5, b"archive")
        with pytest.raises(InputError, match="a cell holds no run: take a new file"):
            store.run("k", unpack)


@pytest.mark.parametrize("changed", [*Measures._fields, "all"])
def test_arrays_that_are_no_run_of_the_scenario_are_refused(changed: str, tmp_path: Path) -> None:
    """Empty ones, and ones with a row too many, of each measure: the archive itself is sound."""
    scenario = QueueScenario(additive([6], [[4], [1]], workload=["1/4", "1/4"]), 2, 20.0, 5.0)
    rule = policy("nonpreemptive")
    with Store(tmp_path / "s.db") as store:
        first = simulate_stored(store, rule, scenario, replications=1, seed=0, workers=1)
        stored = simulate_stored(store, rule, scenario, replications=1, seed=0)
        assert stored.runs[0].mean_queue == first.runs[0].mean_queue
        for spoil in (lambda x: x[:0], lambda x: np.concatenate([x, x[:1] if len(x) else np.zeros((1, *x.shape[1:]))])):
            measures = first.runs[0].measures._asdict()
            for name in measures if changed == "all" else [changed]:
                measures[name] = spoil(measures[name])
            if all(np.array_equal(x, getattr(first.runs[0].measures, name)) for name, x in measures.items()):
                continue  # one that is empty in this model
            stream = BytesIO()
            np.savez(stream, **measures)
            with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
                connection.execute("update cells set arrays = ?", (stream.getvalue(),))
            with pytest.raises(InputError, match="a cell holds no run: take a new file"):
                simulate_stored(store, rule, scenario, replications=1, seed=0)


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
