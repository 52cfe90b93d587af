"""Systems that do not start empty: queues at time 0, tasks of a trace; traces in experiments."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import run
from fluid.experiment.grid import read_grid
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import table
from fluid.simulation.arrivals import JobList, Law
from fluid.simulation.documents import InitialJobs
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.measures import ARRIVAL, KINDS, START
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.loop import fill, join, new_lines
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.run import COMPILED_FROM
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import discrete
from fluid.traces import file as trace_file
from fluid.traces.file import TraceFile
from fluid.traces.google import read_google_table
from fluid.traces.jobs import sized_jobs
from fluid.traces.preprocess import single_resource
from tests.fluid.conserved import conserve_queue, conserve_slots
from theory.errors import InputError
from theory.instance import Instance, additive

CONTINUOUS = ("nonpreemptive", "max-weight-local", "randomized-sampling")
SLOTTED = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "max-weight", "fifo-ff")
SEED = np.random.SeedSequence(5)
CAUGHT = Path(__file__).parent.parent.parent / "examples" / "caught.toml"


def rows(run_: Any, kind: int) -> list[list[float]]:
    log = run_.measures.log[: int(run_.measures.logged[0])]
    return log[log[:, 1] == kind][:, [0, 2, 3]].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_queue_drains_by_the_clock(name: str) -> None:
    """One job a server, service of exactly 1, nobody comes: after n rounds n L of N jobs have begun."""
    scenario = QueueScenario(
        additive([1], [[1]], workload=[0]), 3, 30.0, 0.0, service=Law("deterministic"), queue=(20,), bins=30, log=100
    )
    done = run_once(policy(name), scenario, SEED)
    assert done.measures.arrivals[0, 0] == 20
    assert done.measures.starts.sum() == done.measures.ends.sum() == 20
    if name != "randomized-sampling":  # which finds servers by chance
        assert done.queue.tolist() == [max(0, 20 - 3 * (n + 1)) for n in range(30)]
        assert [at for at, *_ in rows(done, START)] == [float(n // 3) for n in range(20)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_lines_are_filled_as_if_each_job_joined(types: list[int]) -> None:
    works = np.random.default_rng(len(types)).random(len(types))
    filled, joined = (new_lines(5, 64) for _ in range(2))
    fill(filled, np.array(types), works)
    for job_type, work in zip(types, works.tolist(), strict=True):
        join(joined, job_type, 0.0, work)
    assert all(np.array_equal(one, other) for one, other in zip(filled, joined, strict=True))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_both_speeds_and_conservation_with_a_queue(name: str) -> None:
    instance = additive([6], [[4], [1]], workload=["0.4", 1])
    scenario = QueueScenario(instance, 4, 15.0, 3.0, queue=(30, 40), bins=10, log=500)
    fast, slow = (run_once(policy(name), scenario, SEED, watch=watch) for watch in (None, conserve_queue))
    for field in fast.measures._fields:
        assert (getattr(fast.measures, field) == getattr(slow.measures, field)).all(), field
    empty = run_once(policy(name), replace(scenario, queue=()), SEED)
    come = [row for row in rows(fast, ARRIVAL) if row[0] > 0]
    assert come == rows(empty, ARRIVAL)[: len(come)]  # whoever comes later does not depend on the queue


def test_more_jobs_than_there_was_room_for() -> None:
    instance = additive([6], [[4], [1]], workload=["0.4", 1])
    scenario = QueueScenario(instance, 500, 40.0, 3.0, queue=(3000, 4000), bins=10)
    done = run_once(policy("nonpreemptive"), scenario, SEED)
    assert done.measures.arrivals.sum() >= 7000
    assert done.measures.starts.sum() > 7000


@pytest.mark.parametrize(("queue", "expected"), [((10, 1), (1, 1)), ((1, 10), (0, 6)), ((9, 2), (1, 2))])
def test_the_first_choice_sees_the_whole_queue(queue: tuple[int, int], expected: tuple[int, int]) -> None:
    """A server of 6 for jobs of 4 and 1: (1, 2) weighs q1 + 2 q2, (0, 6) weighs 6 q2."""
    instance = additive([6], [[4], [1]], workload=[0, 0])
    scenario = QueueScenario(instance, 1, 1e-6, 0.0, queue=queue, log=50)
    for name in ("max-weight-local", "nonpreemptive"):
        begun = [int(kind) for at, kind, _ in rows(run_once(policy(name), scenario, SEED), START) if at == 0]
        assert (begun.count(0), begun.count(1)) == expected, name


@pytest.mark.parametrize("name", SLOTTED)
def test_slotted_queues_at_the_start(name: str) -> None:
    """The queue of slot 0 is the jobs of slot 0; and stands before those that come then."""
    law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    scenario = SlottedScenario(law, 2, 400, 0, rate=0.05, service=0.1, queue=(30, 40), log=1000, bins=10)
    fast, slow = (run_once(policy(name), scenario, SEED, watch=watch) for watch in (None, conserve_slots))
    for field in fast.measures._fields:
        assert (getattr(fast.measures, field) == getattr(slow.measures, field)).all(), field
    first = [int(kind) for at, kind, _ in rows(fast, ARRIVAL) if at == 0]
    assert first[:70] == [0] * 30 + [1] * 40
    given = JobList(np.zeros(3, np.int64), np.array([1, 0, 1], np.int32), np.array([5, 6, 7]))
    two = run_once(policy(name), replace(scenario, queue=(), present=given, rate=0.0), SEED)
    came = run_once(policy(name), replace(scenario, queue=(), jobs=given), SEED)
    assert rows(two, START) == rows(came, START)
    drawn = run_once(policy(name), replace(scenario, queue=50), SEED)
    assert sum(at == 0 for at, *_ in rows(drawn, ARRIVAL)) >= 50


TRACE = "time,duration,type,cpu\npresent,2.5,large,4\npresent,1,small,1\n0,3,large,4\n0.25,2,small,1\n6,1,large,4\n"


def simulated(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["simulate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def instance_with(folder: Path, simulation: str) -> str:
    path = folder / "caught.toml"
    path.write_text(f"{CAUGHT.read_text()}\n[simulation]\n{simulation}\n")
    return str(path)


def test_tasks_of_a_trace_at_time_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server of 6: what runs at time 0 leaves after what is left of it; by hand."""
    (tmp_path / "t.csv").write_text(TRACE)
    path = instance_with(tmp_path, 'initial = "trace"')
    common = ["--servers", "1", "--warmup", "0", "--trace", str(tmp_path / "t.csv")]
    warm = simulated([path, *common, "--policy", "max-weight-local", "--until", "10"], capsys)
    assert warm["initial"] == {"jobs": 2, "service": "left", "cut_off": 0}
    # (0, 6) outweighs (1, 2) at first, until both small ones have gone at 2.25; then one large job after another
    assert warm["queue"]["by_type"] == pytest.approx({"large": (2.25 + 4.75 + 1.75) / 10, "small": 0})
    assert warm["jobs"] == pytest.approx({"large": (2.5 + 3 + 1) / 10, "small": (1 + 2) / 10})
    slotted = simulated([path, *common, "--policy", "fifo-ff", "--until", "100"], capsys)
    assert slotted["queue"]["mean"] == pytest.approx(0.25 + 0.225, abs=0.06)  # the small job of 0.25 waits behind it
    assert slotted["initial"]["jobs"] == 2
    loss = simulated([path, *common, "--policy", "first-fit", "--until", "10"], capsys)
    assert loss["acceptance"] == pytest.approx({"large": 2 / 3, "small": 1})
    cold = simulated(
        [str(CAUGHT), *common, "--policy", "nonpreemptive", "--until", "10"],
        capsys,
    )
    assert "initial" not in cold
    assert cold["queue"]["mean"] == 0
    assert run(["simulate", path, *common, "--policy", "nonpreemptive", "--until", "10"]) == 0
    assert "2 tasks of the trace are there at time 0, with what is left of their service" in capsys.readouterr().out


