"""The jump chain of many servers draws words early and guesses at events: its path is that of any other system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fluid.simulation.driver import run_once
from fluid.simulation.loss import ahead, model
from fluid.simulation.loss.ahead import NEAR
from fluid.simulation.loss.jobs import AT_ONCE
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.measures import DEPARTURE
from fluid.simulation.policy_interface import Policy, nothing_to_depart
from fluid.simulation.policy_names import policy
from fluid.simulation.results import Run
from fluid.simulation.state import Common, common, fits, stop
from fluid.simulation.words import exponential, no_words, uniform
from theory.instance import additive
from theory.jit import kernel, plain

THREE = additive([4], [[1], [2], [3]], [1, 3, 4], ["1/2", "1/2", "1/2"])
OPTIONS = {"priority": {"t1": 0, "t2": 1, "t3": 0}, "reservation": 2}


def ran(monkeypatch: pytest.MonkeyPatch, made: Policy, far: int, until: float = 60.0) -> Run:
    """Run as Python, looking ahead from so many servers on."""
    start = np.zeros((9, 3), np.int32)
    if made.name != "static":
        start[:4, 0] = 2
    monkeypatch.setattr(model, "FAR", far)
    scenario = LossScenario(THREE, 9, until, until / 5, initial=start, options=OPTIONS, log=10**4)
    return run_once(made, scenario, 7, python=True)


def alike(one: Run, other: Run) -> bool:
    """Whether two runs took the same path."""
    return all(np.array_equal(a, b) for a, b in zip(one.measures, other.measures, strict=True))


@pytest.mark.parametrize("name", ["dra", "dra-preemption", "static", "power-of-d", "first-fit", "best-fit"])
def test_the_path_is_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    looking = ran(monkeypatch, policy(name), 1)
    assert looking.events > AT_ONCE  # two words an event at least, so the buffer was filled again
    assert alike(looking, ran(monkeypatch, policy(name), 10))


def test_compiled_code_looks_ahead_on_the_same_path() -> None:
    start = np.zeros((model.FAR, 3), np.int32)
    start[:, 0] = 1
    scenario = LossScenario(THREE, model.FAR, 0.02, 0.0, initial=start, log=2000)
    slow, fast = (run_once(policy("first-fit"), scenario, 3, python=python) for python in (True, False))
    assert slow.events > 1000
    assert alike(slow, fast)


def first(state: Any, job_type: int, draws: Any) -> int:
    """Place on the first server with room."""
    for server in range(len(state.counts)):
        if fits(state, server, job_type):
            return server
    return -1


def thin(state: Any, draws: Any) -> bool:
    """Stop jobs of the first type beyond four."""
    for server in range(len(state.counts)):
        while state.totals[0] > 4 and state.counts[server, 0] > 0:
            stop(state, 0, server)
    return False


def test_a_policy_that_stops_jobs_afterwards_takes_the_same_path(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Policy("thin", "loss", lambda s: Common(**common(s)), first, nothing_to_depart, thin, moves_jobs=True)
    without = ran(monkeypatch, mine, 10, 200.0)
    assert without.measures.preempted.sum() > 200
    assert alike(ran(monkeypatch, mine, 1, 200.0), without)


@kernel
def drawn(words: Any, rng: Any, numbers: Any) -> None:
    """Draw exponential and uniform numbers in turn."""
    for i in range(0, len(numbers), 2):
        numbers[i] = exponential(words, rng)
        numbers[i + 1] = uniform(words, rng)


@pytest.mark.parametrize("draw", [drawn, plain(drawn)], ids=["compiled", "python"])
def test_numbers_of_words_are_those_of_the_generator(draw: Any) -> None:
    numbers = np.zeros(60_000)
    draw(no_words(100), np.random.default_rng(5), numbers)
    twin = np.random.default_rng(5)
    expected = [(twin.standard_exponential(), twin.random()) for _ in range(len(numbers) // 2)]
    assert np.array_equal(numbers.reshape(-1, 2), expected)
    assert (numbers > 7.7).any()  # the tail beyond the layers, which takes more than one word


def test_servers_are_fetched_before_their_events(monkeypatch: pytest.MonkeyPatch) -> None:
    servers, fetched = 200, []

    def noted(array: Any, row: int) -> None:
        if array.shape == (servers, 3):  # the jobs in service by server: of one server after each event
            fetched.append(row)

    engine = model._JumpChain
    monkeypatch.setattr(model, "FAR", 1)
    monkeypatch.setattr(ahead, "SURVEY", 1)  # an event changes the rates of few servers more than those of many
    monkeypatch.setattr(engine, "parts", engine.parts | {"prefetch": noted})
    run = run_once(policy("first-fit"), LossScenario(THREE, servers, 10.0, 0.0, log=10**4), 7, python=True)
    log = run.measures.log[: int(run.measures.logged[0])]
    assert len(log) == run.events == len(fetched) > 2000
    leaves = log[NEAR:, 1] == DEPARTURE
    right = (log[NEAR:, 3] == fetched[:-NEAR])[leaves]
    assert leaves.sum() > 800
    assert right.mean() > 0.9  # one of 200 by chance
