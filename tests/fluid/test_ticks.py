"""Simultaneous events are simultaneous: paths beside exact simulations, and the same system in other units of time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid.files.scenarios import read_scenario
from fluid.simulation.arrivals import ArrivalLaw, JobList, Law
from fluid.simulation.documents import Times
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.results import Run
from fluid.simulation.ticks import HORIZON, common_tick, in_ticks, in_units
from theory.instance import Instance, additive

FIXED = Law("deterministic")
TICK = Fraction(1, 10**6)
FACTORS = st.sampled_from([Fraction(10), Fraction(1, 3), Fraction(7, 1000), Fraction(3600), Fraction(1, 10**6)])


def system(rates: list[Fraction], sizes: list[int], workloads: list[Fraction], capacity: int = 4) -> Instance:
    made = additive([capacity], [[size] for size in sizes]).with_workload(workloads)
    types = tuple(replace(kind, service_rate=rate) for kind, rate in zip(made.types, rates, strict=True))
    return replace(made, types=types)


def quicker(instance: Instance, factor: Fraction) -> Instance:
    return replace(
        instance, types=tuple(replace(kind, service_rate=kind.service_rate * factor) for kind in instance.types)
    )


def path(name: str, scenario: Any, seed: int = 3) -> Run:
    return run_once(policy(name), replace(scenario, bins=3, log=10_000), seed, python=True)


def events(run: Run) -> list[list[float]]:
    return run.measures.log[: int(run.measures.logged[0])].tolist()


def first_fit(jobs: list[tuple[Any, int, Any]], sizes: list[int], servers: int, capacity: int) -> list[int]:
    """Return the server of each job (when it comes, its type, how long it stays), or -1, in exact numbers."""
    inside: list[list[tuple[Any, int]]] = [[] for _ in range(servers)]
    chosen = []
    for begin, kind, stay in jobs:
        inside = [[(end, size) for end, size in held if end > begin] for held in inside]
        fitting = (i for i, held in enumerate(inside) if sum(size for _, size in held) + sizes[kind] <= capacity)
        server = next(fitting, -1)
        if server >= 0:
            inside[server].append((begin + stay, sizes[kind]))
        chosen.append(server)
    return chosen


rates = st.sampled_from([Fraction(n, d) for n in (1, 2, 3, 7, 10) for d in (1, 3, 10)])


@st.composite
def fixed_systems(draw: st.DrawFn) -> tuple[Instance, list[int], int]:
    types = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 4), min_size=types, max_size=types))
    rate = draw(st.lists(rates, min_size=types, max_size=types))
    loads = draw(
        st.lists(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(4, 3)]), min_size=types, max_size=types)
    )
    return system(rate, sizes, loads), sizes, draw(st.integers(1, 3))


@pytest.mark.slow
@settings(max_examples=20)
@given(fixed_systems())
def test_deterministic_systems_take_the_path_of_exact_numbers(made: tuple[Instance, list[int], int]) -> None:
    instance, sizes, servers = made
    until = 12 / min(kind.service_rate for kind in instance.types)
    scenario = LossScenario(instance, servers, float(until), 0.0, ArrivalLaw(FIXED), FIXED)
    jobs = []
    for j, kind in enumerate(instance.types):
        gap = 1 / (servers * kind.workload * kind.service_rate)
        jobs += [(n * gap, j, 1 / kind.service_rate) for n in range(1, int(until / gap) + 2) if n * gap < until]
    jobs.sort(key=lambda job: job[:2])
    run = path("first-fit", scenario)
    arriving = [(row[0], int(row[2]), int(row[3])) for row in events(run) if row[1] in (0, 1)]
    servers_by_hand = first_fit(jobs, sizes, servers, 4)
    assert [(kind, server) for _, kind, server in arriving] == [
        (kind, server) for (_, kind, _), server in zip(jobs, servers_by_hand, strict=True)
    ]
    assert [at for at, *_ in arriving] == pytest.approx([float(at) for at, *_ in jobs], rel=1e-14)


@pytest.mark.slow
@settings(max_examples=10)
@given(
    fixed_systems(),
    FACTORS,
    st.sampled_from([ArrivalLaw(FIXED), ArrivalLaw(), ArrivalLaw(FIXED, 3.0), ArrivalLaw(Law("log-normal", 2.0), 2.0)]),
    st.sampled_from(["first-fit", "best-fit", "nonpreemptive"]),
)
def test_the_unit_of_time_does_not_matter(
    made: tuple[Instance, list[int], int], factor: Fraction, law: ArrivalLaw, name: str
) -> None:
    instance, _, servers = made
    until = 20 / min(kind.service_rate for kind in instance.types)
    runs = []
    for one in (Fraction(1), factor):
        times = float(until / one), float(until / one / 5)
        model = QueueScenario if name == "nonpreemptive" else LossScenario
        runs.append(path(name, model(quicker(instance, one), servers, *times, law, FIXED)))
    ours, others = (events(run) for run in runs)
    assert [row[1:] for row in ours] == [row[1:] for row in others]
    assert [row[0] / float(factor) for row in ours] == pytest.approx([row[0] for row in others], rel=1e-12)
    for field in ("arrivals", "starts"):
        assert (getattr(runs[0].measures, field) == getattr(runs[1].measures, field)).all()
    assert runs[0].jobs == pytest.approx(runs[1].jobs, rel=1e-9, abs=1e-12)


def test_full_load_is_accepted_at_every_rate() -> None:
    """Deterministic arrivals and service at load 1: a job leaves as the next one comes."""
    for rate in (Fraction(1), Fraction(10), Fraction(1, 3), Fraction(123457, 1000)):
        scenario = LossScenario(
            system([rate], [4], [Fraction(1)]), 1, float(1000 / rate), 0.0, ArrivalLaw(FIXED), FIXED
        )
        run = run_once(policy("first-fit"), scenario, 0, python=True)
        assert run.measures.arrivals.sum() == run.measures.starts.sum() == 999


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(10), Fraction(7, 3)])
def test_a_queue_at_full_load_never_waits(rate: Fraction) -> None:
    scenario = QueueScenario(system([rate], [4], [Fraction(1)]), 1, float(300 / rate), 0.0, ArrivalLaw(FIXED), FIXED)
    run = run_once(policy("nonpreemptive"), scenario, 0, python=True)
    assert run.measures.delay.sum() == run.measures.waiting.sum() == 0
    assert run.measures.arrivals.sum() == 299


moments = st.integers(0, 12).map(lambda n: n * 100_003)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(moments, st.integers(0, 1), moments), min_size=1, max_size=25),
    st.integers(1, 3),
    st.integers(0, 11),
    st.integers(0, 12),
)
def test_listed_jobs_take_the_path_of_whole_numbers(
    rows: list[tuple[int, int, int]], servers: int, warmup: int, more: int
) -> None:
    """Departures first, arrivals in their order; an event at the warm-up's end counts, one at the horizon does not."""
    rows = sorted(rows, key=lambda row: row[0])
    until = warmup + 1 + more
    jobs = JobList(*(np.array(column) for column in zip(*rows, strict=True)))
    jobs = jobs._replace(types=jobs.types.astype(np.int32))
    sizes = [4, 2]
    instance = system([Fraction(1)] * 2, sizes, [Fraction(1)] * 2)
    times = until * 100_003 / 10**6, warmup * 100_003 / 10**6
    run = path("first-fit", LossScenario(instance, servers, *times, jobs=jobs, tick=TICK))
    came = [row for row in rows if row[0] < until * 100_003]
    chosen = first_fit(came, sizes, servers, 4)
    assert [int(row[3]) for row in events(run) if row[1] in (0, 1)] == chosen
    measured = [server for row, server in zip(came, chosen, strict=True) if row[0] >= warmup * 100_003]
    assert run.measures.arrivals[run.first :].sum() == len(measured)
    assert run.measures.starts[run.first :].sum() == sum(server >= 0 for server in measured)
    begin, end = warmup * 100_003, until * 100_003
    busy = sum(
        min(max(at + stay, begin), end) - min(max(at, begin), end)
        for (at, _, stay), server in zip(came, chosen, strict=True)
        if server >= 0
    )
    assert run.measures.jobs[run.first :].sum() == pytest.approx(busy / 10**6, rel=1e-12, abs=1e-12)


