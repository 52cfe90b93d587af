"""The jump chain of many servers draws the numbers of the next event early: its path is that of any other system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fluid.simulation.driver import run_once
from fluid.simulation.loss import loop
from fluid.simulation.loss.authors import RULES
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_interface import Policy, nothing_to_depart
from fluid.simulation.policy_names import policy
from fluid.simulation.results import Run
from fluid.simulation.state import Common, common, fits, stop
from theory.instance import additive

THREE = additive([4], [[1], [2], [3]], [1, 3, 4], ["1/2", "1/2", "1/2"])
OPTIONS = {"priority": {"t1": 0, "t2": 1, "t3": 0}, "reservation": 2}


def ran(monkeypatch: pytest.MonkeyPatch, made: Policy, far: int, until: float = 20.0) -> Run:
    """Run as Python, looking ahead from so many servers on."""
    start = np.zeros((9, 3), np.int32)
    if made.name != "static":
        start[:4, 0] = 2
    monkeypatch.setattr(loop, "FAR", far)
    scenario = LossScenario(THREE, 9, until, until / 5, initial=start, options=OPTIONS, log=10**4)
    return run_once(made, scenario, 7, python=True)


def alike(one: Run, other: Run) -> bool:
    """Whether two runs took the same path."""
    return all(np.array_equal(a, b) for a, b in zip(one.measures, other.measures, strict=True))


@pytest.mark.parametrize("name", ["dra", "dra-preemption", "static", "power-of-d", "first-fit", "best-fit"])
def test_the_path_is_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ahead = ran(monkeypatch, policy(name), 1)
    assert ahead.events > 200
    assert alike(ahead, ran(monkeypatch, policy(name), 10))


def test_compiled_code_looks_ahead_on_the_same_path() -> None:
    start = np.zeros((loop.FAR, 3), np.int32)
    start[:, 0] = 1
    scenario = LossScenario(THREE, loop.FAR, 0.02, 0.0, initial=start, log=2000)
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


def test_a_policy_that_may_stop_jobs_afterwards_is_not_looked_at_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Policy("thin", "loss", lambda s: Common(**common(s)), first, nothing_to_depart, thin, moves_jobs=True)
    without = ran(monkeypatch, mine, 10, 200.0)
    assert without.measures.preempted.sum() > 200
    assert alike(ran(monkeypatch, mine, 1, 200.0), without)
    monkeypatch.setitem(RULES.checks, "keeps_totals", loop.keeps_totals)  # type: ignore[arg-type]
    assert not alike(ran(monkeypatch, mine, 1, 200.0), without)