def test_the_trace_may_stand_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the instance; stretched; and with sizes of its own instead of a law."""
    (tmp_path / "t.csv").write_text(TRACE)
    (tmp_path / "s.csv").write_text("time,duration,cpu,memory\npresent,1,0.5,0.1\n0,2,0.3,0.8\n1,2,0.25,0.2\n")
    path = instance_with(tmp_path, 'arrivals = { trace = "t.csv" }\ninitial = "trace"')
    common = ["--servers", "1", "--warmup", "0", "--until", "10", "--policy", "max-weight-local"]
    named = simulated([path, *common], capsys)
    assert named["queue"]["mean"] == pytest.approx(0.875)
    late = instance_with(tmp_path, 'arrivals = { trace = "t.csv", stretch = 2 }\ninitial = "trace"')
    log = simulated([late, *common, "--log", "50"], capsys)["log"]
    assert [row["time"] for row in log if row["event"] == "arrival"] == [0, 0, 0, 0.5]  # the last comes at 12
    sizes = tmp_path / "sizes.toml"
    sizes.write_text('[sizes]\nuniform = [0.1, 0.9]\n[simulation]\narrivals = { trace = "s.csv" }\ninitial = "trace"\n')
    slots = ["--servers", "1", "--until", "60", "--warmup", "0", "--log", "99"]
    found = simulated([str(sizes), "--policy", "max-weight", *slots], capsys)
    assert found["initial"]["jobs"] == 1
    assert found["utilisation"]["size"]["mean"] == pytest.approx((0.5 * 10 + 0.8 * 20 + 0.25 * 20) / 60)


@pytest.mark.parametrize(
    ("policy_", "simulation", "expected"),
    [
        ("nonpreemptive", 'initial = "trace"', "simulation.initial: trace: expected arrivals from a trace"),
        ("bf-js", 'initial = "trace"', "simulation.initial: trace: expected arrivals from a trace"),
        ("first-fit", 'initial = "trace"', "simulation.initial: trace: expected arrivals from a trace"),
        ("first-fit", "initial = { queue = { small = 1 } }", "simulation.initial: queue: expected a policy of queues"),
        ("bf-js", "initial = { full = { small = 1 } }", "simulation.initial: expected empty"),
        ("bf-js", "initial = { queue = { medium = 1 } }", "simulation.initial.queue.medium: expected a type"),
        ("nonpreemptive", "initial = { queue = { small = -1 } }", "simulation.initial.queue.small: expected a number"),
        ("nonpreemptive", 'arrivals = { trace = "none.csv" }', "none.csv: cannot be read"),
        ("nonpreemptive", "arrivals = { trace = 3 }", "simulation.arrivals.trace: expected the name of a file"),
        ("bf-js", 'arrivals = { trace = "t.csv", stretch = 0 }', "simulation.arrivals.stretch: expected a factor"),
        ("bf-js", 'arrivals = { trace = "t.csv", rate = 0 }', "simulation.arrivals.rate: unknown field"),
    ],
)
def test_bad_beginnings(
    policy_: str, simulation: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    path = instance_with(tmp_path, simulation)
    assert run(["simulate", path, "--policy", policy_, "--servers", "1", "--until", "10"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert expected in message


def test_present_tasks_stand_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("time,duration,type,cpu\n0,1,small,1\npresent,1,small,1\n")
    arguments = ["simulate", str(CAUGHT), "--policy", "bf-js", "--servers", "1", "--until", "10"]
    assert run([*arguments, "--trace", str(tmp_path / "t.csv")]) == 2
    assert "t.csv:3: time: expected a time of at least 0 s (sorted), got present" in capsys.readouterr().err


GRID = """
instance = "caught.toml"
until = 10
warmup = 0
replications = 2
servers = 1
[vary]
policy = ["nonpreemptive", "max-weight-local"]
arrivals = ["poisson", { trace = "t.csv" }, { trace = "t.csv", stretch = 2 }]
"""


def test_traces_in_a_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Relative to the grid; the content is in the key, the place is not; policies see the same jobs."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "caught.toml").write_text(CAUGHT.read_text())
    (tmp_path / "t.csv").write_text(TRACE)
    path = tmp_path / "grid.toml"
    path.write_text(GRID.replace("caught.toml", "inner/caught.toml"))
    grid = read_grid(path)
    keys = [cell.key for cell in grid.cells]
    assert len(set(keys)) == 12
    with Store(tmp_path / "s.db") as store:
        assert run_experiment(grid, store, workers=2) == 12
        made = table(grid, store)
    lines = [line.split(",") for line in made.splitlines()]
    assert len(lines) == 13
    traced = [row for row in made.splitlines() if "t.csv" in row and "stretch" not in row]
    assert len({row.split(",", 1)[1].replace(",1,", ",0,", 1) for row in traced if row.startswith("nonpre")}) == 1
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path / "inner", moved / "inner")
    shutil.copy(path, moved)
    shutil.copy(tmp_path / "t.csv", moved)
    assert [cell.key for cell in read_grid(moved / "grid.toml").cells] == keys
    (moved / "t.csv").write_text(TRACE.replace("6,1", "6,2"))
    changed = [cell.key for cell in read_grid(moved / "grid.toml").cells]
    assert changed[:2] == keys[:2]  # Poisson arrivals: the same cells
    assert not set(changed[2:6]) & set(keys)
    grid = read_grid(moved / "grid.toml")
    (moved / "t.csv").write_text(TRACE)
    trace_file._kept.cache_clear()  # as in a worker that has not read it
    with Store(tmp_path / "other.db") as store, pytest.raises(InputError, match="has changed since"):
        run_experiment(grid, store, workers=1)
    (moved / "t.csv").unlink()
    assert run(["experiment", str(moved / "grid.toml"), "--store", str(tmp_path / "t.db")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "t.csv: cannot be read" in message


def test_trace_of_the_instance_in_a_grid(tmp_path: Path) -> None:
    """In ``[simulation]`` of the instance the name is relative to the instance; loss and slotted policies too."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "t.csv").write_text(TRACE)
    instance_with(inner, 'arrivals = { trace = "t.csv" }\ninitial = "trace"')
    path = tmp_path / "grid.toml"
    times = "until = 100\nwarmup = 0\nreplications = 1\n"
    text = f'instance = "inner/caught.toml"\n{times}servers = 1\n[vary]\npolicy = [NAMES]\n'
    path.write_text(text.replace("NAMES", '"first-fit", "bf-js", "nonpreemptive"'))
    with Store(tmp_path / "s.db") as store:
        assert run_experiment(read_grid(path), store, workers=1) == 3