def test_clocks_and_delays_are_in_units_of_time() -> None:
    """A listed queue in seconds and in microseconds: the same delays, by the sketch too, and as many rings."""
    rng = np.random.default_rng(4)
    times = np.sort(rng.integers(0, 60, 80))
    kinds, work = rng.integers(2, size=80).astype(np.int32), rng.integers(1, 6, 80)
    instance = system([Fraction(1, 3)] * 2, [4, 2], [Fraction(1)] * 2)
    runs = [
        path(
            "randomized-sampling",
            QueueScenario(
                instance, 3, 100.0, 20.0, jobs=JobList(times * scale, kinds, work * scale), tick=Fraction(1, scale)
            ),
        )
        for scale in (1, 10**6)
    ]
    assert [row[1:] for row in events(runs[0])] == [row[1:] for row in events(runs[1])]
    assert (runs[0].measures.sketch == runs[1].measures.sketch).all()
    assert runs[0].measures.delay == pytest.approx(runs[1].measures.delay, rel=1e-9)


def test_random_systems_keep_their_own_unit() -> None:
    scenario = LossScenario(system([Fraction(3)], [1], [Fraction(1)]), 2, 5.0, 1.0, service=Law("log-normal", 2.0))
    assert (scenario.resolution, scenario.in_whole_ticks) == (1, False)


