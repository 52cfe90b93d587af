"""Slotted queues: the same path as the literal policies, in both speeds; laws of sizes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import run_once
from fluid.simulation.measures import START
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import INVERTED, SizeLaw, discrete, service_slots, uniform
from fluid.simulation.slotted.state import (
    SlottedCommon,
    SlottedSetting,
    first_come,
    join,
    shared,
    take_out,
    with_places,
)
from tests.fluid.conserved import conserve_slots
from theory.errors import InputError

POLICIES = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "max-weight", "fifo-ff")


@pytest.mark.parametrize("name", POLICIES)
def test_compiled_and_plain_take_the_same_path(name: str) -> None:
    law = discrete({Fraction(1, 10): 1, Fraction(1, 4): 1, Fraction(2, 5): 2, Fraction(3, 5): 1})
    two: Any = {"group": (0, 0, 1, 1), "names": ("small", "large")}
    scenario = SlottedScenario(law, 5, 800, 100, rate=0.7, service=0.05, log=50_000, **two)
    runs = [run_once(policy(name), scenario, 3, watch=watch) for watch in (None, conserve_slots)]
    for field, fast, slow in zip(runs[0].measures._fields, *(r.measures for r in runs), strict=True):
        assert (fast == slow).all(), field
    for field, fast, slow in zip(runs[0].state._fields, *(r.state for r in runs), strict=True):
        assert (fast == slow).all(), field
    assert runs[0].measures.events[0] > 500


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "max-weight"])
def test_more_classes_than_bits_of_a_word(name: str) -> None:
    """Class 31 of 32-bit numbers once spoilt the set of waiting classes in Python, and only there."""
    law = uniform(Fraction(1, 10), Fraction(9, 10), Fraction(1, 100))
    scenario = SlottedScenario(law, 5, 400, 100, rate=0.4, service=0.05, log=50_000)
    logs = [run_once(policy(name), scenario, 3, watch=watch).measures for watch in (None, conserve_slots)]
    assert (logs[0].log == logs[1].log).all()
    assert logs[0].events[0] > 200
    classes = logs[0].log[: logs[0].logged[0], 2]
    assert (classes % 32 == 31).any()


def test_room_for_many_jobs_is_made_on_the_way() -> None:
    law = uniform(Fraction(1, 10), Fraction(9, 10), Fraction(1, 100))
    generator = np.random.default_rng(2)
    first = JobList(np.zeros(40_000, np.int64), law.draw(generator, 40_000), generator.geometric(0.5, 40_000))
    run = run_once(policy("bf-js"), SlottedScenario(law, 50, 10**6, 0, jobs=first), 1)
    assert run.measures.starts.sum() == run.measures.ends.sum() == 40_000
    assert run.seconds < 5  # idle slots cost nothing


def test_empty_slots_are_not_visited() -> None:
    law = discrete({Fraction(1): 1})
    run = run_once(policy("vqs"), SlottedScenario(law, 1, 10**11, 0, rate=1e-7, service=0.5), 1)
    assert run.seconds < 5
    assert abs(run.measures.arrivals.sum() - 10**4) < 6 * 100


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99), st.booleans()), max_size=300))
def test_jobs_in_the_order_of_arrival_against_a_list(changes: list[tuple[int, int, bool]]) -> None:
    """Jobs come, and the first of a class below a bound goes; they close up, and memory grows."""
    state = SlottedCommon(**shared(SlottedSetting(np.arange(1, 101), 200, 1), ordered=True))
    line: list[int] = []
    for going, job_class, more in changes:
        if going:
            place = next((i for i, c in enumerate(line) if c < job_class), -1)
            leaf = first_come(state, job_class)
            assert (leaf >= 0) == (place >= 0)
            if leaf >= 0:
                assert take_out(state, leaf) == line.pop(place)
        else:
            for c in (job_class, job_class ^ 1, job_class ^ 2):
                if more or state.counters[2] == len(state.after) - 1:
                    state = with_places(state, len(state.after) + 3)
                join(state, min(c, 99))
                line.append(min(c, 99))


@pytest.mark.parametrize("servers", [1, 1100])
def test_memory_grows_where_a_job_comes_in_every_slot(servers: int) -> None:
    """All jobs but one wait, or all are served: more than there is memory for at the beginning."""
    jobs = JobList(np.arange(1050), np.zeros(1050, np.int32), np.full(1050, 10**6))
    scenario = SlottedScenario(discrete({Fraction(1): 1}), servers, 1100, 0, jobs=jobs)

    def look(state: Any, jobs: Any, measures: Any) -> None:
        if measures.now[0] % 100 == 0 or measures.now[0] > 1000:
            conserve_slots(state, jobs, measures)

    run = run_once(policy("fifo-ff"), scenario, 1, watch=look)
    assert run.measures.inside[:, 0].tolist() == [1050 - min(servers, 1050), min(servers, 1050)] * 2


@pytest.mark.parametrize("rate", [1e-300, 1e-19, 0.01, np.nextafter(INVERTED, 0), INVERTED, 0.9, 1.0])
def test_slots_in_service_are_the_geometric_numbers_of_numpy(rate: float) -> None:
    """One rate, and rates by class, of which the largest decides how they are drawn; the generator ends alike."""
    ours, numpys = np.random.default_rng(1), np.random.default_rng(1)
    kinds = np.tile(np.array([0, 1], np.int32), 20_000)
    for rates in (np.array([rate]), np.array([rate, 0.25])):
        drawn = service_slots(rates, kinds, fixed=False, generator=ours)
        expected = numpys.geometric(rates[kinds] if len(rates) > 1 else rate, len(kinds))
        assert (drawn == np.minimum(expected, 2**61)).all()
    assert ours.random() == numpys.random()


def test_bad_input() -> None:
    with pytest.raises(InputError, match="sizes: expected whole numbers from 1"):
        SlottedSetting(np.array([0, 3]), 5, 1)
    with pytest.raises(InputError, match="expected 300 servers of fewer than"):
        policy("bf-js").prepare(SlottedSetting(np.array([1]), 2**55, 300))
    with pytest.raises(InputError, match="expected at most 64 sizes"):
        policy("max-weight").prepare(SlottedSetting(np.arange(1, 100), 1000, 1))
    with pytest.raises(InputError, match="sizes: expected 0 < low"):
        uniform(Fraction(1, 3), Fraction(2, 3))
    with pytest.raises(InputError, match="sizes: expected sizes"):
        discrete({Fraction(2): 1})
    with pytest.raises(InputError, match=r"simulation\.partition"):
        policy("vqs").prepare(SlottedSetting(np.array([1]), 5, 1, {"partition": 1}))


def test_a_server_whose_turn_is_over_takes_the_next_head_in_the_next_slot() -> None:
    """VQS, worked by hand.

    When the second server has taken the jobs of 0.25 that the first had no room for, one of 0.17 is first in line and
    fits the first server, whose turn comes again in slot 1, though nothing comes or ends there.
    """
    kinds = np.array([1, 0, 0, 0, 1, 1, 1, 1, 0, 0], np.int32)
    slots = np.array([0] * 9 + [2])
    for name, expected in (("vqs", 1), ("vqs-bf", 0)):
        law = SizeLaw(np.array([17, 25]), 100, np.zeros(0))
        run = run_once(
            policy(name), SlottedScenario(law, 2, 40, 0, jobs=JobList(slots, kinds, np.full(10, 50)), log=100), 1
        )
        rows = run.measures.log[: run.measures.logged[0]]
        starts = [(int(t), int(c), int(server)) for t, what, c, server, _ in rows if what == START]
        assert starts[8][0] == expected, name
        if name == "vqs":
            assert starts[:4] == [(0, 1, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)]
            assert starts[4:9] == [(0, 1, 1)] * 4 + [(1, 0, 0)]


def test_beside_a_large_job_vqs_uses_a_third_of_the_server() -> None:
    """Ten jobs of 0.6 (queue 1) and two of 0.17 (queue 4): (1, 4, 1) is heaviest, and 1/3 - 0.17 < 0.17."""
    kinds = np.array([1] * 10 + [0] * 2, np.int32)
    jobs = JobList(np.zeros(12, np.int64), kinds, np.full(12, 50))
    law = SizeLaw(np.array([17, 60]), 100, np.zeros(0))
    run = run_once(policy("vqs"), SlottedScenario(law, 1, 40, 0, jobs=jobs, log=100), 1)
    rows = run.measures.log[: run.measures.logged[0]]
    assert [(int(t), int(c)) for t, what, c, *_ in rows if what == START] == [(0, 1), (0, 0)]


def test_vqs_rounds_small_jobs_up() -> None:
    """Ten jobs of 1/8 with J = 2 count as 1/4 (V-A): four of them fill a server; with J = 4 all eight do."""
    law = SizeLaw(np.array([1]), 8, np.zeros(0))
    jobs = JobList(np.zeros(10, np.int64), np.zeros(10, np.int32), np.full(10, 50))
    for levels, expected in ((2, 4), (4, 8)):
        scenario = SlottedScenario(law, 1, 10, 0, jobs=jobs, log=100, options={"partition": levels})
        run = run_once(policy("vqs"), scenario, 1)
        assert run.measures.starts.sum() == expected


def started_by_hand(
    name: str, sizes: tuple[int, int], kinds: list[int], slots: list[int], durations: list[int]
) -> list[tuple[int, int]]:
    """Return slot and class of every start on one server of 100."""
    jobs = JobList(np.array(slots), np.array(kinds, np.int32), np.array(durations))
    law = SizeLaw(np.array(sizes), 100, np.zeros(0))
    run = run_once(policy(name), SlottedScenario(law, 1, 20, 0, jobs=jobs, log=100), 1)
    rows = run.measures.log[: run.measures.logged[0]]
    return [(int(t), int(c)) for t, what, c, *_ in rows if what == START]


def test_vqs_takes_a_job_of_queue_1_beside_others() -> None:
    """The first job of 0.6 (queue 1) ends in slot 5, beside one of 0.17 that stays: the next one begins."""
    starts = started_by_hand("vqs", (17, 60), [1, 1, 1, 1, 0], [0] * 5, [5, 50, 50, 50, 50])
    assert starts == [(0, 1), (0, 0), (5, 1)]


def test_vqs_bf_takes_no_more_than_k_j_of_a_queue() -> None:
    """Ten jobs of 0.17 (queue 4, k_4 = 4) and one of 0.3: the fifth job is the largest that fits, 0.3."""
    starts = started_by_hand("vqs-bf", (17, 30), [0] * 10 + [1], [0] * 11, [50] * 11)
    assert starts == [(0, 0)] * 4 + [(0, 1)]


def test_vqs_bf_counts_the_jobs_that_best_fit_took() -> None:
    """Best-Fit takes a fifth job of 0.17; when one of the five ends there are four still, so 0.3 is next."""
    starts = started_by_hand("vqs-bf", (17, 30), [0] * 10 + [1], [0] * 10 + [1], [5] + [50] * 10)
    assert starts == [(0, 0)] * 5 + [(5, 1)]


def test_max_weight_takes_the_heaviest() -> None:
    """One job of 0.4 and ten of 0.6: (1, 1) weighs 11, (2, 0) weighs 2."""
    assert started_by_hand("max-weight", (40, 60), [0] + [1] * 10, [0] * 11, [50] * 11) == [(0, 0), (0, 1)]


def test_max_weight_keeps_its_configuration_beside_a_job() -> None:
    """A server that has begun with (2, 0) takes none of ten jobs of 0.6 while one of 0.4 is there."""
    starts = started_by_hand("max-weight", (40, 60), [0, 0] + [1] * 10, [0, 0] + [1] * 10, [5] + [50] * 11)
    assert starts == [(0, 0), (0, 0)]
