"""Policies as objects: refused when they are made, in the exact chain, with helpers, states and clocks of their own."""

import pickle
import re
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from fluid import simulation
from fluid.chains.loss import stationary_law
from fluid.chains.queue import queue_law
from fluid.simulation.driver import run_once, seed_of, simulate
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.policy_names import policy
from fluid.simulation.prepared import prepared
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.state import (
    ASKS,
    Common,
    QueueCommon,
    Setting,
    common,
    fits,
    one_of,
    queue_fields,
    start,
)
from theory.compiled import step
from theory.errors import InputError
from theory.instance import additive


def prepared_by_packproof(setting: Any) -> Any:
    return policy("static").prepare(setting)


def test_no_replication_of_one_seed_is_one_of_another() -> None:
    """Replication 1 of seed 0 and replication 0 of seed 1 draw other numbers."""
    drawn = [np.random.default_rng(seed_of(seed, r)).random() for seed in range(6) for r in range(6)]
    assert len(set(drawn)) == 36


def nowhere(state: Any, job_type: int, draws: Any) -> int:
    return -1


def test_an_error_outside_of_a_call_of_the_authors_is_not_the_authors(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = LossScenario(additive([2], [[1]]), 2, 10.0, 1.0)
    monkeypatch.setattr("fluid.simulation.loss.loop.advance", int)
    fine = Policy("fine", "loss", lambda s: Common(**common(s)), nowhere, nothing_to_depart, nothing_to_refresh)
    with pytest.raises(TypeError):
        run_once(fine, scenario, 1, python=True)


def test_an_error_in_a_call_of_the_authors_has_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = LossScenario(additive([2], [[1]]), 2, 10.0, 1.0)
    monkeypatch.setattr("fluid.simulation.loss.policies.static.optimal_assignment", int)
    mine = Policy("mine", "loss", prepared_by_packproof, nowhere, nothing_to_depart, nothing_to_refresh)
    with pytest.raises(InputError, match=r"test_policy_objects\.py:\d+: prepare of mine raised TypeError") as raised:
        run_once(mine, scenario, 1)
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ({"place": prepared_by_packproof}, "place: expected a function of (state, job_type, draws), got prepared_by"),
        ({"place": 3}, "Policy x: place: expected a function of (state, job_type, draws), got 3"),
        ({"ring": len}, "Policy x: ring: expected a function of (state, clock, draws)"),
        ({"model": "los"}, "Policy x: model: expected loss or queue or slotted, got 'los'"),
        ({"name": 3}, "Policy: name: expected a text of printable characters, got 3"),
        ({"name": "x\x1b[2J"}, r"Policy: name: expected a text of printable characters, got 'x\x1b[2J'"),
    ],
)  # fmt: skip
def test_policies_are_refused_when_they_are_made(functions: dict[str, Any], words: str) -> None:
    given = {"name": "x", "model": "loss", "prepare": len, "place": nowhere, "depart": nothing_to_depart}
    with pytest.raises(InputError, match=re.escape(words)):
        Policy(**{**given, "refresh": nothing_to_refresh, **functions})


def test_a_policy_that_never_stops_to_ask() -> None:
    def asking(state: Any, draws: Any) -> bool:
        state.done[ASKS] = 1
        return False

    mine = Policy("mine", "loss", lambda s: Common(**common(s)), nowhere, nothing_to_depart, asking)
    with pytest.raises(InputError, match=r"answer of mine expected an answer that leaves done\[ASKS\] at 0"):
        run_once(mine, LossScenario(additive([2], [[1]], workload=[1]), 2, 10.0, 1.0), 1, python=True)
    with pytest.raises(InputError, match="answer of mine"):
        stationary_law(mine, additive([2], [[1]], workload=[1]), 2)


def test_the_exact_chain_knows_two_kinds_of_draws() -> None:
    two = additive([2], [[1]], workload=[1])

    def whole(state: Any, job_type: int, draws: Any) -> int:
        return min(-1, draws.integers(2))

    def other(state: Any, job_type: int, draws: Any) -> int:
        return min(-1, int(draws.random() * 1.5))

    for place, words in (
        (whole, "draws.integers: the exact chain knows one_of"),
        (other, "draws.random() * 1.5: the exact chain knows one_of"),
    ):
        mine = Policy("mine", "loss", lambda s: Common(**common(s)), place, nothing_to_depart, nothing_to_refresh)
        with pytest.raises(InputError, match=re.escape(words)):
            stationary_law(mine, two, 2)


@step
def draw_one(draws: Any, number: int) -> int:
    """Stand for an author's helper."""
    return one_of(draws, number)


def anywhere(state: Any, job_type: int, draws: Any) -> int:
    able = np.zeros(len(state.counts), np.int64)
    number = 0
    for server in range(len(state.counts)):
        if fits(state, server, job_type):
            able[number] = server
            number += 1
    return int(able[draw_one(draws, number)]) if number else -1


def without_mark(draws: Any, number: int) -> int:
    return one_of(draws, number)


@step
def calls_it(draws: Any, number: int) -> int:
    return without_mark(draws, number)


