"""Queues in continuous time: the same path as the literal policies, in both speeds, with every conservation law."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bounds.results.nonpreemptive.algorithms import starts_of, transcribed
from bounds.results.nonpreemptive.literal import Algorithm1
from bounds.views.simulation import growth_of
from fluid.experiment.grid import read_grid
from fluid.limits.drift import BASIC
from fluid.simulation.arrivals import JobList, Law, batches, poisson, renewal
from fluid.simulation.driver import run_once, seed_of, simulate
from fluid.simulation.oracle import heaviest
from fluid.simulation.policy_names import policy
from fluid.simulation.prepared import prepared
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.queue.policies.nonpreemptive import beta_now
from fluid.simulation.state import Setting
from tests.fluid.conserved import conserve_queue
from tests.fluid.traced import numbers_of_cell
from tests.reference.nonpreemptive_max_weight_local import MaxWeightLocal
from tests.reference.nonpreemptive_randomized_sampling import RandomizedSampling
from theory.compiled import plain
from theory.errors import InputError
from theory.instance import Instance, additive, pooled

TRANSCRIPTIONS = {
    "nonpreemptive": Algorithm1,
    "max-weight-local": MaxWeightLocal,
    "randomized-sampling": RandomizedSampling,
}
POLICIES = tuple(TRANSCRIPTIONS)


def jobs_of(rates: list[float], services: list[float], seed: int, count: int = 150) -> JobList:
    chunk = next(poisson(rates, services, Law(), np.random.default_rng(seed)))
    return JobList(*(array[:count] for array in chunk))


@st.composite
def systems(draw: st.DrawFn) -> tuple[Instance, int]:
    resources, types = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    pools = draw(st.integers(1, 2))
    capacities = [[draw(st.integers(3, 8)) for _ in range(resources)] for _ in range(pools)]
    most = [min(c[r] for c in capacities) for r in range(resources)]
    demands = [[draw(st.integers(0 if r else 1, most[r])) for r in range(resources)] for _ in range(types)]
    shares = [Fraction(draw(st.integers(1, 3))) for _ in range(pools)]
    return pooled(list(zip(shares, capacities, strict=True)), demands), draw(st.integers(pools, 5))


@pytest.mark.parametrize("name", POLICIES)
def test_two_pools_take_the_literal_path(name: str) -> None:
    generator, oracles = np.random.default_rng(8), ("exact", "single", "greedy")
    for seed in range(24):
        capacities = generator.integers(4, 10, 2).tolist()
        demands = [[int(generator.integers(1, min(capacities) + 1))] for _ in range(3)]
        instance = pooled([(1, [capacity]) for capacity in capacities], demands)
        options: dict[str, Any] = {"oracle": oracles[seed % 3]}
        if name == "nonpreemptive":
            options |= {"p": (1.0, 0.3)[seed % 2], "cut": (2.0, 0.5)[seed // 2 % 2], "early": seed % 5 == 0, "z": 0.1}
        elif name == "randomized-sampling":
            options = {}
        jobs = jobs_of([generator.uniform(0.8, 2.0)] * 3, [1.0] * 3, seed)
        until = float(jobs.times[-1]) + 3.0
        run = run_once(
            policy(name), QueueScenario(instance, 4, until, 0.0, jobs=jobs, options=options, log=20_000), seed
        )
        assert starts_of(run) == transcribed(TRANSCRIPTIONS[name], Setting(instance, 4, options), jobs, until, seed)


@pytest.mark.slow
@settings(max_examples=30, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(systems(), st.sampled_from(POLICIES), st.integers(0, 2**16), st.floats(0.3, 1.5), st.data())
def test_the_literal_policies_take_the_same_path(
    system: tuple[Instance, int], name: str, seed: int, load: float, data: st.DataObject
) -> None:
    instance, servers = system
    options: dict[str, Any] = {}
    if name == "nonpreemptive":
        options = data.draw(
            st.fixed_dictionaries(
                {
                    "beta": st.sampled_from([0.5, 0.9]),
                    "p": st.sampled_from([1.0, -0.05, 0.3]),
                    "z": st.sampled_from([0.005, 0.2]),
                    "cut": st.sampled_from([0.1, 0.5, 2.0]),
                    "fall": st.sampled_from([0.0, 1.0]),
                    "early": st.booleans(),
                    "start": st.sampled_from(["as-needed", "at-once"]),
                }
            )
        )
    if name == "max-weight-local":
        options["renewal"] = data.draw(st.sampled_from(["while-empty", "on-emptying"]))
    if name != "randomized-sampling":
        options["oracle"] = data.draw(st.sampled_from(["exact", "single", "greedy"]))
    setting = Setting(instance, servers, options)
    rates = [load * servers] * len(instance.types)
    jobs = jobs_of(rates, [1.0] * len(rates), seed)
    until = float(jobs.times[-1]) + 3.0
    scenario = QueueScenario(instance, servers, until, 0.0, jobs=jobs, options=options, log=200_000)
    run = run_once(policy(name), scenario, seed, watch=conserve_queue)
    assert starts_of(run) == transcribed(TRANSCRIPTIONS[name], setting, jobs, until, seed)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("law", ["poisson", "log-normal", "batch"])
def test_compiled_and_plain_take_the_same_path(name: str, law: str) -> None:
    instance = pooled([(1, (6, 4)), (1, (9, 9))], [[2, 1], [3, 3], [1, 0]])
    rates, services = [2.0, 1.0, 4.0], [1.0, 0.5, 2.0]
    service = Law("hyper-exponential", 4.0)

    def stream(generator: np.random.Generator) -> Any:
        if law == "poisson":
            return poisson(rates, services, service, generator)
        if law == "batch":
            return batches(1.5, [[1, 0, 2], [0, 2, 0], [0, 0, 0]], [0.5, 0.3, 0.2], services, service, generator)
        return renewal(rates, services, Law("log-normal", 2.0), service, generator)

    scenario = QueueScenario(instance, 4, 60.0, 10.0, stream=stream, log=50_000)
    runs = [run_once(policy(name), scenario, 3, watch=watch) for watch in (None, conserve_queue)]
    for field, fast, slow in zip(runs[0].measures._fields, *(r.measures for r in runs), strict=True):
        assert (fast == slow).all(), field
    for field, fast, slow in zip(runs[0].state._fields, *(r.state for r in runs), strict=True):
        assert (fast == slow).all(), field
    assert runs[0].measures.events[0] > 300


def test_greedy_may_find_less_than_a_single_type() -> None:
    """Capacity 10, jobs of 6 and 5, queues (121, 100): 121 / 0.6 > 100 / 0.5, but two jobs of 5 weigh 200."""
    found = {}
    for name in ("exact", "single", "greedy"):
        state = policy("max-weight-local").prepare(Setting(additive([10], [[6], [5]]), 1, {"oracle": name}))
        state.waiting[:] = [121, 100]
        found[name] = plain(heaviest)(state, 0)
    assert found == {"exact": 200, "single": 200, "greedy": 121}


def test_greedy_takes_types_by_weight_per_share() -> None:
    """Capacity 10, jobs of 6 and 5, queues (100, 90): 100 / 0.6 < 90 / 0.5, though the first queue is longer."""
    state = policy("max-weight-local").prepare(Setting(additive([10], [[6], [5]]), 1, {"oracle": "greedy"}))
    state.waiting[:] = [100, 90]
    assert plain(heaviest)(state, 0) == 180
    assert state.best_.tolist() == [0, 2]


def test_the_end_of_a_list_of_jobs_and_of_time() -> None:
    instance = additive([1], [[1]])
    jobs = JobList(np.array([1.0, 2.0]), np.zeros(2, np.int32), np.array([4.0, 4.0]))
    run = run_once(policy("nonpreemptive"), QueueScenario(instance, 1, 10.0, 0.0, jobs=jobs, bins=10), 1, python=True)
    assert run.measures.waiting[:, 0].tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert run.measures.jobs[:, 0].tolist() == [0] + [1] * 8 + [0]
    assert run.measures.delay.sum() == 3.0


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("nonpreemptive", {"beta": 2}, "simulation.beta: expected a number from 0 to 1"),
        ("nonpreemptive", {"oracle": "best"}, "simulation.oracle: expected one of exact, single, greedy"),
        ("nonpreemptive", {"bta": 1}, "simulation.bta: unknown option"),
        ("max-weight-local", {"erly": True}, "simulation.erly: unknown option"),
        ("randomized-sampling", {"sampling": -1}, "simulation.sampling: expected a number from 0 to 1e+12"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(complaint)}"):
        prepared(policy(name), Setting(additive([3], [[1]]), 2, options))


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_at_once")
def test_a_policy_that_numba_cannot_compile_runs_as_python(capsys: pytest.CaptureFixture[str]) -> None:
    ours = policy("max-weight-local")

    def place(state: Any, job_type: int, draws: Any) -> int:
        return int(str(ours.place(state, job_type, draws)))  # a text that numba does not read

    instance = additive([6], [[4], [1]], workload=["1/4", "1"])
    scenario = QueueScenario(instance, 1, 300.0, 0.0)
    odd = run_once(replace(ours, name="odd", place=place), scenario, seed_of(1, 0))
    assert "odd runs as Python" in capsys.readouterr().err
    assert odd.mean_queue == run_once(ours, scenario, seed_of(1, 0)).mean_queue


def test_cells_of_experiments(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        "[server]\ncapacity = { cpu = 6 }\n[[type]]\nname = 'a'\ndemand = { cpu = 4 }\nreward = 1\nworkload = 0.3\n"
        "[[type]]\nname = 'b'\ndemand = { cpu = 1 }\nreward = 1\nworkload = 1\n"
    )
    (tmp_path / "grid.toml").write_text(
        "instance = 'two.toml'\nuntil = 200\nreplications = 2\n[vary]\n"
        "policy = ['nonpreemptive', 'bf-js']\nservers = [1, 2]\n"
    )
    for cell in read_grid(tmp_path / "grid.toml").cells:
        found = numbers_of_cell(cell)
        assert found == numbers_of_cell(cell)
        assert {"queue", "queue.a", "jobs.b", "delay", "delay.p99", "growth", "drift", "events"} <= found.keys()
        assert found["queue"] == pytest.approx(found["queue.a"] + found["queue.b"])


def test_an_interrupted_run_keeps_what_it_has() -> None:
    scenario = QueueScenario(additive([1], [[1]], workload=["4/5"]), 10, 40_000.0, 500.0)

    def interrupt(time: float, events: int) -> None:
        if time > 1000:
            raise KeyboardInterrupt

    part = run_once(policy("nonpreemptive"), scenario, seed_of(1, 0), progress=interrupt, partial=True)
    whole = run_once(policy("nonpreemptive"), scenario, seed_of(1, 0))
    bins = len(part.spans) - 1  # the last one ends where the run came to
    assert part.interrupted
    assert part.first < bins < len(whole.spans)
    assert (part.queue[:bins] == whole.queue[:bins]).all()
    assert part.until == part.measures.now[0]
    for one, partial in ((replace(scenario, warmup=39_000.0), True), (scenario, False)):  # nothing past the warm-up
        with pytest.raises(KeyboardInterrupt):
            run_once(policy("nonpreemptive"), one, seed_of(1, 0), progress=interrupt, partial=partial)


def test_beta_is_nothing_from_the_cut_on() -> None:
    """q(s) = 1 - fall s below the cut and 0 from there (6.4), on ten servers of which one or two are stalled."""
    instance = additive([6], [[4], [1]])
    options = {"beta": 0.5, "p": 1, "cut": 0.2, "fall": 0.5}
    state = policy("nonpreemptive").prepare(Setting(instance, 10, options))
    found = []
    for stalled in (0, 1, 2, 3):
        state.stalled[0] = stalled
        found.append(plain(beta_now)(state))
    assert found == pytest.approx([0.5, 0.5 * 0.95, 0, 0])


@pytest.mark.parametrize(("early", "left", "expected"), [(True, 1, 1), (True, 2, 0), (False, 1, 0), (False, 0, 1)])
def test_a_stalled_server_renews_once_what_is_left_fits(early: bool, left: int, expected: int) -> None:
    """A stalled server of 5 with small jobs left, and large ones that wait: the heaviest configuration is (1, 1).

    Early activation (6.3) asks that no more is left than the configuration holds, exactly as many included.
    """
    instance = additive([5], [[4], [1]])
    state = policy("nonpreemptive").prepare(Setting(instance, 1, {"early": early}))
    state.counts[0, 1], state.totals[1] = left, left
    state.waiting[0] = 5
    state.stalled[0] = 1
    plain(policy("nonpreemptive").depart)(state, 0, 1, None)
    assert state.active[0] == expected
    assert state.stalled[0] == 1 - expected
    assert state.counts[0, 0] == expected


def test_growth_is_told_at_one_in_a_thousand_only() -> None:
    """Short runs of an unstable queue: what is above 0 at 95 % need not be at 99.9 %."""
    scenario = QueueScenario(additive([1], [[1]], workload=["13/10"]), 2, 60.0, 2.0)
    told, likely = [], []
    for seed in range(12):
        result = simulate("nonpreemptive", scenario, replications=4, seed=seed)
        told.append(growth_of(result).grows)
        assert told[-1] is bool(result.growth(0.999).low > 0)
        likely.append(bool(result.growth(0.95).low > 0))
    assert sum(likely) > sum(told)


@pytest.mark.parametrize(("start", "served"), [("as-needed", True), ("at-once", False)])
def test_an_empty_server_that_began_for_a_type_that_never_comes(start: str, served: bool) -> None:
    """As the paper has it, such a server waits for ever: its theorem needs every type to arrive.

    Served, one queue at load 1/4: false alarm about 4^-20. Unserved: nobody starts, whatever the seed.
    """
    instance = additive([1], [[1], [1]], workload=[0, "1/4"])
    scenario = QueueScenario(instance, 1, 400.0, 40.0, options={"start": start})
    run = run_once(policy("nonpreemptive"), scenario, np.random.SeedSequence(1))
    assert bool(run.measures.starts[:, 1].any()) is served
    assert bool(run.waiting[-1, 1] < 20) is served  # about 100 come


@pytest.mark.parametrize(("first", "served"), [(0.5, 50), (1.5, 0)])
def test_the_only_job_of_its_type_keeps_the_server(first: float, served: int) -> None:
    """As needed, the server begins for it; it ends at time 1, and unless another waits by then, its slot stays."""
    times, types = np.array([0.0, *np.arange(50) + first]), np.array([0, *[1] * 50], np.int32)
    work = np.array([1.0, *[0.5] * 50])
    scenario = QueueScenario(
        additive([1], [[1], [1]]), 1, 100.0, 0.0, bins=1, jobs=JobList(times, types, work),
        options=BASIC,
    )  # fmt: skip
    run = run_once(policy("nonpreemptive"), scenario, np.random.SeedSequence(1))
    assert run.measures.starts.sum(axis=0).tolist() == [1, served]
    assert run.state.waiting.tolist() == [0, 50 - served]
