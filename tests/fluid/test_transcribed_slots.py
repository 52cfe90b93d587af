"""Policies for slots start the same jobs on the same servers as transcriptions of the high-throughput paper."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import run_once
from fluid.simulation.measures import START
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.policies.vqs import depth, reduced_configurations, virtual_queues
from fluid.simulation.slotted.sizes import SizeLaw, discrete, drawn_slots
from tests.fluid.conserved import conserve_slots
from tests.reference.throughput_best_fit import (
    BestFitForBoth,
    BestFitForJobs,
    BestFitForServers,
    FirstFitForBoth,
    FirstFitForJobs,
    FirstInFirstOut,
    Overtaking,
    SmallestFirstForBoth,
    SmallestFirstForServers,
)
from tests.reference.throughput_max_weight import LeastWeight, MaxWeight
from tests.reference.throughput_slots import Start, Transcription
from tests.reference.throughput_vqs import (
    AtMostKj,
    FiveSixthsReserved,
    VirtualQueues,
    VirtualQueuesBestFit,
    WithoutKj,
    WithoutRest,
    reduced,
    virtual_queue,
)

TRANSCRIPTIONS: dict[str, type[Transcription]] = {
    "bf-j": BestFitForJobs,
    "bf-s": BestFitForServers,
    "bf-js": BestFitForBoth,
    "vqs": VirtualQueues,
    "vqs-bf": VirtualQueuesBestFit,
    "max-weight": MaxWeight,
    "fifo-ff": FirstInFirstOut,
}


def starts_of(name: str, scenario: SlottedScenario, watch: Callable[..., None] | None = None) -> list[Start]:
    """Return the starts of a policy of packproof."""
    run = run_once(policy(name), scenario, 1, watch=watch)
    rows = run.measures.log[: run.measures.logged[0]].astype(int).tolist()
    return [(slot, kind, server) for slot, event, kind, server, _ in rows if event == START]


def transcribed(transcription: type[Transcription], scenario: SlottedScenario) -> list[Start]:
    """Return the starts of a transcription in the same scenario."""
    law, jobs = scenario.law, scenario.jobs
    assert jobs is not None
    sizes = [Fraction(int(size), law.capacity) for size in law.sizes]
    levels = scenario.options.get("partition", depth(law.sizes, law.capacity))
    arrivals = zip(*(array.tolist() for array in jobs), strict=True)
    return transcription(scenario.servers, sizes, levels).run(arrivals, scenario.until)


def loaded(
    sizes: np.ndarray[Any, Any],
    capacity: int,
    servers: int,
    load: float,
    generator: np.random.Generator,
    *,
    fixed: bool = False,
    **options: int,
) -> SlottedScenario:
    """Return a scenario of some 120 jobs of these sizes, equally likely, that come at a load of the servers."""
    law = discrete({Fraction(int(size), capacity): 1 for size in sizes})
    chunk = next(drawn_slots(load * servers * 0.1 * capacity / sizes.mean(), law, 0.1, generator, fixed=fixed))
    count = int(np.searchsorted(chunk.times, chunk.times[min(120, len(chunk.times) - 1)]))
    jobs = JobList(*(array[:count] for array in chunk))
    until = int(jobs.times[-1]) + 30 if count else 30
    law = SizeLaw(sizes, capacity, np.zeros(0))
    return SlottedScenario(law, servers, until, 0, jobs=jobs, log=100_000, options=options)


def drawn(name: str, generator: np.random.Generator, *, coarse: bool) -> SlottedScenario:
    """Draw a system that is loaded up to 1.4 times; where it is coarse, VQS rounds sizes below a quarter up (J = 2)."""
    capacity, options = int(generator.integers(4, 61)), {}
    if name.startswith("vqs") and coarse:
        capacity, options = 4 * (capacity // 4), {"partition": 2}
    every = np.arange(max(1, capacity // 8), capacity + 1)
    most = 4 if name == "max-weight" else 8
    kinds = min(len(every), int(generator.integers(1, most + 1)))
    sizes = np.sort(generator.choice(every, kinds, replace=False))
    servers, load = int(generator.integers(1, 5)), generator.uniform(0.5, 1.4)
    return loaded(sizes, capacity, servers, load, generator, **options)


def replayed(name: str, transcription: type[Transcription], systems: int) -> tuple[int, int]:
    """Return the number of starts on random systems, and on how many of them the policy takes another path."""
    generator, starts, other = np.random.default_rng(41), 0, 0
    for number in range(systems):
        scenario = drawn(name, generator, coarse=number % 2 == 1)
        expected = transcribed(transcription, scenario)
        starts += len(expected)
        other += starts_of(name, scenario) != expected
    return starts, other


@pytest.mark.parametrize("name", TRANSCRIPTIONS)
def test_a_policy_starts_the_jobs_of_its_transcription(name: str) -> None:
    starts, other = replayed(name, TRANSCRIPTIONS[name], 40)
    assert (starts > 3900, other) == (True, 0)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("bf-j", FirstFitForJobs),
        ("bf-s", SmallestFirstForServers),
        ("bf-js", FirstFitForBoth),
        ("bf-js", SmallestFirstForBoth),
        ("vqs", FiveSixthsReserved),
        ("vqs", AtMostKj),
        ("vqs-bf", WithoutKj),
        ("vqs-bf", WithoutRest),
        ("max-weight", LeastWeight),
        ("fifo-ff", Overtaking),
    ],
)
def test_a_wrong_transcription_is_noticed(name: str, broken: type[Transcription]) -> None:
    _, other = replayed(name, broken, 12)
    assert other > 0


@st.composite
def systems(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], int]:
    capacity = draw(st.integers(4, 30))
    sizes = sorted(draw(st.sets(st.integers(max(1, capacity // 8), capacity), min_size=1, max_size=4)))
    return np.array(sizes), capacity


@pytest.mark.slow
@settings(max_examples=60, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@example((np.array([5, 6, 14]), 24), 4, "bf-js", 30143, 0.5, True)  # newcomers beside one that step 1 has started
@given(
    systems(),
    st.integers(1, 4),
    st.sampled_from(list(TRANSCRIPTIONS)),
    st.integers(0, 2**16),
    st.floats(0.5, 1.4),
    st.booleans(),
)
def test_they_take_the_same_path_on_systems_that_are_searched_for(
    system: tuple[np.ndarray[Any, Any], int], servers: int, name: str, seed: int, load: float, fixed: bool
) -> None:
    sizes, capacity = system
    options = {"partition": 3} if name == "vqs" and capacity % 8 == 0 and seed % 2 else {}
    scenario = loaded(sizes, capacity, servers, load, np.random.default_rng(seed), fixed=fixed, **options)
    assert starts_of(name, scenario, conserve_slots) == transcribed(TRANSCRIPTIONS[name], scenario)


@pytest.mark.parametrize("name", ["bf-j", "bf-s", "bf-js", "vqs-bf", "fifo-ff"])
def test_they_take_the_same_path_on_many_servers_with_many_sizes(name: str) -> None:
    """Hundreds of servers, hundreds of jobs that wait, and a few hundred sizes."""
    law = SizeLaw(np.arange(101, 901, 3), 1000, np.zeros(0))
    generator = np.random.default_rng(5)
    times = np.sort(np.append(np.zeros(800, np.int64), generator.integers(0, 12, 700)))
    jobs = JobList(times, law.draw(generator, len(times)), generator.geometric(0.1, len(times)))
    scenario = SlottedScenario(law, 300, 14, 0, jobs=jobs, log=10_000)
    expected = transcribed(TRANSCRIPTIONS[name], scenario)
    assert starts_of(name, scenario) == expected
    assert len(expected) > 600


@given(st.integers(2, 60), st.integers(2, 6))
def test_partition_and_reduced_configurations(capacity: int, levels: int) -> None:
    sizes = np.arange(1, capacity + 1)
    ours = virtual_queues(sizes, capacity, levels).tolist()
    assert ours == [virtual_queue(Fraction(s, capacity), levels) for s in range(1, capacity + 1)]
    assert depth(sizes, capacity) == min(j for j in range(2, 9) if Fraction(1, capacity) > Fraction(1, 2**j))
    table = reduced_configurations(levels).tolist()
    assert len(table) == 4 * levels - 4
    assert [tuple(row) for row in table] == reduced(levels)
    ends = [Fraction(1, 2**m) * part for m in range(levels) for part in (Fraction(1), Fraction(2, 3))]
    assert all(one * Fraction(2, 3) + n * ends[q] <= 1 for one, q, n in table)  # feasible when rounded up