@given(st.lists(rates, min_size=1, max_size=4), FACTORS, st.integers(1, 10**6))
def test_a_tick_scales_with_the_unit_of_time(times: list[Fraction], factor: Fraction, until: int) -> None:
    tick, is_whole = common_tick(times, Fraction(until))
    assert is_whole
    assert all((time / tick).denominator == 1 for time in times)
    assert HORIZON / 2 < until / tick <= HORIZON
    assert common_tick([time * factor for time in times], until * factor) == (tick * factor, True)


def test_times_without_a_common_tick_are_rounded_and_noted() -> None:
    rows = [(f"t{n}", Fraction(1, p)) for n, p in enumerate((999983, 999979, 999961))]
    document = {
        "server": {"capacity": {"cpu": 4}},
        "type": [
            {"name": name, "demand": {"cpu": 1}, "reward": 1, "workload": 1, "service_rate": str(1 / rate)}
            for name, rate in rows
        ],
        "simulation": {"service": "deterministic"},
    }
    given_ = read_scenario(document, policy("first-fit"), Times(2, 100.0, 0.0), source="x.toml")
    assert any("deterministic times are rounded" in note for note in given_.notes)
    assert 100 / given_.scenario.resolution <= HORIZON
    less = {**document, "type": document["type"][:1]}  # type: ignore[index]
    assert read_scenario(less, policy("first-fit"), Times(2, 100.0, 0.0), source="x.toml").notes == ()


@given(st.integers(0, 2**40), st.sampled_from([TICK, Fraction(1, 10), Fraction(1, 1000), Fraction(1, 7)]))
def test_whole_numbers_of_ticks_come_back(ticks: int, tick: Fraction) -> None:
    time = in_units(float(ticks), tick)
    assert time == pytest.approx(float(ticks * tick), rel=1e-15)
    assert in_ticks(time, tick) == ticks
    assert in_ticks(time * 3 / 3, tick) == ticks