TOOLS = (fits, one_of)


def refused_ways() -> dict[str, Any]:
    """Return functions that reach another one in ways that are not followed."""
    inner = draw_one

    def by_closure(state: Any, job_type: int, draws: Any) -> int:
        return inner(draws, 1) - 1

    def by_default(state: Any, job_type: int, draws: Any, tool: Any = draw_one) -> int:
        return tool(draws, 1) - 1

    def by_attribute(state: Any, job_type: int, draws: Any) -> int:
        return simulation.one_of(draws, 1) - 1

    def by_tuple(state: Any, job_type: int, draws: Any) -> int:
        return TOOLS[1](draws, 1) - 1

    def by_helper(state: Any, job_type: int, draws: Any) -> int:
        return without_mark(draws, 1) - 1

    def by_helper_of_a_helper(state: Any, job_type: int, draws: Any) -> int:
        return calls_it(draws, 1) - 1

    return {
        "inner": by_closure, "the default draw_one": by_default, "simulation.one_of": by_attribute,
        "a function in TOOLS": by_tuple, "without_mark": by_helper,
        "without_mark,": by_helper_of_a_helper,
    }  # fmt: skip


@pytest.mark.parametrize("words", refused_ways())
def test_what_is_not_marked_or_not_reached_by_name_is_refused_before_a_run(words: str) -> None:
    place = refused_ways()[words]
    mine = Policy("x", "loss", lambda s: Common(**common(s)), place, nothing_to_depart, nothing_to_refresh)
    sentence = (
        f"place of x calls {words.rstrip(',')}, expected functions that a policy calls to carry @packproof.step and"
    )
    with pytest.raises(InputError, match=re.escape(sentence)):
        run_once(mine, LossScenario(additive([2], [[1]], workload=[1]), 2, 10.0, 1.0), 1)


TWO = additive([12], [[5], [7]], [3, 4], [1, 1])
RANDOM_FIT = Policy(
    "random-fit", "loss", lambda s: Common(**common(s)), anywhere, nothing_to_depart, nothing_to_refresh
)
"""It has a helper and makes an array."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_at_once")
def test_helpers_and_arrays_are_compiled_with_the_policy(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = LossScenario(TWO, 2, 60.0, 5.0)
    compiled, python = run_once(RANDOM_FIT, scenario, 3), run_once(RANDOM_FIT, scenario, 3, python=True)
    assert (compiled.measures.jobs == python.measures.jobs).all()
    assert compiled.interpreted < compiled.events
    assert "runs as Python" not in capsys.readouterr().err


def test_helpers_and_arrays_in_the_exact_chain() -> None:
    fit, law = stationary_law(policy("first-fit"), TWO, 2).reward, stationary_law(RANDOM_FIT, TWO, 2)
    assert law.residual < 1e-12
    assert abs(law.reward - fit) > 1e-3  # another policy, and a sane one
    assert 0.9 * fit < law.reward < 1.1 * fit


def test_states_of_own_types_are_known_to_every_process() -> None:
    """Numba keeps what it has compiled by type: of a type in an author's file other processes could read nothing."""
    Mine = namedtuple("Mine", (*Common._fields, "seen"))
    made = Policy(
        "mine",
        "loss",
        lambda s: Mine(**common(s), seen=np.zeros(1)),
        nowhere,
        nothing_to_depart,
        nothing_to_refresh,
    )
    state = prepared(made, Setting(additive([2], [[1]]), 2))
    kind = pickle.loads(pickle.dumps(type(state)))
    assert kind is type(state)
    assert kind.__module__ == "fluid.simulation.state"
    assert kind._fields == Mine._fields


@pytest.mark.slow
@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["as Python", "compiled"]
)  # to compile it takes ten seconds
def test_a_clock_that_starts_jobs(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock of the policy's own starts jobs; the law of the queue agrees with the simulation within its interval."""
    monkeypatch.setattr("fluid.simulation.run.AUTHORS_COMPILED_FROM", 1 if compiled else 10**9)
    monkeypatch.setattr("fluid.simulation.run.LOADED_FROM", 1 if compiled else 10**9)

    def ticking(setting: Any) -> Any:
        fields = queue_fields(setting, clocks=1)
        fields["clocks"][0] = 3.0
        return QueueCommon(**fields)

    def tick(state: Any, clock: int, draws: Any) -> None:
        while state.waiting[0] > 0 and fits(state, 0, 0):
            state.waiting[0] -= 1
            start(state, 0, 0)

    mine = Policy("ticking", "queue", ticking, nowhere, nothing_to_depart, nothing_to_refresh, ring=tick)
    one = additive([2], [[1]], workload=["1/2"])
    law = queue_law(mine, one, 1, 25)
    low, high = law.bounds(law.queue)
    result = simulate(mine, QueueScenario(one, 1, 150.0, 50.0), replications=30, seed=1)
    found = result.queue(1 - 1e-6)
    assert found.low < high
    assert low < found.high
    assert high - low < 1e-3
    assert all(run.interpreted == run.events for run in result.runs) == (not compiled)