def test_digest_of_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time,duration,size\n0,1,0.4\n")
    with pytest.raises(InputError, match="has changed"):
        _ = TraceFile(path, digest="0" * 64).trace
    law, jobs = sized_jobs(TraceFile(path))
    assert (law.sizes.tolist(), law.capacity, jobs.cut, len(jobs.present.types)) == ([2], 5, 0, 0)
    path.write_text("time,duration,size\n0,1,1.4\n")
    with pytest.raises(InputError, match="expected shares of a server"):
        sized_jobs(TraceFile(path))


def test_jobs_that_wait_at_first_and_many_servers_decide_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand jobs take minutes as Python where each is looked for on 12,000 servers."""
    asked = []

    class AskedError(Exception):
        pass

    def runner(*_: Any, events: float, **__: Any) -> None:
        asked.append(events)
        raise AskedError

    monkeypatch.setattr("fluid.simulation.driver.Runner", runner)
    law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    for servers, queue in ((1, 0), (1, 1000), (12_000, 1000)):
        scenario = SlottedScenario(law, servers, 10, 0, rate=0.5, service=0.1, queue=queue)
        with pytest.raises(AskedError):
            run_once(policy("bf-js"), scenario, 1)
    assert asked[1] - asked[0] == pytest.approx(2000, rel=0.02)
    assert asked[2] > 100 * asked[1] > COMPILED_FROM


@pytest.mark.slow
def test_real_tasks_at_time_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The Google window with the tasks that run when it opens, under a policy of sizes."""
    folder = Path(os.environ.get("PACKPROOF_DATA", "../shared/data"))
    data = folder / "google2011_part0_attempts.csv.gz"
    if not data.is_file():
        pytest.skip("no real data: PACKPROOF_DATA")
    trace = read_google_table(data)
    path = tmp_path / "sizes.toml"
    path.write_text('[sizes]\nuniform = [0.1, 0.9]\n[simulation]\ninitial = "trace"\n')
    arguments = [str(path), "--policy", "bf-js", "--servers", "12000", "--until", "600", "--warmup", "0"]
    found = simulated([*arguments, "--trace", str(data)], capsys)
    assert found["initial"]["jobs"] == int(single_resource(trace).present.sum()) > 1000
    assert 0 < found["initial"]["cut_off"] < found["initial"]["jobs"]
    assert found["jobs"]["jobs"] > 1000


