"""The parts of the throughput paper's claims that have a mathematics of their own."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bounds.results.decisions import Decisions
from bounds.results.simulated_queues import simulated
from bounds.results.throughput.drift import root_below, strictly_above
from bounds.results.throughput.guarantees import UNIT, least_n_1, slots_below_half
from bounds.results.throughput.queues import greatest_workload, slopes, vqs_contents, waiting_size
from fluid.simulation.measures import DEPARTURE, START
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import discrete as size_classes
from theory.partition.laws import discrete
from theory.partition.universal import vqs_workload


def test_slots_below_half_of_a_day_by_hand() -> None:
    sizes = np.array([UNIT // 4, UNIT // 2])
    events = [
        (1, START, 0, 0, -1),  # server 0 a quarter full in slots 1 and 2
        (3, START, 0, 0, -1),  # half full, which is not less than half, in slots 3 and 4
        (4, START, 1, 1, -1),
        (5, DEPARTURE, 0, 0, -1),  # and again a quarter in slots 5 to 9
        (6, DEPARTURE, 1, 1, -1),
        (6, START, 1, 1, -1),  # at once: never seen empty
    ]
    assert slots_below_half(np.array(events, float), sizes, 2, 10) == [1 + 2 + 5, 4]
    assert slots_below_half(np.zeros((0, 5)), sizes, 2, 10) == [10, 10]


@given(st.floats(0.01, 0.5), st.integers(1, 5), st.floats(0.1, 0.9), st.integers(1, 6))
def test_least_n_1_is_the_least_above_the_bound(risk: float, servers: int, rate: float, jobs: int) -> None:
    bound = log(risk / servers) / log(1 - rate**jobs)
    assert bound < least_n_1(risk, servers, rate, jobs) <= bound + 1


@given(st.fractions(0, 10**9))
def test_root_below(x: Fraction) -> None:
    root = root_below(x)
    assert root**2 <= x < (root + Fraction(1, 10**12)) ** 2


def test_no_mixture_lies_strictly_above_what_the_best_carries() -> None:
    law = discrete({"2/5": "1/2", "3/5": "1/2"})
    most = vqs_workload(law).workload
    assert strictly_above(law, 2, most * Fraction(99, 100), Fraction(1, 100))
    assert not strictly_above(law, 2, most, Fraction(1, 100))


def test_contents_of_vqs() -> None:
    found = vqs_contents((Fraction(2, 5), Fraction(3, 5)), 2)
    assert set(found) == {(0, 0), (2, 0), (0, 1)}
    assert greatest_workload(found) == Fraction(4, 3)
    # 3/10 stands in the last queue: three alone, or one beside a large job in the third that is left
    assert set(vqs_contents((Fraction(3, 10), Fraction(3, 5)), 2)) == {(0, 0), (3, 0), (1, 1)}
    assert greatest_workload([(3, 0), (1, 1)]) == 2


def test_waiting_size_grows_by_what_comes_to_a_server_that_never_ends() -> None:
    # jobs of half a server, which they leave after 10^6 slots: all but two of those that come wait
    law = size_classes({Fraction(1, 2): 1})
    scenario = SlottedScenario(law, 1, 20_000, 1000, rate=0.1, service=1e-6, fixed=True, bins=40)
    result = simulated("bf-js", scenario, 8)
    decisions = Decisions(2)
    assert slopes(result, decisions, waiting_size).holds(0.1 / 2)
    assert slopes(result, decisions, lambda run: run.queue).holds(0.1)