def slow_type(servers_of: int, workload: int = 0) -> Instance:
    made = additive([servers_of], [[1]], workload=[workload])
    return Instance((replace(made.types[0], service_rate=Fraction(1, 2)),), made.pools)


def test_jobs_on_servers_at_time_0_of_a_loss_system() -> None:
    """More of them than the list of events has room for at first; each takes exactly 1 / mu = 2."""
    scenario = LossScenario(
        slow_type(60), 100, 4.0, 0.0, service=Law("deterministic"), initial=np.full((100, 1), 60, np.int32), bins=4
    )
    done = run_once(policy("first-fit"), scenario, 1)
    assert done.jobs[:, 0].tolist() == [6000, 6000, 0, 0]


def test_an_interrupted_loss_system_ends_where_it_came_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fluid.simulation.loss.model._LossEngine.part", 2000)

    def interrupt(time: float, events: int) -> None:
        if time > 30:
            raise KeyboardInterrupt

    scenario = LossScenario(slow_type(4, 3), 50, 1000.0, 5.0, bins=40)
    part = run_once(policy("first-fit"), scenario, 1, progress=interrupt, partial=True)
    assert part.interrupted
    assert part.measures.edges[-1] == part.measures.now[0] == part.until < 1000
    assert len(part.measures.edges) == len(part.measures.jobs) + 1
    assert part.reward[-1] == pytest.approx(3 * float(part.scenario.instance.rewards[0]), rel=0.5)


@pytest.mark.parametrize("name", ["max-weight-local", "bf-js"])
def test_every_start_after_the_warm_up_is_in_the_quantiles(name: str) -> None:
    """The first bin after the warm-up included, and no other start."""
    if name == "bf-js":
        scenario: Any = SlottedScenario(discrete({Fraction(1): 1}), 2, 400, 100, rate=0.15, service=0.1, bins=5)
    else:
        scenario = QueueScenario(additive([1], [[1]], workload=["0.8"]), 2, 400.0, 100.0, bins=5)
    done = run_once(policy(name), scenario, SEED)
    assert done.measures.starts[: done.first].sum() > 0
    assert done.measures.sketch.sum() == done.measures.starts[done.first :].sum()


def test_jobs_on_one_server_more_than_there_are() -> None:
    """They are refused, and none of them is left out."""
    jobs = InitialJobs(((2, (1,)), (1, (3,))))
    assert jobs.counts(3, 1).tolist() == [[1], [1], [3]]
    with pytest.raises(InputError, match="expected jobs on 2 servers at most, got 3"):
        jobs.counts(2, 1)


def test_who_leaves_goes_before_who_comes() -> None:
    """At equal times the slot is free when the next job comes, so that nobody waits."""
    jobs = JobList(np.array([0.0, 1.0, 2.0]), np.zeros(3, np.int32), np.ones(3))
    scenario = QueueScenario(additive([1], [[1]]), 1, 5.0, 0.0, jobs=jobs, log=20)
    for name in ("max-weight-local", "nonpreemptive"):
        done = run_once(policy(name), scenario, SEED)
        kinds = [KINDS[int(kind)] for kind in done.measures.log[: int(done.measures.logged[0]), 1]]
        assert kinds == ["arrival", "start", "departure"] * 3
